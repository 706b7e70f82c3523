"""A memory filled from documents: in their order, once, and only from inside the project."""

import os
from pathlib import Path

import pytest

from holdfast.model.errors import Invalid
from holdfast.model.record import Draft
from holdfast.verbs.exchange.bootstrap import bootstrap, confined, seed_file
from holdfast.verbs.memory import Memory
from tests.rows import refused
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

LIKE = Draft(body="", source="imported", tags=("docs",))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\nAlways run the linter.\n")
    (tmp_path / "README.md").write_text("# Shop\n\nThe shop sells shoes.\n\n## Setup\n\nInstall with uv sync.\n")
    (tmp_path / "docs" / "README.md").write_text("The docs are built with mkdocs.\n")
    return tmp_path


def test_of_a_changelog_only_the_latest_releases_are_kept(memory: Memory, project: Path) -> None:
    (project / "CHANGES.md").write_text("".join(f"## 1.{n}\n\n- one\n- two in 1.{n}\n\n" for n in range(30, 0, -1)))
    done = seed_file(memory, project / "CHANGES.md", LIKE)
    assert (len(done.kept), done.problems) == (10, ("CHANGES.md: 20 older releases left out",))


def test_files_that_cannot_be_read_are_named_and_spoil_nothing(memory: Memory, project: Path) -> None:
    (project / "a.md").write_bytes(b"\x00\x01\x02")
    (project / "b.md").write_bytes("größe".encode("latin-1"))
    (project / "c.md").write_text("")
    (project / "d.md").symlink_to("/etc/hostname")
    done = bootstrap(memory, LIKE, files=["?.md", "README.md", "nowhere.md", "../x.md", "/etc/hostname"], hot=False)
    assert len(done.kept) == 2
    assert done.problems == (
        "a.md: it is a binary file",
        "b.md: it is not UTF-8",
        "c.md: it is empty",
        "nowhere.md: there is no such file",
        "../x.md: there is no such file",
        "/etc/hostname: there is no such file",
    )


def test_nothing_outside_of_the_project_is_read(memory: Memory, project: Path) -> None:
    (project / "out").symlink_to("/etc")
    for path in ("..", "/etc", "out", "docs/../../.."):
        refused(Invalid, confined, memory, path, says="outside of the project")
    refused(Invalid, bootstrap, memory, LIKE, root="/etc", says="outside of the project")
    assert confined(memory, "docs") == (project / "docs").resolve()


def test_a_file_nobody_may_read_is_a_problem_not_a_crash(memory: Memory, project: Path) -> None:
    (project / "secret.md").write_text("A secret document.")
    (project / "secret.md").chmod(0)
    done = seed_file(memory, project / "secret.md", LIKE)
    assert os.geteuid() == 0 or done.problems == ("secret.md: it cannot be read (Permission denied)",)
