"""Which project a folder is: git's remote, its path, or the user's own settings decide; a repository cannot pose as another."""

import json
from pathlib import Path

import pytest

from holdfast.compose.settings import load_settings
from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, hooked, wait_for
from tests.hosts.scripts import scripts_in
from tests.replicas.seats import commit, git
from tests.rows import each, rows

scripts_in(globals(), hooks=True)
pytestmark = pytest.mark.embedded


@each("text", (*rows("settings_of_a_repository_that_cannot_be_used"), "x" * 300_000, f"a = {'[' * 5_000}{']' * 5_000}"))
def test_a_repository_config_that_cannot_be_used_is_ignored_with_one_warning(tmp_path: Path, text: str) -> None:
    file = new_file(tmp_path / ".holdfast" / "config.toml", text + "\n")
    plain = load_settings(folder=tmp_path.parent, environment={}, flags={})
    settings = load_settings(folder=tmp_path, environment={}, flags={})
    assert settings.config == plain.config
    (warning,) = settings.warnings
    assert str(file) in warning
    assert len(warning) < 600


def test_prepared_files_say_whose_they_are(tmp_path: Path, run: Run, home: Path) -> None:
    alpha, tree = new_folder(tmp_path / "alpha"), tmp_path / "tree"
    git(alpha, "init", "-q", "-b", "main")
    git(alpha, "remote", "add", "origin", "https://example.org/acme/alpha.git")
    commit(alpha)
    git(alpha, "worktree", "add", "-q", str(tree), "-b", "side")
    for folder in (alpha, tree):
        assert run("work", cwd=folder, HOLDFAST_HOME=str(home)).returncode == 0
    found = {path: json.loads(path.read_text()) for path in (home / "prepared").glob("*.json")}
    assert sorted((one["path"], one["worktree"]) for one in found.values()) == [(str(alpha), ""), (str(tree), "tree")]
    assert {one["project"] for one in found.values()} == {"example.org/acme/alpha"}
    edited = next(path for path, one in found.items() if one["worktree"])
    edited.write_text(json.dumps(found[edited] | {"path": str(alpha)}))
    hooked(home, tree, "SessionStart", source="startup")
    wait_for(lambda: json.loads(edited.read_text())["path"] == str(tree))  # one that names another is made again
