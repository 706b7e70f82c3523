"""Create records from hook activity: observations of each turn, the session summary, and statements worth keeping."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.engine.search.similar import similar
from holdfast.model.event import Actor, Event
from holdfast.model.fold import fold
from holdfast.model.ids import fixed_id, parse_instant
from holdfast.model.record import Confidence, Draft, Record, Source
from holdfast.model.trail import Happening
from holdfast.policy.activity.observe import observations_of
from holdfast.policy.activity.recap import summary
from holdfast.policy.activity.work import Turn, turns
from holdfast.policy.admission.admit import Admitted, Pending, Waivers
from holdfast.policy.language.signals import Signal, signals, tier, worth
from holdfast.verbs.capture.observer import Observation, Observed, Off, observe
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Held, Written, draft_event, verdict_on

MOST_SIGNALS = 20  # per prompt or answer: a text with more is quoting


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Records created from activity: observations, saved signals, and pending ones."""

    observations: tuple[Record, ...] = ()
    kept: tuple[Record, ...] = ()
    held: tuple[Record, ...] = ()
    observer: Observation = field(default_factory=Off)


def derive(memory: Memory, activity: Sequence[Happening], *, since: str = "", include_open: bool = False) -> Derived:
    """Create records from finished turns. Idempotent: the same activity never creates a record twice.

    Looks only at turns with activity at or after the id `since`. Asks the observer model once, if one is configured, and
    falls back to the built-in rules. `include_open` treats unfinished turns as finished (for abandoned sessions).
    """
    done = [turn for turn in turns(activity) if turn.last >= since and (turn.done or include_open)]
    kept, pending = list[Record](), list[Record]()
    for turn in done:
        for outcome in _keep_signals(memory, turn):
            (kept if isinstance(outcome, Written) else pending).append(outcome.record)
    is_over = any(event.event in ("SessionEnd", "PreCompact") and event.id >= since for event in activity)
    asked = observe(memory, _unrecorded(memory, done), activity, with_summary=is_over)
    drafts = (
        asked.drafts if isinstance(asked, Observed) else [draft for turn in done for draft in observations_of(turn)]
    )
    observations = keep_drafts(memory, drafts, activity)
    return Derived(observations=tuple(observations), kept=tuple(kept), held=tuple(pending), observer=asked)


def keep_drafts(memory: Memory, drafts: Sequence[Draft], activity: Sequence[Happening]) -> list[Record]:
    """Store drafts that carry a trail key, each under an id of its own; existing records stay as they are."""
    by_id = {event.id: event for event in activity}
    events = [_event(memory, draft, by_id[str(draft.extra["trail"])], name=_nth(draft)) for draft in drafts]
    fresh = [event for event in events if memory.store.folded(event.about) is None]
    return [entry.record for entry in memory.commit(fresh)]


def summarise(memory: Memory, activity: Sequence[Happening], written: Draft | None = None) -> Record | None:
    """Store or update the summary of a session; `activity` is its whole trail.

    `written` is the observer's own summary; it stays until the session continues.
    """
    draft = written or summary(activity)
    return _keep_summary(memory, draft, activity[0]) if draft else None


def novelty(memory: Memory, draft: Draft) -> float:
    """Return how new a draft is: 1 if nothing is like it, 0 if the same text is stored or was retired."""
    preview = fold(None, draft_event(memory, draft))
    assert preview is not None
    known = [*similar(memory.store, preview), *similar(memory.store, preview, retired=True)]
    return 1.0 - max((share for _, share in known), default=0.0)


def _keep_summary(memory: Memory, draft: Draft, first: Happening) -> Record | None:
    """Store a session's summary or revise the existing one, unless a person retired or edited it."""
    event = _event(memory, draft, first)
    known = memory.store.folded(event.about)
    if known is None:
        return memory.commit([event])[0].record
    wanted = fold(None, event)
    assert wanted is not None
    same = (known.title, known.body, known.fields) == (wanted.title, wanted.body, wanted.fields)
    better = (
        "observer" in known.extra and "observer" not in draft.extra and known.extra.get("until") == draft.extra["until"]
    )
    if (
        same
        or better
        or known.state != "active"
        or any(stored.by.kind != "rule" for stored in memory.store.events_about(known.id))
    ):
        return known
    data = {"title": wanted.title, "body": wanted.body, "fields": dict(wanted.fields), "extra": dict(wanted.extra)}
    revised = memory.event("revised", known.id, data=data, after=known.head)
    return memory.commit([replace(revised, by=event.by)])[0].record


def _nth(draft: Draft) -> str:
    """Return a suffix that distinguishes several observations of one turn; the first has the id a rule's would have."""
    nth = str(draft.extra.get("nth", "1"))
    return nth if nth != "1" else ""


def _unrecorded(memory: Memory, done: Sequence[Turn]) -> list[Turn]:
    """Return the turns worth asking about: something was done in them and nothing is recorded yet."""
    return [
        turn
        for turn in done
        if turn.steps and memory.store.folded(_about("observation", turn.session, turn.id, turn.began)) is None
    ]


def _keep_signals(memory: Memory, turn: Turn) -> list[Written | Held]:
    """Store what a turn's prompt and answer mark as worth keeping, as active or pending records."""
    texts = (turn.prompt, turn.answer)
    return [
        outcome
        for text in texts
        for signal in signals(text)[:MOST_SIGNALS]
        if (outcome := _keep_signal(memory, turn, signal))
    ]


def _keep_signal(memory: Memory, turn: Turn, signal: Signal) -> Written | Held | None:
    """Store a signal, make it pending, or skip it; one that was stored before is left as it is now."""
    draft = _draft(turn, signal)
    if memory.store.folded(_about(draft.kind, turn.session, f"{turn.id} {draft.body}", turn.began)) is not None:
        return None
    new = novelty(memory, draft)
    draft = replace(draft, confidence=_confidence(worth(signal.confidence, new)))
    match tier(signal, new):
        case "auto":
            return _admit_draft(memory, turn, draft)
        case "suggest":
            return _make_pending(memory, turn, draft, "it sounds worth keeping")
    return None


def _admit_draft(memory: Memory, turn: Turn, draft: Draft) -> Written | Held | None:
    match verdict_on(memory, draft, waivers=Waivers(scope=True)):
        case Admitted(related=related):
            event = _event(memory, draft, turn.events[0], name=draft.body)
            return Written(record=memory.commit([event])[0].record, related=related)
        case Pending(why=why):
            return _make_pending(memory, turn, draft, why)
    return None  # a duplicate, removed before, or transient


def _make_pending(memory: Memory, turn: Turn, draft: Draft, why: str) -> Held:
    # Pending since now, however late the activity is read.
    event = _event(memory, replace(draft, at=""), turn.events[0], name=draft.body, pending=True)
    return Held(record=memory.commit([event])[0].record, why=why)


def _draft(turn: Turn, signal: Signal) -> Draft:
    """Return the draft of a signal: marked text is explicit, a preference recognized by wording is only inferred."""
    is_marked = signal.how != "wording"
    source: Source = "explicit" if is_marked else "inferred" if signal.record_kind == "preference" else "observed"
    extra = {"signal": signal.kind, "how": signal.how, "session": turn.session, "trail": turn.id, "agent": turn.agent}
    return Draft(
        kind=signal.record_kind,
        body=signal.text,
        source=source,
        extra={name: value for name, value in extra.items() if value},
        at=turn.ended,
    )


def _confidence(share: float) -> Confidence:
    return "high" if share >= 0.9 else "medium" if share >= 0.7 else "low"


def _event(memory: Memory, draft: Draft, first: Happening, *, name: str = "", pending: bool = False) -> Event:
    """Return the event that stores a draft, made by a rule, with an id derived from its source."""
    about = _about(draft.kind, first.session, f"{draft.extra['trail']} {name}".rstrip(), first.at)
    event = draft_event(memory, draft, pending=pending)
    by = Actor(kind="rule", name=first.client or "hook", session=first.session)
    # Without the checkout's current commit: it may have moved on since the activity.
    data = {name: value for name, value in event.data.items() if name != "origin"}
    return replace(event, id=about, about=about, by=by, data=data)


def _about(kind: str, session: str, key: str, at: str) -> str:
    seconds = datetime.fromisoformat(parse_instant(at)).timestamp()
    return fixed_id(seconds, f"{kind} {session} {key}")
