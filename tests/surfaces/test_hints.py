"""Errors for agents name tools of their surface, never a command they would have to run in a terminal."""

import json
import re
from pathlib import Path

import pytest

import holdfast
from holdfast.hosts.mcp.serving import surface_named
from holdfast.surfaces.tool import HINTS, Call, for_agents
from holdfast.verbs.memory import Memory
from tests.rows import each

SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("model", "verbs", "engine", "policy")
    for path in (Path(holdfast.__file__).parent / part).rglob("*.py")
)
UNKNOWN = "01HXYZ123ABC0000000000000A"


@pytest.mark.parametrize(
    ("surface", "tool", "arguments", "says"),
    [
        ("core", "read", {"ids": [UNKNOWN]}, "recall finds memories with their ids."),
        ("core", "thread", {"action": "resolve", "id": "#9"}, "thread(action=list) lists them."),
        ("gitmem", "archive_learning", {"id": UNKNOWN}, "search and log return ids."),
        ("gitmem", "resolve_thread", {"text_match": "nothing like it"}, "list_threads lists them."),
        ("memory-mcp", "promote", {"memory_id": 99}, "list_memories lists the ids."),
        ("claude-mem", "get_observations", {"ids": [99]}, "search shows the ids there are."),
        ("bettermemory", "memory_show", {"id": UNKNOWN}, "memory_list lists the ids."),
        ("bettermemory", "memory_rename_scope", {"old_scope": "a", "new_scope": "b"}, "memory_scope_overview"),
    ],
)
def test_an_error_names_the_tool_that_helps(
    memory: Memory, surface: str, tool: str, arguments: dict[str, object], says: str
) -> None:
    answer = surface_named(surface).call(Call(open=lambda: memory), tool, dict(arguments))
    assert answer.failed
    assert says in answer.text
    assert "holdfast " not in answer.text


@each("surface", HINTS)
def test_every_tool_that_is_named_exists(surface: str) -> None:
    words = {word for hint in HINTS[surface].values() for word in re.findall(r"^\w+|(?<=and )\w+", hint)}
    assert words <= set(surface_named(surface).tools), json.dumps(sorted(words))


@each("command", sorted({name for table in HINTS.values() for name in table}))
def test_every_command_that_is_replaced_is_named_by_a_hint(command: str) -> None:
    assert re.search(rf"holdfast {re.escape(command)}(?![\w-])", SOURCE)


def test_a_hint_without_a_tool_is_for_the_user() -> None:
    assert for_agents("Run `holdfast doctor`.", "gitmem") == "For the user: Run `holdfast doctor`."
    assert for_agents("Use other words.", "gitmem") == "Use other words."
