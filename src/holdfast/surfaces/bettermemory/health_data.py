"""Collect what a curator needs to see of a project: unused, unverified and disputed records, scopes, markers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.engine.views import health_queries, records, usage
from holdfast.engine.views.records import Filter
from holdfast.engine.views.usage import Use
from holdfast.model.ids import days_before
from holdfast.model.query import Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.surfaces.bettermemory.drift import Status, checked
from holdfast.surfaces.bettermemory.staleness import staleness_of_many
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.health import Health, health

MOST, ROWS = 10_000, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record with its usage; `disputes` are the times it was reported wrong."""

    record: Record
    usage: Usage
    contradicted: bool = False
    disputes: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeHealth:
    """Counts of one scope."""

    scope: str
    active: int = 0
    dead: int = 0
    cold: int = 0
    contradicted: int = 0
    applied: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chores:
    """How much there is to curate; `drifted` is None if git could not be asked."""

    stale: int
    never: int
    drifted: int | None
    cold: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """The full report; `drifted` pairs records with the number of commits since they were verified."""

    health: Health
    total: int
    events: int
    sessions: int
    dead: tuple[Row, ...]
    cold: tuple[Row, ...]
    heavy: tuple[Row, ...]
    contradicted: tuple[Row, ...]
    scopes: tuple[ScopeHealth, ...]
    checks: Mapping[Status, int]
    debt: tuple[Row, ...]
    drifted: tuple[tuple[Row, int], ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Active:
    """The active records of a project, and the ids in each category."""

    active: Mapping[str, Record]
    dead: frozenset[str]
    cold: frozenset[str]
    wrong: frozenset[str]
    status: Mapping[str, Status]


def curated(memory: Memory, kinds: Sequence[str], *, days: int = 30, top: int = 10, least: int = 3) -> Curation:
    """Collect everything that makes a memory less useful, of all projects."""
    store, project = memory.store, None
    records_ = _active(memory, kinds, days, None)
    rows = _rows(memory, records_)
    heavy = [id_ for id_, _ in health_queries.heavy(store, project, least, top)]
    unchecked = [id_ for id_, status in records_.status.items() if status != "fresh"]
    drifted = _drifted(memory, records_)
    return Curation(
        health=health(memory, days=days),
        total=len(records_.active),
        events=store.event_count(),
        sessions=len(usage.costs_since(store, days_before(memory.clock.now(), days))),
        dead=_pick(rows, records_.dead),
        cold=_pick(rows, records_.cold),
        heavy=_pick(rows, heavy),
        contradicted=_pick(rows, records_.wrong),
        scopes=tuple(_scopes(records_, rows)),
        checks=_counts(records_),
        debt=_pick(rows, unchecked)[:ROWS],
        drifted=None if drifted is None else tuple((rows[id_], count) for id_, count in drifted.items() if id_ in rows),
    )


def chores(memory: Memory, kinds: Sequence[str], *, days: int = 30) -> Chores:
    """Count what there is to curate in this project and everywhere."""
    records_ = _active(memory, kinds, days, (memory.project, GLOBAL))
    drifted, counts = _drifted(memory, records_), _counts(records_)
    return Chores(
        stale=counts["stale"],
        never=counts["never"],
        drifted=None if drifted is None else len(drifted),
        cold=len(records_.cold),
        dead=len(records_.dead),
    )


def _active(memory: Memory, kinds: Sequence[str], days: int, names: Sequence[str] | None) -> _Active:
    """Return the active records of some projects, or of all of them."""
    store, now = memory.store, memory.clock.now()
    projects = None if names is None else tuple(store.sizes(names))
    filter_ = Filter(projects=projects, kinds=tuple(kinds))
    active = {entry.record.id: entry.record for entry in records.page(store, filter_, limit=MOST)}
    before = days_before(now, days)
    return _Active(
        active=active,
        dead=frozenset(health_queries.ids_of(store, "dead", None, before, MOST)) & active.keys(),
        cold=frozenset(health_queries.ids_of(store, "cold", None, before, MOST)) & active.keys(),
        wrong=frozenset(health_queries.ids_of(store, "contradicted", None, "", MOST)) & active.keys(),
        status={id_: checked(record, now).status for id_, record in active.items()},
    )


def _rows(memory: Memory, records_: _Active) -> dict[str, Row]:
    used = usage.of(memory.store, records_.active)
    uses = usage.since(memory.store, records_.wrong, "") if records_.wrong else []
    return {
        id_: Row(
            record=record,
            usage=used.get(id_, Usage()),
            contradicted=id_ in records_.wrong,
            disputes=tuple(use for use in uses if use.id == id_ and use.outcome == "contradicted"),
        )
        for id_, record in records_.active.items()
    }


def _pick(rows: Mapping[str, Row], ids: Iterable[str]) -> tuple[Row, ...]:
    return tuple(rows[id_] for id_ in ids if id_ in rows)


def _counts(records_: _Active) -> dict[Status, int]:
    states = list(records_.status.values())
    return {"never": states.count("never"), "stale": states.count("stale"), "fresh": states.count("fresh")}


def _drifted(memory: Memory, records_: _Active) -> dict[str, int] | None:
    """Return the records with commits since they were verified; None if git cannot be asked."""
    if memory.checkout.commits_since(memory.clock.now()) is None:
        return None
    measured = staleness_of_many(memory, [record for record in records_.active.values() if record.verified_at])
    return {id_: stale.commits for id_, stale in measured.items() if stale.commits}


def _scopes(records_: _Active, rows: Mapping[str, Row]) -> Iterator[ScopeHealth]:
    members: dict[str, list[str]] = {}
    for id_, record in records_.active.items():
        for scope in record.scopes:
            members.setdefault(scope, []).append(id_)
    for scope, ids in sorted(members.items()):
        yield ScopeHealth(
            scope=scope,
            active=len(ids),
            dead=sum(id_ in records_.dead for id_ in ids),
            cold=sum(id_ in records_.cold for id_ in ids),
            contradicted=sum(id_ in records_.wrong for id_ in ids),
            applied=sum(rows[id_].usage.applied for id_ in ids),
        )
