"""Where we left off: sessions driven through the real hook and worker, and what the next one begins with."""

from pathlib import Path
from typing import Any

import pytest

from bench.briefs import next_brief, rows_of
from bench.driving import Desktop
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.policy.sessions.left_off import asks_for_it
from holdfast.surfaces.core import text as core
from holdfast.surfaces.gitmem.tools import page
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import start
from tests.rows import each, missing, rows, sampled

pytestmark = pytest.mark.embedded
RENAME: dict[str, Any] = rows("a_rename_that_was_killed")
INVOICES: dict[str, Any] = rows("invoices_on_a_branch")


@each("row", sampled(rows_of("sessions")[::8], 3))
def test_the_next_session_begins_with_every_decisive_fact(row: dict[str, object]) -> None:
    text = next_brief(row).lower()
    assert [fact for fact in row["facts"] if not all(part in text for part in fact)] == []  # type: ignore[attr-defined]


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    """Return a checkout with a session that ended on one branch, and one on the main branch that was killed."""
    desktop = Desktop(tmp_path)
    desktop.play(INVOICES, "one")
    desktop.play(RENAME, "two")
    return desktop


def test_recall_answers_where_we_left_off_and_an_opening_mentions_it(desktop: Desktop) -> None:
    flags = {"home": str(desktop.home), "embedder": "none", "starters": False}
    settings = load_settings(folder=desktop.checkout, environment={}, flags=flags)
    with open_memory(settings, folder=desktop.checkout) as memory:
        for question in ("Where did we leave off?", "Wo waren wir?", "¿Dónde lo dejamos?", "我们上次做到哪里了？"):
            first, *others = recall(memory, Query(text=question)).hits
            assert all(hit.confidence != "weak" for hit in others)
            assert missing(first.snippet, "CheckoutService", "Do not touch the migrations") == [], question
        named = recall(memory, Query(text="where did we leave off with the invoices?")).hits[0]
        assert "PDF invoices" in named.snippet
        assert recall(memory, Query(text="What happened yesterday?")).hits == ()  # the work is of today
        memory, begun = start(memory, title="something else")
        opening = page("opening", opened=begun, word="started", now=memory.clock.now())
        for text in (core.page("opening", begun), opening):
            assert missing(text, "interrupted", "CheckoutService", "Do not touch the migrations") == []


def test_the_work_of_each_branch_is_told_on_that_branch_and_to_other_sessions_only(desktop: Desktop) -> None:
    assert "left off" not in desktop.hook("SessionStart", "two", source="resume")
    desktop.switch("feature/invoices")
    assert "PDF invoices" in desktop.hook("SessionStart", "three", source="startup")
    desktop.switch("main")
    text = desktop.hook("SessionStart", "four", source="startup")
    assert missing(text, "CheckoutService", "interrupted") == []
    assert "PDF invoices" not in text
    desktop.switch("unknown")
    text = desktop.hook("SessionStart", "five", source="startup")
    assert "branch feature/invoices" in text or "branch main" in text


def test_work_that_was_interrupted_just_before_comes_with_the_first_prompt_and_once(tmp_path: Path) -> None:
    desktop = Desktop(tmp_path)
    desktop.play(INVOICES | {"branch": "main"}, "one")
    desktop.hook("UserPromptSubmit", "two", prompt="Rename OrderService to CheckoutService")
    desktop.hook("PostToolUse", "two", tool_name="Edit", tool_input={"file_path": "shop.py"})
    assert "PDF invoices" in desktop.hook("SessionStart", "three", source="startup")
    desktop.work()  # started by that event
    assert "CheckoutService" in desktop.hook("UserPromptSubmit", "three", prompt="hello")
    assert desktop.hook("UserPromptSubmit", "three", prompt="hello again") == ""


@each("row", rows_of("left_off_questions")[::3])
def test_the_question_where_we_left_off_is_recognized(row: dict[str, object]) -> None:
    assert asks_for_it(str(row["question"])) == row["is"]
