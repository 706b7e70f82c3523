"""Keep something, or add its labels to what says it already: for callers who want one memory either way."""

from dataclasses import dataclass

from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.write import Held, Written, write

REMEDIES = Remedies(restore="`holdfast restore {id}`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The memory that now says it, and whether it was there before."""

    record: Record
    known: bool = False
    waits: bool = False


def keep_or_join(memory: Memory, draft: Draft) -> Joined:
    """Keep a draft; where it is known, what is there gets its tags too. Wordings that fade are the writer's choice here."""
    outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True))
    match outcome:
        case Written(record=record):
            return Joined(record=record)
        case Held(record=record):
            return Joined(record=record, waits=True)
        case Duplicate(matches=matches):
            return Joined(record=_labelled(memory, matches[0].record, draft.tags), known=True)
    raise refusal(outcome, REMEDIES)


def _labelled(memory: Memory, record: Record, tags: tuple[str, ...]) -> Record:
    every = tuple(dict.fromkeys((*record.tags, *tags)))
    if every == record.tags:
        return record
    revised = revise(memory, record.id, Revision(tags=every))
    return revised if isinstance(revised, Record) else record
