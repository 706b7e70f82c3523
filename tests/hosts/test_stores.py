"""Which store a folder uses: the usual one, or one that the user made for it; never one that came from elsewhere."""

import os
from pathlib import Path

import pytest

from holdfast.compose.settings import PRIVATE, load_settings, make_store, store_folder
from holdfast.hosts.hooks import places
from holdfast.model.errors import Conflict, InvalidConfig
from tests.conftest import new_folder
from tests.hosts.running import Run, answer
from tests.replicas.seats import git

pytestmark = pytest.mark.embedded


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual store of a user with nothing in their own settings."""
    monkeypatch.delenv("HOLDFAST_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "data" / "holdfast"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = new_folder(tmp_path / "clone")
    git(folder, "init", "-q")
    return folder


def used(folder: Path) -> Path:
    """The store of a folder, as commands and hooks find it: they agree."""
    found = store_folder(load_settings(folder=folder, environment={}).config, folder)
    assert places.home_of(str(folder)) == str(found)
    return found


def plant(folder: Path, *names: str) -> Path:
    """Ship a .holdfast folder with files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("theirs\n")
    return folder.parent


def test_nothing_that_lies_in_a_checkout_a_package_or_a_shared_folder_is_used_as_a_store(
    usual: Path, clone: Path
) -> None:
    tried = {
        "empty folder": plant(clone / ".holdfast"),
        "notes": plant(clone / "a" / ".holdfast", "NOTES"),
        "a store": plant(clone / "b" / ".holdfast", "holdfast.db"),
        "with settings": plant(clone / "c" / ".holdfast", "holdfast.db", "config.toml"),
        "package": plant(clone / "node_modules" / "evil" / ".holdfast", "x"),
        "above": plant(clone.parent / ".holdfast", "holdfast.db") / "clone" / "a",
    }
    (clone / "d").mkdir()
    (clone / "d" / ".holdfast").symlink_to(clone / "b" / ".holdfast")
    tried["link"] = clone / "d"
    assert {name: used(folder) for name, folder in tried.items()} == dict.fromkeys(tried, usual)


def test_no_command_writes_into_a_clone(run: Run, clone: Path, own_home: Path) -> None:
    plant(clone / ".holdfast", "NOTES", ".gitignore")
    (clone / ".holdfast" / ".gitignore").write_text("\n".join([*PRIVATE, "!holdfast.db", ""]))
    data = {"XDG_DATA_HOME": str(own_home / "data"), "HOLDFAST_HOME": ""}
    git(clone, "add", "-A")
    for words in (["remember", "Private."], ["status"], ["list"], ["work"], ["doctor"]):
        assert run(*words, cwd=clone, **data).returncode == 0, words
    assert git(clone, "status", "--porcelain", "-uall", "--ignored").splitlines() == [
        "A  .holdfast/.gitignore",
        "A  .holdfast/NOTES",
    ]


def test_a_store_nearby_that_is_not_on_the_list_is_reported_once_with_the_way_to_use_it(
    run: Run, clone: Path, own_home: Path
) -> None:
    data = {"XDG_DATA_HOME": str(own_home / "data"), "HOLDFAST_HOME": ""}
    store = clone / ".holdfast"
    assert run("remember", "Mine.", cwd=clone, **{**data, "HOLDFAST_HOME": str(store)}).returncode == 0
    done = run("list", cwd=clone, **data)
    assert "Mine." not in done.stdout
    assert done.stderr.count(f"holdfast store separate {clone} --at {store}") == 1
    assert run("store", "separate", ".", "--at", str(store), cwd=clone, **data).returncode == 0
    deep = new_folder(clone / "deep")
    done = run("list", cwd=deep, **data)
    assert ("Mine." in done.stdout, done.stderr) == (True, "")
    assert answer(run("store", "detach", "--json", cwd=clone, **data)) == {"folder": str(clone), "store": str(store)}
    assert "Mine." not in run("list", cwd=deep, **data).stdout
    assert run("store", "detach", cwd=clone, **data).returncode == 3


def test_a_separate_store_is_made_outside_of_the_folder(usual: Path, clone: Path) -> None:
    store = make_store(clone)
    assert store.parent == usual / "stores"
    assert used(clone / "deep" / "er") == used(clone) == store
    assert used(clone.parent) == usual
    assert list(clone.iterdir()) == [clone / ".git"]


def test_a_store_of_another_user_or_one_that_others_may_write_is_refused(
    usual: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(clone)
    (store / "holdfast.db").write_bytes(b"")
    for path in (store, store / "holdfast.db"):
        path.chmod(0o770)
        for refused in (lambda: used(clone), lambda: places.home_of(str(clone))):
            with pytest.raises((InvalidConfig, PermissionError), match="other users may write"):
                refused()
        path.chmod(0o700)
    assert used(clone) == store
    (store / "holdfast.db").unlink()
    (store / "holdfast.db").symlink_to("/dev/zero")
    with pytest.raises(InvalidConfig, match="other users may write"):
        used(clone)
    (store / "holdfast.db").unlink()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(InvalidConfig, match="belongs to another user"):
        used(clone)
    with pytest.raises(Conflict, match="belongs to another user"):
        make_store(clone / "..", store)
    assert usual.exists()


@pytest.mark.usefixtures("usual")
def test_a_store_that_git_tracks_cannot_be_put_on_the_list(clone: Path) -> None:
    store = plant(clone / ".holdfast", "holdfast.db") / ".holdfast"
    git(clone, "add", "-f", ".holdfast/holdfast.db")
    with pytest.raises(Conflict, match="git tracks a store there"):
        make_store(clone, store)


def test_a_damaged_list_of_stores_is_reported_and_hooks_do_nothing(usual: Path, clone: Path) -> None:
    usual.mkdir(parents=True)
    for text in ("", "{", "[]", "5"):
        (usual / "stores.json").write_text(text)
        with pytest.raises(InvalidConfig, match="list of stores"):
            store_folder(load_settings(folder=clone.parent, environment={}).config, clone)
        with pytest.raises(ValueError, match=r"list of stores|Expecting"):
            places.home_of(str(clone))


def test_a_store_in_a_repository_by_the_user_s_own_setting_is_not_committed(run: Run, clone: Path) -> None:
    """Whatever the repository ships: our lines stand last, and a link is not followed."""
    store = clone / ".holdfast"
    plant(store)
    hostile = "\n".join([*PRIVATE, "!holdfast.db", "!*"])
    (store / ".gitignore").write_text(hostile)
    assert run("remember", "Private.", cwd=clone, HOLDFAST_HOME=str(store)).returncode == 0
    git(clone, "add", "-A")
    assert git(clone, "ls-files").splitlines() == [".holdfast/.gitignore"]
    (store / ".gitignore").unlink()
    target = clone.parent / "target"
    target.write_text("mine\n")
    (store / ".gitignore").symlink_to(target)
    assert run("list", cwd=clone, HOLDFAST_HOME=str(store)).returncode == 0
    assert target.read_text() == "mine\n"
