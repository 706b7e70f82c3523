"""The health of a project's memory, and what to do about it first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.engine.raw import counters
from holdfast.engine.views import health_queries, labels, links, records, usage
from holdfast.engine.views.health_queries import Trouble
from holdfast.model.ids import days_before, short
from holdfast.model.record import Record
from holdfast.policy.ranking.health import Measure, measures, score
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.overwritten import Overwritten, recently_overwritten
from holdfast.verbs.records.read import waiting_records

ROWS = 20
MOST_CHECKED = 500
HEAVY = 3
RARE = 1  # a scope this rare may be a typo
NEAR = 2  # characters that may differ


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


def health(memory: Memory, *, days: int = 30) -> Health:
    """Check everything that makes a memory less useful, and rank what to do."""
    store, here = memory.store, memory.store.project_number(memory.project)
    before = days_before(memory.clock.now(), days)
    total, troubles = health_queries.tally(store, here, before)
    samples: dict[str, Sample] = {name: _sample(memory, name, count, before) for name, count in troubles.items()}
    scopes = labels.counts(store, "scope", here)
    typos, conflicts = tuple(typos_in(scopes)), tuple(links.pairs(store, "contradicts", here))
    drifted, unlooked = _drifted(memory, here)
    counts = {name: sample.total for name, sample in samples.items()} | {"drifted": drifted.total if drifted else 0}
    judged = measures({**counts, "total": total, "conflicts": len(conflicts), "typos": len(typos)})
    waiting = tuple(waiting_records(memory))
    replaced = recently_overwritten(memory)
    return Health(
        days=days,
        total=total,
        score=score(judged),
        measures=tuple(judged),
        **samples,
        drifted=drifted,
        unlooked=unlooked,
        heavy=_heavy(memory, here),
        conflicts=conflicts,
        scopes=scopes,
        typos=typos,
        markers=_markers(memory, before),
        strangers=tuple(usage.strangers(store)),
        waiting=waiting,
        queue=(
            *(_compare(found) for found in replaced),
            *_queue({**samples, "drifted": drifted or Sample(total=0)}, conflicts, typos, waiting),
        ),
    )


def _compare(found: Overwritten) -> Chore:
    command = f"holdfast history {short(found.record.id)}"
    return Chore(what="compare", why=found.remark.why, command=command, record=found.record)


def typos_in(scopes: dict[str, int]) -> list[Typo]:
    """Return the rare scopes that differ by a character or two from a more common one."""
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415  only here

    typos = []
    for scope in (name for name, count in scopes.items() if count <= RARE):
        common = [name for name, count in scopes.items() if count > RARE and len(name) > NEAR + 1]
        near = [(Levenshtein.distance(scope, name, score_cutoff=NEAR), name) for name in common]
        close = [pair for pair in near if 0 < pair[0] <= NEAR]
        if close:
            typos.append(Typo(scope=scope, meant=min(close)[1]))
    return typos


def _sample(memory: Memory, trouble: Trouble, count: int, before: str) -> Sample:
    here, most = memory.store.project_number(memory.project), min(ROWS, count)
    ids = health_queries.ids_of(memory.store, trouble, here, before, most) if most else ()
    known = records.by_ids(memory.store, ids)
    return Sample(total=count, records=tuple(known[id_].record for id_ in ids if id_ in known))


def _drifted(memory: Memory, here: int) -> tuple[Sample | None, int]:
    """Return the records whose cited code has changed, and how many were not checked.

    None if this is not the project's checkout: then it is unknown.
    """
    citing = health_queries.citing(memory.store, here, MOST_CHECKED)
    if not is_here(memory, memory.project):
        return None, citing.total
    known = [entry.record for entry in records.by_ids(memory.store, citing.ids).values()]
    judged = freshness(memory, known)
    moved = [record for record in known if record.id in judged and judged[record.id].problems]
    return Sample(total=len(moved), records=tuple(moved[:ROWS])), citing.total - len(citing.ids)


def _heavy(memory: Memory, here: int) -> tuple[tuple[Record, int], ...]:
    corrected = health_queries.heavy(memory.store, here, HEAVY, ROWS)
    known = records.by_ids(memory.store, [id_ for id_, _ in corrected])
    return tuple((known[id_].record, times) for id_, times in corrected if id_ in known)


def _markers(memory: Memory, since: str) -> dict[str, tuple[int, int]]:
    """Return how often each transient wording was rejected, and how often it was saved anyway."""
    fired = counters.totals(memory.store, "transient.fired.", since)
    insisted = counters.totals(memory.store, "transient.insisted.", since)
    words = {name.rpartition(".")[2] for name in (*fired, *insisted)}
    return {
        word: (fired.get(f"transient.fired.{word}", 0), insisted.get(f"transient.insisted.{word}", 0))
        for word in sorted(words)
    }


def _queue(
    samples: dict[str, Sample], conflicts: Sequence[tuple[str, str]], typos: Sequence[Typo], waiting: Sequence[Record]
) -> list[Chore]:
    """Return what to do, most pressing first, each with a command."""
    decide = [
        Chore(
            what="decide",
            why="these two contradict each other",
            command=f"holdfast review resolve {short(first)} {short(second)}",
        )
        for first, second in conflicts
    ]
    rename = [
        Chore(
            what="rename",
            why=f"it looks like {typo.meant}",
            command=f"holdfast store rename-scope {typo.scope} {typo.meant}",
        )
        for typo in typos
    ]
    chores = {name: _chores(name, sample.records) for name, sample in samples.items()} | {
        "conflicts": decide,
        "waiting": _chores("waiting", waiting),
        "typos": rename,
    }
    return [chore for name in _ORDER for chore in chores[name]]


_ORDER = ("contradicted", "conflicts", "waiting", "drifted", "stale", "unverified", "typos", "dead")
# What to do about each sort of record, why, and the command for it.
_ADVICE = {
    "contradicted": ("fix or retire", "it was reported wrong", "holdfast revise {} --text …"),
    "waiting": ("approve or reject", "it is pending", "holdfast review approve {}"),
    "drifted": ("check", "the code it cites has changed", "holdfast show {}"),
    "stale": ("check", "it was checked long ago", "holdfast verify {}"),
    "unverified": ("check", "it was never checked", "holdfast verify {}"),
    "dead": ("reword or retire", "returned, and never helped", "holdfast forget {} --reason …"),
}


def _chores(name: str, affected: Sequence[Record]) -> list[Chore]:
    if name not in _ADVICE:
        return []
    what, why, command = _ADVICE[name]
    return [Chore(what=what, why=why, command=command.format(short(record.id)), record=record) for record in affected]
