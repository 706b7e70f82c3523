"""Judge memories: answers to scars that were shown, with evidence, outcomes of others, and the effect of scars.

Observations of sub-agents are stored here too, and those that sound like lessons are pointed out as candidates for scars.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.engine.views import links, usage
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.event import OUTCOMES
from holdfast.model.ids import days_before, short
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import Duplicate, Waivers, explain
from holdfast.policy.ranking import weight
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import DECISIONS, OUTCOME_OF, problem_with
from holdfast.verbs.memory import Memory, Report, check_choice, find, is_at_hand
from holdfast.verbs.records.hot import admit_used
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.read import newest_of_kind
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm, write
from holdfast.verbs.truth.verify import verify

_USES = (outcome for outcome in OUTCOMES if outcome not in ("acknowledged", "refuted", "dismissed"))
VERDICTS = (*DECISIONS, *_USES, "verified", "confirmed", "cancelled")
SEVERITIES = ("info", "warning", "scar_candidate")
LONGEST_TEXT, LONGEST_SOURCE = 5_000, 500
MOST = 500
_LESSON = re.compile(
    r"\b(?:unexpected(?:ly)?|failed silently|silently fail\w*|assum(?:ed|ption)|did(?:n['’]t| not) (?:realize|realise|know)|"
    r"broken|missing|no tests?|untested|data loss|lost data)\b",
    re.IGNORECASE,
)


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
        return weight.by_dismissal(self.recent)

    @property
    def is_blind_spot(self) -> bool:
        """Whether it is shown repeatedly and mostly ignored."""
        return self.shown >= weight.BLIND_SHOWN and self.outcomes["ignored"] / self.shown > weight.BLIND_SHARE

    @property
    def wants_review(self) -> bool:
        """Whether it is dismissed so often that its wording or truth should be reviewed."""
        return len(self.recent) >= weight.ENOUGH and weight.dismissed_share(self.recent) >= weight.REEVALUATE


def unanswered(memory: Memory, session: str = "") -> list[Record]:
    """Return the scars a session was shown in one of their wordings and did not answer, in order."""
    session_id = session or memory.actor.session
    return usage.unanswered_scars(memory.store, session_id) if session_id else []


def answer(memory: Memory, answers: Sequence[Answer], *, every: bool = False) -> Answered:
    """Record answers to scars one by one: a bad one is reported and does not affect the others.

    With `every` it is all or nothing: none is recorded until each shown scar has a valid one.
    """
    if not memory.actor.session:
        raise Invalid("No active session to answer in.", hint="Start one, or name it with --session.")
    shown = {impression.id: impression.variant for impression in usage.shown(memory.store, memory.actor.session)}
    events = []

    def use(reply: Answer) -> Record:
        if problem := problem_with(reply.decision, reply.evidence):
            raise Invalid(f"{problem}.")
        scar = find(memory, reply.scar).record
        if scar.id not in shown:
            raise Invalid(f"{short(scar.id)} was not shown in this session.", hint="Answer only what recall showed.")
        if scar.kind != "scar":
            hint = "Judge it as applied, ignored or contradicted instead."
            raise Invalid(f"{short(scar.id)} is a {scar.kind}; only scars need an answer.", hint=hint)
        default, variant = "high" if reply.decision == "APPLYING" else "low", shown[scar.id]
        data = {"outcome": OUTCOME_OF[reply.decision], "evidence": masked(reply.evidence.strip())}
        data |= {"decision": reply.decision, "relevance": reply.relevance or default}
        events.append(memory.event("used", scar.id, data=data | ({"variant": variant} if variant else {})))
        return scar

    taken, problems = each(answers, use)
    answered = {scar.id for scar, _ in taken}
    left = tuple(scar for scar in unanswered(memory) if scar.id not in answered)
    if every and (problems or left):
        return Answered(problems=tuple(problems), waiting=left)
    if events:
        memory.commit(events)
        admit_used(memory, [scar.id for scar, _ in taken])
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=left)


def each(answers: Iterable[Answer], use: Callable[[Answer], Record]) -> tuple[list[tuple[Record, str]], list[str]]:
    """Return the records that answers are about, with their decisions, and the problems with the other answers."""
    taken, problems = list[tuple[Record, str]](), list[str]()
    for reply in answers:
        try:
            taken.append((use(reply), reply.decision))
        except HoldfastError as problem:
            problems.append(f"{reply.scar}: {problem}")
    return taken, problems


def effects(
    memory: Memory,
    *,
    days: float = weight.WINDOW_DAYS,
    ids: Iterable[str] | None = None,
    sessions: Collection[str] | None = None,
) -> list[Effect]:
    """Return the effect of each scar shown recently in this project, or in some of its sessions, most shown first."""
    store = memory.store
    since, window = days_before(memory.clock.now(), days), days_before(memory.clock.now(), weight.WINDOW_DAYS)
    impressions = (each for each in usage.shown(store, since=since) if sessions is None or each.session in sessions)
    shown = Counter(impression.id for impression in impressions)
    wanted = set(shown) if ids is None else set(ids)
    outcomes, recent = defaultdict[str, Counter[str]](Counter), defaultdict[str, list[str]](list)
    for use in usage.uses(store, wanted, since=min(since, window)):
        if sessions is not None and use.session not in sessions:
            continue
        if use.at >= since:
            outcomes[use.id][use.outcome] += 1
        if use.at >= window and use.outcome not in ("succeeded", "failed"):
            recent[use.id].append(use.outcome)
    found = [
        Effect(scar=scar, shown=shown[scar.id], outcomes=outcomes[scar.id], recent=tuple(recent[scar.id]))
        for scar in memory.known(wanted).values()
        if scar.kind == "scar" and scar.source != "starter" and is_at_hand(memory, scar)
    ]
    return sorted(found, key=lambda effect: (-effect.shown, effect.scar.id))


def judge(memory: Memory, judgements: Sequence[Answer]) -> Answered:
    """Apply judgements one by one: a bad one is reported and does not affect the others."""
    if not judgements:
        raise Invalid("There is nothing to judge.", hint="Pass at least one id with its verdict.")
    answers = [judgement for judgement in judgements if judgement.decision in DECISIONS]
    answered = answer(memory, answers) if answers else Answered()
    others = (judgement for judgement in judgements if judgement not in answers)
    taken, problems = each(others, lambda judgement: _judge(memory, judgement))
    return replace(answered, taken=(*answered.taken, *taken), problems=(*answered.problems, *problems))


def _judge(memory: Memory, judgement: Answer) -> Record:
    check_choice(judgement.decision, VERDICTS, "a verdict")
    match judgement.decision:
        case "verified":
            return verify(memory, judgement.scar, note=judgement.evidence)
        case "cancelled":
            return cancel(memory, judgement.scar)
        case "confirmed":
            outcome = confirm(memory, judgement.scar)
            if isinstance(outcome, Written | WrittenPending):
                return outcome.record
            raise Invalid(f"it cannot be approved: {explain(outcome).reason}", hint="Revise or reject it.")
    return find(memory, record_use(memory, [judgement.scar], judgement.decision, note=judgement.evidence)[0]).record


def absorb(memory: Memory, observations: Sequence[Mapping[str, Any]], *, task: str = "") -> Report:
    """Store observations ({text, source, severity, context}), each on its own.

    Returns what was stored, what was known already, what was rejected, and candidates for scars.
    """
    if not observations:
        raise Invalid("There is nothing to absorb.", hint="Pass at least one observation with a text.")
    if len(observations) > MOST:
        raise Invalid(f"{len(observations)} observations are too many at once.", hint=f"Send at most {MOST}.")
    kept, known, problems = list[Record](), list[Record](), list[str]()
    for number, observation in enumerate(observations, start=1):
        try:
            outcome = write(memory, _draft(observation, task), waivers=Waivers(scope=True), redact=True)
        except HoldfastError as problem:
            problems.append(f"observation {number}: {problem}")
            continue
        match outcome:
            case Written(record=record) | WrittenPending(record=record):
                kept.append(record)
            case Duplicate(matches=matches):
                known.append(matches[0].record)
            case refused:
                problems.append(f"observation {number}: {explain(refused).reason}")
    return {"kept": kept, "known": known, "problems": problems, "candidates": _candidates(*kept, *known)}


def candidates(memory: Memory, *, limit: int = 50) -> list[Report]:
    """Return this project's observations that sound like lessons and are not linked to a record yet, each with its `cue`."""
    possible = _candidates(*newest_of_kind(memory, "observation", limit=500))
    return [candidate for candidate in possible if not links.around(memory.store, candidate["record"].id)][:limit]


def lesson_cue(text: str, severity: str = "") -> str:
    """Return why an observation is a candidate for a scar; "" if it is not."""
    if severity == "scar_candidate":
        return "marked as a candidate"
    cue = _LESSON.search(text)
    return f"says “{cue[0]}”" if cue else ""


def _candidates(*observed: Record) -> list[Report]:
    cues = ((record, lesson_cue(record.text, str(record.fields.get("severity", "")))) for record in observed)
    return [{"record": record, "cue": cue} for record, cue in cues if cue]


def _draft(observation: Mapping[str, Any], task: str) -> Draft:
    text, source = observation.get("text"), observation.get("source", "")
    if not isinstance(text, str) or not text.strip():
        raise Invalid("it has no text.", hint="Describe what was observed.")
    if len(text) > LONGEST_TEXT or len(str(source)) > LONGEST_SOURCE:
        hint = f"At most {LONGEST_TEXT} characters are allowed."
        raise Invalid(f"its text or source is too long ({shorten(text, 40)}).", hint=hint)
    severity = observation.get("severity") or "info"
    check_choice(severity, SEVERITIES, "a severity")
    given = {"source": str(source), "context": str(observation.get("context") or ""), "task": task}
    extra, fields = {name: value for name, value in given.items() if value}, {"severity": severity, "type": "sub-agent"}
    return Draft(body=text, kind="observation", fields=fields, source="observed", extra=extra)
