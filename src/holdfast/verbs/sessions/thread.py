"""Threads: unfinished work that outlives a session. Their stage is computed from when they were worked on."""

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.engine.views import Entry, records, touches
from holdfast.engine.views.touches import Touched
from holdfast.model.errors import Ambiguous, Conflict, Invalid, NotFound
from holdfast.model.ids import days_between, short
from holdfast.model.record import Draft, Record
from holdfast.model.text import check_text, shorten, whole_number
from holdfast.policy.admission.admit import Refused, Waivers
from holdfast.policy.ranking.vitality import Life, Stage, ThreadClass, class_of, stage, vitality
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.lifecycle import restore, retire
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search.similarity import similar_to

MOST = 500  # open threads that are read
LONGEST = 3_000
SHOWN_WITH_AMBIGUITY = 5


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
    if not force and (same := _same(memory, checked)):
        return Known(thread=touch(memory, same[0].record.id), share=same[1])
    fields: dict[str, Any] = {"thread_class": thread_class or class_of(checked), "related_issues": list(issues)}
    outcome = write(
        memory, Draft(body=checked, kind="thread", fields=fields), waivers=Waivers(duplicate=True, scope=True)
    )
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            return Opened(thread=_life(memory, record, Touched()))
    return outcome


def open_threads(memory: Memory, *, archived: bool = False) -> list[Thread]:
    """Return the open threads of this project, liveliest first; archived ones only on request."""
    threads = _threads(memory, _open(memory))
    return sorted(
        (thread for thread in threads if archived or thread.stage != "archived"),
        key=lambda thread: (-thread.vitality, thread.record.id),
    )


def numbered_threads(memory: Memory) -> dict[int, Thread]:
    """Return the open threads by number, oldest first (what #2 means). Archived ones keep their numbers."""
    return dict(enumerate(_threads(memory, _oldest_first(memory)), start=1))


def resolved_threads(memory: Memory, *, limit: int = 50) -> list[Thread]:
    """Return the resolved threads, latest first."""
    project = memory.store.project_number(memory.project)
    done = records.newest(memory.store, "thread", project, state="retired", limit=limit)
    return sorted(_threads(memory, done), key=lambda thread: thread.record.updated_at, reverse=True)


def touch(memory: Memory, reference: str) -> Thread:
    """Record that a thread was worked on; that keeps it alive."""
    record = _thread(memory, reference)
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}.", hint="Reopen it first.")
    memory.commit([memory.event("touched", record.id)])
    return _threads(memory, [find(memory, record.id)])[0]


def resolve(memory: Memory, reference: str, note: str = "") -> Thread:
    """Resolve a thread by its id, its number (#2) or part of its text."""
    record = _thread(memory, reference)
    if record.state == "active":
        record = retire(memory, record.id, note or "resolved")
    return _threads(memory, [find(memory, record.id)])[0]


def reopen(memory: Memory, reference: str) -> Thread:
    """Reopen a resolved thread."""
    record = restore(memory, _thread(memory, reference).id)
    return touch(memory, record.id)


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


def idle_days(thread: Thread, now: str) -> int:
    """Return the whole days since a thread was worked on."""
    return int(days_between(thread.touched_at, now))


def _open(memory: Memory) -> list[Entry]:
    return records.newest(memory.store, "thread", memory.store.project_number(memory.project), limit=MOST)


def _oldest_first(memory: Memory) -> list[Entry]:
    return sorted(_open(memory), key=lambda entry: entry.number)


def _same(memory: Memory, text: str) -> tuple[Entry, float] | None:
    """Return the open thread about the same piece of work, with its similarity."""
    return next(((match.entry, match.share) for match in similar_to(memory, text, _open(memory)) if match.same), None)


def _threads(memory: Memory, entries: list[Entry]) -> list[Thread]:
    touched = touches.of(memory.store, [entry.record.id for entry in entries])
    return [_life(memory, entry.record, touched.get(entry.record.id, Touched())) for entry in entries]


def _life(memory: Memory, record: Record, touched: Touched) -> Thread:
    now = memory.clock.now()
    stored_class = record.fields.get("thread_class")
    life = Life(
        created_at=record.created_at,
        touched_at=max(touched.last_at, record.created_at),
        touches=1 + touched.times,
        thread_class=stored_class if stored_class in ("operational", "backlog") else class_of(record.title),
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
    """Return the thread with an id, a number or part of its text."""
    wanted = reference.strip()
    if not wanted:
        raise Invalid("No thread was named.", hint="Use its id, its number (#2) or part of its text.")
    if wanted.startswith("#"):
        return _by_number(memory, wanted)
    if is_reference(memory, wanted):
        record = find(memory, wanted).record
        if record.kind != "thread":
            raise Invalid(f"{record.id} is a {record.kind}, not a thread.")
        return record
    return _by_text(memory, wanted)


def _by_number(memory: Memory, reference: str) -> Record:
    oldest_first = _oldest_first(memory)
    number = whole_number(reference[1:]) or 0
    if not 1 <= number <= len(oldest_first):
        raise NotFound(
            f"There is no thread {reference}; {len(oldest_first)} are open.", hint="List them: holdfast thread list"
        )
    return oldest_first[number - 1].record


def _by_text(memory: Memory, text: str) -> Record:
    entries = _open(memory)
    matches = [entry.record for entry in entries if text.lower() in entry.record.body.lower()]
    if not matches:
        matches = [match.entry.record for match in similar_to(memory, text, entries) if match.same]
    if not matches:
        raise NotFound(f"No open thread matches {shorten(text, 80)!r}.", hint="List them: holdfast thread list")
    if len(matches) > 1 and not any(record.body.lower() == text.lower() for record in matches):
        shown = "; ".join(
            f"{short(record.id)} {shorten(record.title, 60)}" for record in matches[:SHOWN_WITH_AMBIGUITY]
        )
        raise Ambiguous(f"{len(matches)} threads match: {shown}.", hint="Use the id.")
    return matches[0]
