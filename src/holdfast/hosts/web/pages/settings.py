"""Settings: what each means and where it comes from, and a preview of the brief before new ones are saved."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from starlette.responses import Response

from holdfast.compose.settings import CHOICES, check_setting, keep_settings, put_settings_back, user_file
from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import WORDS, Ask, Viewer
from holdfast.model.config import Config, meanings
from holdfast.model.files import read_regular
from holdfast.policy.ranking.retention import CAPS, DAYS
from holdfast.policy.sessions.session_brief import budget_for
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.opening_brief import brief_of

# What may be changed here: how much is injected and saved. Where memories are stored or sent is not.
GROUPS = [(title, names.split()) for title, names in WORDS["settings"].items()]
CHANGEABLE = frozenset(name for _, names in GROUPS for name in names)
HIDDEN = ("embedder_key", "observer_key", "http_token", "database")


@render.page_at("/settings", "settings.html", "Settings")
def _page(ask: Ask) -> dict[str, Any]:
    config, sources, said = ask.viewer.settings.config, ask.viewer.settings.sources, meanings()
    every = {
        spec.name: {
            "name": spec.name,
            "value": ("set" if getattr(config, spec.name) else "")
            if spec.name in HIDDEN
            else getattr(config, spec.name),
            "help": said[spec.name],
            "source": sources[spec.name],
            "open": spec.name in CHANGEABLE and sources[spec.name] in ("default", str(user_file())),
        }
        for spec in fields(Config)
    }
    file, home = user_file(), Path.home()
    return {
        "groups": [(title, [every[name] for name in names]) for title, names in GROUPS],
        "others": [one for name, one in every.items() if name not in CHANGEABLE],
        "policies": CHOICES["inject"],
        "file": f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file),
        "retention": [(kind, days, CAPS.get(kind)) for kind, days in DAYS.items()],
        **_previewed(ask, ask.memory.config),
    }


@render.page_at("/settings/preview", "settings_preview.html", "Settings")
def _preview(ask: Ask) -> dict[str, Any]:
    """Return the brief a session would get with other settings; nothing is saved."""
    now = ask.memory.config
    config = replace(
        now,
        inject=check_setting("preview", "inject", ask.text("inject") or now.inject),
        brief_budget=ask.number("brief_budget", now.brief_budget, 0, 100_000),
        hot_capacity=ask.number("hot_capacity", now.hot_capacity, 0, 1_000),
    )
    return _previewed(ask, config)


def _previewed(ask: Ask, config: Config) -> dict[str, Any]:
    size = ask.memory.store.size((ask.memory.store.project_number(ask.memory.project),))
    made = brief_of(replace(ask.memory, config=config))
    return {"made": made, "budget": budget_for(size, fixed=config.brief_budget)}


@render.answer_at("/settings", render.ACTS)
def save(ask: Ask) -> Response:
    """Save changed settings in the user's own file; the viewer uses them at once."""
    now = ask.viewer.memory.config
    given = {
        name: str(ask.field(name) == "true").lower() if isinstance(getattr(now, name), bool) else ask.field(name)
        for name in CHANGEABLE
        if name in ask.form or f"{name}.there" in ask.form
    }
    changed = {name: value for name, value in given.items() if str(value).lower() != str(getattr(now, name)).lower()}
    if not changed:
        return render.moved(ask, "/settings", "Nothing changed.")
    before = read_regular(user_file()) if user_file().exists() else None
    file = keep_settings(changed)
    after = read_regular(file)
    _use_again(ask.viewer)

    def undo(_: Memory) -> str:
        put_settings_back(before, after)
        _use_again(ask.viewer)
        return f"{', '.join(sorted(changed))}: as before."

    return render.moved(ask, "/settings", f"{', '.join(sorted(changed))}: saved in {file}.", undo)


def _use_again(viewer: Viewer) -> None:
    """Read the settings again and use them from now on."""
    viewer.settings = viewer.reload()
    config = replace(viewer.settings.config, project=viewer.memory.config.project, session="")
    viewer.memory = replace(viewer.memory, config=config)
