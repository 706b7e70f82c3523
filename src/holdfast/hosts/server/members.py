"""The memory and the viewer of each member: the same guarded store, acting for one user in one project and session."""

import os
import platform
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.compose.settings import Settings
from holdfast.hosts.mcp.protocol import LONGEST_NAME, MODERN
from holdfast.hosts.mcp.serving import join
from holdfast.hosts.web.app import pages_and_api
from holdfast.hosts.web.guard import SAFE, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.hosts.web.viewer import Viewer, as_person
from holdfast.model.access import Access, asking
from holdfast.model.event import Actor
from holdfast.model.ports import RemoteCheckout
from holdfast.model.replica import Scrubbed
from holdfast.model.session import Host
from holdfast.surfaces.tool import Call, Client, once
from holdfast.verbs.memory import Caches, Context, Memory

SCOPE = "holdfast"  # where a request carries its visit
REMEMBERED, MOST_VIEWERS = 5_000, 1_000
SETTINGS = "/settings"


@dataclass(slots=True, kw_only=True)
class Visit:
    """One request: its user, key and project; and the method, once it is known."""

    access: Access
    key: str
    project: str
    shares: bool = True
    did: str = ""
    # True if the request came with a key (so it cannot be a form of another site), False if with a browser's pass.
    trusted: bool = True
    shown: str = ""
    allowed: Callable[[], bool] = lambda: True  # checked again while a response is being sent


@dataclass(slots=True)
class Members:
    """Opens the memory of each request, `guarded` by row policies. `owner` is the server's; `keys` looks up users."""

    owner: Memory
    guarded: Memory
    keys: Memory
    _calls: OrderedDict[tuple[Any, ...], Call] = field(default_factory=OrderedDict)
    _caches: OrderedDict[Access, Caches] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call_and_access(self, ctx: ServerRequestContext[Any, Any]) -> tuple[Call, Access]:
        """Return the call of a protocol request."""
        assert ctx.request is not None
        visit: Visit = ctx.request.scope[SCOPE]
        name = (ctx.params or {}).get("name", "") if ctx.method == "tools/call" else ""
        visit.did = f"{ctx.method} {name}".strip()[: 2 * LONGEST_NAME]
        session = "" if ctx.protocol_version in MODERN else ctx.request.headers.get("mcp-session-id", "")
        params = ctx.session.client_params
        client = Client(name=params.client_info.name[:LONGEST_NAME] if params is not None else "")
        return self.call_of(visit, session, client), visit.access

    def call_of(self, visit: Visit, session: str = "", client: Client | None = None) -> Call:
        """Return the call of a user's session in a project; another key has another call."""
        key = (visit.access, visit.project, visit.shares, session)
        with self._lock:
            if key not in self._calls:
                who = client or Client()
                self._calls[key] = Call(open=once(lambda: self.memory_of(visit, who.name)), client=who)
            self._calls.move_to_end(key)
            while len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)
            return self._calls[key]

    def memory_of(self, visit: Visit, client: str = "") -> Memory:
        """Open the memory of a user's agent in a project, in a session of its own."""
        return join(self.own(visit), client)

    def own(self, visit: Visit) -> Memory:
        """Open the memory of a user in a project, limited by the policies of the database."""
        user, actor = visit.access.user, Actor(kind="agent", name=visit.access.user)
        # Shared by equal accesses only: word frequencies depend on which records are visible.
        with self._lock:
            own = Caches(store=self.guarded.store, embedder=self.guarded.embedder)
            caches = self._caches.setdefault(visit.access, own)
            while len(self._caches) > REMEMBERED:
                self._caches.popitem(last=False)
        return replace(
            self.guarded,
            config=replace(self.owner.config, project=visit.project, agent=user, session="", home=""),
            checkout=RemoteCheckout(visit.project),
            context=Context(actor=actor, user=user, shares=visit.shares, role=visit.access.role),
            observing=lambda: None,
            copies=lambda _told, _is_outdated: Scrubbed(),  # users have no access to files of the server's machine
            host=Host(name=platform.node(), pid=os.getpid(), is_alive=self.owner.host.is_alive),
            feedback={},
            caches=caches,
        )

    @property
    def session_count(self) -> int:
        """How many sessions are in memory."""
        return len(self._calls)


@dataclass(slots=True)
class Site:
    """Serves each request with the viewer of its user; cached results are never shared between users."""

    members: Members
    settings: Settings
    inner: Starlette = field(init=False)
    watcher: Watcher = field(init=False)
    _viewers: OrderedDict[tuple[object, str], Viewer] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.watcher = Watcher(self.members.owner)
        self.inner = pages_and_api(self.watcher)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        visit: Visit | None = scope.get(SCOPE)
        if visit is None:  # static files are public, and nothing else is admitted without a visit
            await self.inner(scope, receive, send)
            return
        if refused := _refusal(visit, scope["path"], scope["method"]):
            await refused(scope, receive, send)
            return
        with asking(visit.access):
            viewer = await to_thread.run_sync(self._viewer_of, visit)
            keys = Keys(token="", link="", cookie=visit.shown)
            scope["state"] = {**scope.get("state", {}), "viewer": replace(viewer, keys=keys), "trusted": visit.trusted}
            scope["state"]["allowed"] = visit.allowed
            await self.inner(scope, receive, send)

    def _viewer_of(self, visit: Visit) -> Viewer:
        key = (visit.access, visit.project)
        if key not in self._viewers:
            self._viewers[key] = Viewer(
                memory=as_person(self.members.own(visit)),
                settings=self.settings,
                keys=Keys(token=""),
                watcher=self.watcher,
                reload=lambda: self.settings,
                user=visit.access.user,
                role=visit.access.role,
            )
        self._viewers.move_to_end(key)
        while len(self._viewers) > MOST_VIEWERS:
            self._viewers.popitem(last=False)
        return self._viewers[key]


def _refusal(visit: Visit, path: str, method: str) -> Response | None:
    """Return the refusal of what a server or this key does not allow. The policies of the database would refuse it too."""
    if path == SETTINGS or path.startswith(SETTINGS + "/"):
        return PlainTextResponse("The settings of a server are changed where it runs.\n", 403)
    if method not in SAFE and visit.access.role == "read":
        return PlainTextResponse("This key may only read.\n", 403)
    return None
