"""Change a memory as carefully as one is kept: a new text passes the gates of a new memory."""

from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Admitted, Duplicate, Pending, Refused, Verdict, Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.read import in_use
from holdfast.verbs.records.write import verdict_on


def amend(memory: Memory, reference: str, revision: Revision, *, waivers: Waivers | None = None) -> Record | Refused:
    """Give parts of a record new values, or say what stands in the way of its new text."""
    record = in_use(memory, reference)
    if revision.body is not None and revision.body.strip() != record.body:
        verdict = _judged(memory, record, revision, waivers or Waivers())
        if not isinstance(verdict, Admitted | Pending):
            return verdict
    return revise(memory, record.id, revision)


def _judged(memory: Memory, record: Record, revision: Revision, waivers: Waivers) -> Verdict:
    """Judge the new text; that it resembles what it replaces is no objection."""
    fields = dict(record.fields if revision.fields is None else revision.fields)
    draft = Draft(
        body=revision.body or "",
        kind=revision.kind or record.kind,
        fields=fields,
        scopes=record.scopes if revision.scopes is None else revision.scopes,
        project=record.project,
    )
    verdict = verdict_on(memory, draft, waivers=waivers)
    if not isinstance(verdict, Duplicate):
        return verdict
    others = tuple(one for one in verdict.matches if one.record.id != record.id)
    return Duplicate(matches=others) if others else Admitted()
