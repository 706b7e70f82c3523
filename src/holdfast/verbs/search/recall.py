"""Find the records that best answer a question, explain the ranking, and report when none fits."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from operator import attrgetter
from typing import Any

from holdfast.engine.search.lexical import Words, fits
from holdfast.engine.search.question import is_name, lacks, object_of
from holdfast.engine.search.search import CANDIDATES, EXACT, Candidate, Question, naming, ready, search, subject
from holdfast.engine.tokens import spelled_out, tokens
from holdfast.engine.views import links, records, vectors, words
from holdfast.engine.views.queries import RankingData, ranking_data
from holdfast.engine.views.records import Filter, homes_of, span
from holdfast.engine.views.words import Span
from holdfast.model.errors import EmbedderError, Invalid
from holdfast.model.ids import ULID, days_before
from holdfast.model.kinds import SEPARATE
from holdfast.model.ports import Classifier, Encoded
from holdfast.model.query import Hit, Query, Recalled, Related, Search, Usage
from holdfast.model.record import GLOBAL, Record, as_of, within
from holdfast.model.text import counted, tokens_of
from holdfast.policy.ranking import gate
from holdfast.policy.ranking.diversity import collapsed, is_varied, pack, snippet, source_of, spread
from holdfast.policy.ranking.weight import WINDOW_DAYS, weigh
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import variant_of
from holdfast.policy.sessions.left_off import asks_for_it, named_in, plain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, outside
from holdfast.verbs.records.project import notes_on_nothing
from holdfast.verbs.records.quarantine import is_shared, provenance, senders_of
from holdfast.verbs.records.read import filter_of, projects_of
from holdfast.verbs.search.respell import respelled
from holdfast.verbs.sessions.left_off import left_by_branch

WORTH_READING = 0.1  # chance that one of the leading candidates answers, from which on they are read
READ = 0.03  # of a score for each unit of the log odds that a candidate answers, by reading
MAYBE = 10  # candidates below the bar that are checked for severe scars
CLOSEST = 5  # candidates among which the closest is chosen if none fits
DECISION = 1.1  # factor for decisions if the question asks what was decided
UNMERGED = 0.7  # factor for records from a branch that is not merged here
PAGE = 100  # results at most of which none repeats another of the same source; a longer list has all
MOST_RELATED = 3  # for each of the best answers
CATCH_UP = 16  # records at most that are embedded before a question is answered, if no background thread does it
MOST_UNSURE = 3  # results, if none surely fits
LACKS = 0.8  # factor for records with another code, path, number, person or time than the one that the question names
NAMED = 0.8  # chance of a record that names a person who is asked for, but was written by another
NOTHING_THEN, NO_WORDS = "Nothing was written then.", "The question has no word to search for."
LEFT_OFF_TOKENS = 300  # of the answer to “where did we leave off?”
WEIGHED, FEWEST = 2, 20  # times the limit, and at least: how many of the best candidates are read in full and weighed
LOOKED_AT = 10  # while one source would fill the page: how many times as many candidates are searched for
MOST_WEIGHED = 16  # and how many times as many are weighed
MOST_WAITING, SHOWN_HELD = 400, 2  # how many quarantined records are examined, and how many are returned
ALL: Span = (0, 2**62)

Found = list[tuple[Candidate, Record]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prepared query: the projects and filter to search, the parsed question, and the time."""

    query: Query
    question: Question
    projects: tuple[str, ...] | None
    chosen: Filter
    spans: Sequence[Span]
    documents: int
    now: str
    behind: bool  # True if some records had no vectors when the question was asked
    note: str  # why it is not searched by meaning
    read: dict[int, Record] = field(default_factory=dict)  # candidates that were read in full, by number

    @property
    def search(self) -> Search:
        """What is searched."""
        return "hybrid" if self.question.encoded else "words"


def recall(memory: Memory, query: Query, *, surface: bool = True) -> Recalled:
    """Return the best records for the query, best first, cut to its limit and budget; `surface` records impressions."""
    asked = prepare(memory, query)
    if query.as_of:
        found = _recall_as_of(memory, asked)
    else:
        is_empty = asked.question.is_empty and not query.weak
        listed = Recalled(notes=(NO_WORDS,)) if is_empty else _listed(memory, asked)
        found = _with_spelling(memory, asked, _recall(memory, asked)) if listed is None else listed
        judged = freshness(memory, [hit.record for hit in found.hits])
        found = replace(found, hits=tuple(replace(hit, freshness=judged.get(hit.record.id)) for hit in found.hits))
        found = _few(asked, _with_left_off(memory, asked, found))
    notes = list(found.notes)
    if not found.hits and not query.everywhere and query.project is None:
        notes += notes_on_nothing(memory)
    notes.append(_surface(memory, query, found) if surface else "")
    waiting = vectors.waiting(memory.store, asked.chosen.projects, 1_000, unfound=True) if asked.behind else ()
    lag = f"{counted(len(waiting), 'memory')} not searched by meaning yet." if waiting else ""
    notes = [note for note in (memory.apart, asked.note, lag, *notes) if note]
    return replace(found, search=asked.search, lagging=len(waiting), notes=tuple(notes))


def _with_spelling(memory: Memory, asked: _Asked, found: Recalled) -> Recalled:
    """Ask again with misspelled words corrected if no answer is strong, and return what fits better."""
    if asked.question.is_foreign or (found.hits and found.hits[0].confidence == "strong"):
        return found
    changes, text = respelled(memory, asked.query.text, asked.spans, asked.documents), asked.query.text
    for word, spelling in changes.items():
        text = text.replace(word, spelling)
    again = _recall(memory, prepare(memory, replace(asked.query, text=text))) if changes else found
    if not again.hits or (found.hits and again.hits[0].chance <= found.hits[0].chance):
        return found
    notes = [f"No memory has “{word}”: searched for “{spelling}”." for word, spelling in changes.items()]
    return replace(again, notes=(*again.notes, *notes))


def _with_left_off(memory: Memory, asked: _Asked, found: Recalled) -> Recalled:
    """Put the last piece of work first, at the time named, if the question asks where work was left off; it rarely shares its words."""
    query, until = asked.query, max((end for _, end in asked.question.periods), default="")
    is_asked = (not query.kinds or "summary" in query.kinds) and asks_for_it(query.text)
    works = left_by_branch(memory, without=memory.actor.session, until=until) if is_asked else []
    if not works:
        return found
    work, text = (work := named_in(query.text, works)), plain(work, LEFT_OFF_TOKENS)
    wrote = records.of_session(memory.store, work.session) if not work.summary.id else []
    record = wrote[-1].record if wrote else work.summary
    if not record.id:  # a session that never closed and wrote nothing
        return replace(found, notes=(*found.notes, text))
    first = Hit(record=record, score=1.0, confidence="strong", why={"left off": 1.0}, fit=1.0, snippet=text)
    first = replace(first, tokens=tokens_of(text))
    weak = [] if query.weak else [hit for hit in found.hits if hit.confidence == "weak"]  # the question is answered
    others = [hit for hit in found.hits if hit not in weak and hit.record.id != record.id]
    return replace(found, hits=(first, *others[: max(0, query.limit - 1)]), gated=found.gated + len(weak))


def _few(asked: _Asked, found: Recalled) -> Recalled:
    """Return only the first few results if none surely fits, unless words alone cannot tell, or the caller chose how many or which."""
    query, usual = asked.query, Query(text="")
    chosen = any(getattr(query, name) != getattr(usual, name) for name in ("limit", "mode", "weak", "least", "kinds"))
    if asked.search == "words" or chosen or any(hit.confidence != "weak" for hit in found.hits):
        return found
    return replace(found, hits=found.hits[:MOST_UNSURE], gated=found.gated + len(found.hits[MOST_UNSURE:]))


def recall_with_fallback(memory: Memory, query: Query, kinds: Sequence[Sequence[str]], *, least: int = 1) -> Recalled:
    """Try each group of kinds in order and return the first good result, else the one with the most hits."""
    tries = []
    for wanted in kinds:
        found = recall(memory, replace(query, kinds=tuple(wanted)))
        if len(found.hits) >= least and found.confidence != "low":
            return found
        tries.append(found)
    return max(tries, key=lambda found: len(found.hits))


def prepare(memory: Memory, query: Query) -> _Asked:
    """Prepare a query: resolve its projects, filter and vector."""
    if not query.text:
        raise Invalid("The question is empty.", hint="Say what to look for.")
    projects = projects_of(memory, query)
    sizes = None if projects is None else memory.store.sizes(homes_of(projects, query.kinds))
    query = replace(
        query, text=query.text.rstrip(".。") or query.text, starters=query.starters or memory.config.starters
    )
    chosen = filter_of(query, None if sizes is None else tuple(sizes))
    if sizes is not None:
        spans, documents = [span(number) for number, size in sizes.items() if size], sum(sizes.values())
    elif query.kinds:
        spans, documents = [ALL], memory.store.size(None)
    else:
        spans, documents = memory.store.everywhere(), sum(memory.store.projects().values())
    bare, people = subject(memory.store, query.text, spans)
    encoded, behind, note = _encoded(memory, query, bare, chosen)
    now = query.as_of or memory.clock.now()
    question = ready(memory.store, query.text, bare, people, spans, now)
    if encoded and (embedder := memory.embedder):
        question = replace(question, encoded=encoded, floor=embedder.floor, ceiling=embedder.ceiling)
    return _Asked(query, question, projects, chosen, spans, documents, now, behind, note)


def _encoded(memory: Memory, query: Query, text: str, chosen: Filter) -> tuple[Encoded | None, bool, str]:
    """Embed a question and a few new records; return its vectors, whether some records lag behind, or why it is impossible."""
    if query.words_only or query.as_of or memory.embedder is None or ULID.fullmatch(text.strip()):
        return None, False, ""  # an id has no meaning
    from holdfast.verbs.search.embed import try_to_catch_up, usable  # noqa: PLC0415  numpy: only for meaning

    if problem := usable(memory):
        return None, False, problem
    embedder, asked = memory.embedder, (memory.embedder.name, memory.embedder.size)
    waiting = len(vectors.waiting(memory.store, chosen.projects, CATCH_UP + 1, unfound=True))
    try:
        # A question does not wait for many, nor if a background thread is at work.
        if 0 < waiting <= CATCH_UP and not memory.keeping_up.is_set():
            try_to_catch_up(memory, limit=waiting, projects=chosen.projects)
        encoded = embedder.embed([spelled_out(text)])[0]
    except EmbedderError as problem:
        return None, False, f"Searched by words only: {problem}"
    # An endpoint may serve another model under the same name; its vector size is known only from a response.
    if (embedder.name, embedder.size) != asked and (changed := usable(memory)):
        return None, False, changed
    return encoded, waiting > 0, ""


def _recall(memory: Memory, asked: _Asked, among: Sequence[Filter] = ()) -> Recalled:
    query, past = asked.query, asked.question.past
    filters = among or ([asked.chosen] if asked.chosen.narrow else ())
    allowed = {number for each in filters for number in records.numbers(memory.store, each)} if filters else None
    for times in (1, LOOKED_AT):
        candidates, found = search_for(memory, asked, allowed, times=times)
        fitting = _fitting(memory, asked, candidates, found, allowed)
        hits, looked_at, superseded = _varied(memory, asked, fitting)
        if is_varied(hits, query.limit) or not any(hit.alike for hit in hits):
            break  # else one source fills the page: look further
    current = [hit for hit in hits if past or hit.record.id not in superseded]
    replaced = [hit for hit in hits if hit not in current]
    left_out = f"{counted(len(replaced), 'superseded memory')} {'was' if len(replaced) == 1 else 'were'} left out."
    ordered = spread(gate.current_first(current, past), query.limit)
    labelled = gate.labelled(ordered, evidence_for(asked, candidates, found).basis)
    if "scar" in query.kinds:  # no page is too short for the severe scars of a plan
        labelled.sort(key=lambda hit: not (gate.is_severe(hit.record) and gate.applies(hit.record, hit.fit)))
    telling = labelled if query.weak or query.kinds else gate.without_notes(labelled)
    packed, cut = pack(telling, found.idf, limit=query.limit, budget=query.budget)
    # What comes closest to a question that nothing answers: what was replaced, maybe only in part, or the best candidate;
    # nothing, if it has nothing in common with it.
    near = [] if fitting else _read(memory, asked, [one for one in candidates[:CLOSEST] if one.fit > 0])
    closest = [hit.record for hit in replaced if all(one.confidence == "weak" and one.fit <= hit.fit for one in packed)]
    closest += [record for _, record in near if _is_wanted(record, asked)]
    return Recalled(
        hits=tuple(packed),
        gated=max(0, len(candidates) - len(fitting)) + len(labelled) - len(telling),
        cut=cut + len(fitting) - looked_at,
        closest=next(iter(closest), None),
        related=tuple(_related(memory, asked, packed)),
        held=_held(memory, asked, found.idf),
        notes=(left_out,) if replaced else (),
    )


def _listed(memory: Memory, asked: _Asked) -> Recalled | None:
    """Return the newest records of the time, kinds and people that a question names, or those that answer it; None if it names none."""
    listing, query, periods = asked.question.listing, asked.query, asked.question.periods
    if listing is None or query.since or query.until or (listing.about and asked.question.people):
        return None
    chosen = replace(asked.chosen, kinds=query.kinds or listing.kinds)
    if listing.about:
        among = [replace(chosen, since=since, until=until) for since, until in periods]
        found = _recall(memory, prepare(memory, replace(query, text=listing.about)), among)
        return found if found.hits else None
    found = _list(memory, asked, chosen)
    if found.hits or not periods:
        return found if found.hits else None
    others = _list(memory, asked, asked.chosen) if chosen != asked.chosen else found
    note = f"No {listing.name} was written then; these memories were." if others.hits else NOTHING_THEN
    return replace(others, hits=tuple(replace(hit, confidence="weak") for hit in others.hits), notes=(note,))


def _list(memory: Memory, asked: _Asked, chosen: Filter) -> Recalled:
    """Return the newest records that a filter allows, of the time and by or about the people that the question names."""
    query, store, people, left = asked.query, memory.store, asked.question.people, 0
    filters = [replace(chosen, since=since, until=until) for since, until in asked.question.periods or [("", "")]]
    if people:
        numbers = {number for each in filters for number in records.numbers(store, each)}
        entries = records.by_numbers(store, numbers & naming(store, people, asked.spans))
    else:
        entries = {one.number: one.record for each in filters for one in records.page(store, each, limit=query.limit)}
        left = sum(records.counted(store, each) for each in filters) - len(entries)
    data = _ranking_data(memory, asked, list(entries.values()))
    names = {word for name in people for word in tokens(name)}
    known = [
        (Candidate(number=number, words=1.0, coverage=1.0, chance=chance), record)
        for number, record in entries.items()
        if record.id not in data.replaced
        for chance in (NAMED if names.isdisjoint(tokens(record.by.name)) and names else 1.0,)
    ]
    hits = sorted(_weighed(memory, asked, known, data), key=lambda hit: hit.record.created_at, reverse=True)
    listed = gate.labelled([replace(hit, score=1.0, why={"listed": 1.0}) for hit in hits], asked.search)
    packed, cut = pack(listed, {}, limit=query.limit, budget=query.budget)
    return Recalled(hits=tuple(packed), cut=cut + left, held=_held(memory, asked, {}))


def _fitting(
    memory: Memory, asked: _Asked, candidates: Sequence[Candidate], found: Words, allowed: set[int] | None
) -> list[Candidate]:
    """Return the candidates that are answers, and for a plan (it asks for scars) also the severe scars that may apply.

    A plan's scars may also fit what it is about: “to the API” makes “add authentication” fit less.
    """
    query = asked.query
    places = gate.passing(query, evidence_for(asked, candidates, found), [one.score for one in candidates])
    fitting = {candidates[place].number: candidates[place] for place in places}
    if query.least is not None or "scar" not in query.kinds:
        return list(fitting.values())
    rest, plan = [one for one in candidates if one.number not in fitting], object_of(query.text)
    unread = replace(memory, classifier=None)  # how well they fit is enough
    rest += search_for(unread, prepare(unread, replace(query, text=plan)), allowed)[0] if plan != query.text else ()
    maybe = sorted([one for one in rest if one.fit >= gate.MAY_APPLY], key=attrgetter("fit"), reverse=True)[:MAYBE]
    for one, record in _read(memory, asked, maybe):
        known = fitting.get(one.number)
        if gate.is_severe(record) and not (known and gate.applies(record, known.fit)):
            fitting[one.number] = one
    return list(fitting.values())


def _read(memory: Memory, asked: _Asked, candidates: Sequence[Candidate]) -> Found:
    """Return candidates with their records; what was read for this question already is not read again."""
    numbers = [one.number for one in candidates]
    if missing := [number for number in numbers if number not in asked.read]:
        asked.read.update(records.by_numbers(memory.store, missing))
    return [(one, asked.read[one.number]) for one in candidates if one.number in asked.read]


def search_for(
    memory: Memory, asked: _Asked, allowed: set[int] | None, *, times: int = 1
) -> tuple[list[Candidate], Words]:
    """Return candidates, best first, each with its chance of being right."""
    candidates, found = search(
        memory.store,
        memory.caches.frequencies,
        asked.question,
        asked.spans,
        asked.documents,
        exact=times * max(EXACT, WEIGHED * asked.query.limit),
        most=times * CANDIDATES,
        codes=memory.caches.codes if asked.question.encoded else None,
        allowed=allowed,
    )
    if ULID.fullmatch(asked.query.text.strip()):  # only a memory that names this very id is about it
        candidates = [one for one in candidates if one.coverage >= 1]
    reader = memory.classifier if asked.question.encoded else None
    if reader and gate.answered(evidence_for(asked, candidates, found)) >= WORTH_READING:
        with suppress(EmbedderError):  # `doctor` reports a reader that does not load
            reader.load()
            _read(memory, asked, candidates[: max(FEWEST, WEIGHED * asked.query.limit)])  # they are weighed afterwards
            read_leaders(memory, asked, reader, candidates, found.idf)
            candidates.sort(key=attrgetter("score"), reverse=True)
    question, text = asked.question, asked.query.text
    dated = question.dates.named if question.listing or question.people else ()
    if dated or question.exact or any(sign.isdigit() or sign in '"“«-' for sign in text):
        for one, record in _read(memory, asked, candidates[:FEWEST]):
            said = set(tokens(record.text) if dated else ())
            is_then = one.date > 0 or not dated or any(said.issuperset(tokens(phrase)) for phrase in dated)
            is_theirs = one.person > 0 or not (dated and question.people)
            one.lacks = lacks(text, record.text) or not (is_then and is_theirs)
            one.score *= LACKS if one.lacks else 1.0
        candidates.sort(key=attrgetter("score"), reverse=True)
    for one, chance in zip(candidates, gate.chances(evidence_for(asked, candidates, found)), strict=True):
        one.chance = chance
    return candidates, found


def read_leaders(
    memory: Memory, asked: _Asked, reader: Classifier, candidates: Sequence[Candidate], idf: Mapping[str, float]
) -> None:
    """Set how likely the leading candidates answer a question, and what that adds to their scores.

    Nothing is read if the first is long, code, or a turn of a conversation: what it says depends on what stands around it.
    """
    close = gate.CONTENDS * candidates[0].fit
    leaders = _read(memory, asked, list(takewhile(lambda one: one.fit >= close, candidates[: gate.LEADERS])))
    first = leaders[0][1]
    session = first.by.session if first.by.kind == "user" else ""
    if not gate.is_statement(first.text) or records.conversations(memory.store, [session]):
        return
    parts = [snippet(record.text, idf) for _, record in leaders]
    read = [reader.chances("answers", asked.query.text, part)["yes"] for part in parts]
    odds = [math.log(chance / (1 - chance)) for chance in read]
    for (one, _), each in zip(leaders, odds, strict=True):
        one.odds, one.read = each, READ * (each - min(odds))
        one.score += one.read


def evidence_for(asked: _Asked, candidates: Sequence[Candidate], found: Words) -> gate.Evidence:
    """Return what speaks for each candidate."""
    first = asked.read.get(candidates[0].number) if candidates else None
    odds = [one.odds for one in candidates[: gate.LEADERS] if one.odds is not None]
    return gate.Evidence(
        basis="read" if odds else asked.search,
        is_long=bool(first and not gate.is_statement(first.text)),
        fits=[one.fit for one in candidates],
        coverages=[one.coverage for one in candidates],
        words=len(found.idf),
        odds=odds,
        is_name=is_name(asked.query.text),
        lacking=[place for place, one in enumerate(candidates) if one.lacks],
    )


def _varied(memory: Memory, asked: _Asked, fitting: Sequence[Candidate]) -> tuple[list[Hit], int, set[str]]:
    """Weigh the best candidates, and more while one source would fill the page.

    Return the hits, the number of candidates examined, and the ids of superseded records.
    """
    query, found, kept, place, superseded = asked.query, list[Hit](), list[Hit](), 0, set[str]()
    step = max(FEWEST, WEIGHED * query.limit)
    while place < len(fitting) and place < MOST_WEIGHED * step and not (kept and is_varied(kept, query.limit)):
        best = _read(memory, asked, fitting[place : place + step])
        known = [(one, record) for one, record in best if _is_wanted(record, asked)]
        data = _ranking_data(memory, asked, [record for _, record in known])
        found = _ranked([*found, *_weighed(memory, asked, known, data)])
        # Repetitions fill no page that would not be varied with them either, so comparing texts can wait.
        kept = collapsed(found) if is_varied(found, query.limit) else []
        superseded |= data.replaced
        place += step
    return kept or collapsed(found), min(place, len(fitting)), superseded


def _held(memory: Memory, asked: _Asked, idf: Mapping[str, float]) -> tuple[Hit, ...]:
    """Return the best few quarantined records, listed apart from the hits; none unless the setting is `show`."""
    if memory.config.quarantine != "show":
        return ()
    waiting = records.waiting(memory.store, asked.chosen.projects, MOST_WAITING)
    meant = [one.record for one in waiting if one.record.state == "held" and _is_meant(one.record, asked)]
    hits = [
        Hit(record=record, score=one.score, confidence="weak", why=one.why, fit=one.fit)
        for one, record in _by_words(memory, asked, meant, idf)
        if one.fit >= gate.MAY_APPLY
    ]
    best = collapsed(_ranked(hits))[:SHOWN_HELD]
    came = provenance(memory, [hit.record for hit in best])
    return tuple(replace(hit, came=came.get(hit.record.id, "")) for hit in best)


def _by_words(memory: Memory, asked: _Asked, found: Sequence[Record], idf: Mapping[str, float]) -> Found:
    """Return records that the index does not have in this form, as candidates by their words."""
    means = memory.caches.frequencies.mean_lengths(asked.spans) if found else (1.0, 1.0)
    scores = zip(found, fits(map(words.indexed, found), idf, means), strict=True)
    return [(Candidate(number=0, words=score, coverage=coverage), record) for record, (score, coverage) in scores]


def _is_wanted(record: Record, asked: _Asked) -> bool:
    return record.state == "active" and (asked.chosen.starters or record.source != "starter")


def _related(memory: Memory, asked: _Asked, hits: Sequence[Hit]) -> Iterator[Related]:
    """Yield newer records that contradict hits but did not fit themselves, and on request those linked to the best hits."""
    shown = {hit.record.id for hit in hits}
    missing = {hit.contradicted_by: hit.record.id for hit in hits if hit.contradicted_by not in (*shown, "")}
    for record in memory.known(missing).values():  # “moved to B” may not name what moved
        if _is_wanted(record, asked) and _is_meant(record, asked):
            yield Related(record=record, relation="contradicts", source=missing[record.id])
    best = [hit.record.id for hit in hits[:MOST_RELATED]]
    found: dict[str, Related] = {}
    for source, arrows in links.others(memory.store, best).items() if asked.query.related else ():
        related = [(arrow, other) for arrow, other in arrows if arrow.relation != "supersedes"]
        for arrow, other in related[:MOST_RELATED]:
            if other is not None and other.id not in shown | missing.keys() and other.state == "active":
                found.setdefault(other.id, Related(record=other, relation=arrow.relation, source=source))
    yield from (found[id_] for id_ in sorted(found))


def _recall_as_of(memory: Memory, asked: _Asked) -> Recalled:
    """Search the records as of an instant: unchanged ones through the index, changed ones as they were then."""
    query, store = asked.query, memory.store
    changed = set(store.changed_since(asked.now))
    candidates, found = search(store, memory.caches.frequencies, asked.question, asked.spans, asked.documents)
    known = [(one, record) for one, record in _read(memory, asked, candidates) if record.id not in changed]
    then = (as_of(store.events_about(record_id), asked.now) for record_id in changed)
    known += _by_words(memory, asked, [record for record in then if record and record.state == "active"], found.idf)
    meant = [(one, record) for one, record in known if one.words and _is_meant(record, asked)]
    meant.sort(key=lambda pair: -pair[0].score)
    own = [one for one, _ in meant]
    for one, chance in zip(own, gate.chances(evidence := evidence_for(asked, own, found)), strict=True):
        one.chance = chance
    places = gate.passing(query, evidence, [one.score for one in own])
    fitting = [meant[place] for place in places]
    data, past = _ranking_data(memory, asked, [record for _, record in fitting]), asked.question.past
    linked = links.others(store, [record.id for _, record in fitting]).values()
    sources = {arrow.source for arrows in linked for arrow, _ in arrows}
    known_then = (as_of(store.events_about(source), asked.now) for source in sorted(sources))
    pairs = [(link, one.id) for one in known_then if one and one.state == "active" for link in one.links]
    data = replace(data, contradicted={link.target: [id_] for link, id_ in pairs if link.relation == "contradicts"})
    replaced = {link.target for link, _ in pairs if link.relation == "supersedes"}
    fitting = [(one, record) for one, record in fitting if past or record.id not in replaced]
    hits = gate.labelled(gate.current_first(_weighed(memory, asked, fitting, data), past), asked.search)
    packed, cut = pack(hits, found.idf, limit=query.limit, budget=query.budget)
    note = f"As of {asked.now}, by words."
    return Recalled(hits=tuple(packed), gated=len(meant) - len(fitting), cut=cut, notes=(note,))


def _ranking_data(memory: Memory, asked: _Asked, found: Sequence[Record]) -> RankingData:
    return ranking_data(
        memory.store,
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
        id_, score = record.id, candidate.score
        factors = dict(
            weigh(
                record,
                data.usage.get(id_, Usage()),
                project=project,
                now=asked.now,
                outcomes=data.outcomes.get(id_, ()),
                deltas=data.trust.get(id_, ()),
                is_about_now=asked.question.is_about_now,
            )
        )
        if asked.question.asks_for_decision and record.kind == "decision":
            factors["kind"] = DECISION
        if id_ in unmerged:
            factors["branch"] = UNMERGED
        came = senders_of(data.arrivals.get(id_, ()))
        hit = Hit(
            record=record,
            score=score * math.prod(factors.values()),
            confidence="weak",
            why=candidate.why | factors,
            fit=candidate.fit,
            chance=candidate.chance,
            came=came,
            source=source_of(record, came) if asked.query.limit <= PAGE else "",
            branch=unmerged.get(id_, ""),
            hot=id_ in data.hot and record.project in (memory.project, GLOBAL),
            contradicted_by=max((other for other in data.contradicted.get(id_, ()) if other > id_), default=""),
        )
        hits.append(hit)
    return _ranked(hits)


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.record.source == "starter", -hit.score))


def _is_meant(record: Record, asked: _Asked) -> bool:
    """True if a record matches the filter; for records that the index does not have in this form."""
    chosen = asked.chosen
    return (
        (chosen.starters or record.source != "starter")
        and (asked.projects is None or record.project in asked.projects)
        and (record.kind in chosen.kinds if chosen.kinds else record.kind not in SEPARATE)
        and all(_is_in(record, scope) for scope in chosen.scopes)
        and (not chosen.any_scopes or any(_is_in(record, scope) for scope in chosen.any_scopes))
        and not any(_is_in(record, scope) for scope in chosen.without_scopes)
        and set(chosen.tags) <= set(record.tags)
        and chosen.author in ("", record.by.name if record.by.kind == "user" else "")
        and (not chosen.session or record.by.session == chosen.session)
        and (not chosen.since or record.created_at >= chosen.since)
        and (not chosen.until or record.created_at < chosen.until)
    )


def _is_in(record: Record, scope: str) -> bool:
    return any(within(own, scope) for own in record.scopes)


def needs_answer(hit: Hit) -> bool:
    """True if a hit is a scar that fits well enough to need a scar answer; starters never need one."""
    record = hit.record
    return record.source != "starter" and gate.applies(record, hit.fit)


def _surface(memory: Memory, query: Query, found: Recalled) -> str:
    """Record which hits a session was given; nothing else changes. Return why, if that failed."""
    if not memory.actor.session:  # a recall without hits is recorded too
        return ""
    ids = [hit.record.id for hit in found.hits]
    shown: dict[str, Any] = {"ids": ids, "query": masked(query.text)[:200], "hot": sum(hit.hot for hit in found.hits)}
    shown["tokens"] = sum(hit.tokens for hit in found.hits)
    if scars := [hit.record.id for hit in found.hits if needs_answer(hit)]:
        shown["variants"] = {scar: variant_of(memory.actor.name, scar) for scar in scars}
    problem = memory.note([memory.event("surfaced", memory.actor.session, data=shown)])
    return f"This recall was not recorded. {problem}" if problem else ""
