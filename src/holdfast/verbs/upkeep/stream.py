"""The activity stream: events from hooks and from the journal, merged by time and read with a cursor.

Reading it changes nothing. A page continues from a place in both sources, so nothing is repeated or skipped while
more arrives; if filters match little, only so much is read, and the place shows how far.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, Literal, cast, get_args

from holdfast.engine.raw import trail
from holdfast.engine.views import sessions
from holdfast.model.errors import Invalid
from holdfast.model.event import Event, ids_in, tokens_in
from holdfast.model.kinds import NOTES
from holdfast.model.patterns import tables
from holdfast.model.record import Record
from holdfast.model.session import HookEvent
from holdfast.model.text import counted, shorten, text_or_empty
from holdfast.verbs.memory import Memory

What = Literal[
    "prompt", "answer", "tool", "observation", "record", "change", "asked", "use", "receipt", "warning", "session"
]
WHATS: tuple[str, ...] = get_args(What)
PAGE, MOST, MOST_LOOKED_AT = 200, 200, 2_000
LONGEST, LONGEST_DETAIL = 200, 600
_ACTIVITY = cast("dict[str, What]", dict(tables(__file__)["activity"]))  # by the event of a hook
_ARGUMENTS = ("command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt")
_LATEST = "~"  # sorts after every id of the trail


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Place:
    """A cursor: an event's number and an id of the trail."""

    seq: int
    trail_id: str = ""

    def __str__(self) -> str:
        return f"{self.seq}.{self.trail_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A filter; empty parts match anything. `client` is the agent's name."""

    project: str | None = None
    whats: Collection[str] = ()
    session: str = ""
    client: str = ""

    def __post_init__(self) -> None:
        if unknown := [what for what in self.whats if what not in WHATS]:
            raise Invalid(f"There is no {unknown[0][:40]!r} in the stream.", hint=f"Use one of {', '.join(WHATS)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry for people: what, when, by whom and where, with its records."""

    at: str
    what: What
    verb: str
    text: str
    detail: str = ""
    project: str = ""
    session: str = ""
    client: str = ""
    records: tuple[Record, ...] = ()
    ids: tuple[str, ...] = ()
    tokens: int = 0
    outcome: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Some entries, latest first, and the place to continue from; None if there are no more."""

    items: tuple[Item, ...]
    place: Place | None


def place_of(text: str) -> Place:
    """Parse a place."""
    seq, _, trail_id = text.partition(".")
    if not seq.isdecimal() or len(seq) > 18 or len(trail_id) > 100:
        raise Invalid(f"{text[:40]!r} is not a place in the stream.")
    return Place(seq=int(seq), trail_id=trail_id)


def head(memory: Memory) -> Place:
    """Return the current end of the stream."""
    return Place(seq=memory.store.last_seq(), trail_id=trail.last_id(memory.store))


def older(memory: Memory, wanted: Wanted, *, before: Place | None = None, limit: int = 40) -> Stream:
    """Return entries before a place, or the last ones, latest first."""
    at, size = before or Place(seq=2**62, trail_id=_LATEST), min(PAGE, 2 * limit)
    items, looked, entries = list[Item](), 0, _backwards(memory, at, wanted.session, size)
    while looked < MOST_LOOKED_AT and (page := list(islice(entries, size))):
        looked += len(page)
        for item, (_, at) in zip(_rendered(memory, [entry for entry, _ in page]), page, strict=True):
            if item and _is_wanted(item, wanted):
                items.append(item)
                if len(items) == limit:
                    return Stream(items=tuple(items), place=at)
    return Stream(items=tuple(items), place=at if looked >= MOST_LOOKED_AT else None)


def newer(memory: Memory, wanted: Wanted, *, after: Place, limit: int = MOST) -> Stream:
    """Return entries after a place, latest first, and the new place; at most a first part of very many."""
    events = list(islice(memory.store.journal(after.seq), limit))
    activity = trail.after(memory.store, after.trail_id, limit)
    rendered = _rendered(memory, [*(event for _, event in events), *activity])
    items = [item for item in rendered if item and _is_wanted(item, wanted)]
    place = Place(seq=events[-1][0] if events else after.seq, trail_id=activity[-1].id if activity else after.trail_id)
    return Stream(items=tuple(sorted(items, key=lambda item: item.at, reverse=True)), place=place)


def _backwards(memory: Memory, at: Place, session: str, size: int) -> Iterator[tuple[Event | HookEvent, Place]]:
    """Yield the entries of both sources before a place, latest first, each with the place before it."""

    def journal(seq: int) -> Iterator[tuple[dict[str, Any], Event | HookEvent]]:
        while page := memory.store.before(seq, size, session=session):
            yield from (({"seq": number}, event) for number, event in page)
            seq = page[-1][0]

    def activity(last: str) -> Iterator[tuple[dict[str, Any], Event | HookEvent]]:
        while page := trail.before(memory.store, last, size, session=session):
            yield from (({"trail_id": entry.id}, entry) for entry in page)
            last = page[-1].id

    for step, entry in merge(journal(at.seq), activity(at.trail_id), key=lambda row: row[1].at, reverse=True):
        at = replace(at, **step)
        yield entry, at


def _is_wanted(item: Item, wanted: Wanted) -> bool:
    return (
        (wanted.project is None or item.project in (wanted.project, ""))
        and (not wanted.whats or item.what in wanted.whats)
        and (not wanted.session or item.session == wanted.session)
        and (not wanted.client or item.client == wanted.client)
    )


def _rendered(memory: Memory, happened: Sequence[Event | HookEvent]) -> Iterator[Item | None]:
    """Yield entries for people, None for one without text; the records and sessions they mention are read at once."""
    known = memory.known(id_ for event in happened if isinstance(event, Event) for id_ in _record_ids(event))

    @cache
    def project_of(session: str, folder: str = "") -> str:
        """Return the project of a session, or the one that a folder seems to belong to, before its session is known."""
        begun = sessions.of(memory.store, session) if session else None
        name = folder.rstrip("/").rpartition("/")[2]
        guesses = (project for project in memory.store.projects() if project and project.endswith(f"/{name}"))
        return (begun.project if begun else "") or (next(guesses, name) if name else "")

    for entry in happened:
        item = _of_event(entry, known, project_of) if isinstance(entry, Event) else _of_activity(entry, project_of)
        detail = item.detail if len(item.detail) <= LONGEST_DETAIL else f"{item.detail[:LONGEST_DETAIL].rstrip()}…"
        yield replace(item, text=shorten(item.text, LONGEST), detail=detail) if item.text else None


def _of_activity(event: HookEvent, project_of: Callable[[str, str], str]) -> Item:
    what = _ACTIVITY.get(event.event)
    text, detail = event.text, event.text if len(event.text) > LONGEST else ""
    if what == "tool":
        argument = next((str(event.given[name]) for name in _ARGUMENTS if event.given.get(name)), "")
        text, detail = f"{event.tool} {argument.removeprefix(event.cwd.rstrip('/') + '/')}".strip(), event.result
    return Item(
        at=event.at,
        what=what or "tool",
        verb=event.tool or event.event,
        text=text if what else "",
        detail=detail,
        project=project_of(event.session, event.cwd),
        session=event.session,
        client=event.client,
        failed=event.failed,
    )


def _of_event(event: Event, known: Mapping[str, Record], project_of: Callable[[str], str]) -> Item:
    ids = _record_ids(event)
    found = [known[id_] for id_ in ids if id_ in known]
    record = found[0] if found and found[0].id == event.about else None
    session = event.about if event.verb in _OF_SESSION else event.by.session
    what, text, detail = _described(event, record, " · ".join(record.title for record in found[:3]))
    return Item(
        at=event.at,
        what=what,
        verb=event.verb,
        text=text,
        detail=detail,
        project=record.project if record else project_of(session),
        session=session,
        client=event.by.name or event.by.kind,
        records=tuple(found[:8]),
        ids=tuple(ids),
        tokens=tokens_in(event),
        outcome=text_or_empty(event.data.get("outcome")),
        failed=event.data.get("outcome") in ("contradicted", "failed", "refuted"),
    )


_OF_SESSION = frozenset({"surfaced", "injected", "started", "closed"})


def _record_ids(event: Event) -> list[str]:
    """Return the ids of the records an event is about."""
    return list(ids_in(event)) if event.verb in _OF_SESSION else [event.about]


def _described(event: Event, record: Record | None, titles: str) -> tuple[What, str, str]:
    """Return what an event is, its text and its detail; `titles` names the records it is about."""
    data = {name: text_or_empty(value) for name, value in event.data.items()}
    title, count = record.title if record else event.about, counted(len(_record_ids(event)), "memory")
    named = data.get("title") or data.get("issue") or ""
    match event.verb:
        case "recorded" if record and record.state != "erased":
            is_derived = record.kind in NOTES
            detail = "" if record.body.startswith(record.title.rstrip("…")) else record.body
            return "observation" if is_derived else "record", record.title, detail
        case "recorded":
            return "record", "erased", ""
        case "surfaced" if data.get("how") == "read":
            return "asked", titles, "read in full"
        case "surfaced":
            return "asked", data.get("query") or "(no words)", f"{count} returned" if titles else "no match"
        case "injected":
            is_warning, why = data.get("why") == "action site", data.get("why") or "context"
            return "warning" if is_warning else "receipt", (is_warning and titles) or f"{why}: {count}", ""
        case "started":
            return "session", named or "Session started", ""
        case "closed":
            how = data.get("type") or "ended"
            return "session", "Ended" if how == "ended" else f"Closed: {how}", named
        case "used" | "touched" if "withdraws" in data:
            return "change", title, "taken back"
        case "used":
            return "use", title, data.get("evidence") or data.get("note") or ""
    return "change", title, data.get("reason") or data.get("note") or ""
