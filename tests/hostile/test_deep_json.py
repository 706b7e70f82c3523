"""JSON that is nested thousands of levels deep, wherever JSON from outside is read: a refusal in plain words, never a crash."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

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
    assert "Traceback" not in done.stderr + done.stdout
    assert "RecursionError" not in done.stderr + done.stdout
    if command[-2:] != ["--from", "file"]:  # an importer remarks on what it leaves alone
        assert done.returncode == 64, done.stderr + done.stdout
        assert answer(run("status", "--json")) == before
    else:
        assert "nested" in done.stdout + done.stderr


def test_an_export_with_one_deep_line_is_refused_whole(tmp_path: Path, run: Run) -> None:
    kept(run, "The deploy needs two approvals.")
    lines = run("store", "export").stdout.splitlines()
    event = json.loads(lines[-1])
    event["data"]["extra"] = json.loads(objects(DEEPEST))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join([*lines, json.dumps(event).replace('"a": 1', f'"a": {objects(10_000)}')]) + "\n")
    done = run("store", "import", str(file), HOLDFAST_HOME=str(tmp_path / "other"))
    assert (done.returncode, "nested more than 100 levels deep" in done.stderr) == (64, True), done.stderr


def _answers(home: Path, *frames: str) -> Iterator[dict[str, object]]:
    flags = {"home": str(home), "embedder": "none", "project": "shop", "starters": "false"}
    source, sink = io.BytesIO("".join(f"{frame}\n" for frame in frames).encode()), io.BytesIO()
    with serving(["core"], flags) as server:
        stdio.serve(server, source, sink)
    yield from map(json.loads, sink.getvalue().splitlines())


@pytest.mark.parametrize("depth", DEPTHS[:-1])
def test_a_message_to_the_mcp_server_is_refused_under_its_own_id(tmp_path: Path, depth: int) -> None:
    call = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"remember","arguments":{"text":"x","fields":%s}},"id":%s}'
    first, last = _answers(tmp_path, call % (objects(depth), '"a-7"'), call % ("{}", "8"))
    assert (first["id"], first["error"]["code"]) == ("a-7", INVALID_PARAMS), first  # type: ignore[index]
    assert "nested more than 100 levels deep" in str(first["error"])
    assert (last["id"], "error" in last) == (8, False)


@pytest.mark.parametrize("depth", DEPTHS[:-1])
def test_json_given_as_text_to_a_tool_is_refused(tmp_path: Path, depth: int) -> None:
    call = {"name": "remember", "arguments": {"text": "x", "fields": objects(depth)}}
    frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    (told,) = _answers(tmp_path, frame)
    assert "error" not in told
    assert told["result"]["isError"], told  # type: ignore[index]


@each("depth", [DEEPEST + 1, 900, 10_000])
def test_a_client_s_file_is_left_alone(depth: int) -> None:
    for text in (objects(depth), "// a comment\n" + objects(depth)):
        refused(InvalidFile, jsontext.value_of, text, says="nested more than 100 levels deep")
        with pytest.raises(InvalidFile, match="nested more than 100 levels deep"):
            jsontext.put(text, ("mcpServers", "holdfast"), {})
    if depth > sys.getrecursionlimit():
        refused(InvalidFile, tomltext.value_of, "a = " + nested(depth))
