"""Activity: everything agents and people did, live, by day and session; the sessions, and what changed in the memory."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.errors import Ambiguous, NotFound
from holdfast.model.ids import moment_of, short
from holdfast.model.session import Session
from holdfast.verbs.memory import Report
from holdfast.verbs.sessions import session as sessions
from holdfast.verbs.sessions.analyze import digest
from holdfast.verbs.sessions.receipts import deliveries_in
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, Item, Stream, Wanted, newer, older, place_of

LIMIT, CHANGES, SESSIONS = 40, 60, 50
FOLDED = 3  # so many tools, or memories that were unused, in a row are one line
LANES = {name: whats.split() for name, whats in WORDS["lanes"].items()}
LANE = 24.0  # pixels


def wanted_of(ask: Ask) -> Wanted:
    """Parse the filters of the stream."""
    whats, session = ask.texts("what"), ask.text("session")
    with suppress(NotFound):  # hooks may have reported one that never used the memory
        session = sessions.find_session(ask.memory, session).id if session else ""
    # A session belongs to one project, so the project need not be selected as well.
    return Wanted(project=None if session else ask.project, whats=whats, session=session, client=ask.text("client"))


@render.page_at("/activity", "activity.html", "Activity", rows=lambda ask: _rows(ask, wanted_of(ask)))
def _stream(ask: Ask) -> dict[str, Any]:
    place, problem = look(ask.memory), ""
    try:
        wanted = wanted_of(ask)
    except Ambiguous as unknown:
        problem, wanted = f"{unknown.message} {unknown.hint}", Wanted(project=ask.project, session="-")
    clients = sessions.session_agents(ask.memory, everywhere=ask.everywhere)
    filtered = bool(wanted.whats or wanted.session or wanted.client)
    shown = {"wanted": wanted, "problem": problem, "filtered": filtered, "clients": clients, "in_file": MOST_LOOKED_AT}
    return shown | {"place": place} | _items(ask, wanted, _before(ask, wanted, LIMIT))


@render.page_at("/activity/older", "activity_items.html", "Activity", back="/activity")
def _older(ask: Ask) -> dict[str, Any]:
    wanted = wanted_of(ask)
    before = older(ask.memory, wanted, before=place_of(ask.text("before")), limit=LIMIT)
    return _items(ask, wanted, before, last=(ask.text("day"), ask.text("last")))


@render.answer_at("/activity/newer", render.PAGES)
def newer_items(ask: Ask) -> Response:
    """Return newer entries, as a part of the page; a header has the place to continue from."""
    wanted, after = wanted_of(ask), place_of(ask.text("after"))
    stream = newer(ask.memory, wanted, after=after)
    items = _items(ask, wanted, stream, only_new=True)
    more = render.address(ask, "/activity/newer", after=str(stream.place or after), **items["kept"])
    return render.page(ask, "activity_items.html", headers={"x-newer": more}, **items)


@render.page_at("/timeline", "timeline.html", "Timeline", rows=lambda ask: _rows(ask, changes_in(ask)))
def _changes(ask: Ask) -> dict[str, Any]:
    """Return the digest of a range of time, and what changed in it, latest first."""
    now = ask.memory.clock.now()
    since, until = (ask.text(name)[:40] for name in ("since", "until"))
    start = moment_of(render.start_of_date(ask, since) or "monday", now)
    end = moment_of(render.end_of_day(ask, until), now) or now
    found = _before(ask, changes_in(ask), CHANGES)
    goes_on = found.place and found.items and found.items[-1].at >= start
    digested = partial(digest, ask.memory, start, end, everywhere=ask.everywhere)
    lines = lines_of(ask, [item for item in found.items if start <= item.at <= end])
    more = render.here(ask, before=str(found.place)) if goes_on else ""
    shown = {"digest": cached_until_event(ask, "digest", digested, since, until), "since": since or "monday"}
    return shown | {"until": until, "lines": lines, "more": more, "in_file": MOST_LOOKED_AT}


def changes_in(ask: Ask) -> Wanted:
    """Return the filters for what changed in the memory."""
    return Wanted(project=ask.project, whats=("record", "change"))


def _before(ask: Ask, wanted: Wanted, limit: int) -> Stream:
    at = ask.text("before")
    return older(ask.memory, wanted, before=place_of(at) if at else None, limit=limit)


def _rows(ask: Ask, wanted: Wanted) -> list[render.Row]:
    items = _before(ask, wanted, MOST_LOOKED_AT).items
    return render.table(items, "activity", memories=lambda item: item.ids or [record.id for record in item.records])


def lines_of(ask: Ask, items: Sequence[Item], last: tuple[str, str] = ("", "")) -> list[dict[str, Any]]:
    """Return the lines of a list: entries, some in a row folded into one, and one before each day and session."""
    known = sessions.sessions_called(ask.memory, {item.session for item in items if item.session})
    lines, (day, session) = list[dict[str, Any]](), last
    for (at, of), run in groupby(items, key=lambda item: (render.date_of(ask, item.at), item.session)):
        group = list(run)
        if at != day:
            lines.append({"day": group[0].at})
        if of != session or at != day:
            about = known.get(of) or (Session(id=of) if of else None)
            lines.append({"session": about, "client": group[0].client, "project": group[0].project})
        day, session = at, of
        lines += [{"entries": entries} for entries in folded(group)]
    return lines


def folded(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """Yield entries one by one, but three or more tools in a row together, and memories that were unused."""

    def sort_of(item: Item) -> str:
        return item.what if item.what == "tool" or (item.what, item.outcome) == ("use", "ignored") else ""

    for sort, same in groupby(items, key=sort_of):
        entries = tuple(same)
        yield from [entries] if sort and len(entries) >= FOLDED else [(item,) for item in entries]


def _items(
    ask: Ask, wanted: Wanted, found: Stream, *, last: tuple[str, str] = ("", ""), only_new: bool = False
) -> dict[str, Any]:
    day, session = (render.date_of(ask, found.items[-1].at), found.items[-1].session) if found.items else last
    kept = {"what": list(wanted.whats), "session": wanted.session, "client": wanted.client}
    shown = {"stream": found, "lines": lines_of(ask, found.items, last), "only_new": only_new}
    return shown | {"kept": kept, "kept_older": {"day": day, "last": session, **kept}}


def _listed(ask: Ask, limit: int) -> list[Session]:
    on, offset = ask.text("on")[:10], ask.number("offset", 0, 0, 10_000_000)
    given: dict[str, Any] = {"limit": limit, "offset": offset, "agent": ask.text("client")}
    given |= {"since": render.start_of_date(ask, on), "until": render.end_of_day(ask, on) or "~"}
    return sessions.list_sessions(ask.memory, everywhere=ask.everywhere, **given)


def _session_rows(ask: Ask) -> list[render.Row]:
    found = _listed(ask, render.MOST_ROWS + 1)
    saved = sessions.saved_in(ask.memory, [one.id for one in found])
    return render.table(found, "sessions", saved=lambda id_: saved.get(id_, 0))


@render.page_at("/sessions", "sessions.html", "Sessions", rows=_session_rows)
def _sessions(ask: Ask) -> dict[str, Any]:
    found, offset = _listed(ask, SESSIONS + 1), ask.number("offset", 0, 0, 10_000_000)
    saved = sessions.saved_in(ask.memory, [one.id for one in found[:SESSIONS]])
    clients = sessions.session_agents(ask.memory, everywhere=ask.everywhere)
    more = render.here(ask, offset=offset + SESSIONS) if len(found) > SESSIONS else ""
    shown = {"sessions": found[:SESSIONS], "saved": saved, "lasted": lasted, "more": more}
    return shown | {"clients": clients, "client": ask.text("client"), "on": ask.text("on")[:10]}


@render.page_at("/sessions/{id}", "session.html", "Session")
def _session(ask: Ask) -> dict[str, Any]:
    """Return one session: prompts, actions, the memories it got and why, saved records and its end, in order of time."""
    look(ask.memory)
    session = sessions.find_session(ask.memory, ask.parts["id"])
    left = sessions.contents_of(ask.memory, session.id)
    activity = older(ask.memory, Wanted(session=session.id), limit=MOST_LOOKED_AT // 2)
    items = sorted(activity.items, key=lambda item: (item.at, item.verb != "started"), reverse=True)
    items.reverse()  # what happened at once stays in the order it was written
    given = defaultdict[tuple[str, tuple[str, ...]], list[Report]](list)
    for one in deliveries_in(ask.memory, session.id):
        given[one["at"], one["ids"]].append(one)
    numbers = {id(item): number for number, item in enumerate(items)}
    entries = [(numbers[id(entries[0])], entries) for entries in folded(items)]
    summary = next((record for record in left["records"] if record.kind == "summary"), None)
    about = {"title": session.title or f"Session {short(session.id)}", "session": session, "lasted": lasted(session)}
    about |= {"left": left, "summary": summary, "unanswered": unanswered(ask.memory, session.id)}
    what = {"items": items, "entries": entries, "given": given, "cut": activity.place is not None}
    return about | what | _lanes(items)


def lasted(session: Session) -> str:
    """Return how long a session took, in words; "" while it is open."""
    if session.is_open or not session.closed_at or not session.started_at:
        return ""
    took = datetime.fromisoformat(session.closed_at) - datetime.fromisoformat(session.started_at)
    hours, minutes = divmod(int(took.total_seconds() // 60), 60)
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours} h {minutes} min" if hours else f"{max(minutes, 1)} min"


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
