"""What sessions of several clients come to, told by rule from what their hooks saw."""

import random
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.labelled import READER
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.claude_mem_types import TYPES
from holdfast.policy.activity.turns import turns
from tests.policy.scripts import scripts_in
from tests.policy.trails import EXPECTED, Trail, events_of, observations, session
from tests.rows import WHOLE, each, examples


def brief(drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    return [(str(draft.fields["type"]), draft.title) for draft in drafts]


def changed(draft: Draft) -> dict[str, Any]:
    """Return what a draft says."""
    return {name: value for name, value in asdict(draft).items() if value != getattr(Draft(body=""), name)}


def observed(include_open: bool = False, **trail: Any) -> list[dict[str, Any]]:
    return [changed(draft) for draft in observations(events_of(**trail), include_open=include_open)]


globals().update(scripts_in(__file__, observe=lambda _, given: observed(**given)))


@each("name", EXPECTED)
def test_a_recorded_session_gives_the_observations_a_reader_would_write(name: str) -> None:
    found = observations(session(name), reader=READER)
    assert len(found) == len(EXPECTED[name]), brief(found)
    for draft, wanted in zip(found, EXPECTED[name], strict=True):
        assert draft.fields["type"] == wanted["type"]
        assert [word for word in wanted["words"] if word.lower() not in draft.title.lower()] == [], draft.title
        assert draft.fields.get("files_modified", []) == wanted["modified"]
        assert draft.fields.get("files_read", []) == wanted.get("read", draft.fields.get("files_read", []))
        assert draft.extra.get("commit", "") == wanted.get("commit", "")
        assert draft.extra.get("agent", "") == wanted.get("agent", "")
        assert any(wanted.get("error", "") in fact for fact in draft.fields.get("facts", [""]))


@each("name", EXPECTED)
def test_an_observation_can_be_kept_as_it_is_and_is_the_same_each_time(name: str) -> None:
    hook_events = session(name)
    found = observations(hook_events, include_open=True)
    for draft in found:
        check_fields(KINDS["observation"], draft.fields)
        assert draft.title
        assert draft.body
        assert draft.at
        assert draft.fields["type"] in TYPES
    assert observations(hook_events, include_open=True) == found
    keys = [draft.extra["trail"] for draft in found]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {one.id for one in hook_events}


@examples
def test_our_own_tools_are_never_observed(tool: str, client: str) -> None:
    trail = Trail(client).ask("keep this").use(tool, "We decided to keep everything.", text="x")
    assert [len(turn.steps) for turn in turns(trail.events)] == [0]
    assert observations(trail.stop("Kept.").events) == []


def test_sessions_that_run_at_once_are_kept_apart() -> None:
    one, two = (
        Trail(session=name)
        .ask(f"add a {part}")
        .use("Write", file_path=f"/repo/{part}.ts", content="x")
        .stop(f"Added a {part}.")
        for name, part in (("a", "header"), ("b", "footer"))
    )
    mixed = [happening for pair in zip(one.events, two.events, strict=True) for happening in pair]
    assert brief(observations(mixed)) == [("feature", "Added a header"), ("feature", "Added a footer")]


def test_any_happenings_can_be_read() -> None:
    chance = random.Random(7)
    tools = ["Bash", "Edit", "Write", "Read", "apply_patch", "Task", "nope", ""]
    events = "UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStop SessionEnd PreCompact".split()
    values = [
        "",
        "x",
        "[",
        "{",
        "*** Update File: \n",
        "git commit -m ''",
        "\n\n",
        "<memory>",
        "a" * 5_000,
        None,
        3,
        ["x"],
    ]
    for _ in range(300 if WHOLE else 60):
        told = [
            HookEvent(
                id=f"{place:03d}", at="2026-03-02T10:00:00.000Z", event=chance.choice(events), session=chance.choice("ab"),
                agent=chance.choice(["", "", "x"]), text=str(chance.choice(values)), tool=chance.choice(tools),
                given={name: chance.choice(values) for name in ("command", "file_path", "input", "description")},
                result=str(chance.choice(values)), failed=chance.random() < 0.3,
            )
            for place in range(12)
        ]  # fmt: skip
        for draft in observations(told, include_open=True):
            check_fields(KINDS["observation"], draft.fields)
