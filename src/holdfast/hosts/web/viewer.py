"""What every page needs: the open memory, one request parsed into plain values, and the message of the last action."""

import base64
import hmac
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from holdfast.compose.settings import Settings
from holdfast.hosts.loopback import Latest
from holdfast.hosts.web.guard import FORM_FIELD, FORM_HEADER, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.model.errors import Conflict, Forbidden, HoldfastError, Invalid, NotFound, StoreError
from holdfast.model.foreign_json import parse_json
from holdfast.model.patterns import tables
from holdfast.model.text import check_keepable, whole_number
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Done, undo
from holdfast.verbs.records.project import project_called
from holdfast.verbs.upkeep.stream import Place, head

EVERYWHERE = "*"
MOST_KEPT = 64
MOST_SECONDS = 60.0  # for which a cached result is used: files change without an event
THEMES = ("light", "dark")
ZONE = "holdfast-zone"  # the cookie with the browser's time zone
FLASH = "holdfast-said"  # the cookie with the message for the next page
FLASH_SECONDS = 120  # for which it waits for that page
LONGEST_FLASH = 600
MOST_UNDOS = 200
STATUS = ((NotFound, 404), (Conflict, 409), (Invalid, 400), (Forbidden, 403), (StoreError, 503))
WORDS = {section: dict(rows) for section, rows in tables(__file__).items()}
Undo = Callable[[Memory], str]
Form = Mapping[str, list[str]]
Found = TypeVar("Found")


@dataclass
class Viewer:
    """One running viewer."""

    memory: Memory
    settings: Settings
    keys: Keys
    watcher: Watcher
    reload: Callable[[], Settings]  # loads the settings again
    # Cached results of slow queries, each with the place in the stream it is valid for and its time.
    kept: dict[Any, tuple[Place, float, Any]] = field(default_factory=dict)
    undos: Latest[str, Undo] = field(default_factory=lambda: Latest(MOST_UNDOS))

    def keep_undo(self, done: Done, undo_it: Undo | None = None) -> str:
        """Keep what takes an action back while the viewer runs; return its name, or "" if it cannot be taken back."""

        def run(memory: Memory) -> str:
            records = undo(memory, done.events)
            return f"Undone: {records[0].title}" if len(records) == 1 else f"Undone for {len(records)} memories."

        name = secrets.token_urlsafe(12) if undo_it or done.events else ""
        if name:
            self.undos.use(name, lambda: undo_it or run)
        return name

    def run_undo(self, name: str, memory: Memory) -> str:
        """Take an action back, once, and return the message; what changed in the meantime stays, with the reason."""
        if name not in self.undos:
            raise NotFound("This can no longer be undone here.", hint="Its history has the earlier versions.")
        try:
            return self.undos.pop(name)(memory)
        except Conflict as problem:
            raise Conflict(f"Not undone: {problem.message}", hint=problem.hint) from problem

    def sign(self, text: str, undo_name: str) -> str:
        """Return a message and its undo as a cookie's value: signed, so that no other site can put words on our pages."""
        message = json.dumps({"text": text[:LONGEST_FLASH], "undo": undo_name})
        packed = base64.urlsafe_b64encode(message.encode()).decode()
        return f"{packed}.{self.keys.signature(packed)}"

    def signed(self, value: str) -> Mapping[str, str]:
        """Return the message in a cookie, `text` and `undo`; empty if there is none, or it is not ours."""
        packed, _, signature = value.partition(".")
        ours = packed and hmac.compare_digest(signature.encode(), self.keys.signature(packed).encode())
        message: Mapping[str, str] = parse_json(base64.urlsafe_b64decode(packed)) if ours else {}
        return message


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: who serves it, in which project, and its parameters."""

    viewer: Viewer
    memory: Memory
    path: str
    given: Form
    form: Form
    parts: Mapping[str, str]
    everywhere: bool
    named: str  # the project named in the URL, empty where it is the default one
    fragment: bool  # htmx requests a part of a page
    theme: str
    zone: tzinfo | None  # of the browser; None: of this machine
    flash: Mapping[str, str]  # the message of the last action, and the name of its undo
    cookies: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        """Return one query parameter."""
        return self.given.get(name, [default])[0].strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """Return every value of a query parameter, without duplicates."""
        return tuple(dict.fromkeys(one.strip() for one in self.given.get(name, ()) if one.strip()))

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Return a numeric query parameter, clamped to the bounds."""
        text = self.text(name)
        number = whole_number(text) if text else default
        if number is None:
            raise Invalid(f"{name} must be a whole number, not {text[:40]!r}.")
        return min(most, max(least, number))

    def field(self, name: str, default: str = "") -> str:
        """Return one field of the form; a box that is ticked comes after its empty value."""
        return self.form.get(name, [default])[-1].replace("\r\n", "\n").strip()

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the form, one value each."""
        return {name: self.field(name) for name in self.form}

    @property
    def project(self) -> str | None:
        """The selected project; None means all."""
        return None if self.everywhere else self.memory.project


def status_of(problem: HoldfastError | None) -> int:
    """Return the status of an answer that presents a refusal, or none."""
    return next((status for kind, status in STATUS if isinstance(problem, kind)), 500) if problem else 200


def viewer_of(request: Request) -> Viewer:
    """Return the viewer that serves a request: its user's own on a server, else the only one."""
    viewer: Viewer = getattr(request.state, "viewer", None) or request.app.state.viewer
    return viewer


def asked(request: Request, form: Form | None = None) -> Ask:
    """Parse a request."""
    viewer = viewer_of(request)
    given = {name: request.query_params.getlist(name) for name in request.query_params}
    check_keepable({"given": given, "form": dict(form or {}), "path": dict(request.path_params)})
    named = (given.get("project") or [""])[0].strip()
    everywhere, memory = named == EVERYWHERE, viewer.memory
    if named and not everywhere:
        project = project_called(memory, named)
    else:  # the current one if it has memories, else the one with the most
        sizes = {name: count for name, count in memory.store.projects().items() if name and count}
        project = memory.project if memory.project in sizes or not sizes else max(sizes, key=sizes.__getitem__)
    cookies = defaultdict(str, request.cookies)
    zone = None
    with suppress(ZoneInfoNotFoundError, ValueError, OSError):
        zone = ZoneInfo(cookies[ZONE]) if 0 < len(cookies[ZONE]) < 64 else None
    kept: dict[str, Any] = {"zone": zone, "flash": viewer.signed(cookies[FLASH]), "cookies": cookies}
    kept |= {"theme": cookies["holdfast-theme"] if cookies["holdfast-theme"] in THEMES else ""}
    where: dict[str, Any] = {"path": request.url.path, "given": given, "parts": dict(request.path_params)}
    where |= {"everywhere": everywhere, "named": named, "fragment": request.headers.get("hx-request") == "true"}
    return Ask(viewer=viewer, memory=memory.acting_on(project), form=form or {}, **where, **kept)


def answering(
    answer: Callable[[Ask], Response], read: Callable[[bytes], Form] | None = None, foreign: str = ""
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a function. With `read` it acts on a form, from our pages or sent with the token."""

    async def endpoint(request: Request) -> Response:
        form = read(await request.body()) if read else {}
        if read and not getattr(request.state, "trusted", False):
            shown = request.headers.get(FORM_HEADER) or (form.get(FORM_FIELD) or [""])[0]
            if not hmac.compare_digest(shown.encode(errors="replace"), viewer_of(request).keys.form.encode()):
                raise HTTPException(403, foreign)
        return await to_thread.run_sync(lambda: answer(asked(request, form)))

    return endpoint


def cached_until_event(ask: Ask, name: str, find: Callable[[], Found], *given: Any) -> Found:
    """Return a cached result, computed again only if something happened since, or after a minute; for slow queries.

    `given` is everything besides the project and the time zone that the result depends on.
    """
    key = (name, ask.memory.project, ask.everywhere, str(ask.zone), given)
    now = head(ask.memory)
    known = ask.viewer.kept.get(key)
    if known and known[0] == now and time.monotonic() - known[1] < MOST_SECONDS:
        return cast("Found", known[2])
    result = find()
    if len(ask.viewer.kept) > MOST_KEPT:
        ask.viewer.kept.clear()
    ask.viewer.kept[key] = (now, time.monotonic(), result)
    return result


def as_person(memory: Memory) -> Memory:
    """Return a memory read by a person: viewing a record does not count as showing it to an agent."""
    return memory.acting(actor=replace(memory.actor, kind="user", session=""))
