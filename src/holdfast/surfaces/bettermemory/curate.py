"""Everything a curator wants to see of a project's memory at once: dead weight, debts, disputes, scopes, markers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.engine.views import health_queries, records, usage
from holdfast.engine.views.records import Filter
from holdfast.engine.views.usage import Use
from holdfast.model.ids import days_before
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.surfaces.bettermemory.drift import Status, checked
from holdfast.surfaces.bettermemory.staleness import staleness_of_many
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.health import Health, health

MOST, ROWS = 10_000, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record with how often it was shown and what became of it; `disputes` are the times it was called wrong."""

    record: Record
    usage: Usage
    contradicted: bool = False
    disputes: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeHealth:
    """How one scope is doing."""

    scope: str
    active: int = 0
    dead: int = 0
    cold: int = 0
    contradicted: int = 0
    applied: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chores:
    """How much there is to curate; `drifted` None means that git could not be asked."""

    stale: int
    never: int
    drifted: int | None
    cold: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """What a curator wants to see; `drifted` are records with the commits made since they were checked."""

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
class _Found:
    """The active records of a project, and which of them are of a sort."""

    active: Mapping[str, Record]
    dead: frozenset[str]
    cold: frozenset[str]
    wrong: frozenset[str]
    status: Mapping[str, Status]


def curated(memory: Memory, kinds: Sequence[str], *, days: int = 30, top: int = 10, least: int = 3) -> Curation:
    """Look at everything that makes a project's memory less useful."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    found = _found(memory, kinds, days)
    rows = _rows(memory, found)
    heavy = [one for one, _ in health_queries.heavy(db, here, least, top)]
    unchecked = [one for one, status in found.status.items() if status != "fresh"]
    drifted = _drifted(memory, found)
    return Curation(
        health=health(memory, days=days),
        total=len(found.active),
        events=memory.store.event_count(),
        sessions=len(usage.costs_since(db, days_before(memory.clock.now(), days))),
        dead=_some(rows, found.dead),
        cold=_some(rows, found.cold),
        heavy=_some(rows, heavy),
        contradicted=_some(rows, found.wrong),
        scopes=tuple(_scopes(found, rows)),
        checks=_counts(found),
        debt=_some(rows, unchecked)[:ROWS],
        drifted=None if drifted is None else tuple((rows[one], count) for one, count in drifted.items() if one in rows),
    )


def chores(memory: Memory, kinds: Sequence[str], *, days: int = 30) -> Chores:
    """Count what there is to curate in this project."""
    found = _found(memory, kinds, days)
    drifted, counts = _drifted(memory, found), _counts(found)
    return Chores(
        stale=counts["stale"],
        never=counts["never"],
        drifted=None if drifted is None else len(drifted),
        cold=len(found.cold),
        dead=len(found.dead),
    )


def _found(memory: Memory, kinds: Sequence[str], days: int) -> _Found:
    db, here, now = memory.store.db, memory.store.project_number(memory.project), memory.clock.now()
    chosen = Filter(projects=(here,), kinds=tuple(kinds), starters=False)
    active = {entry.record.id: entry.record for entry in records.page(db, chosen, limit=MOST)}
    before = days_before(now, days)
    return _Found(
        active=active,
        dead=frozenset(health_queries.dead(db, here, before, MOST).ids),
        cold=frozenset(health_queries.cold(db, here, before, MOST).ids),
        wrong=frozenset(health_queries.contradicted(db, here, MOST).ids),
        status={one: checked(record, now).status for one, record in active.items()},
    )


def _rows(memory: Memory, found: _Found) -> dict[str, Row]:
    used = usage.of(memory.store.db, found.active)
    said = usage.since(memory.store.db, found.wrong, "") if found.wrong else []
    return {
        one: Row(
            record=record,
            usage=used.get(one, Usage()),
            contradicted=one in found.wrong,
            disputes=tuple(use for use in said if use.id == one and use.outcome == "contradicted"),
        )
        for one, record in found.active.items()
    }


def _some(rows: Mapping[str, Row], ids: Iterable[str]) -> tuple[Row, ...]:
    return tuple(rows[one] for one in ids if one in rows)


def _counts(found: _Found) -> dict[Status, int]:
    states = list(found.status.values())
    return {"never": states.count("never"), "stale": states.count("stale"), "fresh": states.count("fresh")}


def _drifted(memory: Memory, found: _Found) -> dict[str, int] | None:
    """Give the records with commits since they were checked; None where git cannot be asked at all."""
    if memory.checkout.commits_since(memory.clock.now()) is None:
        return None
    measured = staleness_of_many(memory, [record for record in found.active.values() if record.verified_at])
    return {one: stale.commits for one, stale in measured.items() if stale.commits}


def _scopes(found: _Found, rows: Mapping[str, Row]) -> Iterator[ScopeHealth]:
    members: dict[str, list[str]] = {}
    for one, record in found.active.items():
        for scope in record.scopes:
            members.setdefault(scope, []).append(one)
    for scope, ids in sorted(members.items()):
        yield ScopeHealth(
            scope=scope,
            active=len(ids),
            dead=sum(one in found.dead for one in ids),
            cold=sum(one in found.cold for one in ids),
            contradicted=sum(one in found.wrong for one in ids),
            applied=sum(rows[one].usage.applied for one in ids),
        )
