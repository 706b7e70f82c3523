"""Threads: unresolved work that outlives a session. Their life is computed from when they were worked on."""

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.engine.views import Entry, records, touches
from holdfast.engine.views.touches import Touched
from holdfast.model.errors import Ambiguous, Conflict, Invalid, NotFound
from holdfast.model.ids import days_between
from holdfast.model.record import Draft, Record
from holdfast.model.text import check_text, shorten, whole_number
from holdfast.policy.admission.admit import Refused, Waivers
from holdfast.policy.ranking.vitality import Life, Stage, ThreadClass, class_of, stage, vitality
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.lifecycle import restore, retire
from holdfast.verbs.records.write import Held, Written, write
from holdfast.verbs.search.similarity import alike

MOST = 500  # open threads looked at; more is a list nobody reads
LONGEST = 3_000
SHOWN_WITH_AMBIGUITY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread with how alive it is."""

    record: Record
    stage: Stage | Literal["resolved"]
    vitality: float
    touches: int
    touched_at: str
    thread_class: ThreadClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A new thread."""

    thread: Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The same piece of work is a thread already; it was touched instead."""

    thread: Thread
    share: float


def open_thread(
    memory: Memory, text: str, *, issues: tuple[str, ...] = (), force: bool = False, thread_class: str = ""
) -> Opened | Known | Refused:
    """Keep a piece of work as a thread, or touch the one that is about it already."""
    said = check_text(text, "thread", LONGEST)
    if not force and (same := _same(memory, said)):
        return Known(thread=touch(memory, same[0].record.id), share=same[1])
    fields: dict[str, Any] = {"thread_class": thread_class or class_of(said), "related_issues": list(issues)}
    outcome = write(memory, Draft(body=said, kind="thread", fields=fields), waivers=Waivers(duplicate=True, scope=True))
    match outcome:
        case Written(record=record) | Held(record=record):
            return Opened(thread=_life(memory, record, Touched()))
    return outcome


def open_threads(memory: Memory, *, archived: bool = False) -> list[Thread]:
    """Give the open threads of this project, liveliest first; those dormant for a month only if asked for."""
    found = _threads(memory, _open(memory))
    return sorted(
        (one for one in found if archived or one.stage != "archived"), key=lambda one: (-one.vitality, one.record.id)
    )


def numbered_threads(memory: Memory) -> dict[int, Thread]:
    """Give the open threads by their place, oldest first: the number that #2 means. Archived ones keep theirs."""
    return dict(enumerate(_threads(memory, _oldest_first(memory)), start=1))


def resolved_threads(memory: Memory, *, limit: int = 50) -> list[Thread]:
    """Give the threads that were resolved, latest first."""
    here = memory.store.project_number(memory.project)
    done = records.newest(memory.store.db, "thread", here, state="retired", limit=limit)
    return sorted(_threads(memory, done), key=lambda one: one.record.updated_at, reverse=True)


def touch(memory: Memory, reference: str) -> Thread:
    """Note that a thread was worked on; that keeps it alive."""
    record = _thread(memory, reference)
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}.", hint="Reopen it first.")
    memory.commit([memory.event("touched", record.id)])
    return _threads(memory, [find(memory, record.id)])[0]


def resolve(memory: Memory, reference: str, note: str = "") -> Thread:
    """Close a thread by its id, its place in the list (#2) or a part of its text."""
    record = _thread(memory, reference)
    if record.state == "active":
        record = retire(memory, record.id, note or "resolved")
    return _threads(memory, [find(memory, record.id)])[0]


def reopen(memory: Memory, reference: str) -> Thread:
    """Take a resolved thread up again."""
    record = restore(memory, _thread(memory, reference).id)
    return touch(memory, record.id)


def triage(memory: Memory) -> dict[str, list[Thread]]:
    """Give all open threads by the stage of their life."""
    stages: dict[str, list[Thread]] = {name: [] for name in ("emerging", "active", "cooling", "dormant", "archived")}
    for thread in open_threads(memory, archived=True):
        stages[thread.stage].append(thread)
    return stages


def archive_dormant(memory: Memory) -> list[Thread]:
    """Close the threads that nobody worked on for so long that lists leave them out already; give them."""
    found = triage(memory)["archived"]
    for thread in found:
        retire(memory, thread.record.id, "archived: dormant for a month")
    return found


def idle_days(thread: Thread, now: str) -> int:
    """Give the whole days since a thread was worked on."""
    return int(days_between(thread.touched_at, now))


def _open(memory: Memory) -> list[Entry]:
    return records.newest(memory.store.db, "thread", memory.store.project_number(memory.project), limit=MOST)


def _oldest_first(memory: Memory) -> list[Entry]:
    return sorted(_open(memory), key=lambda entry: entry.number)


def _same(memory: Memory, text: str) -> tuple[Entry, float] | None:
    """Give the open thread that is about the same piece of work."""
    return next(((one.entry, one.share) for one in alike(memory, text, _open(memory)) if one.same), None)


def _threads(memory: Memory, entries: list[Entry]) -> list[Thread]:
    touched = touches.of(memory.store.db, [entry.record.id for entry in entries])
    return [_life(memory, entry.record, touched.get(entry.record.id, Touched())) for entry in entries]


def _life(memory: Memory, record: Record, touched: Touched) -> Thread:
    now = memory.clock.now()
    given = record.fields.get("thread_class")
    life = Life(
        created_at=record.created_at,
        touched_at=max(touched.last_at, record.created_at),
        touches=1 + touched.times,
        thread_class=given if given in ("operational", "backlog") else class_of(record.title),
    )
    return Thread(
        record=record,
        stage="resolved" if record.state == "retired" else stage(life, now),
        vitality=vitality(life, now),
        touches=life.touches,
        touched_at=life.touched_at,
        thread_class=life.thread_class,
    )


def _thread(memory: Memory, reference: str) -> Record:
    """Give the thread meant by an id, a place in the list or a part of its text."""
    said = reference.strip()
    if not said:
        raise Invalid("Which thread?", hint="Give its id, its place in the list (#2) or a part of its text.")
    if said.startswith("#"):
        return _at_place(memory, said)
    if is_reference(said):
        record = find(memory, said).record
        if record.kind != "thread":
            raise Invalid(f"{record.id} is a {record.kind}, not a thread.")
        return record
    return _by_text(memory, said)


def _at_place(memory: Memory, said: str) -> Record:
    oldest_first = _oldest_first(memory)
    place = whole_number(said[1:]) or 0
    if not 1 <= place <= len(oldest_first):
        raise NotFound(
            f"There is no thread {said}; {len(oldest_first)} are open.", hint="`holdfast thread list` shows them."
        )
    return oldest_first[place - 1].record


def _by_text(memory: Memory, said: str) -> Record:
    entries = _open(memory)
    within = [entry.record for entry in entries if said.lower() in entry.record.body.lower()]
    if not within:
        within = [one.entry.record for one in alike(memory, said, entries) if one.same]
    if not within:
        raise NotFound(f"No open thread says {shorten(said, 80)!r}.", hint="List the threads to see their ids.")
    if len(within) > 1 and not any(record.body.lower() == said.lower() for record in within):
        shown = "; ".join(f"{one.id[:10]} {shorten(one.title, 60)}" for one in within[:SHOWN_WITH_AMBIGUITY])
        raise Ambiguous(f"{len(within)} threads say that: {shown}.", hint="Give the id.")
    return within[0]
