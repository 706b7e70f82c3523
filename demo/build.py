"""Simulate the story in a new store, with the real verbs and a simulated clock."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

from demo.acts import Act, acts_of
from demo.beats import Beat
from demo.plan import DAY, FULL_DAYS, Plan, make_plan
from demo.seat import Branch, Simulation, by_hand, keep, take_seat
from demo.story import read_story
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.engine.views import usage
from holdfast.model.config import Config
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import FILE
from holdfast.model.ids import Clock, instant
from holdfast.verbs.memory import Context, Memory, find
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.upkeep import erasing
from holdfast.verbs.upkeep.erasing import erase

SEED = 7
LEAST_DAYS, MOST_DAYS = 5, 730
INJECTED_DAYS = 14  # before the end, in which hooks were set up


@dataclass(slots=True)
class Hand:
    """A simulated clock that is set before each step."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the simulated time, in seconds since the epoch."""
        return self.now


def build(folder: Path, *, until: float, days: float = FULL_DAYS, seed: int = SEED, steps: int | None = None) -> None:
    """Create a store in a new folder with some days of work up to an instant; the same seed makes the same store.

    With `steps`, only that many steps of all sessions together are simulated.
    """
    if not LEAST_DAYS <= days <= MOST_DAYS:
        raise Invalid(f"{days:g} days cannot be told.", hint=f"Between {LEAST_DAYS} and {MOST_DAYS} can.")
    story, hand = read_story(), Hand()
    plan = make_plan(story, days=days, seed=seed, until=until)
    with open_demo(folder, hand, seed) as memory:
        simulation = Simulation(memory=memory, story=story)
        with memory.store.db.transaction():  # a single one: otherwise most of the time is spent on disk syncs
            _play(_timeline(simulation, plan, seed)[:steps], hand)
        hand.now = until
        _inject(memory, instant(until - INJECTED_DAYS * DAY))
        _erase(simulation)


def open_demo(folder: Path, now: Callable[[], float], seed: int = SEED) -> Memory:
    """Open the memory of a demo store with the given clock."""
    story, chance = read_story(), Random(f"{seed} ids")
    return Memory(
        store=open_store(SQLite(folder / FILE)),
        config=Config(project=story.main),
        checkout=Branch(name=story.main, branch="main", commit=""),
        embedder=None,
        context=Context(actor=Actor(kind="user", name=story.users[0])),
        on_erased=erasing.commit,
        clock=Clock(now, chance.getrandbits),
    )


_Step = tuple[float, int, int, Act]


def _timeline(simulation: Simulation, plan: Plan, seed: int) -> list[_Step]:
    """Return every step of every session with its time, sorted: overlapping sessions interleave."""
    steps: list[_Step] = []
    for number, visit in enumerate(plan.visits):
        chance = Random(f"{seed} {number}")
        acts = acts_of(take_seat(simulation, visit, chance))
        pace = (visit.end - visit.start) / max(1, len(acts) - 1)
        steps += [(visit.start + place * pace, number, place, act) for place, act in enumerate(acts)]
    for place, (at, beat) in enumerate(plan.by_hand):
        steps.append((at, len(plan.visits), place, partial(_keep_by_hand, simulation, beat, place)))
    return sorted(steps, key=lambda step: step[:3])


def _play(steps: list[_Step], hand: Hand) -> None:
    for at, _, _, act in steps:
        hand.now = at
        act()


def _keep_by_hand(simulation: Simulation, beat: Beat, place: int) -> None:
    """Store a record as a user does at the command line."""
    assert beat.draft is not None
    users, area = simulation.story.users, simulation.story.areas.get(beat.area)
    memory = by_hand(simulation, users[place % len(users)], area.project if area else simulation.story.main)
    draft = replace(beat.draft, scopes=(area.scope,)) if area else beat.draft
    if record := keep(simulation, memory, draft):
        simulation.known[beat.key] = record.id


def _inject(memory: Memory, since: str) -> None:
    """Note what hooks injected into the sessions since an instant: the brief, and the scars they then answered."""
    brief = brief_of(memory)
    for session in list_sessions(memory, limit=1_000, since=since):
        scars = [
            use for use in usage.uses(memory.store, session=session.id) if find(memory, use.id).record.kind == "scar"
        ]
        given = [(session.started_at, brief.ids, "brief", brief.tokens)]
        given += [(use.at, (use.id,), "action site", 60) for use in scars]
        for at, ids, why, tokens in given:
            data = {"ids": list(ids), "why": why, "tokens": tokens}
            event = memory.event("injected", session.id, data=data)
            memory.commit([replace(event, at=at, by=Actor(kind="agent", name=session.agent, session=session.id))])


def _erase(simulation: Simulation) -> None:
    """Erase the leaked record; only at the end, since erasing rewrites the file."""
    if leaked := simulation.known.get(simulation.story.told["leaked"][1]):
        erase(simulation.memory, leaked)
