"""Save a memory, or add its tags to the existing memory that already says it."""

from dataclasses import dataclass

from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.write import Written, WrittenPending, write

REMEDIES = Remedies(restore="`holdfast restore {id}`, which the user runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The saved or existing memory, whether it existed before, and whether it is pending."""

    record: Record
    known: bool = False
    waits: bool = False


def keep_or_join(memory: Memory, draft: Draft) -> Joined:
    """Save a draft; a duplicate gives its tags to the existing memory. Transient wording is allowed here."""
    outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True))
    match outcome:
        case Written(record=record):
            return Joined(record=record)
        case WrittenPending(record=record):
            return Joined(record=record, waits=True)
        case Duplicate(matches=matches):
            return Joined(record=_labelled(memory, matches[0].record, draft.tags), known=True)
    raise refusal(outcome, REMEDIES)


def _labelled(memory: Memory, record: Record, tags: tuple[str, ...]) -> Record:
    all_tags = tuple(dict.fromkeys((*record.tags, *tags)))
    if all_tags == record.tags:
        return record
    revised = revise(memory, record.id, Revision(tags=all_tags))
    return revised if isinstance(revised, Record) else record
