"""Create records from hook activity: observations of each turn, the session summary, and statements worth keeping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast.engine.search.similar import similar
from holdfast.model.record import Draft, Record
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.observe import observations_of
from holdfast.policy.activity.session_summary import summary
from holdfast.policy.activity.turns import Turn, turns
from holdfast.policy.language.overlap import overlap
from holdfast.verbs.capture.claims import Known, derived_event, derived_id, keep_claims, keep_statements, settle
from holdfast.verbs.capture.observer import Observation, Observed, Off, observe
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import preview, record_of

SAME_TEXT, SAME_TITLE = 0.6, 0.8  # shares of words from which two observations report the same routine
MOST_COUNTED = 50  # occurrences of a routine that are named; all are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Records created from activity: observations, saved signals, and pending ones."""

    observations: tuple[Record, ...] = ()
    kept: tuple[Record, ...] = ()
    held: tuple[Record, ...] = ()
    observer: Observation = field(default_factory=Off)


def derive(memory: Memory, activity: Sequence[HookEvent], *, since: str = "", include_open: bool = False) -> Derived:
    """Create records from finished turns. Idempotent: the same activity never creates a record twice.

    Looks only at turns with activity at or after the id `since`. Asks the observer model once, if one is configured, and
    falls back to the built-in rules. `include_open` treats unfinished turns as finished (for abandoned sessions).
    """
    kept, pending = list[Record](), list[Record]()
    all_turns = turns(activity, memory.reader)
    done = [turn for turn in all_turns if turn.last >= since and (turn.done or include_open)]
    for outcome in _claims(memory, all_turns, done, since):
        (pending if outcome.state == "pending" else kept).append(outcome)
    is_over = any(event.event in ("SessionEnd", "PreCompact") and event.id >= since for event in activity)
    unrecorded = [
        turn
        for turn in done
        if turn.steps and memory.store.folded(derived_id("observation", turn.session, turn.id, turn.began)) is None
    ]
    asked = observe(memory, unrecorded, activity, with_summary=is_over)
    by_rules = (draft for turn in done for draft in observations_of(turn))
    observations = keep_drafts(memory, asked.drafts if isinstance(asked, Observed) else [*by_rules], activity)
    return Derived(observations=tuple(observations), kept=tuple(kept), held=tuple(pending), observer=asked)


def keep_drafts(memory: Memory, drafts: Sequence[Draft], activity: Sequence[HookEvent]) -> list[Record]:
    """Store drafts that carry a trail key, each under an id of its own; existing records stay as they are.

    An observation that repeats an earlier one is counted there instead.
    """
    by_id, kept = {event.id: event for event in activity}, list[Record]()
    for draft in drafts:
        nth = str(draft.extra.get("nth", "1"))  # of several in a turn; the first has the id that a rule's would have
        event = derived_event(memory, draft, by_id[str(draft.extra["trail"])], name="" if nth == "1" else nth)
        if memory.store.folded(event.about) is not None:
            continue
        if (earlier := _repeated(memory, draft)) is None:
            kept.append(memory.commit([event])[0].record)
        elif event.about not in (also := earlier.extra.get("also") or []):
            count = int(earlier.extra.get("count", 1)) + 1
            extra = {**earlier.extra, "count": count, "also": [*also, event.about][-MOST_COUNTED:]}
            counted = memory.event("revised", earlier.id, data={"extra": extra}, after=earlier.head, by=event.by)
            kept.append(memory.commit([counted])[0].record)
    return kept


def summarise(memory: Memory, activity: Sequence[HookEvent], written: Draft | None = None) -> Record | None:
    """Store or update the summary of a session, unless a person retired or edited it; `activity` is its whole trail.

    `written` is the observer's own summary; it stays until the session continues.
    """
    by_rule = summary(activity, memory.reader)
    draft = written or by_rule
    if draft is None:
        return None
    if written and by_rule:  # rules read the user's own words, the branch and the state more reliably
        own = {name: by_rule.fields[name] for name in ("constraints", "state") if name in by_rule.fields}
        draft = replace(written, fields={**own, **written.fields}, extra={**by_rule.extra, **written.extra})
    if worktree := memory.checkout.origin().worktree:
        draft = replace(draft, extra={**draft.extra, "worktree": worktree})
    first = activity[0]
    event = derived_event(memory, draft, first)
    known, wanted = memory.store.folded(event.about), record_of(event)
    if known is None:
        # It takes the place of one that an earlier session of the same routine left.
        earlier = _repeated(memory, draft)
        if earlier is None or earlier.extra.get("session") == first.session:
            return memory.commit([event])[0].record
        again = replace(draft, extra={**draft.extra, "count": int(earlier.extra.get("count", 1)) + 1})
        event = derived_event(memory, again, first)
        why = {"reason": f"repeated by a later session ({event.about})"}
        gone = memory.event("retired", earlier.id, data=why, after=earlier.head, by=event.by)
        return memory.commit([event, gone])[0].record
    same = all(getattr(known, name) == getattr(wanted, name) for name in ("title", "body", "fields")) and all(
        known.extra.get(name) == wanted.extra.get(name) for name in ("branch", "worktree", "interrupted")
    )
    by_observer = "observer" in known.extra and "observer" not in draft.extra
    better = by_observer and known.extra.get("until") == draft.extra["until"]
    edited = any(stored.by.kind != "rule" for stored in memory.store.events_about(known.id))
    if same or better or edited or known.state != "active":
        return known
    data = {"title": wanted.title, "body": wanted.body, "fields": dict(wanted.fields), "extra": dict(wanted.extra)}
    return memory.commit([memory.event("revised", known.id, data=data, after=known.head, by=event.by)])[0].record


def _claims(memory: Memory, every: Sequence[Turn], done: Sequence[Turn], since: str) -> Iterator[Record]:
    """Yield what was stored or approved: each prompt judges the answer before it, then the turn's own statements are read.

    A prompt is read at once, an answer when its turn is finished or its context is compacted.
    """
    finished = {turn.id for turn in (*done, *(turn for turn in every if turn.compacted and turn.last >= since))}
    before: Turn | None = None
    for turn in (turn for turn in every if turn.agent or turn.prompt or turn.said):
        retired, known = list[Record](), Known(memory, turn.session)
        if before and turn.prompt and not turn.agent and turn.last >= since:
            approved, retired = settle(memory, before, turn)
            yield from approved
        if turn.prompt and turn.last >= since:
            outcomes = keep_statements(memory, turn, known, retired)
            yield from (outcome.record for outcome in outcomes)
        if turn.id in finished:
            yield from (outcome.record for outcome in keep_claims(memory, turn, known))
        before = before if turn.agent else turn


def _repeated(memory: Memory, draft: Draft) -> Record | None:
    """Return an earlier record that reports the same routine: same kind and type, nearly the same title and text."""
    if draft.extra.get("commit"):
        return None  # every commit is a thing of its own
    for other, share in similar(memory.store, preview(memory, draft)):
        same = other.kind == draft.kind and all(
            other.fields.get(name) == draft.fields.get(name) for name in ("type", "files_modified")
        )
        if same and share >= SAME_TEXT and overlap(other.title, draft.title) >= SAME_TITLE:
            return other
    return None
