"""What every page stands on: the open memory, and one request read into plain values."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request

from holdfast.compose.settings import Settings
from holdfast.hosts.web.guard import FORM_FIELD, FORM_HEADER, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.model.errors import Invalid
from holdfast.model.text import check_keepable
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import project_called
from holdfast.verbs.upkeep.stream import Place, head

EVERYWHERE = "*"
LONGEST_NUMBER = 16
LARGE = 20_000  # records that are looked through before a page is painted; more come as a part of it, later
MOST_KEPT = 64
THEMES = ("light", "dark")


@dataclass(kw_only=True)
class Viewer:
    """One running viewer."""

    memory: Memory
    settings: Settings
    keys: Keys
    watcher: Watcher
    reload: Callable[[], Settings]  # gathers the settings again
    # Whose request it is, where many work on one store: then settings are no page's business, and some may only look.
    user: str = ""
    role: str = ""
    # What took long to find out, by question, with the place in the stream it was true at.
    kept: dict[Any, tuple[Place, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: who serves it, in which project, and what was given."""

    viewer: Viewer
    memory: Memory
    path: str
    given: Mapping[str, list[str]]
    form: Mapping[str, list[str]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    everywhere: bool = False
    named: str = ""  # the project as the address names it, empty where it is the one at hand
    fragment: bool = False  # htmx asks for a part of a page
    theme: str = ""

    def text(self, name: str, default: str = "") -> str:
        """Give one text of the address."""
        return self.given.get(name, [default])[0].strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """Give all texts of a name in the address."""
        return tuple(dict.fromkeys(one.strip() for one in self.given.get(name, ()) if one.strip()))

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Give a number of the address, within bounds."""
        said = self.text(name)
        if not said:
            return default
        if not said.isdecimal() or len(said) > LONGEST_NUMBER:
            raise Invalid(f"{name} must be a whole number, not {said[:40]!r}.")
        return min(most, max(least, int(said)))

    def field(self, name: str, default: str = "") -> str:
        """Give one text of a form."""
        return self.form.get(name, [default])[0].strip()

    @property
    def project(self) -> str | None:
        """The project that is looked at; None means all."""
        return None if self.everywhere else self.memory.project


def viewer_of(request: Request) -> Viewer:
    """Give the viewer a request is served by: that of its user where there are many, else the one there is."""
    viewer: Viewer = getattr(request.state, "viewer", None) or request.app.state.viewer
    return viewer


def asked(request: Request, form: Mapping[str, list[str]] | None = None) -> Ask:
    """Read a request."""
    viewer = viewer_of(request)
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    check_keepable({"given": given, "form": dict(form or {}), "path": dict(request.path_params)})
    named = (given.get("project") or [""])[0].strip()
    everywhere = named == EVERYWHERE
    project = project_called(viewer.memory, named) if named and not everywhere else default_project(viewer.memory)
    theme = request.cookies.get("holdfast-theme", "")
    return Ask(
        viewer=viewer,
        memory=viewer.memory if project == viewer.memory.project else viewer.memory.acting_on(project),
        path=request.url.path,
        given=given,
        form=form or {},
        parts=dict(request.path_params),
        everywhere=everywhere,
        named=named,
        fragment=request.headers.get("hx-request") == "true",
        theme=theme if theme in THEMES else "",
    )


def default_project(memory: Memory) -> str:
    """Give the project at hand if anything was kept about it, else the one with most memories."""
    projects = {name: count for name, count in memory.store.projects().items() if name and count}
    if memory.project in projects or not projects:
        return memory.project
    return max(projects, key=lambda name: projects[name])


def is_our_form(request: Request, form: Mapping[str, list[str]], keys: Keys) -> bool:
    """Tell whether a form comes from one of our pages, or from a program that showed the token."""
    if getattr(request.state, "trusted", False):
        return True
    shown = request.headers.get(FORM_HEADER) or (form.get(FORM_FIELD) or [""])[0]
    return hmac.compare_digest(shown.encode(errors="replace"), keys.form.encode())


def once_until_something_happens(ask: Ask, name: str, find: Any) -> Any:
    """Give what a question found, asked again only when something happened since; for what takes long."""
    key = (name, ask.memory.project, ask.everywhere, tuple(sorted((k, tuple(v)) for k, v in ask.given.items())))
    now = head(ask.memory)
    known = ask.viewer.kept.get(key)
    if known and known[0] == now:
        return known[1]
    found = find()
    if len(ask.viewer.kept) > MOST_KEPT:
        ask.viewer.kept.clear()
    ask.viewer.kept[key] = (now, found)
    return found


def is_large(ask: Ask) -> bool:
    """Tell whether looking through a whole project takes so long that its page should not wait for it."""
    memory = ask.memory
    return memory.store.size(None if ask.everywhere else (memory.store.project_number(memory.project),)) > LARGE


def as_person(memory: Memory) -> Memory:
    """Give a memory whose reader is a person at a page: nothing that is looked at counts as shown to an agent."""
    memory.actor = replace(memory.actor, kind="user", session="")
    return memory
