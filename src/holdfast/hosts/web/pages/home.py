"""Home: what needs you, what agents are doing, what changed since you last looked, and what a session would get now."""

from datetime import timedelta
from typing import Any

from holdfast.hosts.web import render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.pages.activity import lines_of
from holdfast.hosts.web.viewer import Ask, cached_until_event
from holdfast.model.errors import Invalid
from holdfast.policy.ranking.health import word_for
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.upkeep.health import health, projects, saved_by_day
from holdfast.verbs.upkeep.inbox import SORTS, urgent, waiting_counts
from holdfast.verbs.upkeep.stream import Place, Wanted, newer, older, place_of

DAYS, CHANGES, SESSIONS = 90, 12, 6
NEW = ("record", "change")
SAME_VISIT = timedelta(minutes=30)
LOOKED = "holdfast-looked"


@render.page_at("/home/health", "home_health.html", "Health", back="/")
def _health(ask: Ask) -> dict[str, Any]:
    report = cached_until_event(ask, "health", lambda: health(ask.memory))
    counts = cached_until_event(ask, "waiting", lambda: waiting_counts(ask.memory, report))
    needs = [
        (name, sort.title, sort.about, counts[name]) for name, sort in SORTS.items() if sort.urgent and counts[name]
    ]
    return {"health": report, "word": word_for(report.score), "needs": needs, "waiting": urgent(counts)}


@render.page_at("/home/saved", "home_saved.html", "Memories saved", back="/")
def _saved(ask: Ask) -> dict[str, Any]:
    by_day = saved_by_day(ask.memory, days=DAYS, everywhere=ask.everywhere, zone=ask.zone)
    return {"by_day": by_day, "days": DAYS}


@render.page_at("/", "home.html", "Home", parts=(_health, _saved))
def _home(ask: Ask) -> dict[str, Any]:
    place, sizes = look(ask.memory), ask.memory.store.projects()
    since, cookie = _visits(ask, place)
    wanted = Wanted(project=ask.project, whats=NEW)
    changes = newer(ask.memory, wanted, after=since) if since else older(ask.memory, wanted, limit=CHANGES)
    return {
        "total": sum(sizes.values()) if ask.everywhere else sizes.get(ask.memory.project, 0),
        "open_sessions": list_sessions(ask.memory, limit=SESSIONS, everywhere=ask.everywhere, only_open=True),
        "brief": brief_of(ask.memory),
        "changes": lines_of(ask, changes.items[:CHANGES]),
        "changed": len(changes.items),
        "first_visit": since is None,
        "visited": changes.items[-1].at if since and changes.items else "",
        "cookies": {LOOKED: cookie},
    }


def _visits(ask: Ask, now: Place) -> tuple[Place | None, str]:
    """Return where the visit before this one ended, and the cookie: that place, the current one, and when."""
    at = ask.memory.clock.now()
    try:
        before, current, last = ask.looked.split("|")
        previous = place_of(before) if before else None
        if render.local(ask, at) - render.local(ask, last) < SAME_VISIT:  # what was new stays listed
            return previous, f"{before}|{now}|{at}"
        return place_of(current), f"{current}|{now}|{at}"
    except (ValueError, Invalid):
        return None, f"|{now}|{at}"


@render.page_at("/projects", "projects.html", "Projects")
def _projects(ask: Ask) -> dict[str, Any]:
    return {"found": cached_until_event(ask, "projects", lambda: projects(ask.memory))}
