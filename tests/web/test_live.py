"""What is live: server-sent events, one watcher that rests while nobody looks, and the stream in the terminal."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from tests.conftest import keep
from tests.hosts.running import Forked, preloaded, wait_for
from tests.web.running import Viewer, checkout, hook, stream


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    folder = tmp_path_factory.mktemp("live")
    code = checkout(folder / "shop", "example.org/acme/shop")
    with open_memory(load_settings(flags={"home": str(folder / "store"), "embedder": "none"}), folder=code) as memory:
        keep(memory, "Refunds go through the ledger.")
    one = Viewer(folder / "store", code, HOLDFAST_EMBEDDER="none", HOME=str(folder))
    yield one
    one.close()


def test_a_program_is_told_as_json_what_happens(viewer: Viewer) -> None:
    with stream(viewer.base, viewer.token) as live:
        assert live.getheader("content-type", "").startswith("text/event-stream")
        hook(viewer.home, "UserPromptSubmit", viewer.folder, "s-live", prompt="What is new?")
        told = json.loads(next(line for line in live if line.startswith(b"data: ")).removeprefix(b"data: "))
    first = told["items"][0]  # what the hook injected may follow
    assert (first["what"], first["text"], first["session"]) == ("prompt", "What is new?", "s-live")
    with stream(viewer.base, viewer.token, f"after={told['after']}") as fresh:
        viewer.run("remember", "The ledger was moved to the new cluster.")
        assert b"What is new?" not in next(line for line in fresh if b"moved to the new cluster" in line)


def test_nothing_is_looked_at_while_nobody_looks(viewer: Viewer) -> None:
    spool = viewer.home / "spool"
    wait_for(lambda: not list(spool.glob("*.json")))
    with stream(viewer.base, viewer.token):
        pass
    for _ in range(40):  # the server notices that we left when it next has something to say
        hook(viewer.home, "PostToolUse", viewer.folder, "s-quiet", tool_name="Bash", tool_input={"command": "true"})
        if len(list(spool.glob("*.json"))) > 3:
            return
    raise AssertionError("somebody still drains the spool")


def test_the_terminal_tells_the_same_and_stops_when_asked(viewer: Viewer) -> None:
    command = ("-m", "holdfast", "watch", "--last", "200", "--json")
    watching = Forked(command, viewer.folder, viewer.environment, text=True)
    guard = Timer(300, watching.kill)
    guard.start()
    try:
        assert any("Refunds go through the ledger." in line for line in watching.stdout)
        hook(viewer.home, "UserPromptSubmit", viewer.folder, "s-watch", prompt="Is anybody there?")
        told: dict[str, str] = {}
        while told.get("text") != "Is anybody there?":
            told = json.loads(watching.stdout.readline())
        assert (told["what"], told["client"]) == ("prompt", "claude-code")
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate()
        guard.cancel()
    assert watching.returncode in (0, 130)
    assert "Refunds go through the ledger." in viewer.run("watch", "--once", "--what", "record")
    wrong = preloaded(["watch", "--once", "--what", "nothing"], viewer.folder, viewer.environment)
    assert (wrong.returncode, "There is no 'nothing'" in wrong.stderr) == (64, True)


def test_the_viewer_takes_another_port_if_its_own_is_taken_and_ends_quietly(viewer: Viewer, tmp_path: Path) -> None:
    first = Viewer(viewer.home, viewer.folder, HOLDFAST_EMBEDDER="none", HOME=str(tmp_path))
    assert first.port != viewer.port
    first.process.terminate()
    assert "Traceback" not in first.process.stderr.read()
    first.close()
    taken = preloaded(["web", "--no-open", "--port", str(viewer.port)], viewer.folder, viewer.environment)
    assert (taken.returncode, "cannot be used" in taken.stderr) == (64, True)
