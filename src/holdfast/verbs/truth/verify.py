"""Verify records, and list those that need attention."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.engine.views import records
from holdfast.model.anchor import Freshness, check_anchors, parse_anchor, snapshot_to_json
from holdfast.model.errors import Conflict
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.policy.admission.admit import SecretFound
from holdfast.policy.freshness import details, is_about_code, wrong_claims
from holdfast.policy.new_value import new_value
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.freshness import freshness, is_here, lost, snapshot_of
from holdfast.verbs.records.lifecycle import Revision, commit_about, remark, revise

PAGE = 200
STALE_DAYS = 90  # since the last check; older records should be verified
Action = Literal["keep", "verify", "re-anchor", "revise", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A record, its freshness, and the recommended action."""

    record: Record
    freshness: Freshness
    action: Action
    why: str = ""
    command: str = ""


def verify(memory: Memory, reference: str, *, note: str = "", anchors: tuple[str, ...] | None = None) -> Record:
    """Record that a memory was checked and still holds, with the current content of its places.

    Rejected if an anchor is false. Anchors whose code moved follow it.
    """
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only an active memory can be verified.")
    data: dict[str, Any] = {"note": remark(note)} if note else {}
    current_anchors = record.anchors if anchors is None else check_anchors(anchors)
    if is_here(memory, record.project):
        current_anchors = _followed(memory, replace(record, anchors=current_anchors))
        snapshot = snapshot_of(memory, replace(record, anchors=current_anchors))
        if wrong := wrong_claims(current_anchors, snapshot):
            hint = "Revise its text or anchors, or forget it if it is no longer true."
            raise Conflict(f"{record.id} cannot be verified: {'; '.join(wrong)}.", hint=hint)
        if snapshot or record.seen:  # what is no longer cited is no longer compared
            data["seen"] = snapshot_to_json(snapshot) if snapshot else {"marks": {}}
    if anchors is not None or current_anchors != record.anchors:
        data["anchors"] = list(current_anchors)
    return commit_about(memory, "verified", record, data)


def check_all(memory: Memory) -> list[Checked]:
    """Check every record of the project that describes the present, those with problems first, with a recommended action."""
    gone = {record.id: branch for branch, orphans in lost(memory).items() for record in orphans}
    checked = [
        _checked(record, states[record.id], gone.get(record.id, ""))
        for page in project_pages(memory)
        for states in [freshness(memory, page)]
        for record in page
    ]
    order = ("forget", "revise", "re-anchor", "verify", "keep")
    return sorted(checked, key=lambda result: order.index(result.action))


def _checked(record: Record, state: Freshness, branch: str) -> Checked:
    action, why = _advice(record, state, branch)
    commands = {
        "forget": f"holdfast forget {short(record.id)} --reason …",
        "revise": f"holdfast revise {short(record.id)} --text …",
        "re-anchor": f"holdfast verify {short(record.id)}",
        "verify": f"holdfast verify {short(record.id)}",
        "keep": "",
    }
    return Checked(record=record, freshness=state, action=action, why=why, command=commands[action])


def _advice(record: Record, state: Freshness, branch: str) -> tuple[Action, str]:
    reasons = "; ".join(details(state))
    if branch:
        return "forget", f"its branch {branch} is gone and was never merged"
    if state.state == "missing":
        all_gone = all(finding.state == "missing" for finding in state.findings)
        return ("forget" if all_gone else "revise"), reasons
    if state.state == "changed":
        return "revise", reasons
    if state.moved:
        return "re-anchor", reasons
    if state.state == "fresh":
        return "keep", ""
    if state.state == "unverified" and record.anchors:
        return "verify", "the cited content was never recorded"
    late = state.days is not None and state.days > STALE_DAYS
    return ("verify", f"checked {state.days:.0f} days ago") if late else ("keep", "")


def _followed(memory: Memory, record: Record) -> tuple[str, ...]:
    moved = (
        {finding.anchor: finding.moved_to for finding in freshness(memory, [record])[record.id].moved}
        if record.anchors
        else {}
    )
    return tuple(moved.get(anchor, anchor) for anchor in record.anchors)


def project_pages(memory: Memory, states: Sequence[str] = ("active",)) -> Iterator[Sequence[Record]]:
    """Yield the project's records in some states that describe the present, page by page."""
    low, high = records.span(memory.store.project_number(memory.project))
    last = low - 1
    while page := [entry for entry in records.after(memory.store, last, PAGE) if entry.number <= high]:
        yield [entry.record for entry in page if entry.record.state in states and is_about_code(entry.record.kind)]
        last = page[-1].number


def cited_files(record: Record) -> list[str]:
    """Return the files a record cites, its anchors first."""
    places = [*record.anchors, *(record.seen.marks if record.seen else ())]
    paths = (
        anchor.path for cited in places if (anchor := parse_anchor(cited)).kind not in ("version", "commit", "absent")
    )
    return list(dict.fromkeys(path for path in paths if path))


def update_value(memory: Memory, reference: str) -> Record:
    """Revise a record to the value that the code has now, and verify it; raise Conflict if its text does not show where."""
    record = find(memory, reference).record
    judged = freshness(memory, [record]).get(record.id)
    update = new_value(record, judged.findings) if judged else None
    if update is None:
        raise Conflict(f"{record.id} states no value that changed.", hint="Edit its text and its anchors.")
    revision = Revision(body=update.body, title=update.title, anchors=update.anchors)
    with memory.store.transaction():
        revised = revise(memory, record.id, revision)
        if isinstance(revised, SecretFound):
            raise Conflict("The new value looks like a credential.", hint="Edit the text instead.")
        return verify(memory, record.id, note=f"{update.name} is {update.new} now")


def can_verify(record: Record, judged: Freshness | None) -> bool:
    """True if a record can be verified as it is: nothing it cites is gone or has another value than it states."""
    return not any(
        not problem.moved_to
        and (problem.state == "missing" or parse_anchor(problem.anchor).kind in ("value", "version", "absent"))
        and (problem.anchor in record.anchors or problem.state == "changed")
        for problem in (judged.problems if judged else ())
    )
