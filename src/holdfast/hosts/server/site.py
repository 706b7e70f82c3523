"""The viewer of a server: the same pages and endpoints as on a user's machine, each request as its user."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from anyio import to_thread
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.compose.settings import Settings
from holdfast.hosts.server.members import SCOPE, Members, Visit
from holdfast.hosts.web.app import pages_and_api
from holdfast.hosts.web.guard import SAFE, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.hosts.web.viewer import Viewer, as_person
from holdfast.model.access import asking

MOST_VIEWERS = 1_000
SETTINGS = "/settings"


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
