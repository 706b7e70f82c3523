"""Find what best answers a question, say why, and say honestly when nothing does."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.engine.lexical import Span, fit
from holdfast.engine.pack import pack
from holdfast.engine.search import Candidate, Question, ready, search, subject
from holdfast.engine.views import links, records, usage, vectors, words
from holdfast.engine.views.records import Filter, span
from holdfast.model.errors import EmbedderError, Invalid, StoreError
from holdfast.model.fold import as_of
from holdfast.model.ids import parse_instant
from holdfast.model.query import Confidence, Hit, Query, Recalled, Usage
from holdfast.model.record import Record
from holdfast.model.text import check_text
from holdfast.policy.weight import weigh
from holdfast.verbs.memory import Memory
from holdfast.verbs.read import chosen_by

if TYPE_CHECKING:
    from holdfast.engine.dense import Codes

LONGEST_QUESTION = 10_000
# Fit below the first is no answer. Measured: keeps 98 % of right answers, lets 5 % of off-topic ones through.
NOTHING, FAIR, STRONG = 0.35, 0.45, 0.60
CATCH_UP = 16  # records embedded on the spot before a question; more waits for the background
WEIGHED = 3  # times the limit: how many of the best are read whole and weighed
ALL: Span = (0, 2**62)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What it takes to search by meaning, or the reason why not."""

    vector: object = None
    codes: "Codes | None" = None
    floor: float = 0.0
    ceiling: float = 1.0
    note: str = ""


def recall(memory: Memory, query: Query) -> Recalled:
    """Give what best answers the query, best first, cut to its limit and budget."""
    text = check_text(query.text, "question", LONGEST_QUESTION)
    if query.limit < 1 or query.budget < 0:
        raise Invalid("A recall needs a limit of at least 1 and a budget of at least 0.")
    if memory.store.db.dialect != "sqlite":
        raise StoreError("Searching a PostgreSQL store is not possible yet.", hint="Use a SQLite store to recall.")
    chosen = chosen_by(memory, query)
    spans = [ALL] if chosen.projects is None else [span(number) for number in chosen.projects if number >= 0]
    bare, people = subject(memory.store, text, spans)
    meaning = _meaning(memory, query, bare, chosen)
    question = ready(text, bare, people, vector=meaning.vector, floor=meaning.floor, ceiling=meaning.ceiling)
    found = _recall_as_of(memory, query, question, chosen, spans) if query.as_of else _recall(memory, query, question, meaning, chosen, spans)
    _surface(memory, query, found)
    lagging = len(vectors.waiting(memory.store.db, chosen.projects, 1000)) if meaning.vector is not None else 0
    notes = tuple(note for note in (meaning.note, *found.notes) if note)
    return replace(found, search="hybrid" if meaning.vector is not None else "words", lagging=lagging, notes=notes)


def _recall(memory: Memory, query: Query, question: Question, meaning: _Meaning, chosen: Filter, spans: list[Span]) -> Recalled:
    allowed = records.numbers(memory.store.db, chosen) if chosen.narrow else None
    candidates, idf = search(
        memory.store, memory.frequencies, meaning.codes, question, spans, _documents(memory, chosen), allowed=allowed
    )
    fitting = candidates if query.weak else [one for one in candidates if one.fit >= NOTHING]
    best = fitting[: WEIGHED * query.limit]
    read = records.by_numbers(memory.store.db, [one.number for one in best])
    hits = _weighed(memory, query, [(one, read[one.number]) for one in best if one.number in read])
    current = [hit for hit in hits if not links.superseder(memory.store.db, hit.record.id)]
    packed, cut = pack(current, idf, limit=query.limit, budget=query.budget)
    return Recalled(
        hits=tuple(packed),
        gated=len(candidates) - len(fitting),
        cut=cut + len(fitting) - len(best),
        notes=(_left_out(len(hits) - len(current)),),
    )


def _weighed(memory: Memory, query: Query, found: list[tuple[Candidate, Record]]) -> list[Hit]:
    """Give hits by score times what freshness, trust, severity, scope and use make of it."""
    project = memory.project if query.project is None else query.project
    used = usage.of(memory.store.db, [record.id for _, record in found])
    now = parse_instant(query.as_of) if query.as_of else memory.clock.now()
    hits = []
    for candidate, record in found:
        factors = weigh(record, used.get(record.id, Usage()), project=project, now=now)
        score = candidate.score
        for factor in factors.values():
            score *= factor
        why = candidate.why | dict(factors)
        hits.append(Hit(record=record, score=score, confidence=_confidence(candidate.fit), why=why))
    return sorted(hits, key=lambda hit: -hit.score)


def _recall_as_of(memory: Memory, query: Query, question: Question, chosen: Filter, spans: list[Span]) -> Recalled:
    """Search what was known at an instant: records unchanged since through the index, the others as they stood."""
    moment = parse_instant(query.as_of)
    changed = set(memory.store.changed_since(moment))
    then = [as_of(memory.store.events_about(record_id), moment) for record_id in changed]
    stood = [record for record in then if record and record.state == "active" and _meant(memory, record, chosen)]
    candidates, idf = search(memory.store, memory.frequencies, None, replace(question, vector=None), spans, _documents(memory, chosen))
    read = records.by_numbers(memory.store.db, [one.number for one in candidates])
    unchanged = [(one, read[one.number]) for one in candidates if read[one.number].id not in changed and _meant(memory, read[one.number], chosen)]
    means = memory.frequencies.mean_lengths(spans)
    for record in stood:
        score, coverage = fit(words.indexed(record), idf, means)
        if score:
            unchanged.append((Candidate(number=0, words=score, coverage=coverage, with_meaning=False), record))
    fitting = [pair for pair in unchanged if query.weak or pair[0].fit >= NOTHING]
    hits = _weighed(memory, query, fitting)
    packed, cut = pack(hits, idf, limit=query.limit, budget=query.budget)
    return Recalled(hits=tuple(packed), gated=len(unchanged) - len(fitting), cut=cut, notes=(f"As of {moment}, by words.",))


def _meant(memory: Memory, record: Record, chosen: Filter) -> bool:
    """Tell whether a record as it once stood is one the filter means."""
    from holdfast.model.scope import within

    return (
        (chosen.projects is None or memory.store.project_number(record.project) in chosen.projects)
        and (not chosen.kinds or record.kind in chosen.kinds)
        and all(any(within(own, scope) for own in record.scopes) for scope in chosen.scopes)
        and set(chosen.tags) <= set(record.tags)
        and (not chosen.session or record.by.session == chosen.session)
        and (not chosen.since or record.created_at >= chosen.since)
        and (not chosen.until or record.created_at < chosen.until)
    )


def _meaning(memory: Memory, query: Query, text: str, chosen: Filter) -> _Meaning:
    if query.words_only or query.as_of or memory.embedder is None:
        return _Meaning()
    from holdfast.verbs.embed import catch_up, usable  # noqa: PLC0415  numpy: only when meaning is asked for

    if problem := usable(memory):
        return _Meaning(note=problem)
    try:
        catch_up(memory, limit=CATCH_UP, projects=chosen.projects)
        vector = memory.embedder.embed([text])[0]
    except EmbedderError as problem:
        return _Meaning(note=f"Searched by words only: {problem}")
    return _Meaning(vector=vector, codes=memory.codes, floor=memory.embedder.floor, ceiling=memory.embedder.ceiling)


def _documents(memory: Memory, chosen: Filter) -> int:
    numbers = memory.store.projects().values() if chosen.projects is None else ()
    return sum(numbers) or memory.store.size(chosen.projects or ())


def _confidence(value: float) -> Confidence:
    return "strong" if value >= STRONG else "fair" if value >= FAIR else "weak"


def _left_out(superseded: int) -> str:
    return f"{superseded} superseded memories were left out." if superseded else ""


def _surface(memory: Memory, query: Query, found: Recalled) -> None:
    """Note what a session was shown; reading changes nothing else."""
    if memory.actor.session and found.hits:
        shown = {"ids": [hit.record.id for hit in found.hits], "query": query.text[:200]}
        memory.store.commit([memory.event("surfaced", memory.actor.session, data=shown)])
