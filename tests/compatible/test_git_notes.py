"""git-notes-memory's research notes, tried literally where they describe what a user sees."""

import json
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, git, original
from tests.compatible.scripts import scripts_in
from tests.conftest import ran
from tests.rows import rows

scripts_in(globals())
ROOT = Path(__file__).parent.parent.parent
COMMANDS = """capture recall search status sync health validate metrics traces audit-log scan-secrets secrets-allowlist
test-secret""".split()


def test_slash_commands() -> None:
    assert set(COMMANDS) <= {path.stem for path in (ROOT / "plugin-memory" / "commands").glob("*.md")}


CAPTURED = rows("memories_captured_by_git_notes")
CAPTURE = Path(__file__).with_name("git_notes_capture.txt").read_text()
COLLECT = Path(__file__).with_name("git_notes_collect.txt").read_text()


@pytest.mark.xdist_group("git-notes-memory itself")
def test_the_original_reads_what_it_captured(place: Place, tmp_path: Path) -> None:
    """git-notes-memory 0.12.0 captures, Holdfast imports and exports."""
    python = str(original("git-notes-memory") / "bin" / "python")
    (place.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    environment = {**place.alone, "MEMORY_PLUGIN_DATA_DIR": str(tmp_path / "plugin")}

    def run(program: str, folder: Path, stdin: str = "") -> str:
        return ran([python, "-c", program], folder, check=True, env=environment, input=stdin).stdout

    run(CAPTURE, place.folder, json.dumps(CAPTURED))
    before = json.loads(run(COLLECT, place.folder))
    assert len(before) == len(CAPTURED)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(place.folder), str(clone))
    git(clone, "remote", "set-url", "origin", "git@github.com:me/foo.git")
    place.run(f"store import --from git-notes {place.folder}")
    assert "5 entries added" in place.run("store export --as git-notes", folder=clone).stdout
    assert json.loads(run(COLLECT, clone)) == before
    assert "0 entries added" in place.run("store export --as git-notes", folder=place.folder).stdout
    assert json.loads(run(COLLECT, place.folder)) == before
