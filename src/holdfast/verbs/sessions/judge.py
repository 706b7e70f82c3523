"""Record judgements on memories: answers to scars, outcomes, checks, and approval or rejection of pending ones."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.event import OUTCOMES
from holdfast.model.record import Record
from holdfast.policy.admission.refusals import explain
from holdfast.policy.sessions.evidence import DECISIONS
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.scars import Answer, Answered, answer
from holdfast.verbs.truth.verify import verify

VERDICTS = (
    *DECISIONS,
    *(outcome for outcome in OUTCOMES if outcome not in ("acknowledged", "refuted", "dismissed")),
    "verified",
    "confirmed",
    "cancelled",
)


def judge(memory: Memory, judgements: Sequence[Answer]) -> Answered:
    """Apply judgements one by one: a bad one is reported and does not affect the others."""
    if not judgements:
        raise Invalid("There is nothing to judge.", hint="Pass at least one id with its verdict.")
    answers = [judgement for judgement in judgements if judgement.decision in DECISIONS]
    answered = answer(memory, answers) if answers else Answered()
    taken, problems = list(answered.taken), list(answered.problems)
    for judgement in judgements:
        if judgement in answers:
            continue
        try:
            taken.append((_judge(memory, judgement), judgement.decision))
        except HoldfastError as problem:
            problems.append(f"{judgement.scar}: {problem}")
    return replace(answered, taken=tuple(taken), problems=tuple(problems))


def _judge(memory: Memory, judgement: Answer) -> Record:
    match judgement.decision:
        case "verified":
            return verify(memory, judgement.scar, note=judgement.evidence)
        case "cancelled":
            return cancel(memory, judgement.scar)
        case "confirmed":
            return _confirmed(memory, judgement.scar)
        case verdict if verdict in VERDICTS:
            return find(memory, record_use(memory, [judgement.scar], verdict, note=judgement.evidence)[0]).record
    raise Invalid(f"{judgement.decision!r} is not a verdict.", hint=f"Use one of {', '.join(VERDICTS)}.")


def _confirmed(memory: Memory, reference: str) -> Record:
    outcome = confirm(memory, reference)
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            return record
    raise Invalid(f"it cannot be approved: {explain(outcome).reason}", hint="Revise or reject it.")
