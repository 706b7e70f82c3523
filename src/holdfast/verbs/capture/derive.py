"""Make records of what hooks told: observations of each turn, the session's summary, and what was said to be kept."""

from collections.abc import Mapping, Sequence
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

MOST_SIGNALS = 20  # of one turn: who says more than that to be kept is quoting


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What became of happenings: new observations, what was kept, and what waits for a yes."""

    observations: tuple[Record, ...] = ()
    kept: tuple[Record, ...] = ()
    held: tuple[Record, ...] = ()
    observer: Observation = field(default_factory=Off)


def derive(memory: Memory, happenings: Sequence[Happening], *, since: str = "", everything: bool = False) -> Derived:
    """Keep what finished turns come to. The same happenings may come again: nothing is kept twice.

    Only turns that something new belongs to are looked at: happenings from the id `since` on. An observer is asked once
    if there is one; where it does not answer, rules tell what happened. With `everything` a turn that still goes on
    counts as finished: for sessions that will not go on.
    """
    done = [turn for turn in turns(happenings) if turn.last >= since and (turn.done or everything)]
    kept, held = list[Record](), list[Record]()
    for turn in done:
        for outcome in _signalled(memory, turn):
            (kept if isinstance(outcome, Written) else held).append(outcome.record)
    asked = observe(memory, _untold(memory, done), happenings, with_summary=_is_over(happenings, since))
    drafts = (
        asked.drafts if isinstance(asked, Observed) else [draft for turn in done for draft in observations_of(turn)]
    )
    found = keep_drafts(memory, drafts, happenings)
    return Derived(observations=tuple(found), kept=tuple(kept), held=tuple(held), observer=asked)


def keep_drafts(memory: Memory, drafts: Sequence[Draft], happenings: Sequence[Happening]) -> list[Record]:
    """Keep drafts that carry a key of the trail, each under an id of its own; those that are there already stay."""
    told = {one.id: one for one in happenings}
    events = [_event(memory, draft, told[str(draft.extra["trail"])], name=_nth(draft)) for draft in drafts]
    fresh = [event for event in events if memory.store.folded(event.about) is None]
    return [entry.record for entry in memory.commit(fresh)]


def summarise(memory: Memory, happenings: Sequence[Happening], told: Draft | None = None) -> Record | None:
    """Keep the summary of a session whose whole trail is given, or bring the one that is there up to date.

    `told` is what an observer wrote about it; it stands until the session goes on.
    """
    draft = told or summary(happenings)
    return _keep_summary(memory, draft, happenings[0]) if draft else None


def novelty(memory: Memory, draft: Draft) -> float:
    """Tell how new a draft is: 1 if nothing is like it, 0 if it is kept word for word, or was and is retired."""
    preview = fold(None, draft_event(memory, draft))
    assert preview is not None
    known = [*similar(memory.store, preview), *similar(memory.store, preview, retired=True)]
    return 1.0 - max((share for _, share in known), default=0.0)


def _keep_summary(memory: Memory, draft: Draft, first: Happening) -> Record | None:
    """Keep a session's summary; one that is there is revised, unless somebody retired it or put it in their own words."""
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
        or any(one.by.kind != "rule" for one in memory.store.events_about(known.id))
    ):
        return known
    data = {"title": wanted.title, "body": wanted.body, "fields": dict(wanted.fields), "extra": dict(wanted.extra)}
    revised = memory.event("revised", known.id, data=data, after=known.head)
    return memory.commit([replace(revised, by=event.by)])[0].record


def _nth(draft: Draft) -> str:
    """Tell apart what an observer saw in the same turn; the first takes the place of what a rule would have told."""
    nth = str(draft.extra.get("nth", "1"))
    return nth if nth != "1" else ""


def _untold(memory: Memory, done: Sequence[Turn]) -> list[Turn]:
    """Give the turns worth asking about: something was done in them, and nothing is kept of them yet."""
    return [
        turn
        for turn in done
        if turn.steps and memory.store.folded(_about("observation", turn.session, turn.id, turn.began)) is None
    ]


def _is_over(happenings: Sequence[Happening], since: str) -> bool:
    return any(one.event in ("SessionEnd", "PreCompact") and one.id >= since for one in happenings)


def _signalled(memory: Memory, turn: Turn) -> list[Written | Held]:
    """Keep what a turn's prompt and answer say is to be kept, or hold it for a yes."""
    heard = [signal for said in (turn.prompt, turn.said) for signal in signals(said)[:MOST_SIGNALS]]
    return [outcome for signal in heard if (outcome := _keep_signal(memory, turn, signal))]


def _keep_signal(memory: Memory, turn: Turn, signal: Signal) -> Written | Held | None:
    """Keep a signal, hold it, or leave it; one that was kept before stays whatever became of it since."""
    draft = _draft(turn, signal)
    if memory.store.folded(_about(draft.kind, turn.session, f"{turn.id} {draft.body}", turn.began)) is not None:
        return None
    new = novelty(memory, draft)
    draft = replace(draft, confidence=_confidence(worth(signal.confidence, new)))
    match tier(signal, new):
        case "auto":
            return _judged(memory, turn, draft)
        case "suggest":
            return _hold(memory, turn, draft, "it sounds worth keeping")
    return None


def _judged(memory: Memory, turn: Turn, draft: Draft) -> Written | Held | None:
    match verdict_on(memory, draft, waivers=Waivers(scope=True)):
        case Admitted(related=related):
            event = _event(memory, draft, turn.told[0], name=draft.body)
            return Written(record=memory.commit([event])[0].record, related=related)
        case Pending(why=why):
            return _hold(memory, turn, draft, why)
    return None  # known, removed before, or soon untrue


def _hold(memory: Memory, turn: Turn, draft: Draft, why: str) -> Held:
    # It waits from now on, however late the trail is read.
    event = _event(memory, replace(draft, at=""), turn.told[0], name=draft.body, pending=True)
    return Held(record=memory.commit([event])[0].record, why=why)


def _draft(turn: Turn, signal: Signal) -> Draft:
    """Give the draft of a signal: what was marked is explicit, a wish told by its wording is only inferred."""
    marked = signal.how != "wording"
    source: Source = "explicit" if marked else "inferred" if signal.record_kind == "preference" else "observed"
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
    """Give the event that keeps a draft, by the rule that made it, with an id that follows from where it came from."""
    about = _about(draft.kind, first.session, f"{draft.extra['trail']} {name}".rstrip(), first.at)
    event = draft_event(memory, draft, pending=pending)
    by = Actor(kind="rule", name=first.client or "hook", session=first.session)
    return replace(event, id=about, about=about, by=by, data=_unmoved(event.data))


def _about(kind: str, session: str, key: str, at: str) -> str:
    seconds = datetime.fromisoformat(parse_instant(at)).timestamp()
    return fixed_id(seconds, f"{kind} {session} {key}")


def _unmoved(data: Mapping[str, object]) -> dict[str, object]:
    """Leave out where the checkout stands now: by the time the trail is read it may have moved on."""
    return {name: value for name, value in data.items() if name != "origin"}
