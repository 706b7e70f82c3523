"""Say what became of memories, one by one: answers to scars, outcomes, checks, and yes or no to what is held."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.event import OUTCOMES
from holdfast.model.record import Record
from holdfast.policy.admission.admit import OUTCOME_CODES
from holdfast.policy.sessions.evidence import DECISIONS
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import Held, Written, cancel, confirm
from holdfast.verbs.sessions.scars import Answer, Answered, answer
from holdfast.verbs.truth.verify import verify

VERDICTS = (
    *DECISIONS,
    *(one for one in OUTCOMES if one not in ("acknowledged", "refuted", "dismissed")),
    "verified",
    "confirmed",
    "cancelled",
)


def judge(memory: Memory, judgements: Sequence[Answer]) -> Answered:
    """Take judgements, each on its own: what is wrong with one is said and does not spoil the others."""
    if not judgements:
        raise Invalid("There is nothing to judge.", hint="Give at least one id with its verdict.")
    answers = [one for one in judgements if one.decision in DECISIONS]
    told = answer(memory, answers) if answers else Answered()
    taken, problems = list(told.taken), list(told.problems)
    for one in judgements:
        if one in answers:
            continue
        try:
            taken.append((_judge(memory, one), one.decision))
        except HoldfastError as problem:
            problems.append(f"{one.scar}: {problem}")
    return replace(told, taken=tuple(taken), problems=tuple(problems))


def _judge(memory: Memory, one: Answer) -> Record:
    match one.decision:
        case "verified":
            return verify(memory, one.scar, note=one.evidence)
        case "cancelled":
            return cancel(memory, one.scar)
        case "confirmed":
            return _confirmed(memory, one.scar)
        case verdict if verdict in VERDICTS:
            return find(memory, record_use(memory, [one.scar], verdict, note=one.evidence)[0]).record
    raise Invalid(f"{one.decision!r} is no verdict.", hint=f"Use one of {', '.join(VERDICTS)}.")


def _confirmed(memory: Memory, reference: str) -> Record:
    outcome = confirm(memory, reference)
    match outcome:
        case Written(record=record) | Held(record=record):
            return record
    raise Invalid(f"it cannot be confirmed: {OUTCOME_CODES[type(outcome)]}.", hint="Revise it, or cancel it.")
