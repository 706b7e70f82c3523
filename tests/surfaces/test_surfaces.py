"""Every surface with a contract keeps it, each tool answers over the protocol, errors name tools, and no credential is kept."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import holdfast
from holdfast.hosts.mcp.protocol import Server, surface_folder, written_offer
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.model.event import Actor
from holdfast.surfaces.tool import CONTRACT, HINTS, Call, Tool, for_agents, read_contract
from holdfast.verbs.memory import Memory
from tests import engines
from tests.rows import each, examples, rows, sampled
from tests.serving import server_of
from tests.surfaces import golden
from tests.surfaces.conftest import Worlds
from tests.surfaces.examples import EXAMPLES, filled

MEMORY = {"actor": Actor(kind="agent", name="claude"), "config": {"starters": False}}
CONTRACTED = [name for name in SURFACES if (surface_folder(name) / CONTRACT).exists()]
TOOLS = [(name, tool) for name in CONTRACTED for tool in surface_named(name).tools.values()]
EACH_TOOL = each(("name", "tool"), TOOLS)
CORE: dict[str, list[dict[str, Any]]] = rows("calls_of_core")
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("model", "verbs", "engine", "policy")
    for path in (Path(holdfast.__file__).parent / part).rglob("*.py")
)
TOKEN, BARE = "ghp_" + "q7R2" * 9, b"q7R2q7R2q7R2"
COLOURED = f"\x1b[32m{TOKEN}\x1b[0m"  # as a terminal printed it: the code before the token ends in a letter


def served(name: str, memory: Memory) -> Server:
    return server_of(surface_named(name), Call(open=lambda: memory))


def call(server: Server, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = server.answer("tools/call", {"name": tool, "arguments": arguments})
    return result["isError"], result["content"][0]["text"]


@each("name", CONTRACTED)
def test_a_contract_is_kept_to_the_letter(name: str) -> None:
    contract, surface = read_contract(surface_folder(name)), surface_named(name)
    assert (contract.name, surface.name) == (name, name)
    assert list(surface.tools) == list(contract.tools) == list(EXAMPLES[name])
    names = [*surface.tools, *surface.aliases]
    assert len(names) == len(set(names))
    assert {(one["name"], json.dumps(one["inputSchema"])) for one in written_offer(name).tools} == {
        (tool.name, json.dumps(tool.schema)) for tool in surface.tools.values()
    }
    assert 100 < len(surface.instructions) < 2_000


@EACH_TOOL
def test_a_tool_is_described_and_its_schema_is_one(name: str, tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.schema)
    assert 30 <= len(tool.description) < 1_000
    assert tool.title
    properties = tool.schema["properties"]
    assert set(tool.schema.get("required", ())) <= set(properties)
    assert all(schema.get("type") and schema.get("description") for schema in properties.values()), name
    assert set(tool.synonyms.values()) <= set(properties)
    assert not set(tool.synonyms) & set(properties)


@EACH_TOOL
def test_a_tool_answers_a_good_call_under_each_of_its_names(
    name: str, tool: Tool, tmp_path: Path, worlds: Worlds
) -> None:
    aliases = [alias for alias, meant in surface_named(name).aliases.items() if meant == tool.name]
    for called in sampled([*aliases, tool.name], 9):
        memory, ids = worlds(tmp_path / name / called)
        with memory:
            arguments, there = filled(EXAMPLES[name][tool.name], ids), memory.acting_in(ids["session"])
            failed, text = call(served(name, there), called, {**arguments, "nobody_knows_this": 1})
        assert not failed, text
        assert text


@EACH_TOOL
def test_a_bad_call_is_a_readable_error(name: str, tool: Tool, memory: Memory) -> None:
    if not tool.schema["properties"]:
        return
    bad = {key: {"nobody": ["wants", "this"]} for key in tool.schema["properties"]}
    failed, text = call(served(name, memory), tool.name, bad)
    assert failed
    assert any(key in text for key in bad)
    if tool.schema.get("required"):
        failed, text = call(served(name, memory), tool.name, {})
        assert failed
        assert tool.schema["required"][0] in text


@pytest.mark.parametrize("name", [file.stem for file in golden.HERE.glob("*.json")])
def test_replies_are_as_written_down(name: str, tmp_path: Path) -> None:
    changed = "replies changed; if that is meant: python -m tests.surfaces.golden"
    assert golden.replayed(name, tmp_path) == golden.written(name), changed


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


@each(("name", "tool"), [(name, tool) for name in SURFACES for tool in surface_named(name).tools.values()])
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
