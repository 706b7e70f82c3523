"""JSON that is nested thousands of levels deep, wherever JSON from outside is read: a refusal in plain words, never a crash."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp import stdio
from holdfast.hosts.mcp.protocol import INVALID_PARAMS
from holdfast.hosts.mcp.serving import serving
from holdfast.hosts.setup import jsontext, tomltext
from holdfast.model.errors import InvalidFile
from holdfast.model.foreign_json import DEEPEST, NotJson, TooDeep, parse_json
from tests.hosts.running import Run, answer, kept, runner
from tests.rows import each, refused, rows, sampled

DEPTHS = (DEEPEST + 1, 500, 900, 10_000, 200_000)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def objects(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.fixture
def run(tmp_path: Path, own_home: Path) -> Run:
    (tmp_path / "work").mkdir()
    return runner(tmp_path / "work", own_home)


@each("make", [nested, objects])
def test_only_json_up_to_the_limit_is_parsed(make: Callable[[int], str]) -> None:
    assert parse_json(make(DEEPEST)) == json.loads(make(DEEPEST))
    for depth in DEPTHS:
        refused(TooDeep, parse_json, make(depth), says="nested more than 100 levels deep")


def test_json_that_is_too_long_or_broken_is_refused() -> None:
    refused(NotJson, parse_json, b'"12345678901"', 10, says="longer than 10 bytes")
    for broken in (b"\xff\xfe", b"{", b"", "1" * 5_000):
        refused(NotJson, parse_json, broken)


@pytest.mark.parametrize("depth", sampled([DEEPEST + 1, 10_000], 2))
@pytest.mark.parametrize("command", rows("commands_that_parse_json"), ids=" ".join)
def test_a_command_refuses_it_in_plain_words(tmp_path: Path, run: Run, command: list[str], depth: int) -> None:
    deep = f'[{{"text": "x", "more": {objects(depth)}}}]'
    file = tmp_path / "deep.json"
    file.write_text(deep)
    run("session", "start")
    before = answer(run("status", "--json"))
    done = run(*(part.format(file=file, text=objects(min(depth, 9_000))) for part in command), stdin=deep)
    said = done.stderr + done.stdout
    assert ("Traceback" in said, "RecursionError" in said) == (False, False), said
    if command[-2:] == ["--from", "file"]:
        assert "nested" in said  # an importer remarks on what it leaves alone
    else:
        assert done.returncode == 64, said
        assert answer(run("status", "--json")) == before


def test_an_export_with_one_deep_line_is_refused_whole(tmp_path: Path, run: Run) -> None:
    kept(run, "The deploy needs two approvals.")
    lines = run("store", "export").stdout.splitlines()
    event = json.loads(lines[-1])
    event["data"]["extra"] = json.loads(objects(DEEPEST))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join([*lines, json.dumps(event).replace('"a": 1', f'"a": {objects(10_000)}')]) + "\n")
    done = run("store", "import", str(file), HOLDFAST_HOME=str(tmp_path / "other"))
    assert (done.returncode, "nested more than 100 levels deep" in done.stderr) == (64, True), done.stderr


def _answers(home: Path, *frames: str) -> list[dict[str, Any]]:
    flags = {"home": str(home), "embedder": "none", "project": "shop", "starters": "false"}
    source, sink = io.BytesIO("".join(f"{frame}\n" for frame in frames).encode()), io.BytesIO()
    with serving(["core"], flags) as server:
        stdio.serve(server, source, sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_a_message_to_the_mcp_server_is_refused_under_its_own_id(tmp_path: Path) -> None:
    call = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"remember","arguments":{"text":"x","fields":%s}},"id":%s}'
    deep = [call % (objects(depth), f'"a-{depth}"') for depth in DEPTHS[:-1]]
    texts = [call % (json.dumps(objects(depth)), depth) for depth in DEPTHS[:-1]]
    answers = _answers(tmp_path, *deep, *texts, call % ("{}", "8"))
    for depth, told in zip(DEPTHS, answers[:4], strict=False):
        assert (told["id"], told["error"]["code"]) == (f"a-{depth}", INVALID_PARAMS), told
        assert "nested more than 100 levels deep" in str(told["error"])
    assert [(told["id"], told["result"]["isError"]) for told in answers[4:]] == [
        *((n, True) for n in DEPTHS[:-1]),
        (8, False),
    ]


@each("depth", [DEEPEST + 1, 900, 10_000])
def test_a_client_s_file_is_left_alone(depth: int) -> None:
    for text in (objects(depth), "// a comment\n" + objects(depth)):
        refused(InvalidFile, jsontext.value_of, text, says="nested more than 100 levels deep")
        refused(
            InvalidFile, jsontext.put, text, ("mcpServers", "holdfast"), {}, says="nested more than 100 levels deep"
        )
    if depth > sys.getrecursionlimit():
        refused(InvalidFile, tomltext.value_of, "a = " + nested(depth))
