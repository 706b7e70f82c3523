"""No single source fills a page when others fit about as well; what one source says over and over is one answer. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.model.query import Hit
from holdfast.model.record import Record
from holdfast.policy.language.overlap import words

ABOUT_AS_WELL = 0.7  # of the score of what it would stand in for
SAME = 0.9  # of the words of the shorter text


def source_of(record: Record, came: str = "") -> str:
    """Give where a record comes from: who brought it, the import, or an agent's session. What people wrote here has no quota."""
    if came:
        return came
    told = record.extra.get("imported")
    if record.source == "imported" and isinstance(told, Mapping):
        return f"imported from {told.get('system', 'elsewhere')}"
    return f"session {record.by.session}" if record.by.kind == "agent" and record.by.session else ""


def quota(limit: int) -> int:
    """Give how much of a page one source may take: half of it, and one at least."""
    return max(1, (limit + 1) // 2)


def collapsed(hits: Sequence[Hit]) -> list[Hit]:
    """Give hits without those that repeat a better one of the same source; what is left counts them."""
    kept: list[Hit] = []
    said: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for hit in hits:
        source = source_of(hit.record, hit.came)
        mine = words(hit.record.text) if source else frozenset[str]()
        same = (
            next((place for place, theirs in said.get(source, ()) if _repeats(mine, theirs)), None) if source else None
        )
        if same is not None:
            kept[same] = replace(kept[same], alike=kept[same].alike + 1)
            continue
        said.setdefault(source, []).append((len(kept), mine))
        kept.append(hit)
    return kept


def spread(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Give hits in an order in which, within the limit, a source beyond its quota makes room for others that fit about as well."""
    most, taken = quota(limit), Counter[str]()
    allowed, waiting = list[Hit](), list[Hit]()
    for hit in hits:
        source = source_of(hit.record, hit.came)
        over = bool(source) and taken[source] >= most
        taken[source] += 1
        (waiting if over else allowed).append(hit)
    page: list[Hit] = []
    while allowed or waiting:
        better = waiting and (not allowed or allowed[0].score < ABOUT_AS_WELL * waiting[0].score)
        page.append((waiting if better else allowed).pop(0))
    return page


def is_varied(hits: Sequence[Hit], limit: int) -> bool:
    """Tell whether a page can be filled without any source going beyond its quota."""
    counts = Counter(source_of(hit.record, hit.came) for hit in hits)
    return sum(count if not source else min(count, quota(limit)) for source, count in counts.items()) >= limit


def shared_out(found: Sequence[Record], most: int, came: Mapping[str, str]) -> list[Record]:
    """Give the first records of a list, none of its sources beyond its quota while others are left."""
    within, beyond, taken = list[Record](), list[Record](), Counter[str]()
    for record in found:
        source = source_of(record, came.get(record.id, ""))
        (beyond if source and taken[source] >= quota(most) else within).append(record)
        taken[source] += 1
    order = {record.id: place for place, record in enumerate(found)}
    return sorted([*within, *beyond][:most], key=lambda record: order[record.id])


def _repeats(some: frozenset[str], other: frozenset[str]) -> bool:
    return bool(some and other) and len(some & other) >= SAME * min(len(some), len(other))
