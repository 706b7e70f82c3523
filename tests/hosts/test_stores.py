"""Which store a folder uses: the usual one, or one that the user made for it; never one that came from elsewhere, or whose locks fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from holdfast.compose.settings import load_settings, make_store, store_folder
from holdfast.engine import locks
from holdfast.hosts.hooks import places
from holdfast.model.errors import Conflict, InvalidConfig
from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, answer, kept
from tests.hosts.scripts import scripts_in
from tests.replicas.seats import git
from tests.rows import missing, refused, sampled

scripts_in(globals())
pytestmark = pytest.mark.embedded


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual store of a user with nothing in their own settings."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
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
    for name in names:
        new_file(folder / ".holdfast" / name, "theirs\n")
    return folder


def test_nothing_that_lies_in_a_checkout_a_package_or_a_shared_folder_is_used_as_a_store(
    usual: Path, clone: Path
) -> None:
    tried = {
        "empty folder": new_folder(clone / ".holdfast").parent,
        "a store": plant(clone / "b", "holdfast.db"),
        "with settings": plant(clone / "c", "holdfast.db", "config.toml"),
        "package": plant(clone / "node_modules" / "evil", "x"),
        "above": plant(clone.parent, "holdfast.db") / "clone" / "a",
        "link": new_folder(clone / "d"),
    }
    (clone / "d" / ".holdfast").symlink_to(clone / "b" / ".holdfast")
    assert {name: used(folder) for name, folder in tried.items()} == dict.fromkeys(tried, usual)


def test_a_separate_store_is_made_outside_of_the_folder(usual: Path, clone: Path) -> None:
    store = make_store(clone)
    assert store.parent == usual / "stores"
    assert used(clone / "deep" / "er") == used(clone) == store
    assert used(clone.parent) == usual
    assert list(clone.iterdir()) == [clone / ".git"]


def test_a_store_of_another_user_or_one_that_others_may_write_is_refused(usual: Path, clone: Path) -> None:
    store = make_store(clone)
    file = store / "holdfast.db"
    file.write_bytes(b"")
    for path in (store, file):
        path.chmod(0o770)
        refused(InvalidConfig, used, clone, says="other users may write")
        refused(PermissionError, places.home_of, str(clone), says="other users may write")
        path.chmod(0o700)
    assert used(clone) == store
    file.unlink()
    file.symlink_to("/dev/zero")
    refused(InvalidConfig, used, clone, says="other users may write")
    file.unlink()
    other = os.geteuid() + 1
    with patch.object(os, "geteuid", lambda: other):
        refused(InvalidConfig, used, clone, says="belongs to another user")
        refused(Conflict, make_store, clone / "..", store, says="belongs to another user")
    assert usual.exists()


@pytest.mark.usefixtures("usual")
def test_a_store_that_git_tracks_cannot_be_put_on_the_list(clone: Path) -> None:
    store = plant(clone, "holdfast.db") / ".holdfast"
    git(clone, "add", "-f", ".holdfast/holdfast.db")
    refused(Conflict, make_store, clone, store, says="git tracks a store there")


def test_a_damaged_list_of_stores_is_reported_and_hooks_do_nothing(usual: Path, clone: Path) -> None:
    usual.mkdir(parents=True)
    for text in ("", "{", "[]", "5"):
        (usual / "stores.json").write_text(text)
        config = load_settings(folder=clone.parent, environment={}).config
        refused(InvalidConfig, store_folder, config, clone, says="list of stores")
        refused(ValueError, places.home_of, str(clone), says=r"list of stores|Expecting")


LINUX = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="a library is loaded before libc, as Linux does it; a C compiler makes it",
)


def preloaded(folder: Path, *flags: str) -> dict[str, str]:
    source, made = Path(__file__).with_name("locks.c"), folder / f"locks{'-'.join(flags)}.so"
    subprocess.run(["cc", "-shared", "-fPIC", *flags, "-o", str(made), str(source), "-ldl"], check=True)
    return {"LD_PRELOAD": str(made)}


@LINUX
def test_locks_that_fail_are_said_and_nothing_changes(run: Run, tmp_path: Path, own_home: Path) -> None:
    record = kept(run, "The deploy needs two approvals.")
    [store] = own_home.rglob("holdfast.db")
    before = store.read_bytes()
    commands = [("remember", "One thing more."), ("recall", "deploy"), ("show", record), ("doctor",)]
    for error in sampled(["ENOLCK", "EOPNOTSUPP"], 2):
        broken = preloaded(tmp_path, f"-DFAIL={error}")
        for command in sampled(commands, 3):
            done = run(*command, **broken)
            assert (done.returncode, missing(done.stderr, "refuses locks", "local disk")) == (5, []), (command, done)
            assert "Traceback" not in done.stderr
    assert store.read_bytes() == before
    assert len(answer(run("list", "--json"))["records"]) == 1


@LINUX
def test_the_doctor_notices_locks_that_everybody_gets(run: Run, tmp_path: Path) -> None:
    kept(run, "The deploy needs two approvals.")
    whole, told = run("doctor"), run("doctor", **preloaded(tmp_path))
    assert "locks work between processes" in whole.stdout, whole.stdout
    assert missing(told.stdout, "gives the same lock to two processes", "local disk") == []
    assert told.returncode != whole.returncode or whole.returncode != 0


@LINUX
def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    assert locks.file_system_of(Path("/proc/self")) == "proc"
    assert not locks.is_remote(locks.file_system_of(tmp_path)), os.fspath(tmp_path)
    assert all(locks.is_remote(kind) for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"))
