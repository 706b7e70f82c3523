"""Login for browsers: a user enters a key in a form, and gets a pass as a cookie that no other site can send.

The pass is signed with the hash of its key: nothing is stored for it, and any server on the same database accepts it.
It expires with the key, after half a day, or when its user logs out. A key is never part of a URL.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.hosts.web import render
from holdfast.hosts.web.app import form_of
from holdfast.model.access import Access, Key
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.access import PASS_DAYS, authenticate, authenticate_pass, pass_for

PATH, LEAVE = "/login", "/logout"
COOKIE = "holdfast-pass"
MOST_LEFT = 10_000


@dataclass(slots=True)
class Passes:
    """Exchanges keys for passes and passes for keys. This process remembers the passes of users who logged out."""

    keys: Memory
    _left: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def known(self, headers: Headers) -> tuple[Key, Access] | None:
        """Return the key behind a browser's pass, and its access; this asks the database."""
        shown = pass_in(headers)
        return authenticate_pass(self.keys, shown) if shown and shown not in self._left else None

    def end(self, shown: str) -> None:
        """Revoke a pass."""
        self._left[shown] = None
        while len(self._left) > MOST_LEFT:
            self._left.popitem(last=False)

    async def enter(self, request: Request) -> Response:
        """Return the login form, or accept it: a valid key is exchanged for a pass."""
        if request.method != "POST":
            return _form(request.query_params.get("next", ""))
        form = await form_of(request)
        shown, wanted = (form.get(name, [""])[0].strip() for name in ("key", "next"))
        found = await to_thread.run_sync(authenticate, self.keys, shown)
        if found is None:
            return _form(wanted, "This key is wrong, expired or revoked.", 401)
        answer = RedirectResponse(inside(wanted), 303)
        answer.set_cookie(
            COOKIE,
            await to_thread.run_sync(pass_for, self.keys, found[0]),
            max_age=int(PASS_DAYS * 86_400),
            httponly=True,
            samesite="strict",
            # Only the browser knows whether it uses TLS: a proxy talks plain HTTP to us.
            secure=request.headers.get("origin", "").startswith("https:"),
            path="/",
        )
        return answer


def leave() -> Response:
    """Log out: delete the pass in the browser."""
    answer = RedirectResponse(PATH, 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def sent_to_login(path: str, query: str) -> Response:
    """Redirect a browser to the login form, and remember the requested page."""
    wanted = f"{path}?{query}" if query else path
    return RedirectResponse(PATH if wanted == "/" else f"{PATH}?next={quote(wanted, safe='')}", 303)


def pass_in(headers: Headers) -> str:
    """Return the pass of a browser."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def is_foreign(headers: Headers) -> bool:
    """True if a request that changes something comes from another site, by its Origin header."""
    origin = headers.get("origin", "")
    return not origin or urlsplit(origin).netloc != headers.get("host")


def inside(wanted: str) -> str:
    """Return the page to go to next: always one of ours."""
    own = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if own and not wanted.startswith((PATH, LEAVE)) else "/"


def _form(wanted: str, said: str = "", status: int = 200) -> Response:
    text = render.environment().get_template("login.html").render(next=inside(wanted), said=said)
    return HTMLResponse(text, status)
