"""What waits for a person in a project: one list for the command line and the viewer, each item with the reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.engine.views import health_queries, labels, records
from holdfast.engine.views.health_queries import Trouble
from holdfast.model.errors import Invalid
from holdfast.model.freshness import Freshness
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.freshness import details
from holdfast.policy.new_value import NewValue, new_value
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.branches import lost
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.overwritten import TEXT, recently_overwritten
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import Dispute, marked, open_contradictions
from holdfast.verbs.truth.verify import can_verify
from holdfast.verbs.upkeep.health import MOST_CHECKED, Health, typos_in

DAYS = 30
MOST, MOST_AT_ONCE = 50, 10_000  # items of each sort
Sort = Literal[
    "quarantined",
    "pending",
    "mined",
    "suggestion",
    "overwritten",
    "doubted",
    "contradiction",
    "duplicate",
    "stale",
    "scope",
    "unchecked",
    "unused",
]
SORTS: tuple[Sort, ...] = get_args(Sort)
LATER: tuple[Sort, ...] = ("unchecked", "unused")  # may wait: shown only on request
URGENT: tuple[Sort, ...] = tuple(sort for sort in SORTS if sort not in (*LATER, "duplicate"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingItem:
    """A record that waits for a decision, why, and what is needed to decide.

    `others` are the records it is compared with: the older one of a contradiction, the other near-duplicates.
    """

    sort: Sort
    record: Record
    why: str
    others: tuple[Record, ...] = ()
    # What approving would save (a merge, another scope), or rejecting would bring back (a replaced text).
    text: str = ""
    author: str = ""  # who sent a quarantined change
    judged: Freshness | None = None
    update: NewValue | None = None  # the value that the code has now
    verifiable: bool = True

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all records of the item: the same decision is offered once."""
        return (self.record.id, *(other.id for other in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Some items of one sort; `total` counts all of them, None if it is unknown: the code is not here."""

    sort: Sort
    total: int | None
    items: tuple[WaitingItem, ...] = ()
    looked_at: int = 0  # records that were compared with each other
    not_looked_at: int = 0  # older records that were left out


def waiting(memory: Memory, sort: Sort, *, limit: int = 20, offset: int = 0, checked: int = MOST_CHECKED) -> Waiting:
    """Return what waits of one sort, without what only a comparison of all texts finds.

    `checked` is how many of the newest records that cite code are compared with it.
    """
    if sort in _TROUBLED:
        return _troubled(memory, sort, offset, offset + limit)
    if sort == "stale":
        return _stale(memory, offset, offset + limit, checked)
    return _LISTS[sort](memory, offset, offset + limit)


def compared(memory: Memory, sort: Sort, *, limit: int = 20) -> Waiting:
    """Return what comparing the texts of the newest memories finds: contradictions that no one marked, near-duplicates."""
    return _detected(memory, limit) if sort == "contradiction" else _duplicates(memory, limit)


def waiting_items(memory: Memory, *, sorts: Sequence[Sort] | None = None, limit: int = MOST) -> list[WaitingItem]:
    """Return what waits for a decision in this project, at most `limit` of each sort, most pressing sorts first.

    Contradictions, duplicates and stale records are found by comparing texts and code, which takes up to a second or two.
    """
    wanted = [sort for sort in SORTS if sort not in LATER] if sorts is None else sorts
    if unknown := set(wanted) - set(SORTS):
        raise Invalid(f"{', '.join(sorted(unknown))} is no sort of item.", hint=f"Use {', '.join(SORTS)}.")
    items: list[WaitingItem] = []
    for sort in (sort for sort in SORTS if sort in wanted):
        own = waiting(memory, sort, limit=limit, checked=MOST_AT_ONCE).items
        more = compared(memory, sort, limit=limit).items if sort in ("contradiction", "duplicate") else ()
        items += (*own, *more)[:limit]
    return items


def waiting_counts(memory: Memory, report: Health | None = None) -> dict[Sort, int | None]:
    """Count what waits of each sort, without what only a comparison finds. A health report spares queries."""
    troubles = {name: getattr(report, name).total for name in _TROUBLES} if report else _tally(memory)
    known = {sort: sum(troubles[trouble] for trouble in whys) for sort, whys in _TROUBLED.items()}
    sorts = (sort for sort in SORTS if sort != "duplicate")
    return {sort: known[sort] if sort in known else waiting(memory, sort, limit=0).total for sort in sorts}


def _quarantined(memory: Memory, start: int, end: int) -> Waiting:
    changes = quarantine.waiting(memory)
    items = []
    for change in changes[start:end]:
        claims = (
            f", claims to be from {change.claimed}" if change.claimed and change.claimed not in change.author else ""
        )
        effect = "a new memory" if change.new else f"would be {change.would}"
        why = f"{effect}, sent by {change.author or quarantine.UNKNOWN}{claims}, by {change.way}"
        items.append(WaitingItem(sort="quarantined", record=change.record, why=why, author=change.author))
    return Waiting(sort="quarantined", total=len(changes), items=tuple(items))


def _pending(memory: Memory, start: int, end: int) -> Waiting:
    pending = [record for record in waiting_records(memory, limit=MOST_AT_ONCE) if not mining.is_mined(record)]
    items = tuple(
        WaitingItem(sort="pending", record=record, why=_SOURCES.get(record.source, "it needs approval"))
        for record in pending[start:end]
    )
    return Waiting(sort="pending", total=len(pending), items=items)


_SOURCES = {
    "inferred": "an agent concluded it",
    "observed": "it was observed, not stated",
    "mined": "it recurred in your work",
    "imported": "it was imported",
    "explicit": "every memory needs approval here (setting `confirm_writes`)",
}


def _mined(memory: Memory, start: int, end: int) -> Waiting:
    patterns = mining.mined(memory, limit=MOST_AT_ONCE)
    items = []
    for pattern in patterns[start:end]:
        times = f"{pattern.occurrences} times" if pattern.occurrences > 1 else "once"
        where = f"{pattern.sessions} sessions" if pattern.sessions > 1 else "logged output"
        items.append(WaitingItem(sort="mined", record=pattern.record, why=f"found {times} in {where}"))
    return Waiting(sort="mined", total=len(patterns), items=tuple(items))


def _suggestions(memory: Memory, start: int, end: int) -> Waiting:
    suggested = suggestions(memory)
    items = []
    for record in suggested[start:end]:
        why = f"{len(record.extra.get('evidence', ()))} sessions had this topic; it could become a thread"
        items.append(WaitingItem(sort="suggestion", record=record, why=why))
    return Waiting(sort="suggestion", total=len(suggested), items=tuple(items))


def _overwritten(memory: Memory, start: int, end: int) -> Waiting:
    items = []
    for found in recently_overwritten(memory):
        lost_text = next(
            (str(found.lost.data[name]) for name in TEXT if isinstance(found.lost.data.get(name), str)), ""
        )
        if body := str(found.lost.data.get("body") or lost_text):
            who, by = found.lost.by.name or "someone", found.by.by.name or "someone"
            why = f"edited in two places: {by}'s text replaced {who}'s, unseen: {shorten(body, 120)}"
            items.append(WaitingItem(sort="overwritten", record=found.record, why=why, text=body))
    return Waiting(sort="overwritten", total=len(items), items=tuple(items[start:end]))


def _reported(memory: Memory, record: Record) -> str:
    report = next((use for use in uses_of(memory, record.id, limit=20) if use.outcome == "contradicted"), None)
    by, said = (f" by {report.by}", f": {report.said}" if report.said else "") if report else ("", "")
    return f"it was reported wrong{by}{said}"


def _contradictions(memory: Memory, start: int, end: int) -> Waiting:
    pairs = marked(memory)
    items = tuple(_disputed(pair) for pair in pairs[start:end])
    return Waiting(sort="contradiction", total=len(pairs), items=items)


def _detected(memory: Memory, limit: int) -> Waiting:
    """Return the contradictions that a rule found and no one marked."""
    disputes = open_contradictions(memory, limit=limit + len(marked(memory)))
    unmarked = [dispute for dispute in disputes.found if not dispute.marked_by]
    return Waiting(
        sort="contradiction",
        total=len(unmarked),
        items=tuple(_disputed(pair) for pair in unmarked[:limit]),
        looked_at=disputes.looked_at,
        not_looked_at=disputes.not_looked_at,
    )


def _disputed(pair: Dispute) -> WaitingItem:
    why = pair.why.explain if pair.why else f"marked by {pair.marked_by or 'someone'}"
    return WaitingItem(sort="contradiction", record=pair.newer, others=(pair.older,), why=why)


def _duplicates(memory: Memory, limit: int) -> Waiting:
    groups = proposals(memory, limit=limit)
    items = []
    for group in groups.found:
        *others, newest = group.sources
        why = "they say nearly the same"
        items.append(WaitingItem(sort="duplicate", record=newest, others=tuple(others), why=why, text=group.text))
    return Waiting(
        sort="duplicate",
        total=len(items) + groups.more,
        items=tuple(items),
        looked_at=groups.looked_at,
        not_looked_at=groups.not_looked_at,
    )


def _stale(memory: Memory, start: int, end: int, checked: int) -> Waiting:
    """Return records whose branch is gone unmerged, and those that cite code which changed or is gone."""
    if not is_here(memory, memory.project):
        return Waiting(sort="stale", total=None)
    gone = {record.id: (record, branch) for branch, orphans in lost(memory).items() for record in orphans}
    citing = health_queries.citing(memory.store, _here(memory), checked)
    known = [entry.record for entry in records.by_ids(memory.store, citing.ids).values() if entry.record.id not in gone]
    judged = freshness(memory, known)
    drifted = [record for record in known if record.id in judged and judged[record.id].problems]
    drifted.sort(key=lambda record: record.id, reverse=True)
    items = [
        _judged("stale", record, None, f"its branch {branch} is gone and was never merged")
        for record, branch in gone.values()
    ]
    items += [_judged("stale", record, judged[record.id]) for record in drifted]
    left_out = citing.total - len(citing.ids)
    return Waiting(sort="stale", total=len(items), items=tuple(items[start:end]), not_looked_at=left_out)


def _judged(sort: Sort, record: Record, state: Freshness | None, why: str = "") -> WaitingItem:
    return WaitingItem(
        sort=sort,
        record=record,
        why=why or ("; ".join(details(state)) if state else ""),
        judged=state,
        update=new_value(record, state.findings) if state else None,
        verifiable=can_verify(record, state),
    )


def _scopes(memory: Memory, start: int, end: int) -> Waiting:
    """Return scopes that look misspelled, each with one of its records."""
    typos = typos_in(labels.counts(memory.store, "scope", _here(memory)))
    items = []
    for typo in typos[start:end]:
        numbers = labels.numbers(memory.store, "scope", typo.scope, _here(memory), 1)
        for record in records.by_numbers(memory.store, numbers).values():
            why = f"its scope {typo.scope} looks like {typo.meant}"
            items.append(WaitingItem(sort="scope", record=record, why=why, author=typo.scope, text=typo.meant))
    return Waiting(sort="scope", total=len(typos), items=tuple(items))


# Sorts that consist of records with a trouble of the health report, with the reason.
_TROUBLED: Mapping[Sort, Mapping[Trouble, str | Callable[[Memory, Record], str]]] = {
    "doubted": {"contradicted": _reported},
    "unchecked": {"stale": "verified more than a month ago", "unverified": "never verified"},
    "unused": {"dead": "shown, but it never helped", "cold": "no recall returned it for a month"},
}
_TROUBLES = [trouble for whys in _TROUBLED.values() for trouble in whys]
_LISTS: Mapping[Sort, Callable[[Memory, int, int], Waiting]] = {
    "quarantined": _quarantined,
    "pending": _pending,
    "mined": _mined,
    "suggestion": _suggestions,
    "overwritten": _overwritten,
    "contradiction": _contradictions,
    "duplicate": lambda _memory, _start, _end: Waiting(sort="duplicate", total=None),
    "scope": _scopes,
}


def _here(memory: Memory) -> int:
    return memory.store.project_number(memory.project)


def _tally(memory: Memory) -> Mapping[Trouble, int]:
    return health_queries.tally(memory.store, _here(memory), days_before(memory.clock.now(), DAYS)).troubles


def _troubled(memory: Memory, sort: Sort, start: int, end: int) -> Waiting:
    """Return the records with some troubles, one trouble after the other."""
    store, before, counts = memory.store, days_before(memory.clock.now(), DAYS), _tally(memory)
    items, skipped = list[WaitingItem](), 0
    for trouble, why in _TROUBLED[sort].items():
        low, high = max(0, start - skipped), min(counts[trouble], end - skipped)
        skipped += counts[trouble]
        if high <= low:
            continue
        ids = health_queries.ids_of(store, trouble, _here(memory), before, high - low, offset=low)
        known = records.by_ids(store, ids)
        chosen = [known[id_].record for id_ in ids if id_ in known]
        judged = freshness(memory, chosen)
        items += [
            _judged(sort, record, judged.get(record.id), why if isinstance(why, str) else why(memory, record))
            for record in chosen
        ]
    return Waiting(sort=sort, total=skipped, items=tuple(items))
