"""Check a change: which memories of the team were true before it and no longer are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.model.anchor import CodeSnapshot, Finding, Freshness, parse_anchor
from holdfast.model.record import Record
from holdfast.model.replica import CommittedMemory
from holdfast.model.text import counted
from holdfast.policy.freshness import details, freshness_of, is_about_code, places_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.truth.verify import project_pages

NOWHERE = ".holdfast/memories"  # where a finding is shown that has no file; code scanning requires a place


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsified:
    """A memory that was true before a change and no longer is, with the reasons."""

    record: Record
    why: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    file: str = ""  # its file in the repository, if it has one
    held: bool = False  # it is quarantined here: recall does not return it, but the team relies on it


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChange:
    """The memories that were checked, those that a change makes untrue, and what could not be checked."""

    checked: tuple[Record, ...] = ()
    broken: tuple[Falsified, ...] = ()
    notes: tuple[str, ...] = ()


def check_change(
    memory: Memory, base: str, committed: Sequence[CommittedMemory] = (), *, everything: bool = False
) -> CheckedChange:
    """Check the team's memories, in the repository's files and in the store, against the changes since a commit.

    Files come first: where a memory is in both, its file is what the change is reviewed with. Quarantined memories of
    the store are checked as well, so that they hide nothing. `everything` adds private ones.
    """
    memory = memory.acting_on(memory.checkout.project())
    files = {item.now.id: item.file for item in committed if item.now}
    current = [item.now for item in committed if item.now and is_about_code(item.now.kind)]
    in_files = {item.before.id for item in committed if item.before} | files.keys()
    stored = [record for record in _stored(memory, everything=everything) if record.id not in in_files]
    records = [_with_base(memory, record, base) for record in (*current, *stored)]
    states = freshness(memory, records)
    broken = [
        replace(found, file=files.get(record.id, ""))
        for record in records
        if (found := _falsified(memory, record, states[record.id], base))
    ]
    unread = [item for item in committed if item.unread]
    broken += [
        Falsified(record=item.before, why=(f"its file cannot be read: {item.unread}",), file=item.file)
        for item in unread
        if item.before
    ]
    notes = (
        []
        if records or committed
        else ["No team memory was found, neither in .holdfast/memories at the base nor in the store."]
    )
    notes += [f"{item.file} was not checked: {item.unread}" for item in unread if not item.before]
    notes += _own_changes(committed)
    notes += [
        f"{finding.anchor} could not be read, so “{record.title}” was not checked there."
        for record in records
        for finding in states[record.id].findings
        if finding.state == "unknown"
    ]
    return CheckedChange(checked=tuple(records), broken=tuple(broken), notes=tuple(notes))


def _own_changes(committed: Sequence[CommittedMemory]) -> list[str]:
    """Return what a change does to the files of memories, in one sentence: its author may be anyone."""
    done = Counter(
        "adds" if item.before is None else "deletes" if item.now is None else "changes"
        for item in committed
        if not item.unread and item.before != item.now
    )
    counts = " and ".join(f"{verb} {counted(count, 'memory')}" for verb, count in sorted(done.items()))
    said = [f"This change {counts} in .holdfast/memories. Review it like code: agents will read it."] if done else []
    return said + [
        f"It deletes {item.file}: “{item.before.title}”."
        for item in committed
        if item.before and item.now is None and not item.unread
    ]


def _stored(memory: Memory, *, everything: bool) -> Iterator[Record]:
    for page in project_pages(memory, ("active", "held")):
        yield from (record for record in page if record.visibility == "team" or (everything and record.state != "held"))


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
    """Return what is wrong now and was not at the base."""
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
