"""MCP without a transport: one request in, one result out, in both protocol eras. Standard library only.

Up to 2025-11-25 a client begins with `initialize`; since 2026-07-28 every request carries its own envelope in `_meta` and
`server/discover` returns the capabilities. Listing opens neither the store nor the encoder.

What clients list is stored next to each surface (offer.json), because they list the tools at startup and importing their
code takes several times as long as reading the file. `scripts/offers.py` writes the file again after a change; a test fails
if that was forgotten. A surface with a contract has no offer.json: its offer is read from the contract.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import holdfast
from holdfast import __version__
from holdfast.model.errors import HoldfastError, Invalid, NotFound
from holdfast.model.foreign_json import TooDeep, check_depth
from holdfast.model.text import defused
from holdfast.surfaces.tool import CONTRACT, Call, Resource, Surface, Tool, read_contract

Json = dict[str, Any]
Notify = Callable[[str, Json], None]
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)
FILE = "offer.json"
LISTS = ("tools", "resources", "templates", "prompts")
_META = "io.modelcontextprotocol/"
SERVER = {"name": "holdfast", "title": "Holdfast", "version": __version__}

LONGEST_MESSAGE = 10_000_000  # bytes
LONGEST_NAME = 100
PARSE_ERROR, INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION, LEGACY_NO_RESOURCE = -32022, -32002
# A client may have forgotten the token of a request that is answered at once, and then drops the connection.
QUIET_SECONDS = 1.0
APART_SECONDS = 0.3
log = logging.getLogger(__name__)


class ProtocolError(Exception):
    """A request that the protocol answers with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, defused(message), data

    def to_json(self) -> Json:
        """Return it as a JSON-RPC error."""
        return {"code": self.code, "message": self.message} | ({"data": self.data} if self.data is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything a client can list without running anything."""

    instructions: str
    tools: list[Json]
    resources: list[Json]
    templates: list[Json]
    prompts: list[Json]
    aliases: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What is offered, the surfaces behind it (imported when needed) and the memory."""

    offer: Offer
    load: Callable[[], Sequence[Surface]]
    call: Call

    def answer(self, method: str, params: Json, notify: Notify = lambda _method, _params: None) -> Json:
        """Return the result of one request, or raise ProtocolError; `notify` gets the notifications sent meanwhile."""
        try:
            return self._answer(method, params, notify)
        except (ProtocolError, BrokenPipeError):
            raise  # the client is gone, if its pipe is
        except TooDeep as problem:
            raise ProtocolError(INVALID_PARAMS, f"The parameters cannot be read: {problem}") from problem
        except HoldfastError as problem:  # of a resource or a prompt: unlike tools, their results have no place for one
            code = INVALID_PARAMS if isinstance(problem, Invalid | NotFound) else INTERNAL
            raise ProtocolError(code, str(problem), {"code": problem.code}) from problem
        except Exception as problem:
            # The outermost loop of a host: a bug must not end the session, nor reveal internals.
            log.exception("%s failed", method)
            raise ProtocolError(INTERNAL, "Internal error; see the log") from problem

    def _answer(self, method: str, params: Json, notify: Notify) -> Json:
        check_depth(params)
        modern = self._is_modern(method, params)
        handlers = _MODERN if modern else _LEGACY
        if method not in handlers or not self._is_offered(method):
            raise ProtocolError(NOT_FOUND, "Method not found", method)
        # The client's name is sent once in the older era, with every request in the newer.
        client = params["_meta"].get(f"{_META}clientInfo") if modern else params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        if isinstance(name, str) and name and not self.call.client.name:
            self.call.client.name = name[:LONGEST_NAME]
        result = handlers[method](self, params, modern, notify)
        if not modern:
            return result
        kept = {"ttlMs": _KEPT_MS[method], "cacheScope": "private"} if method in _KEPT_MS else {}
        return {**result, **kept, "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that this server's surfaces use."""
        return tuple(method for method in _BOTH if self._is_offered(method))

    @property
    def capabilities(self) -> Json:
        """The capabilities, as both eras announce them."""
        offer = self.offer
        offered = {"tools": offer.tools, "resources": offer.resources or offer.templates, "prompts": offer.prompts}
        return {name: {"listChanged": False} for name, there in offered.items() if there}

    def _is_offered(self, method: str) -> bool:
        return method not in _BOTH or method.partition("/")[0] in self.capabilities

    def _is_modern(self, method: str, params: Json) -> bool:
        meta = meta_of(params)
        version = meta.get(f"{_META}protocolVersion")
        if version is None:
            if method == "server/discover":
                raise ProtocolError(INVALID_PARAMS, f"params._meta is missing {_META}protocolVersion")
            return False
        if version not in MODERN:
            known = {"supported": list(MODERN), "requested": version}
            raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", known)
        if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
            raise ProtocolError(INVALID_PARAMS, f"params._meta is missing {_META}clientCapabilities")
        return True


def introduce(server: Server, params: Json, modern: bool, *_: object) -> Json:
    """Return the capabilities: this begins a session of the older era."""
    about = {"capabilities": server.capabilities, "instructions": server.offer.instructions}
    if modern:
        return {"supportedVersions": list(MODERN), **about}
    wanted = params.get("protocolVersion")
    return {"protocolVersion": wanted if wanted in LEGACY else LEGACY[0], "serverInfo": SERVER, **about}


def call_tool(server: Server, params: Json, _: bool, notify: Notify) -> Json:
    """Run one tool; its errors are returned as a result, so that the model reads them."""
    surface, name, arguments = _named(server, "tools/call", params)
    with closing(Progress(meta_of(params).get("progressToken"), notify)) as progress:
        text, failed = surface.call(replace(server.call, progress=progress.report), name, arguments)
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def read_resource(server: Server, params: Json, modern: bool, *_: object) -> Json:
    """Return the text of a resource."""
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "resources/read needs a uri")
    missing = INVALID_PARAMS if modern else LEGACY_NO_RESOURCE
    try:
        found = next((read for surface in server.load() if (read := surface.read(server.call, uri))), None)
    except NotFound as problem:
        raise ProtocolError(missing, str(problem), {"uri": uri}) from problem
    if found is None:
        raise ProtocolError(missing, f"There is no resource {uri}", {"uri": uri})
    resource, text = found
    return {"contents": [{"uri": uri, "mimeType": resource.mime, "text": text}]}


def get_prompt(server: Server, params: Json, *_: object) -> Json:
    """Return a prompt as one message."""
    surface, name, arguments = _named(server, "prompts/get", params)
    message = {"role": "user", "content": {"type": "text", "text": surface.say(server.call, name, arguments)}}
    return {"description": surface.prompts[name].description, "messages": [message]}


class Progress:
    """The progress messages of one request: none in the first second, then a few per second, each further than the last.

    Without a valid token nothing is sent: the client did not ask for it.
    """

    def __init__(self, token: Any, notify: Notify, now: Callable[[], float] = time.monotonic) -> None:
        self._token, self._notify, self._now = token, notify, now
        self._next = now() + QUIET_SECONDS if isinstance(token, str | int) else float("inf")
        self._last = -1.0
        self._lock = threading.Lock()

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
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


def meta_of(params: Json) -> Json:
    """Return the envelope of a request; an empty one if it has none."""
    given = params.get("_meta")
    return given if isinstance(given, dict) else {}


def _named(server: Server, method: str, params: Json) -> tuple[Surface, str, Json]:
    """Return the surface with the tool or prompt that a request names, the name and the arguments."""
    name, arguments, table = params.get("name"), params.get("arguments") or {}, method.partition("/")[0]
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, f"{method} needs a name and an object of arguments")
    for surface in server.load():
        if name in getattr(surface, table) or (table == "tools" and name in surface.aliases):
            return surface, name, arguments
    known = [one["name"] for one in getattr(server.offer, table)]
    raise ProtocolError(INVALID_PARAMS, f"Unknown {table[:-1]}: {name}", {table: known})


def offer_of(surface: Surface) -> Offer:
    """Return what a surface offers, always in the same order."""

    def prompt_to_json(prompt: Tool) -> Json:
        schema, required = prompt.schema["properties"], prompt.schema.get("required", ())
        parts = {name: {"name": name, "description": part.get("description", "")} for name, part in schema.items()}
        return {**_described(prompt), "arguments": [parts[name] | {"required": name in required} for name in parts]}

    resources: dict[str, list[Json]] = {"uri": [], "uriTemplate": []}
    for uri, one in surface.resources.items():
        name = "uriTemplate" if "{" in uri else "uri"
        resources[name].append({name: uri, **_described(one), "mimeType": one.mime})
    return Offer(
        instructions=surface.instructions,
        tools=[tool_to_json(tool) for tool in surface.tools.values()],
        resources=resources["uri"],
        templates=resources["uriTemplate"],
        prompts=[prompt_to_json(prompt) for prompt in surface.prompts.values()],
        aliases=surface.aliases,
    )


def joined(offers: Iterable[Offer]) -> Offer:
    """Return several offers as one."""
    every = list(offers)
    listed = {name: [item for offer in every for item in getattr(offer, name)] for name in LISTS}
    aliases = {alias: tool for offer in every for alias, tool in offer.aliases.items()}
    instructions = "\n\n".join(offer.instructions for offer in every if offer.instructions)
    return Offer(instructions=instructions, aliases=aliases, **listed)


def written_offer(name: str) -> Offer:
    """Return the stored offer of a surface."""
    folder = surface_folder(name)
    if (folder / CONTRACT).exists():
        return offer_of(read_contract(folder))
    return Offer(**json.loads((folder / FILE).read_bytes()))


def with_aliases(offer: Offer) -> Offer:
    """Return an offer that lists the aliases of tools as tools."""
    listed = {tool["name"]: tool for tool in offer.tools}
    others = [
        {**listed[tool], "name": alias, "description": f"Another name of {tool}. {listed[tool]['description']}"}
        for alias, tool in offer.aliases.items()
    ]
    return replace(offer, tools=[*offer.tools, *others])


def check_names(offers: Sequence[tuple[str, Offer]]) -> None:
    """Reject surfaces with different tools of the same name: clients could not tell them apart."""
    called = [(name, {tool["name"] for tool in offer.tools} | offer.aliases.keys()) for name, offer in offers]
    for (one, names), (other, others) in combinations(called, 2):
        if shared := sorted(names & others):
            hint = "Set up one of them (`holdfast init --surface NAME`), or each in a server of its own."
            raise Invalid(f"The surfaces {one} and {other} both have a tool {', '.join(shared[:5])}.", hint=hint)


def surface_folder(name: str) -> Path:
    """Return the folder of a surface, with its offer or contract."""
    return Path(holdfast.__file__).parent / "surfaces" / name.replace("-", "_")


def tool_to_json(tool: Tool) -> Json:
    """Return a tool as it is listed."""
    # Hints equal to the protocol's default are left out, and those that mean nothing for a read-only tool.
    annotations: Json = {"readOnlyHint": tool.read_only, "openWorldHint": False}
    if not tool.read_only:
        annotations |= {"destructiveHint": tool.destructive} | ({"idempotentHint": True} if tool.idempotent else {})
    # `additionalProperties` is left out: an unknown argument gets an error that suggests the right name.
    schema = {name: part for name, part in tool.schema.items() if name != "additionalProperties"}
    return {**_described(tool), "inputSchema": schema, "annotations": annotations}


def _described(one: Tool | Resource) -> Json:
    return {"name": one.name, "title": one.title, "description": one.description}


Handler = Callable[[Server, Json, bool, Notify], Json]
# Lists are always in the same order.
_BOTH: dict[str, Handler] = {
    "tools/list": lambda server, *_: {"tools": server.offer.tools},
    "tools/call": call_tool,
    "resources/list": lambda server, *_: {"resources": server.offer.resources},
    "resources/templates/list": lambda server, *_: {"resourceTemplates": server.offer.templates},
    "resources/read": read_resource,
    "prompts/list": lambda server, *_: {"prompts": server.offer.prompts},
    "prompts/get": get_prompt,
}
_LEGACY: dict[str, Handler] = {"initialize": introduce, "ping": lambda *_: {}, **_BOTH}
_MODERN: dict[str, Handler] = {"server/discover": introduce, **_BOTH}
# For how long a client may keep a result: the offer does not change while a server runs, a resource with every write.
_KEPT_MS = {method: 3_600_000 for method in _MODERN if method.endswith(("/discover", "/list"))} | {"resources/read": 0}
