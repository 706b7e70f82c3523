"""The way in: what a client starts is lean, everything else is the command line."""

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.conftest import new_folder, ran
from tests.hosts.test_mcp import INITIALIZE
from tests.rows import each

HEAVY = {"click", "numpy", "rich", "sqlite3", "platformdirs", "mcp"}
START = """
import sys
from holdfast.hosts.cli.entry import main
main()
print(*sorted(name for name in sys.modules), file=sys.stderr)
"""


def run(environment: dict[str, str], folder: Path, *command: str, given: str = "") -> CompletedProcess[str]:
    return ran([sys.executable, *command], folder, input=given, env=environment)


def messages(*asked: dict[str, Any]) -> str:
    """Return messages to a server, after the one that begins a conversation."""
    begun = [{"method": "initialize", "params": INITIALIZE}, *asked]
    return "".join(json.dumps({"jsonrpc": "2.0", "id": 1, **one}) + "\n" for one in begun)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


@each("arguments", [("mcp",), ("mcp", "--surface", "core")])
def test_a_list_of_tools_is_given_without_importing_what_they_do(
    environment: dict[str, str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    asked = [{"method": f"{kind}/list"} for kind in ("tools", "resources", "prompts")]
    done = run(environment, tmp_path, "-c", START, *arguments, given=messages(*asked))
    assert len(done.stdout.splitlines()) == 4
    loaded = set(done.stderr.split())
    unwanted = ("holdfast.verbs", "holdfast.engine", "holdfast.surfaces.core")
    assert [name for name in loaded if name in HEAVY or name.startswith(unwanted)] == []
    assert not (tmp_path / "store").exists()


def test_a_write_and_a_recall_by_words_load_no_numbers(environment: dict[str, str], tmp_path: Path) -> None:
    calls = (call("remember", text="The staging database is reset every night."), call("recall", query="staging"))
    done = run(environment, tmp_path, "-c", START, "mcp", given=messages(*calls))
    assert (done.stdout.count('"isError":false'), "1 memory fits" in done.stdout) == (2, True)
    unwanted = {"numpy", "rich", "click", "onnxruntime", "asyncio", "holdfast.adapters.embedders.wordpiece"}
    assert set(done.stderr.split()) & unwanted == set()


def test_numpy_gets_one_thread_unless_the_user_says_otherwise(environment: dict[str, str], tmp_path: Path) -> None:
    show = "import atexit, os; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n" + START
    for chosen, threads in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4")):
        assert run(environment | chosen, tmp_path, "-c", show, "list").stdout.split()[-1] == threads


def test_anything_else_is_the_command_line(environment: dict[str, str], tmp_path: Path) -> None:
    assert "Serve the memory to MCP clients" in run(environment, tmp_path, "-m", "holdfast", "mcp", "--help").stdout
    wrong = run(environment, tmp_path, "-m", "holdfast", "mcp", "--surface", "nope")
    assert (wrong.returncode, "There is no surface 'nope'" in wrong.stderr) == (64, True)
    moved = run(environment, tmp_path, "-m", "holdfast", "--home", str(tmp_path / "other"), "mcp")
    assert (moved.returncode, moved.stdout) == (0, "")


def test_a_server_started_in_its_plugins_folder_goes_to_the_project(
    environment: dict[str, str], tmp_path: Path
) -> None:
    project, plugin = new_folder(tmp_path / "project"), new_folder(tmp_path / "plugin")
    # The client works in the project; it starts the server in the plugin's folder.
    client = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'holdfast', 'mcp'], cwd=sys.argv[1])"
    told = {**environment, "COPILOT_PLUGIN_ROOT": str(plugin), "HOLDFAST_PROJECT": ""}
    given = messages(call("session", action="start", title="x"))
    answers = run(told, project, "-c", client, str(plugin), given=given).stdout.splitlines()
    assert str(project) in json.loads(answers[1])["result"]["content"][0]["text"]
