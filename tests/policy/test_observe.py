"""What sessions of several clients come to, told by rule from what their hooks saw."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.labelled import READER
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.record import Draft
from holdfast.policy.activity.claude_mem_types import TYPES
from holdfast.policy.activity.turns import turns
from tests.policy.scripts import scripts_in
from tests.policy.trails import EXPECTED, events_of, observations, session
from tests.rows import each


def brief(drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    return [(str(draft.fields["type"]), draft.title) for draft in drafts]


def observed(include_open: bool = False, **trail: Any) -> list[dict[str, Any]]:
    """Return what each draft says."""
    drafts, usual = observations(events_of(**trail), include_open=include_open), asdict(Draft(body=""))
    return [{name: value for name, value in asdict(one).items() if value != usual[name]} for one in drafts]


scripts_in(
    globals(),
    observe=lambda _, given: observed(**given),
    steps=lambda _, given: [len(turn.steps) for turn in turns(events_of(**given))],
)


@each("name", EXPECTED)
def test_a_recorded_session_gives_the_observations_a_reader_would_write(name: str) -> None:
    found = observations(session(name), reader=READER)
    assert len(found) == len(EXPECTED[name]), brief(found)
    for draft, wanted in zip(found, EXPECTED[name], strict=True):
        assert draft.fields["type"] == wanted["type"]
        assert [word for word in wanted["words"] if word.lower() not in draft.title.lower()] == [], draft.title
        assert draft.fields.get("files_modified", []) == wanted["modified"]
        assert draft.fields.get("files_read", []) == wanted.get("read", draft.fields.get("files_read", []))
        assert all(draft.extra.get(name, "") == wanted.get(name, "") for name in ("commit", "agent"))
        assert any(wanted.get("error", "") in fact for fact in draft.fields.get("facts", [""]))
        check_fields(KINDS["observation"], draft.fields)
        assert draft.fields["type"] in TYPES
    keys = {draft.extra["trail"] for draft in found}
    assert (observations(session(name), reader=READER), len(keys)) == (found, len(found))
    assert keys <= {one.id for one in session(name)}


def test_sessions_that_run_at_once_are_kept_apart() -> None:
    one, two = (
        events_of(
            [f"add a {part}", {"tool": "Write", "file_path": f"/repo/{part}.ts", "content": "x"}, f"Added a {part}."],
            name=name,
        )
        for name, part in (("a", "header"), ("b", "footer"))
    )
    mixed = [happening for pair in zip(one, two, strict=True) for happening in pair]
    assert brief(observations(mixed)) == [("feature", "Added a header"), ("feature", "Added a footer")]
