"""Everything that happens as one stream: what hooks told and what the journal kept, merged by time, read by a cursor.

Reading it changes nothing and notes nothing. A page goes on from a place in both sources, so nothing is shown twice or
skipped while more arrives; where filters match little, only so much is looked through and the place says how far.
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
from holdfast.model.text import counted, shorten
from holdfast.model.trail import Happening
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
    """A place between two happenings: an event's number and an id of the trail."""

    seq: int
    told: str = ""

    def __str__(self) -> str:
        return f"{self.seq}.{self.told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which happenings are meant; empty parts mean any. `client` is the agent's name."""

    project: str | None = None
    whats: Collection[str] = ()
    session: str = ""
    client: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One happening as a person reads it: what, when, by whom and where, with the records it is about."""

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
    """Some happenings, latest first, and the place to go on from; None where there is nothing more."""

    items: tuple[Item, ...]
    place: Place | None


def place_of(text: str) -> Place:
    """Read a place as it was written."""
    seq, _, told = text.partition(".")
    if not seq.isdecimal() or len(seq) > 18 or len(told) > 100:
        raise Invalid(f"{text[:40]!r} is no place in the stream.")
    return Place(seq=int(seq), told=told)


def head(memory: Memory) -> Place:
    """Return the place after everything that happened so far."""
    return Place(seq=memory.store.last_seq(), told=trail.last_id(memory.store.db))


def older(memory: Memory, wanted: Wanted, *, before: Place | None = None, limit: int = 40) -> Stream:
    """Return what happened before a place, or last, latest first."""
    at = before or Place(seq=2**62, told=_LATEST)
    found: list[Item] = []
    looked = 0
    while len(found) < limit and looked < MOST_LOOKED_AT:
        raw = _page_before(memory, at, wanted.session, min(PAGE, 2 * limit))
        told = _Telling(memory, [one for one, _ in raw])
        for happened, after in raw:
            at, looked = after, looked + 1
            if (item := told.item(happened)) and _is_wanted(item, wanted):
                found.append(item)
                if len(found) == limit:
                    break
        if not raw:
            return Stream(items=tuple(found), place=None)
    return Stream(items=tuple(found), place=at)


def newer(memory: Memory, wanted: Wanted, *, after: Place, limit: int = MOST) -> Stream:
    """Return what happened after a place, latest first, and the place after it; of very much only the first part."""
    events = [(seq, event) for seq, event in _first(memory.store.journal(after.seq), limit)]
    told = trail.after(memory.store.db, after.told, limit)
    raw: list[Event | Happening] = [event for _, event in events]
    telling = _Telling(memory, [*raw, *told])
    items = [item for one in (*raw, *told) if (item := telling.item(one)) and _is_wanted(item, wanted)]
    place = Place(seq=events[-1][0] if events else after.seq, told=told[-1].id if told else after.told)
    return Stream(items=tuple(sorted(items, key=lambda item: item.at, reverse=True)), place=place)


def _first(events: Iterator[tuple[int, Event]], limit: int) -> Iterator[tuple[int, Event]]:
    for count, one in enumerate(events, start=1):
        yield one
        if count >= limit:
            return


class _Raw(NamedTuple):
    """One happening of either source: 1 is the journal, 0 the trail."""

    at: str
    source: int
    seq: int
    told: str
    happened: Event | Happening


def _page_before(memory: Memory, at: Place, session: str, limit: int) -> list[tuple[Event | Happening, Place]]:
    """Return what both sources hold before a place, latest first, each with the place before it.

    It ends where one source may hold something later than what the other would give next.
    """
    events = memory.store.before(at.seq, limit, session=session)
    told = trail.before(memory.store.db, at.told, limit, session=session)
    raw: list[Sequence[_Raw]] = [
        [_Raw(event.at, 1, seq, "", event) for seq, event in events],
        [_Raw(one.at, 0, 0, one.id, one) for one in told],
    ]
    left, full = [len(told), len(events)], [len(told) == limit, len(events) == limit]
    found: list[tuple[Event | Happening, Place]] = []
    for one in merge(*raw, key=lambda one: (one.at, one.source), reverse=True):
        at = replace(at, seq=one.seq) if one.source else replace(at, told=one.told)
        found.append((one.happened, at))
        left[one.source] -= 1
        if full[one.source] and not left[one.source]:
            break
    return found


def _is_wanted(item: Item, wanted: Wanted) -> bool:
    return (
        (wanted.project is None or item.project in (wanted.project, ""))
        and (not wanted.whats or item.what in wanted.whats)
        and (not wanted.session or item.session == wanted.session)
        and (not wanted.client or item.client == wanted.client)
    )


class _Telling:
    """Some happenings with the records and sessions they speak of, read at once."""

    def __init__(self, memory: Memory, happened: Sequence[Event | Happening]) -> None:
        self._memory = memory
        ids = {one for event in happened if isinstance(event, Event) for one in _spoken_of(event)}
        self._records = {one: entry.record for one, entry in records.by_ids(memory.store.db, ids).items()}
        self._sessions: dict[str, Session] = {}

    def item(self, happened: Event | Happening) -> Item | None:
        """Return a happening as a person reads it; None if it says nothing new."""
        return self._of_event(happened) if isinstance(happened, Event) else self._of_happening(happened)

    def _session(self, session: str) -> Session:
        if session not in self._sessions:
            found = sessions.of(self._memory.store.db, session) if session else None
            self._sessions[session] = found or _NO_SESSION
        return self._sessions[session]

    def _of_happening(self, one: Happening) -> Item | None:
        tell = _TOLD.get(one.event)
        if tell is None:
            return None
        what, text, detail = tell(one)
        if not text:
            return None
        known = self._session(one.session)
        return Item(
            at=one.at,
            what=what,
            verb=one.tool or one.event,
            text=shorten(text, LONGEST),
            detail=_bounded(detail),
            project=known.project or self._called(one.cwd),
            session=one.session,
            client=one.client,
            failed=one.failed,
        )

    def _called(self, folder: str) -> str:
        """Return the project a folder seems to belong to, before its session is known."""
        name = folder.rstrip("/").rpartition("/")[2]
        return next(
            (project for project in self._memory.store.projects() if project and project.endswith(f"/{name}")), name
        )

    def _of_event(self, event: Event) -> Item | None:
        known = tuple(self._records[one] for one in _spoken_of(event) if one in self._records)
        record = known[0] if known and known[0].id == event.about else None
        session = event.about if event.verb in _OF_SESSION else event.by.session
        what, text, detail = _told_of(event, record, known)
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
            ids=tuple(_spoken_of(event)),
            tokens=_number(event.data.get("tokens")),
            outcome=_text(event.data.get("outcome")),
            failed=event.data.get("outcome") in ("contradicted", "failed", "refuted"),
        )


_OF_SESSION = frozenset({"surfaced", "injected", "started", "closed"})
Told = tuple[What, str, str]


def _spoken_of(event: Event) -> list[str]:
    """Return the ids of the records an event is about."""
    if event.verb not in _OF_SESSION:
        return [event.about]
    ids = event.data.get("ids")
    return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []


def _told_of(event: Event, record: Record | None, known: Sequence[Record]) -> Told:
    match event.verb:
        case "recorded":
            return _recorded(record)
        case "surfaced":
            return _surfaced(event, known)
        case "injected":
            return _injected(event, known)
        case "started" | "closed":
            return _of_a_session(event)
        case "used":
            title = record.title if record else event.about
            return "use", title, _text(event.data.get("evidence") or event.data.get("note"))
    return "change", record.title if record else event.about, _text(event.data.get("reason") or event.data.get("note"))


def _recorded(record: Record | None) -> Told:
    if record is None or record.state == "erased":
        return "record", "erased", ""
    what: What = "observation" if record.kind in ("observation", "summary") else "record"
    return what, record.title, "" if record.body.startswith(record.title.rstrip("…")) else record.body


def _surfaced(event: Event, known: Sequence[Record]) -> Told:
    asked, shown = _text(event.data.get("query")), counted(len(_spoken_of(event)), "memory")
    if event.data.get("how") == "read":
        return "asked", " · ".join(one.title for one in known[:3]), "read in full"
    return "asked", asked or "(no words)", f"{shown} shown" if known else "nothing fit"


def _injected(event: Event, known: Sequence[Record]) -> Told:
    why = _text(event.data.get("why"))
    what: What = "warning" if why == "action site" else "receipt"
    said = " · ".join(one.title for one in known[:3]) if what == "warning" else ""
    return what, said or f"{why or 'context'}: {counted(len(_spoken_of(event)), 'memory')}", ""


def _of_a_session(event: Event) -> Told:
    title = _text(event.data.get("title")) or _text(event.data.get("issue"))
    if event.verb == "started":
        return "session", title or "A session began", ""
    return "session", f"Ended: {_text(event.data.get('type')) or 'closed'}", title


def _prompt(one: Happening) -> Told:
    return "prompt", one.text, one.text if len(one.text) > LONGEST else ""


def _answer(one: Happening) -> Told:
    return "answer", one.text, one.text if len(one.text) > LONGEST else ""


def _tool(one: Happening) -> Told:
    given = one.given
    said = next((str(given[name]) for name in _ARGUMENTS if given.get(name)), "")
    return "tool", f"{one.tool} {said.removeprefix(one.cwd.rstrip('/') + '/')}".strip(), one.result


_ARGUMENTS = ("command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt")
_TOLD: dict[str, Any] = {
    "UserPromptSubmit": _prompt,
    "Stop": _answer,
    "PostToolUse": _tool,
    "PostToolUseFailure": _tool,
}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL].rstrip()}…"
