"""The timeline: how knowledge grew and changed, day by day: saved, revised, retired."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import is_wanted
from holdfast.hosts.web.pages.activity import WORDS, as_file, lines_of, outcome_of
from holdfast.hosts.web.viewer import Ask
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, Wanted, older, place_of

LIMIT = 60
WHATS = ("record", "change")


def page(ask: Ask) -> Response:
    """Return what was saved and changed, latest first."""
    at, wanted = ask.text("before"), Wanted(project=ask.project, whats=WHATS)
    if is_wanted(ask):
        return as_file(ask, "timeline", wanted)
    found = older(ask.memory, wanted, before=place_of(at) if at else None, limit=LIMIT)
    more = render.address(ask, "/timeline", before=str(found.place)) if found.place else ""
    lines = lines_of(ask, found.items)
    return render.page(
        ask,
        "timeline.html",
        title="Timeline",
        lines=lines,
        words=WORDS,
        outcome=outcome_of,
        more=more,
        in_file=MOST_LOOKED_AT,
    )
