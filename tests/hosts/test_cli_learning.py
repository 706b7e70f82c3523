"""`holdfast ingest learn`, `holdfast stats observer` and `python3 dev.py bench signals` from the command line."""

import json
import subprocess
import sys
from pathlib import Path

from holdfast.hosts.hooks import client, hook
from holdfast.model.trail import OBSERVER_FOLDER
from tests.conftest import new_folder
from tests.hosts.running import Run, answer
from tests.hosts.scripts import scripts_in
from tests.verbs.test_learn import CHOICE, Repository

globals().update(scripts_in(__file__))


def test_a_repository_is_learned_from_once(run: Run, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit(CHOICE, "src/orders.py")
    tried = run("ingest", "learn", "--dry-run", cwd=repository.folder)
    assert (tried.returncode, "1 new commit read: 1 would be saved" in tried.stdout) == (0, True)
    learned = run("ingest", "learn", cwd=repository.folder)
    assert "Use UUIDs for orders  pending approval" in learned.stdout
    again = answer(run("ingest", "learn", "--json", cwd=repository.folder))
    assert (again["commits"], again["kept"]) == (0, [])
    listed = answer(run("ingest", "learn", "--since", "2026-01-01", "--json", cwd=repository.folder))
    assert (listed["commits"], listed["known"]) == (1, 1)


def test_an_observer_at_work_leaves_no_trail(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / f"{OBSERVER_FOLDER}x1")
    arguments = [sys.executable, "-I", "-S", client.__file__, "UserPromptSubmit", "--home", str(tmp_path)]
    told = json.dumps({"session_id": "s", "cwd": str(folder), "prompt": "<turn/>"}).encode()
    done = subprocess.run(arguments, input=told, capture_output=True, check=False)
    assert (done.returncode, done.stdout, (tmp_path / "spool").exists()) == (0, b"", False)
    assert hook.OBSERVER_FOLDER == OBSERVER_FOLDER


def test_signals_are_measured(bench: Run) -> None:
    done = bench("signals")
    assert done.returncode == 0, done.stdout
    assert "bare patterns" in done.stdout
