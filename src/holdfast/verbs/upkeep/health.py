"""Reports on what a store holds and how well it serves: the health of a project, recalls and outcomes by day, counters."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from itertools import chain

from holdfast.engine.raw import counters, outputs, trail
from holdfast.engine.views import labels, links, queries, records, sessions, usage
from holdfast.model.event import ids_in, tokens_in
from holdfast.model.ids import days_before, instant, short
from holdfast.model.patterns import tables
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.ranking.health import Measure, measures, score
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.conflicts import recently_overwritten
from holdfast.verbs.records.freshness import MOST_CHECKED, drifted, is_here
from holdfast.verbs.records.read import waiting_records

ROWS = 20
HEAVY = 3
RARE = 1  # a scope this rare may be a typo
SHORTEST, ALIKE = 3, 0.8  # the common one is longer than this, and so similar: a character or two differ
MOST_INJECTIONS, MOST_TIMED = 100_000, 2_000
USED = ("applied", "corrected", "succeeded")  # outcomes that show that a memory was used


@dataclass(frozen=True, slots=True, kw_only=True)
class Typo:
    """A scope that looks like a more common one."""

    scope: str
    meant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """A thing to do, why, and the command that does it."""

    what: str
    why: str
    command: str
    record: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The number of records of a sort, and some of them."""

    total: int
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The health of a project's memory."""

    days: int
    total: int
    score: int
    measures: tuple[Measure, ...]
    contradicted: Sample
    dead: Sample
    cold: Sample
    unverified: Sample
    stale: Sample
    drifted: Sample | None = None  # None: this is not the project's checkout
    unlooked: int = 0  # records that cite code and were not checked
    heavy: tuple[tuple[Record, int], ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    scopes: dict[str, int] = field(default_factory=dict)
    typos: tuple[Typo, ...] = ()
    markers: dict[str, tuple[int, int]] = field(default_factory=dict)
    strangers: tuple[str, ...] = ()
    waiting: tuple[Record, ...] = ()
    queue: tuple[Chore, ...] = ()


_ADVICE = {name: row.split(" | ") for name, row in tables(__file__)["advice"]}


def health(memory: Memory, *, days: int = 30) -> Health:
    """Check everything that makes a memory less useful, and rank what to do."""
    store, here = memory.store, memory.here
    before = days_before(memory.clock.now(), days)
    total, troubles = queries.tally(store, here, before)
    ids = {name: queries.ids_of(store, name, here, before, min(ROWS, count)) for name, count in troubles.items()}
    corrected = dict(queries.heavy(store, here, HEAVY, ROWS))
    known = memory.known(chain(corrected, *ids.values()))
    samples: dict[str, Sample] = {
        name: Sample(total=troubles[name], records=tuple(known[id_] for id_ in each if id_ in known))
        for name, each in ids.items()
    }
    cites, unlooked = queries.citing(store, here, MOST_CHECKED)
    is_known = is_here(memory, memory.project)  # whether cited code changed: only in the project's checkout
    moved = [record for record, _ in drifted(memory, cites).values()] if is_known else []
    gone = Sample(total=len(moved), records=tuple(moved[:ROWS]))
    scopes = labels.counts(store, "scope", here)
    typos, conflicts = tuple(typos_in(scopes)), tuple(links.pairs(store, "contradicts", here))
    waiting = tuple(waiting_records(memory))
    counts = {name: sample.total for name, sample in samples.items()} | {"drifted": gone.total}
    judged = measures({**counts, "total": total, "conflicts": len(conflicts), "typos": len(typos)})
    by_record = {name: sample.records for name, sample in samples.items()}
    by_record |= {"drifted": gone.records, "waiting": waiting}
    cases: dict[str, list[tuple[Record | None, tuple[str, ...]]]] = {
        **{name: [(record, (short(record.id),)) for record in each] for name, each in by_record.items()},
        "overwritten": [(one.record, (short(one.record.id), one.remark.why)) for one in recently_overwritten(memory)],
        "conflicts": [(None, (short(first), short(second))) for first, second in conflicts],
        "typos": [(None, (typo.scope, typo.meant)) for typo in typos],
    }
    # How often each transient wording was rejected, and how often it was saved anyway.
    fired, insisted = (
        {name.removeprefix(prefix): count for name, count in counters.totals(memory.store, prefix, before).items()}
        for prefix in ("transient.fired.", "transient.insisted.")
    )
    return Health(
        days=days,
        total=total,
        score=score(judged),
        measures=tuple(judged),
        **samples,
        drifted=gone if is_known else None,
        unlooked=unlooked if is_known else unlooked + len(cites),
        heavy=tuple((known[id_], times) for id_, times in corrected.items() if id_ in known),
        conflicts=conflicts,
        scopes=scopes,
        typos=typos,
        markers={word: (fired.get(word, 0), insisted.get(word, 0)) for word in sorted({*fired, *insisted})},
        strangers=tuple(usage.strangers(store)),
        waiting=waiting,
        queue=tuple(
            Chore(what=what, why=why.format(*words), command=command.format(*words), record=record)
            for name, (what, why, command) in _ADVICE.items()
            for record, words in cases[name]
        ),
    )


def typos_in(scopes: dict[str, int]) -> list[Typo]:
    """Return the rare scopes that are spelled almost like a more common one."""
    common = [name for name, count in scopes.items() if count > RARE and len(name) > SHORTEST]
    rare = [name for name, count in scopes.items() if count <= RARE]
    return [Typo(scope=name, meant=meant) for name in rare for meant in get_close_matches(name, common, 1, ALIKE)]


def quality(memory: Memory, *, days: float = 30) -> Report:
    """Return the cost of recent recalls and whether they helped: outcomes that were reported, and those that a rule saw."""
    store, since = memory.store, days_before(memory.clock.now(), days)
    costs, uses = usage.costs_since(store, since), usage.uses(store, since=since)
    total = sum(costs.values(), Counter[str]())
    declared, shown = Counter(use.outcome for use in uses if not use.observed), len(usage.shown(store, since=since))
    return {
        "sessions": len(costs),
        **{name: total[name] for name in ("recalls", "empty", "tokens")},
        "shown": shown,
        "declared": dict(declared),
        "observed": dict(Counter(use.outcome for use in uses if use.observed)),
        "helped": declared["applied"] / max(1, shown),  # the share of results that were reported as helpful
    }


def metrics(memory: Memory) -> Report:
    """Return the counters: the hot set, steps between memories, background work and its last failures."""
    store = memory.store
    different, taken = usage.steps_counted(store)
    return {
        "hot": usage.heat_counts(store),
        "recalls": store.counted(verb="surfaced"),
        "writes": store.counted(verb="recorded"),
        "outputs": outputs.counted(store, memory.here),  # stored for mining
        "steps": different,
        "steps_taken": taken,
        "tallies": counters.totals(store, ""),
        "failures": counters.failures(store),
    }


# The whole store: its projects, and what happened day by day.


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project: its memories, sessions, and the time of the last memory."""

    name: str
    kept: int  # ever, in any state
    sessions: int
    kinds: tuple[tuple[str, int], ...]
    last_at: str


ByDay = Mapping[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class Days:
    """Counts by day, including days without any. Every mapping goes from a day to counts by name."""

    days: tuple[str, ...]
    kept: ByDay = field(default_factory=dict)
    # used: a memory it returned was then used; answered: it returned something, without that; empty
    recalls: ByDay = field(default_factory=dict)
    # recalled; of what was injected automatically the part that was used, and the rest as injected
    tokens: ByDay = field(default_factory=dict)
    outcomes: ByDay = field(default_factory=dict)
    observed: int = 0  # outcomes detected only by a rule
    timings: tuple[Report, ...] = ()


def projects(memory: Memory) -> list[Project]:
    """Return the projects with memories, the largest first; one whose memories all moved away has none."""
    found, store = [], memory.store
    for name in (name for name, count in store.projects().items() if count):
        kinds = records.kinds_of(store, number := store.project_number(name))
        worked, last = sessions.counted(store, name) if name != GLOBAL else 0, records.last_made(store, number)
        total, by_kind = sum(kinds.values()), tuple(kinds.items())
        found.append(Project(name=name, kept=total, sessions=worked, kinds=by_kind, last_at=last))
    return sorted((one for one in found if one.kept), key=lambda project: (-project.kept, project.name))


def day_by_day(memory: Memory, *, days: int = 90, everywhere: bool = False, zone: tzinfo | None = UTC) -> Days:
    """Return the counts of a project, or of all, by day in a time zone; None is that of this machine."""
    store, dates = memory.store, _dates(memory, days, zone)
    since = start_of_day(dates[0], zone)
    begun = [] if everywhere else sessions.page(store, memory.project, limit=100_000, since=since[:10])
    own = None if everywhere else {session.id for session in begun}
    uses = usage.uses(store, since=since)
    recalls, tokens = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    used = {(use.session, use.id) for use in uses if use.outcome in USED}
    for event in store.happened(("surfaced", "injected"), since, MOST_INJECTIONS):
        if (own is not None and event.about not in own) or event.data.get("how") == "read":
            continue
        ids, cost, day = ids_in(event), tokens_in(event), _day(event.at, zone)
        helped = sum((event.about, id_) in used for id_ in ids)
        if event.verb == "surfaced":
            recalls[day]["used" if helped else "answered" if ids else "empty"] += 1
            tokens[day]["recalled"] += cost
        else:
            share = round(cost * helped / len(ids)) if ids else 0
            tokens[day].update(used=share, injected=cost - share)
    outcomes, observed = defaultdict[str, Counter[str]](Counter), 0
    for use in (use for use in uses if own is None or use.session in own):
        if use.observed:
            observed += 1
        else:
            outcomes[_day(use.at, zone)][use.outcome] += 1
    kept = _kept(memory, since, zone, everywhere=everywhere)
    return Days(dates, kept, recalls, tokens, outcomes, observed, tuple(timings(memory)))


def saved_by_day(
    memory: Memory, *, days: int = 90, everywhere: bool = False, zone: tzinfo | None = UTC
) -> dict[str, int]:
    """Return how many records were saved on each of the last days, oldest first, observations included."""
    dates = _dates(memory, days, zone)
    kept = _kept(memory, start_of_day(dates[0], zone), zone, everywhere=everywhere)
    return {day: kept[day].total() for day in dates}


def start_of_day(date: str, zone: tzinfo | None) -> str:
    """Return the first instant of a date in a time zone; None is that of this machine."""
    start = datetime.fromisoformat(date)
    return instant((start.replace(tzinfo=zone) if zone else start.astimezone()).timestamp())


def timings(memory: Memory) -> list[Report]:
    """Return the recent CPU time of hooks by event, in milliseconds as they measured it."""
    times = defaultdict[str, list[float]](list)
    for entry in trail.before(memory.store, "~", MOST_TIMED):
        if entry.took_ms and entry.event != "Injected":
            insort(times[entry.event], entry.took_ms)

    def at(durations: list[float], share: float) -> float:
        return durations[min(len(durations) - 1, int(len(durations) * share))]

    return [
        {"event": event, "times": len(durations), "p50": at(durations, 0.5), "p95": at(durations, 0.95)}
        for event, durations in sorted(times.items())
    ]


def _dates(memory: Memory, days: int, zone: tzinfo | None) -> tuple[str, ...]:
    today = datetime.fromisoformat(memory.clock.now()).astimezone(zone).date()
    return tuple((today - timedelta(days=back)).isoformat() for back in range(days - 1, -1, -1))


def _day(at: str, zone: tzinfo | None) -> str:
    return at[:10] if zone is UTC else datetime.fromisoformat(at).astimezone(zone).date().isoformat()


def _kept(memory: Memory, since: str, zone: tzinfo | None, *, everywhere: bool) -> ByDay:
    kept = defaultdict[str, Counter[str]](Counter)
    chosen = records.Filter(projects=None if everywhere else (memory.here,), since=since, states=())
    for minute, kind, count in records.tallied(memory.store, chosen, records.MINUTE, "kind"):
        kept[_day(f"{minute}Z", zone)][kind] += count
    return kept
