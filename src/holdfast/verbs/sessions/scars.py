"""Answers to scars that were shown (applying, not applicable or refuted, with evidence), and the effect of scars."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.engine.views import records, usage
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.ids import days_before, short
from holdfast.model.record import Record
from holdfast.policy.ranking.decay import (
    BLIND_SHARE,
    BLIND_SHOWN,
    ENOUGH,
    REEVALUATE,
    WINDOW_DAYS,
    by_dismissal,
    dismissed_share,
)
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import OUTCOME_OF, problem_with
from holdfast.verbs.memory import Memory, find, is_at_hand
from holdfast.verbs.records.hot import admit_used


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a scar that was shown."""

    scar: str
    decision: str
    evidence: str = ""
    relevance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The accepted answers, problems with the others, and the scars still without an answer."""

    taken: tuple[tuple[Record, str], ...] = ()
    problems: tuple[str, ...] = ()
    waiting: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of a scar: how often it was shown, and the outcomes."""

    scar: Record
    shown: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    recent: tuple[str, ...] = ()

    @property
    def heeded(self) -> float:
        """The share of impressions that were applied."""
        return self.outcomes["applied"] / self.shown if self.shown else 0.0

    @property
    def multiplier(self) -> float:
        """The factor that dismissals of the last 90 days leave of its weight."""
        return by_dismissal(self.recent)

    @property
    def is_blind_spot(self) -> bool:
        """Whether it is shown repeatedly and mostly ignored."""
        return self.shown >= BLIND_SHOWN and self.outcomes["ignored"] / self.shown > BLIND_SHARE

    @property
    def wants_review(self) -> bool:
        """Whether it is dismissed so often that its wording or truth should be reviewed."""
        return len(self.recent) >= ENOUGH and dismissed_share(self.recent) >= REEVALUATE


def unanswered(memory: Memory, session: str = "") -> list[Record]:
    """Return the scars a session was shown in one of their wordings and did not answer, in order."""
    session_id = session or memory.actor.session
    if not session_id:
        return []
    return usage.unanswered_scars(memory.store, session_id)


def answer(memory: Memory, answers: Sequence[Answer], *, every: bool = False) -> Answered:
    """Record answers to scars one by one: a bad one is reported and does not affect the others.

    With `every` it is all or nothing: none is recorded until each shown scar has a valid one.
    """
    if not memory.actor.session:
        raise Invalid("No active session to answer in.", hint="Start one, or name it with --session.")
    shown = {impression.id: impression.variant for impression in usage.shown_in(memory.store, memory.actor.session)}
    taken: list[tuple[Record, str]] = []
    problems: list[str] = []
    events = []
    for reply in answers:
        try:
            scar = _shown_scar(memory, reply, shown)
        except HoldfastError as problem:
            problems.append(f"{reply.scar}: {problem}")
            continue
        events.append(memory.event("used", scar.id, data=_use_data(reply, shown[scar.id])))
        taken.append((scar, reply.decision))
    answered = {scar.id for scar, _ in taken}
    left = tuple(scar for scar in unanswered(memory) if scar.id not in answered)
    if every and (problems or left):
        return Answered(problems=tuple(problems), waiting=left)
    if events:
        memory.commit(events)
        admit_used(memory, [scar.id for scar, _ in taken])
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=left)


def effects(
    memory: Memory,
    *,
    days: float = WINDOW_DAYS,
    ids: Iterable[str] | None = None,
    sessions: Collection[str] | None = None,
) -> list[Effect]:
    """Return the effect of each scar shown recently in this project, or in some of its sessions, most shown first."""
    store = memory.store
    since, window = days_before(memory.clock.now(), days), days_before(memory.clock.now(), WINDOW_DAYS)
    shown = Counter(
        impression.id
        for impression in usage.shown_since(store, since)
        if sessions is None or impression.session in sessions
    )
    wanted = set(shown) if ids is None else set(ids)
    outcomes: dict[str, Counter[str]] = {record_id: Counter() for record_id in wanted}
    recent: dict[str, list[str]] = {record_id: [] for record_id in wanted}
    for use in usage.since(store, wanted, min(since, window)):
        if sessions is not None and use.session not in sessions:
            continue
        if use.at >= since:
            outcomes[use.id][use.outcome] += 1
        if use.at >= window and use.outcome not in ("succeeded", "failed"):
            recent[use.id].append(use.outcome)
    scars = [entry.record for entry in records.by_ids(store, wanted).values()]
    scars = [
        record
        for record in scars
        if record.kind == "scar" and record.source != "starter" and is_at_hand(memory, record)
    ]
    scar_effects = [
        Effect(scar=scar, shown=shown[scar.id], outcomes=outcomes[scar.id], recent=tuple(recent[scar.id]))
        for scar in scars
    ]
    return sorted(scar_effects, key=lambda effect: (-effect.shown, effect.scar.id))


def _shown_scar(memory: Memory, reply: Answer, shown: dict[str, str]) -> Record:
    if problem := problem_with(reply.decision, reply.evidence):
        raise Invalid(f"{problem}.")
    record = find(memory, reply.scar).record
    if record.id not in shown:
        raise Invalid(f"{short(record.id)} was not shown in this session.", hint="Answer only what recall showed.")
    if record.kind != "scar":
        raise Invalid(
            f"{short(record.id)} is a {record.kind}; only scars need an answer.",
            hint="Judge it as applied, ignored or contradicted instead.",
        )
    return record


def _use_data(reply: Answer, variant: str) -> dict[str, str]:
    default = "high" if reply.decision == "APPLYING" else "low"
    data = {"outcome": OUTCOME_OF[reply.decision], "evidence": masked(reply.evidence.strip())}
    data |= {"decision": reply.decision, "relevance": reply.relevance or default}
    return data | ({"variant": variant} if variant else {})
