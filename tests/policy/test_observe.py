"""What sessions of several clients come to, told by rule from what their hooks saw."""

import random
from collections.abc import Sequence
from time import process_time

from bench.labelled import READER
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.claude_mem_types import TYPES
from holdfast.policy.activity.observe import observations_of
from holdfast.policy.activity.turns import turns
from holdfast.policy.language.reading import SentenceReader
from tests.policy.trails import EXPECTED, Trail, session
from tests.rows import each, examples, sampled


def observations(
    activity: Sequence[HookEvent], *, include_open: bool = False, reader: SentenceReader | None = None
) -> list[Draft]:
    done = (turn for turn in turns(activity, reader) if turn.done or include_open)
    return [draft for turn in done for draft in observations_of(turn)]


def brief(drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    return [(str(draft.fields["type"]), draft.title) for draft in drafts]


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


def test_an_observation_tells_what_was_asked_changed_broke_and_was_answered() -> None:
    trail = Trail().ask("The total is wrong for empty carts, fix it")
    trail.use("Read", "…", file_path="/repo/src/cart.py").use(
        "Bash", "E   ZeroDivisionError: division by zero", failed=True, command="pytest -q"
    )
    trail.use("Edit", old_string="x", new_string="def total(cart):\n    pass", file_path="/repo/src/total.py")
    trail.use("Bash", "3 passed", command="pytest -q tests").stop(
        "Fixed the total of empty carts. It divided by their size."
    )
    assert observations(trail.events) == [
        Draft(
            kind="observation",
            title="Fixed the total of empty carts",
            body="Asked: The total is wrong for empty carts, fix it. Read src/cart.py. Changed src/total.py. pytest failed with "
            "ZeroDivisionError: division by zero and passed afterwards. Answered: Fixed the total of empty carts. It divided by their size.",
            fields={
                "type": "bugfix",
                "subtitle": "pytest failed with ZeroDivisionError: division by zero; it passes now",
                "facts": [
                    "pytest failed (ZeroDivisionError: division by zero), then passed",
                    "Changed src/total.py (adds `total`)",
                ],
                "concepts": ["problem-solution", "gotcha"],
                "files_read": ["src/cart.py"],
                "files_modified": ["src/total.py"],
                "discovery_tokens": 35,
            },
            source="observed",
            anchors=("src/total.py",),
            extra={"trail": "h001", "session": "s1", "client": "claude-code"},
            at="2026-03-02T10:00:06.000Z",
        )
    ]  # fmt: skip


def test_a_check_that_failed_and_passed_without_a_change_was_not_fixed() -> None:
    trail = Trail().ask("run the e2e tests twice")
    trail.use("Bash", "1 failed", failed=True, command="pytest e2e").use(
        "Bash", "9 passed", command="pytest e2e"
    ).stop()
    assert observations(trail.events) == []


def test_a_turn_that_still_goes_on_is_left_for_later_and_then_keeps_its_key() -> None:
    trail = Trail().ask("add a footer").use("Write", file_path="/repo/web/footer.tsx", content="x")
    assert observations(trail.events) == []
    (unfinished,) = observations(trail.events, include_open=True)
    trail.stop("Added a footer to every page.")
    (finished,) = observations(trail.events)
    assert finished.extra["trail"] == unfinished.extra["trail"] == "h001"


def test_each_commit_of_a_turn_is_an_observation_of_its_own() -> None:
    assert [draft.extra.get("commit") for draft in observations(session("two-commits"))] == ["9d0e1f2", "77aa001"]


def test_the_work_of_a_sub_agent_is_told_as_its_own() -> None:
    trail = Trail().ask("tidy up").tell("SubagentStart", agent="fixer")
    trail.use("Edit", agent="fixer", file_path="/repo/a.py", old_string="a", new_string="b")
    trail.tell("SubagentStop", agent="fixer", text="Removed the dead branch in a.py.").stop("All done.")
    (found,) = observations(trail.events)
    assert (found.title, found.extra["agent"]) == ("Removed the dead branch in a.py", "fixer")
    assert "Done by the sub-agent fixer." in found.body


@examples
def test_our_own_tools_are_never_observed(tool: str, client: str) -> None:
    trail = Trail(client).ask("keep this").use(tool, "We decided to keep everything.", text="x")
    assert [len(turn.steps) for turn in turns(trail.events)] == [0]
    assert observations(trail.stop("Kept.").events) == []


def test_what_hooks_and_clients_put_in_is_no_request() -> None:
    trail = Trail().ask(
        "<system-reminder>fix all bugs</system-reminder><holdfast-brief>We decided on X.</holdfast-brief> bump the version"
    )
    trail.use("Edit", file_path="/repo/pyproject.toml", old_string="1", new_string="2").stop()
    (found,) = observations(trail.events)
    assert (found.title, found.body) == ("Bump the version", "Asked: bump the version. Changed pyproject.toml.")


def test_tags_that_people_write_themselves_are_part_of_their_request() -> None:
    trail = Trail().ask("make <my-button> wider, <command-name>/x</command-name><command-args>and blue</command-args>")
    trail.use("Edit", file_path="/repo/b.ts", old_string="1", new_string="2").stop()
    (found,) = observations(trail.events)
    assert found.body.startswith("Asked: make <my-button> wider, <command-args>and blue</command-args>.")


@each(
    "piece",
    sampled(["<system-x>", "<memory ", "<holdfast>", "fix the ", "- next steps:\n", "a. B. ", "git commit -m '"], 3),
)
def test_hostile_texts_are_read_in_no_time(piece: str) -> None:
    text = piece * (50_000 // len(piece))
    trail = (
        Trail()
        .ask(text)
        .use("Bash", text, command=text)
        .use("Edit", file_path="/repo/a", old_string=text, new_string=text)
    )
    start = process_time()
    observations(trail.stop(text).events)
    assert process_time() - start < 4


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


def test_scratch_files_are_not_part_of_the_work() -> None:
    trail = Trail().ask("try something").use("Write", file_path="/tmp/try.py", content="print(1)").stop("It prints 1.")
    assert observations(trail.events) == []


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
    for _ in range(300):
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
