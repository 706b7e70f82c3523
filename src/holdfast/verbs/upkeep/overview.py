"""The whole store: its projects, and memories, recalls, tokens and outcomes by day."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.engine.raw import trail
from holdfast.engine.views import records, sessions, usage
from holdfast.engine.views.records import Filter
from holdfast.model.ids import days_before
from holdfast.model.record import GLOBAL
from holdfast.verbs.memory import Memory

MOST_INJECTIONS, MOST_TIMED = 100_000, 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project: its memories, sessions, and the time of the last memory."""

    name: str
    kept: int  # ever, in any state
    sessions: int
    kinds: tuple[tuple[str, int], ...]
    last_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Recent CPU time of a hook event in milliseconds, as the hooks measured it."""

    event: str
    times: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Counts by day, including days without any. Every mapping goes from a day to counts by name."""

    days: tuple[str, ...]
    kept: Mapping[str, Counter[str]] = field(default_factory=dict)
    recalls: Mapping[str, Counter[str]] = field(default_factory=dict)  # answered, empty
    tokens: Mapping[str, Counter[str]] = field(default_factory=dict)  # recalled, injected
    outcomes: Mapping[str, Counter[str]] = field(default_factory=dict)
    observed: int = 0  # outcomes detected only by a rule
    timings: tuple[Timing, ...] = ()


def projects(memory: Memory) -> list[Project]:
    """Return the projects with any records, the largest first."""
    all_projects = [_project(memory, name) for name, count in memory.store.projects().items() if count]
    return sorted(all_projects, key=lambda project: (-project.kept, project.name))


def day_by_day(memory: Memory, *, days: int = 90, everywhere: bool = False) -> Days:
    """Return the daily counts of a project, or of all."""
    db, since = memory.store.db, days_before(memory.clock.now(), days - 1)[:10]
    numbers = None if everywhere else (memory.store.project_number(memory.project),)
    own = (
        None
        if everywhere
        else {session.id for session in sessions.page(db, memory.project, limit=100_000, since=since)}
    )
    kept: dict[str, Counter[str]] = {}
    for day, kind, count in records.daily(db, Filter(projects=numbers, since=since, states=())):
        kept.setdefault(day, Counter())[kind] += count
    recalls, tokens = _asked(memory, since, own)
    outcomes, observed = _outcomes(memory, since, own)
    return Days(
        days=tuple(days_before(memory.clock.now(), back)[:10] for back in range(days - 1, -1, -1)),
        kept=kept,
        recalls=recalls,
        tokens=tokens,
        outcomes=outcomes,
        observed=observed,
        timings=tuple(timings(memory)),
    )


def saved_by_day(memory: Memory, *, days: int = 90, everywhere: bool = False) -> dict[str, int]:
    """Return how many records were saved on each of the last days, oldest first, observations included."""
    now = memory.clock.now()
    numbers = None if everywhere else (memory.store.project_number(memory.project),)
    counts = dict.fromkeys((days_before(now, back)[:10] for back in range(days - 1, -1, -1)), 0)
    since = days_before(now, days - 1)[:10]
    for day, _, count in records.daily(memory.store.db, Filter(projects=numbers, since=since, states=())):
        counts[day] = counts.get(day, 0) + count
    return counts


def timings(memory: Memory) -> list[Timing]:
    """Return the recent cost of hooks by event."""
    times: dict[str, list[float]] = {}
    for entry in trail.before(memory.store.db, "~", MOST_TIMED):
        if entry.took_ms and entry.event != "Injected":
            times.setdefault(entry.event, []).append(entry.took_ms)
    return [
        Timing(event=event, times=len(durations), p50=_at(durations, 0.5), p95=_at(durations, 0.95))
        for event, durations in sorted(times.items())
    ]


def _project(memory: Memory, name: str) -> Project:
    db, number = memory.store.db, memory.store.project_number(name)
    kinds = records.kinds_of(db, number)
    return Project(
        name=name,
        kept=sum(kinds.values()),
        sessions=sessions.counted(db, name) if name != GLOBAL else 0,
        kinds=tuple(kinds.items()),
        last_at=records.last_made(db, number),
    )


def _asked(memory: Memory, since: str, own: set[str] | None) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Count recalls and the tokens of recalls and injections; a session counts on the day of its last recall."""
    recalls: dict[str, Counter[str]] = {}
    tokens: dict[str, Counter[str]] = {}
    for cost in usage.costs_since(memory.store.db, since):
        if own is None or cost.session in own:
            day = cost.at[:10]
            recalls.setdefault(day, Counter()).update(answered=cost.recalls - cost.empty, empty=cost.empty)
            tokens.setdefault(day, Counter())["recalled"] += cost.tokens
    for event in memory.store.happened(("injected",), since, MOST_INJECTIONS):
        if own is None or event.about in own:
            size = event.data.get("tokens")
            tokens.setdefault(event.at[:10], Counter())["injected"] += size if isinstance(size, int) else 0
    return recalls, tokens


def _outcomes(memory: Memory, since: str, own: set[str] | None) -> tuple[dict[str, Counter[str]], int]:
    counts: dict[str, Counter[str]] = {}
    observed = 0
    for use in usage.all_since(memory.store.db, since):
        if own is not None and use.session not in own:
            continue
        if use.observed:
            observed += 1
        else:
            counts.setdefault(use.at[:10], Counter())[use.outcome] += 1
    return counts, observed


def _at(times: Sequence[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
