"""Diversify results: no source fills a page if others match about as well, and repetitions by one source are collapsed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.model.kinds import SEPARATE
from holdfast.model.query import Hit
from holdfast.model.record import Record
from holdfast.policy.language.overlap import words

ABOUT_AS_WELL = 0.7  # of the score of the hit it replaces
SAME = 0.9  # share of the shorter text's words that makes two texts the same


def source_of(record: Record, came: str = "") -> str:
    """Return where a record comes from: who sent it, its import, or an agent's session. Local human notes and items have no source."""
    if record.kind in SEPARATE:
        return ""
    if came:
        return came
    imported = record.extra.get("imported")
    if record.source == "imported" and isinstance(imported, Mapping):
        return f"imported from {imported.get('system', 'elsewhere')}"
    return f"session {record.by.session}" if record.by.kind == "agent" and record.by.session else ""


def quota(limit: int) -> int:
    """Return how many places of a page one source may take: half, at least one."""
    return max(1, (limit + 1) // 2)


def collapsed(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without repetitions of a better one from the same source; `alike` counts them."""
    kept: list[Hit] = []
    seen: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for hit in hits:
        source = source_of(hit.record, hit.came)
        own = words(hit.record.text) if source else frozenset[str]()
        repeated = (
            next((index for index, theirs in seen.get(source, ()) if _repeats(own, theirs)), None) if source else None
        )
        if repeated is not None:
            kept[repeated] = replace(kept[repeated], alike=kept[repeated].alike + 1)
            continue
        seen.setdefault(source, []).append((len(kept), own))
        kept.append(hit)
    return kept


def spread(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return hits reordered so that, within the limit, a source over its quota yields to others that match about as well.

    The hit that fits best never yields.
    """
    most, taken = quota(limit), Counter[str]()
    best = max(hits, key=lambda hit: hit.fit, default=None)
    allowed, waiting = list[Hit](), list[Hit]()
    for hit in hits:
        source = source_of(hit.record, hit.came)
        is_over = bool(source) and taken[source] >= most and hit is not best
        taken[source] += 1
        (waiting if is_over else allowed).append(hit)
    page: list[Hit] = []
    while allowed or waiting:
        better = waiting and (not allowed or allowed[0].score < ABOUT_AS_WELL * waiting[0].score)
        page.append((waiting if better else allowed).pop(0))
    return page


def is_varied(hits: Sequence[Hit], limit: int) -> bool:
    """True if a page can be filled without any source exceeding its quota."""
    counts = Counter(source_of(hit.record, hit.came) for hit in hits)
    return sum(count if not source else min(count, quota(limit)) for source, count in counts.items()) >= limit


def shared_out(records: Sequence[Record], most: int, came: Mapping[str, str]) -> list[Record]:
    """Return the first records of a list, with no source over its quota while others are left."""
    within, beyond, taken = list[Record](), list[Record](), Counter[str]()
    for record in records:
        source = source_of(record, came.get(record.id, ""))
        (beyond if source and taken[source] >= quota(most) else within).append(record)
        taken[source] += 1
    order = {record.id: index for index, record in enumerate(records)}
    return sorted([*within, *beyond][:most], key=lambda record: order[record.id])


def _repeats(first: frozenset[str], second: frozenset[str]) -> bool:
    return bool(first and second) and len(first & second) >= SAME * min(len(first), len(second))
