"""Verify records, list those that need attention, and check which ones a change makes untrue."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.engine.views import links, records
from holdfast.model.anchor import CodeSnapshot, Finding, Freshness, check_anchors, parse_anchor, snapshot_to_json
from holdfast.model.errors import Conflict
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.replica import CommittedMemory
from holdfast.model.text import counted
from holdfast.policy.admission.admit import SecretFound
from holdfast.policy.freshness import details, freshness_of, is_about_code, new_value, places_of, wrong_claims
from holdfast.verbs.memory import Memory, Report, find
from holdfast.verbs.records.freshness import freshness, is_here, lost, snapshot_of
from holdfast.verbs.records.lifecycle import Revision, commit_about, remark, revise
from holdfast.verbs.records.read import pages

STALE_DAYS = 90  # since the last check; older records should be verified
Action = Literal["keep", "verify", "re-anchor", "revise", "forget"]
COMMANDS: dict[Action, str] = {  # the most urgent first
    "forget": "holdfast forget {} --reason …",
    "revise": "holdfast revise {} --text …",
    "re-anchor": "holdfast verify {}",
    "verify": "holdfast verify {}",
    "keep": "",
}
NOWHERE = ".holdfast/memories"  # where a finding is shown that has no file; code scanning requires a place


def verify(memory: Memory, reference: str, *, note: str = "", anchors: tuple[str, ...] | None = None) -> Record:
    """Record that a memory was checked and still holds; rejected if an anchor is false. Anchors follow moved code."""
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only an active memory can be verified.")
    data: dict[str, Any] = {"note": remark(note)} if note else {}
    current_anchors = record.anchors if anchors is None else check_anchors(anchors)
    if is_here(memory, record.project):
        cited = replace(record, anchors=current_anchors)
        judged = freshness(memory, [cited]).get(cited.id) if current_anchors else None  # of a past event there is none
        moved = {finding.anchor: finding.moved_to for finding in (judged.moved if judged else ())}
        current_anchors = tuple(moved.get(anchor, anchor) for anchor in current_anchors)
        snapshot = snapshot_of(memory, replace(record, anchors=current_anchors))
        if wrong := wrong_claims(current_anchors, snapshot):
            hint = "Revise its text or anchors, or forget it if it is no longer true."
            raise Conflict(f"{record.id} cannot be verified: {'; '.join(wrong)}.", hint=hint)
        if snapshot or record.seen:  # what is no longer cited is no longer compared
            data["seen"] = snapshot_to_json(snapshot) if snapshot else {"marks": {}}
    if anchors is not None or current_anchors != record.anchors:
        data["anchors"] = list(current_anchors)
    return commit_about(memory, "verified", record, data)


def check_all(memory: Memory) -> list[Report]:
    """Check every record of the project that describes the present, those with problems first, with a recommended action."""
    gone = {record.id: branch for branch, orphans in lost(memory).items() for record in orphans}
    checked = list[Report]()
    for page in project_pages(memory):
        states = freshness(memory, page)
        for record in page:
            state, branch = states[record.id], gone.get(record.id, "")
            reasons, days = "; ".join(details(state)), state.days or 0.0
            is_gone = state.state == "missing" and all(finding.state == "missing" for finding in state.findings)
            advice: tuple[tuple[object, Action, str], ...] = (
                (branch, "forget", f"its branch {branch} is gone and was never merged"),
                (is_gone, "forget", reasons),
                (state.state in ("missing", "changed"), "revise", reasons),
                (state.moved, "re-anchor", reasons),
                (state.state == "unverified" and record.anchors, "verify", "the cited content was never recorded"),
                (state.state != "fresh" and days > STALE_DAYS, "verify", f"checked {days:.0f} days ago"),
                (True, "keep", ""),
            )
            action, why = next((action, why) for applies, action, why in advice if applies)
            command = COMMANDS[action].format(short(record.id))
            checked.append({"record": record, "freshness": state, "action": action, "why": why, "command": command})
    return sorted(checked, key=lambda result: list(COMMANDS).index(result["action"]))


def project_pages(memory: Memory, states: Sequence[str] = ("active",)) -> Iterator[Sequence[Record]]:
    """Yield the project's records in some states that describe the present, page by page."""
    for page in pages(memory, records.span(memory.here)):
        present = [record for record in page if record.state in states and is_about_code(record.kind)]
        replaced = links.superseded(memory.store, [record.id for record in present])
        yield [record for record in present if record.id not in replaced]


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
        (problem.state == "missing" or parse_anchor(problem.anchor).kind in ("value", "version", "absent"))
        and (problem.anchor in record.anchors or problem.state == "changed")
        for problem in (judged.problems if judged else ())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsified:
    """A memory that was true before a change and no longer is, with the reasons."""

    record: Record
    why: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    file: str = ""  # its file in the repository, if it has one
    held: bool = False  # it is quarantined here: recall does not return it, but the team relies on it


def check_change(
    memory: Memory, base: str, committed: Sequence[CommittedMemory] = (), *, everything: bool = False
) -> Report:
    """Check the team's memories, in the repository's files and in the store, against the changes since a commit.

    Files come first: where a memory is in both, its file is what the change is reviewed with. Quarantined memories of
    the store are checked as well, so that they hide nothing. `everything` adds private ones. Returns what was checked, what
    the change makes untrue (`broken`), and notes about what could not be checked.
    """
    memory = memory.acting_on(memory.checkout.project())
    files = {item.now.id: item.file for item in committed if item.now}
    current = [item.now for item in committed if item.now and is_about_code(item.now.kind)]
    in_files = {item.before.id for item in committed if item.before} | files.keys()
    there = (record for page in project_pages(memory, ("active", "held")) for record in page)
    team = (one for one in there if one.visibility == "team" or (everything and one.state != "held"))
    stored = [record for record in team if record.id not in in_files]
    records = [_with_base(memory, record, base) for record in (*current, *stored)]
    states = freshness(memory, records)
    judged = (_falsified(memory, record, states[record.id], base) for record in records)
    broken = [replace(found, file=files.get(found.record.id, "")) for found in judged if found]
    lost = ((item, item.before) for item in committed if item.unread)
    why = "its file cannot be read: {}"
    broken += [Falsified(record=old, why=(why.format(item.unread),), file=item.file) for item, old in lost if old]
    none = "No team memory was found, neither in .holdfast/memories at the base nor in the store."
    notes = [] if records or committed else [none]
    notes += [f"{item.file} was not checked: {item.unread}" for item in committed if item.unread and not item.before]
    # What the change does to the files of memories: its author may be anyone.
    done, deleted = Counter[str](), list[str]()
    for item in (item for item in committed if not item.unread and item.before != item.now):
        done["adds" if item.before is None else "deletes" if item.now is None else "changes"] += 1
        if item.before and item.now is None:
            deleted.append(f"It deletes {item.file}: “{item.before.title}”.")
    counts = " and ".join(f"{verb} {counted(count, 'memory')}" for verb, count in sorted(done.items()))
    said = [f"This change {counts} in .holdfast/memories. Review it like code: agents will read it."] if done else []
    notes += said + deleted
    notes += [
        f"{finding.anchor} could not be read, so “{record.title}” was not checked there."
        for record in records
        for finding in states[record.id].findings
        if finding.state == "unknown"
    ]
    return {"checked": records, "broken": broken, "notes": notes}


def _with_base(memory: Memory, record: Record, base: str) -> Record:
    """Return a record with the content at the base for places whose content was never recorded."""
    unseen = {anchor: None for anchor, mark in places_of(record).items() if mark is None}
    if not unseen:
        return record
    marks = memory.checkout.snapshot(unseen, at=base).marks
    seen = record.seen or CodeSnapshot(commit=base, marks={})
    there = {anchor: mark for anchor, mark in marks.items() if mark.there}
    return replace(record, seen=replace(seen, marks={**there, **seen.marks}))


def _falsified(memory: Memory, record: Record, now: Freshness, base: str) -> Falsified | None:
    if not now.problems:
        return None
    before = freshness_of(record, memory.checkout.snapshot(places_of(record), at=base), memory.clock.now())
    wrong_before = {finding.anchor for finding in before.problems}
    findings = tuple(finding for finding in now.problems if finding.anchor not in wrong_before)
    if not findings:
        return None
    why = tuple(details(replace(now, findings=findings)))
    return Falsified(record=record, why=why, findings=findings, held=record.state == "held")


def place_of(broken: Falsified) -> tuple[str, int]:
    """Return the file and line to show a finding at: the first cited file that exists, else the memory's own."""
    for finding in broken.findings:
        path = parse_anchor(finding.anchor).path
        if path and finding.now and finding.now.there:
            return path, finding.now.first or 1
    cited = (path for finding in broken.findings if (path := parse_anchor(finding.anchor).path))
    return broken.file or next(cited, NOWHERE), 1
