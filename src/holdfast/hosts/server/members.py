"""The memory of each member: the same guarded store, acting for one user in one project and session."""

import os
import platform
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from mcp.server.context import ServerRequestContext

from holdfast.hosts.mcp.protocol import LONGEST_NAME, MODERN
from holdfast.hosts.mcp.serving import join
from holdfast.model.access import Access
from holdfast.model.event import Actor
from holdfast.model.ports import RemoteCheckout
from holdfast.model.replica import Scrubbed
from holdfast.model.session import Host
from holdfast.surfaces.tool import Call, Client, once
from holdfast.verbs.memory import Caches, Context, Memory

SCOPE = "holdfast"  # where a request carries its visit
REMEMBERED = 5_000


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
        user = visit.access.user
        return replace(
            self.guarded,
            config=replace(self.owner.config, project=visit.project, agent=user, session="", home=""),
            checkout=RemoteCheckout(visit.project),
            context=Context(
                actor=Actor(kind="agent", name=user), user=user, shares=visit.shares, role=visit.access.role
            ),
            observing=lambda: None,
            copies=lambda _told, _is_outdated: Scrubbed(),  # users have no access to files of the server's machine
            host=Host(name=platform.node(), pid=os.getpid(), is_alive=self.owner.host.is_alive),
            feedback={},
            caches=self._caches_of(visit.access),
        )

    def _caches_of(self, access: Access) -> Caches:
        """Return caches shared by equal accesses only: word frequencies depend on which records are visible."""
        with self._lock:
            own = Caches(store=self.guarded.store, embedder=self.guarded.embedder)
            caches = self._caches.setdefault(access, own)
            while len(self._caches) > REMEMBERED:
                self._caches.popitem(last=False)
        return caches

    @property
    def session_count(self) -> int:
        """How many sessions are in memory."""
        return len(self._calls)
