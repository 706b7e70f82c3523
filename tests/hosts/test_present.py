"""A session begins with what is true now: whatever changed by another process is known, late and marked as such, or left out."""

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from bench import present
from bench.briefs import next_brief, rows_of
from bench.driving import Desktop
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.hosts.hooks import answers
from holdfast.hosts.hooks.answers import LATE
from holdfast.hosts.preparing import Places
from holdfast.model.query import Query
from holdfast.policy.sessions.left_off import asks_for_it
from holdfast.surfaces.core import text as core
from holdfast.surfaces.gitmem.tools import page
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import start
from tests.hosts.running import answer, fire, hold_worker, injected, runner
from tests.replicas.seats import git
from tests.rows import each, missing, rows, sampled

pytestmark = pytest.mark.embedded


class Shop(present.Shop):
    """The shop of the benchmark, with commands in processes that are forked and hooks in this one."""

    def holdfast(self, *arguments: str) -> Any:
        run = runner(self.checkout, self.folder / "home")
        return answer(run(*arguments, "--json", HOLDFAST_HOME=str(self.home), HOLDFAST_STARTERS="false"))

    def hook(self, event: str, session: str, **given: Any) -> str:
        told = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": event, **given}
        return injected(json.loads(fire(self.home, event, json.dumps(told).encode()) or "{}"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    shop = Shop(folder=tmp_path_factory.mktemp("present"))
    hold_worker(shop.home)
    return shop


def at_once(command: list[str], _: str, variables: dict[str, str] | None = None, wait: float = 0.0) -> None:
    """Prepare in this process, however long it takes."""
    assert wait
    if "holdfast.hosts.preparing" in command:
        home, folder, *session = command[4:]
        places = Places.of({}, Path(home), Path(folder), variables or {})
        places.prepared(places.first, *session)


@pytest.fixture(autouse=True)
def _prepared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "start", at_once)


def never(*_: Any, **__: Any) -> None:
    """Start nothing, as on a machine that is too busy."""


def fits(given: str, wanted: present.Wanted) -> bool:
    return all(present._fits(given, text, how) for text, how in wanted.items())


@pytest.mark.parametrize("kind", sampled(reversed(present.KINDS), 2))
def test_a_change_by_another_process_is_known_at_once_or_with_the_first_prompt(
    kind: str, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.number += 1
    change, wanted = present.KINDS[kind](shop, shop.number)
    shop.prepare()
    before = shop.folder / "before"
    shutil.copytree(shop.home / "prepared", before)
    change()
    shutil.rmtree(shop.home / "prepared", ignore_errors=True)
    before.rename(shop.home / "prepared")  # as if nothing had been prepared after the change
    monkeypatch.setattr(answers, "start", never)
    start = shop.hook("SessionStart", f"{kind} late", source="startup")
    assert [text for text, how in wanted.items() if how is False and text in start] == []
    assert [text for text, how in wanted.items() if how == present.MARK and not fits(start, {text: how})] == []
    monkeypatch.setattr(answers, "start", at_once)
    prompt = shop.hook("UserPromptSubmit", f"{kind} late", prompt="What is known about the shop?")
    assert fits(f"{prompt}\n{start}", wanted)
    assert fits(start, wanted) or LATE in prompt
    assert shop.hook("UserPromptSubmit", f"{kind} late", prompt="And now?") == ""
    assert fits(shop.hook("SessionStart", f"{kind} in time", source="startup"), wanted)
    if kind == "scar with trigger":
        given = {"tool_name": "Bash", "tool_input": {"command": f"bake-{shop.number} now"}}
        assert "burned the whole batch" in shop.hook("PreToolUse", f"{kind} in time", **given)
    shop.git("checkout", "-q", "main")


def test_a_trigger_holds_from_the_moment_it_is_saved(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.prepare()
    kept = (shop.home / "prepared").rename(shop.folder / "kept")
    id_ = shop.remember("Running wipe at noon lost the orders.", *present.SCAR, "--trigger", "wipe *")
    kept.rename(shop.home / "prepared")
    given = {"tool_name": "Bash", "tool_input": {"command": "wipe all"}}
    assert "lost the orders" in shop.hook("PreToolUse", "working", **given)
    kept = (shop.home / "prepared").rename(shop.folder / "kept")
    shop.holdfast("forget", id_, "--reason", "fixed")
    kept.rename(shop.home / "prepared")
    monkeypatch.setattr(answers, "start", never)
    assert shop.hook("PreToolUse", "another", **given) == ""


def test_what_changed_between_start_and_first_prompt_is_told_once(shop: Shop) -> None:
    old = shop.remember("The cellar floods in spring.")
    assert "The cellar floods" in shop.hook("SessionStart", "waiting", source="startup")
    shop.holdfast("forget", old, "--reason", "drained")
    shop.remember("The attic is full of sugar.")
    prompt = shop.hook("UserPromptSubmit", "waiting", prompt="Hello?")
    assert missing(prompt, "Changed since this session began:", "The attic is full of sugar.") == []
    assert f"Withdrawn, do not rely on: {old[-8:]}." in prompt
    assert "The shop sells marzipan." not in prompt
    assert shop.hook("UserPromptSubmit", "waiting", prompt="Go on.") == ""


@pytest.mark.parametrize("late", [False, True])
def test_after_a_compaction_that_ends_at_once_the_session_knows_where_it_stood(late: bool, shop: Shop) -> None:
    session = f"long {late}"
    shop.hook("SessionStart", session, source="startup")
    shop.hook("UserPromptSubmit", session, prompt="Rename the oven to stove, but leave the invoices alone.")
    with patch.object(answers, "start", never if late else at_once):
        shop.hook("PreCompact", session, trigger="auto")
        start = shop.hook("SessionStart", session, source="compact")
    prompt = shop.hook("UserPromptSubmit", session, prompt="Go on.")
    assert ["Rename the oven" in text for text in (start, prompt)] == [not late, late]


def test_a_first_session_is_told_in_two_lines_what_this_is(shop: Shop, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with patch.object(shop, "checkout", tmp_path):
        text = shop.hook("SessionStart", "first", source="startup")
    assert len(text.splitlines()) == 4
    assert missing(text, "nothing is known about this one yet", "holdfast ingest bootstrap") == []


@pytest.mark.whole
def test_a_small_slice_of_the_benchmark(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(present.Shop, "holdfast", Shop.holdfast)
    present.run(rounds=1, delays=(0,), kinds=("forget",), compactions=1)
    assert "untrue: 0" in capsys.readouterr().out


# Where we left off: sessions driven through the real hook and worker, and what the next one begins with.
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
        named = Query(text="where did we leave off with the invoices?")
        assert "PDF invoices" in recall(memory, named).hits[0].snippet
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


def test_sessions_that_ran_in_parallel_are_both_told_newest_first(tmp_path: Path) -> None:
    desktop = Desktop(tmp_path)
    asked = {"one": "Stream the CSV importer", "two": "Rename the Mailer to Postman"}
    for event in ("UserPromptSubmit", "PostToolUse", "SessionEnd"):
        for session, prompt in asked.items():
            desktop.hook(event, session, prompt=prompt, tool_name="Edit", tool_input={"file_path": f"{session}.py"})
    desktop.work()
    told = [line.partition(": ")[2] for line in desktop.open("three").splitlines() if line.startswith(("Ask", "Files"))]
    assert told == [asked["two"], "two.py", asked["one"], "one.py"]


def test_what_a_user_said_is_told_once_and_only_while_it_holds(tmp_path: Path) -> None:
    desktop, rule, alias = Desktop(tmp_path), "Use tabs for indentation.", "Keep the old alias."
    turns = [{"prompt": f"Format the code. {rule} {alias}", "did": [["edit", "a.py"]], "answer": "Done."}]
    desktop.play({"turns": turns, "ends": "end"}, "one")
    text = desktop.open("two")
    assert (text.count(rule), f"User said: {alias}" in text) == (1, True)
    later = [{"prompt": "We use spaces for indentation now, no tabs.", "did": [], "answer": "Noted."}]
    desktop.play({"turns": later, "ends": "end"}, "two")
    assert missing(desktop.open("three"), "Format the code", alias, rule) == [rule]


@each("row", rows_of("left_off_questions")[::3])
def test_the_question_where_we_left_off_is_recognized(row: dict[str, object]) -> None:
    assert asks_for_it(str(row["question"])) == row["is"]
