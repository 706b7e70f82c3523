"""git-notes-memory's research notes, tried literally where they describe what a user sees."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, git, original

promise = pytest.mark.promise
ROOT = Path(__file__).parent.parent.parent
COMMANDS = """capture recall search status sync health validate metrics traces audit-log scan-secrets secrets-allowlist
test-secret""".split()


def set_up(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("init --surface git-notes --client claude-code --yes")
    (place.folder / "auth.py").write_text("EXPIRY = 24\n")
    git(place.folder, "add", ".")
    git(place.folder, "commit", "-qm", "first")


@promise("thirteen slash commands in the plugin")
def test_slash_commands() -> None:
    there = {path.stem for path in (ROOT / "plugin" / "commands").glob("*.md")}
    assert set(COMMANDS) <= there


@promise("gm-* commands of GitMem in the plugin")
def test_gm_commands() -> None:
    assert {"gm-open", "gm-close", "gm-scar", "gm-threads"} <= {
        p.stem for p in (ROOT / "plugin" / "commands").glob("*.md")
    }


@promise("cross-session continuity: a decision of one session is in the context of the next")
def test_decisions_come_back(place: Place) -> None:
    set_up(place)
    place.run(
        'remember "PostgreSQL is the database, because we need row locks." --kind decision --title "Use PostgreSQL"'
    )
    place.hook("SessionStart", source="startup")
    place.work()
    assert "Use PostgreSQL" in place.hook("SessionStart", source="startup", session_id="s-2")


@promise("markers: a [decision] line of the final answer is captured when the session stops")
def test_markers_are_captured(place: Place) -> None:
    set_up(place)
    place.run("status")
    place.run('remember "The build takes ten minutes."')
    place.hook("SessionStart", source="startup")
    place.hook("UserPromptSubmit", prompt="Which cache do we use for sessions?")
    said = "[decision] Use Valkey for sessions, because it persists its data.\n\nThat is done."
    place.hook("Stop", last_assistant_message=said)
    place.hook("SessionEnd", reason="exit")
    place.work()
    assert "Valkey" in place.run('recall "which cache for sessions"').stdout


@promise("git-native distribution: a clone gets memories with sync; both sides end alike")
def test_notes_travel(place: Place, tmp_path: Path) -> None:
    other = _pair(place, tmp_path)
    place.run('remember "The API is versioned by path." --kind decision --team')
    place.run("sync")
    _as_bob(place, other, "sync")
    assert "versioned by path" in _as_bob(place, other, 'recall "how is the API versioned"')


@promise("concurrent edits end alike and are reported: by sync on both sides, and by health")
def test_concurrent_edits_are_reported(place: Place, tmp_path: Path) -> None:
    other = _pair(place, tmp_path)
    kept = place.json('remember "The API is versioned by path." --kind decision --team --json')["record"]["id"]
    place.run("sync")
    _as_bob(place, other, "sync")
    place.run(f'revise {kept} --text "The API is versioned by header."')
    _as_bob(place, other, f'revise {kept} --text "The API is versioned by query."')
    place.run("sync")
    reported = [_as_bob(place, other, "sync"), place.run("sync").stdout]
    assert all("edited in two places" in text for text in reported), reported
    assert "by header" in reported[0] + reported[1]
    texts = [place.json(f"show {kept} --json"), json.loads(_as_bob(place, other, f"show {kept} --json"))]
    assert len({str(text).count("by query") > 0 for text in texts}) == 1
    assert "edited in two places" in place.run("stats health").stdout
    place.run(f'revise {kept} --text "The API is versioned by header and by query."')
    assert "edited in two places" not in place.run("stats health").stdout


CAPTURED = [
    ("decisions", "Chose PostgreSQL", "## Context\n\nWe need row locks.\n\n## Alternatives\n\n- SQLite", ["database"]),
    ("decisions", "Use Valkey for sessions", "It persists its data.", []),
    ("blockers", "The staging host is full", "Builds fail.", []),
    ("learnings", "Hooks run at the end of a session", "The transcript is read once.", ["hooks", "capture"]),
    ("patterns", "Rehearse migrations", "On a copy.", []),
]
CAPTURE = """
import json, sys
from git_notes_memory.capture import CaptureService
from git_notes_memory.git_ops import GitOps
service = CaptureService(git_ops=GitOps("."))
for namespace, summary, content, tags in json.loads(sys.stdin.read()):
    assert service.capture(namespace, summary, content, spec="auth", tags=tags).success
"""
COLLECT = """
import json
import subprocess
from pathlib import Path
from git_notes_memory.sync import SyncService
names = ("namespace", "commit_sha", "summary", "body", "spec", "tags", "status")
rows = [{name: getattr(note, name) for name in names} for note in SyncService(Path(".")).collect_notes()]
print(json.dumps(sorted(rows, key=lambda row: row["namespace"])))
"""


@promise(
    "round trip: git-notes-memory 0.12.0 captures, Holdfast imports and exports, git-notes-memory collects the same"
)
@pytest.mark.xdist_group("git-notes-memory itself")
def test_the_original_reads_what_it_captured(place: Place, tmp_path: Path) -> None:
    python = str(original("git-notes-memory") / "python")
    (place.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    environment = {**place.alone, "MEMORY_PLUGIN_DATA_DIR": str(tmp_path / "plugin")}

    def run(program: str, folder: Path, stdin: str = "") -> str:
        command = [python, "-c", program]
        return subprocess.run(
            command, cwd=folder, env=environment, input=stdin, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    run(CAPTURE, place.folder, json.dumps(CAPTURED))
    before = json.loads(run(COLLECT, place.folder))
    assert len(before) == len(CAPTURED)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(place.folder), str(clone))
    git(clone, "remote", "set-url", "origin", "git@github.com:me/foo.git")
    place.run(f"import --from git-notes {place.folder}")
    assert "5 entries added" in place.run("export --as git-notes", folder=clone).stdout
    assert json.loads(run(COLLECT, clone)) == before
    assert "0 entries added" in place.run("export --as git-notes", folder=place.folder).stdout
    assert json.loads(run(COLLECT, place.folder)) == before


def _pair(place: Place, tmp_path: Path) -> Path:
    """Turn notes on in the repository and in a clone of it, each with a store of its own that accepts the other."""
    bare, other = tmp_path / "remote.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    git(place.folder, "remote", "set-url", "origin", str(bare))
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(place.folder, "push", "-q", "origin", "HEAD:main")
    git(tmp_path, "clone", "-q", "-b", "main", str(bare), str(other))
    place.environment |= {"HOLDFAST_QUARANTINE": "off", "HOLDFAST_PROJECT": "github.com/me/foo"}
    place.environment |= {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    place.run("replica on notes")
    _as_bob(place, other, "replica on notes")
    return other


def _as_bob(place: Place, folder: Path, line: str) -> str:
    """Run a command in the clone, on a machine of its own."""
    home = place.environment["HOLDFAST_HOME"]
    place.environment["HOLDFAST_HOME"] = f"{home}-bob"
    try:
        return place.run(line, folder=folder).stdout
    finally:
        place.environment["HOLDFAST_HOME"] = home
