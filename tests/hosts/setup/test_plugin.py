"""The Claude-format plugin: its structure, and the launcher that must never be in the way."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from holdfast.hosts.cli.command import COMMANDS
from holdfast.hosts.setup.clients import SECONDS, opencode_plugin
from holdfast.hosts.setup.machine import Installation
from holdfast.model.session import CLIENT_EVENTS as EVENTS
from tests.conftest import new_file, new_folder, ran
from tests.rows import each, rows, sampled

ROOT = Path(__file__).parents[3]
PLUGIN, COMPATIBLE = ROOT / "plugin", ROOT / "plugin-memory"
LAUNCHER = PLUGIN / "bin" / "holdfast-hook"
FRONT = re.compile(r"\A---\n(.*?)\n---\n(.+)", re.DOTALL)


def test_the_marketplace_leads_to_the_plugin() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for entry, folder, name in zip(market["plugins"], (PLUGIN, COMPATIBLE), ("holdfast", "memory"), strict=True):
        assert ((ROOT / entry["source"]).resolve(), entry["name"], market["name"]) == (folder, name, "holdfast")
        plugin = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
        assert (plugin["name"], plugin["version"]) == (name, version)
    ours = {path.name: path.read_text() for path in PLUGIN.glob("commands/*.md")}
    assert {name: (COMPATIBLE / "commands" / name).read_text() for name in ours} == ours
    assert sorted(ours) == [f"{name}.md" for name in "capture health recall search status sync".split()]
    assert os.access(LAUNCHER, os.X_OK)


def test_every_event_has_a_hook_in_shell_form_and_the_server_is_started_by_name() -> None:
    """Codex knows no `args` of hooks, and puts nothing in for ${CLAUDE_PLUGIN_ROOT} at the server."""
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert list(hooks) == list(EVENTS)
    for event, groups in hooks.items():
        command = f'"${{CLAUDE_PLUGIN_ROOT}}/bin/holdfast-hook" {event}'
        assert groups == [{"hooks": [{"type": "command", "command": command, "timeout": SECONDS[event]}]}]
    server = json.loads((PLUGIN / ".mcp.json").read_text())
    assert server == {"mcpServers": {"holdfast": {"command": "holdfast", "args": ["mcp"]}}}


@each("path", sorted([*COMPATIBLE.glob("commands/*.md"), *PLUGIN.glob("skills/*/SKILL.md")]))
def test_commands_and_skills_are_described_and_name_what_exists(path: Path) -> None:
    found = FRONT.match(path.read_text())
    assert found
    front = dict(line.partition(": ")[::2] for line in found[1].splitlines())
    assert 20 <= len(front["description"]) <= 300
    if path.name == "SKILL.md":
        assert front["name"] == path.parent.name
    else:
        assert front["disable-model-invocation"] == "true"  # they cost nothing until somebody types them
    for command, inner in re.findall(r"`holdfast ([a-z-]+)(?: ([a-z-]+))?", found[2]):
        assert command in COMMANDS, command
        needs_one = COMMANDS[command].module == "+"
        assert not inner or not COMMANDS[command].commands or inner in COMMANDS[command].commands, inner
        assert inner or not needs_one, command
    surfaces = ["core/offer.json"] + (["gitmem/contract.json"] if path.name.startswith("gm-") else [])
    offers = [json.loads((ROOT / "src/holdfast/surfaces" / offer).read_text()) for offer in surfaces]
    tools = {tool["name"] for offer in offers for tool in offer["tools"]}
    assert set(re.findall(r"`([a-z]+)`", found[2])) - {"start", "close", "holdfast"} <= tools


def test_without_holdfast_a_hook_does_nothing_successfully(tmp_path: Path) -> None:
    done = launched(tmp_path, "SessionStart", path="/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("layout", ["environment", "elsewhere"])
def test_the_launcher_finds_the_hook_file_and_names_the_client(tmp_path: Path, layout: str) -> None:
    given = {"path": installed(tmp_path, layout), "PYTHONPATH": str(tmp_path / "checkout")}
    for variable, client in (("OTHER", "claude-code"), ("PLUGIN_DATA", "codex"), ("COPILOT_PLUGIN_ROOT", "copilot")):
        done = launched(tmp_path, "Stop", **given, **{variable: "/x"})
        assert (done.stdout.strip(), done.returncode) == (f"Stop --client {client} 1 given", 0), done.stderr


HOSTILE: list[str] = rows("texts_that_a_shell_would_run")


@pytest.mark.skipif(not shutil.which("node"), reason="OpenCode's plugin needs node")
def test_opencodes_plugin_passes_texts_as_data_and_never_throws(tmp_path: Path) -> None:
    hook, heard, some = tmp_path / "hook.py", tmp_path / "heard", sampled(HOSTILE, 3)
    hook.write_text(
        f"import json, sys\nopen({str(heard)!r}, 'a').write(json.dumps([sys.argv[1:], sys.stdin.read()]) + '\\n')\n"
    )
    made = Installation(python=sys.executable, hook=str(hook), home=f"{tmp_path}/$(touch pwned) 'x'")
    (tmp_path / "plugin.mjs").write_text(opencode_plugin(made))
    command = ["node", str(Path(__file__).with_name("driver.mjs")), str(tmp_path / "plugin.mjs"), json.dumps(some)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    calls = [json.loads(line) for line in heard.read_text().splitlines()]
    assert {tuple(words[1:]) for words, _ in calls} == {made.hook_words("opencode")}
    assert {words[0] for words, _ in calls} <= set(EVENTS)
    assert {one.get("cwd") for one in [json.loads(given) for _, given in calls if given]} >= set(some)
    assert not [path for path in tmp_path.rglob("*") if "pwned" in path.name]


def test_a_hooks_command_line_is_words_whatever_folders_are_called(tmp_path: Path) -> None:
    for text in (one for one in HOSTILE if "\0" not in one):
        made = Installation(python="/bin/echo", hook=f"{tmp_path}/{text}", home=text)
        done = ran(["/bin/sh", "-c", made.hook_line("Stop", "codex")], tmp_path, check=True)
        assert done.stdout == f"-I -S {tmp_path}/{text} Stop --client codex --home {text}\n"
    assert list(tmp_path.iterdir()) == []


def installed(tmp_path: Path, layout: str) -> str:
    """Lay out an installation as a tool in its environment, or with the package elsewhere; give the search path."""
    site = tmp_path / "my env" / "lib" / "python3.99" / "site-packages"
    package = (tmp_path / "checkout" if layout == "elsewhere" else site) / "holdfast" / "hosts"
    new_file(package / "__init__.py", "")
    new_file(package / "hooks" / "client.py", "import sys; print(*sys.argv[1:], sys.flags.isolated, sys.stdin.read())")
    python, program = (tmp_path / "my env" / "bin" / name for name in ("python", "holdfast"))
    new_file(program, f"#!{python}\n").chmod(0o755)
    python.symlink_to(sys.executable)
    linked = new_folder(tmp_path / "local bin")
    (linked / "holdfast").symlink_to(program)
    return f"{linked}:/usr/bin:/bin"


def launched(folder: Path, *arguments: str, path: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the launcher in a folder with a module that must not be taken for ours."""
    (folder / "holdfast.py").write_text("raise SystemExit('a module of the project')")
    given = {"HOME": str(folder), "PATH": path, **environment}
    return ran(["/bin/sh", str(LAUNCHER), *arguments], folder, input="given", env=given)


@pytest.mark.parametrize("relative", [".", "", "node_modules/.bin"])
def test_the_launcher_runs_no_program_of_the_project(tmp_path: Path, relative: str) -> None:
    path = installed(tmp_path, "environment")
    new_file(tmp_path / relative / "holdfast", f"#!/bin/sh\ntouch '{tmp_path}/pwned'\n").chmod(0o755)
    done = launched(tmp_path, "Stop", path=f"{relative}:{path}")
    assert (done.returncode, done.stdout, (tmp_path / "pwned").exists()) == (0, "", False)
