"""What needs a decision in a project, and what can be decided about it: one table for every surface."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast, get_args

from holdfast.engine.views import labels, queries, records
from holdfast.engine.views.queries import Trouble
from holdfast.model.anchor import Freshness
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.ids import days_before
from holdfast.model.patterns import tables
from holdfast.model.record import REJECTED, Record
from holdfast.model.text import counted, filled, shorten
from holdfast.policy.admission.admit import Waivers, explain
from holdfast.policy.freshness import NewValue, details, new_value, wrong_claims
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, Report, find, is_reference
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.conflicts import TEXT, recently_overwritten
from holdfast.verbs.records.freshness import MOST_CHECKED, drifted, freshness, is_here, lost, snapshot_of
from holdfast.verbs.records.lifecycle import Done, Revision, act, keep_final, link, rename_scope, retire, revise
from holdfast.verbs.records.read import uses_of, waiting_records
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.thread import dismiss, promote, suggestions
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals
from holdfast.verbs.truth.contradictions import open_contradictions, resolve
from holdfast.verbs.truth.verify import update_value, verify
from holdfast.verbs.upkeep.health import typos_in

Name = TypeVar("Name", bound=str)
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
    """A decision: its name, its key, its words on a button, its message afterwards, what it does, and when it is offered.

    The words are filled in with the `item`, the message also with the `result` of what was done.
    """

    name: str
    key: str
    words: str
    message: str
    do: Callable[[Memory, Item, Given], Any]
    offered: Callable[[Item], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Some items of one sort; `total` counts all of them, None if it is unknown: the code is not here."""

    total: int | None
    items: tuple[Item, ...] = ()
    not_looked_at: int = 0  # records that were left out, or not compared yet


@dataclass(frozen=True, slots=True)
class Sort:
    """A reason to wait: its title and sentence, how its items are found, and what can be decided.

    `find` takes the range of items, and how many of the newest records may be looked at. What is `later` may wait, and
    is shown only on request; what is `rare` has no place on the page unless something waits.
    """

    title: str
    about: str
    find: Callable[[Memory, int, int, int], Waiting]
    choices: tuple[Choice, ...]
    troubles: Mapping[Trouble, str]
    reason: str  # to retire one of its records, unless the user gives another
    urgent: bool
    later: bool
    rare: bool
    bulk: bool  # can be approved and rejected all at once, and by id


def waiting(memory: Memory, sort: str, *, limit: int = 20, offset: int = 0, checked: int = MOST_CHECKED) -> Waiting:
    """Return some of the items of one sort, and how many there are.

    `checked` is how many of the newest records that cite code are compared with it.
    """
    return SORTS[sort].find(memory, offset, offset + limit, checked)


def waiting_items(memory: Memory, *, sorts: Sequence[str] | None = None, limit: int = MOST) -> list[Item]:
    """Return what needs a decision in this project, at most `limit` of each sort, most pressing sorts first.

    Stale records are found by comparing them with the code, which takes up to a second or two.
    """
    if unknown := set(sorts or ()) - set(SORTS):
        raise Invalid(f"{', '.join(sorted(unknown))} is no sort of item.", hint=f"Use {', '.join(SORTS)}.")
    chosen = [name for name, sort in SORTS.items() if (name in sorts if sorts is not None else not sort.later)]
    return [item for name in chosen for item in waiting(memory, name, limit=limit, checked=MOST_AT_ONCE).items]


def urgent(counts: Mapping[str, int | None]) -> int:
    """Return how many things wait for a decision; what is merely unused or unverified does not count."""
    return sum(counts.get(name) or 0 for name, sort in SORTS.items() if sort.urgent)


def waiting_counts(memory: Memory) -> dict[str, int | None]:
    """Count the items of each sort."""
    troubles = _tally(memory)
    counts = {name: [troubles[trouble] for trouble in sort.troubles] for name, sort in SORTS.items()}
    return {name: sum(own) if own else waiting(memory, name, limit=0).total for name, own in counts.items()}


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
            result = known[choice].do(acting, item, given or Given())
            return known[choice].message.format(item=item, result=result), None

    done = act(memory, do)
    if not done.events:  # it decided on no memory, such as on an author who has sent nothing yet
        keep_final(memory, done.message.rstrip("."))
    return done


def decide_by_name(memory: Memory, reference: str, choice: str, given: Given) -> tuple[Record | None, Done]:
    """Approve or reject a pending or quarantined memory, or an author by address; the record is None for an author."""
    if is_reference(memory, reference):
        record = find(memory, reference).record
        return record, decide(memory, Item(sort=awaited(record), record=record), choice, given)
    authors = (change.author.lower() for change in quarantine.waiting(memory))
    if "@" not in reference and not any(reference.lower() in author for author in authors):
        hint = "`holdfast review list` lists what needs a decision."
        raise NotFound(f"No memory or author is called {reference}.", hint=hint)
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
        hint = "`holdfast verify` says it is still true, `holdfast forget` retires it; `holdfast review list` lists what needs a decision."
        raise Conflict(f"{record.id} is {record.state} and needs no approval.", hint=hint)
    return "suggestion" if record.kind == "thread" else "mined" if mining.is_mined(record) else "pending"


# Where the items come from.


def _listed(found: Callable[[Memory], Iterable[Item]], memory: Memory, start: int, end: int, _: int) -> Waiting:
    every = tuple(found(memory))
    return Waiting(total=len(every), items=every[start:end])


def _quarantined(memory: Memory) -> Iterator[Item]:
    for change in quarantine.waiting(memory):
        is_other = change.claimed and change.claimed not in change.author
        claims = f", claims to be from {change.claimed}" if is_other else ""
        why = f"{change.effect}, sent by {change.author or quarantine.UNKNOWN}{claims}, by {change.way}"
        yield Item(sort="quarantined", record=change.record, why=why, author=change.author)


def _pending(memory: Memory) -> Iterator[Item]:
    for record in waiting_records(memory, limit=MOST_AT_ONCE):
        if not mining.is_mined(record):
            why = record.extra.get("why") or _SOURCES.get(record.source, "it needs approval")
            yield Item(sort="pending", record=record, why=str(why))


def _mined(memory: Memory) -> Iterator[Item]:
    for pattern in mining.mined(memory, limit=MOST_AT_ONCE):
        times = f"{pattern['occurrences']} times" if pattern["occurrences"] > 1 else "once"
        where = f"{pattern['sessions']} sessions" if pattern["sessions"] > 1 else "logged output"
        yield Item(sort="mined", record=pattern["record"], why=f"found {times} in {where}")


def _suggested(memory: Memory) -> Iterator[Item]:
    for record in suggestions(memory):
        why = f"{len(record.extra.get('evidence', ()))} sessions had this topic; it could become a thread"
        yield Item(sort="suggestion", record=record, why=why)


def _overwritten(memory: Memory) -> Iterator[Item]:
    for found in recently_overwritten(memory):
        parts = (found.lost.data.get(name) for name in ("body", *TEXT))
        if body := next((part for part in parts if isinstance(part, str) and part), ""):
            who, by = found.lost.by.name or "someone", found.by.by.name or "someone"
            why = f"edited in two places: {by}'s text replaced {who}'s, unseen: {shorten(body, 120)}"
            yield Item(sort="overwritten", record=found.record, why=why, text=body)


def _disputed(memory: Memory) -> Iterator[Item]:
    for pair in open_contradictions(memory, limit=MOST)["found"]:
        yield Item(sort="contradiction", record=pair.newer, others=(pair.older,), why=pair.explain)


def _duplicates(memory: Memory, start: int, end: int, _: int) -> Waiting:
    groups, items, why = proposals(memory, limit=end), list[Item](), "they say nearly the same"
    for group in groups["found"][start:]:
        *others, newest = group.sources
        items.append(Item(sort="duplicate", record=newest, others=tuple(others), why=why, text=group.text))
    return Waiting(total=len(groups["found"]) + groups["more"], items=tuple(items), not_looked_at=groups["waiting"])


def _stale(memory: Memory, start: int, end: int, checked: int) -> Waiting:
    """Return records whose branch is gone unmerged, and those that cite code which changed or is gone."""
    if not is_here(memory, memory.project):
        return Waiting(total=None)
    items = {
        record.id: Item(sort="stale", record=record, why=f"its branch {branch} is gone and was never merged")
        for branch, orphans in lost(memory).items()
        for record in orphans
    }
    known, left_out = queries.citing(memory.store, memory.here, checked)
    changed = drifted(memory, [record for record in known if record.id not in items])
    items |= {id_: _judged("stale", *changed[id_]) for id_ in sorted(changed, reverse=True)}
    return Waiting(total=len(items), items=tuple(items.values())[start:end], not_looked_at=left_out)


def _judged(sort: str, record: Record, state: Freshness | None, why: str = "") -> Item:
    update = new_value(record, state.findings) if state else None
    why = why or ("; ".join(details(state)) if state else "")
    return Item(sort=sort, record=record, why=why, judged=state, update=update)


def _misspelled(memory: Memory) -> Iterator[Item]:
    """Yield scopes that look misspelled, each with one of its records."""
    for typo in typos_in(labels.counts(memory.store, "scope", memory.here)):
        numbers = labels.numbers(memory.store, "scope", typo.scope, memory.here, 1)
        for record in records.by_numbers(memory.store, numbers).values():
            why = f"its scope {typo.scope} looks like {typo.meant}"
            yield Item(sort="scope", record=record, why=why, author=typo.scope, text=typo.meant)


def _troubled(name: str, memory: Memory, start: int, end: int, _: int) -> Waiting:
    """Return the records with the troubles of a sort, one trouble after the other."""
    before, tally, troubles = days_before(memory.clock.now(), DAYS), _tally(memory), SORTS[name].troubles
    counts, items = {trouble: tally[trouble] for trouble in troubles}, list[Item]()
    for trouble, low, high in ranges(counts, start, end):
        ids = queries.ids_of(memory.store, trouble, memory.here, before, high - low, offset=low)
        chosen = list(memory.known(ids).values())
        judged = freshness(memory, chosen)
        for record in chosen:
            why = troubles[trouble] + (_report(memory, record) if trouble == "contradicted" else "")
            items.append(_judged(name, record, judged.get(record.id), why))
    return Waiting(total=sum(counts.values()), items=tuple(items))


def ranges(counts: Mapping[Name, int], start: int, end: int) -> Iterator[tuple[Name, int, int]]:
    """Yield which part of each list is in a range of all of them, one after the other."""
    for name, count in counts.items():
        if max(0, start) < min(count, end):
            yield name, max(0, start), min(count, end)
        start, end = start - count, end - count


def _report(memory: Memory, record: Record) -> str:
    """Return who reported a record wrong, and what they said."""
    report = next((use for use in uses_of(memory, record.id, limit=20) if use["outcome"] == "contradicted"), None)
    return " by " + ": ".join(filled(report["by"], report["said"])) if report else ""


def _tally(memory: Memory) -> Mapping[Trouble, int]:
    return queries.tally(memory.store, memory.here, days_before(memory.clock.now(), DAYS))[1]


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
        return "Rejected for good"
    retire(memory, item.record.id, given.reason) if given.reason else cancel(memory, item.record.id)
    return "Rejected"


def _edit(memory: Memory, item: Item, given: Given) -> str:
    outcome = revise(memory, item.record.id, Revision(body=given.text))
    if not isinstance(outcome, Record):
        raise Conflict(f"It cannot be saved: {explain(outcome).reason}", hint="Leave the secret out.")
    return _approve(memory, item, given) if outcome.state == "pending" else f"Revised: {outcome.title}"


def dismissed(memory: Memory, reference: str) -> str:
    """Dismiss a suggested thread; return its title, and that it will not come back if this was the last time."""
    record, left = dismiss(memory, reference)
    return record.title if left > 0 else f"{record.title}. It will not come back."


def _still_true(memory: Memory, item: Item, _: Given) -> Record:
    """Verify a record; anchors that no longer hold are dropped, since the user says that the text is still true."""
    record, kept = item.record, None
    if record.anchors and is_here(memory, record.project):
        snapshot, state = snapshot_of(memory, record), freshness(memory, [record])[record.id]
        gone = {finding.anchor for finding in state.problems if finding.state == "missing"}
        kept = tuple(each for each in record.anchors if each not in gone and not wrong_claims((each,), snapshot))
    return verify(memory, record.id, anchors=None if kept == record.anchors else kept)


def _resolve(how: str, kept: int, memory: Memory, item: Item, given: Given) -> Report:
    """Resolve a contradiction in favour of the newer memory, or of the older one."""
    newer, older, *_ = item.ids
    return resolve(memory, newer, older, how, keep=item.ids[kept], note=given.reason)


def _judge(decided: Callable[..., Report], author: bool, memory: Memory, item: Item, _: Given) -> str:
    """Accept or reject a quarantined change, or its author."""
    done = decided(memory, [(quarantine.address(item.author) or item.author) if author else item.record.id])
    named = ", ".join(done["authors"]) or find(memory, done["records"][0]).record.title
    return f"{done['verdict'].capitalize()}: {named}"


_FOUND: Mapping[str, Callable[[Memory, int, int, int], Waiting]] = {
    "stale": _stale,
    "contradiction": partial(_listed, _disputed),
    "pending": partial(_listed, _pending),
    "quarantined": partial(_listed, _quarantined),
    "mined": partial(_listed, _mined),
    "suggestion": partial(_listed, _suggested),
    "overwritten": partial(_listed, _overwritten),
    "scope": partial(_listed, _misspelled),
    "duplicate": _duplicates,
}
_DO: Mapping[str, Callable[[Memory, Item, Given], Any]] = {
    "approve": _approve,
    "reject": _reject,
    "edit": _edit,
    "still true": _still_true,
    "keep": _still_true,
    "update": lambda memory, item, _: update_value(memory, item.record.id),
    "retire": lambda memory, item, given: retire(memory, item.record.id, given.reason or SORTS[item.sort].reason),
    "newer": partial(_resolve, "supersede", 0),
    "older": partial(_resolve, "supersede", 1),
    "both": partial(_resolve, "both", 0),
    "weaken": partial(_resolve, "weaken", 0),
    "accept": partial(_judge, quarantine.accept, False),
    "accept author": partial(_judge, quarantine.accept, True),
    "refuse": partial(_judge, quarantine.reject, False),
    "refuse author": partial(_judge, quarantine.reject, True),
    "promote": lambda memory, item, _: promote(memory, item.record.id),
    "dismiss": lambda memory, item, _: dismissed(memory, item.record.id),
    "bring back": lambda memory, item, _: _edit(memory, item, Given(text=item.text)),
    "rename": lambda memory, item, _: counted(len(rename_scope(memory, item.author, item.text)), "memory"),
    "merge": lambda memory, item, _: consolidate(memory, proposal_of(memory, item.ids), text=item.text),
    "keep apart": lambda memory, item, given: [
        link(memory, item.record.id, "relates_to", other.id, note=given.reason) for other in item.others
    ],
}
_OFFERED: Mapping[str, Callable[[Item], object]] = {
    "update": lambda item: item.update,
    "still true": lambda item: not item.update,
    "accept author": lambda item: item.author,
    "refuse author": lambda item: item.author,
}


def _choice(does: str, row: str) -> Choice:
    named, words, message = row.split(" | ")
    name, key = named.rsplit(" ", 1)
    return Choice(name, key, words, message, _DO[does], _OFFERED.get(does, lambda _: True))


def _sort(name: str, row: Mapping[str, str]) -> Sort:
    return Sort(
        *(row["title"], row["about"], _FOUND.get(name) or partial(_troubled, name)),
        tuple(_CHOICES[choice] for choice in row["choices"].split(", ")),
        {cast("Trouble", name): why for name, why in row.items() if name in get_args(Trouble)},
        row.get("reason", ""),
        *(word in row.get("shown", "").split() for word in ("urgent", "later", "rare", "bulk")),
    )


_TABLES = {name: dict(rows) for name, rows in tables(__file__).items()}
_SOURCES = _TABLES.pop("why pending")
_CHOICES = {name: _choice(name, row) for name, row in _TABLES.pop("choices").items()}
SORTS: Mapping[str, Sort] = {name: _sort(name, row) for name, row in _TABLES.items()}
