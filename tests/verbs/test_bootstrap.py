"""A memory filled from documents: in their order, once, and only from inside the project."""

from pathlib import Path

from holdfast.model.errors import Invalid
from holdfast.model.record import Draft
from holdfast.verbs.exchange.bootstrap import bootstrap, confined, seed_file
from holdfast.verbs.memory import Memory
from tests.conftest import new_folder
from tests.rows import refused
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

LIKE = Draft(body="", source="imported", tags=("docs",))


def test_of_a_changelog_only_the_latest_releases_are_kept(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "CHANGES.md").write_text("".join(f"## 1.{n}\n\n- one\n- two in 1.{n}\n\n" for n in range(30, 0, -1)))
    done = seed_file(memory, tmp_path / "CHANGES.md", LIKE)
    assert (len(done.kept), done.problems) == (10, ("CHANGES.md: 20 older releases left out",))


def test_files_that_cannot_be_read_are_named_and_spoil_nothing(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Shop\n\nThe shop sells shoes.\n\n## Setup\n\nInstall with uv sync.\n")
    (tmp_path / "a.md").write_bytes(b"\x00\x01\x02")
    (tmp_path / "b.md").write_bytes("größe".encode("latin-1"))
    (tmp_path / "c.md").write_text("")
    (tmp_path / "d.md").symlink_to("/etc/hostname")
    done = bootstrap(memory, LIKE, files=["?.md", "README.md", "nowhere.md", "../x.md", "/etc/hostname"], hot=False)
    missing = [f"{name}: there is no such file" for name in ("nowhere.md", "../x.md", "/etc/hostname")]
    assert len(done.kept) == 2
    assert done.problems == ("a.md: it is a binary file", "b.md: it is not UTF-8", "c.md: it is empty", *missing)
    gone = seed_file(memory, tmp_path / "nowhere.md", LIKE)
    assert gone.problems == ("nowhere.md: it cannot be read (No such file or directory)",)


def test_nothing_outside_of_the_project_is_read(memory: Memory, tmp_path: Path) -> None:
    new_folder(tmp_path / "docs")
    (tmp_path / "out").symlink_to("/etc")
    for path in ("..", "/etc", "out", "docs/../../.."):
        refused(Invalid, confined, memory, path, says="outside of the project")
    refused(Invalid, bootstrap, memory, LIKE, root="/etc", says="outside of the project")
    assert confined(memory, "docs") == (tmp_path / "docs").resolve()
