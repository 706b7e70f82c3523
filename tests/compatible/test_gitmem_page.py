"""What docs/compatibility.md says about GitMem's tools, tried literally."""

import re
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools
from tests.compatible.scripts import scripts_in
from tests.rows import rows

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
OAUTH, ANSWERS = rows("a_learning_and_answers_of_gitmem")


def session_of(text: str) -> str:
    found = re.search(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", text)
    assert found, text
    return found[0]


@promise("prepare_context keeps to its budget, and the role of the agent is part of the search")
def test_contexts(ask: Tools) -> None:
    ask.text("create_learning", **OAUTH)
    for nth in range(12):
        title = f"OAuth provider {nth} has a quirk"
        ask.text(
            "create_learning",
            learning_type="pattern",
            title=title,
            description=f"{title}: it signs with key {nth * 37}.",
        )
    for form, tokens in (("compact", 500), ("gate", 100), ("full", 4_000)):
        assert len(ask.text("prepare_context", plan="review OAuth providers", format=form)) / 4 <= tokens
    small = ask.text("prepare_context", plan="review OAuth providers", format="full", max_tokens=200)
    assert len(small) / 4 <= 200
    assert str(OAUTH["title"]) in ask.text(
        "prepare_context", plan="review", agent_role="OAuth redirect URI", format="compact"
    )


@promise(
    "defaults: recall shows 3, search 5, log 10; session_close takes an issue and a duration; rapport is carried over"
)
def test_defaults(ask: Tools) -> None:
    things = "retries caching logging routing billing search uploads sessions tracing quotas webhooks pages".split()
    for nth, thing in enumerate(things):
        text = f"Gateway deploys broke {thing} when the team {thing[::-1]} moved {nth + 2} modules."
        ask.text("create_learning", **{**OAUTH, "title": f"Gateway deploys and {thing}", "description": text})
    counts = [
        ask.text("recall", plan="deploy the gateway").count("(similarity"),
        ask.text("search", query="gateway deploys").count("(similarity"),
        len(ask.text("log").splitlines()) - 1,
    ]
    assert counts == [3, 5, 10]
    session = session_of(ask.text("session_start", force=True))
    reflection = {**ANSWERS, "q8_human_style": "short answers", "q9_dynamic": "decides quickly"}
    ask.text(
        "session_close",
        session_id=session,
        close_type="standard",
        linear_issue="PROJ-123",
        ceremony_duration_ms=45_000,
        closing_reflection=reflection,
    )
    opened = ask.text("session_start", force=True)
    assert "Rapport: " in opened


@promise("gitmem-cache-health is about the index: the permission of a folder is no reason to be out of sync")
def test_a_folder_permission(ask: Tools, place: Place) -> None:
    ask.text("session_start")
    Path(place.environment["HOLDFAST_HOME"]).chmod(0o755)
    assert ask("gitmem-cache-health")["status"] == "healthy"
