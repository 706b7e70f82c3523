"""Numbers and dates beyond every bound, in every place that takes one: an answer or a refusal in plain words."""

import io
import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import click
import pytest

from holdfast.hosts.cli.main import cli
from holdfast.hosts.mcp import stdio
from holdfast.hosts.mcp.serving import SURFACES, serving
from tests.hosts.running import Run, kept, runner
from tests.rows import sampled

NUMBERS = (10**30, -(10**30), -1, 0, 1e308, float("nan"), float("inf"), True)
DATES = ("0000-01-01", "-0001-01-01", "9999-12-31T23:59:59-23:59", "99999-01-01", "1e9", "9" * 30)
LEAVES_ALONE = set("web watch mcp serve work init server bench hook".split())  # they serve, or change the machine


@pytest.mark.parametrize("surface", SURFACES)
def test_every_number_and_date_of_every_tool_is_answered(tmp_path: Path, surface: str) -> None:
    flags = {"home": str(tmp_path / "store"), "embedder": "none", "project": "shop", "starters": "false"}
    with chdir(tmp_path), serving([surface], flags) as server:  # some tools read the folder
        calls = sampled((call for tool in server.offer.tools for call in calls_of(tool)), 3)
        frames = b"".join(json.dumps(call).encode() + b"\n" for call in calls)
        sink = io.BytesIO()
        stdio.serve(server, io.BytesIO(frames), sink)
    answers = [json.loads(line) for line in sink.getvalue().split(b"\n") if line]
    assert len(answers) == len(calls) > 10
    internal = [
        (call["params"], answer)
        for call, answer in zip(calls, answers, strict=True)
        if answer.get("error", {}).get("code") == -32603 or "Traceback" in str(answer)
    ]
    assert internal == []


def calls_of(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield calls of a tool with one number or date out of bounds, the other parameters filled in."""
    properties = tool["inputSchema"].get("properties", {})
    filled = {name: _value(properties[name]) for name in tool["inputSchema"].get("required", ())}
    for name, schema in properties.items():
        types = str(schema)
        is_number = "'integer'" in types or "'number'" in types
        for value in NUMBERS if is_number else DATES if "'string'" in types and "enum" not in schema else ():
            params = {"name": tool["name"], "arguments": {**filled, name: value}}
            yield {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _value(schema: dict[str, Any]) -> Any:
    shapes = {"array": [], "object": {}, "integer": 3, "number": 0.5, "boolean": True}
    return schema["enum"][0] if "enum" in schema else shapes.get(str(schema.get("type")), "deploy")


def test_every_number_and_date_of_every_command_is_answered(tmp_path: Path, own_home: Path) -> None:
    run: Run = runner(tmp_path, own_home)
    about = kept(run, "The deploy needs two approvals.")
    failures = {}
    asked = [
        (*path, *(about[:26] for one in command.params if isinstance(one, click.Argument) and one.required), option)
        for path, command in commands_of(cli, ())
        for option in options_of(command)
    ]
    assert len(asked) > 60
    for arguments in sampled(asked, 3):
        done = run(*arguments, stdin="")
        if (done.returncode not in range(6) and done.returncode != 64) or "Traceback" in done.stderr:
            failures[" ".join(arguments)] = (done.returncode, done.stderr[-300:])
    assert failures == {}


def options_of(command: click.Command) -> Iterator[str]:
    """Yield each option of a command that takes a number or a date, with values out of bounds."""
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag and _is_bounded(option):
            values = (str(10**30), "-1", "nan") if _is_number(option) else DATES[:4]
            yield from (f"{option.opts[0]}={value}" for value in values)


def commands_of(group: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        yield path, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command and name not in LEAVES_ALONE:
            yield from commands_of(command, (*path, name))


def _is_number(option: click.Option) -> bool:
    return option.type.name in ("integer", "float", "integer range", "float range")


def _is_bounded(option: click.Option) -> bool:
    dated = {"--since", "--until", "--before", "--after", "--at", "--on", "--as-of"}
    return _is_number(option) or bool(dated & set(option.opts))
