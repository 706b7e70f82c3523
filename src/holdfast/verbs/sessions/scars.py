"""Scars that were shown want an answer: applying, not applicable, or refuted, with evidence; and scars are judged by it."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.engine.views import records, usage
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.ids import days_before
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
from holdfast.verbs.records.hot import tend


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What somebody says to a scar that was shown."""

    scar: str
    decision: str
    evidence: str = ""
    relevance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answers that were taken, what is wrong with the others, and the scars that still wait."""

    taken: tuple[tuple[Record, str], ...] = ()
    problems: tuple[str, ...] = ()
    waiting: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a scar achieved: how often it was shown, and what came of it."""

    scar: Record
    shown: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    recent: tuple[str, ...] = ()

    @property
    def heeded(self) -> float:
        """The share of showings that were applied."""
        return self.outcomes["applied"] / self.shown if self.shown else 0.0

    @property
    def multiplier(self) -> float:
        """What dismissals of the last 90 days leave of its weight."""
        return by_dismissal(self.recent)

    @property
    def is_blind_spot(self) -> bool:
        """Whether it is shown again and again and mostly ignored."""
        return self.shown >= BLIND_SHOWN and self.outcomes["ignored"] / self.shown > BLIND_SHARE

    @property
    def wants_review(self) -> bool:
        """Whether it is dismissed so often that its wording or its truth should be looked at."""
        return len(self.recent) >= ENOUGH and dismissed_share(self.recent) >= REEVALUATE


def unanswered(memory: Memory, session: str = "") -> list[Record]:
    """Give the scars a session was shown, in one of their wordings, and said nothing about, in the order they were shown."""
    asked = session or memory.actor.session
    if not asked:
        return []
    return usage.unanswered_scars(memory.store.db, asked)


def answer(memory: Memory, answers: Sequence[Answer], *, every: bool = False) -> Answered:
    """Take answers to scars, each on its own: a bad one is explained and does not spoil the others.

    With `every` it is all or nothing: none is taken until each scar that was shown has a good one.
    """
    if not memory.actor.session:
        raise Invalid("There is no session to answer in.", hint="Start one, or name it with --session.")
    shown = {one.id: one.variant for one in usage.shown_in(memory.store.db, memory.actor.session)}
    taken: list[tuple[Record, str]] = []
    problems: list[str] = []
    events = []
    for given in answers:
        try:
            scar = _shown_scar(memory, given, shown)
        except HoldfastError as problem:
            problems.append(f"{given.scar}: {problem}")
            continue
        events.append(memory.event("used", scar.id, data=_said(given, shown[scar.id])))
        taken.append((scar, given.decision))
    told = {scar.id for scar, _ in taken}
    left = tuple(scar for scar in unanswered(memory) if scar.id not in told)
    if every and (problems or left):
        return Answered(problems=tuple(problems), waiting=left)
    if events:
        memory.commit(events)
        tend(memory, [scar.id for scar, _ in taken])
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=left)


def effects(
    memory: Memory,
    *,
    days: float = WINDOW_DAYS,
    ids: Iterable[str] | None = None,
    sessions: Collection[str] | None = None,
) -> list[Effect]:
    """Give what each scar shown lately in this project, or in some sessions of it, achieved, most shown first."""
    db = memory.store.db
    since, window = days_before(memory.clock.now(), days), days_before(memory.clock.now(), WINDOW_DAYS)
    shown = Counter(one.id for one in usage.shown_since(db, since) if sessions is None or one.session in sessions)
    wanted = set(shown) if ids is None else set(ids)
    outcomes: dict[str, Counter[str]] = {one: Counter() for one in wanted}
    recent: dict[str, list[str]] = {one: [] for one in wanted}
    for use in usage.since(db, wanted, min(since, window)):
        if sessions is not None and use.session not in sessions:
            continue
        if use.at >= since:
            outcomes[use.id][use.outcome] += 1
        if use.at >= window and use.outcome not in ("succeeded", "failed"):
            recent[use.id].append(use.outcome)
    scars = [entry.record for entry in records.by_ids(db, wanted).values() if _is_scar_here(memory, entry.record)]
    found = [
        Effect(scar=scar, shown=shown[scar.id], outcomes=outcomes[scar.id], recent=tuple(recent[scar.id]))
        for scar in scars
    ]
    return sorted(found, key=lambda one: (-one.shown, one.scar.id))


def _is_scar_here(memory: Memory, record: Record) -> bool:
    return record.kind == "scar" and is_at_hand(memory, record)


def _shown_scar(memory: Memory, given: Answer, shown: dict[str, str]) -> Record:
    if problem := problem_with(given.decision, given.evidence):
        raise Invalid(f"{problem}.")
    record = find(memory, given.scar).record
    if record.id not in shown:
        raise Invalid(f"{record.id[:10]} was not shown in this session.", hint="Answer only what recall showed.")
    if record.kind != "scar":
        raise Invalid(f"{record.id[:10]} is a {record.kind}; only scars want an answer.", hint="Judge it as applied …")
    return record


def _said(given: Answer, variant: str) -> dict[str, str]:
    data = {"outcome": OUTCOME_OF[given.decision], "evidence": masked(given.evidence.strip())}
    data |= {"decision": given.decision, "relevance": given.relevance or _relevance(given.decision)}
    return data | ({"variant": variant} if variant else {})


def _relevance(decision: str) -> str:
    return "high" if decision == "APPLYING" else "low"
