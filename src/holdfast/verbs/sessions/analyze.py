"""What the sessions of a project add up to: activity, reflections, blind spots, and which wording of scars works."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engine.views import records, sessions, usage
from holdfast.model.event import Event
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.policy.ranking.variants import VARIANTS
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.scars import Effect, effects

QUESTIONS = ("what_broke", "what_worked", "wrong_assumption", "do_differently")
MOST_ANSWERS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How much was done, by whom, and how it was ended."""

    sessions: int = 0
    open: int = 0
    recalls: int = 0
    reflections: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    agents: dict[str, int] = field(default_factory=dict)
    closes: Counter[str] = field(default_factory=Counter)
    issues: tuple[tuple[str, int], ...] = ()
    daily: tuple[int, ...] = ()  # sessions a day, oldest first
    tokens: int = 0  # what recalls showed
    injected: int = 0  # what was put into contexts unasked


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a session answered to one question of its closing."""

    text: str
    session: str
    agent: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindSpots:
    """Scars that are shown and not heeded, and scars that were heeded in vain."""

    ignored: tuple[Effect, ...] = ()
    in_vain: tuple[Effect, ...] = ()
    review: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How one wording of scars fares."""

    variant: str
    shown: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def heeded(self) -> float:
        """The share of showings that were applied."""
        return self.outcomes["applied"] / self.shown if self.shown else 0.0


def activity(memory: Memory, *, days: float = 30, agent: str = "") -> Activity:
    """Tell what was done lately in this project."""
    found = _recent(memory, days, agent)
    own, since = {session.id for session in found}, days_before(memory.clock.now(), days)
    told = memory.store.happened(("injected",), since, 100_000)
    return Activity(
        sessions=len(found),
        open=sum(session.is_open for session in found),
        recalls=sum(memory.store.counted(session.id, "surfaced") for session in found),
        reflections=sum(bool(session.close.get("retrospective")) for session in found),
        kinds=Counter(records.kinds_since(memory.store.db, _here(memory), since, own if agent else None)),
        agents=dict(Counter(session.agent or "unknown" for session in found).most_common()),
        closes=Counter(str(session.close["type"]) for session in found if "type" in session.close),
        issues=tuple(Counter(session.issue for session in found if session.issue).most_common(10)),
        daily=_daily(found, days, memory.clock.now()),
        tokens=sum(one.tokens for one in usage.costs_since(memory.store.db, since) if one.session in own),
        injected=sum(_injected(event) for event in told if event.about in own),
    )


def reflections(memory: Memory, *, days: float = 30, agent: str = "") -> dict[str, list[Reply]]:
    """Give what sessions answered when they closed, question by question, latest first."""
    here, since = memory.store.project_number(memory.project), days_before(memory.clock.now(), days)
    entries = records.newest(memory.store.db, "retrospective", here, limit=500)
    found = [entry.record for entry in entries if entry.record.created_at >= since]
    mine = [record for record in found if agent in ("", record.by.name)]
    return {
        question: [_reply(record, question) for record in mine if record.fields.get(question)][:MOST_ANSWERS]
        for question in QUESTIONS
    }


def blind_spots(memory: Memory, *, days: float = 30, agent: str = "") -> BlindSpots:
    """Give the scars that are shown for nothing, to anybody or to one agent."""
    found = effects(memory, days=days, sessions={one.id for one in _recent(memory, days, agent)} if agent else None)
    return BlindSpots(
        ignored=tuple(one for one in found if one.is_blind_spot),
        in_vain=tuple(one for one in found if one.outcomes["applied"] and one.outcomes["failed"]),
        review=tuple(one for one in found if one.wants_review),
    )


def wordings(memory: Memory, *, days: float = 90) -> list[Wording]:
    """Compare the two wordings of scars: how often each was shown, and what came of it."""
    since = days_before(memory.clock.now(), days)
    here = {session.id for session in _recent(memory, days, "")}
    shown = [one for one in usage.shown_since(memory.store.db, since) if one.session in here]
    told = {(one.session, one.id): one.variant for one in shown if one.variant}
    outcomes: dict[str, Counter[str]] = {variant: Counter() for variant in VARIANTS}
    for use in usage.all_since(memory.store.db, since):
        variant = use.variant or told.get((use.session, use.id), "")
        if variant in outcomes and use.session in here:
            outcomes[variant][use.outcome] += 1
    counts = Counter(told.values())
    return [Wording(variant=variant, shown=counts[variant], outcomes=outcomes[variant]) for variant in VARIANTS]


def _daily(found: Sequence[Session], days: float, now: str) -> tuple[int, ...]:
    """Count sessions by day, oldest first."""
    counts = Counter(session.started_at[:10] for session in found)
    return tuple(counts[days_before(now, back)[:10]] for back in range(int(days) - 1, -1, -1))


def _injected(event: Event) -> int:
    tokens = event.data.get("tokens")
    return tokens if isinstance(tokens, int) else 0


def _recent(memory: Memory, days: float, agent: str) -> Sequence[Session]:
    since = days_before(memory.clock.now(), days)
    found = sessions.page(memory.store.db, memory.project, limit=10_000, since=since)
    return [session for session in found if agent in ("", session.agent)]


def _here(memory: Memory) -> int:
    return memory.store.project_number(memory.project)


def _reply(record: Record, question: str) -> Reply:
    text: Any = record.fields[question]
    return Reply(text=str(text), session=record.by.session, agent=record.by.name, at=record.created_at)
