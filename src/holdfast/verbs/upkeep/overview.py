"""The whole store: its projects, and memories, recalls, tokens and outcomes by day."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from holdfast.engine.raw import trail
from holdfast.engine.views import records, sessions, usage
from holdfast.engine.views.records import Filter
from holdfast.model.record import GLOBAL
from holdfast.verbs.memory import Memory

MOST_INJECTIONS, MOST_TIMED = 100_000, 2_000
USED = ("applied", "corrected", "succeeded")  # outcomes that show that a memory was used


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
    # used: a memory it returned was then used; answered: it returned something, without that; empty
    recalls: Mapping[str, Counter[str]] = field(default_factory=dict)
    # recalled; of what was injected automatically the part that was used, and the rest as injected
    tokens: Mapping[str, Counter[str]] = field(default_factory=dict)
    outcomes: Mapping[str, Counter[str]] = field(default_factory=dict)
    observed: int = 0  # outcomes detected only by a rule
    timings: tuple[Timing, ...] = ()


def projects(memory: Memory) -> list[Project]:
    """Return the projects with any records, the largest first."""
    all_projects = [_project(memory, name) for name, count in memory.store.projects().items() if count]
    return sorted(all_projects, key=lambda project: (-project.kept, project.name))


def day_by_day(memory: Memory, *, days: int = 90, everywhere: bool = False, zone: tzinfo | None = UTC) -> Days:
    """Return the counts of a project, or of all, by day in a time zone; None is that of this machine."""
    store, dates = memory.store, _dates(memory, days, zone)
    since = start_of_day(dates[0], zone)
    own = (
        None
        if everywhere
        else {session.id for session in sessions.page(store, memory.project, limit=100_000, since=since[:10])}
    )
    recalls, tokens = _asked(memory, since, own, zone)
    outcomes, observed = _outcomes(memory, since, own, zone)
    return Days(
        days=dates,
        kept=_kept(memory, since, zone, everywhere=everywhere),
        recalls=recalls,
        tokens=tokens,
        outcomes=outcomes,
        observed=observed,
        timings=tuple(timings(memory)),
    )


def saved_by_day(
    memory: Memory, *, days: int = 90, everywhere: bool = False, zone: tzinfo | None = UTC
) -> dict[str, int]:
    """Return how many records were saved on each of the last days, oldest first, observations included."""
    dates = _dates(memory, days, zone)
    kept = _kept(memory, start_of_day(dates[0], zone), zone, everywhere=everywhere)
    return {day: kept[day].total() if day in kept else 0 for day in dates}


def start_of_day(date: str, zone: tzinfo | None) -> str:
    """Return the first instant of a date in a time zone; None is that of this machine."""
    start = datetime.fromisoformat(date)
    there = start.replace(tzinfo=zone) if zone else start.astimezone()
    return there.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _dates(memory: Memory, days: int, zone: tzinfo | None) -> tuple[str, ...]:
    today = datetime.fromisoformat(memory.clock.now()).astimezone(zone).date()
    return tuple((today - timedelta(days=back)).isoformat() for back in range(days - 1, -1, -1))


def _day(at: str, zone: tzinfo | None) -> str:
    return at[:10] if zone is UTC else datetime.fromisoformat(at).astimezone(zone).date().isoformat()


def _kept(memory: Memory, since: str, zone: tzinfo | None, *, everywhere: bool) -> dict[str, Counter[str]]:
    numbers = None if everywhere else (memory.store.project_number(memory.project),)
    kept: dict[str, Counter[str]] = {}
    for minute, kind, count in records.by_minute(memory.store, Filter(projects=numbers, since=since, states=())):
        kept.setdefault(_day(f"{minute}Z", zone), Counter())[kind] += count
    return kept


def timings(memory: Memory) -> list[Timing]:
    """Return the recent cost of hooks by event."""
    times: dict[str, list[float]] = {}
    for entry in trail.before(memory.store, "~", MOST_TIMED):
        if entry.took_ms and entry.event != "Injected":
            times.setdefault(entry.event, []).append(entry.took_ms)
    return [
        Timing(event=event, times=len(durations), p50=_at(durations, 0.5), p95=_at(durations, 0.95))
        for event, durations in sorted(times.items())
    ]


def _project(memory: Memory, name: str) -> Project:
    store, number = memory.store, memory.store.project_number(name)
    kinds = records.kinds_of(store, number)
    return Project(
        name=name,
        kept=sum(kinds.values()),
        sessions=sessions.counted(store, name) if name != GLOBAL else 0,
        kinds=tuple(kinds.items()),
        last_at=records.last_made(store, number),
    )


def _asked(
    memory: Memory, since: str, own: set[str] | None, zone: tzinfo | None
) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Count recalls, the tokens they returned, and those injected; "used" are those whose memories were then used."""
    recalls: dict[str, Counter[str]] = {}
    tokens: dict[str, Counter[str]] = {}
    used = {(use.session, use.id) for use in usage.all_since(memory.store, since) if use.outcome in USED}
    for event in memory.store.happened(("surfaced", "injected"), since, MOST_INJECTIONS):
        if (own is not None and event.about not in own) or event.data.get("how") == "read":
            continue
        found, size = event.data.get("ids"), event.data.get("tokens")
        ids = [id_ for id_ in found if isinstance(id_, str)] if isinstance(found, list) else []
        cost, helped = size if isinstance(size, int) else 0, sum((event.about, id_) in used for id_ in ids)
        day = _day(event.at, zone)
        if event.verb == "surfaced":
            result = "used" if helped else "answered" if ids else "empty"
            recalls.setdefault(day, Counter())[result] += 1
            tokens.setdefault(day, Counter())["recalled"] += cost
        else:
            share = round(cost * helped / len(ids)) if ids else 0
            tokens.setdefault(day, Counter()).update(used=share, injected=cost - share)
    return recalls, tokens


def _outcomes(
    memory: Memory, since: str, own: set[str] | None, zone: tzinfo | None
) -> tuple[dict[str, Counter[str]], int]:
    counts: dict[str, Counter[str]] = {}
    observed = 0
    for use in usage.all_since(memory.store, since):
        if own is not None and use.session not in own:
            continue
        if use.observed:
            observed += 1
        else:
            counts.setdefault(_day(use.at, zone), Counter())[use.outcome] += 1
    return counts, observed


def _at(times: Sequence[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
