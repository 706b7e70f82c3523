"""Two people, three clones, clocks an hour apart, the same records edited at once: all end with the same records."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.model.errors import Conflict, NotFound
from holdfast.verbs.records.lifecycle import Revision, link, restore, retire, revise
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import keep
from tests.replicas.seats import Seat, git, seating, synced
from tests.rows import WHOLE

# Each example is some seconds of real git, so only a few are tried unless more are asked for.
EXAMPLES = int(os.environ.get("TEST_CONVERGENCE_EXAMPLES", "4" if WHOLE else "2"))
# Shrinking a failure repeats all of that for minutes; the steps of an example are few enough to read.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
CLOCKS = {"ada": 0.0, "ada-laptop": 3600.0, "bob": -3600.0}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(CLOCKS)),
        st.sampled_from(
            ["write", "retitle", "retag", "rewrite", "retire", "restore", "erase", "link", "verify", "sync", "sync"]
        ),
        st.integers(0, 5),
    ),
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
    if what == "write" or not known:
        keep(
            seat.memory,
            f"Thing {turn} of {seat.memory.actor.name}: number {turn * 7919}.",
            kind="learning",
            visibility="team",
        )
        return
    chosen, other = known[place % len(known)], known[(place + 1) % len(known)]
    mark = f"{turn} by {seat.memory.actor.name}"
    acts: dict[str, Callable[[], object]] = {
        "retitle": lambda: revise(seat.memory, chosen, Revision(title=f"Title {mark}")),
        "retag": lambda: revise(seat.memory, chosen, Revision(tags=(mark,))),
        "rewrite": lambda: revise(
            seat.memory, chosen, Revision(body=f"Text {mark}", fields={"why": mark} if place % 2 else None)
        ),
        "retire": lambda: retire(seat.memory, chosen, mark),
        "restore": lambda: restore(seat.memory, chosen),
        "erase": lambda: erase(seat.memory, chosen),
        "link": lambda: chosen != other and link(seat.memory, chosen, "relates_to", other),
        "verify": lambda: verify(seat.memory, chosen),
    }
    try:
        acts[what]()
    except Conflict:
        assert seat.records()[chosen].state != ("retired" if what == "restore" else "active")
    except NotFound:
        assert "erased" in (seat.records()[chosen].state, seat.records()[other].state)


def told(people: Iterable[Seat]) -> list[dict[str, Any]]:
    """Give what each seat knows, but for what was erased before anybody else heard of it."""
    stories = [seat.story() for seat in people]
    everywhere = set.intersection(*map(set, stories))
    return [
        {key: said for key, said in one.items() if key in everywhere or said["state"] != "erased"} for one in stories
    ]


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
        held = {
            git(seat.folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/notes/holdfast")
            for seat in people.values()
        }
        assert len(held) == 1


def test_the_same_record_edited_on_three_machines_at_once(tmp_path: Path) -> None:
    with seating("notes", tmp_path) as seats:
        ada, laptop, bob = (seats(name) for name in CLOCKS)
        for seat, drift in zip((ada, laptop, bob), CLOCKS.values(), strict=True):
            seat.time.now += drift
        record = keep(ada.memory, "One text that everybody changes.", visibility="team")
        for seat in (ada, laptop, bob):
            seat.sync()
        revise(ada.memory, record.id, Revision(title="Ada's title"))
        revise(laptop.memory, record.id, Revision(title="The laptop's title", tags=("laptop",)))
        revise(bob.memory, record.id, Revision(body="Bob's text, written an hour behind."))
        for seat in (ada, laptop, bob, ada, laptop):
            seat.sync()
        assert ada.story() == laptop.story() == bob.story()
        ours = ada.records()[record.id]
        assert (ours.title, ours.tags, ours.body) == (
            "The laptop's title",
            ("laptop",),
            "Bob's text, written an hour behind.",
        )
        # What is written after reading is later, whatever the clock says.
        revise(bob.memory, record.id, Revision(title="Bob's title, last"))
        synced(bob, ada)
        assert ada.records()[record.id].title == "Bob's title, last"
