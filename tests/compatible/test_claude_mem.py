"""claude-mem's reference, tried literally."""

import json
import re
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from bench import stdio
from tests.adapters.stub import stub_server
from tests.compatible.conftest import CLAUDE_MEM, Place, original
from tests.compatible.scripts import scripts_in, transcript
from tests.conftest import ran
from tests.hosts.running import Terminal, wait_for

scripts_in(globals())


def test_import_asks_for_the_project(place: Place, tmp_path: Path) -> None:
    database = tmp_path / "claude-mem.db"
    with sqlite3.connect(database) as db:
        db.executescript(Path(__file__).with_name("claude_mem.sql").read_text())
    terminal = Terminal(["store", "import", "--from", "claude-mem", str(database)], tmp_path, place.environment)
    terminal.press("foo (2 memories): project here", "git@github.com:me/foo.git\n")
    assert terminal.ended() == 0
    [row] = place.tools("claude-mem")("search", query="gateway limit", format="json")["observations"]
    assert row["project"] == "github.com/me/foo"


@pytest.mark.xdist_group("claude-mem itself")
def test_the_original_answers_as_before(place: Place, tmp_path: Path) -> None:
    """claude-mem 13.25.3 writes, Holdfast imports and exports. Its hooks and its worker write; what its observer asks a model is answered by the text of a file."""
    observed, summed, saved, questions = Path(__file__).with_name("claude_mem_replies.txt").read_text().split("\n\n")
    with stub_server() as model:
        with _worker(place, tmp_path / "before", model.url) as (hook, ask):
            model.text = observed
            hook("session-init", prompt="Fix the gateway: uploads fail — warum?")
            hook("observation", tool_name="Edit", tool_input={"file_path": "nginx.conf"}, tool_response={"ok": True})
            wait_for(lambda: len(model.asked) == 2 and not ask("processing-status")["isProcessing"], 60)
            model.text = summed
            hook("summarize", transcript_path=transcript(tmp_path / "transcript.jsonl", ["I raised the limit."]))
            wait_for(lambda: ask("summaries")["items"], 60)
            hook("session-end", reason="exit")
            assert all(ask("memory/save", line)["success"] for line in saved.splitlines())
            before = [ask(question) for question in questions.split()]
            [prompt] = ask("prompts")["items"]
        with _worker(place, tmp_path / "after", model.url):
            """It makes its database."""
        place.run(f"store import --from claude-mem {tmp_path / 'before' / 'store'}")
        assert place.arrived() == {"observation active": 10, "summary active": 1}
        assert prompt["prompt_text"] in place.run("session transcript show c-1").stdout
        place.run(f"store export --as claude-mem {tmp_path / 'after' / 'store'}")
        with _worker(place, tmp_path / "after", model.url) as (hook, ask):
            assert [ask(question) for question in questions.split()] == before
            assert ask("prompts")["items"] == []  # docs/migrations/claude-mem.md


@contextmanager
def _worker(place: Place, home: Path, model: str) -> Iterator[tuple[Callable[..., None], Callable[..., Any]]]:
    """Start claude-mem's worker on a store, and stop all its processes; give how it is hooked and asked."""
    home.mkdir(exist_ok=True)
    there = stdio.Place(CLAUDE_MEM, original("claude-mem"), home)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environment = there.environment() | {"CLAUDE_MEM_WORKER_PORT": port, "CLAUDE_MEM_PROVIDER": "openrouter"}
    environment |= {"CLAUDE_MEM_OPENROUTER_BASE_URL": model, "CLAUDE_MEM_OPENROUTER_API_KEY": "none"}
    program = there.words(CLAUDE_MEM.hooks["SessionStart"])[0].split()[:3]

    def hook(event: str, *words: str, **given: Any) -> None:
        command = [*program, *(words or ("hook", "claude-code", event))]
        payload = {"session_id": "c-1", "cwd": str(place.folder), **given}
        ran(command, place.folder, env=environment, input=json.dumps(payload), check=True)

    def ask(path: str, body: str = "") -> Any:
        media = {"content-type": "application/json"}
        asked = Request(f"http://127.0.0.1:{port}/api/{path}", body.encode() or None, media)
        answer = urlopen(asked).read().decode()
        return json.loads(re.sub(r'(\\"),(?=\\")', r"\1, ", answer)) if answer[0] in "{[" else answer

    try:
        hook("", "start")
        yield hook, ask
        hook("", "stop")
    finally:
        there.kill()
