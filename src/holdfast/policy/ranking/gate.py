"""Decide whether a question is answered at all, how far its page is filled, and how sure each answer is.

The constants were measured on the development benchmark (`python3 dev.py bench abstention`), at 1 to 3,000 records.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.query import Confidence, Hit, Past, Query
from holdfast.model.record import Record
from holdfast.policy.admission.admit import MOMENTARY
from holdfast.policy.ranking.brief_order import is_from_user

SMALL = 30  # in a store of fewer records the best one is shown even below the bar, with its fit
NOTHING = 0.05  # the fit of a record that has nothing to do with the question
LEADERS = 3  # a question is answered if one of the best three fits
CLOSE, EXPLORATORY_CLOSE = 0.45, 0.3  # share of the best score, or of the best fit, down to which a page is filled
AT_ALL = 0.5  # of the bar: who fits less is no answer, whatever speaks for it
ON_ITS_OWN = 0.12  # the fit of a record that comes close to the best by other signals, such as the session they share
FOREIGN = 0.19  # added to the bar if the question or the record is not in English
LOWEST, HIGHEST, HIGHEST_FOREIGN = 0.29, 0.45, 0.50  # bars of the smallest and the largest stores
EXPLORATORY = 0.6  # of the ordinary bar
SEVERE = 0.6  # of the ordinary bar, for a critical scar
FAIR, STRONG, STRONG_FOREIGN = 0.40, 0.55, 0.65
NEARLY = 0.8  # of the best score: from here on a hit answers about as well
LEAD = 0.15  # a strong answer is the first, by at least this share of its score


def bar(query: Query, documents: int, *, is_foreign: bool = False) -> float:
    """Return the fit that the best answer needs, among this many records.

    It grows with the number of records searched: among many unrelated ones, the best fits better by chance. It is
    higher for questions that are not in English: the encoder finds more in common between texts it knows less well.
    """
    least = max(LOWEST, 0.12 + 0.03 * math.log(max(documents, 1)))
    least = min(HIGHEST_FOREIGN, least + FOREIGN) if is_foreign else min(HIGHEST, least)
    match query.mode:
        case "precision":
            return max(least, FAIR)
        case "exploratory":
            return EXPLORATORY * least
    return least


def passing(
    query: Query, documents: int, fits: Sequence[float], scores: Sequence[float], *, is_foreign: bool = False
) -> list[int]:
    """Return which candidates, given best first, are answers: all that come close to the best if that fits, else none."""
    if query.weak:
        return list(range(len(fits)))
    if query.least is not None:
        return [place for place, fit in enumerate(fits) if fit >= query.least]
    if not fits:
        return []
    least = bar(query, documents, is_foreign=is_foreign)
    if max(fits[:LEADERS]) < least:
        return [0] if documents < SMALL and query.mode != "precision" and fits[0] > NOTHING else []
    close = EXPLORATORY_CLOSE if query.mode == "exploratory" else CLOSE
    best, least = max(fits[:LEADERS]), FAIR if query.mode == "precision" else AT_ALL * least
    return [
        place
        for place, fit in enumerate(fits)
        if fit >= least and (fit >= close * best or (fit >= ON_ITS_OWN and scores[place] >= close * scores[0]))
    ]


def is_severe(record: Record) -> bool:
    """True if a record is a scar so grave that it is shown if it only might apply."""
    return record.kind == "scar" and record.fields.get("severity") == "critical"


def labelled(hits: Sequence[Hit], *, is_foreign: bool = False) -> list[Hit]:
    """Return ranked hits with how sure each is. Only the first can be strong, and only if it leads clearly.

    It must fit better if the question or the first hit is not in English.
    """
    if not hits:
        return []
    strong = STRONG_FOREIGN if is_foreign else STRONG
    following = hits[1].score if len(hits) > 1 else 0.0
    leads = following <= (1 - LEAD) * hits[0].score
    return [
        replace(hit, confidence=_confidence(hit, strong, leads=leads and not place)) for place, hit in enumerate(hits)
    ]


def current_first(hits: Sequence[Hit], past: Past | None = None) -> list[Hit]:
    """Return hits with contradicting versions of one statement in the order that a question asks for; the rest stays.

    The newest comes first, unless the question is about the past; what was only concluded comes after what was said.
    """
    ordered = list(hits)
    for places in _versions(hits):
        found = [hits[place] for place in places]
        versions = sorted(found, key=lambda hit: (not _is_concluded(hit), hit.record.created_at), reverse=True)
        if past and past.first:
            versions.reverse()
        elif past and past.until:
            versions.sort(key=lambda hit: hit.record.created_at >= past.until)
        elif past:
            versions.append(versions.pop(0))
        for place, hit in zip(places, versions, strict=True):
            ordered[place] = hit
    return ordered


def rivals(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, newest first, that answer about as well as the first one and are newer: they may have replaced it.

    What an agent concluded is no rival of what a user said, and what is true only for a moment is not replaced.
    """
    best = hits[0] if hits else None
    if best is None or not _may_be_replaced(best):
        return []
    newer = [
        hit
        for hit in hits[1:LEADERS]
        if _may_be_replaced(hit)
        and hit.score >= NEARLY * best.score
        and hit.record.created_at > best.record.created_at
        and not (_is_concluded(hit) and is_from_user(best.record))
    ]
    return sorted(newer, key=lambda hit: hit.record.created_at, reverse=True)


def _is_concluded(hit: Hit) -> bool:
    return hit.record.source in ("inferred", "observed", "mined") and not is_from_user(hit.record)


def _may_be_replaced(hit: Hit) -> bool:
    return hit.fit >= STRONG and hit.record.kind not in MOMENTARY and hit.record.source != "starter"


def _versions(hits: Sequence[Hit]) -> list[list[int]]:
    """Return the places of hits that contradict each other, group by group."""
    place_of = {hit.record.id: place for place, hit in enumerate(hits)}
    group_of = {place: {place} for place in range(len(hits))}
    for place, hit in enumerate(hits):
        if hit.contradicted_by in place_of:
            joined = group_of[place] | group_of[place_of[hit.contradicted_by]]
            group_of |= dict.fromkeys(joined, joined)
    return [sorted(group) for place, group in group_of.items() if len(group) > 1 and place == min(group)]


def _confidence(hit: Hit, strong: float, *, leads: bool) -> Confidence:
    if leads and hit.fit >= strong and not hit.contradicted_by:
        return "strong"
    return "fair" if hit.fit >= FAIR else "weak"
