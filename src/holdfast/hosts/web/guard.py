"""Access to the viewer: programs and pages of this machine that use its host name and send a key.

The printed link has a key that is valid while the process runs; it is exchanged for a cookie no other site can send.
Programs send the token stored next to the store instead. Requests that change something must come from our own pages.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosts.loopback import admit, is_bearer, names_at
from holdfast.model.patterns import tables

SAFE = ("GET", "HEAD")
OPEN = "/assets/"  # static files contain no stored data
FORM_FIELD, FORM_HEADER = "csrf", "x-holdfast-form"
LONGEST_BODY = 1_000_000
HEADERS = dict(tables(__file__)["headers"])
_TEMPLATES = Path(__file__).parent / "templates"
LOCKED, LOCKED_PAGE = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("locked.txt", "locked.html"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys of the viewer: the link's key and the cookie of this process, and the token of programs."""

    token: str
    link: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def form(self) -> str:
        """The CSRF key in our own forms."""
        return self.signature("form")

    def signature(self, text: str) -> str:
        """Return what only this viewer can sign a text with."""
        return hmac.new(self.cookie.encode(), text.encode(), sha256).hexdigest()


def protected(send: Send) -> Send:
    """Return a `send` that adds the security headers."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """An application behind checks of host name, origin and key; every response gets the security headers."""

    inner: ASGIApp
    keys: Keys
    port: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with the reason."""
        await admit(self.inner, scope, receive, protected(send), longest=LONGEST_BODY, refuse=self._refusal)

    def _refusal(self, request: Request) -> Response | None:
        headers, path, names = request.headers, request["path"], names_at(self.port)
        if headers.get("host", "") not in names:
            return PlainTextResponse("This server is not known by that host name.\n", 421)
        bearer = is_bearer(headers.get("authorization", ""), self.keys.token)
        origin = headers.get("origin")
        foreign = origin is not None and origin not in [f"http://{name}" for name in names]
        if foreign or (request.method not in SAFE and origin is None and not bearer):
            return PlainTextResponse("Other sites may not use this.\n", 403)
        if path.startswith(OPEN):
            return None
        if path == "/" and (link := self._link(request)):
            return link
        shown = request.cookies.get(f"holdfast-{self.port}", "")
        if bearer or hmac.compare_digest(shown.encode(), self.keys.cookie.encode()):
            request.state.trusted = bearer
            return None
        if "text/html" in headers.get("accept", ""):
            return HTMLResponse(LOCKED_PAGE, 401, {"www-authenticate": "Bearer"})
        return PlainTextResponse(LOCKED, 401, {"www-authenticate": "Bearer"})

    def _link(self, request: Request) -> Response | None:
        """Exchange the key of the printed link for the cookie; the key is removed from the URL."""
        shown = request.query_params.get("key", "")
        if not shown or not hmac.compare_digest(shown.encode(errors="replace"), self.keys.link.encode()):
            return None
        rest = request.url.remove_query_params("key").query
        answer = RedirectResponse("/" + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(f"holdfast-{self.port}", self.keys.cookie, httponly=True, samesite="strict", path="/")
        return answer
