"""Whatever text a tool is given, no credential in it reaches the disk."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces.tool import Call, Tool
from tests import engines
from tests.rows import each, rows, sampled
from tests.surfaces.conftest import Worlds
from tests.surfaces.examples import EXAMPLES, filled

TOKEN, BARE = "ghp_" + "q7R2" * 9, b"q7R2q7R2q7R2"
COLOURED = f"\x1b[32m{TOKEN}\x1b[0m"  # as a terminal printed it: the code before the token ends in a letter
CORE: dict[str, list[dict[str, Any]]] = rows("calls_of_core")
TOOLS = [(name, tool) for name in SURFACES for tool in surface_named(name).tools.values()]


def variants(value: Any, token: str) -> Iterator[Any]:
    """Give a call with a credential behind each one of its texts."""
    match value:
        case str():
            yield f"{value} {token}".strip()
        case dict():
            yield from ({**value, key: other} for key, item in value.items() for other in variants(item, token))
        case list():
            for place, item in enumerate(value):
                yield from ([*value[:place], other, *value[place + 1 :]] for other in variants(item, token))


def calls(tool: Tool, good: dict[str, Any], token: str) -> Iterator[dict[str, Any]]:
    """Give a working call with a credential in each of its texts, and in each text it could have besides."""
    yield from variants(good, token)
    for name, kind in tool.schema["properties"].items():
        if name not in good:
            yield {
                **good,
                name: {"array": [token], "object": {token: token, "password": token}}.get(str(kind.get("type")), token),
            }


@each(("name", "tool"), TOOLS)
def test_no_secret_given_to_a_tool_reaches_the_disk(name: str, tool: Tool, tmp_path: Path, worlds: Worlds) -> None:
    surface, folder = surface_named(name), tmp_path / name / tool.name
    memory, ids = worlds(folder)
    with memory:
        there = memory.acting_in(ids["session"])
        for example in CORE[tool.name] if name == "core" else [EXAMPLES[name][tool.name]]:
            both = zip(*(calls(tool, filled(example, ids), token) for token in (TOKEN, COLOURED)), strict=True)
            for arguments in sampled(chain.from_iterable(both), 3):
                surface.call(Call(open=lambda: there), tool.name, arguments)
                assert BARE not in engines.kept_bytes(folder / "store"), arguments
