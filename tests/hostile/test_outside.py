"""What comes from outside: frames, files, notes and nested JSON that somebody made up. Each is taken, or refused in our own words."""

import gzip
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, closing
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.adapters.replicas.git_notes import event_of
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.adapters.replicas.record_file import file_parts
from holdfast.compose.adapters import IMPORTERS, foreign_items
from holdfast.hosts.mcp import stdio
from holdfast.hosts.mcp.protocol import INTERNAL, INVALID_PARAMS, Server
from holdfast.hosts.mcp.serving import serving
from holdfast.hosts.setup import jsontext, tomltext
from holdfast.model.errors import HoldfastError, InvalidFile
from holdfast.model.foreign_json import DEEPEST, NotJson, TooDeep, parse_json
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.exchange.jsonl import import_lines
from holdfast.verbs.memory import Memory
from tests import engines
from tests.conftest import Time, contents, keep, make_memory, new_file, new_folder
from tests.hostile.texts import DEEP, NASTY, TIMES, texts, tried, values
from tests.hosts.running import Run, answer, kept, runner
from tests.hosts.test_help import EVERY
from tests.rows import WHOLE, each, refused, rows, sampled

TOOLS = "recall read remember revise judge forget session thread brief absorb explore help".split()
NAMES = (
    "text query ids id kind action reason fields scopes tags limit budget title note verdict items at project".split()
)
METHODS = ("tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "ping", "server/discover")
arguments = st.dictionaries(st.one_of(st.sampled_from(NAMES), texts), values, max_size=4)
frames = st.one_of(
    st.binary(max_size=60),
    values.map(lambda value: _json(value)),  # noqa: PLW0108  it is defined below
    st.builds(
        lambda name, given: _json(_request("tools/call", {"name": name, "arguments": given})),
        st.one_of(st.sampled_from(TOOLS), texts),
        st.one_of(arguments, values),
    ),
    st.builds(lambda method, given: _json(_request(method, given)), st.one_of(st.sampled_from(METHODS), texts), values),
)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode(errors="replace")


def _flags(home: Path) -> dict[str, str]:
    return {"home": str(home), "embedder": "none", "project": "shop", "starters": "false"}


def _answers(server: Server, frames: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return what a server answers to the lines it reads."""
    source, sink = io.BytesIO(b"".join(frame.replace(b"\n", b" ") + b"\n" for frame in frames)), io.BytesIO()
    stdio.serve(server, source, sink)
    return [json.loads(line) for line in sink.getvalue().split(b"\n") if line]


def _request(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@tried(15)
@given(some=st.lists(frames, min_size=1, max_size=5))
def test_any_frame_is_answered_without_an_internal_error(
    tmp_path_factory: pytest.TempPathFactory, some: list[bytes]
) -> None:
    with serving(["core"], _flags(tmp_path_factory.getbasetemp() / "frames")) as server:
        answers = _answers(server, some)
    assert [one for one in answers if one.get("error", {}).get("code") == INTERNAL] == [], some


OUT_OF_BOUNDS = (10**30, -(10**30), -1, 0, 1e308, float("nan"), float("inf"), True)
ODD: tuple[Any, ...] = ("", "\0", "%", "#0", "S1", "t-zzzz", "[1", "é" * 6_000, [None], [{}], {}, True)
DATES = ("0000-01-01", "-0001-01-01", "9999-12-31T23:59:59-23:59", "99999-01-01", "1e9", "9" * 30)


def _odd(schema: dict[str, Any]) -> tuple[Any, ...]:
    """Give numbers and dates out of bounds for a parameter that may take one."""
    types = str(schema)
    is_number = "'integer'" in types or "'number'" in types
    return OUT_OF_BOUNDS if is_number else DATES if "'string'" in types and "enum" not in schema else ()


def _filled(schema: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """Give the parameters a tool needs, and all it takes, this text in the shape they ask for, so that it gets far."""
    shapes: dict[str, Any] = {"array": [text], "object": {text: text}, "integer": 3, "number": 0.5, "boolean": True}
    whole = {}
    for name, one in schema.get("properties", {}).items():
        said = one.get("type", "string")
        shape = said[0] if isinstance(said, list) else said
        whole[name] = one["enum"][0] if "enum" in one else shapes.get(shape, text)
    yield {name: whole[name] for name in schema.get("required", ())}
    yield whole


@pytest.mark.parametrize("surface", ["core", "bettermemory", "claude-mem", "gitmem", "memory-mcp"])
def test_any_nasty_text_in_every_parameter_of_every_surface_is_answered(tmp_path: Path, surface: str) -> None:
    one_in = 1 if TIMES > 1 else 6 if WHOLE else 24
    deep = json.loads('{"a": ' * 60 + "1" + "}" * 60)
    with chdir(tmp_path), serving([surface], _flags(tmp_path / "store")) as server:
        tools = [(tool["name"], tool["inputSchema"]) for tool in server.offer.tools]
        calls = [
            {"name": name, "arguments": given}
            for place, (name, schema) in enumerate(tools)
            for text in [text for nth, text in enumerate(NASTY) if (nth + place) % one_in == 0]
            for given in _filled(schema, text)
        ]
        for name, schema in tools:
            given, _ = _filled(schema, "deploy")
            odd = sampled(
                ((one, value) for one in schema["properties"] for value in _odd(schema["properties"][one])), 3
            )
            odd += [(one, value) for one in schema["properties"] for value in (deep, *ODD)]
            calls += [{"name": name, "arguments": {**given, one: value}} for one, value in odd]
        answers = _answers(server, (_json(_request("tools/call", call)) for call in calls))
    assert len(answers) == len(calls) > len(TOOLS)
    wrong = [one for one in answers if one.get("error", {}).get("code") == INTERNAL or "Traceback" in str(one)]
    assert wrong == []
    with make_memory(tmp_path, Time()) as memory:
        before = contents(memory.store)
        memory.store.rebuild()
        assert contents(memory.store) == before


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.whole)], indirect=True)
def test_no_address_of_a_resource_leads_elsewhere(tmp_path: Path, engine: str) -> None:
    """Only the exact address of a memory or session returns it; every other is refused as unknown or invalid."""
    flags = {"home": str(tmp_path / "store"), "embedder": "none", "starters": "false"}
    flags |= {"database": engines.schema(str(tmp_path / "store"))} if engine == "postgres" else {}
    with make_memory(tmp_path, Time()) as memory:
        about = keep(memory, "The cellar has no light.").id
    with serving(["core"], {**flags, "project": "example.org/acme/shop"}) as server:
        fixed = [one["uri"] for one in server.offer.resources]
        stems = ("holdfast://record/", "holdfast://session/")
        exact = [stems[0] + name for name in (about, about.lower(), f"%{ord(about[0]):x}{about[1:]}")]
        other = [one.format(stem, about) for stem in stems for one in rows("addresses_that_lead_to_no_resource")]
        other += [stem + quote(text, safe="", errors="replace") for stem in stems for text in NASTY if text != about]
        other += [stem + text for stem in stems for text in NASTY] + [*NASTY]
        asked = [*fixed, *exact, *(uri for uri in other if uri not in exact)]
        calls = [_request("resources/read", {"uri": uri}) | {"id": place} for place, uri in enumerate(asked)]
        calls += [_request("resources/read", {"uri": odd}) for odd in (None, 7, ["holdfast://hot"], {"a": 1}, True)]
        answers = _answers(server, map(_json, calls))
    read = {asked[one["id"]] for one in answers if "result" in one}
    assert (len(answers), sorted(read - {*fixed, *exact})) == (len(calls), [])
    assert {*fixed, *exact} - read == set()
    broken = [one["error"] for one in answers if "error" in one and one["error"]["code"] not in (-32002, -32602)]
    assert broken == []


fronts = st.dictionaries(
    st.one_of(st.sampled_from(("id", "kind", "scopes", "fields", "created_at", "by", "links", "extra")), texts),
    values,
    max_size=4,
)


def taken(read: Callable[..., object], *given: Any) -> None:
    """Read something; it may be refused, in our own words."""
    try:
        read(*given)
    except HoldfastError as problem:
        assert problem.message  # noqa: PT017  the refusal is what is tested


@tried(80)
@given(front=st.one_of(texts, fronts.map(json.dumps)), said=st.one_of(texts, values.map(json.dumps)))
def test_any_markdown_and_any_line_of_a_note_is_read_or_refused(front: str, said: str) -> None:
    for content in (said, f"---\n{front}\n---\n{said}", f"---\n{front}"):
        taken(file_parts, content)
    for line in (f"{front}\t{said}", f"{said}\t{front}"):
        taken(event_of, line)


@tried(20)
@given(
    system=st.sampled_from(sorted(IMPORTERS)),
    name=st.sampled_from(("a.md", "a.json", "a.jsonl", "memory.db", "learnings.json", "2026.md", "a.jsonl.gz")),
    content=st.one_of(
        st.binary(max_size=200),
        texts.map(lambda text: text.encode(errors="surrogatepass")),
        st.lists(fronts, max_size=3).map(_json),
        fronts.map(lambda front: f"---\n{json.dumps(front)}\n---\ntext".encode(errors="replace")),
    ),
)
def test_any_bytes_are_read_or_refused_by_every_importer(
    tmp_path_factory: pytest.TempPathFactory, system: str, name: str, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("imported")
    (folder / name).write_bytes(content)
    with make_memory(folder / "memory", Time()) as memory:
        for place in (folder, folder / name):
            _imported(memory, system, place)


def _imported(memory: Memory, system: str, place: Path, *, dry_run: bool = False) -> None:
    taken(lambda: import_items(memory, system, foreign_items(system, place), dry_run=dry_run))


def test_bombs_are_refused_at_once(memory: Memory, tmp_path: Path) -> None:
    """Small on disk or on the wire, huge when taken at their word."""
    started = time.process_time()
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
    )
    files = new_folder(tmp_path / "files")
    (files / "laughs.md").write_text(f"---\n{laughs}---\ntext")
    (files / "deep.md").write_text(f"---\n{DEEP}\n---\ntext")
    (files / "large.md").write_text("x" * (5_000_000 if WHOLE else 1_000_000))
    (files / "events.jsonl.gz").write_bytes(gzip.compress(b"x" * (200_000_000 if WHOLE else 60_000_000), 1))
    (files / "deep.json").write_text(DEEP)
    for system, place in product(IMPORTERS, (files, *files.iterdir())):
        _imported(memory, system, place, dry_run=True)
    refused(HoldfastError, file_parts, f"---\n{laughs}---\ntext")
    for line in (DEEP, "x" * (50_000_000 if WHOLE else 5_000_000)):
        refused(HoldfastError, import_lines, memory, ['{"holdfast": "export", "format": 1}', line])
    assert time.process_time() - started < 60


def test_links_and_special_files_are_passed_over(tmp_path: Path) -> None:
    folder, secret = new_folder(tmp_path / "memories"), new_file(tmp_path / "secret.txt", "not for anybody")
    (folder / "link.md").symlink_to(secret)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    (folder / "large.md").write_bytes(b"x" * 500_000)
    (folder / "fine.md").write_text("This one is fine.")
    with closing(MarkdownFolder(folder, tmp_path / "states")) as replica:
        arrived = replica.read()
    assert [edit.where for edit in arrived.edits] == ["fine.md"]
    assert sorted(remark.where for remark in arrived.remarks) == ["binary.md", "large.md"]


LEAVES_ALONE = set("web watch mcp serve work init server bench hook".split())  # they serve, or change the machine
COMMANDS = [
    (path, each) for path, each in EVERY.items() if not isinstance(each, click.Group) and not LEAVES_ALONE & {*path}
]
DATED = {"--since", "--until", "--before", "--after", "--at", "--on", "--as-of"}


def test_every_number_and_date_of_every_command_is_answered(tmp_path: Path, own_home: Path) -> None:
    run: Run = runner(tmp_path, own_home)
    about = kept(run, "The deploy needs two approvals.")
    failures, asked = {}, list[tuple[str, ...]]()
    for path, command in COMMANDS:
        needed = [about for one in command.params if isinstance(one, click.Argument) and one.required]
        asked += [(*path, *needed, option) for option in options_of(command)]
    assert len(asked) > 60
    for arguments in sampled(asked, 3):
        done = run(*arguments, stdin="")
        if (done.returncode not in range(6) and done.returncode != 64) or "Traceback" in done.stderr:
            failures[" ".join(arguments)] = (done.returncode, done.stderr[-300:])
    assert failures == {}


def options_of(command: click.Command) -> Iterator[str]:
    """Yield each option of a command that takes a number or a date, with values out of bounds."""
    for option in command.params:
        is_number = option.type.name in ("integer", "float", "integer range", "float range")
        if isinstance(option, click.Option) and not option.is_flag and (is_number or DATED & set(option.opts)):
            values = (str(10**30), "-1", "nan") if is_number else DATES[:4]
            yield from (f"{option.opts[0]}={value}" for value in values)


DEPTHS = (DEEPEST + 1, 500, 900, 10_000, 200_000)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def objects(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@each("make", [nested, objects])
def test_only_json_up_to_the_limit_is_parsed(make: Callable[[int], str]) -> None:
    assert parse_json(make(DEEPEST)) == json.loads(make(DEEPEST))
    for depth in DEPTHS:
        refused(TooDeep, parse_json, make(depth), says="nested more than 100 levels deep")
    refused(NotJson, parse_json, b'"12345678901"', 10, says="longer than 10 bytes")
    for broken in (b"\xff\xfe", b"{", b"", "1" * 5_000):
        refused(NotJson, parse_json, broken)


@pytest.mark.parametrize("depth", sampled([DEEPEST + 1, 10_000], 2))
@pytest.mark.parametrize("command", rows("commands_that_parse_json"), ids=" ".join)
def test_a_command_refuses_it_in_plain_words(tmp_path: Path, own_home: Path, command: list[str], depth: int) -> None:
    deep = f'[{{"text": "x", "more": {objects(depth)}}}]'
    file, run = new_file(tmp_path / "deep.json", deep), runner(new_folder(tmp_path / "work"), own_home)
    run("session", "start")
    before = answer(run("status", "--json"))
    done = run(*(part.format(file=file, text=objects(min(depth, 9_000))) for part in command), stdin=deep)
    said = done.stderr + done.stdout
    assert ("Traceback" in said, "RecursionError" in said) == (False, False), said
    if command[-2:] == ["--from", "file"]:
        assert "nested" in said  # an importer remarks on what it leaves alone
    else:
        assert (done.returncode, answer(run("status", "--json"))) == (64, before), said


def test_a_message_to_the_mcp_server_is_refused_under_its_own_id(tmp_path: Path) -> None:
    call = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"remember","arguments":{"text":"x","fields":%s}},"id":%s}'
    deep = [call % (objects(depth), f'"a-{depth}"') for depth in DEPTHS[:-1]]
    texts = [call % (json.dumps(objects(depth)), depth) for depth in DEPTHS[:-1]]
    with serving(["core"], _flags(tmp_path)) as server:
        answers = _answers(server, (frame.encode() for frame in (*deep, *texts, call % ("{}", "8"))))
    for depth, told in zip(DEPTHS, answers[:4], strict=False):
        assert (told["id"], told["error"]["code"]) == (f"a-{depth}", INVALID_PARAMS), told
        assert "nested more than 100 levels deep" in str(told["error"])
    told_texts = [(told["id"], told["result"]["isError"]) for told in answers[4:]]
    assert told_texts == [*((depth, True) for depth in DEPTHS[:-1]), (8, False)]


@each("depth", [DEEPEST + 1, 900, 10_000])
def test_a_client_s_file_is_left_alone(depth: int) -> None:
    says = "nested more than 100 levels deep"
    for text in (objects(depth), "// a comment\n" + objects(depth)):
        refused(InvalidFile, jsontext.value_of, text, says=says)
        refused(InvalidFile, jsontext.put, text, ("mcpServers", "holdfast"), {}, says=says)
    if depth > sys.getrecursionlimit():
        refused(InvalidFile, tomltext.value_of, "a = " + nested(depth))
