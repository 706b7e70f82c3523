"""What was injected into sessions automatically: why, its cost, and the outcome, declared or observed by a rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.engine.views import records, usage
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.record import Record
from holdfast.model.trail import HookEvent
from holdfast.policy.secrets.find import texts_of
from holdfast.policy.sessions.outcomes import distinctive, outcome_of
from holdfast.verbs.memory import Memory

COMMON = 0.05  # a word in a larger share of the project's records is not distinctive
MOST_INJECTIONS = 500  # injections into one session
FEW = 20  # with fewer records no word counts as common


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One automatic injection into a session: its records, reason, cost and outcomes."""

    session: str
    at: str
    why: str
    tokens: int
    ids: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()


def receipts(memory: Memory, *, days: float = 7, limit: int = 50) -> list[Receipt]:
    """Return recent injections, latest first, with their outcomes."""
    since = days_before(memory.clock.now(), days)
    return [_receipt(memory, event) for event in memory.store.happened(("injected",), since, limit)]


def injections_into(memory: Memory, session: str) -> list[Receipt]:
    """Return the injections into one session, in order, with their outcomes."""
    return [_receipt(memory, event) for event in memory.store.in_session(session, "injected", MOST_INJECTIONS)]


def outcomes_of(memory: Memory, injections: Sequence[Event], since: str) -> dict[str, int]:
    """Count the outcomes of the records that these events injected."""
    pairs = {(event.about, record_id) for event in injections for record_id in _ids(event)}
    uses = usage.all_since(memory.store, since)
    return dict(Counter(use.outcome for use in uses if (use.session, use.id) in pairs).most_common())


def note_outcomes(memory: Memory, activity: Sequence[HookEvent], *, ended: bool) -> int:
    """Record what a session's replies and edits show about injected records; return how many.

    Outcomes observed by a rule are kept apart from declared ones. A use is recorded as soon as it is seen, an unused record
    only when the session is over; each is recorded once, however often the activity is read.
    """
    known = {use.id for use in usage.in_session(memory.store, activity[0].session)}
    first = dict(_injections(activity))
    entries = records.by_ids(memory.store, [record_id for record_id in first if record_id not in known])
    events = [
        _event(memory, entry.record, first[entry.record.id], outcome)
        for entry in entries.values()
        if (outcome := _outcome(memory, entry.record, first[entry.record.id], activity, ended=ended))
    ]
    if events:
        memory.commit(events)
    return len(events)


def _receipt(memory: Memory, event: Event) -> Receipt:
    ids = _ids(event)
    uses = [use for use in usage.in_session(memory.store, event.about) if use.id in ids]
    return Receipt(
        session=event.about,
        at=event.at,
        why=str(event.data.get("why", "")),
        tokens=int(event.data.get("tokens", 0)),
        ids=ids,
        outcomes=tuple(use.outcome for use in uses if not use.observed),
        observed=tuple(use.outcome for use in uses if use.observed),
    )


def _ids(event: Event) -> tuple[str, ...]:
    ids = event.data.get("ids")
    return tuple(record_id for record_id in ids if isinstance(record_id, str)) if isinstance(ids, list) else ()


def _injections(activity: Sequence[HookEvent]) -> Iterator[tuple[str, HookEvent]]:
    """Yield each injected record with its injection; latest first, so that a dict keeps the first one."""
    for event in reversed(activity):
        ids = event.given.get("ids") if event.event == "Injected" else None
        yield from (
            (record_id, event) for record_id in (ids if isinstance(ids, list) else ()) if isinstance(record_id, str)
        )


def _outcome(
    memory: Memory, record: Record, injection: HookEvent, activity: Sequence[HookEvent], *, ended: bool
) -> str | None:
    after = [event for event in activity if event.id > injection.id]
    later_texts = [text for event in after for text in _agent_texts(event)]
    earlier_texts = [event.text for event in activity if event.event == "UserPromptSubmit"]
    earlier_texts += [
        text
        for event in activity
        if event.event == "PreToolUse" and event.id < injection.id
        for text in texts_of(event.given)
    ]
    words = distinctive(record, common=lambda word: _is_common(memory, word))
    observed = outcome_of(words, record.id, later_texts, earlier_texts)
    return observed or ("ignored" if ended and any(event.event == "Stop" for event in after) else None)


def _agent_texts(event: HookEvent) -> Iterator[str]:
    """Yield what the agent itself wrote or did: replies and tool arguments, never tool results."""
    if event.event in ("Stop", "SubagentStop"):
        yield event.text
    elif event.event == "PostToolUse":
        yield from texts_of(event.given)


def _is_common(memory: Memory, word: str) -> bool:
    project = memory.store.project_number(memory.project)
    size = memory.store.size((project,))
    return size >= FEW and memory.frequencies.of([word], (records.span(project),), size)[word] > COMMON * size


def _event(memory: Memory, record: Record, injection: HookEvent, outcome: str) -> Event:
    at = parse_instant(injection.at)
    seconds = datetime.fromisoformat(at).timestamp()
    by = Actor(kind="rule", name="outcomes", session=injection.session)
    name = f"used {injection.session} {record.id}"
    return Event(
        id=fixed_id(seconds, name),
        about=record.id,
        verb="used",
        at=memory.clock.now(),
        by=by,
        data={"outcome": outcome},
    )
