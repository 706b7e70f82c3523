"""MCP without a transport: one request in, one result out, in both protocol eras. Standard library only.

Up to 2025-11-25 a client begins with `initialize`; since 2026-07-28 every request carries its own envelope in `_meta` and
`server/discover` tells what is there. Listing tools opens neither the store nor the encoder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import __version__
from holdfast.surfaces.tool import Call, Surface, Tool

Json = dict[str, Any]
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)
_META = "io.modelcontextprotocol/"
SERVER = {"name": "holdfast", "title": "Holdfast", "version": __version__}
CAPABILITIES: Json = {"tools": {"listChanged": False}}
CACHE = {"ttlMs": 3_600_000, "cacheScope": "private"}  # the table of tools does not change while a server runs

PARSE_ERROR, INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022


class ProtocolError(Exception):
    """A request that the protocol answers with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def to_json(self) -> Json:
        """Write it as JSON-RPC does."""
        return {"code": self.code, "message": self.message} | ({"data": self.data} if self.data is not None else {})


@dataclass(frozen=True, slots=True)
class Server:
    """The surfaces on offer and the memory behind them."""

    surfaces: Sequence[Surface]
    call: Call

    def answer(self, method: str, params: Json) -> Json:
        """Give the result of one request, or raise ProtocolError."""
        modern = self._is_modern(method, params)
        handlers = _MODERN if modern else _LEGACY
        if method not in handlers:
            raise ProtocolError(NOT_FOUND, "Method not found", method)
        result = handlers[method](self, params)
        if not modern:
            return result
        extra = CACHE if method in ("tools/list", "server/discover") else {}
        return {**result, **extra, "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}

    def _is_modern(self, method: str, params: Json) -> bool:
        """Tell the era of a request, and check the envelope a modern one must carry."""
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

    @property
    def instructions(self) -> str:
        """What a client tells its model about us."""
        return "\n\n".join(surface.instructions for surface in self.surfaces if surface.instructions)


def initialize(server: Server, params: Json) -> Json:
    """Begin a session of the older era."""
    wanted = params.get("protocolVersion")
    version = wanted if wanted in LEGACY else LEGACY[0]
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": server.instructions,
    }


def discover(server: Server, _: Json) -> Json:
    """Tell what is on offer, in the newer era."""
    return {"supportedVersions": list(MODERN), "capabilities": CAPABILITIES, "instructions": server.instructions}


def ping(_: Server, __: Json) -> Json:
    """Show that somebody is there."""
    return {}


def list_tools(server: Server, _: Json) -> Json:
    """Give the tools, always in the same order."""
    return {"tools": [tool_to_json(tool) for surface in server.surfaces for tool in surface.tools.values()]}


def call_tool(server: Server, params: Json) -> Json:
    """Run one tool; what goes wrong inside it is for the model to read."""
    name, arguments = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "tools/call needs a name and an object of arguments")
    surface = next((one for one in server.surfaces if name in one.tools or name in one.aliases), None)
    if surface is None:
        known = [tool for one in server.surfaces for tool in one.tools]
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}", {"tools": known})
    answer = surface.call(server.call, name, arguments)
    return {"content": [{"type": "text", "text": answer.text}], "isError": answer.failed}


def tool_to_json(tool: Tool) -> Json:
    """Write a tool as it is listed."""
    # Left out where the protocol's default says the same: what a read-only tool destroys, what a writer repeats.
    annotations: Json = {"readOnlyHint": tool.read_only, "openWorldHint": False}
    if not tool.read_only:
        annotations |= {"destructiveHint": tool.destructive} | ({"idempotentHint": True} if tool.idempotent else {})
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        # That unknown arguments are refused shows when one is given, with the name that was meant.
        "inputSchema": {name: part for name, part in tool.schema.items() if name != "additionalProperties"},
        "annotations": annotations,
    }


Handler = Callable[[Server, Json], Json]
_BOTH: dict[str, Handler] = {"tools/list": list_tools, "tools/call": call_tool}
_LEGACY: dict[str, Handler] = {"initialize": initialize, "ping": ping, **_BOTH}
_MODERN: dict[str, Handler] = {"server/discover": discover, **_BOTH}
