"""What sessions were told unasked: why, at what cost, and what became of it, said by them or seen by a rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.engine.views import records, usage
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.record import Record
from holdfast.model.trail import Happening
from holdfast.policy.secrets.find import texts_of
from holdfast.policy.sessions.outcomes import distinctive, outcome_of
from holdfast.verbs.memory import Memory

COMMON = 0.05  # a word in more of the project's records than this is nobody's own
MOST_TOLD = 500  # times one session
FEW = 20  # records of which no word can be called common


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was put into a session's context unasked: which records, why, at what cost, and what became of them."""

    session: str
    at: str
    why: str
    tokens: int
    ids: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()


def receipts(memory: Memory, *, days: float = 7, limit: int = 50) -> list[Receipt]:
    """Give what sessions were told unasked lately, latest first, and what became of it."""
    since = days_before(memory.clock.now(), days)
    return [_receipt(memory, event) for event in memory.store.happened(("injected",), since, limit)]


def told_unasked(memory: Memory, session: str) -> list[Receipt]:
    """Give what one session was told unasked, in order, and what became of it."""
    return [_receipt(memory, event) for event in memory.store.in_session(session, "injected", MOST_TOLD)]


def became_of(memory: Memory, told: Sequence[Event], since: str) -> dict[str, int]:
    """Tell how often which outcome followed what these events put into contexts."""
    pairs = {(event.about, record_id) for event in told for record_id in _ids(event)}
    uses = usage.all_since(memory.store.db, since)
    return dict(Counter(use.outcome for use in uses if (use.session, use.id) in pairs).most_common())


def note_outcomes(memory: Memory, happenings: Sequence[Happening], *, ended: bool) -> int:
    """Note what a session's replies and edits show of what it was told; give how many.

    A rule's word is kept apart from what anybody said. What came back is noted as soon as it is seen, that nothing did only
    when the session is over; each is noted once, however often the trail is read.
    """
    known = {use.id for use in usage.in_session(memory.store.db, happenings[0].session)}
    first = dict(_told(happenings))
    found = records.by_ids(memory.store.db, [one for one in first if one not in known])
    events = [
        _event(memory, entry.record, first[entry.record.id], outcome)
        for entry in found.values()
        if (outcome := _outcome(memory, entry.record, first[entry.record.id], happenings, ended=ended))
    ]
    if events:
        memory.commit(events)
    return len(events)


def _receipt(memory: Memory, event: Event) -> Receipt:
    ids = _ids(event)
    uses = [use for use in usage.in_session(memory.store.db, event.about) if use.id in ids]
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
    given = event.data.get("ids")
    return tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()


def _told(happenings: Sequence[Happening]) -> Iterator[tuple[str, Happening]]:
    """Give each record a session was told, with when it first was; latest first, so that the first one stays."""
    for one in reversed(happenings):
        ids = one.given.get("ids") if one.event == "Injected" else None
        yield from (
            (record_id, one) for record_id in (ids if isinstance(ids, list) else ()) if isinstance(record_id, str)
        )


def _outcome(
    memory: Memory, record: Record, told: Happening, happenings: Sequence[Happening], *, ended: bool
) -> str | None:
    after = [one for one in happenings if one.id > told.id]
    said = [text for one in after for text in _said(one)]
    asked = [one.text for one in happenings if one.event == "UserPromptSubmit"]
    asked += [
        text for one in happenings if one.event == "PreToolUse" and one.id < told.id for text in texts_of(one.given)
    ]
    words = distinctive(record, common=lambda word: _is_common(memory, word))
    seen = outcome_of(words, record.id, said, asked)
    return seen or ("ignored" if ended and any(one.event == "Stop" for one in after) else None)


def _said(one: Happening) -> Iterator[str]:
    """Give what the agent itself said or did: replies, and what it gave to tools; never what they answered."""
    if one.event in ("Stop", "SubagentStop"):
        yield one.text
    elif one.event == "PostToolUse":
        yield from texts_of(one.given)


def _is_common(memory: Memory, word: str) -> bool:
    here = memory.store.project_number(memory.project)
    size = memory.store.size((here,))
    return size >= FEW and memory.frequencies.of([word], (records.span(here),), size)[word] > COMMON * size


def _event(memory: Memory, record: Record, told: Happening, outcome: str) -> Event:
    at = parse_instant(told.at)
    seconds = datetime.fromisoformat(at).timestamp()
    by = Actor(kind="rule", name="outcomes", session=told.session)
    name = f"used {told.session} {record.id}"
    return Event(
        id=fixed_id(seconds, name),
        about=record.id,
        verb="used",
        at=memory.clock.now(),
        by=by,
        data={"outcome": outcome},
    )
