"""Make a page of hits: no source fills it, one that repeats itself is collapsed, and the snippets fit into a budget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from holdfast.model.kinds import SEPARATE
from holdfast.model.query import Hit
from holdfast.model.record import Record
from holdfast.model.text import shorten, tokens_of
from holdfast.policy.language.overlap import words

ABOUT_AS_WELL = 0.7  # of the score of the hit it replaces
SAME = 0.999  # share of the shorter text's words that makes two texts the same: other numbers or names make others
SNIPPET = 280  # characters: two or three lines
LOOKED_AT = 20_000  # characters of a long text that are searched for the snippet
TRIED = 4  # places that are compared: those of the rarest words
OVERHEAD = 24  # tokens for id, kind, date and confidence, in addition to the text


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
        own = words(hit.record.text) if hit.source else frozenset[str]()
        known = ((place, len(own & other), min(len(own), len(other))) for place, other in seen.get(hit.source, ()))
        repeated = next((place for place, common, shorter in known if shorter and common >= SAME * shorter), None)
        if repeated is not None:
            kept[repeated] = replace(kept[repeated], alike=kept[repeated].alike + 1)
        else:
            seen.setdefault(hit.source, []).append((len(kept), own))
            kept.append(hit)
    return kept


def spread(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return hits reordered so that, within the limit, a source over its quota yields to others that match about as well."""
    # The hit that fits best never yields.
    most, taken = quota(limit), Counter[str]()
    best = max(hits, key=lambda hit: hit.fit, default=None)
    allowed, waiting = list[Hit](), list[Hit]()
    for hit in hits:
        is_over = bool(hit.source) and taken[hit.source] >= most and hit is not best
        taken[hit.source] += 1
        (waiting if is_over else allowed).append(hit)
    page: list[Hit] = []
    while allowed or waiting:
        better = waiting and (not allowed or allowed[0].score < ABOUT_AS_WELL * waiting[0].score)
        page.append((waiting if better else allowed).pop(0))
    return page


def is_varied(hits: Sequence[Hit], limit: int) -> bool:
    """True if a page can be filled without any source exceeding its quota."""
    counts = Counter([hit.source for hit in hits])
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


def pack(hits: Sequence[Hit], idf: Mapping[str, float], *, limit: int, budget: int) -> tuple[list[Hit], int]:
    """Return the first hits that fit, at least one, with snippets and costs, and how many were cut. A budget of 0 means no limit."""
    packed: list[Hit] = []
    spent = 0
    for hit in hits[:limit]:
        text = snippet(hit.record.text, idf)
        cost = OVERHEAD + tokens_of(hit.record.title) + tokens_of(text)
        if packed and budget and spent + cost > budget:
            break
        packed.append(replace(hit, snippet=text, tokens=cost))
        spent += cost
    return packed, len(hits) - len(packed)


def snippet(text: str, idf: Mapping[str, float]) -> str:
    """Return the part of a text with the most weight of question words, from the start of a sentence."""
    if len(text) <= SNIPPET:
        return " ".join(text.split())
    low = text[:LOOKED_AT].lower()
    # Index words are stems, so a plain substring search finds most of their forms, and is cheap.
    rarest = sorted(idf, key=idf.__getitem__, reverse=True)
    found, worth = (at for word in rarest if (at := low.find(word)) >= 0), dict[int, float]()
    for at in islice(found, TRIED):
        # From the start of the sentence around it, or from the word itself if that start is far away.
        nearest = max(0, at - SNIPPET // 2)
        ends = [(end, low.rfind(end, nearest, at)) for end in ("\n", ". ", "! ", "? ")]
        start = max((place + len(end) for end, place in ends if place >= 0), default=at if nearest else 0)
        part = low[start : start + SNIPPET]
        worth[start] = sum([weight for word, weight in idf.items() if word in part])
    best = max(worth, key=worth.__getitem__, default=0)
    return ("…" if best else "") + shorten(text[best:], SNIPPET)
