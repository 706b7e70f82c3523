"""Activity: everything agents and people did, live, by day and session, with filters; earlier entries load on scrolling."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import download, is_wanted
from holdfast.hosts.web.live import look
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.session import Session
from holdfast.verbs.sessions.session import find_session, session_agents, sessions_called
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, WHATS, Item, Place, Stream, Wanted, newer, older, place_of

LIMIT = 40
FOLDED = 3  # so many tools in a row are one line
NO_SESSION = "-"
WORDS = {
    "prompt": "Prompt",
    "answer": "Answer",
    "tool": "Tool",
    "observation": "Observed",
    "record": "Saved",
    "change": "Changed",
    "asked": "Recall",
    "use": "Outcome",
    "receipt": "Injected",
    "warning": "Warned",
    "session": "Session",
}
_CHANGES = {"heated": "hot set", "trusted": "trust", "touched": "worked on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the list: a day, a session, a single entry, or several tools in a row."""

    day: str = ""
    session: Session | None = None
    client: str = ""
    project: str = ""
    items: tuple[Item, ...] = ()


def as_file(ask: Ask, name: str, wanted: Wanted) -> Response:
    """Return the latest entries, as many as are looked through at once, as a file."""
    at = ask.text("before")
    found = older(ask.memory, wanted, before=place_of(at) if at else None, limit=MOST_LOOKED_AT)
    rows = [
        {
            "at": item.at,
            "what": item.what,
            "text": item.text,
            "detail": item.detail,
            "outcome": item.outcome,
            "project": item.project,
            "session": item.session,
            "client": item.client,
            "memories": item.ids or tuple(record.id for record in item.records),
            "tokens": item.tokens,
        }
        for item in found.items
    ]
    return download(ask, name, rows)


def page(ask: Ask) -> Response:
    """Return the current activity."""
    place = look(ask.memory)
    problem = ""
    try:
        wanted = wanted_of(ask)
    except Ambiguous as unknown:
        problem, wanted = f"{unknown.message} {unknown.hint}", Wanted(project=ask.project, session=NO_SESSION)
    at = ask.text("before")
    if is_wanted(ask):
        return as_file(ask, "activity", wanted)
    stream = older(ask.memory, wanted, before=place_of(at) if at else None, limit=LIMIT)
    return render.page(
        ask,
        "activity.html",
        title="Activity",
        whats=list(WORDS.items()),
        wanted=wanted,
        problem=problem,
        filtered=bool(wanted.whats or wanted.session or wanted.client),
        session=ask.text("session"),
        clients=session_agents(ask.memory, everywhere=ask.everywhere),
        live=render.address(ask, "/stream", **_kept(wanted)),
        newer=render.address(ask, "/activity/newer", after=str(place), **_kept(wanted)),
        in_file=MOST_LOOKED_AT,
        **_items(ask, wanted, stream),
    )


def older_items(ask: Ask) -> Response:
    """Return older entries, as a part of the page."""
    wanted = wanted_of(ask)
    stream = older(ask.memory, wanted, before=place_of(ask.text("before")), limit=LIMIT)
    last = (ask.text("day"), ask.text("last"))
    shown = _items(ask, wanted, stream, last=last)
    return render.part(ask, "activity_items.html", "Activity", "/activity", **shown)


def newer_items(ask: Ask) -> Response:
    """Return newer entries, as a part of the page; a header has the place to continue from."""
    wanted, after = wanted_of(ask), place_of(ask.text("after"))
    stream = newer(ask.memory, wanted, after=after)
    answer = render.page(ask, "activity_items.html", **_items(ask, wanted, stream, only_new=True))
    more = str(stream.place or after)
    answer.headers["x-newer"] = render.address(ask, "/activity/newer", after=more, **_kept(wanted))
    return answer


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


def outcome_of(item: Item) -> str:
    """Return the action or its outcome, in one word."""
    return item.outcome or _CHANGES.get(item.verb, item.verb)


def lines_of(ask: Ask, items: Sequence[Item], last: tuple[str, str] = ("", "")) -> list[Line]:
    """Return entries with a line before each day and session, and with three or more tools in a row folded into one line."""
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
        for is_tool, same in groupby(group, key=lambda item: item.what == "tool"):
            entries = tuple(same)
            folded = is_tool and len(entries) >= FOLDED
            lines += [Line(items=entries)] if folded else [Line(items=(item,)) for item in entries]
    return lines


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
        "words": WORDS,
        "outcome": outcome_of,
        "only_new": only_new,
        "older": render.address(ask, "/activity/older", before=str(place), **given, **_kept(wanted)),
        "older_page": render.address(ask, "/activity", before=str(place), **_kept(wanted)),
    }


def _kept(wanted: Wanted) -> dict[str, Any]:
    return {"what": list(wanted.whats), "session": wanted.session, "client": wanted.client}
