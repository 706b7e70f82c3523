"""Who may talk to the viewer: programs and pages of this machine that know its name and show a key.

The printed link carries a key that lives as long as the process; it is exchanged for a cookie no other site can send.
Programs show the token kept beside the store instead. Whatever changes something must come from our own pages.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosts.loopback import is_bearer, names_at, taken_in

SAFE = ("GET", "HEAD")
OPEN = "/assets/"  # style and scripts hold nothing of anybody
FORM_FIELD, FORM_HEADER = "csrf", "x-holdfast-form"
LONGEST_BODY = 1_000_000
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, browsers would not say where our own forms come from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
LOCKED = """This page needs the link that `holdfast web` printed in the terminal.

Open that link once and this browser is let in until the viewer stops.
Programs show the token instead: Authorization: Bearer TOKEN.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What opens the viewer: the link's key and the cookie of this process, and the token that programs keep."""

    token: str
    link: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def form(self) -> str:
        """What our own forms carry, so that no other page's form is taken for one."""
        return hmac.new(self.cookie.encode(), b"form", sha256).hexdigest()


def protected(send: Send) -> Send:
    """Give a way to answer that adds the headers which keep a page to itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending


class Guard:
    """An application behind its checks: name, origin, key; every answer gets the headers that keep a page to itself."""

    def __init__(self, inner: ASGIApp, *, keys: Keys, port: int) -> None:
        self._inner = inner
        self._keys = keys
        self._names = names_at(port)
        self._origins = [f"http://{name}" for name in self._names]
        self.cookie = f"holdfast-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks any other protocol

        shown = protected(send)
        if refusal := self._refusal(scope, Headers(scope=scope)):
            await refusal(scope, receive, shown)
            return
        body = await taken_in(scope, receive, LONGEST_BODY)
        if isinstance(body, Response):
            await body(scope, receive, shown)
        else:
            await self._inner(scope, body, shown)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("host", "") not in self._names:
            return PlainTextResponse("This address is not known by that name.\n", 421)
        bearer = is_bearer(headers.get("authorization", ""), self._keys.token)
        origin = headers.get("origin")
        foreign = origin is not None and origin not in self._origins
        if foreign or (scope["method"] not in SAFE and origin is None and not bearer):
            return PlainTextResponse("Other sites may not use this.\n", 403)
        if scope["path"].startswith(OPEN):
            return None
        if scope["path"] == "/" and (link := self._link(scope)):
            return link
        if bearer or self._has_cookie(headers):
            scope.setdefault("state", {})["trusted"] = bearer
            return None
        return PlainTextResponse(LOCKED, 401, {"www-authenticate": "Bearer"})

    def _link(self, scope: Scope) -> Response | None:
        """Exchange the key of the printed link for the cookie; the key does not stay in the address."""
        given = parse_qs(scope["query_string"].decode("latin-1"))
        shown = given.pop("key", [""])[0]
        if not shown or not hmac.compare_digest(shown.encode(errors="replace"), self._keys.link.encode()):
            return None
        rest = urlencode(given, doseq=True)
        answer = RedirectResponse("/" + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(self.cookie, self._keys.cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            shown = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return shown is not None and hmac.compare_digest(shown.value.encode(), self._keys.cookie.encode())
