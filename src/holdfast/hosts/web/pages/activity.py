"""Activity: everything agents and people did, live, by day and session; the sessions, and what changed in the memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.ids import moment_of, short
from holdfast.model.session import Session
from holdfast.verbs.sessions.analyze import digest
from holdfast.verbs.sessions.receipts import Delivery, deliveries_in
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import (
    contents_of,
    find_session,
    list_sessions,
    saved_in,
    session_agents,
    sessions_called,
)
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, WHATS, Item, Place, Stream, Wanted, newer, older, place_of

LIMIT, CHANGES, SESSIONS = 40, 60, 50
FOLDED = 3  # so many tools, or memories that were not needed, in a row are one line
COLUMNS = ("at", "what", "text", "detail", "outcome", "project", "session", "client")
SESSION_COLUMNS = "id project agent title issue started_at closed_at"
LANES = {name: whats.split() for name, whats in WORDS["lanes"].items()}
LANE = 24.0  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the list: a day, a session, a single entry, or several like it in a row."""

    day: str = ""
    session: Session | None = None
    client: str = ""
    project: str = ""
    items: tuple[Item, ...] = ()


def wanted_of(ask: Ask) -> Wanted:
    """Parse the filters of the stream."""
    whats = ask.texts("what")
    for one in whats:
        if one not in WHATS:
            raise Invalid(f"There is no {one[:40]!r} in the stream.", hint=f"There are {', '.join(WHATS)}.")
    named = ask.text("session")
    try:
        session = find_session(ask.memory, named).id if named else ""
    except NotFound:
        session = named  # hooks may have reported one that never used the memory
    # A session belongs to one project, so the project need not be selected as well.
    return Wanted(project=None if session else ask.project, whats=whats, session=session, client=ask.text("client"))


@render.page_at("/activity", "activity.html", "Activity", rows=lambda ask: _rows(ask, wanted_of(ask)))
def _stream(ask: Ask) -> dict[str, Any]:
    place, problem = look(ask.memory), ""
    try:
        wanted = wanted_of(ask)
    except Ambiguous as unknown:
        problem, wanted = f"{unknown.message} {unknown.hint}", Wanted(project=ask.project, session="-")
    return {
        "wanted": wanted,
        "problem": problem,
        "filtered": bool(wanted.whats or wanted.session or wanted.client),
        "clients": session_agents(ask.memory, everywhere=ask.everywhere),
        "live": render.address(ask, "/stream", **_kept(wanted)),
        "newer": render.address(ask, "/activity/newer", after=str(place), **_kept(wanted)),
        "in_file": MOST_LOOKED_AT,
        **_items(ask, wanted, _before(ask, wanted, LIMIT)),
    }


@render.page_at("/activity/older", "activity_items.html", "Activity", back="/activity")
def _older(ask: Ask) -> dict[str, Any]:
    wanted = wanted_of(ask)
    stream = older(ask.memory, wanted, before=place_of(ask.text("before")), limit=LIMIT)
    return _items(ask, wanted, stream, last=(ask.text("day"), ask.text("last")))


@render.answer_at("/activity/newer", render.PAGES)
def newer_items(ask: Ask) -> Response:
    """Return newer entries, as a part of the page; a header has the place to continue from."""
    wanted, after = wanted_of(ask), place_of(ask.text("after"))
    stream = newer(ask.memory, wanted, after=after)
    answer = render.page(ask, "activity_items.html", **_items(ask, wanted, stream, only_new=True))
    more = str(stream.place or after)
    answer.headers["x-newer"] = render.address(ask, "/activity/newer", after=more, **_kept(wanted))
    return answer


@render.page_at("/timeline", "timeline.html", "Timeline", rows=lambda ask: _rows(ask, _changed(ask)))
def _changes(ask: Ask) -> dict[str, Any]:
    """Return the digest of a range of time, and what changed in it, latest first."""
    now = ask.memory.clock.now()
    since, until = (ask.text(name)[:40] for name in ("since", "until"))
    start = moment_of(render.start_of_date(ask, since) or "monday", now)
    end = moment_of(render.end_of_day(ask, until), now) or now
    found = _before(ask, _changed(ask), CHANGES)
    items = [item for item in found.items if start <= item.at <= end]
    goes_on = found.place and found.items and found.items[-1].at >= start
    return {
        "digest": cached_until_event(
            ask, "digest", lambda: digest(ask.memory, start, end, everywhere=ask.everywhere), since, until
        ),
        "since": since or "monday",
        "until": until,
        "lines": lines_of(ask, items),
        "more": render.here(ask, before=str(found.place)) if goes_on else "",
        "in_file": MOST_LOOKED_AT,
    }


def _changed(ask: Ask) -> Wanted:
    return Wanted(project=ask.project, whats=("record", "change"))


def _before(ask: Ask, wanted: Wanted, limit: int) -> Stream:
    at = ask.text("before")
    return older(ask.memory, wanted, before=place_of(at) if at else None, limit=limit)


def _rows(ask: Ask, wanted: Wanted) -> list[render.Row]:
    """Return the latest entries, as many as are looked through at once."""
    return [
        {name: getattr(item, name) for name in COLUMNS}
        | {"memories": item.ids or tuple(record.id for record in item.records), "tokens": item.tokens}
        for item in _before(ask, wanted, MOST_LOOKED_AT).items
    ]


def lines_of(ask: Ask, items: Sequence[Item], last: tuple[str, str] = ("", "")) -> list[Line]:
    """Return entries with a line before each day and session; some in a row are folded into one line."""
    known = sessions_called(ask.memory, {item.session for item in items if item.session})
    lines, (day, session) = list[Line](), last
    for (at, of), run in groupby(items, key=lambda item: (_day(ask, item), item.session)):
        group = list(run)
        if at != day:
            lines.append(Line(day=group[0].at))
        if of != session or at != day:
            about = known.get(of) or (Session(id=of) if of else None)
            lines.append(Line(session=about, client=group[0].client, project=group[0].project))
        day, session = at, of
        lines += [Line(items=entries) for entries in folded(group)]
    return lines


def folded(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """Yield entries one by one, but three or more tools in a row together, and memories that were not needed."""

    def sort_of(item: Item) -> str:
        return item.what if item.what == "tool" or (item.what, item.outcome) == ("use", "ignored") else ""

    for sort, same in groupby(items, key=sort_of):
        entries = tuple(same)
        yield from [entries] if sort and len(entries) >= FOLDED else [(item,) for item in entries]


def _day(ask: Ask, item: Item) -> str:
    return render.local(ask, item.at).date().isoformat()


def _items(
    ask: Ask, wanted: Wanted, found: Stream, *, last: tuple[str, str] = ("", ""), only_new: bool = False
) -> dict[str, Any]:
    place = found.place or Place(seq=0)
    end = found.items[-1] if found.items else None
    given = {"day": _day(ask, end) if end else last[0], "last": end.session if end else last[1]}
    return {
        "stream": found,
        "lines": lines_of(ask, found.items, last),
        "only_new": only_new,
        "older": render.address(ask, "/activity/older", before=str(place), **given, **_kept(wanted)),
        "older_page": render.address(ask, "/activity", before=str(place), **_kept(wanted)),
    }


def _kept(wanted: Wanted) -> dict[str, Any]:
    return {"what": list(wanted.whats), "session": wanted.session, "client": wanted.client}


def _listed(ask: Ask, limit: int) -> list[Session]:
    """Return sessions, latest first."""
    on = ask.text("on")[:10]
    return list_sessions(
        ask.memory,
        limit=limit,
        offset=ask.number("offset", 0, 0, 10_000_000),
        everywhere=ask.everywhere,
        since=render.start_of_date(ask, on),
        until=render.end_of_day(ask, on) or "~",
        agent=ask.text("client"),
    )


def _session_rows(ask: Ask) -> list[render.Row]:
    found = _listed(ask, render.MOST_ROWS + 1)
    saved = saved_in(ask.memory, [one.id for one in found])
    return [{**row, "memories": saved.get(str(row["id"]), 0)} for row in render.table(found, SESSION_COLUMNS)]


@render.page_at("/sessions", "sessions.html", "Sessions", rows=_session_rows)
def _sessions(ask: Ask) -> dict[str, Any]:
    found = _listed(ask, SESSIONS + 1)
    offset, shown = ask.number("offset", 0, 0, 10_000_000), found[:SESSIONS]
    return {
        "sessions": shown,
        "clients": session_agents(ask.memory, everywhere=ask.everywhere),
        "client": ask.text("client"),
        "on": ask.text("on")[:10],
        "saved": saved_in(ask.memory, [one.id for one in shown]),
        "lasted": lasted,
        "more": render.here(ask, offset=offset + SESSIONS) if len(found) > SESSIONS else "",
    }


@render.page_at("/sessions/{id}", "session.html", "Session")
def _session(ask: Ask) -> dict[str, Any]:
    """Return one session: prompts, actions, the memories it got and why, saved records and its end, in order of time."""
    look(ask.memory)
    session = find_session(ask.memory, ask.parts["id"])
    left = contents_of(ask.memory, session.id)
    activity = older(ask.memory, Wanted(session=session.id), limit=MOST_LOOKED_AT // 2)
    items = sorted(activity.items, key=lambda item: (item.at, item.verb != "started"), reverse=True)
    items.reverse()  # what happened at once stays in the order it was written
    given: dict[tuple[str, tuple[str, ...]], list[Delivery]] = {}
    for one in deliveries_in(ask.memory, session.id):
        given.setdefault((one.at, one.ids), []).append(one)
    numbers = {id(item): number for number, item in enumerate(items)}
    return {
        "title": session.title or f"Session {short(session.id)}",
        "session": session,
        "left": left,
        "items": items,
        "entries": [(numbers[id(entries[0])], entries) for entries in folded(items)],
        "given": given,
        "cut": activity.place is not None,
        "summary": next((record for record in left.records if record.kind == "summary"), None),
        "lasted": lasted(session),
        "unanswered": unanswered(ask.memory, session.id),
        "live": render.address(ask, "/stream", session=session.id) if session.is_open else "",
        **_lanes(items),
    }


def lasted(session: Session) -> str:
    """Return how long a session took, in words; "" while it is open."""
    if session.is_open or not session.closed_at or not session.started_at:
        return ""
    took = datetime.fromisoformat(session.closed_at) - datetime.fromisoformat(session.started_at)
    minutes = int(took.total_seconds() // 60)
    if minutes >= 48 * 60:
        return f"{minutes // (24 * 60)} days"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def _lanes(items: list[Item]) -> dict[str, Any]:
    """Return the entries of a session on a time axis, in a lane for each sort."""
    times = [datetime.fromisoformat(item.at).timestamp() for item in items]
    start, took = (times[0], max(times) - times[0]) if times else (0.0, 0.0)
    used = {name: whats for name, whats in LANES.items() if any(item.what in whats for item in items)}
    marks = []
    for number, (item, at) in enumerate(zip(items, times, strict=True)):
        lane = next((place for place, whats in enumerate(used.values()) if item.what in whats), None)
        if lane is not None:
            share = (at - start) / took if took else number / max(1, len(items) - 1)
            marks.append({"number": number, "x": 100 * share, "y": (lane + 0.5) * LANE, "item": item})
    return {"lanes": list(used), "marks": marks, "lane_height": LANE}
