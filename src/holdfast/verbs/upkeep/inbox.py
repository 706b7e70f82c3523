"""What waits for a person in a project, and what can be decided about it: one table for every surface."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from holdfast.engine.views import health_queries, labels, records
from holdfast.engine.views.health_queries import Trouble
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.fold import REJECTED
from holdfast.model.freshness import Freshness
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.freshness import details, wrong_claims
from holdfast.policy.new_value import NewValue, new_value
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.branches import lost
from holdfast.verbs.records.freshness import freshness, is_here, snapshot_of
from holdfast.verbs.records.lifecycle import Revision, link, rename_scope, retire, revise
from holdfast.verbs.records.overwritten import TEXT, recently_overwritten
from holdfast.verbs.records.quarantine import accept, reject
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.records.undo import Done, act
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.suggest import dismiss, promote, suggestions
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals
from holdfast.verbs.truth.contradictions import Dispute, marked, open_contradictions, resolve
from holdfast.verbs.truth.verify import update_value, verify
from holdfast.verbs.upkeep.health import MOST_CHECKED, Health, typos_in

DAYS = 30
MOST, MOST_AT_ONCE = 50, 10_000  # items of each sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that waits for a decision: a record, why, and what is needed to decide.

    `others` are the records it is compared with: the older one of a contradiction, the other near-duplicates.
    """

    sort: str
    record: Record
    why: str = ""
    others: tuple[Record, ...] = ()
    # What approving would save (a merge, another scope), or rejecting would bring back (a replaced text).
    text: str = ""
    author: str = ""  # who sent a quarantined change; of a scope, the one that is misspelled
    judged: Freshness | None = None
    update: NewValue | None = None  # the value that the code has now

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all records of the item: the same decision is offered once."""
        return (self.record.id, *(other.id for other in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What comes with a decision: the text of an edit, a reason, and whether a duplicate may be approved."""

    text: str = ""
    reason: str = ""
    force: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision: its name, its key, its words on a button, what it does (it returns a message), and when it is offered."""

    name: str
    key: str
    words: str
    do: Callable[[Memory, Item, Given], str]
    offered: Callable[[Item], object] = lambda _: True

    def words_for(self, item: Item) -> str:
        """Return the words, with what the item fills in."""
        return self.words.format(item=item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Some items of one sort; `total` counts all of them, None if it is unknown: the code is not here."""

    total: int | None
    items: tuple[Item, ...] = ()
    looked_at: int = 0  # records that were compared with each other
    not_looked_at: int = 0  # older records that were left out


@dataclass(frozen=True, slots=True)
class Sort:
    """A reason to wait: its title and sentence, how its items are found, and what can be decided.

    `find` takes the range of items, and how many of the newest records may be looked at. `compare` finds more by
    comparing all texts, which takes longer. What is `later` may wait, and is shown only on request; what is `rare` has no
    place on the page unless something waits.
    """

    title: str
    about: str
    find: Callable[[Memory, int, int, int], Waiting]
    choices: tuple[Choice, ...]
    compare: Callable[[Memory, int], Waiting] | None = None
    troubles: Mapping[Trouble, str | Callable[[Memory, Record], str]] = field(default_factory=dict)
    urgent: bool = True
    later: bool = False
    rare: bool = False
    bulk: bool = False  # can be approved and rejected all at once, and by id


def waiting(memory: Memory, sort: str, *, limit: int = 20, offset: int = 0, checked: int = MOST_CHECKED) -> Waiting:
    """Return what waits of one sort, without what only a comparison of all texts finds.

    `checked` is how many of the newest records that cite code are compared with it.
    """
    return SORTS[sort].find(memory, offset, offset + limit, checked)


def compared(memory: Memory, sort: str, *, limit: int = 20) -> Waiting:
    """Return what comparing the texts of the newest memories finds."""
    compare = SORTS[sort].compare
    return compare(memory, limit) if compare else Waiting(total=0)


def waiting_items(memory: Memory, *, sorts: Sequence[str] | None = None, limit: int = MOST) -> list[Item]:
    """Return what waits for a decision in this project, at most `limit` of each sort, most pressing sorts first.

    Contradictions, duplicates and stale records are found by comparing texts and code, which takes up to a second or two.
    """
    if unknown := set(sorts or ()) - set(SORTS):
        raise Invalid(f"{', '.join(sorted(unknown))} is no sort of item.", hint=f"Use {', '.join(SORTS)}.")
    items: list[Item] = []
    for name in (name for name, sort in SORTS.items() if (name in sorts if sorts is not None else not sort.later)):
        own = waiting(memory, name, limit=limit, checked=MOST_AT_ONCE).items
        items += (*own, *compared(memory, name, limit=limit).items)[:limit]
    return items


def waiting_counts(memory: Memory, report: Health | None = None) -> dict[str, int | None]:
    """Count what waits of each sort, without what only a comparison finds. A health report spares queries."""
    names = [trouble for sort in SORTS.values() for trouble in sort.troubles]
    troubles = {name: getattr(report, name).total for name in names} if report else _tally(memory)
    return {
        name: sum(troubles[trouble] for trouble in sort.troubles)
        if sort.troubles
        else waiting(memory, name, limit=0).total
        for name, sort in SORTS.items()
        if name != "duplicate"
    }


def choices(item: Item) -> dict[str, Choice]:
    """Return what can be decided about an item, by name."""
    return {choice.name: choice for choice in SORTS[item.sort].choices if choice.offered(item)}


def decide(memory: Memory, item: Item, choice: str, given: Given | None = None) -> Done:
    """Carry out a decision on an item."""
    known = {each.name: each for each in SORTS[item.sort].choices}
    if choice not in known:
        raise Invalid(f"{choice} cannot be decided here.", hint=f"Use {', '.join(known)}.")

    def do(acting: Memory) -> tuple[str, Any]:
        with acting.store.transaction():
            return known[choice].do(acting, item, given or Given()), None

    return act(memory, do)


def decide_by_name(memory: Memory, reference: str, choice: str, given: Given) -> tuple[Record | None, Done]:
    """Approve or reject a pending or quarantined memory, or an author by address; the record is None for an author."""
    if is_reference(memory, reference):
        record = find(memory, reference).record
        return record, decide(memory, Item(sort=awaited(record), record=record), choice, given)
    if "@" not in reference and not any(
        reference.lower() in each.author.lower() for each in quarantine.waiting(memory)
    ):
        raise NotFound(f"No memory or author is called {reference}.", hint="`holdfast review list` lists what waits.")
    person = Item(sort="quarantined", record=Record(id=""), author=reference)
    return None, decide(memory, person, "author" if choice == "approve" else "reject author", given)


def decide_all(memory: Memory, sorts: Sequence[str], choice: str, given: Given) -> list[tuple[Item, str]]:
    """Approve or reject everything that waits of these sorts, quarantined authors included; what cannot be is reported."""
    decisions = list[tuple[Item, str]]()
    for item in waiting_items(memory, sorts=sorts, limit=MOST_AT_ONCE):
        if item.author and any(made.author == item.author for made, _ in decisions):
            continue
        name = choice if not item.author else "author" if choice == "approve" else "reject author"
        try:
            decisions.append((item, decide(memory, item, name, given).message))
        except HoldfastError as problem:
            decisions.append((item, f"left: {problem}"))
    return decisions


def awaited(record: Record) -> str:
    """Return why a record waits."""
    if record.state == "held" or record.waiting or record.reason == REJECTED:
        return "quarantined"
    if record.state != "pending":
        hint = "`holdfast verify` says it is still true, `holdfast forget` retires it; `holdfast review list` lists what waits."
        raise Conflict(f"{record.id} is {record.state} and needs no approval.", hint=hint)
    return "suggestion" if record.kind == "thread" else "mined" if mining.is_mined(record) else "pending"


# Where the items come from.


def _listed(found: Callable[[Memory], Sequence[Any]], item: Callable[[Any], Item]) -> Callable[..., Waiting]:
    """Return a `find` over a whole list of which a range becomes items."""

    def find_range(memory: Memory, start: int, end: int, _: int) -> Waiting:
        every = found(memory)
        return Waiting(total=len(every), items=tuple(map(item, every[start:end])))

    return find_range


def _quarantined(change: quarantine.Waiting) -> Item:
    claims = f", claims to be from {change.claimed}" if change.claimed and change.claimed not in change.author else ""
    effect = "a new memory" if change.new else f"would be {change.would}"
    why = f"{effect}, sent by {change.author or quarantine.UNKNOWN}{claims}, by {change.way}"
    return Item(sort="quarantined", record=change.record, why=why, author=change.author)


_SOURCES = {
    "inferred": "an agent concluded it",
    "observed": "it was observed, not stated",
    "mined": "it recurred in your work",
    "imported": "it was imported",
    "explicit": "every memory needs approval here (setting `confirm_writes`)",
}


def _pending(memory: Memory) -> list[Record]:
    return [record for record in waiting_records(memory, limit=MOST_AT_ONCE) if not mining.is_mined(record)]


def _awaiting(record: Record) -> Item:
    return Item(sort="pending", record=record, why=_SOURCES.get(record.source, "it needs approval"))


def _mined(pattern: mining.Mined) -> Item:
    times = f"{pattern.occurrences} times" if pattern.occurrences > 1 else "once"
    where = f"{pattern.sessions} sessions" if pattern.sessions > 1 else "logged output"
    return Item(sort="mined", record=pattern.record, why=f"found {times} in {where}")


def _suggested(record: Record) -> Item:
    why = f"{len(record.extra.get('evidence', ()))} sessions had this topic; it could become a thread"
    return Item(sort="suggestion", record=record, why=why)


def _overwritten(memory: Memory) -> list[Item]:
    items = []
    for found in recently_overwritten(memory):
        parts = (found.lost.data.get(name) for name in ("body", *TEXT))
        if body := next((part for part in parts if isinstance(part, str) and part), ""):
            who, by = found.lost.by.name or "someone", found.by.by.name or "someone"
            why = f"edited in two places: {by}'s text replaced {who}'s, unseen: {shorten(body, 120)}"
            items.append(Item(sort="overwritten", record=found.record, why=why, text=body))
    return items


def _disputed(pair: Dispute) -> Item:
    why = pair.why.explain if pair.why else f"marked by {pair.marked_by or 'someone'}"
    return Item(sort="contradiction", record=pair.newer, others=(pair.older,), why=why)


def _detected(memory: Memory, limit: int) -> Waiting:
    """Return the contradictions that a rule found and no one marked."""
    disputes = open_contradictions(memory, limit=limit + len(marked(memory)))
    items = tuple(_disputed(dispute) for dispute in disputes.found if not dispute.marked_by)
    looked = {"looked_at": disputes.looked_at, "not_looked_at": disputes.not_looked_at}
    return Waiting(total=len(items), items=items[:limit], **looked)


def _duplicates(memory: Memory, limit: int) -> Waiting:
    groups, why = proposals(memory, limit=limit), "they say nearly the same"
    items = tuple(
        Item(sort="duplicate", record=group.sources[-1], others=group.sources[:-1], why=why, text=group.text)
        for group in groups.found
    )
    looked = {"looked_at": groups.looked_at, "not_looked_at": groups.not_looked_at}
    return Waiting(total=len(items) + groups.more, items=items, **looked)


def _stale(memory: Memory, start: int, end: int, checked: int) -> Waiting:
    """Return records whose branch is gone unmerged, and those that cite code which changed or is gone."""
    if not is_here(memory, memory.project):
        return Waiting(total=None)
    gone = {record.id: (record, branch) for branch, orphans in lost(memory).items() for record in orphans}
    citing = health_queries.citing(memory.store, _here(memory), checked)
    known = [entry.record for entry in records.by_ids(memory.store, citing.ids).values() if entry.record.id not in gone]
    judged = freshness(memory, known)
    drifted = [record for record in known if record.id in judged and judged[record.id].problems]
    items = [
        Item(sort="stale", record=record, why=f"its branch {branch} is gone and was never merged")
        for record, branch in gone.values()
    ]
    newest = sorted(drifted, key=lambda record: record.id, reverse=True)
    items += [_judged("stale", record, judged[record.id]) for record in newest]
    return Waiting(total=len(items), items=tuple(items[start:end]), not_looked_at=citing.total - len(citing.ids))


def _judged(sort: str, record: Record, state: Freshness | None, why: str = "") -> Item:
    update = new_value(record, state.findings) if state else None
    why = why or ("; ".join(details(state)) if state else "")
    return Item(sort=sort, record=record, why=why, judged=state, update=update)


def _scopes(memory: Memory, start: int, end: int, _: int) -> Waiting:
    """Return scopes that look misspelled, each with one of its records."""
    typos = typos_in(labels.counts(memory.store, "scope", _here(memory)))
    items = []
    for typo in typos[start:end]:
        numbers = labels.numbers(memory.store, "scope", typo.scope, _here(memory), 1)
        for record in records.by_numbers(memory.store, numbers).values():
            why = f"its scope {typo.scope} looks like {typo.meant}"
            items.append(Item(sort="scope", record=record, why=why, author=typo.scope, text=typo.meant))
    return Waiting(total=len(typos), items=tuple(items))


def _troubled(name: str) -> Callable[..., Waiting]:
    """Return a `find` of the records with the troubles of a sort, one trouble after the other."""

    def find_range(memory: Memory, start: int, end: int, _: int) -> Waiting:
        store, before, counts = memory.store, days_before(memory.clock.now(), DAYS), _tally(memory)
        items, skipped = list[Item](), 0
        for trouble, why in SORTS[name].troubles.items():
            low, high = max(0, start - skipped), min(counts[trouble], end - skipped)
            skipped += counts[trouble]
            if high <= low:
                continue
            ids = health_queries.ids_of(store, trouble, _here(memory), before, high - low, offset=low)
            known = records.by_ids(store, ids)
            chosen = [known[id_].record for id_ in ids if id_ in known]
            judged = freshness(memory, chosen)
            items += [
                _judged(name, record, judged.get(record.id), why if isinstance(why, str) else why(memory, record))
                for record in chosen
            ]
        return Waiting(total=skipped, items=tuple(items))

    return find_range


def _reported(memory: Memory, record: Record) -> str:
    report = next((use for use in uses_of(memory, record.id, limit=20) if use.outcome == "contradicted"), None)
    by, said = (f" by {report.by}", f": {report.said}" if report.said else "") if report else ("", "")
    return f"it was reported wrong{by}{said}"


def _here(memory: Memory) -> int:
    return memory.store.project_number(memory.project)


def _tally(memory: Memory) -> Mapping[Trouble, int]:
    return health_queries.tally(memory.store, _here(memory), days_before(memory.clock.now(), DAYS)).troubles


# What decisions do.


def _approve(memory: Memory, item: Item, given: Given) -> str:
    approve = mining.approve if item.sort == "mined" else confirm
    outcome = approve(memory, item.record.id, waivers=Waivers(duplicate=given.force))
    if not isinstance(outcome, Written | WrittenPending):
        hint = "--force approves it all the same; or reject it."
        raise Conflict(f"It cannot be approved: {explain(outcome).reason}", hint=hint)
    return f"Approved: {outcome.record.title}"


def _reject(memory: Memory, item: Item, given: Given) -> str:
    if item.sort == "mined":
        mining.reject(memory, [item.record.id], reason=given.reason)
        return f"Rejected for good: {item.record.title}"
    retire(memory, item.record.id, given.reason) if given.reason else cancel(memory, item.record.id)
    return f"Rejected: {item.record.title}"


def _edit(memory: Memory, item: Item, given: Given) -> str:
    outcome = revise(memory, item.record.id, Revision(body=given.text))
    if not isinstance(outcome, Record):
        raise Conflict(f"It cannot be saved: {explain(outcome).reason}", hint="Leave the secret out.")
    return _approve(memory, item, given) if outcome.state == "pending" else f"Revised: {outcome.title}"


def _dismiss(memory: Memory, item: Item, _: Given) -> str:
    record, left = dismiss(memory, item.record.id)
    return f"Dismissed: {record.title}" + ("" if left > 0 else ". It will not come back.")


def _still_true(memory: Memory, item: Item, _: Given) -> str:
    """Verify a record; anchors that no longer hold are dropped, since the user says that the text is still true."""
    record, kept = item.record, None
    if record.anchors and is_here(memory, record.project):
        snapshot, state = snapshot_of(memory, record), freshness(memory, [record])[record.id]
        gone = {finding.anchor for finding in state.problems if finding.state == "missing"}
        kept = tuple(each for each in record.anchors if each not in gone and not wrong_claims((each,), snapshot))
    anchors = kept if kept is not None and len(kept) < len(record.anchors) else None
    return f"Still true: {verify(memory, record.id, anchors=anchors).title}"


def _retire_as(why: str) -> Callable[[Memory, Item, Given], str]:
    return lambda memory, item, given: f"Retired: {retire(memory, item.record.id, given.reason or why).title}"


def _resolve(how: str, keep: str = "newer") -> Callable[[Memory, Item, Given], str]:
    def do(memory: Memory, item: Item, given: Given) -> str:
        newer, older = item.record.id, item.others[0].id
        done = resolve(memory, newer, older, how, keep=older if keep == "older" else newer, note=given.reason)
        return f"“{done.kept.title}” {RESOLVED[how]} “{done.other.title}”."

    return do


RESOLVED = {
    "supersede": "now replaces",
    "weaken": "now weighs more than",
    "remove": "replaces the retired",
    "both": "is true, and so is",
}


def _merge(memory: Memory, item: Item, _: Given) -> str:
    return f"Merged: {consolidate(memory, proposal_of(memory, item.ids), text=item.text).title}"


def _keep_apart(memory: Memory, item: Item, given: Given) -> str:
    for other in item.others:
        link(memory, item.record.id, "relates_to", other.id, note=given.reason)
    return f"Kept apart: {item.record.title}"


def _rename(memory: Memory, item: Item, _: Given) -> str:
    renamed = rename_scope(memory, item.author, item.text)
    return f"Renamed in {counted(len(renamed), 'memory')}: {item.text}"


def _sent(decided: Callable[..., quarantine.Decided]) -> Callable[[Memory, Item, Given], str]:
    return lambda memory, item, _: _said(memory, decided(memory, [item.record.id]))


def _author(decided: Callable[..., quarantine.Decided]) -> Callable[[Memory, Item, Given], str]:
    return lambda memory, item, _: _said(memory, decided(memory, [quarantine.address(item.author) or item.author]))


def _said(memory: Memory, decided: quarantine.Decided) -> str:
    named = ", ".join(decided.authors) or find(memory, decided.records[0]).record.title
    return f"{decided.verdict.capitalize()}: {named}"


def _has_author(item: Item) -> bool:
    return bool(item.author)


def _itself(item: Item) -> Item:
    return item


def _open(memory: Memory, item: Item, _: Given) -> str:
    return f"Opened as a thread: {promote(memory, item.record.id).title}"


def _bring_back(memory: Memory, item: Item, _: Given) -> str:
    return _edit(memory, item, Given(text=item.text))


def _update(memory: Memory, item: Item, _: Given) -> str:
    return f"Updated: {update_value(memory, item.record.id).title}"


EDIT = Choice("edit", "e", "edit", _edit)
APPROVE = Choice("approve", "y", "approve", _approve)
REJECT = Choice("reject", "x", "reject", _reject)
STILL_TRUE = Choice("approve", "y", "still true", _still_true, lambda item: not item.update)
UPDATE = Choice("update", "n", "update to {item.update.new}", _update, lambda item: item.update)


def _or_retire(why: str) -> tuple[Choice, ...]:
    """Return what can be decided about a record that may no longer be true; `why` is the default reason to retire it."""
    return (UPDATE, STILL_TRUE, Choice("reject", "x", "retire", _retire_as(why)), EDIT)


SORTS: Mapping[str, Sort] = {
    "stale": Sort("Stale", "Cited code changed or is gone.", _stale, _or_retire("the code it cites has changed")),
    "doubted": Sort(
        *("Reported wrong", "An agent or a person reported it wrong."),
        *(_troubled("doubted"), _or_retire("it was reported wrong")),
        troubles={"contradicted": _reported},
    ),
    "contradiction": Sort(
        *("Contradictions", "Two memories that cannot both be true.", _listed(marked, _disputed)),
        (
            Choice("approve", "y", "keep the newer", _resolve("supersede")),
            Choice("reject", "x", "keep the older", _resolve("supersede", "older")),
            Choice("both", "b", "both are true", _resolve("both")),
            Choice("weaken", "w", "weaken the older", _resolve("weaken")),
            EDIT,
        ),
        compare=_detected,
    ),
    "pending": Sort(
        *("Needs approval", "It is used once you approve it.", _listed(_pending, _awaiting), (APPROVE, REJECT, EDIT)),
        bulk=True,
    ),
    "quarantined": Sort(
        *("From others", "From an author you have not accepted yet; not used until you do."),
        _listed(quarantine.waiting, _quarantined),
        (
            Choice("approve", "y", "accept", _sent(accept)),
            Choice("author", "a", "accept the author, now and in future", _author(accept), _has_author),
            Choice("reject", "x", "reject", _sent(reject)),
            Choice("reject author", "r", "reject the author, now and in future", _author(reject), _has_author),
        ),
        bulk=True,
    ),
    "mined": Sort(
        *("Suggested memories", "Found by rules in what sessions wrote."),
        *(_listed(partial(mining.mined, limit=MOST_AT_ONCE), _mined), (APPROVE, REJECT, EDIT)),
        rare=True,
        bulk=True,
    ),
    "suggestion": Sort(
        *("Suggested threads", "Sessions keep coming back to it.", _listed(suggestions, _suggested)),
        (Choice("approve", "y", "make it a thread", _open), Choice("reject", "x", "dismiss", _dismiss)),
        rare=True,
        bulk=True,
    ),
    "overwritten": Sort(
        *("Edited twice", "Edited in two places at once; one text replaced the other.", _listed(_overwritten, _itself)),
        (
            Choice("approve", "y", "keep the text as it is", _still_true),
            Choice("reject", "x", "bring back the replaced text", _bring_back),
            EDIT,
        ),
        rare=True,
    ),
    "scope": Sort(
        *("Misspelled scopes", "A scope that looks like another one.", _scopes),
        (Choice("approve", "y", "rename it to {item.text}", _rename),),
        rare=True,
    ),
    "duplicate": Sort(
        *("Near-duplicates", "Memories that say the same.", _listed(lambda _: (), _itself)),
        (Choice("approve", "y", "merge them", _merge), Choice("reject", "x", "keep them apart", _keep_apart)),
        compare=_duplicates,
        urgent=False,
    ),
    "unchecked": Sort(
        *("Not verified", "Never verified, or more than a month ago."),
        *(_troubled("unchecked"), _or_retire("not verified for long")),
        troubles={"stale": "verified more than a month ago", "unverified": "never verified"},
        urgent=False,
        later=True,
    ),
    "unused": Sort(
        *("Never helped", "Shown without effect, or never shown, for a month."),
        *(_troubled("unused"), _or_retire("it never helped")),
        troubles={"dead": "shown, but it never helped", "cold": "no recall returned it for a month"},
        urgent=False,
        later=True,
    ),
}
