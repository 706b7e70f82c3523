"""Settings: what each means and where it comes from, and a preview of the brief before new ones are saved."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from starlette.responses import Response

from holdfast.compose.settings import keep_settings, put_settings_back, user_file
from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask, Viewer
from holdfast.model.config import Config
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular
from holdfast.policy.ranking.retention import CAPS, DAYS
from holdfast.policy.sessions.session_brief import POLICIES, Prepared, budget_for
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.opening_brief import brief_of

# What may be changed here: how much is injected and saved. Where memories are stored or sent is not.
GROUPS = (
    ("What sessions get", ("inject", "brief_budget", "block_actions", "starters", "hot_capacity")),
    ("What recall answers", ("recall_limit", "recall_budget")),
    ("What may be saved", ("confirm_writes", "pending_days", "mined_days", "mined_confidence", "mined_occurrences")),
    ("What is kept for a while", ("output_days", "output_characters")),
    ("What an observer looks for", ("mode", "observer_daily_tokens")),
)
CHANGEABLE = frozenset(name for _, names in GROUPS for name in names)
HIDDEN = ("embedder_key", "observer_key", "http_token", "database")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its value, what it means, where it comes from, and whether it can be changed here."""

    name: str
    value: Any
    help: str
    source: str
    open: bool


def page(ask: Ask) -> Response:
    """Return the settings and the brief they make."""
    every = {one.name: one for one in _settings(ask)}
    return render.page(
        ask,
        "settings.html",
        title="Settings",
        groups=[(title, [every[name] for name in names]) for title, names in GROUPS],
        others=[one for one in every.values() if one.name not in CHANGEABLE],
        policies=POLICIES,
        file=_short(user_file()),
        retention=[(kind, days, CAPS.get(kind)) for kind, days in DAYS.items()],
        **_previewed(ask, brief_of(ask.memory)),
    )


def preview(ask: Ask) -> Response:
    """Return the brief a session would get with other settings; nothing is saved."""
    now = ask.memory.config
    config = replace(
        now,
        inject=ask.text("inject") or now.inject,
        brief_budget=ask.number("brief_budget", now.brief_budget, 0, 100_000),
        hot_capacity=ask.number("hot_capacity", now.hot_capacity, 0, 1_000),
    )
    shown = brief_of(replace(ask.memory, config=config))
    return render.page(ask, "settings_preview.html", **_previewed(ask, shown, config))


def save(ask: Ask) -> Response:
    """Save changed settings in the user's own file; the viewer uses them at once."""
    now = ask.viewer.memory.config
    given = {name: _given(ask, name) for name in CHANGEABLE if name in ask.form or f"{name}.there" in ask.form}
    changed = {name: value for name, value in given.items() if str(value).lower() != str(getattr(now, name)).lower()}
    if not changed:
        return render.moved(ask, "/settings", "Nothing changed.")
    _check(changed)
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


def _check(changed: Mapping[str, Any]) -> None:
    """Reject values that would fail only when the next session begins."""
    if changed.get("inject", "off") not in POLICIES:
        raise Invalid(
            f"There is no inject policy {changed['inject'][:40]!r}.", hint=f"Use one of {', '.join(POLICIES)}."
        )
    for name, value in changed.items():
        if str(value).startswith("-") or (name == "recall_limit" and str(value) == "0"):
            raise Invalid(f"{name} must be more than that.")


def _short(path: Path) -> str:
    """Return a path relative to the home folder where possible."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def _given(ask: Ask, name: str) -> Any:
    default = next(spec.default for spec in fields(Config) if spec.name == name)
    return "true" if ask.field(name) == "true" else "false" if isinstance(default, bool) else ask.field(name)


def _settings(ask: Ask) -> list[Setting]:
    config, sources = ask.viewer.settings.config, ask.viewer.settings.sources
    own = ("default", str(user_file()))
    return [
        Setting(
            name=spec.name,
            value=("set" if getattr(config, spec.name) else "") if spec.name in HIDDEN else getattr(config, spec.name),
            help=spec.metadata["help"],
            source=sources[spec.name],
            open=spec.name in CHANGEABLE and sources[spec.name] in own,
        )
        for spec in fields(Config)
    ]


def _previewed(ask: Ask, made: Prepared, config: Config | None = None) -> dict[str, Any]:
    size = ask.memory.store.size((ask.memory.store.project_number(ask.memory.project),))
    return {"made": made, "budget": budget_for(size, fixed=(config or ask.memory.config).brief_budget)}
