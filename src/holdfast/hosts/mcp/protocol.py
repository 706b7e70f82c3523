"""MCP without a transport: one request in, one result out, in both protocol eras. Standard library only.

Up to 2025-11-25 a client begins with `initialize`; since 2026-07-28 every request carries its own envelope in `_meta` and
`server/discover` returns the capabilities. Listing opens neither the store nor the encoder.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from holdfast import __version__
from holdfast.hosts.mcp.offer import Offer, offer_of
from holdfast.model.errors import HoldfastError, Invalid, NotFound
from holdfast.model.fence import defused
from holdfast.model.foreign_json import TooDeep, check_depth
from holdfast.surfaces.tool import Call, Report, Surface, discard_progress

Json = dict[str, Any]
Notify = Callable[[str, Json], None]
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)
_META = "io.modelcontextprotocol/"
SERVER = {"name": "holdfast", "title": "Holdfast", "version": __version__}
# The offer does not change while a server runs; the text of a resource may change with every write.
LASTING = {"ttlMs": 3_600_000, "cacheScope": "private"}
FLEETING = {"ttlMs": 0, "cacheScope": "private"}

LONGEST_MESSAGE = 10_000_000  # bytes
LONGEST_NAME = 100
PARSE_ERROR, INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION, LEGACY_NO_RESOURCE = -32022, -32002
# A client may have forgotten the token of a request that is answered at once, and then drops the connection.
QUIET_SECONDS = 1.0
APART_SECONDS = 0.3


class ProtocolError(Exception):
    """A request that the protocol answers with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, defused(message), data

    def to_json(self) -> Json:
        """Return it as a JSON-RPC error."""
        return {"code": self.code, "message": self.message} | ({"data": self.data} if self.data is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, its era known."""

    method: str
    params: Json
    modern: bool
    notify: Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What is offered, the surfaces behind it (imported when needed) and the memory."""

    offer: Offer
    load: Callable[[], Sequence[Surface]]
    call: Call

    def answer(self, method: str, params: Json, notify: Notify = lambda _method, _params: None) -> Json:
        """Return the result of one request, or raise ProtocolError; `notify` gets the notifications sent meanwhile."""
        try:
            check_depth(params)
        except TooDeep as problem:
            raise ProtocolError(INVALID_PARAMS, f"The parameters cannot be read: {problem}") from problem
        request = Request(method=method, params=params, modern=self._is_modern(method, params), notify=notify)
        handlers = _MODERN if request.modern else _LEGACY
        if method not in handlers or not self._is_offered(method):
            raise ProtocolError(NOT_FOUND, "Method not found", method)
        # The client's name is sent once in the older era, with every request in the newer.
        params = request.params
        client = params["_meta"].get(f"{_META}clientInfo") if request.modern else params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        if isinstance(name, str) and name and not self.call.client.name:
            self.call.client.name = name[:LONGEST_NAME]
        result = handlers[method](self, request)
        if not request.modern:
            return result
        return {**result, **_CACHE.get(method, {}), "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that this server's surfaces use."""
        return tuple(method for method in _BOTH if self._is_offered(method))

    @property
    def capabilities(self) -> Json:
        """The capabilities, as both eras announce them."""
        offered = {
            "tools": self.offer.tools,
            "resources": self.offer.resources or self.offer.templates,
            "prompts": self.offer.prompts,
        }
        return {name: {"listChanged": False} for name, there in offered.items() if there}

    def _is_offered(self, method: str) -> bool:
        return method not in _BOTH or method.partition("/")[0] in self.capabilities

    def _is_modern(self, method: str, params: Json) -> bool:
        """True if a request belongs to the newer era; raise ProtocolError if its envelope is invalid."""
        given = params.get("_meta")
        meta: Json = given if isinstance(given, dict) else {}
        version = meta.get(f"{_META}protocolVersion")
        if version is None:
            if method == "server/discover":
                raise ProtocolError(INVALID_PARAMS, f"params._meta is missing {_META}protocolVersion")
            return False
        if version not in MODERN:
            raise ProtocolError(
                UNSUPPORTED_VERSION, "Unsupported protocol version", {"supported": list(MODERN), "requested": version}
            )
        if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
            raise ProtocolError(INVALID_PARAMS, f"params._meta is missing {_META}clientCapabilities")
        return True


def server_of(surfaces: Sequence[Surface], call: Call) -> Server:
    """Return a server of surfaces that are already imported."""
    return Server(offer=offer_of(surfaces), load=lambda: surfaces, call=call)


def initialize(server: Server, request: Request) -> Json:
    """Begin a session of the older era."""
    wanted = request.params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in LEGACY else LEGACY[0],
        "capabilities": server.capabilities,
        "serverInfo": SERVER,
        "instructions": server.offer.instructions,
    }


def discover(server: Server, _: Request) -> Json:
    """Return the capabilities, in the newer era."""
    return {
        "supportedVersions": list(MODERN),
        "capabilities": server.capabilities,
        "instructions": server.offer.instructions,
    }


def call_tool(server: Server, request: Request) -> Json:
    """Run one tool; its errors are returned as a result, so that the model reads them."""
    name, arguments = _name_and_arguments(request)
    surface = next((one for one in server.load() if name in one.tools or name in one.aliases), None)
    if surface is None:
        known = [tool["name"] for tool in server.offer.tools]
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}", {"tools": known})
    with reporting(request.params, request.notify) as report:
        answer = surface.call(replace(server.call, report=report), name, arguments)
    return {"content": [{"type": "text", "text": answer.text}], "isError": answer.failed}


def read_resource(server: Server, request: Request) -> Json:
    """Return the text of a resource."""
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "resources/read needs a uri")
    missing = INVALID_PARAMS if request.modern else LEGACY_NO_RESOURCE
    try:
        found = next((read for surface in server.load() if (read := surface.read(server.call, uri))), None)
    except NotFound as problem:
        raise ProtocolError(missing, str(problem), {"uri": uri}) from problem
    except HoldfastError as problem:
        raise _as_protocol_error(problem) from problem
    if found is None:
        raise ProtocolError(missing, f"There is no resource {uri}", {"uri": uri})
    resource, text = found
    return {"contents": [{"uri": uri, "mimeType": resource.mime, "text": text}]}


def get_prompt(server: Server, request: Request) -> Json:
    """Return a prompt as one message."""
    name, arguments = _name_and_arguments(request)
    surface = next((one for one in server.load() if name in one.prompts), None)
    if surface is None:
        known = [prompt["name"] for prompt in server.offer.prompts]
        raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}", {"prompts": known})
    try:
        text = surface.say(server.call, name, arguments)
    except HoldfastError as problem:
        raise _as_protocol_error(problem) from problem
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": surface.prompts[name].description, "messages": [message]}


@contextmanager
def reporting(params: Json, notify: Notify) -> Iterator[Report]:
    """Return the function a tool reports to; after the block nothing is sent."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if not isinstance(token, str | int):
        yield discard_progress
        return
    progress = Progress(token, notify)
    try:
        yield progress.report
    finally:
        progress.close()


class Progress:
    """The progress messages of one request: none in the first second, then a few per second, each further than the last."""

    def __init__(self, token: str | int, notify: Notify, now: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._notify = notify
        self._now = now
        self._next = now() + QUIET_SECONDS
        self._last = -1.0
        self._lock = threading.Lock()

    def report(self, done: float, total: float | None, message: str) -> None:
        """Send the progress, unless it is too early or too soon after the last."""
        finished = total is not None and done >= total  # the answer itself follows at once
        with self._lock:
            if finished or done <= self._last or self._now() < self._next:
                return
            self._last, self._next = done, self._now() + APART_SECONDS
            given = {"total": total, "message": message or None}
            known = {name: value for name, value in given.items() if value is not None}
            self._notify("notifications/progress", {"progressToken": self._token, "progress": done, **known})

    def close(self) -> None:
        """Stop sending; waits for a message being sent."""
        with self._lock:
            self._next = float("inf")


def _name_and_arguments(request: Request) -> tuple[str, Json]:
    name, arguments = request.params.get("name"), request.params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, f"{request.method} needs a name and an object of arguments")
    return name, arguments


def _as_protocol_error(problem: HoldfastError) -> ProtocolError:
    """Return the protocol error of a failed resource or prompt: unlike tools, their results have no place for one."""
    code = INVALID_PARAMS if isinstance(problem, Invalid | NotFound) else INTERNAL
    return ProtocolError(code, str(problem), {"code": problem.code})


Handler = Callable[[Server, Request], Json]
# Lists are always in the same order.
_BOTH: dict[str, Handler] = {
    "tools/list": lambda server, _: {"tools": server.offer.tools},
    "tools/call": call_tool,
    "resources/list": lambda server, _: {"resources": server.offer.resources},
    "resources/templates/list": lambda server, _: {"resourceTemplates": server.offer.templates},
    "resources/read": read_resource,
    "prompts/list": lambda server, _: {"prompts": server.offer.prompts},
    "prompts/get": get_prompt,
}
_LEGACY: dict[str, Handler] = {"initialize": initialize, "ping": lambda _, __: {}, **_BOTH}
_MODERN: dict[str, Handler] = {"server/discover": discover, **_BOTH}
_CACHE: dict[str, Json] = {
    **dict.fromkeys(("server/discover", *(method for method in _BOTH if method.endswith("/list"))), LASTING),
    "resources/read": FLEETING,
}
