"""Carrying memories in and out on the command line: real processes, real stores."""

from pathlib import Path

import pytest

from tests.hosts.running import Run, answer, kept
from tests.hosts.scripts import scripts_in
from tests.importing import FIXTURES, copied
from tests.rows import missing, sampled

globals().update(scripts_in(__file__))


@pytest.mark.parametrize("name", sampled(["memory-mcp", "gitmem", "bettermemory", "claude-mem", "git-notes"], 5))
def test_another_systems_memories_are_taken_in_once(run: Run, tmp_path: Path, name: str) -> None:
    system, place = FIXTURES[name]
    command = ("store", "import", "--from", system, str(copied(tmp_path) / place), "--json")
    rehearsed, taken, again = answer(run(*command, "--dry-run")), answer(run(*command)), answer(run(*command))
    assert (rehearsed.pop("dry_run"), taken.pop("dry_run")) == (True, False)
    assert rehearsed == taken
    assert len(taken["taken"]) == again["known"] > 0
    assert again["taken"] == again["revised"] == again["merged"] == []


def test_a_person_reads_what_came_and_what_did_not(run: Run, tmp_path: Path) -> None:
    here = ("--project", "example.org/acme/shop")
    done = run("store", "import", "--from", "gitmem", str(copied(tmp_path) / "gitmem"), *here)
    assert done.stdout.startswith("17 imported (6 thread, 2 decision")
    said = ("  without a project → example.org/acme/shop (16)\n", "  mailer (1)\n")
    counts = "with 2 sessions, 5 uses, 3 impressions, 1 touch, 2 links\n"
    assert missing(done.stdout, *said, counts, "skipped: learnings.json #6: it is empty\n") == []
    assert "Stock is reserved" in run("recall", "stock payment", *here).stdout


def test_memories_go_out_as_other_systems_keep_them(run: Run, tmp_path: Path) -> None:
    gone = kept(run, "The staging database is reset every night.")
    kept(run, "Deploys wait for the backup.")
    run("forget", gone, "--reason", "no longer")
    here = copied(tmp_path)
    for system, place, said in (
        ("bettermemory", tmp_path / "folder", "2 files written to {}.\n"),
        ("memory-mcp", here / "memory-mcp.db", "1 memory written to {}.\n1 memory left out: "),
    ):
        assert run("store", "export", "--as", system, str(place)).stdout.startswith(said.format(place))
        elsewhere = {"HOLDFAST_HOME": str(tmp_path / f"from {system}")}
        assert run("store", "import", "--from", system, str(place), **elsewhere).returncode == 0
        found = [record["body"] for record in answer(run("store", "export", "--as", "json", **elsewhere))]
        assert "Deploys wait for the backup." in found
    again = run("store", "export", "--as", "memory-mcp", str(here / "memory-mcp.db")).stdout
    assert again.startswith(f"0 memories written to {here / 'memory-mcp.db'}. 1 were there already.")
    assert run("store", "export", "--as", "claude-mem", str(tmp_path / "nowhere.db")).returncode == 64
