"""A memory filled from documents: in their order, once, and only from inside the project."""

import os
from pathlib import Path

import pytest

from holdfast.model.errors import Invalid
from holdfast.model.record import Draft
from holdfast.verbs.exchange.bootstrap import bootstrap, confined, seed_file, seed_text
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import hot_set, promote
from holdfast.verbs.records.lifecycle import retire
from tests.conftest import Time, keep, make_memory, new_folder
from tests.rows import refused

LIKE = Draft(body="", source="imported", tags=("docs",))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\nAlways run the linter.\n")
    (tmp_path / "README.md").write_text("# Shop\n\nThe shop sells shoes.\n\n## Setup\n\nInstall with uv sync.\n")
    (tmp_path / "docs" / "README.md").write_text("The docs are built with mkdocs.\n")
    return tmp_path


def test_documents_become_memories_in_the_order_they_matter(memory: Memory, project: Path) -> None:
    assert project.exists()
    done = bootstrap(memory, LIKE)
    assert [record.body for record in done.kept] == [
        "[CLAUDE.md > Rules] Always run the linter.",
        "[README.md > Shop] The shop sells shoes.",
        "[README.md > Shop > Setup] Install with uv sync.",
        "[docs/README.md] The docs are built with mkdocs.",
    ]
    assert (done.found, done.read, done.known, done.hot, done.problems) == (3, 3, 0, 0, ())
    assert {(record.source, record.tags, record.anchors) for record in done.kept[:1]} == {
        ("imported", ("docs",), ("CLAUDE.md",))
    }


def test_again_it_changes_nothing_and_what_was_retired_stays_so(memory: Memory, project: Path) -> None:
    retire(memory, bootstrap(memory, LIKE).kept[0].id, "we dropped the linter")
    before = memory.store.last_id()
    again = bootstrap(memory, LIKE)
    assert (again.kept, again.known, again.hot, memory.store.last_id()) == ((), 4, 0, before)
    (project / "CLAUDE.md").write_text("# Rules\n\nAlways run the linter twice.\n")
    assert [record.body for record in bootstrap(memory, LIKE).kept] == [
        "[CLAUDE.md > Rules] Always run the linter twice."
    ]


def test_what_is_new_takes_nobodys_place_in_the_hot_set(tmp_path: Path, time: Time) -> None:
    (tmp_path / "README.md").write_text(
        "\n\n".join(f"# Part {n}\n\nParagraph number {n} of the readme." for n in range(9))
    )
    (tmp_path / "ARCHITECTURE.md").write_text("Layers point to the left.")
    with make_memory(tmp_path, time, config={"hot_capacity": 3}) as memory:
        promote(memory, keep(memory, "Deploys happen on Fridays.").id)
        done = bootstrap(memory, LIKE, hot=True)
        assert (len(done.kept), done.hot) == (10, 2)
        assert {one.record.body for one in hot_set(memory)} == {
            "Deploys happen on Fridays.",
            "[README.md > Part 0] Paragraph number 0 of the readme.",
            "[ARCHITECTURE.md] Layers point to the left.",
        }


def test_instructions_contributing_guides_and_docs_are_read_and_changelogs_are_not(
    memory: Memory, project: Path
) -> None:
    for name in ("AGENTS.md", "GEMINI.md", "CONTRIBUTING.md", "docs/contributing.rst", "CHANGELOG.md", "LICENSE.md"):
        (project / name).write_text(f"What {name} says about this project.\n")
    documents = [record.extra["document"] for record in bootstrap(memory, LIKE).kept]
    assert documents == [
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        "README.md",
        "README.md",
        "CONTRIBUTING.md",
        "docs/README.md",
        "docs/contributing.rst",
    ]


def test_how_to_build_run_and_test_is_read_from_manifests(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(
        '{"scripts": {"test": "vitest run", "build": "vite build", "postinstall": "x"}}'
    )
    (tmp_path / "pnpm-lock.yaml").write_text("")
    (tmp_path / "Makefile").write_text(
        "VERSION := 1\n\ntest: build ## Run all tests\n\tpytest -x\n\nlint:\n\t@ruff check\n\nsecret.o: a.c\n\tcc a.c\n"
    )
    (tmp_path / "justfile").write_text(
        "set shell := ['sh']\n\n# Serve the shop\nserve port='80':\n    shop --port {{port}}\n\n_hidden:\n    x\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nrequires-python = ">=3.11"\n[project.scripts]\nshop = "shop.cli:main"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    )
    workflows = new_folder(tmp_path / ".github" / "workflows")
    (workflows / "ci.yml").write_text(
        "jobs:\n  test:\n    steps:\n      - run: uv sync\n      - name: Test\n        run: |\n          uv run pytest \\\n            -x\n          curl https://x\n"
    )
    (workflows / "publish.yml").write_text("jobs:\n  a:\n    steps:\n      - run: uv build\n")
    assert [record.body for record in bootstrap(memory, LIKE).kept] == [
        "[justfile > Build, run and test] `just serve`: Serve the shop",
        "[Makefile > Build, run and test]\n- `make test`: Run all tests\n- `make lint`: `ruff check`",
        "[package.json > Build, run and test]\n- `pnpm test`: `vitest run`\n- `pnpm run build`: `vite build`",
        "[pyproject.toml > Build, run and test]\n- Python >=3.11\n- `shop` runs `shop.cli:main`\n- `pytest` (tests in tests)",
        "[.github/workflows/ci.yml > Build, run and test]\n- `uv sync`\n- `uv run pytest -x`",
    ]


def test_a_preview_saves_nothing(memory: Memory, project: Path) -> None:
    assert project.exists()
    done = bootstrap(memory, LIKE, hot=True, dry_run=True)
    assert (len(done.kept), done.hot, list(memory.store.journal())) == (4, 0, [])
    assert str(done) == "3 documents read: 4 memories would be saved, 0 already known, 0 added to the hot set."


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


def test_credentials_in_documents_are_masked(memory: Memory, project: Path) -> None:
    (project / "keys.md").write_text("The key is ghp_" + "a1B2" * 9 + " for the bot.")
    assert "ghp_" not in seed_file(memory, project / "keys.md", LIKE).kept[0].body


def test_a_text_is_kept_item_by_item(memory: Memory) -> None:
    done = seed_text(memory, "Deploys:\n\n- happen on Fridays\n- need two people\n\n1. First the tests run", LIKE)
    assert [record.body for record in done.kept] == ["happen on Fridays", "need two people", "First the tests run"]
    assert seed_text(memory, "- happen on Fridays", LIKE).known == 1


def test_a_file_nobody_may_read_is_a_problem_not_a_crash(memory: Memory, project: Path) -> None:
    (project / "secret.md").write_text("A secret document.")
    (project / "secret.md").chmod(0)
    done = seed_file(memory, project / "secret.md", LIKE)
    assert os.geteuid() == 0 or done.problems == ("secret.md: it cannot be read (Permission denied)",)
