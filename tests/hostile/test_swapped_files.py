"""A file or folder is exchanged for a link between the moment it is checked and the moment it is used."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.hosts.web.pages.code import source_of
from holdfast.hosts.web.pages.record import cited_by
from holdfast.model import files
from holdfast.model.files import read_inside, read_regular, write_whole
from holdfast.model.record import Draft
from holdfast.policy.admission.sharing import own
from holdfast.verbs.exchange.bootstrap import bootstrap
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import hydrate
from tests.conftest import Time, keep, make_memory, new_folder
from tests.replicas.seats import commit, git
from tests.rows import refused

SECRET = "qxz7431 is written outside of the checkout"
# What reads files of a checkout.
READERS: dict[str, Callable[[Memory, str], object]] = {
    "anchors": lambda memory, path: GitCheckout(memory.checkout.top())._read(path, ""),
    "hydrate": lambda memory, path: hydrate(memory, keep(memory, f"It is in {path}.", anchors=(path,)).id),
    "viewer": source_of,
    "viewer's citations": lambda memory, path: cited_by(memory, keep(memory, f"See {path}.", anchors=(path,))),
    "bootstrap": lambda memory, path: bootstrap(memory, Draft(body=""), files=[path]),
}


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Memory:
    top = tmp_path / "top"
    (top / "src").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    commit(top, "src/notes.md", "# Notes\n\nNothing that anyone hides, in a file of the checkout.\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "notes.md").write_text(f"# Notes\n\n{SECRET}, in a file of the user.\n")
    memory = make_memory(tmp_path, time)
    return replace(memory, checkout=GitCheckout(top, memory.project))


@pytest.mark.embedded
@pytest.mark.parametrize("swapped", ["src", "src/notes.md"])
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_nothing_outside_a_checkout_is_read_when_a_link_appears_after_the_check(
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    swapped: str,
    reader: Callable[[Memory, str], object],
) -> None:
    place, real = tmp_path / "top" / swapped, os.path.realpath

    def exchanging(path: "os.PathLike[str] | str", **more: bool) -> str:
        """Resolve a path as it was, and exchange the file or folder right afterwards."""
        answer = real(path, **more)
        if answer.startswith(str(tmp_path / "top" / "src")) and not place.is_symlink():
            place.rename(tmp_path / "before")
            place.symlink_to(tmp_path / "outside" / swapped.removeprefix("src").removeprefix("/"))
        return answer

    monkeypatch.setattr(os.path, "realpath", exchanging)
    said = reader(memory, "src/notes.md")
    monkeypatch.undo()
    assert place.is_symlink()
    assert SECRET not in f"{said} {list(memory.store.journal())}"


def test_a_memory_file_that_becomes_a_link_is_not_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_folder(tmp_path / "memories")
    (folder / "a.md").write_text("One thing.\n")
    scandir = os.scandir

    def exchanging(path: str) -> object:
        entries = list(scandir(path))
        if Path(path) == folder:
            (folder / "a.md").unlink()
            (folder / "a.md").symlink_to(tmp_path / "outside" / "notes.md")
        return _Entries(entries)

    replica = MarkdownFolder(folder, tmp_path / "states")
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", exchanging)
        done = sync(memory, replica, own())
    replica.close()
    assert done.came == 0
    assert SECRET not in str(list(memory.store.journal()))


class _Entries(list["os.DirEntry[str]"]):
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


def test_a_pipe_a_folder_and_a_large_file_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to("large")
    for name in ("pipe", ".", "large", "nothing", "../other", "/etc/passwd"):
        refused(OSError, read_inside, tmp_path, name, 10, says=r"regular|larger|No such|leads out")
    refused(OSError, read_regular, tmp_path / "link", 100, links=False, says="symbolic links")
    assert read_inside(tmp_path, "link", 11) == b"x" * 11


def test_writing_a_file_follows_no_link_that_lies_at_its_temporary_name(tmp_path: Path) -> None:
    """A repository can hold links for every number of a process."""
    folder, profile = tmp_path / "memories", tmp_path / "profile"
    folder.mkdir()
    profile.write_text("mine")
    used = next(files._COUNT)
    for count in range(used, used + 50):
        (folder / f".a.md.{count}.{os.getpid()}.tmp").symlink_to(profile)
    (folder / "a.md").symlink_to(profile)
    write_whole(folder / "a.md", "theirs")
    written = folder / "a.md"
    assert (profile.read_text(), written.read_text(), written.is_symlink()) == ("mine", "theirs", False)
    assert len(list(folder.iterdir())) == 50  # one of the links was in the way
