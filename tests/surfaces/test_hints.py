"""Errors for agents name tools of their surface, never a command they would have to run in a terminal."""

import re
from pathlib import Path

import holdfast
from holdfast.hosts.mcp.serving import surface_named
from holdfast.surfaces.tool import HINTS, Call, for_agents
from holdfast.verbs.memory import Memory
from tests.rows import each, examples

SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("model", "verbs", "engine", "policy")
    for path in (Path(holdfast.__file__).parent / part).rglob("*.py")
)
UNKNOWN = "01HXYZ123ABC0000000000000A"


@examples
def test_an_error_names_the_tool_that_helps(
    memory: Memory, surface: str, tool: str, arguments: dict[str, object], says: str
) -> None:
    text, failed = surface_named(surface).call(Call(open=lambda: memory), tool, dict(arguments))
    assert failed
    assert says in text
    assert "holdfast " not in text


@each("surface", HINTS)
def test_every_tool_that_is_named_exists_and_every_command_that_is_replaced_is_named_by_a_hint(surface: str) -> None:
    words = {word for hint in HINTS[surface].values() for word in re.findall(r"^\w+|(?<=and )\w+", hint)}
    assert words <= set(surface_named(surface).tools)
    assert [name for name in HINTS[surface] if not re.search(rf"holdfast {re.escape(name)}(?![\w-])", SOURCE)] == []


def test_a_hint_without_a_tool_is_for_the_user() -> None:
    assert for_agents("Run `holdfast doctor`.", "gitmem") == "For the user: Run `holdfast doctor`."
    assert for_agents("Use other words.", "gitmem") == "Use other words."
