"""Carrying memories in and out on the command line: real processes, real stores."""

import json
from pathlib import Path

import pytest

from tests.hosts.running import Run, answer, kept
from tests.hosts.test_check import run as run_here
from tests.importing import FIXTURES, copied


@pytest.mark.parametrize(
    "name", ["gitmem", "memory-mcp", "bettermemory", "claude-mem", "git-notes", "auto-memory", "json"]
)
def test_another_systems_memories_are_taken_in_once(run: Run, tmp_path: Path, name: str) -> None:
    system, place = FIXTURES[name]
    command = ("store", "import", "--from", system, str(copied(tmp_path) / place), "--json")
    rehearsed = answer(run(*command, "--dry-run"))
    taken = answer(run(*command))
    assert rehearsed.pop("dry_run") is True
    assert taken.pop("dry_run") is False
    assert rehearsed == taken
    assert taken["taken"]
    again = answer(run(*command))
    assert again["taken"] == again["revised"] == again["merged"] == []
    assert again["known"] == len(taken["taken"])


def test_a_person_reads_what_came_and_what_did_not(run: Run, tmp_path: Path) -> None:
    done = run(
        "store", "import", "--from", "gitmem", str(copied(tmp_path) / "gitmem"), "--project", "example.org/acme/shop"
    )
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("17 imported (6 thread, 2 decision")
    assert "  without a project → example.org/acme/shop (16)" in lines
    assert "  mailer (1)" in lines
    assert "with 2 sessions, 5 uses, 3 impressions, 1 touch, 2 links" in lines
    assert "skipped: learnings.json #6: it is empty" in lines
    assert "Stock is reserved" in run("recall", "stock payment", "--project", "example.org/acme/shop").stdout


def test_options_for_other_systems_want_a_system(run: Run) -> None:
    done = run("store", "import", "x.jsonl", "--dry-run")
    assert (done.returncode, "need --from" in done.stderr) == (64, True)
    assert run("store", "import", "--from", "gitmem", "nowhere").returncode == 64
    assert run("store", "export", "--as", "bettermemory").returncode == 64


def test_memories_go_out_as_one_array_and_come_in_again(run: Run, tmp_path: Path) -> None:
    assert answer(run("store", "export", "--as", "json")) == []
    first = kept(run, "The staging database is reset every night.", "--tag", "db")
    kept(run, "Deploys wait for the backup.")
    run("forget", first, "--reason", "no longer")
    told = answer(run("store", "export", "--as", "json", str(tmp_path / "all.json"), "--json"))
    assert told == {"output": str(tmp_path / "all.json"), "memories": 2}
    found = json.loads((tmp_path / "all.json").read_text())
    assert [(one["body"], one["state"]) for one in found] == [
        ("The staging database is reset every night.", "retired"),
        ("Deploys wait for the backup.", "active"),
    ]
    there = {"HOLDFAST_HOME": str(tmp_path / "elsewhere")}
    report = answer(run("store", "import", "--from", "file", str(tmp_path / "all.json"), "--json", **there))
    assert len(report["taken"]) == 2
    again = answer(run("store", "export", "--as", "json", **there))
    assert [(one["body"], one["state"], one["created_at"]) for one in again] == [
        (one["body"], one["state"], one["created_at"]) for one in found
    ]


def test_an_export_imported_again_says_that_nothing_is_new(tmp_path: Path) -> None:
    place = tmp_path / "home" / "shop"
    place.mkdir(parents=True)
    for command in (
        ("remember", "Deploys wait for the backup."),
        ("store", "export", "-o", str(tmp_path / "all.jsonl")),
    ):
        assert run_here(place, *command).returncode == 0
    elsewhere = {"HOLDFAST_HOME": str(tmp_path / "elsewhere")}
    first, second = (run_here(place, "store", "import", str(tmp_path / "all.jsonl"), **elsewhere) for _ in range(2))
    assert first.stdout == "1 event imported; 1 memory new or changed.\n"
    assert second.stdout == "Nothing new: 1 event read, and all were here already.\n"


def test_memories_go_out_as_other_systems_keep_them(run: Run, tmp_path: Path) -> None:
    gone = kept(run, "The staging database is reset every night.")
    kept(run, "Deploys wait for the backup.")
    run("forget", gone, "--reason", "no longer")
    here = copied(tmp_path)
    for system, place, said in (
        ("bettermemory", tmp_path / "folder", "2 files written to {}.\n"),
        ("gitmem", tmp_path / ".gitmem", "2 memories written to {}.\n"),
        ("memory-mcp", here / "memory-mcp.db", "1 memory written to {}.\n1 memory left out: "),
        ("claude-mem", here / "claude-mem.db", "1 memory written to {}.\n1 memory left out: "),
    ):
        assert run("store", "export", "--as", system, str(place)).stdout.startswith(said.format(place))
        elsewhere = {"HOLDFAST_HOME": str(tmp_path / f"from {system}")}
        assert run("store", "import", "--from", system, str(place), **elsewhere).returncode == 0
        found = [record["body"] for record in answer(run("store", "export", "--as", "json", **elsewhere))]
        assert "Deploys wait for the backup." in found
    again = run("store", "export", "--as", "memory-mcp", str(here / "memory-mcp.db")).stdout
    assert again.startswith(f"0 memories written to {here / 'memory-mcp.db'}. 1 were there already.")
    assert run("store", "export", "--as", "claude-mem", str(tmp_path / "nowhere.db")).returncode == 64
