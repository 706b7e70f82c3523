"""Threads: unfinished work that outlives a session, and suggestions of them for topics that recur session after session.

The stage of a thread is computed from when it was worked on. A dismissed suggestion stays away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.engine.views import Entry, records, usage
from holdfast.model.errors import Ambiguous, Conflict, EmbedderError, Invalid, NotFound
from holdfast.model.ids import days_before, short
from holdfast.model.record import Draft, Record
from holdfast.model.text import check_text, shorten, whole_number
from holdfast.policy.admission.admit import Refused, Waivers
from holdfast.policy.language.overlap import is_same, overlap
from holdfast.policy.ranking.vitality import Life, Stage, ThreadClass, class_of, stage, vitality
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.lifecycle import commit_about, restore, retire
from holdfast.verbs.records.write import Written, WrittenPending, draft_event, write

MOST = 500  # open threads that are read
LONGEST = 3_000
SHOWN_WITH_AMBIGUITY = 5
LOOK_BACK_DAYS, LOOK_BACK_SESSIONS = 30.0, 20
RECURRENCES = 2  # earlier sessions about the topic
MOST_SUGGESTIONS = 200
FINAL = 3  # dismissals after which it is never suggested again
# On the embedder's own scale, where 0 is unrelated and 1 clearly related. Measured on pairs of thread titles: at 1.1
# (cosine 0.885 of the built-in encoder) eight of ten rewordings pass and none of eleven neighbours does.
SAME_MEANING, RELATED_MEANING = 1.1, 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread with its stage and vitality."""

    record: Record
    stage: Stage | Literal["resolved"]
    vitality: float
    touches: int
    touched_at: str
    thread_class: ThreadClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A new thread was created."""

    thread: Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A thread about the same work exists; it was touched instead."""

    thread: Thread
    share: float


def open_thread(
    memory: Memory, text: str, *, issues: tuple[str, ...] = (), force: bool = False, thread_class: str = ""
) -> Opened | Known | Refused:
    """Create a thread for a piece of work, or touch the existing one about it."""
    checked = check_text(text, "thread", LONGEST)
    for match in () if force else similar_to(memory, checked, _threads(memory)):
        if match.same:
            return Known(thread=touch(memory, match.entry.record.id), share=match.share)
    fields: dict[str, Any] = {"thread_class": thread_class or class_of(checked), "related_issues": list(issues)}
    draft = Draft(body=checked, kind="thread", fields=fields)
    outcome = write(memory, draft, waivers=Waivers(duplicate=True, scope=True))
    if isinstance(outcome, Written | WrittenPending):
        return Opened(thread=_alive(memory, [outcome.record])[0])
    return outcome


def open_threads(memory: Memory, *, archived: bool = False) -> list[Thread]:
    """Return the open threads of this project, liveliest first, about equal ones as they were opened; archived only on request."""
    threads = _alive(memory, [entry.record for entry in _threads(memory)])
    shown = [thread for thread in threads if archived or thread.stage != "archived"]
    return sorted(shown, key=lambda thread: (-round(thread.vitality, 2), thread.record.id))


def numbered_threads(memory: Memory) -> dict[int, Thread]:
    """Return the open threads by number, oldest first (what #2 means). Archived ones keep their numbers."""
    oldest_first = sorted(_threads(memory), key=lambda entry: entry.number)
    return dict(enumerate(_alive(memory, [entry.record for entry in oldest_first]), start=1))


def resolved_threads(memory: Memory, *, limit: int = 50) -> list[Thread]:
    """Return the resolved threads, latest first."""
    done = [entry.record for entry in _threads(memory, state="retired", limit=limit)]
    return sorted(_alive(memory, done), key=lambda thread: thread.record.updated_at, reverse=True)


def touch(memory: Memory, reference: str) -> Thread:
    """Record that a thread was worked on; that keeps it alive."""
    record = _thread(memory, reference)
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}.", hint="Reopen it first.")
    memory.commit([memory.event("touched", record.id)])
    return _alive(memory, [record])[0]


def resolve(memory: Memory, reference: str, note: str = "") -> Thread:
    """Resolve a thread by its id, its number (#2) or part of its text."""
    record = _thread(memory, reference)
    if record.state == "active":
        record = retire(memory, record.id, note or "resolved")
    return _alive(memory, [record])[0]


def reopen(memory: Memory, reference: str) -> Thread:
    """Reopen a resolved thread."""
    return touch(memory, restore(memory, _thread(memory, reference).id).id)


def triage(memory: Memory) -> dict[str, list[Thread]]:
    """Return all open threads by stage."""
    stages: dict[str, list[Thread]] = {name: [] for name in ("emerging", "active", "cooling", "dormant", "archived")}
    for thread in open_threads(memory, archived=True):
        stages[thread.stage].append(thread)
    return stages


def archive_dormant(memory: Memory) -> list[Thread]:
    """Close the threads that are archived already because no one worked on them; return them."""
    archived = triage(memory)["archived"]
    for thread in archived:
        retire(memory, thread.record.id, "archived: dormant for a month")
    return archived


def _threads(memory: Memory, *, state: str = "active", limit: int = MOST) -> list[Entry]:
    """Return the newest threads of this project in a state; suggestions are pending threads."""
    return records.newest(memory.store, "thread", memory.here, state=state, limit=limit)


def _alive(memory: Memory, threads: list[Record]) -> list[Thread]:
    """Return threads with their stage and vitality."""
    now, touched = memory.clock.now(), usage.touched(memory.store, [record.id for record in threads])
    found = []
    for record in threads:
        (times, last_at), own_class = touched.get(record.id, (0, "")), record.fields.get("thread_class")
        kind = own_class if own_class in ("operational", "backlog") else class_of(record.title)
        work: Any = {"touches": 1 + times, "touched_at": max(last_at, record.created_at), "thread_class": kind}
        life = Life(created_at=record.created_at, **work)
        now_in = "resolved" if record.state == "retired" else stage(life, now)
        found.append(Thread(record=record, stage=now_in, vitality=vitality(life, now), **work))
    return found


def _thread(memory: Memory, reference: str) -> Record:
    """Return the thread with an id, a number or part of its text."""
    wanted = reference.strip()
    if not wanted:
        raise Invalid("No thread was named.", hint="Use its id, its number (#2) or part of its text.")
    if wanted.startswith("#"):
        numbered, number = numbered_threads(memory), whole_number(wanted[1:])
        if number in numbered:
            return numbered[number].record
        hint = "List them: holdfast thread list"
        raise NotFound(f"There is no thread {wanted}; {len(numbered)} are open.", hint=hint)
    if is_reference(memory, wanted):
        record = find(memory, wanted).record
        if record.kind != "thread":
            raise Invalid(f"{record.id} is a {record.kind}, not a thread.")
        return record
    entries = _threads(memory)
    matches = [entry.record for entry in entries if wanted.lower() in entry.record.body.lower()]
    matches = matches or [match.entry.record for match in similar_to(memory, wanted, entries) if match.same]
    if not matches:
        raise NotFound(f"No open thread matches {shorten(wanted, 80)!r}.", hint="List them: holdfast thread list")
    if len(matches) > 1 and not any(record.body.lower() == wanted.lower() for record in matches):
        some = (f"{short(record.id)} {shorten(record.title, 60)}" for record in matches[:SHOWN_WITH_AMBIGUITY])
        raise Ambiguous(f"{len(matches)} threads match: {'; '.join(some)}.", hint="Use the id.")
    return matches[0]


def suggest(memory: Memory, topic: str, session: str) -> Record | None:
    """Suggest a thread if earlier sessions had the same topic; return it, new or with more evidence."""
    store, since = memory.store, days_before(memory.clock.now(), LOOK_BACK_DAYS)
    summaries = records.newest(store, "summary", memory.here, limit=LOOK_BACK_SESSIONS)
    earlier = [entry for entry in summaries if entry.record.by.session != session and entry.record.created_at >= since]
    related = [match for match in similar_to(memory, topic, earlier) if match.related]
    evidence = list(dict.fromkeys(match.entry.record.by.session for match in related))
    is_open = (match.same for match in similar_to(memory, topic, _threads(memory, limit=MOST_SUGGESTIONS)))
    if len(evidence) < RECURRENCES or any(is_open):
        return None
    score = round(sum(match.share for match in related) / len(related), 3)
    pending = similar_to(memory, topic, _threads(memory, state="pending", limit=MOST_SUGGESTIONS))
    known = next((match.entry.record for match in pending if match.same), None)
    if known is None:
        extra: dict[str, Any] = {"evidence": [*evidence, session], "score": score}
        draft = Draft(body=topic, kind="thread", source="mined", extra=extra)
        return memory.commit([draft_event(memory, draft, pending=True)])[0].record
    dismissals = _dismissals(memory, known)
    if len(dismissals) >= FINAL:
        return None
    before = known.extra.get("score")
    mean = (before + score) / 2 if isinstance(before, int | float) else score
    evidence = list(dict.fromkeys((*known.extra.get("evidence", ()), session)))
    extra = {**known.extra, "evidence": evidence, "score": round(mean, 3)}
    after = max([known.head, *dismissals])
    return memory.commit([memory.event("revised", known.id, data={"extra": extra}, after=after)])[0].record


def suggestions(memory: Memory) -> list[Record]:
    """Return the pending suggestions, best supported first."""
    pending = [entry.record for entry in _threads(memory, state="pending", limit=MOST_SUGGESTIONS)]
    dismissed = ((record, _dismissals(memory, record)) for record in pending)
    shown = (record for record, past in dismissed if len(past) < FINAL and record.head > max(past, default=""))
    return sorted(shown, key=lambda record: -len(record.extra.get("evidence", ())))


def promote(memory: Memory, reference: str) -> Record:
    """Turn a suggestion into a thread."""
    return commit_about(memory, "confirmed", _suggestion(memory, reference))


def dismiss(memory: Memory, reference: str) -> tuple[Record, int]:
    """Dismiss a suggestion; return it and how many dismissals are left until it is final."""
    record = _suggestion(memory, reference)
    memory.commit([memory.event("used", record.id, data={"outcome": "dismissed"}, after=record.head)])
    return record, FINAL - len(_dismissals(memory, record))


def _dismissals(memory: Memory, record: Record) -> list[str]:
    """Return the ids of the events that dismissed a suggestion."""
    return [use.event for use in usage.uses(memory.store, [record.id]) if use.outcome == "dismissed"]


def _suggestion(memory: Memory, reference: str) -> Record:
    record = find(memory, reference, "review list --sort suggestion").record
    if record.kind != "thread" or record.state != "pending":
        hint = "`holdfast review list --sort suggestion` shows the pending ones."
        raise Conflict(f"{record.id} is not a pending suggestion.", hint=hint)
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """A record, its similarity to a text, and whether that makes it the same thing or a related one."""

    entry: Entry
    share: float
    same: bool
    related: bool


def similar_to(memory: Memory, text: str, entries: Sequence[Entry]) -> list[Similarity]:
    """Compare a text with records, by meaning if an embedder is available, else by shared words; most similar first."""
    cosines, found = _cosines(memory, text, entries), list[Similarity]()
    for entry in entries:
        share = cosines.get(entry.number)
        if share is not None:
            same, related = share >= SAME_MEANING, share >= RELATED_MEANING
        else:
            share, same = overlap(text, entry.record.title), is_same(text, entry.record.title)
            related = same or share > 0.4
        found.append(Similarity(entry=entry, share=share, same=same, related=related))
    return sorted(found, key=lambda one: -one.share)


def _cosines(memory: Memory, text: str, entries: Sequence[Entry]) -> dict[int, float]:
    """Return the similarity by number of each record that has vectors, on the embedder's scale."""
    embedder = memory.embedder
    if embedder is None or not entries:
        return {}
    from holdfast.verbs.search.embed import catch_up, usable  # noqa: PLC0415  only for meaning

    try:
        if usable(memory):
            return {}
        catch_up(memory, limit=len(entries), projects=(memory.here,))
        asked = embedder.embed([text])[0].vector
    except EmbedderError:
        return {}  # fall back to shared words
    cosines = memory.caches.codes.cosines(asked, [entry.number for entry in entries])
    scale = embedder.ceiling - embedder.floor
    return {number: (cosine - embedder.floor) / scale for number, cosine in cosines.items()}
