"""Read records: one at three depths, its links, history and uses, its state at an earlier time; lists and counts.

Surfaces that need integers call a record of the current project by its number within it (`n` of `project << 32 | n`),
global ones by GLOBAL_FROM + n, and those of other projects by the whole number, which is accepted for every record. A
surface has to use one memory throughout, because the numbers depend on its project.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from holdfast.engine.views import Entry, labels, links, queries, records, usage
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import PROJECT_BITS, Filter, homes_of
from holdfast.model.anchor import Freshness, parse_anchor
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.files import read_inside
from holdfast.model.ids import days_before, moment_of, short
from holdfast.model.kinds import fitting
from holdfast.model.patterns import lazy
from holdfast.model.query import Order, Query, Usage
from holdfast.model.record import GLOBAL, Record, State, as_of
from holdfast.verbs.memory import Memory, Report, check_choice, find, lapsed
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.project import notes_on_nothing
from holdfast.verbs.records.quarantine import provenance

MOST_LISTED, MOST_FACETS, PAGE = 1_000, 12, 1_000
LEARNINGS = ("scar", "win", "pattern", "anti_pattern", "learning")
GLOBAL_FROM = 2_000_000_000
_WITHIN = (1 << PROJECT_BITS) - 1
_LARGEST = 1 << 63
_ID = lazy(r"\b(?=\w*\d)[0-9A-HJKMNP-TV-Z]{8}(?:[0-9A-HJKMNP-TV-Z]{18})?\b")  # or its end
Level = Literal["summary", "full", "files"]
LEVELS: tuple[str, ...] = get_args(Level)
MOST_FILES, MOST_BYTES = 20, 100_000
LARGEST = 20_000_000  # bytes; a larger file is not read


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDetails:
    """A record with its links, usage and provenance, and what its level adds: freshness, its commit, the files it cites."""

    record: Record
    number: int
    links: tuple[Arrow, ...] = ()
    superseded_by: str = ""
    usage: Usage = field(default_factory=Usage)
    came: str = ""  # who sent it and by which replica, if it came from elsewhere
    freshness: Freshness | None = None
    commit: tuple[str, str, str] | None = None  # author, date and subject
    files: tuple[Report, ...] = ()  # path, text, commit ("" for a file as it is now), and how many bytes were cut
    left_out: tuple[str, ...] = ()  # files beyond the limit, or that do not exist


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One page of records with their numbers, and the total count."""

    entries: tuple[Entry, ...] = ()
    total: int = 0
    notes: tuple[str, ...] = ()  # of an empty one: where else there are memories
    superseded: frozenset[str] = frozenset()  # ids of those that another record replaced

    @property
    def records(self) -> tuple[Record, ...]:
        """The records without their numbers."""
        return tuple(entry.record for entry in self.entries)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, place: int) -> Record:
        return self.entries[place].record


def get(memory: Memory, reference: str, *, at: str = "") -> RecordDetails:
    """Return a record as it is, or as it was at an instant."""
    entry, store = find(memory, reference), memory.store
    id_ = entry.record.id
    if at:
        moment = moment_of(at, memory.clock.now())
        record = as_of(store.events_about(id_), moment)
        if record is None:
            raise NotFound(f"{id_} did not exist at {moment}.", hint="`holdfast history` shows when it was written.")
        return RecordDetails(record=record, number=entry.number)
    return RecordDetails(
        record=entry.record,
        number=entry.number,
        links=tuple(links.around(store, id_)),
        superseded_by=links.superseded(store, [id_]).get(id_, ""),
        usage=usage.of(store, [id_]).get(id_, Usage()),
        came=provenance(memory, [entry.record]).get(id_, ""),
    )


def in_use(memory: Memory, reference: str) -> Record:
    """Return a record that is in use; raise with the reason if it was retired."""
    record = find(memory, reference).record
    if record.state == "retired":
        why = record.reason.rstrip(".") or "no reason given"
        raise Conflict(f"{record.id} was removed: {why}.", hint=f"`holdfast restore {short(record.id)}` restores it.")
    return record


def history(memory: Memory, reference: str) -> list[Event]:
    """Return every event of a record, oldest first."""
    return memory.store.events_about(find(memory, reference).record.id)


def uses_of(memory: Memory, reference: str, *, limit: int = 50) -> list[Report]:
    """Return the uses of a record, latest first: `observed` if a rule detected one and no agent or user reported it."""
    uses = usage.uses(memory.store, [find(memory, reference).record.id])[::-1][:limit]
    events = memory.store.events_with(use.event for use in uses)
    return [
        {name: getattr(use, name) for name in ("event", "at", "outcome", "session", "observed")}
        | {
            "by": event.by.name or event.by.kind,
            "said": str(event.data.get("evidence") or event.data.get("note") or ""),
        }
        for use in uses
        if (event := events.get(use.event))
    ]


def note_reading(memory: Memory, ids: Sequence[str]) -> None:
    """Note that a session opened records, for predictions. Not counted as a use or an impression."""
    if memory.actor.session and ids:
        memory.note([memory.event("surfaced", memory.actor.session, data={"ids": list(ids), "how": "read"})])


def list_records(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0) -> Listed:
    """Return one page of records, newest first, without pending ones that expired; the query's text is ignored."""
    if fitting("offset", int, offset) < 0:
        raise Invalid("A list needs an offset of at least 0.")
    for state in states:
        check_choice(state, get_args(State), "a state")
    page = browse(memory, replace(query, limit=min(query.limit, MOST_LISTED)), states=states, offset=offset)
    current = tuple(entry for entry in page.entries if not lapsed(memory, entry.record))
    replaced = frozenset(links.superseded(memory.store, (entry.record.id for entry in current)))
    notes = () if page.total else tuple(notes_on_nothing(memory))
    return replace(page, entries=current, notes=notes, superseded=replaced)


def recent_lessons(
    memory: Memory, *, kinds: Sequence[str] = (), severity: str = "", days: float = 0, limit: int = 20
) -> list[Record]:
    """Return lessons and decisions, or some kinds, latest first, without those that ship with Holdfast."""
    since, most = days_before(memory.clock.now(), days) if days else "", MOST_LISTED if severity else limit
    listed = list_records(memory, Query.of(kinds=kinds or (*LEARNINGS, "decision"), since=since, limit=most))
    return [record for record in listed.records if severity in ("", record.fields.get("severity"))][:limit]


def browse(
    memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0, order: Order = "newest"
) -> Listed:
    """Return one page of the records that match a query's filters, in an order; its text is ignored."""
    filter_ = _chosen_by(memory, query, states)
    entries = records.page(memory.store, filter_, limit=query.limit, offset=offset, order=order)
    return Listed(entries=tuple(entries), total=records.counted(memory.store, filter_))


def latest(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), before: int = 0) -> list[Entry]:
    """Return records of this project in order of arrival, latest first; the cost does not grow with the project."""
    homes = tuple(memory.store.sizes(homes_of((memory.project,), query.kinds)))
    chosen = replace(filter_of(query, homes, states), before=before)
    return records.page(memory.store, chosen, limit=query.limit, order="stored")


def newest_of_kind(memory: Memory, kind: str, *, limit: int) -> list[Record]:
    """Return the latest active records of one kind in this project; the cost does not grow with the project."""
    return [entry.record for entry in records.newest(memory.store, kind, memory.here, limit=limit)]


def known_on(memory: Memory, query: Query, at: str, *, offset: int = 0) -> Listed:
    """Return one page of the records that were in use at an instant, as they were then, newest first; `total` counts candidates."""
    page = browse(memory, replace(query, until=at), states=("active", "retired", "pending"), offset=offset)
    then = [(entry.number, as_of(memory.store.events_about(entry.record.id), at)) for entry in page.entries]
    known = [Entry(number=number, record=record) for number, record in then if record and record.state == "active"]
    return replace(page, entries=tuple(known))


def waiting_records(memory: Memory, *, limit: int = 50) -> list[Record]:
    """Return the pending records of this project that have not expired, without suggested threads."""
    filter_ = Filter(projects=(memory.here,), states=("pending",))
    page = [entry.record for entry in records.page(memory.store, filter_, limit=limit)]
    return [record for record in page if record.kind != "thread" and not lapsed(memory, record)]


def list_scopes(memory: Memory, *, everywhere: bool = False) -> dict[str, int]:
    """Count the active records of each scope."""
    return labels.counts(memory.store, "scope", None if everywhere else memory.here)


def census(memory: Memory, query: Query) -> tuple[Counter[str], Counter[str]]:
    """Count the records that match a query's filters, by kind and by source."""
    kinds, sources = Counter[str](), Counter[str]()
    for kind, source, count in records.tallied(memory.store, _chosen_by(memory, query), "kind", "source"):
        kinds[kind] += count
        sources[source] += count
    return kinds, sources


def facets(memory: Memory) -> dict[str, list[tuple[str, int]]]:
    """Count the project's active records by kind, scope and tag, the most common first."""
    store, here = memory.store, memory.here
    kinds = {kind: count for kind, _, count in records.tallied(store, Filter(projects=(here,)), "kind", "kind")}
    counts = {"kind": kinds} | {name: labels.counts(store, name, here) for name in ("scope", "tag")}
    by_count = {name: sorted(each.items(), key=lambda pair: (-pair[1], pair[0])) for name, each in counts.items()}
    return {name: pairs[:MOST_FACETS] for name, pairs in by_count.items()}


def _chosen_by(memory: Memory, query: Query, states: Sequence[str] = ("active",)) -> Filter:
    names = projects_of(memory, query)
    homes = None if names is None else tuple(memory.store.sizes(homes_of(names, query.kinds)))
    return filter_of(query, homes, states)


def filter_of(query: Query, projects: tuple[int, ...] | None, states: Sequence[str] = ("active",)) -> Filter:
    """Return the filter a query means in some projects, or in all of them."""
    return Filter(projects=projects, states=tuple(states), **{name: getattr(query, name) for name in _FILTERED})


_FILTERED = "kinds scopes any_scopes without_scopes tags author session since until starters".split()


def people(memory: Memory, *, everywhere: bool = False) -> list[str]:
    """Return the names of the people who saved memories, in alphabetical order."""
    return records.people(memory.store, None if everywhere else memory.here)


def projects_of(memory: Memory, query: Query) -> tuple[str, ...] | None:
    """Return the projects a query searches: its own and the global one, or None for all."""
    if query.everywhere:
        return None
    return tuple(dict.fromkeys((memory.project if query.project is None else query.project, GLOBAL)))


def called(memory: Memory, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return entries with the numbers that a surface shows."""
    home = memory.here

    def shown(number: int) -> int:
        project, within = divmod(number, _WITHIN + 1)
        return within if project == home else number if project else GLOBAL_FROM + number

    return tuple(replace(entry, number=shown(entry.number)) for entry in entries)


def with_numbers(opened: Callable[[], Memory], text: str) -> str:
    """Return a text with the numbers that a surface shows, in place of the ids of memories."""

    def number(found: re.Match[str]) -> str:
        with suppress(HoldfastError):
            memory = opened()
            return f"#{called(memory, [find(memory, found[0])])[0].number}"
        return found[0]

    return _ID.sub(number, text)


def entries_called(
    memory: Memory, numbers: Sequence[int], system: str, *, with_imported: bool = False
) -> dict[int, list[Entry]]:
    """Return the records that integers name, best first, erased ones excluded.

    A number that no record of the project has may be one that the record had in the `system` it came from, or the
    number within the store of a global record. `with_imported` returns these as well if a record here has the number.
    """
    home, own = memory.here, dict[int, int]()  # the number in the store of each
    for number in (number for number in numbers if 0 < number < _LARGEST):
        is_global = number >= GLOBAL_FROM and home
        within = number - GLOBAL_FROM if is_global else (home << PROJECT_BITS) + number
        own[number] = number if number > _WITHIN else within
    read = records.by_numbers(memory.store, {*own.values(), *own})
    found: dict[int, list[Entry]] = {}
    for number, stored in own.items():
        entries = [Entry(number=stored, record=read[stored])] if stored in read else []
        if with_imported or not entries:
            entries += queries.by_foreign_id(memory.store, str(number), whole=True, system=system)
            entries += [Entry(number=number, record=read[number])] if number in read else []
        found[number] = [entry for entry in entries if entry.record.state != "erased"]
    return found


def pages(memory: Memory, numbers: tuple[int, int] = (0, sys.maxsize)) -> Iterator[list[Record]]:
    """Yield all records whose numbers in the store lie in a span, page by page, in order."""
    last = numbers[0] - 1
    while page := [entry for entry in records.after(memory.store, last, PAGE) if entry.number <= numbers[1]]:
        yield [entry.record for entry in page]
        last = page[-1].number


def hydrate(memory: Memory, reference: str, level: Level = "full") -> RecordDetails:
    """Return a record at one of three depths."""
    check_choice(level, LEVELS, "a level")
    shown = get(memory, reference)
    record = shown.record
    if level == "summary":
        return shown
    is_local = is_here(memory, record.project)
    made_at = (record.seen.commit if record.seen else "") or record.origin.commit
    room, files, left_out = MOST_BYTES, list[Report](), list[str]()
    places = map(parse_anchor, (*record.anchors, *(record.seen.marks if record.seen else ())))
    paths = (place.path for place in places if place.kind not in ("version", "commit", "absent"))
    cited = list(dict.fromkeys(path for path in paths if path))
    for path in (cited or memory.checkout.files_of(made_at)) if level == "files" and is_local else ():
        content = _content(memory, record, made_at, path) if len(files) < MOST_FILES and room > 0 else None
        if content is None:
            left_out.append(path)
            continue
        raw, at = content
        text = raw[:room].decode(errors="replace")
        files.append({"path": path, "text": text, "commit": at, "cut": max(0, len(raw) - room)})
        room -= len(raw)
    state, commit = freshness(memory, [record]).get(record.id), memory.checkout.facts_of(made_at) if is_local else None
    return replace(shown, freshness=state, commit=commit, files=tuple(files), left_out=tuple(left_out))


def _content(memory: Memory, record: Record, commit: str, path: str) -> tuple[bytes, str] | None:
    """Return a file as it was when the record was last checked, by its content or commit; else as it is now."""
    marks = record.seen.marks.items() if record.seen else ()
    blobs = [mark.blob for anchor, mark in marks if mark.blob and anchor.startswith(path)]
    for revision in (*blobs, *([f"{commit}:{path}"] if commit else ())):
        if (raw := memory.checkout.content(revision)) is not None:
            return raw, commit
    try:
        return read_inside(memory.checkout.top(), path, LARGEST), ""
    except (OSError, ValueError):
        return None  # gone, too large, or outside of the checkout
