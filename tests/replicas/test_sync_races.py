"""Two terminals of one machine and a second machine sync at the same moment, again and again: nothing is lost or doubled."""

import json
from pathlib import Path

import pytest

from tests.conftest import at_once
from tests.hosts.running import Run, kept, runner
from tests.replicas.seats import git, remote_with_commit
from tests.rows import WHOLE

ROUNDS = 4 if WHOLE else 2


@pytest.mark.embedded
@pytest.mark.parametrize("replica", ["notes", "repository", "folder"])
def test_syncing_at_the_same_moment_loses_and_doubles_nothing(tmp_path: Path, replica: str) -> None:
    bare = remote_with_commit(tmp_path)
    terminals = [("ada", 1), ("ada", 2), *([("bob", 1)] if replica == "notes" else [])]  # files have one machine
    seats = {name: _seat(tmp_path, name, bare, replica) for name in {name for name, _ in terminals}}
    written: list[str] = []
    problems: list[str] = []

    def work(name: str, terminal: int) -> None:
        for turn in range(ROUNDS):
            text = f"Shelf {name}{terminal}{turn} holds box {terminal * 1000 + turn} of {name}."
            written.append(kept(seats[name], text, "--team", "--force"))
            done = seats[name]("sync")
            if done.returncode != 0 or "Traceback" in done.stderr:
                problems.append(done.stderr)

    at_once(work, terminals)
    for run in (*seats.values(), *seats.values()):
        assert run("sync").returncode == 0
    assert problems == []
    for run in seats.values():
        listed = json.loads(run("list", "--json", "--limit", "100").stdout)["records"]
        assert sorted(one["id"] for one in listed) == sorted(written)


def _seat(folder: Path, name: str, bare: Path, replica: str) -> Run:
    """Give a user with a clone, a store and a replica that is turned on; the two accept each other."""
    clone = folder / name
    git(folder, "clone", "-q", str(bare), str(clone))
    git(clone, "config", "user.name", name)
    git(clone, "config", "user.email", f"{name}@example.org")
    own = {"HOLDFAST_QUARANTINE": "off", "HOLDFAST_PROJECT": "example.org/acme/shop", "HOLDFAST_STARTERS": "false"}
    run = runner(clone, folder / f"home of {name}", HOLDFAST_HOME=str(folder / f"store of {name}"), **own)
    assert run("replica", "on", replica).returncode == 0
    return run
