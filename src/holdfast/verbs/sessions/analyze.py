"""Aggregate a project's sessions: activity, reflections, blind spots, and which wording of scars works."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engine.views import records, sessions, usage
from holdfast.model.event import Event
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.policy.ranking.scar_wordings import VARIANTS
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.scars import Effect, effects

QUESTIONS = ("what_broke", "what_worked", "wrong_assumption", "do_differently")
MOST_DAYS = 3_660  # that are counted one by one
MOST_ANSWERS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How much was done, by whom, and how sessions ended."""

    sessions: int = 0
    open: int = 0
    recalls: int = 0
    reflections: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    agents: dict[str, int] = field(default_factory=dict)
    closes: Counter[str] = field(default_factory=Counter)
    issues: tuple[tuple[str, int], ...] = ()
    daily: tuple[int, ...] = ()  # sessions a day, oldest first
    tokens: int = 0  # returned by recalls
    injected: int = 0  # injected automatically


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a session answered to one closing question."""

    text: str
    session: str
    agent: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindSpots:
    """Scars that are shown but ignored, and scars that were applied in vain."""

    ignored: tuple[Effect, ...] = ()
    in_vain: tuple[Effect, ...] = ()
    review: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How one wording of scars performs."""

    variant: str
    shown: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def heeded(self) -> float:
        """The share of impressions that were applied."""
        return self.outcomes["applied"] / self.shown if self.shown else 0.0


def activity(memory: Memory, *, days: float = 30, agent: str = "") -> Activity:
    """Return what was done recently in this project."""
    recent = _recent(memory, days, agent)
    own, since = {session.id for session in recent}, days_before(memory.clock.now(), days)
    project = memory.store.project_number(memory.project)
    injections = memory.store.happened(("injected",), since, 100_000)
    return Activity(
        sessions=len(recent),
        open=sum(session.is_open for session in recent),
        recalls=sum(memory.store.counted(session.id, "surfaced") for session in recent),
        reflections=sum(bool(session.close.get("retrospective")) for session in recent),
        kinds=Counter(records.kinds_since(memory.store, project, since, own if agent else None)),
        agents=dict(Counter(session.agent or "unknown" for session in recent).most_common()),
        closes=Counter(str(session.close["type"]) for session in recent if "type" in session.close),
        issues=tuple(Counter(session.issue for session in recent if session.issue).most_common(10)),
        daily=_daily(recent, days, memory.clock.now()),
        tokens=sum(cost.tokens for cost in usage.costs_since(memory.store, since) if cost.session in own),
        injected=sum(_injected(event) for event in injections if event.about in own),
    )


def reflections(memory: Memory, *, days: float = 30, agent: str = "") -> dict[str, list[Reply]]:
    """Return what sessions answered when they closed, by question, latest first."""
    project, since = memory.store.project_number(memory.project), days_before(memory.clock.now(), days)
    entries = records.newest(memory.store, "retrospective", project, limit=500)
    retrospectives = [entry.record for entry in entries if entry.record.created_at >= since]
    own = [record for record in retrospectives if agent in ("", record.by.name)]
    return {
        question: [_reply(record, question) for record in own if record.fields.get(question)][:MOST_ANSWERS]
        for question in QUESTIONS
    }


def blind_spots(memory: Memory, *, days: float = 30, agent: str = "") -> BlindSpots:
    """Return the scars that are shown in vain, to all agents or to one."""
    scar_effects = effects(
        memory, days=days, sessions={session.id for session in _recent(memory, days, agent)} if agent else None
    )
    return blind_among(scar_effects)


def blind_among(scar_effects: Sequence[Effect]) -> BlindSpots:
    """Return those of some scars that are shown in vain."""
    return BlindSpots(
        ignored=tuple(effect for effect in scar_effects if effect.is_blind_spot),
        in_vain=tuple(effect for effect in scar_effects if effect.outcomes["applied"] and effect.outcomes["failed"]),
        review=tuple(effect for effect in scar_effects if effect.wants_review),
    )


def wordings(memory: Memory, *, days: float = 90) -> list[Wording]:
    """Compare the two wordings of scars: how often each was shown, and the outcomes."""
    since = days_before(memory.clock.now(), days)
    own = {session.id for session in _recent(memory, days, "")}
    shown = [impression for impression in usage.shown_since(memory.store, since) if impression.session in own]
    variants = {(impression.session, impression.id): impression.variant for impression in shown if impression.variant}
    outcomes: dict[str, Counter[str]] = {variant: Counter() for variant in VARIANTS}
    for use in usage.all_since(memory.store, since):
        variant = use.variant or variants.get((use.session, use.id), "")
        if variant in outcomes and use.session in own:
            outcomes[variant][use.outcome] += 1
    counts = Counter(variants.values())
    return [Wording(variant=variant, shown=counts[variant], outcomes=outcomes[variant]) for variant in VARIANTS]


def _daily(recent: Sequence[Session], days: float, now: str) -> tuple[int, ...]:
    """Count sessions by day, oldest first; at most those of ten years."""
    counts = Counter(session.started_at[:10] for session in recent)
    return tuple(counts[days_before(now, back)[:10]] for back in range(int(min(days, MOST_DAYS)) - 1, -1, -1))


def _injected(event: Event) -> int:
    tokens = event.data.get("tokens")
    return tokens if isinstance(tokens, int) else 0


def _recent(memory: Memory, days: float, agent: str) -> Sequence[Session]:
    since = days_before(memory.clock.now(), days)
    page = sessions.page(memory.store, memory.project, limit=10_000, since=since)
    return [session for session in page if agent in ("", session.agent)]


def _reply(record: Record, question: str) -> Reply:
    text: Any = record.fields[question]
    return Reply(text=str(text), session=record.by.session, agent=record.by.name, at=record.created_at)
