"""Surfaces: tables of tools, resources and prompts that every host calls in the same way.

Those of other systems have a contract: contract.json lists their tools, rows of ours implement them (`maps.surface_of`). Clients
list the tools from the contract alone, so listing imports nothing. Their arguments are read leniently, as in the original
systems: unknown ones are ignored, and values of the wrong type are converted where the meaning is clear.
"""

import builtins
import json
import keyword
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.foreign_json import json_or_none, with_texts
from holdfast.model.patterns import tables
from holdfast.model.text import DEEPEST, check_keepable, defused
from holdfast.surfaces.schema import MISSING, Schema, check_arguments, is_a, problems_of, schema_of

if TYPE_CHECKING:
    from holdfast.verbs.memory import Context, Memory

Function = Callable[..., Any]
_VARIABLE = re.compile(r"\\\{(\w+)\\\}")  # in an escaped URI
# What agents read instead of commands of the terminal: the tools that their surface has for the same.
HINTS = {surface: dict(rows) for surface, rows in tables(str(Path(__file__).with_name("hints.py"))).items()}
CONTRACT = "contract.json"
_COMMAND = re.compile(r"\bholdfast (?=[a-z])")


@dataclass(slots=True)
class Client:
    """The connected client: its name, empty until it sends it, and its current context, None until a session starts."""

    name: str = ""
    context: "Context | None" = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a tool: the memory, the client, and where to report progress."""

    open: "Callable[[], Memory]"  # returns the same memory every time: see `once`
    client: Client = field(default_factory=Client)
    progress: Callable[..., None] = lambda *_: None  # (done, total, message), as often as it likes: hosts send a few

    @property
    def memory(self) -> "Memory":
        """The memory, opened when first needed, in the client's current context."""
        memory = self.open()
        return memory if self.client.context is None else replace(memory, context=self.client.context)


def once(open_it: "Callable[[], Memory]") -> "Callable[[], Memory]":
    """Return a thread-safe function that opens a memory when first called and returns the same one afterwards."""
    lock, opened = threading.Lock(), cache(open_it)

    def give() -> "Memory":
        with lock:
            return opened()

    return give


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool or prompt: its name, schema and function, and the hints that hosts list about a tool."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Function
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    aliases: Sequence[str] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)  # of its parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A text that clients read by its URI; a URI with a {variable} is a template."""

    uri: str
    name: str
    title: str
    description: str
    run: Function
    mime: str = "text/plain"

    def values(self, uri: str) -> dict[str, str] | None:
        """Return the value of the variable in a URI, or None if the URI does not match this resource."""
        found = re.fullmatch(_VARIABLE.sub(r"(?P<\1>[^/]+)", re.escape(self.uri)), uri)
        return found and {name: unquote(value) for name, value in found.groupdict().items()}


def checked(one: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check arguments and return those that are not null: models often send null for what they leave out."""
    check_keepable(dict(arguments))
    given = check_arguments(one.schema, arguments, one.name)
    return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A table of tools, resources and prompts, with the format that its users expect of results and errors."""

    name: str
    instructions: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    prompts: dict[str, Tool] = field(default_factory=dict)
    fences: bool = False  # True if it writes its own fences around stored text
    numbers: bool = False  # True if its memories are called by number
    take: Callable[[Tool, Mapping[str, Any]], dict[str, Any]] = checked
    present_error: Callable[[HoldfastError], Any] = str

    def tool(self, title: str, **hints: Any) -> Callable[[Function], Function]:
        """Add a function as a tool: name, description and schema come from its name, docstring and signature."""
        return partial(_add, self.tools, title, hints)

    def prompt(self, title: str) -> Callable[[Function], Function]:
        """Add a function that returns a message; its parameters, all strings, are the prompt's arguments."""
        return partial(_add, self.prompts, title, {})

    def resource(self, uri: str, title: str, **more: str) -> Callable[[Function], Function]:
        """Add a function that returns the text at a URI, whose first part is its name; the {variable} of the URI is its parameter."""

        def add(function: Function) -> Function:
            name = uri.partition("//")[2].partition("/")[0]
            assert list(signature(function).parameters)[1:] == re.findall(r"\{(\w+)\}", uri), uri
            described = description_of(function)
            self.resources[uri] = Resource(uri=uri, name=name, title=title, description=described, run=function, **more)
            return function

        return add

    def call(self, call: Call, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Check the arguments and run the tool; return its result or error as text, and whether it failed. Only bugs raise."""
        tool = self.tools[self.aliases.get(name, name)]
        try:
            result, failed = tool.run(call, **self.take(tool, arguments)), False
        except HoldfastError as problem:
            problem.hint = for_agents(problem.hint, self.name)
            if self.numbers:
                from holdfast.verbs.records.read import with_numbers  # noqa: PLC0415  only for errors

                problem.message = with_numbers(lambda: call.memory, problem.message)
            result, failed = self.present_error(problem), True
        if not isinstance(result, str):  # values are defused before they become JSON, whose escapes hide some markers
            result = json.dumps(with_texts(result, defused), ensure_ascii=False, indent=2)
        return self._safe(result), failed

    def read(self, call: Call, uri: str) -> tuple[Resource, str] | None:
        """Return the resource at a URI and its text, or None if this table has no such resource."""
        for resource in self.resources.values():
            if (values := resource.values(uri)) is not None:
                return resource, self._safe(resource.run(call, **values))
        return None

    def say(self, call: Call, name: str, arguments: dict[str, Any]) -> str:
        """Check the arguments of a prompt and return its text."""
        prompt = self.prompts[name]
        return self._safe(prompt.run(call, **checked(prompt, arguments)))

    def _safe(self, text: str) -> str:
        """Return text that is safe for a model: stored text in it cannot imitate tags, chat turns or our fences."""
        return defused(text, fences=self.fences)


def _add(table: dict[str, Tool], title: str, hints: Mapping[str, Any], function: Function) -> Function:
    name, described, schema = function.__name__, description_of(function), schema_of(function)
    table[name] = Tool(name=name, title=title, description=described, schema=schema, run=function, **hints)
    return function


def description_of(function: Function) -> str:
    """Return a function's docstring on one line."""
    return " ".join((function.__doc__ or "").split())


def for_agents(hint: str, surface: str) -> str:
    """Return a hint with the surface's tools; one for which it has no tool is left for the user to act on."""
    named = _COMMAND.search(hint)
    if not named:
        return hint
    command, table = hint[named.end() :], HINTS.get(surface, {})
    fitting = [name for name in table if re.match(rf"{re.escape(name)}(?![\w-])", command)]
    return table[max(fitting, key=len)] if fitting else f"For the user: {hint}"


def read_contract(folder: Path) -> Surface:
    """Read the contract in a surface's folder: its tools and resources can be listed but not run."""
    raw = json.loads((folder / CONTRACT).read_bytes())
    tools = dict[str, Tool]()
    for one in raw["tools"]:
        own = {name: value for name, value in one.items() if name not in ("parameters", "required")}
        tools[one["name"]] = Tool(**own, schema=schema_in(one, raw.get("shared", {})), run=_not_loaded)
    return Surface(
        name=raw["name"],
        instructions=raw["instructions"],
        aliases={alias: tool.name for tool in tools.values() for alias in tool.aliases},
        tools=tools,
        resources={one["uri"]: Resource(**one, run=_not_loaded) for one in raw.get("resources", ())},
        numbers=raw.get("numbers", False),
        take=partial(arguments_of, missing=raw.get("missing", MISSING)),
    )


def schema_in(one: Mapping[str, Any], shared: Mapping[str, Schema]) -> Schema:
    """Return the schema of the arguments of a tool or path as its file has it; a parameter may name a shared one."""
    given = one.get("parameters", {})
    properties = {name: shared[schema] if isinstance(schema, str) else schema for name, schema in given.items()}
    required = {"required": one["required"]} if one.get("required") else {}
    return {"type": "object", "properties": properties} | required


def arguments_of(tool: Tool, arguments: Mapping[str, Any], missing: str = MISSING) -> dict[str, Any]:
    """Return the arguments under the function's parameter names: converted, checked, and the contract's defaults or None for the others."""
    check_keepable(dict(arguments))
    known = tool.schema["properties"]
    named = {tool.synonyms.get(name, name): value for name, value in arguments.items()} | dict(arguments)
    given = ((name, value) for name, value in named.items() if name in known and value is not None)
    values = {name: converted(known[name], value) for name, value in given}
    if problems := list(problems_of(tool.schema, values, missing)):
        message = f"Validation failed: invalid arguments for {tool.name}."
        raise Invalid(message, hint="Correct the arguments and call again.", problems=problems)
    defaults = {name: schema.get("default") for name, schema in known.items()}
    return {parameter_name(name): value for name, value in (defaults | values).items()}


def converted(schema: Schema, value: Any, depth: int = 0) -> Any:
    """Convert a value to the type of its schema where the meaning is clear: "3", "High", "[1, 2]", a single item for a list."""
    if depth > DEEPEST:
        raise Invalid(f"An argument is nested more than {DEEPEST} deep.")
    kind = schema.get("type")
    if isinstance(value, str) and kind not in ("string", None):
        read = json_or_none(value.strip().lower() if kind == "boolean" else value)
        value = read if is_a(kind, read) and not isinstance(read, str) else value
    if isinstance(value, str) and "enum" in schema:
        return next((choice for choice in schema["enum"] if _plain(choice) == _plain(value)), value)
    if kind == "string":  # a number, or a list of texts, is one text
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return ",".join(value) if texts else value
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if kind == "array":
        items = schema.get("items", {})
        return [converted(items, item, depth + 1) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        given = {name: item for name, item in value.items() if item is not None}
        return {name: converted(known.get(name, {}), item, depth + 1) for name, item in given.items()}
    return value


def parameter_name(name: str) -> str:
    """Return the Python name of a parameter: snake case, and no keyword or builtin."""
    snake = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) or hasattr(builtins, snake) else snake


def _not_loaded(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


def _plain(value: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(value).strip().lower())
