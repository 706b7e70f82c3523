"""Revise a record with the same admission checks that a new record passes."""

from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Admitted, Duplicate, Pending, Refused, Verdict, Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.read import in_use
from holdfast.verbs.records.write import verdict_on


def amend(memory: Memory, reference: str, revision: Revision, *, waivers: Waivers | None = None) -> Record | Refused:
    """Change parts of a record; return the refusal if admission rejects the new text."""
    record = in_use(memory, reference)
    if revision.body is not None and revision.body.strip() != record.body:
        verdict = _judged(memory, record, revision, waivers or Waivers())
        if not isinstance(verdict, Admitted | Pending):
            return verdict
    return revise(memory, record.id, revision)


def _judged(memory: Memory, record: Record, revision: Revision, waivers: Waivers) -> Verdict:
    """Run admission on the new text; resembling the text it replaces is no objection."""
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
    others = tuple(match for match in verdict.matches if match.record.id != record.id)
    return Duplicate(matches=others) if others else Admitted()
