"""The stream: all activity, live, with filters; earlier pages load on scrolling."""

from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.upkeep.stream import WHATS, Item, Place, Stream, Wanted, newer, older, place_of

LIMIT = 40
WORDS = {
    "prompt": "Prompt",
    "answer": "Answer",
    "tool": "Tool",
    "observation": "Observed",
    "record": "Saved",
    "change": "Changed",
    "asked": "Recall",
    "use": "Judged",
    "receipt": "Injected",
    "warning": "Warned",
    "session": "Session",
}
_CHANGES = {"heated": "hot set", "trusted": "trust", "touched": "worked on"}


def page(ask: Ask) -> Response:
    """Return the current stream."""
    place = look(ask.memory)
    wanted = wanted_of(ask)
    at = ask.text("before")
    stream = older(ask.memory, wanted, before=place_of(at) if at else None, limit=LIMIT)
    recent = list_sessions(ask.memory, limit=200, everywhere=ask.everywhere)
    return render.page(
        ask,
        "stream.html",
        title="Stream",
        whats=list(WORDS.items()),
        wanted=wanted,
        clients=sorted({one.agent for one in recent if one.agent}),
        live=render.address(ask, "/stream", **_kept(wanted)),
        newer=render.address(ask, "/stream/newer", after=str(place), **_kept(wanted)),
        **_items(ask, wanted, stream),
    )


def older_items(ask: Ask) -> Response:
    """Return older items, as a part of the page."""
    wanted = wanted_of(ask)
    stream = older(ask.memory, wanted, before=place_of(ask.text("before")), limit=LIMIT)
    return render.page(ask, "stream_items.html", **_items(ask, wanted, stream, last_day=ask.text("day")))


def newer_items(ask: Ask) -> Response:
    """Return newer items, as a part of the page; a header has the place to continue from."""
    wanted, after = wanted_of(ask), place_of(ask.text("after"))
    stream = newer(ask.memory, wanted, after=after)
    answer = render.page(ask, "stream_items.html", **_items(ask, wanted, stream, only_new=True))
    answer.headers["x-newer"] = render.address(ask, "/stream/newer", after=str(stream.place or after), **_kept(wanted))
    return answer


def wanted_of(ask: Ask) -> Wanted:
    """Parse the filters of the stream."""
    whats = ask.texts("what")
    for one in whats:
        if one not in WHATS:
            raise Invalid(f"There is no {one[:40]!r} in the stream.", hint=f"There are {', '.join(WHATS)}.")
    return Wanted(project=ask.project, whats=whats, session=ask.text("session"), client=ask.text("client"))


def outcome_of(item: Item) -> str:
    """Return the action or its outcome, in one word."""
    return item.outcome or _CHANGES.get(item.verb, item.verb)


def _items(ask: Ask, wanted: Wanted, found: Stream, *, last_day: str = "", only_new: bool = False) -> dict[str, Any]:
    place = found.place or Place(seq=0)
    day = found.items[-1].at[:10] if found.items else last_day
    return {
        "stream": found,
        "words": WORDS,
        "outcome": outcome_of,
        "last_day": last_day,
        "only_new": only_new,
        "older": render.address(ask, "/stream/older", before=str(place), day=day, **_kept(wanted)),
        "older_page": render.address(ask, "/", before=str(place), **_kept(wanted)),
    }


def _kept(wanted: Wanted) -> dict[str, Any]:
    return {"what": list(wanted.whats), "session": wanted.session, "client": wanted.client}
