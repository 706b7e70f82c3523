"""A repository whose own settings name programs, as in an unpacked archive: Holdfast runs none of them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.hosts.running import Run, hooked, kept, runner
from tests.replicas.seats import commit, git

HOOKS = "post-index-change reference-transaction pre-push post-checkout pre-auto-gc"
# Settings of .git/config whose value git runs, and what makes plain git run it.
SETTINGS = json.loads(Path(__file__).with_name("git_settings.json").read_text(encoding="utf-8"))
PROGRAMS = SETTINGS["programs"]


def program(folder: Path, name: str, ran: Path) -> str:
    """Make a program that records that it ran."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {name} >> '{ran}'\ncat >/dev/null </dev/null\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path: Path, ran: Path) -> Path:
    """Make a repository with two commits, the second with a signature, that lacks an object its remote promises."""
    folder, programs = tmp_path / "hostile", tmp_path / "programs"
    for place in (folder, programs):
        place.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://example.org/acme/shop.git")
    (folder / ".holdfast" / "memories").mkdir(parents=True)
    commit(folder, ".holdfast/memories/2026-01-01-refunds.md", "Refunds go through the ledger.\n")
    commit(folder, ".gitattributes", "*.md diff=evil filter=evil\n")
    commit(folder, "app.py", "def pay():\n    return 1\n")
    commit(folder, "app.py", "def pay():\n    return 2\n")
    head, _, message = git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}\n"
    git(folder, "reset", "-q", git(folder, "hash-object", "-t", "commit", "-w", "--stdin", given=signed))
    git(folder, "-c", f"core.fsmonitor={program(programs, 'first', ran)}", "update-index", "--fsmonitor")
    promised = git(folder, "rev-parse", "HEAD~1:app.py")
    (folder / ".git" / "objects" / promised[:2] / promised[2:]).unlink()
    for hook in HOOKS.split():
        program(programs, hook, ran)
    values = {name: program(programs, name, ran) for name in PROGRAMS} | {"core.hooksPath": str(programs)}
    values["remote.lazy.url"] = f"ext::{values['remote.lazy.url']}"
    for name, value in {**SETTINGS["helps"], **values}.items():
        git(folder, "config", name, value)
    for file in ("app.py", ".holdfast/memories/2026-01-01-refunds.md"):
        os.utime(folder / file, (1, 1))
    ran.unlink(missing_ok=True)
    return folder


def started(ran: Path) -> set[str]:
    """Return the programs that ran since the last call."""
    names = set(ran.read_text().split()) if ran.exists() else set[str]()
    ran.unlink(missing_ok=True)
    return names


def test_no_command_and_no_hook_runs_a_program_that_a_repository_names(
    hostile: Path, ran: Path, tmp_path: Path, own_home: Path
) -> None:
    run: Run = runner(hostile, own_home)
    store = {"HOLDFAST_HOME": str(tmp_path / "store")}
    about = kept(lambda *words: run(*words, **store), "Payments return a number.", "--anchor", "app.py::pay", "--team")
    found = {"remember": started(ran)}
    for command in SETTINGS["commands"]:
        done = run(*command.format(id=about).split(), **store)
        found[command] = started(ran) | ({done.stderr} if done.returncode not in (0, 1) else set())
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"):
        hooked(store["HOLDFAST_HOME"], hostile, event, prompt="app.py", tool_name="Edit")
        found[event] = started(ran)
    assert {name: names for name, names in found.items() if names} == {}


def test_plain_git_runs_them(hostile: Path, ran: Path) -> None:
    """Without this, the test above could pass because nothing was set up."""
    missing = set()
    for setting, command in PROGRAMS.items():
        subprocess.run(["git", *command.split()], cwd=hostile, capture_output=True, check=False)
        wanted = "reference-transaction" if setting == "core.hooksPath" else setting
        missing |= {setting} - ({setting} if wanted in started(ran) else set())
    assert missing == set()
