"""Create records from hook activity: observations of each turn, the session summary, and statements worth keeping."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from holdfast.engine.raw import counters
from holdfast.engine.search.lexical import similar
from holdfast.engine.views import records, usage
from holdfast.model.errors import InvalidConfig
from holdfast.model.event import Actor, Event
from holdfast.model.files import read_regular
from holdfast.model.ids import fixed_id, instant
from holdfast.model.ports import Answered, Declined, Observing, RateLimited, Rejected, TimedOut, Unreachable
from holdfast.model.record import Draft, Link, Record, Source
from holdfast.model.session import HookEvent
from holdfast.model.text import shorten
from holdfast.policy.activity import observe, observer_reply
from holdfast.policy.activity.observer_reply import Malformed
from holdfast.policy.activity.session_summary import handover, summary
from holdfast.policy.activity.turns import Turn, turns
from holdfast.policy.admission.admit import Admitted, Pending, Waivers
from holdfast.policy.language.noteworthy import NOVEL, Signal, marked, tier, worth
from holdfast.policy.language.overlap import overlap, words
from holdfast.policy.language.user_statements import Said, stated
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records import write
from holdfast.verbs.records.conflicts import claim_of, is_comparable
from holdfast.verbs.truth.contradictions import against

SAME_TEXT, SAME_TITLE = 0.6, 0.8  # shares of words from which two observations report the same routine
MOST_COUNTED = 50  # occurrences of a routine that are named; all are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The observer answered: its drafts, and the tokens they cost."""

    drafts: tuple[Draft, ...] = ()
    summary: Draft | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    """The observer is off, is not asked again soon after it failed, or its question could exceed what is left of today's budget."""

    why: Literal["off", "waiting", "over budget"] = "off"


Observation = Observed | NotAsked | Malformed | RateLimited | TimedOut | Declined | Rejected | Unreachable


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Records created from activity: observations, saved signals, and pending ones."""

    observations: tuple[Record, ...] = ()
    kept: tuple[Record, ...] = ()
    held: tuple[Record, ...] = ()
    observer: Observation = field(default_factory=NotAsked)


def derive(memory: Memory, activity: Sequence[HookEvent], *, since: str = "", include_open: bool = False) -> Derived:
    """Create records from finished turns. Idempotent: the same activity never creates a record twice.

    Looks only at turns with activity at or after the id `since`. Asks the observer model once, if one is configured, and
    falls back to the built-in rules. `include_open` treats unfinished turns as finished (for abandoned sessions).
    """
    every = turns(activity, memory.reader)
    done = [turn for turn in every if turn.last >= since and (turn.done or include_open)]
    said = list(_claims(memory, every, done, since))
    is_over = any(event.event in ("SessionEnd", "PreCompact") and event.id >= since for event in activity)
    keys = {turn.id: derived_id("observation", turn.session, turn.id, turn.began) for turn in done if turn.steps}
    unrecorded = [turn for turn in done if turn.id in keys and memory.store.folded(keys[turn.id]) is None]
    asked = ask(memory, unrecorded, activity, with_summary=is_over)
    by_rules = (draft for turn in done for draft in observe.observations_of(turn))
    drafts = asked.drafts if isinstance(asked, Observed) else by_rules
    # Each under an id of its own; existing records stay as they are.
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
    held, saved = (tuple(one for one in said if (one.state == "pending") == waits) for waits in (True, False))
    return Derived(observations=tuple(kept), kept=saved, held=held, observer=asked)


def summarise(memory: Memory, activity: Sequence[HookEvent], written: Draft | None = None) -> Record | None:
    """Store or update a session's summary, or the observer's (`written`), unless a person retired or edited it."""
    first = activity[0]
    about = derived_id("summary", first.session, f"summary {first.session}", first.at)
    known = memory.store.folded(about)
    by_rule = summary(activity, memory.reader, begun=known is not None)
    draft = written or by_rule
    if draft is None:
        return None
    if written and by_rule:  # rules read the user's own words, the branch and the state more reliably
        own = {name: by_rule.fields[name] for name in ("constraints", "state") if name in by_rule.fields}
        draft = replace(written, fields={**own, **written.fields}, extra={**by_rule.extra, **written.extra})
    if worktree := memory.checkout.origin().worktree:
        draft = replace(draft, extra={**draft.extra, "worktree": worktree})
    event = derived_event(memory, draft, first)
    wanted = write.record_of(event)
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
    """Yield what was stored or approved: each prompt judges the answer before it, then its own statements are read."""
    finished = {turn.id for turn in (*done, *(turn for turn in every if turn.compacted and turn.last >= since))}
    before: Turn | None = None
    for turn in (turn for turn in every if turn.agent or turn.prompt or turn.said):
        retired, known = list[Record](), Known(memory, turn.session)
        if turn.prompt and turn.last >= since:
            if before and not turn.agent:
                approved, retired = settle(memory, before, turn)
                yield from approved
            yield from keep_statements(memory, turn, known, retired)
        if turn.id in finished:
            yield from keep_claims(memory, turn, Known(memory, turn.session))
        before = before if turn.agent else turn


def _repeated(memory: Memory, draft: Draft) -> Record | None:
    """Return an earlier record that reports the same routine: same kind and type, nearly the same title and text."""
    if draft.extra.get("commit"):
        return None  # every commit is a thing of its own
    for other, share in similar(memory.store, write.preview(memory, draft)):
        same = [one.fields.get(name) for one in (draft, other) for name in ("type", "files_modified")]
        is_alike = other.kind == draft.kind and same[:2] == same[2:] and share >= SAME_TEXT
        if is_alike and overlap(other.title, draft.title) >= SAME_TITLE:
            return other
    return None


INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
MOST_INSTRUCTIONS = 100_000  # bytes of a file with instructions that are compared
MOST_STATEMENTS = 20  # of one prompt: a text with more is quoting
# Chance of a conflict from which a statement supersedes a memory: with no word in common, with one, and as a correction.
CERTAIN, CONFLICT, CORRECTED = 0.9, 0.8, 0.4
SAME = 0.7  # chance, in either order, from which a statement only repeats a memory; that gets a receipt
RESTATED = "restated"  # outcome of such a receipt, a `used` event; it counts as no use
UNPROVEN = "an agent's conclusion: it needs a passing check, a commit, or a user who agrees"
LIKELY = "it sounds worth keeping"
PASTED = "it stands beside pasted text: was it you who said it?"
OBJECTED, WITHDRAWN = "the user objected: {why}", "the agent took it back"


@dataclass
class Known:
    """What a session was given: an agent that repeats it reports no news."""

    memory: Memory
    session: str

    @cached_property
    def made(self) -> list[Record]:
        """Active records of what the user stated in the session, in order."""
        made = (entry.record for entry in records.of_session(self.memory.store, self.session))
        return [record for record in made if record.state == "active" and record.by.kind == "user"]

    @cached_property
    def shown(self) -> list[Record]:
        """Active records that were returned to the session, injected into it or made in it, in order."""
        shown = self.memory.known(impression.id for impression in usage.shown(self.memory.store, self.session))
        known = {record.id: record for record in (*shown.values(), *self.made)}
        return [record for record in known.values() if record.state == "active"]

    @cached_property
    def instructions(self) -> list[str]:
        """The lines of the project's files with instructions for agents."""
        lines = list[str]()
        for file in (self.memory.checkout.top() / name for name in INSTRUCTIONS):
            with suppress(OSError):  # there is none, or it is larger than what anyone instructs
                lines += read_regular(file, MOST_INSTRUCTIONS).decode(errors="replace").splitlines()
        return [line for line in lines if line.strip()]

    def is_instruction(self, text: str) -> bool:
        """True if a file with instructions says this already."""
        return any(observe.is_echo(text, line) for line in self.instructions)

    def is_echo(self, text: str) -> bool:
        """True if a text repeats what the session was given."""
        same = (self.memory.reader.relation(claim_of(record), text).get("same", 0.0) for record in self.made)
        is_known = self.is_instruction(text) or any(observe.is_echo(text, record.text) for record in self.shown)
        return is_known or any(share >= SAME for share in same)


def keep_statements(memory: Memory, turn: Turn, known: Known, replaced: Sequence[Record] = ()) -> list[Record]:
    """Store what the user states in a prompt; a correction in it supersedes those it objects to (`replaced`)."""
    if turn.agent:
        return []  # a prompt of a sub-agent is written by an agent
    # What came of this turn or a later one, if they were read before, is not what it speaks of.
    earlier = [record for record in known.shown if str(record.extra.get("trail", "")) < turn.id]
    kept, corrected = list[Record | None](), {one.id: str(one.extra.get("corrected", "")) for one in known.made}
    shown = {claim_of(record): corrected.get(record.id) for record in earlier}
    found = stated(turn.prompt, turn.previous, turn.reader, certain=turn.certain, shown=shown)
    statements = found[:MOST_STATEMENTS]
    signals = marked(turn.prompt)[:MOST_STATEMENTS]
    for signal in signals:
        doubtful = not turn.certain[slice(*signal.span)].strip()
        kept.append(_keep_signal(memory, turn, signal, by_user=True, doubtful=doubtful))
    for said in statements:
        is_marked = any(said.span[0] < signal.span[1] and signal.span[0] < said.span[1] for signal in signals)
        if not is_marked and not known.is_instruction(said.text):
            kept.append(_keep_statement(memory, turn, said, known, replaced))
    return [record for record in kept if record]


def keep_claims(memory: Memory, turn: Turn, known: Known) -> list[Record]:
    """Store what the agent marked in a turn; what only its wording marks is pending unless a check or a commit proves it."""
    claims = [claim for claim in observe.claims_of(turn) if not known.is_echo(claim.text)]
    proven = bool(claims) and observe.is_proven(turn)
    kept = [_keep_signal(memory, turn, claim, guessed=claim.how == "wording" and not proven) for claim in claims]
    return [record for record in kept if record]


def settle(memory: Memory, turn: Turn, after: Turn) -> tuple[list[Record], list[Record]]:
    """Approve or retire what a turn claimed, by the next prompt or the agent taking it back; return both lists."""
    approved, retired = list[Record](), list[Record]()
    objects = after.objects == "no"
    why = OBJECTED.format(why=shorten(" ".join(after.prompt.split()), 200)) if objects else WITHDRAWN
    keys = [(signal.record_kind, f"{turn.id} {signal.text}") for signal in observe.claims_of(turn)]
    for kind, key in (*keys, ("observation", turn.id)):
        record = memory.store.folded(derived_id(kind, turn.session, key, turn.began))
        # Of observations only a finding that no change of the turn backs.
        if record is None or (kind == "observation" and record.fields.get("type") not in ("discovery", "decision")):
            continue
        standing = observe.standing_of(record.text, turn, after, "" if "how" in record.extra else record.title)
        if standing == "refuted" and record.state in ("pending", "active"):
            by = replace(memory.actor, kind="user" if objects else "rule", session=after.session)
            event = memory.event("retired", record.id, data={"reason": why}, after=record.head, by=by)
            retired.append(memory.commit([event])[0].record)
        elif standing == "confirmed" and record.state == "pending":
            outcome = write.confirm(memory, record.id)
            approved += [outcome.record] if isinstance(outcome, write.Written) else []
    return approved, retired


def _keep_statement(
    memory: Memory, turn: Turn, statement: Said, known: Known, replaced: Sequence[Record]
) -> Record | None:
    """Store a user's statement at once; one that corrects or updates supersedes what it contradicts."""
    source: Source = "correction" if statement.corrects else "explicit"
    unplaced = Draft(kind=statement.kind, body=statement.text, source=source, confidence="high", at=turn.began)
    draft = _placed(memory, turn, unplaced, "correction" if statement.corrects else "statement", "wording")
    if draft is None:
        return None
    draft = replace(draft, extra={**draft.extra, "corrected": statement.about} if statement.corrects else draft.extra)
    new = write.preview(memory, draft)
    near = [record for record, _ in similar(memory.store, new)]
    outdated = _outdated(memory, new, near, statement, known)
    old = [] if statement.doubtful else [*outdated, *(replaced if statement.corrects else ())]
    if not old and (again := _restated(memory, new, (*near, *known.shown))):
        data, by = {"outcome": RESTATED, "note": statement.text}, _actor(memory, turn, by_user=True)
        about = derived_id(RESTATED, turn.session, f"{turn.id} {statement.text}", turn.began)
        memory.commit([replace(memory.event("used", again.id, data=data, at=turn.began, by=by), id=about)])
        return None
    if not old and write.novelty(memory, draft) < NOVEL:
        return None  # it was retired before
    links = tuple(Link(relation="supersedes", target=record.id) for record in old)
    why = PASTED if statement.doubtful else ""
    return _keep(memory, turn, replace(draft, links=links), by_user=True, insist=bool(old), why=why)


def _outdated(memory: Memory, new: Record, near: Sequence[Record], statement: Said, known: Known) -> list[Record]:
    """Return the memories that a statement makes untrue; one with which it has no word in common only for certain."""
    candidates, own = {record.id: record for record in (*known.shown, *near)}, words(statement.text)
    found = list[Record]()
    for record in (record for record in candidates.values() if is_comparable(new, record)):
        claim, corrected = claim_of(record), statement.about * statement.corrects
        shared = own & words(claim)
        bar = CERTAIN if not shared else CORRECTED if statement.corrects else CONFLICT
        before = against(memory, record, claim, corrected).conflict if corrected else 0.0  # that is no news
        news = against(memory, record, claim, statement.text).conflict - before
        if news >= bar or (corrected and corrected in claim):
            found.append(record)
    return found


def _restated(memory: Memory, new: Record, candidates: Sequence[Record]) -> Record | None:
    for record in candidates:
        if is_comparable(new, record):
            same = memory.reader.relation(claim_of(record), claim_of(new)).get("same", 0.0)
            if same >= SAME or observe.is_echo(new.body, record.text):
                return record
    return None


def _keep_signal(
    memory: Memory, turn: Turn, signal: Signal, *, by_user: bool = False, guessed: bool = False, doubtful: bool = False
) -> Record | None:
    """Store a signal, make it pending, or skip it; one that was stored before is left as it is now."""
    observed: Source = "inferred" if signal.record_kind == "preference" else "observed"
    source = "explicit" if by_user or signal.how != "wording" else observed
    unplaced = Draft(kind=signal.record_kind, body=signal.text, source=source, at=turn.ended)
    draft = _placed(memory, turn, unplaced, signal.kind, signal.how)
    if draft is None:
        return None
    new = write.novelty(memory, draft)
    share = worth(signal.confidence, new)
    draft = replace(draft, confidence="high" if share >= 0.9 else "medium" if share >= 0.7 else "low")
    sure = tier(signal, new)
    if sure not in ("auto", "suggest"):
        return None
    why = PASTED if doubtful else LIKELY if sure == "suggest" else UNPROVEN if guessed else ""
    return _keep(memory, turn, draft, by_user=by_user, why=why)


def _placed(memory: Memory, turn: Turn, draft: Draft, signal: str, how: str) -> Draft | None:
    """Return a draft with where it comes from; None if it was stored before."""
    about = derived_id(draft.kind, turn.session, f"{turn.id} {draft.body}", turn.began)
    extra = {"signal": signal, "how": how, "session": turn.session, "trail": turn.id, "agent": turn.agent}
    known = memory.store.folded(about) is not None
    return None if known else replace(draft, extra={name: value for name, value in extra.items() if value})


def _keep(
    memory: Memory, turn: Turn, draft: Draft, *, by_user: bool, insist: bool = False, why: str = ""
) -> Record | None:
    """Store a draft as admission decides, or as pending if there is a reason `why` it needs approval."""
    # Whether what a user states will last was judged already, in any language.
    waivers, by = Waivers(scope=True, duplicate=insist, transient=by_user), None
    match Pending(why=why) if why else write.verdict_on(memory, draft, waivers=waivers):
        case Admitted():
            by = _actor(memory, turn, by_user=by_user)
        case Pending(why=why):  # since now, however late the activity is read
            draft = replace(draft, at="", extra={**draft.extra, "why": why})
        case _:
            return None  # a duplicate, removed before, or transient
    event = derived_event(memory, draft, turn.events[0], name=draft.body, pending=by is None, by=by)
    return memory.commit([event])[0].record


def _actor(memory: Memory, turn: Turn, *, by_user: bool) -> Actor:
    """Return who a record is by: what the user said is the user's, whichever client noted it."""
    name = memory.actor.name if by_user and memory.actor.kind == "user" else turn.client
    return Actor(kind="user" if by_user else "rule", name=name or "hook", session=turn.session)


def derived_id(kind: str, session: str, key: str, at: str) -> str:
    """Return the id of a record that rules derive from one place of a session: repeating changes nothing."""
    return fixed_id(at, f"{kind} {session} {key}")


def derived_event(
    memory: Memory, draft: Draft, first: HookEvent, *, name: str = "", pending: bool = False, by: Actor | None = None
) -> Event:
    """Return the event that stores a draft, by a rule unless `by` is given, with an id derived from its source."""
    about = derived_id(draft.kind, first.session, f"{draft.extra['trail']} {name}".rstrip(), first.at)
    actor = by or Actor(kind="rule", name=first.client or "hook", session=first.session)
    event = write.draft_event(memory, draft, pending=pending, about=about, by=actor)
    # The branch of that moment; the checkout, and its commit, may have moved on since.
    return replace(event, data={**event.data, "origin": {"branch": first.branch} if first.branch else {}})


# The optional observer model: asked about finished turns once per run of the worker, within its daily token budget.


TOKENS, CALLS, WAIT = "observer.tokens", "observer.calls", "observer.wait"
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 60.0, 6 * 3600.0, 24 * 3600.0
SO_FAR_TOKENS = 1_500  # of the session so far, sent when a summary is wanted
REJECTED_WAIT = 3600.0  # wrong settings do not fix themselves
_FAILED: Mapping[type, str] = {
    RateLimited: "rate limited: {0.said}",
    Rejected: "invalid settings: {0.said}",
    TimedOut: "no answer within {0.seconds:.0f} s",
    Unreachable: "unreachable: {0.said}",
    Malformed: "no observation in the reply: {0.said}",
}


def ask(
    memory: Memory, done: Sequence[Turn], activity: Sequence[HookEvent], *, with_summary: bool = False
) -> Observation:
    """Ask the observer about some turns, once. If it fails, the activity stays stored."""
    most, now = memory.config.observer_daily_tokens, memory.clock.now()
    if memory.config.observer == "none" or most <= 0 or not (done or with_summary):
        return NotAsked()
    if _waited(memory)[0] > now:
        return NotAsked(why="waiting")
    observing = _observing(memory)
    if isinstance(observing, Rejected):
        return _noted(memory, observing)
    so_far = handover(activity, SO_FAR_TOKENS) if with_summary else ""
    if not done and not so_far:
        return NotAsked()
    question = observer_reply.question_of(done, observing.mode, so_far=so_far, with_summary=with_summary)
    needed = observer_reply.most_spent(question, observing.observer.overhead)
    if not counters.reserve(memory.store, TOKENS, now, needed, most):
        return NotAsked(why="over budget")
    reply = observing.observer.ask(question)
    # As reported; the whole reservation if a cost is possible but unknown.
    possible = needed if reply.tokens is None else reply.tokens
    used = possible if isinstance(reply, Answered | Declined | TimedOut) else 0
    counters.add(memory.store, TOKENS, now, used - needed)  # instead of what was reserved
    counters.add(memory.store, CALLS, now)
    if not isinstance(reply, Answered):
        return _noted(memory, reply)
    parsed = observer_reply.read_reply(reply.text, observing.mode)
    if isinstance(parsed, Malformed):
        return _noted(memory, parsed)
    by = f"{observing.observer.name} {observing.observer.model}"
    drafts, written = observer_reply.drafts_of(parsed, done, by), observer_reply.summary_draft(parsed, activity, by)
    return _noted(memory, Observed(drafts=tuple(drafts), summary=written, tokens=used))


def observer_status(memory: Memory) -> Report:
    """Return the observer's settings, today's spending, and what went wrong."""
    observing, now, store, config = _observing(memory), memory.clock.now(), memory.store, memory.config
    most, spent, until = config.observer_daily_tokens, counters.spent(store, TOKENS, now), _waited(memory)[0]
    return {
        "observer": config.observer,
        "model": observing.observer.model if isinstance(observing, Observing) else config.observer_model,
        "mode": config.mode,
        "daily_tokens": most,
        "spent": spent,
        "left": max(0, most - spent),
        "calls": counters.spent(store, CALLS, now),
        "problem": observing.said if isinstance(observing, Rejected) and config.observer != "none" else "",
        "waiting_until": until if until > now else "",
        "failures": [failure for failure in counters.failures(store) if failure.name == "observer"],
    }


def _observing(memory: Memory) -> Observing | Rejected:
    try:
        return memory.observing() or Rejected(said="No observer is turned on.")
    except InvalidConfig as problem:
        return Rejected(said=str(problem))


def _noted(memory: Memory, outcome: Observation) -> Observation:
    """Record a failure, and pause twice as long after each in a row, at least as long as it asks for; a success ends the pause."""
    if isinstance(outcome, Observed) and memory.store.setting(WAIT):
        memory.store.note(WAIT, "")
    if message := _FAILED.get(type(outcome), "").format(outcome):
        failures, now = _waited(memory)[1] + 1, memory.clock.now()
        at_least = REJECTED_WAIT if isinstance(outcome, Rejected) else 0.0
        at_least = min(outcome.seconds, LONGEST_ASKED) if isinstance(outcome, RateLimited) else at_least
        wait = max(at_least, min(FIRST_WAIT * 2.0 ** (failures - 1), LONGEST_WAIT))
        until = instant(datetime.fromisoformat(now).timestamp() + wait)
        memory.store.note(WAIT, {"until": until, "failures": failures})
        memory.note_failure("observer", mask_secrets(message))
    return outcome


def _waited(memory: Memory) -> tuple[str, int]:
    value = memory.store.kept(WAIT, dict[str, Any]())
    return str(value.get("until", "")), int(value.get("failures", 0))
