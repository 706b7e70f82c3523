"""Which project a folder is: git's remote, its path, or the user's own settings decide; a repository cannot pose as another."""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.compose.settings import load_settings
from tests.conftest import new_folder
from tests.hosts.running import Run, answer, held_worker, hooked, injected, kept, wait_for
from tests.replicas.seats import commit, git
from tests.rows import each

SECRET = "The launch codes of alpha are rotated on Mondays."
DECISION = ("--kind", "decision", "--field", "rationale=policy", "--team")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def holdfast(run: Run, store: Path) -> Run:
    def command(*arguments: str, cwd: Path, **environment: str) -> Any:
        return run(*arguments, cwd=cwd, **{"HOLDFAST_HOME": str(store), "HOLDFAST_STARTERS": "false", **environment})

    return command


def repository(folder: Path, remote: str = "") -> Path:
    """Make a repository with one commit and, if given, a remote."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    commit(folder)
    return folder


def claim(folder: Path, project: str, **more: Any) -> None:
    """Commit a repository config that names a project."""
    (folder / ".holdfast").mkdir(exist_ok=True)
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"project": project, **more}.items()]
    (folder / ".holdfast" / "config.toml").write_text("\n".join(lines) + "\n")
    git(folder, "add", "-f", ".holdfast/config.toml")
    git(folder, "commit", "-q", "-m", "settings")


def fire(store: Path, folder: Path, event: str, session: str = "s1", **given: Any) -> str:
    """Run the hook as a client does, without the worker it would start; return what it injects."""
    variables = {name: given.pop(name) for name in list(given) if name.startswith("HOLDFAST_")}
    with held_worker(store):
        return injected(
            hooked(store, folder, event, environment={**os.environ, **variables}, session_id=session, **given)
        )


def project_of(holdfast: Run, folder: Path, **environment: str) -> str:
    return str(answer(holdfast("status", "--json", cwd=folder, **environment))["project"])


@pytest.fixture
def alpha(tmp_path: Path, holdfast: Run) -> Path:
    """The real project, with a memory that nobody else may see."""
    folder = repository(tmp_path / "alpha", "https://example.org/acme/alpha.git")
    kept(lambda *arguments: holdfast(*arguments, cwd=folder), SECRET, *DECISION)
    assert holdfast("work", cwd=folder).returncode == 0
    store = Path(answer(holdfast("status", "--json", cwd=folder))["place"]).parent
    assert SECRET in fire(store, folder, "SessionStart", source="startup")
    return folder


CLAIMS = ("example.org/acme/alpha", "../alpha", "https://example.org/acme/alpha.git", "alpha", "part")


@pytest.mark.embedded
@pytest.mark.usefixtures("alpha")
@each(("number", "name"), enumerate(CLAIMS))
def test_a_clone_that_names_a_project_is_the_project_of_its_remote(
    tmp_path: Path, store: Path, holdfast: Run, number: int, name: str
) -> None:
    clone = repository(tmp_path / f"clone{number}", "https://example.org/mallory/tool.git")
    claim(clone, name)
    assert SECRET not in fire(store, clone, "SessionStart", f"first {number}", source="startup")
    assert holdfast("work", cwd=clone).returncode == 0
    assert SECRET not in fire(store, clone, "SessionStart", f"second {number}", source="startup")
    done = holdfast("status", "--json", cwd=clone)
    assert answer(done)["project"] == "example.org/mallory/tool"
    assert done.stderr.count("project (only your own settings") == 1
    assert SECRET not in holdfast("recall", "launch codes", "--weak", cwd=clone).stdout


SUBMODULE = "http://127.0.0.1:1?@example.org/acme/alpha.git"


@pytest.mark.embedded
@pytest.mark.usefixtures("alpha")
def test_a_submodule_whose_address_looks_like_another_project_is_not_that_project(
    tmp_path: Path, store: Path, holdfast: Run
) -> None:
    clone = repository(tmp_path / "clone", "https://example.org/mallory/tool.git")
    lib = repository(clone / "lib", SUBMODULE)
    shown = holdfast("recall", "launch codes", "--weak", cwd=lib)
    assert SECRET not in shown.stdout
    assert shown.stderr.count("can be read in two ways") == 1
    assert holdfast("work", cwd=lib).returncode == 0
    assert SECRET not in fire(store, lib, "SessionStart", source="startup")
    assert project_of(holdfast, lib) == str(lib)


KEPT = "Deploys run from the release branch."


def known(holdfast: Run, folder: Path) -> bool:
    return KEPT in holdfast("list", cwd=folder).stdout


@pytest.fixture
def plain(tmp_path: Path, holdfast: Run) -> Path:
    """A repository without a remote, with one memory."""
    folder = repository(tmp_path / "plain")
    kept(lambda *arguments: holdfast(*arguments, cwd=folder), KEPT, *DECISION)
    return folder


@pytest.mark.embedded
def test_memories_follow_a_folder_that_gets_a_remote_and_the_user_may_move_them_back(
    plain: Path, store: Path, holdfast: Run
) -> None:
    git(plain, "remote", "add", "origin", "https://example.org/ada/pay.git")
    first = holdfast("recall", "which branch are deploys run from", cwd=plain)
    assert (KEPT in first.stdout, "To undo: holdfast store project move" in first.stderr) == (True, True)
    assert holdfast("work", cwd=plain).returncode == 0
    assert KEPT in fire(store, plain, "SessionStart", source="startup")
    assert holdfast("store", "project", "move", "example.org/ada/pay", str(plain), cwd=plain).returncode == 0
    listed = holdfast("list", cwd=plain)
    assert KEPT not in listed.stdout
    assert f"1 memory was saved here as {plain}" in listed.stdout


@pytest.mark.embedded
def test_memories_of_a_folder_that_moved_are_named_with_the_command_that_brings_them_back(
    plain: Path, store: Path, tmp_path: Path, holdfast: Run
) -> None:
    folder = plain.rename(tmp_path / "renamed here")
    command = f"holdfast store project move {plain} ."
    for words in (["list"], ["recall", "deploys"], ["status"], ["doctor"]):
        shown = " ".join(holdfast(*words, cwd=folder).stdout.split())
        assert command in shown, words
        assert "No memories yet" not in shown
    assert holdfast("work", cwd=folder).returncode == 0
    start = fire(store, folder, "SessionStart", source="startup")
    assert (command in start, KEPT in start) == (True, False)
    assert holdfast("store", "project", "move", str(plain), ".", cwd=folder).returncode == 0
    assert known(holdfast, folder)
    assert holdfast("work", cwd=folder).returncode == 0
    assert KEPT in fire(store, folder, "SessionStart", "s2", source="startup")


@pytest.mark.embedded
def test_a_changed_remote_and_a_fork_are_named_and_nothing_moves_by_itself(
    tmp_path: Path, alpha: Path, holdfast: Run
) -> None:
    subprocess.run(["cp", "-r", str(alpha), str(tmp_path / "fork")], check=True)
    for folder in (alpha, tmp_path / "fork"):
        git(folder, "remote", "set-url", "origin", "https://example.org/ada/fork.git")
        listed = holdfast("list", cwd=folder).stdout
        assert SECRET not in listed
        assert "holdfast store project move example.org/acme/alpha ." in " ".join(listed.split())
    assert SECRET in holdfast("list", "--project", "example.org/acme/alpha", cwd=alpha).stdout


@pytest.mark.embedded
def test_a_stranger_s_clone_with_the_same_first_commit_gets_nothing(
    plain: Path, store: Path, tmp_path: Path, holdfast: Run
) -> None:
    git(tmp_path, "clone", "-q", str(plain), "evil")
    evil = tmp_path / "evil"
    for remote in ("", "https://example.org/mallory/pay.git"):
        git(evil, "remote", *(("set-url", "origin", remote) if remote else ("remove", "origin")))
        if not remote:
            git(evil, "remote", "add", "origin", "/nowhere")
        assert KEPT not in holdfast("list", cwd=evil).stdout
        assert KEPT not in holdfast("recall", "deploys", "--weak", cwd=evil).stdout
        assert holdfast("work", cwd=evil).returncode == 0
        assert str(plain) not in fire(store, evil, "SessionStart", remote or "s", source="startup")
        assert str(plain) not in holdfast("recall", "deploys", cwd=evil, HOLDFAST_AGENT="claude-code").stdout
    shutil.rmtree(plain)  # and at the same path, in the place of what was there
    git(tmp_path, "clone", "-q", str(evil), str(plain))
    git(plain, "remote", "set-url", "origin", "https://example.org/mallory/pay.git")
    assert not known(holdfast, plain)
    assert known(lambda *arguments, **given: holdfast(*arguments, "--project", str(plain), **given), plain)


BAD_FILES = (
    'home = "/tmp/theirs"',
    'database = "postgresql://mallory.example/x"',
    'observer_url = "https://mallory.example"',
    "block_actions = true",
    "nonsense = 1",
    "recall_limit = -5",
    'recall_limit = "many"',
    "recall_limit = 1000000000",
    'inject = "loud"',
    'inject = "off"',
    'preset = "bettermemory"',
    'allowed_scopes = ["x"]',
    "confirm_writes = true",
    "pending_days = 1",
    "brief_budget = 0",
    "guard_secrets = false",
    'project = "part"',
    "= broken",
    "[table]\nx = 1",
    "recall_budget = 0",
    "hot_capacity = -1",
    "x" * 300_000,
    "project = " + "[" * 5_000 + "]" * 5_000,
)


@each("text", BAD_FILES)
def test_a_repository_config_that_cannot_be_used_is_ignored_with_one_warning(tmp_path: Path, text: str) -> None:
    (tmp_path / ".holdfast").mkdir(exist_ok=True)
    file = tmp_path / ".holdfast" / "config.toml"
    file.write_text(text + "\n")
    plain = load_settings(folder=tmp_path.parent, environment={}, flags={})
    settings = load_settings(folder=tmp_path, environment={}, flags={})
    assert settings.config == plain.config
    (warning,) = settings.warnings
    assert str(file) in warning
    assert len(warning) < 600


@pytest.mark.embedded
def test_a_clone_cannot_switch_memory_off(tmp_path: Path, holdfast: Run) -> None:
    clone = repository(tmp_path / "clone", "https://example.org/mallory/tool.git")
    kept(lambda *arguments: holdfast(*arguments, cwd=clone), SECRET)
    claim(clone, "part", home="/tmp/theirs", nonsense="1")
    git(clone, "reset", "-q", "--soft", "HEAD~1")
    (clone / ".holdfast" / "config.toml").write_text('home = "/tmp/theirs"\nnonsense = 1\nrecall_limit = 0\n')
    for command in (("recall", "launch codes"), ("work",), ("doctor",)):
        done = holdfast(*command, cwd=clone)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stderr.count("config.toml") == 1, (command, done.stderr)
    assert SECRET in holdfast("recall", "launch codes", cwd=clone).stdout


@pytest.mark.embedded
def test_the_user_may_name_a_folder(tmp_path: Path, holdfast: Run) -> None:
    folder = repository(tmp_path / "anything", "https://example.org/acme/old.git")
    (folder / "deep").mkdir()
    settings = new_folder(tmp_path / "config" / "holdfast")
    (settings / "config.toml").write_text(f'[projects]\n"{folder}" = "acme/new"\n')
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert project_of(holdfast, folder, **variables) == "acme/new"
    assert project_of(holdfast, folder / "deep", **variables) == "acme/new"
    assert project_of(holdfast, folder, HOLDFAST_PROJECT="acme/other", **variables) == "acme/other"
    other = repository(tmp_path / "anything-else", "https://example.org/acme/else.git")
    assert project_of(holdfast, other, **variables) == "example.org/acme/else"


@pytest.mark.embedded
def test_the_worker_serves_each_folder_with_its_own_settings(tmp_path: Path, store: Path, holdfast: Run) -> None:
    """Whatever the folder it is started in, or the shell, says about a project or settings, stays there."""
    first = repository(tmp_path / "first", "https://example.org/acme/alpha.git")
    second = repository(tmp_path / "second", "https://example.org/acme/beta.git")
    claim(first, "part", prompt_hints=False)
    kept(lambda *arguments: holdfast(*arguments, cwd=first), SECRET, *DECISION)
    kept(lambda *arguments: holdfast(*arguments, cwd=second), "Beta is written in Ruby.", *DECISION)
    fire(store, second, "SessionStart", source="startup")
    fire(store, second, "UserPromptSubmit", prompt="hello")
    done = holdfast("work", cwd=first, HOLDFAST_INJECT="off", HOLDFAST_PROJECT="example.org/acme/alpha")
    assert done.returncode == 0
    brief = fire(store, second, "SessionStart", "s2", source="startup")
    assert "Beta is written in Ruby." in brief
    assert SECRET not in brief
    listed = answer(holdfast("session", "list", "--json", cwd=second))
    assert [one["id"] for one in listed] == ["s1"]
    assert answer(holdfast("session", "list", "--json", cwd=first)) == []


@pytest.mark.embedded
def test_a_project_given_by_a_variable_holds_for_that_session_alone(tmp_path: Path, store: Path, holdfast: Run) -> None:
    folder = repository(tmp_path / "first", "https://example.org/acme/alpha.git")
    kept(lambda *arguments: holdfast(*arguments, cwd=folder), "Alpha is written in Go.", *DECISION)
    other = {"HOLDFAST_PROJECT": "acme/experiment"}
    kept(lambda *arguments: holdfast(*arguments, cwd=folder, **other), SECRET, *DECISION)
    fire(store, folder, "SessionStart", "s1", source="startup", **other)
    fire(store, folder, "SessionStart", "s2", source="startup")
    assert holdfast("work", cwd=tmp_path).returncode == 0
    assert SECRET in fire(store, folder, "SessionStart", "s3", source="startup", **other)
    plain = fire(store, folder, "SessionStart", "s4", source="startup")
    assert "Alpha is written in Go." in plain
    assert SECRET not in plain


LONG = "/".join(["x" * 60] * 3)
SIMILAR = [("acme/shop", "acme-shop"), ("a.b", "a_b"), (f"1/{LONG}/end", f"2/{LONG}/end"), ("日本", "中国")]


@pytest.mark.embedded
@each(("one", "another"), SIMILAR)
def test_what_is_prepared_for_one_path_is_never_read_for_another(
    tmp_path: Path, store: Path, holdfast: Run, one: str, another: str
) -> None:
    mine, other = tmp_path / one, tmp_path / another
    for folder in (mine, other):
        repository(folder)
    kept(lambda *arguments: holdfast(*arguments, cwd=mine), SECRET, *DECISION)
    assert holdfast("work", cwd=mine).returncode == 0
    assert SECRET in fire(store, mine, "SessionStart", one, source="startup")
    assert SECRET not in fire(store, other, "SessionStart", another, source="startup")


@pytest.mark.embedded
def test_another_repository_at_the_same_path_does_not_inherit_the_brief(
    tmp_path: Path, alpha: Path, store: Path
) -> None:
    alpha.rename(tmp_path / "moved")
    repository(alpha, "https://example.org/mallory/tool.git")
    assert SECRET not in fire(store, alpha, "SessionStart", "s2", source="startup")
    git(alpha, "remote", "set-url", "origin", "https://example.org/acme/alpha.git")
    assert SECRET in fire(store, alpha, "SessionStart", "s3", source="startup")


@pytest.mark.embedded
def test_prepared_files_say_whose_they_are(tmp_path: Path, alpha: Path, store: Path, holdfast: Run) -> None:
    tree = tmp_path / "tree"
    git(alpha, "worktree", "add", "-q", str(tree), "-b", "side")
    assert holdfast("work", cwd=tree).returncode == 0
    found = [json.loads(path.read_text()) for path in (store / "prepared").glob("*.json")]
    assert sorted((one["project"], one["path"], one["worktree"]) for one in found) == [
        ("example.org/acme/alpha", str(alpha), ""),
        ("example.org/acme/alpha", str(tree), "tree"),
    ]
    edited = next(path for path in (store / "prepared").glob("*.json") if json.loads(path.read_text())["worktree"])
    edited.write_text(json.dumps(json.loads(edited.read_text()) | {"path": str(alpha)}))
    fire(store, tree, "SessionStart", "s9", source="startup")
    wait_for(lambda: json.loads(edited.read_text())["path"] == str(tree))  # one that names another is made again


@pytest.mark.embedded
@pytest.mark.usefixtures("alpha")
def test_a_repository_hidden_inside_another_is_not_asked(tmp_path: Path, holdfast: Run) -> None:
    """A folder that holds the inside of a repository can be committed; git would believe its config."""
    clone = repository(tmp_path / "clone", "https://example.org/mallory/tool.git")
    trap = clone / "docs"
    git(tmp_path, "init", "-q", "--bare", str(trap))
    git(trap, "config", "core.bare", "false")
    git(trap, "config", "core.worktree", str(trap))
    git(trap, "config", "remote.origin.url", "https://example.org/acme/alpha.git")
    assert project_of(holdfast, trap) == str(trap)
    assert SECRET not in holdfast("recall", "launch codes", "--weak", cwd=trap).stdout


@pytest.fixture
def remotes(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        bare = new_folder(tmp_path / "remotes" / name)
        git(bare, "init", "-q", "--bare", "-b", "main")
        return bare

    return make


@pytest.mark.embedded
def test_notes_go_only_to_the_remote_they_were_turned_on_for(
    tmp_path: Path, holdfast: Run, remotes: Callable[[str], Path]
) -> None:
    own, other = remotes("own.git"), remotes("other.git")
    folder = repository(tmp_path / "mine", str(own))
    named = {"HOLDFAST_PROJECT": "acme/alpha"}
    kept(lambda *arguments: holdfast(*arguments, cwd=folder, **named), SECRET, *DECISION)
    assert holdfast("replica", "on", "notes", "--no-git-config", cwd=folder, **named).returncode == 0
    assert holdfast("sync", cwd=folder, **named).returncode == 0
    assert "refs/notes/holdfast/decisions" in git(own, "for-each-ref")
    stranger = repository(tmp_path / "stranger", str(other))
    refused = holdfast("sync", cwd=stranger, **named)
    assert refused.returncode == 4
    assert "own.git" in refused.stderr
    assert "holdfast replica on notes" in refused.stderr
    assert git(other, "for-each-ref") == ""
    git(folder, "remote", "add", "fork", str(other))
    assert holdfast("sync", "--remote", "fork", cwd=folder, **named).returncode == 4
    git(folder, "config", "remote.origin.pushurl", str(other))
    assert holdfast("sync", cwd=folder, **named).returncode == 4
    assert git(other, "for-each-ref") == ""
    git(folder, "config", "--unset", "remote.origin.pushurl")
    assert (
        holdfast("replica", "on", "notes", "--remote", "fork", "--no-git-config", cwd=folder, **named).returncode == 0
    )
    assert holdfast("sync", "--remote", "fork", cwd=folder, **named).returncode == 0
    assert "refs/notes/holdfast/decisions" in git(other, "for-each-ref")


@pytest.mark.embedded
def test_files_go_only_into_the_repository_they_were_turned_on_for(
    tmp_path: Path, holdfast: Run, remotes: Callable[[str], Path]
) -> None:
    folder = repository(tmp_path / "mine", str(remotes("own.git")))
    stranger = repository(tmp_path / "stranger", str(remotes("other.git")))
    named = {"HOLDFAST_PROJECT": "acme/alpha"}
    kept(lambda *arguments: holdfast(*arguments, cwd=folder, **named), SECRET, *DECISION)
    assert holdfast("replica", "on", "repository", cwd=folder, **named).returncode == 0
    assert holdfast("sync", cwd=folder, **named).returncode == 0
    assert list((folder / ".holdfast" / "memories").rglob("*.md"))
    assert holdfast("sync", cwd=stranger, **named).returncode == 4
    assert not (stranger / ".holdfast").exists()


@pytest.mark.embedded
def test_a_replica_turned_on_by_an_earlier_version_still_works_where_git_agrees(
    tmp_path: Path, holdfast: Run, store: Path, remotes: Callable[[str], Path]
) -> None:
    """Earlier versions noted only that a replica is on for a project."""
    folder = repository(tmp_path / "mine", str(remotes("own.git")))
    kept(lambda *arguments: holdfast(*arguments, cwd=folder), SECRET, *DECISION)
    assert holdfast("replica", "on", "notes", "--no-git-config", cwd=folder).returncode == 0
    with sqlite3.connect(store / "holdfast.db") as db:
        changed = db.execute("update settings set value = 'on' where name like 'replica % notes %'").rowcount
    assert changed == 1
    assert holdfast("sync", cwd=folder).returncode == 0
    with sqlite3.connect(store / "holdfast.db") as db:
        db.execute(
            "update settings set value = 'on', name = replace(name, ?, 'acme/alpha') where name like 'replica %'",
            (str(folder),),
        )
    assert holdfast("sync", cwd=folder, HOLDFAST_PROJECT="acme/alpha").returncode == 4
