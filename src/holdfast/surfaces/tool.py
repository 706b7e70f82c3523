"""Surfaces: tables of tools, resources and prompts that every host calls in the same way."""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from holdfast.model.errors import HoldfastError, NotFound
from holdfast.model.fence import defused
from holdfast.model.foreign_json import with_texts
from holdfast.model.patterns import tables
from holdfast.model.text import check_keepable
from holdfast.surfaces.schema import Schema, check_arguments, schema_of

if TYPE_CHECKING:
    from holdfast.verbs.memory import Context, Memory

Function = Callable[..., Any]
Report = Callable[[float, float | None, str], None]
_VARIABLE = re.compile(r"\{(\w+)\}")
# What agents read instead of commands of the terminal: the tools that their surface has for the same.
HINTS = {surface: dict(rows) for surface, rows in tables(str(Path(__file__).with_name("hints.py"))).items()}
_COMMAND = re.compile(r"\bholdfast (?=[a-z])")


def discard_progress(_done: float, _total: float | None, _message: str) -> None:
    """Discard a progress report: the default when no client asked for it."""


@dataclass(slots=True)
class Client:
    """The connected client; its name is empty until the client sends it."""

    name: str = ""


@dataclass(slots=True)
class Acting:
    """The current context of a client, kept by its host; None until a session starts."""

    context: "Context | None" = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a tool: the memory, where to report progress, and the client with its current context."""

    open: "Callable[[], Memory]"  # returns the same memory every time: see `once`
    report: Report = discard_progress
    client: Client = field(default_factory=Client)
    acting: Acting = field(default_factory=Acting)

    @property
    def memory(self) -> "Memory":
        """The memory, opened when first needed, in the client's current context."""
        memory = self.open()
        return memory if self.acting.context is None else replace(memory, context=self.acting.context)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress; may be called often, since the host limits what it sends."""
        self.report(done, total, message)


def once(open_it: "Callable[[], Memory]") -> "Callable[[], Memory]":
    """Return a thread-safe function that opens a memory when first called and returns the same one afterwards."""
    lock, opened = threading.Lock(), list["Memory"]()

    def give() -> "Memory":
        with lock:
            if not opened:
                opened.append(open_it())
            return opened[0]

    return give


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its name, schema and function, and the hints that hosts list about it."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Function
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    aliases: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)  # of its parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A text that clients read by its URI; a URI with a {variable} is a template."""

    uri: str
    name: str
    title: str
    description: str
    mime: str
    run: Callable[..., str]

    @property
    def variable(self) -> str:
        """The name in braces; empty for a fixed URI."""
        found = _VARIABLE.search(self.uri)
        return found[1] if found else ""

    def values(self, uri: str) -> dict[str, str] | None:
        """Return the value of the variable in a URI, or None if the URI does not match this resource."""
        if not self.variable:
            return {} if uri == self.uri else None
        before, after = map(re.escape, self.uri.split(f"{{{self.variable}}}"))
        found = re.fullmatch(f"{before}([^/]+){after}", uri)
        return {self.variable: unquote(found[1])} if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text that a user selects by name and sends as a message."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The text returned to the caller, and whether the call failed."""

    text: str
    failed: bool = False


def checked(one: Tool | Prompt, arguments: Mapping[str, Any]) -> dict[str, Any]:
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
    prompts: dict[str, Prompt] = field(default_factory=dict)
    fences: bool = False  # True if it writes its own fences around stored text
    take: Callable[[Tool, Mapping[str, Any]], dict[str, Any]] = checked
    present: Callable[[Any], str] = str
    present_error: Callable[[HoldfastError], str] = str

    def tool(
        self, title: str, *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
    ) -> Callable[[Function], Function]:
        """Add a function as a tool: name, description and schema come from its name, docstring and signature."""

        def add(function: Function) -> Function:
            hints: dict[str, Any] = {
                "read_only": read_only,
                "destructive": destructive,
                "idempotent": idempotent or read_only,
            }
            self.tools[function.__name__] = Tool(**_told(function, title), **hints, schema=schema_of(function))
            return function

        return add

    def resource(self, uri: str, title: str, *, mime: str = "text/plain") -> Callable[[Function], Function]:
        """Add a function that returns the text at a URI, whose first part is its name; the {variable} of the URI is its parameter."""

        def add(function: Function) -> Function:
            name = uri.partition("//")[2].partition("/")[0]
            added = Resource(**_told(function, title) | {"name": name}, uri=uri, mime=mime)
            assert list(inspect.signature(function).parameters)[1:] == ([added.variable] if added.variable else []), uri
            self.resources[uri] = added
            return function

        return add

    def prompt(self, title: str) -> Callable[[Function], Function]:
        """Add a function that returns a message; its parameters, all strings, are the prompt's arguments."""

        def add(function: Function) -> Function:
            self.prompts[function.__name__] = Prompt(**_told(function, title), schema=schema_of(function))
            return function

        return add

    def call(self, call: Call, name: str, arguments: dict[str, Any]) -> Answer:
        """Check the arguments, run the tool and return its result or error as text. Only bugs raise."""
        tool = self.tools.get(self.aliases.get(name, name))
        try:
            if tool is None:
                raise NotFound(f"There is no tool {name}.", hint=f"Tools are {', '.join(self.tools)}.")
            result = tool.run(call, **self.take(tool, arguments))
            # Values are defused before they become JSON, whose escapes hide some markers.
            return Answer(
                text=self._safe(self.present(result if isinstance(result, str) else with_texts(result, defused)))
            )
        except HoldfastError as problem:
            problem.hint = for_agents(problem.hint, self.name)
            return Answer(text=self._safe(self.present_error(problem)), failed=True)

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


def _told(function: Function, title: str) -> dict[str, Any]:
    return {"name": function.__name__, "title": title, "description": description_of(function), "run": function}


def description_of(function: Function) -> str:
    """Return a function's docstring on one line."""
    return " ".join((function.__doc__ or "").split())


def for_agents(hint: str, surface: str) -> str:
    """Return a hint with the surface's tools; one for which it has no tool is left for the user to act on."""
    named = _COMMAND.search(hint)
    if not named:
        return hint
    command, table = hint[named.end() :], HINTS.get(surface, {})
    for name in sorted(table, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?![\w-])", command):
            return table[name]
    return f"For the user: {hint}"
