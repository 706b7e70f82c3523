"""An accepted author who sends far too much, or triggers that match everything: bounded, and never all there is."""

import json
import time as clock
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.sharing import with_team
from holdfast.policy.sessions.triggers import MOST_SET, places_of, problem_with
from holdfast.verbs.capture.prepare import MOST_PATTERNS, MOST_TRIGGERS, prepare
from holdfast.verbs.exchange.incoming import keep_events, passed, problem_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.quarantine import accept
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from tests.conftest import Time, keep, recorded
from tests.rows import WHOLE, refused

MALLORY = "Mallory <mallory@example.org>"
FLOOD = 3_000 if WHOLE else 640
EVERYTHING = tuple("* ** *.* **/* */* ?* [a-z]* *e* path:* path:**/** command:* command:&& command:| - . / _*_".split())
ABUSE = ("../../etc/passwd", "path:src/../../x", "a*" * 50, "path:" + "*a" * 20, "src/" + "x" * 300, "[" * 150)
FINE = ("git push", "src/api/*.py", "command:make release", "path:**/migrations/*.sql", "*.tf", "deploy.sh", ".env*")


def arrive(memory: Memory, events: Iterable[Event]) -> list[str]:
    """Let events come from an accepted author; return why some did not pass."""
    given = list(events)
    found = passed(
        memory, given, with_team(memory.project), way="notes", carriers=lambda ids: dict.fromkeys(ids, MALLORY)
    )
    keep_events(memory, [*found.marks, *found.events])
    return [remark.why for remark in found.remarks]


@pytest.fixture
def trusting(memory: Memory) -> Memory:
    """Return a memory with own knowledge that has accepted one author."""
    for number in range(3):
        keep(memory, f"Own decision {number}: ledger entries are never changed.", kind="decision")
        severe = {"severity": "high", "counter_arguments": ["only once", "there is a backup"]}
        keep(memory, f"Own scar {number}: a deploy on Friday broke checkout.", kind="scar", fields=severe)
        keep(memory, f"Own learning {number}: the queue drops messages above 1 MB.", kind="learning")
    arrive(memory, [_record(Clock(lambda: 1_790_000_000.0), memory, "The first of many.", "fact")])
    accept(memory, ["mallory@example.org"])
    return memory


def _record(ticking: Clock, memory: Memory, body: str, kind: str, **more: object) -> Event:
    return recorded(ticking, body, kind=kind, visibility="team", project=memory.project, **more)


@pytest.mark.parametrize("trigger", [*EVERYTHING, *ABUSE])
def test_a_trigger_that_matches_everything_is_refused_at_every_door(memory: Memory, time: Time, trigger: str) -> None:
    refused(Invalid, write, memory, Draft(body="Always look here.", triggers=(trigger,)), says="trigger")
    kept = keep(memory, "The deploy needs two approvals.")
    refused(Invalid, revise, memory, kept.id, Revision(triggers=(trigger,)), says="trigger")
    event = _record(Clock(time), memory, "Always look here.", "scar", triggers=[trigger])
    assert "trigger" in problem_of(event)
    older = memory.store.commit([event])[0].record  # as a version without this rule kept it
    assert not places_of(older)


@pytest.mark.parametrize("trigger", FINE)
def test_ordinary_triggers_are_kept(memory: Memory, trigger: str) -> None:
    assert problem_with([trigger]) == ""
    assert places_of(keep(memory, "Look at the plan first.", triggers=(trigger,)))


def test_a_record_with_too_many_triggers_is_refused(memory: Memory, time: Time) -> None:
    many = [f"src/file{number}.py" for number in range(MOST_SET + 1)]
    refused(Invalid, write, memory, Draft(body="Always look here.", triggers=tuple(many)), says="20 is the most")
    assert "20 is the most" in problem_of(_record(Clock(time), memory, "Look.", "scar", triggers=many))


def test_a_flood_of_an_accepted_author_leaves_room_for_what_is_known_here(
    trusting: Memory, time: Time, tmp_path: Path
) -> None:
    memory, ticking = trusting, Clock(time)
    severe = {"severity": "critical", "counter_arguments": ["none", "nothing"]}
    started = clock.process_time()
    problems = arrive(
        memory,
        (
            _record(
                ticking,
                memory,
                f"Flood {number} about ledger entries, deploys and queues.",
                ("decision", "scar", "learning", "scar")[number % 4],
                fields=severe if number % 2 else {},
                triggers=[f"src/{number}/{place}*.py" for place in range(MOST_SET)] if number % 2 else [],
            )
            for number in range(FLOOD)
        ),
    )
    assert problems == []
    assert clock.process_time() - started < FLOOD / 50
    started = clock.process_time()
    text = brief_of(memory).text
    for own in ("Own decision", "Own scar", "Own learning"):
        assert own in text, text
    file = tmp_path / "prepared.json"
    prepare(memory, file)
    triggers = json.loads(file.read_text())["triggers"]
    assert len(triggers) <= MOST_TRIGGERS
    for kind in ("patterns", "paths"):
        assert sum(len(one[kind]) for one in triggers) <= MOST_PATTERNS
    found = recall(memory, Query(text="are ledger entries ever changed", words_only=True))
    assert any("Own decision" in hit.record.body for hit in found.hits)
    assert clock.process_time() - started < 20


def test_one_sync_imports_only_so_much_and_the_next_goes_on(trusting: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.verbs.exchange.incoming.MOST_AT_ONCE", 100)
    ticking, sharing = Clock(Time()), with_team(trusting.project)
    events = [_record(ticking, trusting, f"flood number {number}", "fact") for number in range(250)]
    came, rounds = 0, []
    for _ in range(3):
        found = passed(trusting, events, sharing, way="notes", carriers=lambda ids: dict.fromkeys(ids, MALLORY))
        keep_events(trusting, [*found.marks, *found.events])
        came += len(found.events)
        rounds.append((len(found.events), found.left))
    assert (came, rounds) == (250, [(100, True), (100, True), (50, False)])
