"""Tools, resources and prompts as data: a surface is a table of them, and using one is the same for every host."""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from holdfast.model.errors import HoldfastError, NotFound
from holdfast.model.fence import defused, defused_value
from holdfast.model.text import check_keepable
from holdfast.surfaces.schema import Schema, check_arguments, schema_of

if TYPE_CHECKING:
    from holdfast.verbs.memory import Memory

Function = Callable[..., Any]
Report = Callable[[float, float | None, str], None]
_VARIABLE = re.compile(r"\{(\w+)\}")


def unheard(_done: float, _total: float | None, _message: str) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class Client:
    """Who is at the other end, as far as it has said."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool is called with besides its arguments: the memory, and somebody who waits. One for each request."""

    open: "Callable[[], Memory]"  # gives the same memory every time: see `once`
    report: Report = unheard
    client: Client = field(default_factory=Client)

    @property
    def memory(self) -> "Memory":
        """The memory, opened at the first need."""
        return self.open()

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is; often is fine, the host sends what is worth sending."""
        self.report(done, total, message)


def once(open_it: "Callable[[], Memory]") -> "Callable[[], Memory]":
    """Give a function that opens a memory at the first need and gives the same one from then on, to any thread."""
    lock, opened = threading.Lock(), list["Memory"]()

    def give() -> "Memory":
        with lock:
            if not opened:
                opened.append(open_it())
            return opened[0]

    return give


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its name and schema, what it does, and what a host may assume of it."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Function
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    synonyms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A text that clients read by its address; one with a {variable} in it stands for many."""

    uri: str
    name: str
    title: str
    description: str
    mime: str
    run: Callable[..., str]

    @property
    def variable(self) -> str:
        """The name in braces; empty for a fixed address."""
        found = _VARIABLE.search(self.uri)
        return found[1] if found else ""

    def values(self, uri: str) -> dict[str, str] | None:
        """Give what the variable stands for in an address, or None if that is not one of this resource."""
        if not self.variable:
            return {} if uri == self.uri else None
        before, after = map(re.escape, self.uri.split(f"{{{self.variable}}}"))
        found = re.fullmatch(f"{before}([^/]+){after}", uri)
        return {self.variable: unquote(found[1])} if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text that a person picks by name and that becomes their message."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the caller reads, and whether the call failed."""

    text: str
    failed: bool = False


def checked(one: Tool | Prompt, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check arguments and give those that say something: models often send null for what they leave out."""
    check_keepable(dict(arguments))
    given = check_arguments(one.schema, arguments, one.name)
    return {name: value for name, value in given.items() if value is not None}


def _as_text(result: Any) -> str:
    return str(result)


def _as_error(problem: HoldfastError) -> str:
    return str(problem)


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A table of tools, resources and prompts with the way its users expect results and errors to look."""

    name: str
    instructions: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    prompts: dict[str, Prompt] = field(default_factory=dict)
    fences: bool = False  # whether it writes fences of its own around stored text
    take: Callable[[Tool, Mapping[str, Any]], dict[str, Any]] = checked
    present: Callable[[Any], str] = _as_text
    present_error: Callable[[HoldfastError], str] = _as_error

    def tool(
        self, title: str, *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
    ) -> Callable[[Function], Function]:
        """Add a function to the table: its name, docstring and signature are the tool's."""

        def add(function: Function) -> Function:
            name = function.__name__
            self.tools[name] = Tool(
                name=name,
                title=title,
                description=description_of(function),
                schema=schema_of(function),
                run=function,
                read_only=read_only,
                destructive=destructive,
                idempotent=idempotent or read_only,
            )
            return function

        return add

    def resource(self, uri: str, title: str, *, mime: str = "text/plain") -> Callable[[Function], Function]:
        """Add a function that gives the text at an address; the {variable} of the address is its parameter."""

        def add(function: Function) -> Function:
            added = Resource(
                uri=uri,
                name=function.__name__,
                title=title,
                description=description_of(function),
                mime=mime,
                run=function,
            )
            assert _parameters(function) == ([added.variable] if added.variable else []), uri
            self.resources[uri] = added
            return function

        return add

    def prompt(self, title: str) -> Callable[[Function], Function]:
        """Add a function that gives the text of a message; its parameters, all strings, are the prompt's arguments."""

        def add(function: Function) -> Function:
            name = function.__name__
            self.prompts[name] = Prompt(
                name=name,
                title=title,
                description=description_of(function),
                schema=schema_of(function),
                run=function,
            )
            return function

        return add

    def call(self, call: Call, name: str, arguments: dict[str, Any]) -> Answer:
        """Check the arguments, run the tool and present what comes of it. Only bugs get out as exceptions."""
        tool = self.tools.get(self.aliases.get(name, name))
        try:
            if tool is None:
                raise NotFound(f"There is no tool {name}.", hint=f"Tools are {', '.join(self.tools)}.")
            return Answer(text=self._presented(tool.run(call, **self.take(tool, arguments))))
        except HoldfastError as problem:
            return Answer(text=self._safe(self.present_error(problem)), failed=True)

    def read(self, call: Call, uri: str) -> tuple[Resource, str] | None:
        """Give the resource at an address with its text, or None if no resource of this table is there."""
        for resource in self.resources.values():
            if (values := resource.values(uri)) is not None:
                return resource, self._safe(resource.run(call, **values))
        return None

    def say(self, call: Call, name: str, arguments: dict[str, Any]) -> str:
        """Check the arguments of a prompt and give its text."""
        prompt = self.prompts[name]
        return self._safe(prompt.run(call, **checked(prompt, arguments)))

    def _presented(self, result: Any) -> str:
        """Return a result as its users expect it; texts are defused before they are written as JSON, which escapes some of what gives them away."""
        return self._safe(self.present(result if isinstance(result, str) else defused_value(result)))

    def _safe(self, text: str) -> str:
        """Give what a model may read: stored text in it passes for nobody else's words."""
        return defused(text, fences=self.fences)


def description_of(function: Function) -> str:
    """Return a function's docstring on one line."""
    return " ".join((function.__doc__ or "").split())


def _parameters(function: Function) -> list[str]:
    """Give the parameters after the first, which is the call."""
    return list(inspect.signature(function).parameters)[1:]
