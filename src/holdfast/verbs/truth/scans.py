"""Scans: what comparing all memories of a project found, with its place in the journal, so that only changes are compared again.

A scan holds numbers of records and no text. It is stored with the settings of the store; without one, everything is compared.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Literal

from holdfast.engine.search.near_duplicates import Pair
from holdfast.engine.views import Entry, records, vectors
from holdfast.model.errors import StoreError
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import SEPARATE
from holdfast.model.record import GLOBAL
from holdfast.verbs.memory import Memory

VERSION = 1  # of the rules: a scan of other rules does not count
MOST_CHANGED = 100  # memories; after more changes everything is compared again
MOST_PAIRS = 2_000  # that are stored, the most similar ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The pairs that a comparison found, up to which event, and how much was compared."""

    seq: int
    pairs: tuple[Pair, ...]
    newest: int  # number of the newest memory that was compared
    looked_at: int
    not_looked_at: int
    not_compared: int
    # The newest memories without a vector: they are compared again once they have one.
    lagging: tuple[int, ...] = ()


def scan(
    memory: Memory,
    what: Literal["contradictions", "duplicates"],
    *,
    everything: Callable[[int], Scan],
    around: Callable[[Sequence[Entry]], Iterable[Pair]],
) -> Scan:
    """Return the pairs of a project: of the stored scan, with memories that changed since compared again, or of a new one."""
    with memory.store.snapshot():
        known = _stored(memory, what)
        made = _scanned(memory, known, everything=everything, around=around)
    return made if made is known else _store(memory, what, made)


def _scanned(
    memory: Memory,
    known: Scan | None,
    *,
    everything: Callable[[int], Scan],
    around: Callable[[Sequence[Entry]], Iterable[Pair]],
) -> Scan:
    store, seq = memory.store, memory.store.last_seq()
    project = store.project_number(memory.project)
    lagging = vectors.waiting(store, (project,), MOST_CHANGED) if memory.embedder else []
    changed = store.changed_after(known.seq, MOST_CHANGED + 1) if known else []
    if known is None or len(changed) > MOST_CHANGED:
        return replace(everything(seq), lagging=tuple(lagging))
    entries = {entry.number: entry for entry in records.by_ids(store, changed).values()}
    embedded = records.by_numbers(store, set(known.lagging) - set(lagging))
    entries |= {number: Entry(number=number, record=record) for number, record in embedded.items()}
    if not entries:
        return known
    kept = [pair for pair in known.pairs if not entries.keys() & {pair.first, pair.second}]
    current = [
        entry
        for entry in entries.values()
        if entry.record.state == "active"
        and entry.record.project in (memory.project, GLOBAL)
        and entry.record.kind not in SEPARATE
    ]
    found = {frozenset((pair.first, pair.second)): pair for pair in around(current)}
    new = sum(entry.number > known.newest for entry in current)
    return Scan(
        seq=seq,
        pairs=tuple(sorted((*kept, *found.values()), key=lambda pair: -pair.share)),
        newest=max([known.newest, *(entry.number for entry in current)]),
        looked_at=known.looked_at + new,
        not_looked_at=known.not_looked_at,
        not_compared=known.not_compared,
        lagging=tuple(lagging),
    )


def _stored(memory: Memory, what: str) -> Scan | None:
    text = memory.store.setting(_key(memory, what))
    if not text:
        return None
    kept = parse_json(text)
    if kept.pop("rules", "") != _rules(memory):
        return None
    pairs = tuple(Pair(first=one[0], second=one[1], share=one[2], by_meaning=one[3]) for one in kept.pop("pairs"))
    return Scan(pairs=pairs, lagging=tuple(kept.pop("lagging")), **kept)


def _store(memory: Memory, what: str, made: Scan) -> Scan:
    """Store a scan and return it. Members of a team server see different memories: there it is made each time."""
    if memory.store.is_guarded or memory.role == "read":
        return made
    pairs = [(one.first, one.second, round(one.share, 4), one.by_meaning) for one in made.pairs[:MOST_PAIRS]]
    with suppress(StoreError):  # a full or read-only disk: everything is compared again the next time
        memory.store.note(_key(memory, what), json.dumps({**asdict(made), "rules": _rules(memory), "pairs": pairs}))
    return made


def _rules(memory: Memory) -> str:
    """Return what a scan was made by: the version of the rules, and the encoder of the vectors."""
    return f"{VERSION} {memory.store.setting('embedder')}"


def _key(memory: Memory, what: str) -> str:
    return f"scan of {what} {memory.project}"
