"""Decide whether a question is answered at all, how far its page is filled, and how likely each answer is right."""
# A similarity says little by itself: what counts is how far a candidate stands out from the other candidates of the
# same question in this store. A logistic regression makes a probability of that. What is about the same thing need not
# answer, so the classifier reads the question and each leading candidate together, and both probabilities are
# multiplied. `python3 dev.py bench fit` fits the weights.

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Literal, cast

from holdfast.model.kinds import NOTES
from holdfast.model.patterns import tables
from holdfast.model.query import MODES, Hit, Mode, Past, Query, Search
from holdfast.model.record import Record
from holdfast.policy.ranking.brief_order import is_from_user

Basis = Search | Literal["read"]  # what a chance is based on: what was searched, or also reading question and record

FEATURES = ("always", "fit", "lead", "background", "length", "full")
Weights = tuple[float, ...]  # in the order of FEATURES
_NUMBERS = [{name: tuple(map(float, row.split())) for name, row in rows} for rows in tables(__file__).values()]
WEIGHTS, ANSWERED, BARS, LABELS = (cast("Mapping[Basis, Weights]", numbers) for numbers in _NUMBERS)
READ = (1.7, 1.2)  # start and weight of the odds that reading gives; steeper than `bench fit` prints, to refuse more
LONG = 3.7  # how much higher the odds must be that a long text answers, divided by the root of the question's words
LEADERS, CONTENDS = 3, 0.75  # candidates that may decide, and from which share of the first one's fit on they are read
READABLE = 320  # characters of a text that is read whole
# From which number and share of such signs on a text is code.
SIGNS, FEW_SIGNS, CODE = re.compile(r"[][(){}=<>_;|\\]"), 5, 0.04
COMPARED = 20  # of the best candidates make up the background
EQUAL = 0.95  # of the best fit: those that fit so well are no rivals of the best
WHOLE, FEWEST_WORDS = 0.999, 3  # a record has all words of a question, if the question has a few
EXPECTED, AS_MANY = 0.05, 3  # the background of a store without candidates, and how many candidates that counts for
# Share of the best score, or of the best fit, down to which a page is filled.
CLOSE: Mapping[Mode, float] = {"precision": 0.8, "balanced": 0.45, "exploratory": 0.3}
ON_ITS_OWN = 0.12  # the fit of a record that comes close to the best by other signals, such as the session they share
# The fit of a scar that needs an answer, and of a severe scar or a quarantined record that is shown if it only may apply.
APPLIES, MAY_APPLY = 0.35, 0.2
SEVERE: Sequence[str] = ("critical", "high")
# How few have a name, so that they are at least fair, and the most of one that has another code than the one named.
RARE, UNSURE = 3, 0.3
CONCLUDED: Sequence[str] = ("inferred", "observed", "mined")
AS_WELL = 0.7  # share of an older version's fit that a newer one needs to come before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for candidates, given best first: how well each fits, and which share of the question's words it has."""

    basis: Basis
    fits: Sequence[float]
    coverages: Sequence[float]
    words: int  # of the question
    odds: Sequence[float] = ()  # the log odds that the leading ones answer the question, by reading both
    is_long: bool = False  # the first is long, or code
    is_name: bool = False  # the question is nothing but a name or a word
    # Places of those that have not what the question names exactly, but others of that sort.
    lacking: Collection[int] = ()


def chances(evidence: Evidence) -> list[float]:
    """Return the probability that each candidate answers the question; those that were not read count as the worst read."""
    near, odds = _chances(WEIGHTS[evidence.basis], features(evidence)), list(evidence.odds)
    if odds:
        odds += [min(odds)] * (len(near) - len(odds))
        near = [chance / (1 + math.exp(-READ[0] - READ[1] * each)) for chance, each in zip(near, odds, strict=True)]
    holders = [place for place, coverage in enumerate(evidence.coverages) if coverage > WHOLE]
    for place in holders if evidence.is_name and len(holders) <= RARE else ():
        near[place] = max(near[place], LABELS[evidence.basis][0])
    return [min(chance, UNSURE) if place in evidence.lacking else chance for place, chance in enumerate(near)]


def _chances(weights: Weights, rows: Sequence[Weights]) -> list[float]:
    return [1 / (1 + math.exp(-sum(map(mul, weights, row)))) for row in rows]


def features(evidence: Evidence) -> list[Weights]:
    """Return the evidence for each candidate as numbers in the order of FEATURES, the same in a store of any size."""
    best = list(evidence.fits[:COMPARED])
    first, second = (*sorted(best, reverse=True)[:2], EXPECTED, EXPECTED)[:2]
    total, count = sum(best) + AS_MANY * EXPECTED, len(best) + AS_MANY
    is_long, length = evidence.words >= FEWEST_WORDS, math.log(1 + evidence.words)
    return [
        (1.0, fit, fit - (second if fit == first else first), (total - fit) / (count - 1), length, float(has_all))
        for fit, has_all in zip(evidence.fits, [is_long and share > WHOLE for share in evidence.coverages], strict=True)
    ]


def is_statement(text: str) -> bool:
    """True if a text is short and in words, not code."""
    return len(text) <= READABLE and len(SIGNS.findall(text)) < max(FEW_SIGNS, CODE * len(text))


def answered(evidence: Evidence) -> float:
    """Return the probability that the question is answered: one candidate stands out, or the best fits well by itself."""
    top = chances(replace(evidence, fits=evidence.fits[:COMPARED], coverages=evidence.coverages[:COMPARED]))[:LEADERS]
    if evidence.basis == "read" or not top:  # the first, or another that is fair: it will come before the first
        return max([*top[:1], *(chance for chance in top if chance >= LABELS[evidence.basis][0])], default=0.0)
    return max(*top, *_chances(ANSWERED[evidence.basis], [of_the_best(evidence)]))


def of_the_best(evidence: Evidence) -> Weights:
    """Return the evidence for the candidate that fits best, as if it was alone with those that fit less well."""
    fits = list(evidence.fits[:COMPARED])
    place, rivals = fits.index(max(fits)), [fit for fit in fits if fit < EQUAL * max(fits)]
    coverages = [evidence.coverages[place], *[0.0] * len(rivals)]
    return features(replace(evidence, fits=[fits[place], *rivals], coverages=coverages))[0]


def passing(query: Query, evidence: Evidence, scores: Sequence[float]) -> list[int]:
    """Return which candidates, given best first, are answers: all close to the best if one is likely enough right."""
    fits = evidence.fits
    if query.weak:
        return list(range(len(fits)))
    if query.least is not None:
        return [place for place, fit in enumerate(fits) if fit >= query.least]
    best = max(fits[:LEADERS], default=0.0)
    if best <= 0 or answered(evidence) < _bar(evidence, query.mode):
        return []
    close = CLOSE[query.mode]
    return [
        place
        for place, fit in enumerate(fits)
        if fit >= close * best or (fit >= ON_ITS_OWN and scores[place] >= close * scores[0])
    ]


def _bar(evidence: Evidence, mode: Mode) -> float:
    """Return how likely a question must be answered: a short one comes close to some part of many long texts."""
    bar = BARS[evidence.basis][MODES.index(mode)]
    if not evidence.is_long or evidence.basis != "hybrid":
        return bar
    odds = bar / (1 - bar) * max(1.0, LONG / math.sqrt(1 + evidence.words))
    return odds / (1 + odds)


def is_severe(record: Record) -> bool:
    """True if a record is a scar so grave that a plan gets it if it only may apply."""
    return record.kind == "scar" and record.fields.get("severity") in SEVERE


def applies(record: Record, fit: float) -> bool:
    """True if a record is a scar that fits well enough to need an answer."""
    return record.kind == "scar" and fit >= (MAY_APPLY if is_severe(record) else APPLIES)


def labelled(hits: Sequence[Hit], basis: Basis) -> list[Hit]:
    """Return ranked hits with how sure each is, weak ones last; only the first can be strong."""
    least, strong = LABELS[basis]
    fair = [replace(hit, confidence="fair" if hit.chance >= least else "weak") for hit in hits]
    fair.sort(key=lambda hit: hit.confidence == "weak")
    if fair and fair[0].chance >= strong and not fair[0].contradicted_by:
        fair[0] = replace(fair[0], confidence="strong")
    return fair


def without_notes(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without weak ones that only note what a session did, if something that is known comes first."""
    known = bool(hits) and hits[0].record.kind not in NOTES
    return [hit for hit in hits if not (known and hit.confidence == "weak" and hit.record.kind in NOTES)]


def current_first(hits: Sequence[Hit], past: Past | None = None) -> list[Hit]:
    """Return hits with contradicting versions of one statement in the order that a question asks for; the rest stays."""
    # The newest that fits about as well comes first, unless the question is about the past; what was only concluded
    # comes after what was said.
    ordered = list(hits)
    place_of = {hit.record.id: place for place, hit in enumerate(hits)}
    group_of = {place: {place} for place in range(len(hits))}  # that contradict each other and fit about as well
    for place, hit in enumerate(hits):
        newer = place_of.get(hit.contradicted_by)
        if newer is not None and hits[newer].fit >= AS_WELL * hit.fit:
            joined = group_of[place] | group_of[newer]
            group_of |= dict.fromkeys(joined, joined)
    for places in (sorted(group) for place, group in group_of.items() if len(group) > 1 and place == min(group)):
        versions = sorted((hits[place] for place in places), key=lambda hit: hit.record.created_at, reverse=True)
        versions.sort(key=lambda hit: hit.record.source in CONCLUDED and not is_from_user(hit.record))
        if past and past.first:
            versions.reverse()
        elif past and past.until:
            versions.sort(key=lambda hit: hit.record.created_at >= past.until)
        elif past:
            versions.append(versions.pop(0))
        for place, hit in zip(places, versions, strict=True):
            ordered[place] = hit
    return ordered
