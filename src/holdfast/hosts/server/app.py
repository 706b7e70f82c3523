"""The server as a web application: key, rate and size are checked first; then the protocol, and the viewer mounted next to it.

To run it, the store is opened twice, once for the server itself and once behind the policies.
"""

import ipaddress
import json
import logging
import math
import threading
import traceback
import uuid
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from pathlib import Path
from time import monotonic as now
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from anyio import to_thread
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.compose import open_memory, served_store
from holdfast.compose.settings import Settings, store_folder
from holdfast.compose.team import MEMBER, protect, role_of_server
from holdfast.hosts import loopback
from holdfast.hosts.mcp.http import PATH, transport
from holdfast.hosts.mcp.protocol import Server
from holdfast.hosts.mcp.serving import served
from holdfast.hosts.server.members import REMEMBERED, SCOPE, Members, Site, Visit
from holdfast.hosts.web import render
from holdfast.hosts.web.app import form_again, form_of
from holdfast.hosts.web.guard import OPEN as ASSETS
from holdfast.hosts.web.guard import SAFE, Keys, protected
from holdfast.model.errors import HoldfastError, Invalid, StoreError, Unreachable
from holdfast.model.event import EVERYWHERE, NO_ACCESS, Access, Key, asking
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.truth.contradictions import compare
from holdfast.verbs.upkeep.access import PASS_DAYS, authenticate, authenticate_pass, list_users, pass_for

PROJECT, VISIBILITY, SESSION = "holdfast-project", "holdfast-visibility", "mcp-session-id"
OPEN = ("/healthz", "/readyz")
LOGIN, LEAVE = "/login", "/logout"
ENDED = "holdfast.ended"  # where a request whose login has ended carries its address
COOKIE, MOST_LEFT = "holdfast-pass", 10_000
MOST_BUCKETS = 10_000
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
COOKIE_RULES: dict[str, Any] = {"httponly": True, "samesite": "strict"}
METRICS = "text/plain; version=0.0.4; charset=utf-8"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one key may ask of a server."""

    rate: float = 50.0  # requests a second, and how many at once
    burst: float = 200.0
    largest: int = 2_000_000  # bytes of a request
    sessions: int = 5_000


@dataclass(slots=True)
class Buckets:
    """A bucket for each key; a full one allows `burst` requests at once, and `rate` a second from then on."""

    rate: float
    burst: float
    _kept: loopback.Latest[str, list[float]] = field(default_factory=lambda: loopback.Latest(MOST_BUCKETS))

    def wait(self, key: str, now: float) -> float:
        """Take a token and return 0; or return the seconds until there is one."""
        bucket = self._kept.use(key, lambda: [self.burst, now])  # its tokens, and when they were counted
        left = min(self.burst, bucket[0] + (now - bucket[1]) * self.rate)
        short = 1 - left
        bucket[:] = left if short > 0 else left - 1, now
        return short / self.rate if short > 0 else 0.0


@dataclass(slots=True)
class Metrics:
    """Counters and one histogram, in the text format of Prometheus; any thread may add to them."""

    counts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    buckets: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    seconds: float = 0.0
    in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter."""
        label_text = ",".join(f'{key}="{value.translate(ESCAPES)}"' for key, value in labels.items())
        with self._lock:
            self.counts[name, label_text] += 1

    def took(self, seconds: float) -> None:
        """Add the duration of a request."""
        with self._lock:
            self.buckets[bisect_left(SECONDS, seconds)] += 1
            self.seconds += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return every counter and the current gauges as text."""
        counts, buckets = sorted(self.counts.items()), zip((*SECONDS, "+Inf"), accumulate(self.buckets), strict=True)
        every = {"holdfast_requests_in_flight": self.in_flight, **gauges}
        return render.filled("metrics.txt", counts=counts, buckets=list(buckets), seconds=self.seconds, gauges=every)


def app(server: Server, members: Members, limits: Limits, site: Site) -> ASGIApp:
    """Return the web application: the protocol, and the viewer with its API, both behind the same `Door`.

    Behind the door a request carries its `Visit` in `scope["holdfast"]`, and works within `asking(visit.access)`.
    """
    metrics = Metrics()
    inner = transport(server, members.call_and_access).streamable_http_app(
        streamable_http_path=PATH,
        # Host names are checked by the reverse proxy; a web page that rebinds one still has no key.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=limits.largest,
        max_sessions=limits.sessions,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with inner.router.lifespan_context(inner):
            yield
            site.watcher.close()

    def ready(_: Request) -> Response:
        try:
            with asking(NO_ACCESS):  # enough to see that the database answers
                members.guarded.store.setting("schema")
                members.keys.store.setting("schema")
        except HoldfastError:
            return PlainTextResponse("The database cannot be reached.\n", 503)
        return PlainTextResponse("ready\n")

    def show_metrics(request: Request) -> Response:
        visit: Visit = request.scope[SCOPE]
        if visit.access.role != "admin":
            return PlainTextResponse("Metrics are for keys of the role admin.\n", 403)
        return PlainTextResponse(metrics.text({"holdfast_sessions": len(members.calls)}), media_type=METRICS)

    health = Route("/healthz", lambda _: PlainTextResponse("ok\n"))
    own = [health, Route("/readyz", ready), Route("/metrics", show_metrics)]
    login = Route(LOGIN, partial(enter, members.keys), methods=["GET", "POST"])
    routes = [*own, login, *inner.routes, Mount("/", site)]
    buckets = Buckets(limits.rate, limits.burst)
    return Door(Starlette(routes=routes, lifespan=lifespan), members, metrics, buckets, limits.largest)


async def enter(keys: Memory, request: Request) -> Response:
    """Return the login form for browsers, or accept it: a valid key is exchanged for a pass, a cookie no other site can send.

    The pass is signed with the hash of its key: nothing is stored for it, and any server on the same database accepts it.
    It expires with the key, after half a day, or when its user logs out; this process remembers those. A key is never
    part of a URL. A form that arrives after the login has ended is kept in the login form and offered again.
    """
    if request.method != "POST":
        return _form(request.query_params.get("next", ""))
    form = form_of(await request.body())
    if ended := request.scope.get(ENDED):
        return _form(ended, "Your login has ended. What you typed is kept.", 401, kept=urlencode(form, doseq=True))
    shown, wanted, kept = (form.get(name, [""])[0].strip() for name in ("key", "next", "kept"))
    found = await to_thread.run_sync(authenticate, keys, shown)
    if found is None:
        return _form(wanted, "This key is wrong, expired or revoked.", 401, kept=kept)
    shown = await to_thread.run_sync(pass_for, keys, found[0])
    answer: Response = RedirectResponse(inside(wanted), 303)
    if kept:
        answer = form_again(inside(wanted), form_of(kept.encode()), Keys(token="", link="", cookie=shown).form)
    # Only the browser knows whether it uses TLS: a proxy talks plain HTTP to us.
    secure = request.headers.get("origin", "").startswith("https:")
    answer.set_cookie(COOKIE, shown, int(PASS_DAYS * 86_400), path="/", secure=secure, **COOKIE_RULES)
    return answer


def inside(wanted: str) -> str:
    """Return the page to go to next: always one of ours."""
    own = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if own and not wanted.startswith((LOGIN, LEAVE)) else "/"


def _form(wanted: str, said: str = "", status: int = 200, kept: str = "") -> Response:
    return HTMLResponse(render.filled("login.html", next=inside(wanted), said=said, kept=kept), status)


@dataclass(slots=True)
class Door:
    """Admits requests with a valid key, counts and logs them; a protocol session belongs to its own user only."""

    inner: ASGIApp
    members: Members
    metrics: Metrics
    buckets: Buckets
    largest: int  # bytes of a request
    left: loopback.Latest[str, bool] = field(default_factory=lambda: loopback.Latest(MOST_LEFT))  # ended passes
    sessions: loopback.Latest[str, str] = field(default_factory=lambda: loopback.Latest(2 * REMEMBERED))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        began, status = now(), 500
        found: Visit | Response | None = None
        self.metrics.in_flight += 1

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                named = Headers(raw=message.get("headers", [])).get(SESSION)
                if named and isinstance(found, Visit):
                    self.sessions.use(named, partial(str, found.access.user))
            await send(message)

        try:
            found = await self._enter(Request(scope))
            if isinstance(found, Visit):
                scope[SCOPE] = found
            to = sending if scope["path"] == PATH else protected(sending)
            refusal = found if isinstance(found, Response) else None
            await loopback.admit(self.inner, scope, receive, to, longest=self.largest, refuse=lambda _: refusal)
        except Exception:
            # The outermost loop of a host: logged here, and the connection ends.
            log.exception("request failed")
            raise
        finally:
            self.metrics.in_flight -= 1
            self._tell(scope, status, now() - began)

    async def _enter(self, request: Request) -> Visit | Response | None:
        """Return the visit of a request; or its refusal; or None for public paths."""
        path, headers = request["path"], request.headers
        by_key = "authorization" in headers
        if path in OPEN or path.startswith(ASSETS):
            return None
        if int(headers.get("content-length") or 0) > self.largest:
            return self._refused("large", f"A request may have {self.largest:,} bytes.", 413)
        if path == LOGIN:
            return self._entering(request)
        try:
            known = await to_thread.run_sync(self._known, request)
        except StoreError:
            return self._refused("database", "The database cannot be reached; try again.", 503, **{"retry-after": "2"})
        if known is None and "text/html" in headers.get("accept", "") and not by_key:
            self.metrics.count("holdfast_refused_total", reason="key")
            query = request["query_string"].decode("latin-1")
            wanted = f"{path}?{query}" if query else path  # the page to go to after the login
            if request.method in SAFE or path == LEAVE:
                to = "" if inside(wanted) == "/" else f"?next={quote(wanted, safe='')}"
                return RedirectResponse(LOGIN + to, 303)
            request.scope.update({"path": LOGIN, ENDED: wanted})
            return self._entering(request)
        if known is None:
            challenge = {"www-authenticate": "Bearer"}
            return self._refused("key", "The key is missing, wrong, expired or revoked.", 401, **challenge)
        key, access = known
        if wait := self.buckets.wait(key.id, now()):
            return self._too_many(wait)
        visit = self._by_key(request, access) if by_key else self._by_pass(request, access)
        if isinstance(visit, Visit):
            visit.key, visit.allowed = key.id, lambda: self._known(request) is not None
            visit.project = "" if visit.project == EVERYWHERE else visit.project
        return visit

    def _known(self, request: Request) -> tuple[Key, Access] | None:
        """Return the key of a request and its access; a pass opens pages, never the protocol. This asks the database."""
        if "authorization" in request.headers:
            scheme, _, shown = request.headers["authorization"].partition(" ")
            return authenticate(self.members.keys, shown.strip()) if scheme.lower() == "bearer" else None
        shown = request.cookies.get(COOKIE, "") if request["path"] != PATH else ""
        return authenticate_pass(self.members.keys, shown) if shown and shown not in self.left else None

    def _entering(self, request: Request) -> Response | None:
        """Refuse a login from another site, or one too often."""
        wait = self.buckets.wait(f"login {request.client.host if request.client else ''}", now())
        return self._too_many(wait) if wait else self._foreign(request)

    def _foreign(self, request: Request) -> Response | None:
        """Refuse a request that changes something and comes from another site, by its Origin header."""
        origin = request.headers.get("origin", "")
        if request.method in SAFE or (origin and urlsplit(origin).netloc == request.headers.get("host")):
            return None
        return self._refused("origin", "Other sites may not use this.", 403)

    def _by_key(self, request: Request, access: Access) -> Visit | Response:
        """Admit a program with its key. The protocol works in one project; pages and endpoints in the requested one."""
        headers = request.headers
        if self.sessions.get(headers.get(SESSION, ""), access.user) != access.user:
            return self._refused("session", "There is no such session.", 404)
        protocol = request["path"] == PATH
        asked = request.query_params.get("project", "") if protocol else ""
        named = headers.get(PROJECT, "") or asked
        project = named or (access.projects[0] if len(access.projects) == 1 else "")
        if protocol and project in ("", EVERYWHERE):
            return self._refused("project", f"Name a project: the header {PROJECT}, or ?project=.", 400)
        if named and not access.reaches(project):
            return self._refused("project", "This key does not open that project.", 403)
        return Visit(access=access, project=project or access.projects[0], shares=headers.get(VISIBILITY) != "private")

    def _by_pass(self, request: Request, access: Access) -> Visit | Response:
        """Admit a browser with a pass; requests that change something must come from our own pages."""
        if refusal := self._foreign(request):
            return refusal
        shown = request.cookies.get(COOKIE, "")
        if request["path"] == LEAVE and request.method == "POST":
            self.left.use(shown, lambda: True)
            answer = RedirectResponse(LOGIN, 303)
            answer.delete_cookie(COOKIE, path="/", **COOKIE_RULES)
            return answer
        return Visit(access=access, project=access.projects[0], trusted=False, shown=shown)

    def _too_many(self, wait: float) -> Response:
        return self._refused("rate", "Too many requests.", 429, **{"retry-after": str(math.ceil(wait))})

    def _refused(self, reason: str, why: str, status: int, **headers: str) -> Response:
        self.metrics.count("holdfast_refused_total", reason=reason)
        return JSONResponse({"error": why}, status, headers)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        visit: Visit | None = scope.get(SCOPE)
        path = scope["path"] if scope["path"] in (*OPEN, PATH, "/metrics") else "other"
        self.metrics.count("holdfast_requests_total", path=path, status=str(status))
        self.metrics.took(seconds)
        fields: dict[str, Any] = {"id": uuid.uuid4().hex[:12], "method": scope["method"], "path": path}
        fields |= {"status": status, "ms": round(seconds * 1000, 1)}
        if visit:
            fields |= {"user": visit.access.user, "key": visit.key, "project": visit.project}
            if visit.did:
                fields["did"] = visit.did
                self.metrics.count("holdfast_tools_total", tool=visit.did.removeprefix("tools/call "))
        if path not in OPEN:
            log.info("request", extra={"fields": fields})


FINISHING_SECONDS = 10  # how long requests may take to finish after a stop signal
KEPT_SECONDS = 75  # how long an idle connection stays: longer than clients and proxies wait before they use it again


def serve(
    settings: Settings,
    surfaces: Sequence[str],
    *,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; then finish requests and close the database."""
    handler, logger = logging.StreamHandler(), logging.getLogger("holdfast")
    handler.setFormatter(Lines())
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    with open_members(settings) as members:
        is_local = host == "localhost"
        with suppress(ValueError):
            is_local = ipaddress.ip_address(host).is_loopback
        # Before there is a key no one could log in, so it is a mistake.
        if not is_local and not any(user["keys"] for user in list_users(members.owner)):
            hint = "`holdfast server user add NAME`, then `holdfast server key add NAME --project P`."
            raise Invalid(f"{host} can be reached from other machines, and there is no key yet.", hint=hint)
        with loopback.listening(port, host) as listener:
            made = app(server_of(surfaces, settings), members, limits, Site(members, settings))
            url = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
            options = {"seconds": FINISHING_SECONDS, "timeout_keep_alive": KEPT_SECONDS}
            loopback.serve(made, listener, announce=lambda: announce(url), **options)


@contextmanager
def open_members(settings: Settings) -> Iterator[Members]:
    """Open the store for the server itself, install the policies, and open it again behind them."""
    if not settings.config.database:
        raise Invalid(
            "A server for many users needs PostgreSQL: only there can the database itself keep them apart.",
            hint="Set HOLDFAST_DATABASE=postgresql://…; `holdfast mcp --http` serves one user on SQLite.",
        )
    role = role_of_server(settings.config, store_folder(settings.config, Path.cwd()))
    with ExitStack() as stack:
        owner = stack.enter_context(open_memory(settings, role=role))
        if owner.apart:
            raise Unreachable(owner.apart.split(".")[0] + ".")
        protect(owner, role)
        opened = (served_store(settings.config, name) for name in (MEMBER, role))
        store, keys = (stack.enter_context(closing(one)) for one in opened)
        if owner.embedder is not None:
            from holdfast.verbs.search.embed import keeping_up  # noqa: PLC0415  numpy: only where meaning is searched

            stack.enter_context(keeping_up(owner, then=partial(compare, owner, team=True)))
        yield Members(owner, guarded=replace(owner, store=store), keys=replace(owner, store=keys))


def server_of(surfaces: Sequence[str], settings: Settings) -> Server:
    """Return the MCP server; every request replaces its `call`, since there is no default memory."""

    def nobody() -> Memory:
        raise Invalid("Whose memory?")

    return served(surfaces, lambda: settings.config.list_aliases, Call(open=nobody))


class Lines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, what happened and the fields given with it."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"at": at, "level": record.levelname.lower(), "event": record.getMessage()}
        fields |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            # The type and place of a failure: its message may quote stored text.
            place = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(record.exc_info[2])][-1:]
            fields |= {"error": record.exc_info[0].__name__, "place": "".join(place)}
        return json.dumps(fields, ensure_ascii=False)
