"""Home: what needs you, what agents are doing, what changed since you last looked, and what a session would get now."""

from datetime import timedelta
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import plots, render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.pages.activity import WORDS, lines_of, outcome_of
from holdfast.hosts.web.pages.review import urgent
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.model.errors import Invalid
from holdfast.policy.ranking.health import word_for
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import open_sessions
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.inbox import SORTS, waiting_counts
from holdfast.verbs.upkeep.overview import saved_by_day
from holdfast.verbs.upkeep.stream import Place, Wanted, newer, older, place_of

DAYS, CHANGES, SESSIONS = 90, 12, 6
NEW = ("record", "change")
SAME_VISIT = timedelta(minutes=30)
LOOKED = "holdfast-looked"


def page(ask: Ask) -> Response:
    """Return the home page; what takes long in a large project loads after it."""
    place, later = look(ask.memory), is_large(ask)
    since, cookie = _visits(ask, place)
    brief = brief_of(ask.memory)
    sizes = ask.memory.store.projects()
    total = sum(sizes.values()) if ask.everywhere else sizes.get(ask.memory.project, 0)
    answer = render.page(
        ask,
        "home.html",
        title="Home",
        total=total,
        later=later,
        open_sessions=open_sessions(ask.memory, limit=SESSIONS, everywhere=ask.everywhere),
        brief=brief,
        words=WORDS,
        outcome=outcome_of,
        **_changes(ask, since),
        **({} if later else _health(ask) | _saved(ask)),
    )
    answer.set_cookie(LOOKED, cookie, max_age=31_536_000, httponly=True, samesite="strict", path="/")
    return answer


def health_part(ask: Ask) -> Response:
    """Return the score and what needs you, for a project in which that takes a moment."""
    return render.part(ask, "home_health.html", "Health", "/", **_health(ask))


def saved_part(ask: Ask) -> Response:
    """Return how many memories were saved by day, for a project in which counting takes a moment."""
    return render.part(ask, "home_saved.html", "Memories saved", "/", **_saved(ask))


def _saved(ask: Ask) -> dict[str, Any]:
    saved = saved_by_day(ask.memory, days=DAYS, everywhere=ask.everywhere, zone=ask.zone)
    label = f"Memories saved on each of the last {DAYS} days"
    return {"line": plots.line(saved, label), "saved": sum(saved.values()), "days": DAYS}


def _health(ask: Ask) -> dict[str, Any]:
    report = cached_until_event(ask, "health", lambda: health(ask.memory))
    counts = cached_until_event(ask, "waiting", lambda: waiting_counts(ask.memory, report))
    needs = [
        (name, sort.title, sort.about, counts[name]) for name, sort in SORTS.items() if sort.urgent and counts[name]
    ]
    return {"health": report, "word": word_for(report.score), "needs": needs, "waiting": urgent(counts)}


def _changes(ask: Ask, since: Place | None) -> dict[str, Any]:
    """Return what was saved and changed since the last visit, or the latest changes at the first one."""
    wanted = Wanted(project=ask.project, whats=NEW)
    if since is None:
        found = older(ask.memory, wanted, limit=CHANGES).items
        return {"changes": lines_of(ask, found), "changed": len(found), "first_visit": True}
    found = newer(ask.memory, wanted, after=since).items
    return {"changes": lines_of(ask, found[:CHANGES]), "changed": len(found), "first_visit": False}


def _visits(ask: Ask, now: Place) -> tuple[Place | None, str]:
    """Return where the visit before this one ended, and the cookie: that place, the current one, and when."""
    at = ask.memory.clock.now()
    try:
        before, current, last = ask.looked.split("|")
        previous = place_of(before) if before else None
        recent = render.local(ask, at) - render.local(ask, last) < SAME_VISIT
        if recent:  # still the same visit: what was new stays listed
            return previous, f"{before}|{now}|{at}"
        return place_of(current), f"{current}|{now}|{at}"
    except (ValueError, Invalid):
        return None, f"|{now}|{at}"
