"""Every surface with a contract keeps it: names, parameters and schemas agree, and each tool answers over the protocol."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from holdfast.hosts.mcp.protocol import Server, surface_folder, written_offer
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.model.event import Actor
from holdfast.surfaces.tool import CONTRACT, Call, Tool, read_contract
from holdfast.verbs.memory import Memory
from tests.rows import each, sampled
from tests.serving import server_of
from tests.surfaces.conftest import Worlds
from tests.surfaces.examples import EXAMPLES, filled, world

MEMORY = {"actor": Actor(kind="agent", name="claude"), "config": {"starters": False}}
CONTRACTED = [name for name in SURFACES if (surface_folder(name) / CONTRACT).exists()]
TOOLS = [(name, tool) for name in CONTRACTED for tool in surface_named(name).tools.values()]
EACH_TOOL = each(("name", "tool"), TOOLS)


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


ODD: list[Any] = ["", "\0", "\ud800", "%", "#0", "S1", "t-zzzz", "[1", "é" * 6_000, 0, -1, 1e30, True, [None], [{}], {}]


@pytest.mark.parametrize("name", CONTRACTED)
def test_no_argument_of_any_shape_gets_out_as_an_exception(name: str, memory: Memory) -> None:
    ids = world(memory)
    server = served(name, memory.acting_in(ids["session"]))
    for tool in surface_named(name).tools.values():
        good = filled(EXAMPLES[name][tool.name], ids)
        for key, odd in sampled(product(tool.schema["properties"], ODD), 5):
            failed, text = call(server, tool.name, {**good, key: odd})
            assert text or not failed
