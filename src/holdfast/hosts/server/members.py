"""The memory and the viewer of each member: the same guarded store, acting for one user in one project and session."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from holdfast.compose.settings import Settings
from holdfast.hosts.loopback import Latest
from holdfast.hosts.mcp.http import session_and_client
from holdfast.hosts.mcp.protocol import LONGEST_NAME
from holdfast.hosts.mcp.serving import join
from holdfast.hosts.web.app import pages_and_api
from holdfast.hosts.web.guard import SAFE, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.hosts.web.viewer import Viewer, as_person
from holdfast.model.event import Access, Actor, asking
from holdfast.model.ports import RemoteCheckout
from holdfast.model.replica import Scrubbed
from holdfast.model.session import Host
from holdfast.surfaces.tool import Call, Client, once
from holdfast.verbs.memory import Caches, Context, Memory

SCOPE = "holdfast"  # where a request carries its visit
REMEMBERED, MOST_VIEWERS = 5_000, 1_000


@dataclass(frozen=True, slots=True)
class Whose:
    """All that the memory of a request depends on, so what is kept of one between requests is kept under this."""

    access: Access
    project: str
    shares: bool  # with the team; False: what is saved stays private


@dataclass(slots=True, kw_only=True)
class Visit:
    """One request: its user, key and project; and the method, once it is known."""

    access: Access
    project: str
    key: str = ""
    shares: bool = True
    did: str = ""
    # True if the request came with a key (so it cannot be a form of another site), False if with a browser's pass.
    trusted: bool = True
    shown: str = ""
    allowed: Callable[[], bool] = lambda: True  # checked again while a response is being sent

    @property
    def whose(self) -> Whose:
        """Whose memory is asked for."""
        return Whose(self.access, self.project, self.shares)


@dataclass(slots=True)
class Members:
    """Opens the memory of each request, `guarded` by row policies. `owner` is the server's; `keys` looks up users."""

    owner: Memory
    guarded: Memory
    keys: Memory
    calls: Latest[tuple[Whose, str], Call] = field(default_factory=lambda: Latest(REMEMBERED))
    _caches: Latest[Access, Caches] = field(default_factory=lambda: Latest(REMEMBERED))

    def call_and_access(self, ctx: ServerRequestContext[Any, Any]) -> tuple[Call, Access]:
        """Return the call of a protocol request."""
        assert ctx.request is not None
        visit: Visit = ctx.request.scope[SCOPE]
        name = (ctx.params or {}).get("name", "") if ctx.method == "tools/call" else ""
        visit.did = f"{ctx.method} {name}".strip()[: 2 * LONGEST_NAME]
        return self.call_of(visit, *session_and_client(ctx)), visit.access

    def call_of(self, visit: Visit, session: str = "", client: Client | None = None) -> Call:
        """Return the call of a user's session in a project; another key has another call."""
        whose, who = visit.whose, client or Client()
        return self.calls.use((whose, session), lambda: Call(once(lambda: join(self.own(whose), who.name)), who))

    def own(self, whose: Whose) -> Memory:
        """Open the memory of a user in a project, limited by the policies of the database."""
        user, actor = whose.access.user, Actor(kind="agent", name=whose.access.user)
        new = partial(Caches, store=self.guarded.store, embedder=self.guarded.embedder)
        return replace(
            self.guarded,
            config=replace(self.owner.config, project=whose.project, agent=user, session="", home=""),
            checkout=RemoteCheckout(whose.project),
            context=Context(actor=actor, user=user, shares=whose.shares, role=whose.access.role),
            observing=lambda: None,
            copies=lambda _told, _is_outdated: Scrubbed(),  # users have no access to files of the server's machine
            host=Host(name=platform.node(), pid=os.getpid(), is_alive=self.owner.host.is_alive),
            feedback={},
            # Shared by equal accesses only: word frequencies depend on which records are visible.
            caches=self._caches.use(whose.access, new),
        )


class Site:
    """Serves each request with the viewer of its user; cached results are never shared between users."""

    def __init__(self, members: Members, settings: Settings) -> None:
        self.members, self.settings, self.watcher = members, settings, Watcher(members.owner)
        self.inner = pages_and_api(self.watcher)
        self._viewers = Latest[Whose, Viewer](MOST_VIEWERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        visit: Visit | None = scope.get(SCOPE)
        if visit is None:  # static files are public, and nothing else is admitted without a visit
            await self.inner(scope, receive, send)
            return
        # The policies of the database would refuse it too.
        settings, writes = f"{scope['path']}/".startswith("/settings/"), scope["method"] not in SAFE
        if settings or (writes and visit.access.role == "read"):
            why = "The settings of a server are changed where it runs." if settings else "This key may only read."
            await PlainTextResponse(f"{why}\n", 403)(scope, receive, send)
            return

        def new() -> Viewer:
            memory, keys = as_person(self.members.own(visit.whose)), Keys(token="")
            return Viewer(memory, self.settings, keys, self.watcher, reload=lambda: self.settings)

        with asking(visit.access):
            viewer = await to_thread.run_sync(self._viewers.use, visit.whose, new)
            keys = Keys(token="", link="", cookie=visit.shown)
            own = {"viewer": replace(viewer, keys=keys), "trusted": visit.trusted, "allowed": visit.allowed}
            scope["state"] = scope.get("state", {}) | own
            await self.inner(scope, receive, send)
