"""The activity stream: events from hooks and from the journal, merged by time and read with a cursor.

Reading it changes nothing. A page continues from a place in both sources, so nothing is repeated or skipped while
more arrives; if filters match little, only so much is read, and the place shows how far.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from typing import Any, Literal, NamedTuple, get_args

from holdfast.engine.raw import trail
from holdfast.engine.views import records, sessions
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import counted, shorten, text_or_empty
from holdfast.model.trail import HookEvent
from holdfast.verbs.memory import Memory

What = Literal[
    "prompt", "answer", "tool", "observation", "record", "change", "asked", "use", "receipt", "warning", "session"
]
WHATS: tuple[str, ...] = get_args(What)
PAGE, MOST, MOST_LOOKED_AT = 200, 200, 2_000
LONGEST, LONGEST_DETAIL = 200, 600
_LATEST = "~"  # sorts after every id of the trail
_NO_SESSION = Session(id="")


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
    at = before or Place(seq=2**62, trail_id=_LATEST)
    items: list[Item] = []
    looked = 0
    while len(items) < limit and looked < MOST_LOOKED_AT:
        raw = _page_before(memory, at, wanted.session, min(PAGE, 2 * limit))
        renderer = _Renderer(memory, [entry for entry, _ in raw])
        for happened, after in raw:
            at, looked = after, looked + 1
            if (item := renderer.item(happened)) and _is_wanted(item, wanted):
                items.append(item)
                if len(items) == limit:
                    break
        if not raw:
            return Stream(items=tuple(items), place=None)
    return Stream(items=tuple(items), place=at)


def newer(memory: Memory, wanted: Wanted, *, after: Place, limit: int = MOST) -> Stream:
    """Return entries after a place, latest first, and the new place; at most a first part of very many."""
    events = [(seq, event) for seq, event in _first(memory.store.journal(after.seq), limit)]
    activity = trail.after(memory.store, after.trail_id, limit)
    raw: list[Event | HookEvent] = [event for _, event in events]
    renderer = _Renderer(memory, [*raw, *activity])
    items = [item for entry in (*raw, *activity) if (item := renderer.item(entry)) and _is_wanted(item, wanted)]
    place = Place(seq=events[-1][0] if events else after.seq, trail_id=activity[-1].id if activity else after.trail_id)
    return Stream(items=tuple(sorted(items, key=lambda item: item.at, reverse=True)), place=place)


def _first(events: Iterator[tuple[int, Event]], limit: int) -> Iterator[tuple[int, Event]]:
    for count, entry in enumerate(events, start=1):
        yield entry
        if count >= limit:
            return


class _Raw(NamedTuple):
    """An entry of either source: 1 is the journal, 0 the trail."""

    at: str
    source: int
    seq: int
    trail_id: str
    happened: Event | HookEvent


def _page_before(memory: Memory, at: Place, session: str, limit: int) -> list[tuple[Event | HookEvent, Place]]:
    """Return the entries of both sources before a place, latest first, each with the place before it.

    It ends where one source may have later entries than the next of the other.
    """
    events = memory.store.before(at.seq, limit, session=session)
    activity = trail.before(memory.store, at.trail_id, limit, session=session)
    raw: list[Sequence[_Raw]] = [
        [_Raw(event.at, 1, seq, "", event) for seq, event in events],
        [_Raw(entry.at, 0, 0, entry.id, entry) for entry in activity],
    ]
    left, full = [len(activity), len(events)], [len(activity) == limit, len(events) == limit]
    entries: list[tuple[Event | HookEvent, Place]] = []
    for entry in merge(*raw, key=lambda row: (row.at, row.source), reverse=True):
        at = replace(at, seq=entry.seq) if entry.source else replace(at, trail_id=entry.trail_id)
        entries.append((entry.happened, at))
        left[entry.source] -= 1
        if full[entry.source] and not left[entry.source]:
            break
    return entries


def _is_wanted(item: Item, wanted: Wanted) -> bool:
    return (
        (wanted.project is None or item.project in (wanted.project, ""))
        and (not wanted.whats or item.what in wanted.whats)
        and (not wanted.session or item.session == wanted.session)
        and (not wanted.client or item.client == wanted.client)
    )


class _Renderer:
    """Entries with the records and sessions they mention, read at once."""

    def __init__(self, memory: Memory, happened: Sequence[Event | HookEvent]) -> None:
        self._memory = memory
        ids = {id_ for event in happened if isinstance(event, Event) for id_ in _record_ids(event)}
        self._records = {id_: entry.record for id_, entry in records.by_ids(memory.store, ids).items()}
        self._sessions: dict[str, Session] = {}

    def item(self, happened: Event | HookEvent) -> Item | None:
        """Return an entry for people; None if it has no text."""
        return self._of_event(happened) if isinstance(happened, Event) else self._of_activity(happened)

    def _session(self, session: str) -> Session:
        if session not in self._sessions:
            known = sessions.of(self._memory.store, session) if session else None
            self._sessions[session] = known or _NO_SESSION
        return self._sessions[session]

    def _of_activity(self, event: HookEvent) -> Item | None:
        describe = _DESCRIBE.get(event.event)
        if describe is None:
            return None
        what, text, detail = describe(event)
        if not text:
            return None
        known = self._session(event.session)
        return Item(
            at=event.at,
            what=what,
            verb=event.tool or event.event,
            text=shorten(text, LONGEST),
            detail=_bounded(detail),
            project=known.project or self._project_of(event.cwd),
            session=event.session,
            client=event.client,
            failed=event.failed,
        )

    def _project_of(self, folder: str) -> str:
        """Return the project that a folder seems to belong to, before its session is known."""
        name = folder.rstrip("/").rpartition("/")[2]
        return next(
            (project for project in self._memory.store.projects() if project and project.endswith(f"/{name}")), name
        )

    def _of_event(self, event: Event) -> Item | None:
        known = tuple(self._records[id_] for id_ in _record_ids(event) if id_ in self._records)
        record = known[0] if known and known[0].id == event.about else None
        session = event.about if event.verb in _OF_SESSION else event.by.session
        what, text, detail = _described(event, record, known)
        if not text:
            return None
        return Item(
            at=event.at,
            what=what,
            verb=event.verb,
            text=shorten(text, LONGEST),
            detail=_bounded(detail),
            project=record.project if record else self._session(session).project,
            session=session,
            client=event.by.name or event.by.kind,
            records=known[:8],
            ids=tuple(_record_ids(event)),
            tokens=_number(event.data.get("tokens")),
            outcome=text_or_empty(event.data.get("outcome")),
            failed=event.data.get("outcome") in ("contradicted", "failed", "refuted"),
        )


_OF_SESSION = frozenset({"surfaced", "injected", "started", "closed"})
Described = tuple[What, str, str]


def _record_ids(event: Event) -> list[str]:
    """Return the ids of the records an event is about."""
    if event.verb not in _OF_SESSION:
        return [event.about]
    ids = event.data.get("ids")
    return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []


def _described(event: Event, record: Record | None, known: Sequence[Record]) -> Described:
    match event.verb:
        case "recorded":
            return _recorded(record)
        case "surfaced":
            return _surfaced(event, known)
        case "injected":
            return _injected(event, known)
        case "started" | "closed":
            return _of_a_session(event)
        case "used" | "touched" if "withdraws" in event.data:
            return "change", record.title if record else event.about, "taken back"
        case "used":
            title = record.title if record else event.about
            return "use", title, text_or_empty(event.data.get("evidence") or event.data.get("note"))
    return (
        "change",
        record.title if record else event.about,
        text_or_empty(event.data.get("reason") or event.data.get("note")),
    )


def _recorded(record: Record | None) -> Described:
    if record is None or record.state == "erased":
        return "record", "erased", ""
    what: What = "observation" if record.kind in ("observation", "summary") else "record"
    return what, record.title, "" if record.body.startswith(record.title.rstrip("…")) else record.body


def _surfaced(event: Event, known: Sequence[Record]) -> Described:
    asked, count = text_or_empty(event.data.get("query")), counted(len(_record_ids(event)), "memory")
    if event.data.get("how") == "read":
        return "asked", " · ".join(record.title for record in known[:3]), "read in full"
    return "asked", asked or "(no words)", f"{count} returned" if known else "no match"


def _injected(event: Event, known: Sequence[Record]) -> Described:
    why = text_or_empty(event.data.get("why"))
    what: What = "warning" if why == "action site" else "receipt"
    titles = " · ".join(record.title for record in known[:3]) if what == "warning" else ""
    return what, titles or f"{why or 'context'}: {counted(len(_record_ids(event)), 'memory')}", ""


def _of_a_session(event: Event) -> Described:
    title = text_or_empty(event.data.get("title")) or text_or_empty(event.data.get("issue"))
    if event.verb == "started":
        return "session", title or "Session started", ""
    return "session", f"Ended: {text_or_empty(event.data.get('type')) or 'closed'}", title


def _prompt(event: HookEvent) -> Described:
    return "prompt", event.text, event.text if len(event.text) > LONGEST else ""


def _answer(event: HookEvent) -> Described:
    return "answer", event.text, event.text if len(event.text) > LONGEST else ""


def _tool(event: HookEvent) -> Described:
    arguments = event.given
    argument = next((str(arguments[name]) for name in _ARGUMENTS if arguments.get(name)), "")
    return "tool", f"{event.tool} {argument.removeprefix(event.cwd.rstrip('/') + '/')}".strip(), event.result


_ARGUMENTS = ("command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt")
_DESCRIBE: dict[str, Any] = {
    "UserPromptSubmit": _prompt,
    "Stop": _answer,
    "PostToolUse": _tool,
    "PostToolUseFailure": _tool,
}


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL].rstrip()}…"
