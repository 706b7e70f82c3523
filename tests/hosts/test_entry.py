"""The way in: what a client starts is lean, everything else is the command line."""

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import ran
from tests.hosts.test_mcp import INITIALIZE

HEAVY = {"click", "numpy", "rich", "sqlite3", "platformdirs", "mcp"}
START = """
import sys
from holdfast.hosts.cli.entry import main
main()
print(*sorted(name for name in sys.modules), file=sys.stderr)
"""


def run(environment: dict[str, str], folder: Path, *command: str, given: str = "") -> CompletedProcess[str]:
    return ran([sys.executable, *command], folder, input=given, env=environment)


@pytest.mark.parametrize("arguments", [("mcp",), ("mcp", "--surface", "core")])
def test_a_list_of_tools_is_given_without_importing_what_they_do(
    environment: dict[str, str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    lists = [f"{kind}/list" for kind in ("tools", "resources", "prompts")]
    asked = [begin, *({"jsonrpc": "2.0", "id": 2, "method": method} for method in lists)]
    done = run(environment, tmp_path, "-c", START, *arguments, given="\n".join(map(json.dumps, asked)))
    assert len(done.stdout.splitlines()) == 4
    loaded = set(done.stderr.split())
    assert loaded & HEAVY == set()
    assert {
        name for name in loaded if name.startswith(("holdfast.verbs", "holdfast.engine", "holdfast.surfaces.core"))
    } == set()
    assert not (tmp_path / "store").exists()


def test_a_write_and_a_recall_by_words_load_no_numbers(environment: dict[str, str], tmp_path: Path) -> None:
    text = "The staging database is reset every night."
    calls = [("remember", {"text": text}), ("recall", {"query": "staging database"})]
    params = [{"name": name, "arguments": arguments} for name, arguments in calls]
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": one} for one in params]
    done = run(environment, tmp_path, "-c", START, "mcp", given="\n".join(map(json.dumps, asked)))
    assert (done.stdout.count('"isError":false'), "1 memory fits" in done.stdout) == (2, True)
    unwanted = {"numpy", "rich", "click", "onnxruntime", "asyncio", "holdfast.adapters.embedders.wordpiece"}
    assert set(done.stderr.split()) & unwanted == set()


def test_numpy_gets_one_thread_unless_the_user_says_otherwise(environment: dict[str, str], tmp_path: Path) -> None:
    show = "import atexit, os; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n" + START
    assert run(environment, tmp_path, "-c", show, "list").stdout.split()[-1] == "1"
    chosen = environment | {"OPENBLAS_NUM_THREADS": "4"}
    assert run(chosen, tmp_path, "-c", show, "list").stdout.split()[-1] == "4"


def test_anything_else_is_the_command_line(environment: dict[str, str], tmp_path: Path) -> None:
    assert "Serve the memory to MCP clients" in run(environment, tmp_path, "-m", "holdfast", "mcp", "--help").stdout
    assert run(environment, tmp_path, "-m", "holdfast", "--version").stdout.startswith("holdfast ")
    wrong = run(environment, tmp_path, "-m", "holdfast", "mcp", "--surface", "nope")
    assert (wrong.returncode, "There is no surface 'nope'" in wrong.stderr) == (64, True)
    moved = run(environment, tmp_path, "-m", "holdfast", "--home", str(tmp_path / "other"), "mcp")
    assert (moved.returncode, moved.stdout) == (0, "")


def test_a_server_started_in_its_plugins_folder_goes_to_the_project(
    environment: dict[str, str], tmp_path: Path
) -> None:
    project, plugin = tmp_path / "project", tmp_path / "plugin"
    project.mkdir()
    plugin.mkdir()
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    start = {"name": "session", "arguments": {"action": "start", "title": "x"}}
    asked = [begin, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": start}]
    given = "".join(json.dumps(one) + "\n" for one in asked)
    # The client works in the project; it starts the server in the plugin's folder.
    client = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'holdfast', 'mcp'], cwd=sys.argv[1])"
    told = {**environment, "COPILOT_PLUGIN_ROOT": str(plugin), "HOLDFAST_PROJECT": ""}
    answers = run(told, project, "-c", client, str(plugin), given=given).stdout.splitlines()
    assert str(project) in json.loads(answers[1])["result"]["content"][0]["text"]
