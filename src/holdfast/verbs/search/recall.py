"""Find the records that best answer a question, explain the ranking, and report when none fits."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.engine.search.lexical import fit
from holdfast.engine.search.pack import pack
from holdfast.engine.search.search import CANDIDATES, EXACT, Candidate, Question, ready, search, subject
from holdfast.engine.views import links, records, vectors, words
from holdfast.engine.views.ranking_data import RankingData, ranking_data
from holdfast.engine.views.records import Filter, span
from holdfast.engine.views.words import Span
from holdfast.model.errors import EmbedderError, Invalid, StoreFull, StoreUnwritable
from holdfast.model.fold import as_of
from holdfast.model.ids import days_before
from holdfast.model.query import Confidence, Hit, Query, Recalled, Related, Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.model.scope import within
from holdfast.policy.ranking.decay import WINDOW_DAYS
from holdfast.policy.ranking.diversity import collapsed, is_varied, spread
from holdfast.policy.ranking.variants import variant_of
from holdfast.policy.ranking.weight import weigh
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.branches import outside
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.quarantine import is_shared, provenance, who_brought
from holdfast.verbs.records.read import filter_of, projects_of

if TYPE_CHECKING:
    from holdfast.engine.search.postgres_vectors import Neighbours
    from holdfast.engine.search.sqlite_vectors import Codes

log = logging.getLogger(__name__)
FAIR, STRONG = 0.45, 0.60
EXPLORATORY = 0.6  # of the ordinary threshold
UNMERGED = 0.7  # factor for records from a branch that is not merged here
MOST_RELATED = 3  # for each of the best answers
CATCH_UP = 16  # records embedded before a question is answered; the rest is left to the background thread
STARTERS = 12  # number of built-in lessons; read in addition, so that they do not displace other records
WEIGHED = 2  # times the limit: how many of the best candidates are read in full and weighed
LOOKED_AT = 10  # upper bound, as a multiple, while one source would fill the page
MOST_WAITING, SHOWN_HELD = 400, 2  # how many quarantined records are examined, and how many are returned
ALL: Span = (0, 2**62)

Found = list[tuple[Candidate, Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """The vector of a question and what is needed to search by it, or a note why that is not possible."""

    vector: Any = None
    codes: "Codes | Neighbours | None" = None
    floor: float = 0.0
    ceiling: float = 1.0
    behind: bool = False  # True if some records had no vectors when the question was asked
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A prepared query: the projects and filter to search, the parsed question, and the time."""

    query: Query
    question: Question
    meaning: _Meaning
    projects: tuple[str, ...] | None
    chosen: Filter
    spans: Sequence[Span]
    documents: int
    now: str

    @property
    def least(self) -> float:
        """The fit below which a record is no answer."""
        return least_for(self.query, self.documents)


def recall(memory: Memory, query: Query, *, surface: bool = True) -> Recalled:
    """Return the best records for the query, best first, cut to its limit and budget; `surface` records impressions."""
    asked = _ask(memory, query)
    found = _recall_as_of(memory, asked) if query.as_of else _recall(memory, asked)
    found = replace(found, hits=_checked(memory, found.hits)) if not query.as_of else found
    unrecorded = _surface(memory, query, found) if surface else ""
    found = replace(found, notes=_notes(*found.notes, unrecorded))
    if asked.meaning.vector is None:
        return replace(found, search="words", notes=_notes(memory.apart, asked.meaning.note, *found.notes))
    lagging = len(vectors.waiting(memory.store.db, asked.chosen.projects, 1_000)) if asked.meaning.behind else 0
    return replace(found, lagging=lagging, notes=_notes(memory.apart, *found.notes))


def _checked(memory: Memory, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Add to each hit whether the code it cites is unchanged."""
    judged = freshness(memory, [hit.record for hit in hits])
    return tuple(replace(hit, freshness=judged.get(hit.record.id)) for hit in hits)


def least_fit(documents: int) -> float:
    """Return the fit below which a record is no answer.

    It grows with the number of records searched: among many unrelated records, the best one fits better by chance.
    Measured on the development sets at 5 to 2,500 records (`python3 dev.py bench abstention`): 98 to 100 % of right
    answers are kept, 4 to 9 % of off-topic questions get one.
    """
    return min(0.45, 0.20 + 0.03 * math.log(max(documents, 1)))


def least_for(query: Query, documents: int) -> float:
    """Return the least fit for a query: its own if set, else 0 if `weak`, else that of its mode."""
    if query.least is not None or query.weak:
        return query.least or 0.0
    least = least_fit(documents)
    match query.mode:
        case "precision":
            return max(least, FAIR)
        case "exploratory":
            return EXPLORATORY * least
    return least


def recall_with_fallback(memory: Memory, query: Query, kinds: Sequence[Sequence[str]], *, least: int = 1) -> Recalled:
    """Try each group of kinds in order and return the first good result, else the one with the most hits."""
    tries = []
    for wanted in kinds:
        found = recall(memory, replace(query, kinds=tuple(wanted)))
        if len(found.hits) >= least and found.confidence != "low":
            return found
        tries.append(found)
    return max(tries, key=lambda found: len(found.hits))


def _ask(memory: Memory, query: Query) -> _Asked:
    """Prepare a query: resolve its projects, filter and vector."""
    if not query.text:
        raise Invalid("The question is empty.", hint="Say what to look for.")
    projects = projects_of(memory, query)
    sizes = None if projects is None else memory.store.sizes(projects)
    chosen = filter_of(query, None if sizes is None else tuple(sizes))
    spans = [ALL] if sizes is None else [span(number) for number, size in sizes.items() if size]
    bare, people = subject(memory.store, query.text, spans)
    meaning = _meaning(memory, query, bare, chosen)
    question = ready(query.text, bare, people)
    return _Asked(
        query=query,
        question=replace(question, vector=meaning.vector, floor=meaning.floor, ceiling=meaning.ceiling),
        meaning=meaning,
        projects=projects,
        chosen=chosen,
        spans=spans,
        documents=memory.store.size(None) if sizes is None else sum(sizes.values()),
        now=query.as_of or memory.clock.now(),
    )


def _meaning(memory: Memory, query: Query, text: str, chosen: Filter) -> _Meaning:
    """Embed the question and a few new records; return a note if that is not possible."""
    if query.words_only or query.as_of or memory.embedder is None:
        return _Meaning()
    from holdfast.verbs.search.embed import usable  # noqa: PLC0415  numpy: only when meaning is asked for

    if problem := usable(memory):
        return _Meaning(note=problem)
    embedder, asked = memory.embedder, (memory.embedder.name, memory.embedder.size)
    behind = bool(vectors.waiting(memory.store.db, chosen.projects, 1))
    try:
        if behind:
            _embed_what_is_new(memory, chosen)
        vector = embedder.embed([text])[0]
    except EmbedderError as problem:
        return _Meaning(note=f"Searched by words only: {problem}")
    # An endpoint may serve another model under the same name; its vector size is known only from a response.
    if (embedder.name, embedder.size) != asked and (changed := usable(memory)):
        return _Meaning(note=changed)
    return _Meaning(vector=vector, codes=memory.codes, floor=embedder.floor, ceiling=embedder.ceiling, behind=behind)


def _embed_what_is_new(memory: Memory, chosen: Filter) -> None:
    from holdfast.verbs.search.embed import catch_up  # noqa: PLC0415  numpy: only when meaning is asked for

    try:
        catch_up(memory, limit=CATCH_UP, projects=chosen.projects)
    except (StoreFull, StoreUnwritable) as problem:
        log.warning("new memories are found by words only: %s", problem)


def _recall(memory: Memory, asked: _Asked) -> Recalled:
    db, query = memory.store.db, asked.query
    allowed = records.numbers(db, asked.chosen) if asked.chosen.narrow else None
    candidates, idf = _searched(memory, asked, allowed)
    fitting = [one for one in candidates if one.fit >= asked.least]
    hits, looked_at, superseded = _varied(memory, asked, fitting)
    if any(hit.alike for hit in hits) and not is_varied(hits, query.limit):  # one source fills the page: look further
        candidates, idf = _searched(memory, asked, allowed, times=LOOKED_AT)
        fitting = [one for one in candidates if one.fit >= asked.least]
        hits, looked_at, superseded = _varied(memory, asked, fitting)
    current = [hit for hit in hits if hit.record.id not in superseded]
    replaced = len(hits) - len(current)
    packed, cut = pack(spread(current, query.limit), idf, limit=query.limit, budget=query.budget)
    return Recalled(
        hits=tuple(packed),
        gated=len(candidates) - len(fitting),
        cut=cut + len(fitting) - looked_at,
        related=tuple(_related(memory, packed)) if query.related else (),
        held=_held(memory, asked, idf),
        notes=_notes(f"{replaced} superseded memories were left out." if replaced else ""),
    )


def _searched(
    memory: Memory, asked: _Asked, allowed: set[int] | None, *, times: int = 1
) -> tuple[list[Candidate], Mapping[str, float]]:
    return search(
        memory.store,
        memory.frequencies,
        asked.question,
        asked.spans,
        asked.documents,
        exact=times * max(EXACT, WEIGHED * asked.query.limit),
        most=times * CANDIDATES,
        codes=asked.meaning.codes,
        allowed=allowed,
    )


def _varied(memory: Memory, asked: _Asked, fitting: Sequence[Candidate]) -> tuple[list[Hit], int, set[str]]:
    """Weigh the best candidates, and more while one source would fill the page.

    Return the hits, the number of candidates examined, and the ids of superseded records.
    """
    query, found, place, superseded = asked.query, list[Hit](), 0, set[str]()
    step = WEIGHED * query.limit + STARTERS
    while place < len(fitting) and place < LOOKED_AT * step and not (found and is_varied(found, query.limit)):
        best = fitting[place : place + step]
        read = records.by_numbers(memory.store.db, [one.number for one in best])
        known = [(one, read[one.number]) for one in best if one.number in read and _is_wanted(read[one.number], query)]
        data = _ranking_data(memory, asked, [record for _, record in known])
        hits = _weighed(memory, asked, known, data)
        came = {about: who_brought(marks) for about, marks in data.arrivals.items()}
        found = collapsed(_ranked([*found, *(replace(hit, came=came.get(hit.record.id, "")) for hit in hits)]))
        superseded |= data.replaced
        place += step
    return found, min(place, len(fitting)), superseded


def _held(memory: Memory, asked: _Asked, idf: Mapping[str, float]) -> tuple[Hit, ...]:
    """Return the best few quarantined records, listed apart from the hits; none unless the setting is `show`."""
    if memory.config.quarantine != "show":
        return ()
    waiting = records.waiting(memory.store.db, asked.chosen.projects, MOST_WAITING)
    entries = [entry for entry in waiting if entry.record.state == "held"]
    means = memory.frequencies.mean_lengths(asked.spans) if entries else None
    hits = []
    for record in (entry.record for entry in entries if _is_meant(entry.record, asked)):
        score, coverage = fit(words.indexed(record), idf, means) if means is not None else (0.0, 0.0)
        one = Candidate(number=0, words=score, coverage=coverage, with_meaning=False)
        if score and one.fit >= asked.least:
            hits.append(Hit(record=record, score=one.score, confidence="weak", why=one.why, fit=one.fit))
    best = collapsed(_ranked(hits))[:SHOWN_HELD]
    came = provenance(memory, [hit.record for hit in best])
    return tuple(replace(hit, came=came.get(hit.record.id, "")) for hit in best)


def _is_wanted(record: Record, query: Query) -> bool:
    return record.state == "active" and (query.starters or record.source != "starter")


def _related(memory: Memory, hits: Sequence[Hit]) -> list[Related]:
    """Return records linked to the best hits, except by `supersedes`."""
    shown = {hit.record.id for hit in hits}
    found: dict[str, Related] = {}
    for source, arrows in links.others(memory.store.db, [hit.record.id for hit in hits[:MOST_RELATED]]).items():
        related = [(arrow, other) for arrow, other in arrows if arrow.relation != "supersedes"]
        for arrow, other in related[:MOST_RELATED]:
            if other is not None and other.id not in shown and other.state == "active":
                found.setdefault(other.id, Related(record=other, relation=arrow.relation, source=source))
    return [found[one] for one in sorted(found)]


def _recall_as_of(memory: Memory, asked: _Asked) -> Recalled:
    """Search the records as of an instant: unchanged ones through the index, changed ones as they were then."""
    query, store = asked.query, memory.store
    changed = set(store.changed_since(asked.now))
    candidates, idf = search(store, memory.frequencies, asked.question, asked.spans, asked.documents)
    read = records.by_numbers(store.db, [one.number for one in candidates])
    known: Found = [(one, read[one.number]) for one in candidates if read[one.number].id not in changed]
    means = memory.frequencies.mean_lengths(asked.spans)
    for record_id in changed:
        record = as_of(store.events_about(record_id), asked.now)
        if record and record.state == "active":
            score, coverage = fit(words.indexed(record), idf, means)
            known.append((Candidate(number=0, words=score, coverage=coverage, with_meaning=False), record))
    meant = [(one, record) for one, record in known if one.words and _is_meant(record, asked)]
    fitting = [pair for pair in meant if pair[0].fit >= asked.least]
    data = _ranking_data(memory, asked, [record for _, record in fitting])
    packed, cut = pack(_weighed(memory, asked, fitting, data), idf, limit=query.limit, budget=query.budget)
    return Recalled(
        hits=tuple(packed), gated=len(meant) - len(fitting), cut=cut, notes=(f"As of {asked.now}, by words.",)
    )


def _ranking_data(memory: Memory, asked: _Asked, found: Sequence[Record]) -> RankingData:
    return ranking_data(
        memory.store.db,
        [record.id for record in found],
        scars=[record.id for record in found if record.kind == "scar"],
        shared=[record.id for record in found if is_shared(record)],
        since=days_before(asked.now, WINDOW_DAYS),
    )


def _weighed(memory: Memory, asked: _Asked, found: Found, data: RankingData) -> list[Hit]:
    """Return hits ranked by score times the weights for age, trust, severity, scope, use and branch."""
    project = memory.project if asked.query.project is None else asked.query.project
    unmerged = outside(memory, [record for _, record in found])
    hits = []
    for candidate, record in found:
        factors = weigh(
            record,
            data.usage.get(record.id, Usage()),
            project=project,
            now=asked.now,
            outcomes=data.outcomes.get(record.id, ()),
            deltas=data.trust.get(record.id, ()),
        )
        if record.id in unmerged:
            factors = {**factors, "branch": UNMERGED}
        score = candidate.score
        for factor in factors.values():
            score *= factor
        why = candidate.why | dict(factors)
        sure, branch = _confidence(candidate.fit), unmerged.get(record.id, "")
        hot = record.id in data.hot and record.project in (memory.project, GLOBAL)
        hits.append(
            Hit(record=record, score=score, confidence=sure, why=why, fit=candidate.fit, branch=branch, hot=hot)
        )
    return _ranked(hits)


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.record.source == "starter", -hit.score))


def _is_meant(record: Record, asked: _Asked) -> bool:
    """True if a record matches the filter; for records that the index does not have in this form."""
    chosen = asked.chosen
    return (
        (asked.projects is None or record.project in asked.projects)
        and (not chosen.kinds or record.kind in chosen.kinds)
        and all(_is_in(record, scope) for scope in chosen.scopes)
        and (not chosen.any_scopes or any(_is_in(record, scope) for scope in chosen.any_scopes))
        and not any(_is_in(record, scope) for scope in chosen.without_scopes)
        and set(chosen.tags) <= set(record.tags)
        and (not chosen.session or record.by.session == chosen.session)
        and (not chosen.since or record.created_at >= chosen.since)
        and (not chosen.until or record.created_at < chosen.until)
    )


def _is_in(record: Record, scope: str) -> bool:
    return any(within(own, scope) for own in record.scopes)


def _confidence(value: float) -> Confidence:
    return "strong" if value >= STRONG else "fair" if value >= FAIR else "weak"


def _notes(*notes: str) -> tuple[str, ...]:
    return tuple(note for note in notes if note)


def wants_answer(hit: Hit) -> bool:
    """True if a hit is a scar that fits well enough to need a scar answer; starters never need one."""
    return hit.record.kind == "scar" and hit.record.source != "starter" and hit.confidence != "weak"


def _surface(memory: Memory, query: Query, found: Recalled) -> str:
    """Record which hits a session was given; nothing else changes. Return why, if that failed."""
    if not memory.actor.session:  # a recall without hits is recorded too
        return ""
    ids = [hit.record.id for hit in found.hits]
    hot = sum(hit.hot for hit in found.hits)
    shown: dict[str, Any] = {"ids": ids, "query": masked(query.text)[:200], "hot": hot}
    shown["tokens"] = sum(hit.tokens for hit in found.hits)
    if scars := [hit.record.id for hit in found.hits if wants_answer(hit)]:
        shown["variants"] = {scar: variant_of(memory.actor.name, scar) for scar in scars}
    problem = memory.note([memory.event("surfaced", memory.actor.session, data=shown)])
    return f"This recall was not recorded. {problem}" if problem else ""
