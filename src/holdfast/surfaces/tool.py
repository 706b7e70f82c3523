"""Tools as data: a surface is a named table of them, and calling one is the same for every host."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from holdfast.model.errors import HoldfastError, NotFound
from holdfast.surfaces.schema import Schema, check_arguments, schema_of
from holdfast.verbs.memory import Memory


@dataclass
class Call:
    """What a tool is called with besides its arguments: the memory, opened at the first need."""

    open: Callable[[], Memory]

    @cached_property
    def memory(self) -> Memory:
        """The open memory."""
        return self.open()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its name and schema, what it does, and what a host may assume of it."""

    name: str
    title: str
    description: str
    schema: Schema
    run: Callable[..., Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the caller reads, and whether the call failed."""

    text: str
    failed: bool = False


def _as_text(result: Any) -> str:
    return str(result)


def _as_error(problem: HoldfastError) -> str:
    return str(problem)


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A table of tools with the way its users expect results and errors to look."""

    name: str
    instructions: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    present: Callable[[Any], str] = _as_text
    present_error: Callable[[HoldfastError], str] = _as_error

    def tool(
        self, title: str, *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a function to the table: its name, docstring and signature are the tool's."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__
            self.tools[name] = Tool(
                name=name,
                title=title,
                description=" ".join((function.__doc__ or "").split()),
                schema=schema_of(function),
                run=function,
                read_only=read_only,
                destructive=destructive,
                idempotent=idempotent or read_only,
            )
            return function

        return add

    def call(self, call: Call, name: str, arguments: dict[str, Any]) -> Answer:
        """Check the arguments, run the tool and present what comes of it. Only bugs get out as exceptions."""
        tool = self.tools.get(self.aliases.get(name, name))
        try:
            if tool is None:
                raise NotFound(f"There is no tool {name}.", hint=f"Tools are {', '.join(self.tools)}.")
            given = check_arguments(tool.schema, arguments, tool.name)
            return Answer(
                text=self.present(tool.run(call, **{key: item for key, item in given.items() if item is not None}))
            )
        except HoldfastError as problem:
            return Answer(text=self.present_error(problem), failed=True)
