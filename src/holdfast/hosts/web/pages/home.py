"""Home: what needs you, what agents are doing, what changed since you last looked; the projects; and the settings.

Each setting has its meaning and source; a preview shows the brief of a session before new ones are saved.
"""

from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.responses import Response

from holdfast.compose.settings import CHOICES, check_setting, keep_settings, printable, put_settings_back, user_file
from holdfast.hosts.web import render
from holdfast.hosts.web.live import look
from holdfast.hosts.web.pages.activity import changes_in, lines_of
from holdfast.hosts.web.viewer import WORDS, Ask, Viewer, cached_until_event
from holdfast.model.config import Config, meanings
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular
from holdfast.policy.ranking.vitality import CAPS, DAYS
from holdfast.policy.sessions.session_brief import budget_for
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.upkeep.health import Health, health, projects, saved_by_day
from holdfast.verbs.upkeep.inbox import SORTS, urgent, waiting_counts
from holdfast.verbs.upkeep.stream import Place, newer, older, place_of

SAVED_DAYS, CHANGES, SESSIONS = 90, 12, 6
SAME_VISIT = timedelta(minutes=30)
LOOKED = "holdfast-looked"
# What may be changed here: how much is injected and saved. Where memories are stored or sent is not.
GROUPS = [(title, names.split()) for title, names in WORDS["settings"].items()]
CHANGEABLE = frozenset(name for _, names in GROUPS for name in names)


def health_of(ask: Ask) -> Health:
    """Return the report on the health of the memory."""
    return cached_until_event(ask, "health", lambda: health(ask.memory))


@render.page_at("/home/health", "home_health.html", "Health", back="/")
def _health(ask: Ask) -> dict[str, Any]:
    report = health_of(ask)
    counts = cached_until_event(ask, "waiting", lambda: waiting_counts(ask.memory))
    waits = ((name, sort) for name, sort in SORTS.items() if sort.urgent and counts[name])
    needs = [(name, sort.title, sort.about, counts[name]) for name, sort in waits]
    return {"health": report, "needs": needs, "waiting": urgent(counts)}


@render.page_at("/home/saved", "home_saved.html", "Memories saved", back="/")
def _saved(ask: Ask) -> dict[str, Any]:
    by_day = saved_by_day(ask.memory, days=SAVED_DAYS, everywhere=ask.everywhere, zone=ask.zone)
    return {"by_day": by_day, "days": SAVED_DAYS}


@render.page_at("/", "home.html", "Home", parts=(_health, _saved))
def _home(ask: Ask) -> dict[str, Any]:
    place, sizes = look(ask.memory), ask.memory.store.projects()
    since, cookie = _visits(ask, place)
    wanted = changes_in(ask)
    changes = newer(ask.memory, wanted, after=since) if since else older(ask.memory, wanted, limit=CHANGES)
    total = sum(sizes.values()) if ask.everywhere else sizes.get(ask.memory.project, 0)
    open_sessions = list_sessions(ask.memory, limit=SESSIONS, everywhere=ask.everywhere, only_open=True)
    shown = {"total": total, "open_sessions": open_sessions, "brief": brief_of(ask.memory), "cookies": {LOOKED: cookie}}
    shown |= {"changes": lines_of(ask, changes.items[:CHANGES]), "changed": len(changes.items)}
    return shown | {"first_visit": since is None, "visited": changes.items[-1].at if since and changes.items else ""}


def _visits(ask: Ask, now: Place) -> tuple[Place | None, str]:
    """Return where the visit before this one ended, and the cookie: that place, the current one, and when."""
    at = ask.memory.clock.now()
    try:
        before, current, last = ask.cookies[LOOKED][:400].split("|")
        is_same = render.local(ask, at) - render.local(ask, last) < SAME_VISIT
        since = before if is_same else current  # during a visit, what was new stays listed
        return place_of(since) if since else None, f"{since}|{now}|{at}"
    except (ValueError, Invalid):
        return None, f"|{now}|{at}"


@render.page_at("/projects", "projects.html", "Projects")
def _projects(ask: Ask) -> dict[str, Any]:
    return {"found": cached_until_event(ask, "projects", lambda: projects(ask.memory))}


@render.page_at("/settings", "settings.html", "Settings")
def _settings(ask: Ask) -> dict[str, Any]:
    config, sources, said = ask.viewer.settings.config, ask.viewer.settings.sources, meanings()
    every, file, home = dict[str, dict[str, Any]](), user_file(), Path.home()
    for name in (spec.name for spec in fields(Config)):
        can_change = name in CHANGEABLE and sources[name] in ("default", str(file))
        value = printable(name, getattr(config, name))
        every[name] = {"name": name, "value": value, "help": said[name], "source": sources[name], "open": can_change}
    groups = [(title, [every[name] for name in names]) for title, names in GROUPS]
    others = [one for name, one in every.items() if name not in CHANGEABLE]
    retention = [(kind, days, CAPS.get(kind)) for kind, days in DAYS.items()]
    path = f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
    shown = {"groups": groups, "others": others, "retention": retention, "policies": CHOICES["inject"], "file": path}
    return shown | _previewed(ask, ask.memory.config)


@render.page_at("/settings/preview", "settings_preview.html", "Settings")
def _preview(ask: Ask) -> dict[str, Any]:
    """Return the brief a session would get with other settings; nothing is saved."""
    now = ask.memory.config
    inject = check_setting("preview", "inject", ask.text("inject") or now.inject)
    budget = ask.number("brief_budget", now.brief_budget, 0, 100_000)
    capacity = ask.number("hot_capacity", now.hot_capacity, 0, 1_000)
    return _previewed(ask, replace(now, inject=inject, brief_budget=budget, hot_capacity=capacity))


def _previewed(ask: Ask, config: Config) -> dict[str, Any]:
    size = ask.memory.store.size((ask.memory.here,))
    made = brief_of(replace(ask.memory, config=config))
    return {"made": made, "budget": budget_for(size, fixed=config.brief_budget)}


@render.answer_at("/settings", render.ACTS)
def save(ask: Ask) -> Response:
    """Save changed settings in the user's own file; the viewer uses them at once."""
    now = ask.viewer.memory.config
    sent = [name for name in CHANGEABLE if name in ask.form or f"{name}.there" in ask.form]
    given = {name: ask.field(name) or "false" * isinstance(getattr(now, name), bool) for name in sent}
    changed = {name: value for name, value in given.items() if str(value).lower() != str(getattr(now, name)).lower()}
    if not changed:
        return render.moved(ask, "/settings", "Nothing changed.")
    before = read_regular(user_file()) if user_file().exists() else None
    file = keep_settings(changed)
    after = read_regular(file)
    _reload(ask.viewer)

    def undo(_: Memory) -> str:
        put_settings_back(before, after)
        _reload(ask.viewer)
        return f"{', '.join(sorted(changed))}: as before."

    return render.moved(ask, "/settings", f"{', '.join(sorted(changed))}: saved in {file}.", undo)


def _reload(viewer: Viewer) -> None:
    viewer.settings = viewer.reload()
    config = replace(viewer.settings.config, project=viewer.memory.config.project, session="")
    viewer.memory = replace(viewer.memory, config=config)
