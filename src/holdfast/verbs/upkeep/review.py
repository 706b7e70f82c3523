"""Decisions on what waits for a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.fold import REJECTED
from holdfast.model.record import Record
from holdfast.model.text import counted
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.freshness import wrong_claims
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.freshness import freshness, is_here, snapshot_of
from holdfast.verbs.records.lifecycle import Revision, link, rename_scope, retire, revise
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.suggest import dismiss, promote
from holdfast.verbs.truth.consolidate import consolidate, proposal_of
from holdfast.verbs.truth.contradictions import resolve
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.inbox import MOST_AT_ONCE, Sort, WaitingItem, waiting_items

Choice = Literal["approve", "reject", "both", "author", "edit"]
# What each choice does, by sort; a sort without a choice does not offer it.
CHOICES: Mapping[Sort, Mapping[Choice, str]] = {
    "quarantined": {"approve": "accept it", "reject": "reject it", "author": "accept all of this author, now and in future"},
    "pending": {"approve": "approve it", "reject": "reject it", "edit": "edit and approve it"},
    "mined": {"approve": "approve it", "reject": "reject it for good", "edit": "edit and approve it"},
    "suggestion": {"approve": "open the thread", "reject": "dismiss it"},
    "overwritten": {"approve": "keep the text as it is", "reject": "bring back the replaced text", "edit": "edit it"},
    "doubted": {"approve": "it is right", "reject": "retire it", "edit": "correct it"},
    "contradiction": {"approve": "keep the newer", "reject": "keep the older", "both": "both are true", "edit": "edit the newer"},
    "duplicate": {"approve": "merge them", "reject": "keep them apart"},
    "stale": {"approve": "it is still true", "reject": "retire it", "edit": "correct it"},
    "scope": {"approve": "rename the scope"},
    "unchecked": {"approve": "it is still true", "reject": "retire it", "edit": "correct it"},
    "unused": {"approve": "keep it, it is still true", "reject": "retire it", "edit": "correct it"},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about a memory or an author."""

    reference: str
    title: str
    done: str


def choices(item: WaitingItem) -> Mapping[Choice, str]:
    """Return what can be decided about an item, with what each choice does."""
    return {choice: what for choice, what in CHOICES[item.sort].items() if choice != "author" or item.author}


def decide(memory: Memory, item: WaitingItem, choice: Choice, *, text: str = "", reason: str = "") -> str:
    """Carry out a decision on an item, and return what was done; `text` is the new text of an edit."""
    if choice not in choices(item):
        raise Invalid(f"{choice} is no answer here.", hint=f"Use {', '.join(choices(item))}.")
    if choice == "author":
        return _approve(memory, quarantine.address(item.author) or item.author)
    if choice == "edit":
        _reword(memory, item.record.id, text)
        if item.sort not in ("pending", "mined"):
            return "revised"
    if item.sort in ("quarantined", "pending", "mined", "suggestion"):
        return _reject(memory, item.record.id, reason) if choice == "reject" else _approve(memory, item.record.id)
    if item.others:
        return _decide_between(memory, item, choice, reason)
    if item.sort == "scope":
        return f"renamed in {counted(len(rename_scope(memory, item.author, item.text)), 'memory')}"
    if choice == "approve":
        _verify(memory, item.record)
        return "verified"
    if item.sort == "overwritten":
        _reword(memory, item.record.id, item.text)
        return "replaced text brought back"
    retire(memory, item.record.id, reason or _REASONS[item.sort])
    return "retired"


def _decide_between(memory: Memory, item: WaitingItem, choice: Choice, reason: str) -> str:
    """Carry out a decision on records that contradict or repeat each other."""
    if item.sort == "contradiction":
        newer, older = item.record.id, item.others[0].id
        how, keep = "both" if choice == "both" else "supersede", older if choice == "reject" else newer
        resolve(memory, newer, older, how, keep=keep, note=reason)
        return {"approve": "kept the newer", "reject": "kept the older"}.get(choice, "kept both")
    if choice == "approve":
        consolidate(memory, proposal_of(memory, item.ids), text=item.text)
        return "merged"
    for other in item.others:
        link(memory, item.record.id, "relates_to", other.id, note=reason)
    return "kept apart"


def approve(memory: Memory, references: Sequence[str], *, force: bool = False) -> list[Decision]:
    """Approve pending and quarantined memories, or accept authors by address, now and in future."""
    return [
        Decision(reference=reference, title=title, done=_approve(memory, reference, force=force))
        for reference, title in _named(memory, references)
    ]


def reject(memory: Memory, references: Sequence[str], *, reason: str = "") -> list[Decision]:
    """Reject pending and quarantined memories, or authors by address, now and in future."""
    return [
        Decision(reference=reference, title=title, done=_reject(memory, reference, reason))
        for reference, title in _named(memory, references)
    ]


def decide_all(memory: Memory, sorts: Sequence[Sort], choice: Choice, *, reason: str = "") -> list[Decision]:
    """Approve or reject everything that waits of these sorts, quarantined authors included; what cannot be is reported."""
    decisions: list[Decision] = []
    for item in waiting_items(memory, sorts=sorts, limit=MOST_AT_ONCE):
        by_author = item.sort == "quarantined" and quarantine.address(item.author)
        reference = by_author or item.record.id
        if by_author and any(made.reference == by_author for made in decisions):
            continue
        title = item.author if by_author else item.record.title
        try:
            done = _approve(memory, reference) if choice == "approve" else _reject(memory, reference, reason)
        except HoldfastError as problem:
            done = f"left: {problem}"
        decisions.append(Decision(reference=reference, title=title, done=done))
    return decisions


_REASONS = {
    "stale": "the code it cites has changed",
    "doubted": "it was reported wrong",
    "unchecked": "not verified for long",
    "unused": "it never helped",
}


def _named(memory: Memory, references: Sequence[str]) -> list[tuple[str, str]]:
    """Return each reference with the title of its memory; an author has none."""
    if not references:
        raise Invalid("Which one?", hint="Pass an id or an author's address; `holdfast review list` lists what waits.")
    found = [find(memory, reference).record if is_reference(memory, reference) else None for reference in references]
    return [
        (record.id, record.title) if record else (reference, "")
        for reference, record in zip(references, found, strict=True)
    ]


def _approve(memory: Memory, reference: str, *, force: bool = False) -> str:
    match _awaited(memory, reference):
        case "quarantined":
            quarantine.accept(memory, [reference])
            return "accepted"
        case "suggestion":
            promote(memory, reference)
            return "opened as a thread"
        case "mined":
            return _settled(mining.approve(memory, reference, waivers=Waivers(duplicate=force)))
    return _settled(confirm(memory, reference, waivers=Waivers(duplicate=force)))


def _reject(memory: Memory, reference: str, reason: str) -> str:
    match _awaited(memory, reference):
        case "quarantined":
            quarantine.reject(memory, [reference])
        case "suggestion":
            dismiss(memory, reference)
            return "dismissed"
        case "mined":
            mining.reject(memory, [reference], reason=reason)
        case _ if reason:
            retire(memory, find(memory, reference).record.id, reason)
        case _:
            cancel(memory, reference)
    return "rejected"


def _awaited(memory: Memory, reference: str) -> Sort:
    """Return why a record, or an author, waits."""
    if not is_reference(memory, reference):
        if "@" in reference or any(reference.lower() in item.author.lower() for item in quarantine.waiting(memory)):
            return "quarantined"
        raise NotFound(f"No memory or author is called {reference}.", hint="`holdfast review list` lists what waits.")
    record = find(memory, reference).record
    if record.state == "held" or record.waiting or record.reason == REJECTED:
        return "quarantined"
    if record.state != "pending":
        hint = "`holdfast verify` says it is still true, `holdfast forget` retires it; `holdfast review list` lists what waits."
        raise Conflict(f"{record.id} is {record.state} and needs no approval.", hint=hint)
    if record.kind == "thread":
        return "suggestion"
    return "mined" if mining.is_mined(record) else "pending"


def _settled(outcome: Outcome) -> str:
    match outcome:
        case Written() | WrittenPending():
            return "approved"
    refusal = explain(outcome)
    raise Conflict(f"It cannot be approved: {refusal.reason}", hint="--force approves it all the same; or reject it.")


def _reword(memory: Memory, record_id: str, text: str) -> None:
    outcome = revise(memory, record_id, Revision(body=text))
    if not isinstance(outcome, Record):
        raise Conflict(f"It cannot be saved: {explain(outcome).reason}", hint="Leave the secret out.")


def _verify(memory: Memory, record: Record) -> None:
    """Verify a record; anchors that no longer hold are dropped, since the user says that the text is still true."""
    if not record.anchors or not is_here(memory, record.project):
        verify(memory, record.id)
        return
    snapshot, state = snapshot_of(memory, record), freshness(memory, [record])[record.id]
    gone = {finding.anchor for finding in state.problems if finding.state == "missing"}
    kept = [anchor for anchor in record.anchors if anchor not in gone and not wrong_claims((anchor,), snapshot)]
    verify(memory, record.id, anchors=None if len(kept) == len(record.anchors) else tuple(kept))
