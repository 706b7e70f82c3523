"""Replicas on the command line and in the worker."""

from pathlib import Path

import pytest

from tests.hosts.running import Run, answer, kept, runner
from tests.replicas.seats import git, remote_with_commit


@pytest.fixture
def clones(tmp_path: Path) -> dict[str, Run]:
    """Give two people with a clone each."""
    bare, made = remote_with_commit(tmp_path), {}
    for name in ("ada", "bob"):
        home = tmp_path / name
        git(tmp_path, "clone", "-q", str(bare), str(home / "shop"))
        made[name] = runner(home / "shop", home)
    return made


@pytest.mark.embedded
def test_two_clones_share_what_is_meant_for_the_team(clones: dict[str, Run]) -> None:
    ada, bob = clones["ada"], clones["bob"]
    refused = ada("sync")
    assert (refused.returncode, "No replica is turned on." in refused.stderr) == (64, True)
    for run in (ada, bob):
        assert "Git's settings were not changed." in run("replica", "on", "notes").stdout
    record = kept(ada, "Orders live in PostgreSQL.", "--kind", "decision")
    assert answer(ada("sync", "--json"))[0]["put"]["records"] == 0
    assert "shared: Orders live in PostgreSQL." in ada("share", record[:10]).stdout
    assert "1 memory to export, 0 to import" in ada("replica").stdout
    assert "0 memories would be imported, 1 would be exported" in ada("sync", "--dry-run").stdout
    assert ada("sync").stdout == "notes      0 memories imported, 1 exported, 1 ref pushed\n"
    assert "1 memory of" in (first := bob("sync").stdout)
    assert "in quarantine" in first
    assert "From others (1)" in bob("review", "list", "--sort", "quarantined").stdout
    assert "Accepted: " in bob("review", "approve", "--all").stdout
    assert answer(bob("show", record, "--json"))["title"] == "Orders live in PostgreSQL."


def test_erasing_says_what_history_keeps_and_rewriting_forgets_it(clones: dict[str, Run], tmp_path: Path) -> None:
    ada, shop = clones["ada"], tmp_path / "ada" / "shop"
    ada("replica", "on", "notes")
    record = kept(ada, "The zanzibar clause.", "--team")
    ada("sync")
    assert "git notes until `holdfast sync --rewrite`" in ada("forget", record, "--erase", "--yes").stdout
    assert "1 ref pushed" in ada("sync").stdout
    assert ada("sync", "--rewrite").returncode == 64
    assert "zanzibar" in git(shop, "log", "-p", "refs/notes/holdfast/learnings")
    done = ada("sync", "--rewrite", "--yes")
    assert (done.returncode, "git gc --prune=now" in done.stderr) == (0, True)
    assert "zanzibar" not in git(shop, "log", "-p", "refs/notes/holdfast/learnings")


@pytest.mark.embedded
def test_the_repositorys_files_are_written_only_where_somebody_asked(clones: dict[str, Run], tmp_path: Path) -> None:
    ada, shop = clones["ada"], tmp_path / "ada" / "shop"
    kept(ada, "For the team.", "--team")
    kept(ada, "For myself.")
    ada("work")
    assert git(shop, "status", "--porcelain") == ""
    ada("replica", "on", "repository")
    assert git(shop, "status", "--porcelain") == ""
    assert "1 exported" in ada("sync").stdout
    (file,) = (shop / ".holdfast" / "memories").glob("*.md")
    assert git(shop, "status", "--porcelain", "-uall") == f"?? .holdfast/memories/{file.name}"
    assert "project:" not in file.read_text()
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "memories")
    git(shop, "push", "-q", "origin", "HEAD:main")
    bob, theirs = clones["bob"], tmp_path / "bob" / "shop"
    git(theirs, "pull", "-q", "origin", "main")
    bob("replica", "on", "repository")
    assert "Accepted: " in bob("review", "approve", "ada@example.org").stdout
    assert "1 memory imported" in bob("sync").stdout
    assert git(theirs, "status", "--porcelain") == ""
    assert [one["body"] for one in answer(bob("list", "--json"))["records"]] == ["For the team."]
    ada("replica", "off", "repository")
    assert file.exists()
    assert ada("sync").returncode == 64


def test_the_worker_refreshes_the_users_own_files_and_asks_no_remote(run: Run, tmp_path: Path) -> None:
    environment = {"HOLDFAST_HOME": str(tmp_path / "store")}
    record = str(answer(run("remember", "--json", "Kept for later.", **environment))["record"]["id"])
    run("work", **environment)
    assert not (tmp_path / "store" / "markdown").exists()
    assert "folder is on" in run("replica", "on", "folder", **environment).stdout
    assert "1 updated file" in run("work", **environment).stdout
    (file,) = (tmp_path / "store" / "markdown").glob("*.md")
    file.write_text(file.read_text().replace("Kept for later.", "Kept for much later."))
    run("work", **environment)
    assert answer(run("show", record, "--json", **environment))["body"] == "Kept for much later."
    file.write_text("---\nbroken: [\n---\n")
    assert "left alone" in run("work", **environment).stdout
    assert "left alone" in run("sync", **environment).stdout


def test_git_is_told_to_copy_notes_only_by_a_yes(clones: dict[str, Run], run: Run, tmp_path: Path) -> None:
    ada, shop = clones["ada"], tmp_path / "ada" / "shop"
    before = (shop / ".git" / "config").read_bytes()
    ada("replica", "on", "notes")
    kept(ada, "Anything.", "--team")
    ada("sync")
    assert (shop / ".git" / "config").read_bytes() == before
    assert "Set notes.rewriteRef" in ada("replica", "on", "notes", "--git-config").stdout
    assert git(shop, "config", "notes.rewriteRef") == "refs/notes/holdfast/*"
    assert "There is origin." in ada("sync", "--remote", "upstream").stderr
    nowhere = run("replica", "on", "notes")
    assert (nowhere.returncode, "no git repository here" in nowhere.stderr) == (5, True)
    everywhere = run("share", kept(run, "Holds everywhere.", "--global"))
    assert (everywhere.returncode, "belongs to every project" in everywhere.stderr) == (4, True)
