"""Everything that waits for a person, in one list, and the decisions on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from holdfast.engine.views import health_queries, records
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.fold import REJECTED
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.freshness import wrong_claims
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.freshness import freshness, is_here, snapshot_of
from holdfast.verbs.records.lifecycle import Revision, link, retire, revise
from holdfast.verbs.records.overwritten import TEXT, recently_overwritten
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.suggest import dismiss, promote, suggestions
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals
from holdfast.verbs.truth.contradictions import open_contradictions, resolve
from holdfast.verbs.truth.verify import check_all, verify

MOST, MOST_AT_ONCE = 50, 10_000  # items of each sort
Sort = Literal[
    "quarantined", "pending", "mined", "suggestion", "overwritten", "doubted", "contradiction", "duplicate", "stale"
]
SORTS: tuple[Sort, ...] = get_args(Sort)
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
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingItem:
    """A record that waits for a decision, why, and what can be decided.

    `others` are the records it is compared with: the older one of a contradiction, the other near-duplicates.
    """

    sort: Sort
    record: Record
    why: str
    others: tuple[Record, ...] = ()
    text: str = ""  # what approving would save (a merge), or rejecting would bring back (a replaced text)
    author: str = ""  # who sent a quarantined change
    choices: Mapping[Choice, str] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all records of the item: the same decision is offered once."""
        return (self.record.id, *(other.id for other in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about a memory or an author."""

    reference: str
    title: str
    done: str


def waiting_items(memory: Memory, *, sorts: Sequence[Sort] = SORTS, limit: int = MOST) -> list[WaitingItem]:
    """Return what waits for a decision in this project, at most `limit` of each sort, most pressing sorts first.

    Contradictions, duplicates and stale records are found by comparing texts and code, which takes up to a second or two.
    """
    if unknown := set(sorts) - set(SORTS):
        raise Invalid(f"{', '.join(sorted(unknown))} is no sort of item.", hint=f"Use {', '.join(SORTS)}.")
    items = []
    for sort in (sort for sort in SORTS if sort in sorts):
        offered = [item for item, _ in zip(_LISTS[sort](memory), range(limit), strict=False)]
        items += [replace(item, choices=_choices(item)) for item in offered]
    return items


def _choices(item: WaitingItem) -> Mapping[Choice, str]:
    return {choice: what for choice, what in CHOICES[item.sort].items() if choice != "author" or item.author}


def decide(memory: Memory, item: WaitingItem, choice: Choice, *, text: str = "", reason: str = "") -> str:
    """Carry out a decision on an item, and return what was done; `text` is the new text of an edit."""
    if choice not in _choices(item):
        raise Invalid(f"{choice} is no answer here.", hint=f"Use {', '.join(_choices(item))}.")
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


_REASONS = {"stale": "the code it cites has changed", "doubted": "it was reported wrong"}


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


def _quarantined(memory: Memory) -> Iterator[WaitingItem]:
    for change in quarantine.waiting(memory):
        claims = (
            f", claims to be from {change.claimed}" if change.claimed and change.claimed not in change.author else ""
        )
        author = change.author or quarantine.UNKNOWN
        effect = "a new memory" if change.new else f"would be {change.would}"
        why = f"{effect}, sent by {author}{claims}, by {change.way}"
        yield WaitingItem(sort="quarantined", record=change.record, why=why, author=change.author)


def _pending(memory: Memory) -> Iterator[WaitingItem]:
    for record in waiting_records(memory, limit=MOST_AT_ONCE):
        if not mining.is_mined(record):
            yield WaitingItem(sort="pending", record=record, why=_SOURCES.get(record.source, "it needs approval"))


_SOURCES = {
    "inferred": "an agent concluded it",
    "observed": "it was observed, not stated",
    "mined": "it recurred in your work",
    "imported": "it was imported",
    "explicit": "every memory needs approval here (setting `confirm_writes`)",
}


def _mined(memory: Memory) -> Iterator[WaitingItem]:
    for pattern in mining.mined(memory, limit=MOST_AT_ONCE):
        times = f"{pattern.occurrences} times" if pattern.occurrences > 1 else "once"
        why = (
            f"found {times} in {pattern.sessions} sessions"
            if pattern.sessions > 1
            else f"found {times} in logged output"
        )
        yield WaitingItem(sort="mined", record=pattern.record, why=why)


def _suggestions(memory: Memory) -> Iterator[WaitingItem]:
    for record in suggestions(memory):
        count = len(record.extra.get("evidence", ()))
        yield WaitingItem(
            sort="suggestion", record=record, why=f"{count} sessions had this topic; it could become a thread"
        )


def _overwritten(memory: Memory) -> Iterator[WaitingItem]:
    for found in recently_overwritten(memory):
        lost = next((str(found.lost.data[name]) for name in TEXT if isinstance(found.lost.data.get(name), str)), "")
        if body := str(found.lost.data.get("body") or lost):
            who, by = found.lost.by.name or "someone", found.by.by.name or "someone"
            why = f"edited in two places: {by}'s text replaced {who}'s, unseen: {shorten(body, 120)}"
            yield WaitingItem(sort="overwritten", record=found.record, why=why, text=body)


def _doubted(memory: Memory) -> Iterator[WaitingItem]:
    db = memory.store.db
    found = health_queries.contradicted(db, memory.store.project_number(memory.project), MOST)
    known = records.by_ids(db, found.ids)
    for record_id in found.ids:
        if record_id in known:
            yield WaitingItem(sort="doubted", record=known[record_id].record, why="it was reported wrong")


def _contradictions(memory: Memory) -> Iterator[WaitingItem]:
    for dispute in open_contradictions(memory, limit=MOST).found:
        why = dispute.why.explain if dispute.why else f"marked by {dispute.marked_by or 'someone'}"
        yield WaitingItem(sort="contradiction", record=dispute.newer, others=(dispute.older,), why=why)


def _duplicates(memory: Memory) -> Iterator[WaitingItem]:
    for group in proposals(memory, limit=MOST).found:
        *others, newest = group.sources
        why = "they say nearly the same"
        yield WaitingItem(sort="duplicate", record=newest, others=tuple(others), why=why, text=group.text)


def _stale(memory: Memory) -> Iterator[WaitingItem]:
    for checked in check_all(memory):
        if checked.action in ("forget", "revise"):
            yield WaitingItem(sort="stale", record=checked.record, why=checked.why)


_LISTS: Mapping[Sort, Callable[[Memory], Iterator[WaitingItem]]] = {
    "quarantined": _quarantined,
    "pending": _pending,
    "mined": _mined,
    "suggestion": _suggestions,
    "overwritten": _overwritten,
    "doubted": _doubted,
    "contradiction": _contradictions,
    "duplicate": _duplicates,
    "stale": _stale,
}
