"""Documents from the command line, and commands of other systems by the names their users know."""

from pathlib import Path

import pytest

from tests.hosts.running import Run, answer


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def test_a_project_is_learned_from_its_documents(run: Run, work: Path) -> None:
    (work / "README.md").write_text(
        "# Shop\n\n## Deploys\n\nDeploys happen on Fridays.\n\n## Reviews\n\nReviews need two people.\n"
    )
    assert run("ingest", "bootstrap", "--dry-run").stdout == (
        "[README.md > Shop > Deploys] Deploys happen on Fridays.  (55 characters)\n"
        "[README.md > Shop > Reviews] Reviews need two people.  (53 characters)\n"
        "1 document read: 2 memories would be saved, 0 already known, 0 added to the hot set.\n"
    )
    done = answer(run("ingest", "bootstrap", "--tag", "docs", "--json"))
    assert (done["files_read"], len(done["kept"]), done["hot"]) == (1, 2, 0)
    assert (
        run("ingest", "bootstrap").stdout
        == "1 document read: 0 new memories, 2 already known, 0 added to the hot set.\n"
    )
    assert run("ingest", "bootstrap", "--quiet").stdout == ""
    outside = run("ingest", "bootstrap", "--root", "/etc")
    assert (outside.returncode, "outside of the project" in outside.stderr) == (64, True)


def test_a_file_is_kept_item_by_item(run: Run, work: Path) -> None:
    (work / "notes.txt").write_text("The first paragraph.\n\nThe second paragraph.\n")
    assert len(answer(run("ingest", "seed", "notes.txt", "-t", "pattern", "--json"))["kept"]) == 2
    assert run("ingest", "seed", "nowhere.md").returncode == 64
    (work / "image.md").write_bytes(b"\x00\x01")
    spoiled = run("ingest", "seed", "image.md")
    assert (spoiled.returncode, spoiled.stderr) == (0, "image.md: it is a binary file\n")


def test_commands_of_other_systems_are_known(run: Run, work: Path) -> None:
    (work / "README.md").write_text("Deploys happen on Fridays.\n")
    done = answer(run("compat", "memory-mcp", "--json", "bootstrap", "-t", "project", "--no-promote"))
    assert done["memories_created"] == 1
    assert "Outputs processed: 0" in run("compat", "memory-mcp", "run-mining").stdout
    assert answer(run("compat", "bettermemory", "health", "--json"))["total_active_memories"] == 1
    unknown = run("compat", "memory-mcp", "dashboard")
    assert (unknown.returncode, "dashboard" in unknown.stderr) == (64, True)
