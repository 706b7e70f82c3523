"""Play the story into a new store: the real verbs, under a clock that is moved through the days."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

from holdfast.compose.settings import FILE
from holdfast.engine.opening import open_store
from holdfast.engine.raw import transcripts
from holdfast.engine.sqlite import SQLite
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.hosts.demo.acts import Act, acts_of
from holdfast.hosts.demo.beats import Beat
from holdfast.hosts.demo.plan import FULL_DAYS, Plan, make_plan
from holdfast.hosts.demo.seat import Branch, Desk, by_hand, keep, take_seat
from holdfast.hosts.demo.story import Story, read_story
from holdfast.model.config import Config
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Actor
from holdfast.model.ids import Clock
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.erasing import erase
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.sessions.thread import resolved_threads, triage
from holdfast.verbs.upkeep.doctor import status

SEED = 7
LEAST_DAYS, MOST_DAYS = 5, 730
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Hand:
    """The hand of a clock that is moved from step to step."""

    now: float = 0.0

    def __call__(self) -> float:
        """Give the instant it points at."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What is in the store that was made."""

    folder: str
    project: str
    records: int
    events: int
    sessions: int
    open_sessions: int
    transcripts: int
    turned_away: int
    projects: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    threads: dict[str, int] = field(default_factory=dict)


def build(
    folder: Path, *, until: float, days: float = FULL_DAYS, seed: int = SEED, progress: Progress | None = None
) -> Built:
    """Make a store in a new folder with some days of work that end at an instant; the same seed makes the same store."""
    if not LEAST_DAYS <= days <= MOST_DAYS:
        raise Invalid(f"{days:g} days cannot be told.", hint=f"Between {LEAST_DAYS} and {MOST_DAYS} can.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} is not empty.", hint="Name a new folder: holdfast demo FOLDER")
    story, hand = read_story(), Hand()
    plan = make_plan(story, days=days, seed=seed, until=until)
    with _open(story, folder, hand, seed) as memory:
        desk = Desk(memory=memory, story=story)
        with memory.store.db.transaction():  # one, or most of the time would go into waiting for the disk
            _play(_timeline(desk, plan, seed), hand, progress or _silent)
        hand.now = until
        _erase(desk)
        return _told(desk, folder)


def _silent(_done: int, _all: int) -> None:
    """Report nothing."""


def _open(story: Story, folder: Path, hand: Hand, seed: int) -> Memory:
    chance = Random(f"{seed} ids")
    return Memory(
        store=open_store(SQLite(folder / FILE)),
        config=Config(project=story.main),
        checkout=Branch(name=story.main, branch="main", commit=""),
        embedder=None,
        actor=Actor(kind="user", name=story.users[0]),
        clock=Clock(hand, chance.getrandbits),
    )


_Step = tuple[float, int, int, Act]


def _timeline(desk: Desk, plan: Plan, seed: int) -> list[_Step]:
    """Give every step of every session with its instant: sessions that overlap take turns."""
    steps: list[_Step] = []
    for number, visit in enumerate(plan.visits):
        chance = Random(f"{seed} {number}")
        acts = acts_of(take_seat(desk, visit, chance))
        pace = (visit.end - visit.start) / max(1, len(acts) - 1)
        steps += [(visit.start + place * pace, number, place, act) for place, act in enumerate(acts)]
    for place, (at, beat) in enumerate(plan.by_hand):
        steps.append((at, len(plan.visits), place, partial(_keep_by_hand, desk, beat, place)))
    return sorted(steps, key=lambda step: step[:3])


def _play(steps: list[_Step], hand: Hand, progress: Progress) -> None:
    for done, (at, _, _, act) in enumerate(steps, start=1):
        hand.now = at
        act()
        progress(done, len(steps))


def _keep_by_hand(desk: Desk, beat: Beat, place: int) -> None:
    """Keep what a person types at the command line."""
    assert beat.draft is not None
    users, area = desk.story.users, desk.story.areas.get(beat.area)
    memory = by_hand(desk, users[place % len(users)], area.project if area else desk.story.main)
    draft = replace(beat.draft, scopes=(area.scope,)) if area else beat.draft
    if record := keep(desk, memory, draft):
        desk.known[beat.key] = record.id


def _erase(desk: Desk) -> None:
    """Erase what should never have been kept; not before the end, for it rewrites the file."""
    if leaked := desk.known.get(desk.story.told["leaked"][1]):
        erase(desk.memory, leaked)


def _told(desk: Desk, folder: Path) -> Built:
    db, memory = desk.memory.store.db, desk.memory
    kept = [entry.record for entry in records.page(db, Filter(states=()), limit=1_000_000)]
    begun = list_sessions(memory, limit=1_000_000, everywhere=True)
    stages = {stage: len(found) for stage, found in triage(memory).items()}
    return Built(
        folder=str(folder),
        project=desk.story.main,
        records=len(kept),
        events=status(memory).events,
        sessions=len(begun),
        open_sessions=sum(one.is_open for one in begun),
        transcripts=transcripts.counted(db),
        turned_away=desk.turned_away,
        projects=dict(Counter(record.project or "everywhere" for record in kept).most_common()),
        kinds=dict(Counter(record.kind for record in kept).most_common()),
        states=dict(Counter(record.state for record in kept).most_common()),
        threads={**stages, "resolved": len(resolved_threads(memory, limit=1_000))},
    )
