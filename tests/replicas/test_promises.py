"""What every replica promises, what leaves for a team and may come from it, and that all clones end with the same records."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.model.errors import Conflict, NotFound
from holdfast.model.event import Event
from holdfast.model.ids import Clock
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange import sync
from holdfast.verbs.exchange.incoming import passed
from holdfast.verbs.exchange.replicas import is_on, turn
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, link, restore, retire, revise
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory, recorded
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import Seat, git, seating, synced
from tests.rows import WHOLE

scripts_in(globals())

SECRET = "npm_" + "aB1" * 12


def test_what_is_written_while_a_sync_runs_is_told_by_the_next(
    ada: Seat, bob: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ada.memory, "The queue holds ten thousand jobs.", visibility="team")
    looked = sync._outgoing

    def and_meanwhile(*given: Any) -> Any:
        found = looked(*given)
        monkeypatch.undo()
        keep(ada.memory, "Somebody wrote this in another process.", visibility="team")
        return found

    monkeypatch.setattr(sync, "_outgoing", and_meanwhile)
    synced(ada, ada, bob)
    assert bob.records().keys() == ada.records().keys()


def test_an_erased_record_is_gone_everywhere(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "The zanzibar clause must never be read again.", visibility="team")
    keep(ada.memory, "Another thing that stays.", visibility="team")
    synced(ada, bob)
    erase(ada.memory, record.id)
    synced(ada, bob, ada)
    assert bob.records()[record.id].state in ("erased", "retired")  # a file that is gone cannot say why
    kept = [held.read_bytes() for held in bob.folder.rglob("*") if held.suffix in (".md", ".json", ".db")]
    assert b"zanzibar" not in b"".join(kept)


def test_turning_on_is_for_this_project_and_machine(memory: Memory) -> None:
    assert not is_on(memory, "notes")
    turn(memory, "notes", on=True)
    turn(memory, "folder", on=True)
    elsewhere = memory.acting_on("example.org/other/thing")
    assert (is_on(memory, "notes"), is_on(elsewhere, "notes"), is_on(elsewhere, "folder")) == (True, False, True)
    turn(memory, "notes", on=False)
    assert not is_on(memory, "notes")


def arriving(memory: Memory, *events: Event) -> tuple[list[str], list[str]]:
    """Give what passes the border, and why the rest does not."""
    found = passed(memory, events, with_team(memory.project))
    return [event.id for event in found.events], [remark.why for remark in found.remarks]


def test_the_border_keeps_private_records_and_other_projects_as_they_are(
    memory: Memory, tmp_path: Path, time: Time
) -> None:
    with make_memory(tmp_path / "other", time) as other:
        mine = keep(memory, "A private matter of this machine.")
        foreign = keep(memory, "Another project's matter.", project="example.org/other/thing", visibility="team")
        ours = keep(memory, "The team's matter.", visibility="team")
        for record, why in ((mine, "private"), (foreign, "another project")):
            for verb in ("revised", "retired", "erased"):
                event = replace(other.event("revised", record.id, data={"body": "taken over"}), verb=verb)
                came, said = arriving(memory, event)
                assert (came, why in said[0]) == ([], True)
        fine = other.event("revised", ours.id, data={"body": "The team's matter, said better."})
        assert arriving(memory, fine) == ([fine.id], [])
        for event, why in (
            (other.event("revised", ours.id, data={"visibility": "private"}), "not shared with the team"),
            (other.event("revised", other.clock.tick(), data={"body": "no beginning"}), "not arrived yet"),
            (recorded(other.clock, "never shared", visibility="private"), "not shared with the team"),
        ):
            assert why in arriving(memory, event)[1][0]


def test_the_border_masks_secrets_and_names_the_project_as_it_is_here(memory: Memory, clock: Clock) -> None:
    event = recorded(clock, f"The token is {SECRET}.", visibility="team", project="example.org/evil/other")
    (kept,) = passed(memory, [event], with_team(memory.project)).events
    assert (SECRET in json.dumps(dict(kept.data)), kept.data["project"]) == (False, memory.project)


# Each example is some seconds of real git, so only a few are tried unless more are asked for.
EXAMPLES = int(os.environ.get("TEST_CONVERGENCE_EXAMPLES", "4" if WHOLE else "2"))
# Shrinking a failure repeats all of that for minutes; the steps of an example are few enough to read.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
CLOCKS = {"ada": 0.0, "ada-laptop": 3600.0, "bob": -3600.0}
ACTS: dict[str, Callable[[Memory, str, str, str], object]] = {
    "retitle": lambda memory, one, _, mark: revise(memory, one, Revision(title=f"Title {mark}")),
    "retag": lambda memory, one, _, mark: revise(memory, one, Revision(tags=(mark,))),
    "rewrite": lambda memory, one, _, mark: revise(memory, one, Revision(body=f"Text {mark}", fields={"why": mark})),
    "retire": lambda memory, one, _, mark: retire(memory, one, mark),
    "restore": lambda memory, one, *_: restore(memory, one),
    "erase": lambda memory, one, *_: erase(memory, one),
    "link": lambda memory, one, other, _: one != other and link(memory, one, "relates_to", other),
    "verify": lambda memory, one, *_: verify(memory, one),
}
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(CLOCKS)), st.sampled_from(["write", *ACTS, "sync", "sync"]), st.integers(0, 5)),
    min_size=5,
    max_size=18,
)


def act(seat: Seat, what: str, place: int, turn: int) -> None:
    """Do one thing at a seat, to one of the first records it knows; what its state forbids is not done."""
    seat.time.now += 0.5
    known = sorted(seat.records())
    if what == "sync":
        seat.sync()
        return
    mark = f"{turn} by {seat.memory.actor.name}"
    if what == "write" or not known:
        keep(seat.memory, f"Thing {mark}: number {turn * 7919}.", kind="learning", visibility="team")
        return
    chosen, other = known[place % len(known)], known[(place + 1) % len(known)]
    try:
        ACTS[what](seat.memory, chosen, other, mark)
    except Conflict:
        assert seat.records()[chosen].state != ("retired" if what == "restore" else "active")
    except NotFound:
        assert "erased" in (seat.records()[chosen].state, seat.records()[other].state)


def told(people: Iterable[Seat]) -> list[dict[str, Any]]:
    """Give what each seat knows, but for what was erased before anybody else heard of it."""
    stories = [seat.story() for seat in people]
    shared = set.intersection(*map(set, stories))
    return [{key: one[key] for key in one if key in shared or one[key]["state"] != "erased"} for one in stories]


@settings(max_examples=EXAMPLES, derandomize=EXAMPLES < 10, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(steps=STEPS)
def test_all_clones_converge(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]) -> None:
    with seating("notes", tmp_path_factory.mktemp("convergence")) as seats:
        people = {name: seats(name) for name in CLOCKS}
        for name, seat in people.items():
            seat.time.now += CLOCKS[name]
        for turn, (name, what, place) in enumerate(steps):
            act(people[name], what, place, turn)
        for _ in range(2):
            for seat in people.values():
                assert not seat.sync().offline
        stories = told(people.values())
        assert stories[0] == stories[1] == stories[2]
        assert [done for seat in people.values() if (done := seat.sync()).came or done.put.events] == []
        shown = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/notes/holdfast")
        assert len({git(seat.folder, *shown) for seat in people.values()}) == 1
