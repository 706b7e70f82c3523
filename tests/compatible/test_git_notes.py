"""git-notes-memory's research notes, tried literally where they describe what a user sees."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compatible.conftest import Place, git, original
from tests.conftest import new_file

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


def observed(place: Place, prompt: str, event: str = "Stop", session: str = "s-1", **given: Any) -> None:
    """Have a session of one prompt, and process what its hooks stored."""
    place.hook("SessionStart", source="startup", session_id=session)
    place.hook("UserPromptSubmit", prompt=prompt, session_id=session)
    place.hook(event, session_id=session, **({"last_assistant_message": "Done."} if event == "Stop" else {}) | given)
    place.hook("SessionEnd", reason="exit", session_id=session)
    place.work()


@promise("thirteen slash commands, as /memory:NAME, in a plugin of their own")
def test_slash_commands() -> None:
    texts = {path.stem: path.read_text() for path in (ROOT / "plugin-memory" / "commands").glob("*.md")}
    assert set(COMMANDS) <= set(texts)
    heads = [yaml.safe_load(text.split("---\n")[1]) for text in texts.values()]
    assert all(isinstance(head["description"], str) for head in heads)


@promise("markers: a [decision] line of the final answer is captured when the session stops")
def test_markers_are_captured(place: Place) -> None:
    set_up(place)
    place.run("status")
    place.run('remember "The build takes ten minutes."')
    said = "[decision] Use Valkey for sessions, because it persists its data.\n\nThat is done."
    observed(place, "Which cache do we use for sessions?", last_assistant_message=said)
    assert "Valkey" in place.run('recall "which cache for sessions"').stdout


LEARNED = """Here is what I found.

▶ learned ─────────────────────────────────────
Hook-based memory capture works via Stop hook at session end

## Context
Block markers output during a session are NOT immediately captured.

## Related Files
- src/git_notes_memory/hooks/stop_handler.py:398-410
────────────────────────────────────────────────
"""


def transcript(place: Place, *said: str) -> str:
    """Write what the agent said, with a tool call after each, as Claude Code does; return the path."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    parts = [[{"type": "text", "text": text}, call] for text in said]
    entries = [{"type": "assistant", "message": {"role": "assistant", "content": part}} for part in parts]
    file = place.home / "transcript.jsonl"
    file.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n")
    return str(file)


def titles(place: Place, *kinds: str) -> list[str]:
    listed = place.json(f"list --json {' '.join(f'--kind {kind}' for kind in kinds)}")
    return [row["title"] for row in listed["records"]]


@promise("the Stop hook analyses the full transcript: a block marker before tool calls is captured, its whole body too")
@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
def test_blocks_of_the_transcript_are_captured(place: Place, event: str) -> None:
    set_up(place)
    place.run("status")
    path = transcript(place, LEARNED, "[decision] Use Valkey for sessions, because it persists its data.")
    observed(place, "Find out how capture works.", event, transcript_path=path)
    assert titles(place, "learning") == ["Hook-based memory capture works via Stop hook at session end"]
    assert "Use Valkey for sessions" in titles(place, "decision")[0]
    found = place.run('recall "when are block markers captured"').stdout
    assert "Hook-based memory capture" in found


@promise("novelty: what was captured before is not captured again")
def test_novelty(place: Place) -> None:
    set_up(place)
    place.run("status")
    for session in ("s-1", "s-2"):
        observed(place, "Find out how capture works.", session=session, transcript_path=transcript(place, LEARNED))
    assert len(titles(place, "learning")) == 1


@promise(
    "inline markers and contextual patterns of the user's prompt are captured: [decision], I decided, TIL, blocked by"
)
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("[decision] The staging database is read-only until Friday.", "decision"),
        ("[learned] The staging database is read-only until Friday.", "learning"),
        ("[blocker] The staging database is read-only until Friday.", "blocker"),
        ("I decided to use PostgreSQL for the orders, because of its row locks.", "decision"),
        ("TIL that the staging database resets its sequences every Sunday night.", "learning"),
        ("We are blocked by the missing certificate of the staging host.", "blocker"),
    ],
)
def test_prompts_are_captured(place: Place, said: str, kind: str) -> None:
    set_up(place)
    place.run("status")
    observed(place, said)
    (title,) = titles(place, kind)
    assert not said.startswith("[") or "The staging database is read-only until Friday." in title


@promise("context: active blockers come first, then decisions; a blocker stays until it is resolved")
def test_blockers_come_first(place: Place) -> None:
    set_up(place)
    place.run('compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL is the database, for its row locks."')
    place.run('compat git-notes capture blockers "Staging host is full" -- "Builds fail until it is cleaned up."')
    [blocker] = place.json("list --json --kind blocker")["records"]
    place.hook("SessionStart", source="startup")
    place.work()
    for session in ("s-2", "s-3"):
        context = place.hook("SessionStart", source="startup", session_id=session)
        assert 0 < context.index("Staging host is full") < context.index("Use PostgreSQL")
        assert "<memory_context" not in context
    place.run(f"forget {blocker['id']} --reason resolved")
    place.work()
    context = place.hook("SessionStart", source="startup", session_id="s-4")
    assert ("Staging host is full" in context, "Use PostgreSQL" in context) == (False, True)


@promise("semantic retrieval: What did we decide about databases? finds the PostgreSQL decision")
def test_what_did_we_decide(place: Place) -> None:
    set_up(place)
    place.environment["HOLDFAST_EMBEDDER"] = "local"
    place.run(
        'compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL stores the orders, for its row locks."'
    )
    place.run('compat git-notes capture learnings "Builds are slow on Mondays" -- "The cache is emptied on Sundays."')
    answer = place.json('recall "What did we decide about databases?" --json')
    assert answer["hits"][0]["record"]["title"] == "Use PostgreSQL"


@promise("file context: editing or reading auth/jwt.py surfaces what is known about authentication, once a session")
@pytest.mark.parametrize("tool", ["Read", "Edit", "Write"])
def test_notes_about_files(place: Place, tool: str) -> None:
    set_up(place)
    file = new_file(place.folder / "auth" / "jwt.py", "EXPIRY = 24\n")
    place.run(
        'compat git-notes capture learnings "Authentication tokens expire after a day" -- "They are checked twice."'
    )
    place.run('compat git-notes capture learnings "Builds are slow on Mondays" -- "The cache is emptied on Sundays."')
    place.hook("SessionStart", source="startup")
    place.work()
    use = {"tool_name": tool, "tool_input": {"file_path": str(file)}}
    assert "Authentication tokens expire" in place.hook("PreToolUse", **use)
    assert place.hook("PreToolUse", **use) == ""
    assert place.hook("PreToolUse", tool_name=tool, tool_input={"file_path": str(place.folder / "cart.py")}) == ""


@promise("progressive hydration: SUMMARY, FULL and FILES; without anchors the files of the memory's commit")
def test_hydration(place: Place) -> None:
    set_up(place)
    place.run(
        'compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL stores the orders, for its row locks."'
    )
    [decision] = place.json("list --json --kind decision")["records"]
    shown = {
        level: place.run(f"show {decision['id']} --level {level}").stdout for level in ("summary", "full", "files")
    }
    assert ["row locks" in text for text in shown.values()] == [False, True, True]
    assert ["EXPIRY = 24" in text for text in shown.values()] == [False, False, True]


@promise("ten namespaces: capture NAMESPACE SUMMARY -- CONTENT; recall and search take --namespace")
@pytest.mark.parametrize(
    "namespace",
    "inception elicitation research decisions progress blockers reviews learnings retrospective patterns".split(),
)
def test_namespaces(place: Place, namespace: str) -> None:
    set_up(place)
    text = "The checkout keeps its state in the orders table, so that a crash loses nothing."
    place.run(f'compat git-notes capture {namespace} "State of the checkout" -- "{text}"')
    for command in ("recall", "search"):
        found = place.run(
            f'compat git-notes {command} "state of the checkout" --namespace {namespace} --limit 3'
        ).stdout
        assert "State of the checkout" in found
    other = "blockers" if namespace != "blockers" else "decisions"
    assert "State of the checkout" not in place.run(f'compat git-notes search "checkout" --namespace {other}').stdout


LINES = {
    "status --verbose": "foo",
    'search "row locks" --type text --limit 5': "Use PostgreSQL",
    'search "row locks" --type semantic': "Use PostgreSQL",
    "sync full": "of 1 memory",
    "sync verify": "✓ views",
    "sync repair": "of 1 memory",
    "validate --verbose": "✓ views",
    "health --timing": ": 1 memory.",
    "metrics": "1 write",
    "metrics --format json": "{",
    "traces --limit 5": "Use PostgreSQL",
    "scan-secrets --dry-run": "No secrets found.",
    "secrets-allowlist list": "no list of exceptions",
    "test-secret AKIAIOSFODNN7EXAMPLQ": "A secret",
    "test-secret hello": "Not a secret",
    "audit-log --json --limit 5": "[",
}


@promise("the slash commands take their documented options")
@pytest.mark.parametrize("line", LINES)
def test_command_lines(place: Place, line: str) -> None:
    place.run(
        'compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL stores the orders, for its row locks."'
    )
    assert LINES[line] in place.run(f"compat git-notes {line}").stdout


@promise("a hand edit of a file reaches the team with the next sync")
def test_hand_edits_reach_the_team(place: Place, tmp_path: Path) -> None:
    other = _pair(place, tmp_path)
    place.run("replica on folder")
    place.run('remember "The API is versioned by path." --kind decision --team')
    place.run("sync")
    [file] = [path for path in Path(place.environment["HOLDFAST_HOME"]).rglob("*.md") if "by path" in path.read_text()]
    file.write_text(file.read_text().replace("by path", "by header"))
    place.run("sync")
    _as_bob(place, other, "sync")
    assert "versioned by header" in _as_bob(place, other, 'recall "how is the API versioned"')


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
    history = place.run(f"history {kept}").stdout
    assert ("by header" in history, "by query" in history) == (True, True)
    place.run(f'revise {kept} --text "The API is versioned by header and by query."')
    assert "edited in two places" not in place.run("stats health").stdout


CAPTURED = [
    ("decisions", "Chose PostgreSQL", "## Context\n\nWe need row locks.\n\n## Alternatives\n\n- SQLite", ["database"]),
    ("decisions", "Use Valkey for sessions", "It persists its data.", []),
    ("blockers", "The staging host is full", "Builds fail.", []),
    ("learnings", "Hooks run at the end of a session", "The transcript is read once.", ["hooks", "capture"]),
    ("patterns", "Rehearse migrations", "On a copy.", []),
]
CAPTURE = Path(__file__).with_name("git_notes_capture.txt").read_text()
COLLECT = Path(__file__).with_name("git_notes_collect.txt").read_text()


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
    place.run(f"store import --from git-notes {place.folder}")
    assert "5 entries added" in place.run("store export --as git-notes", folder=clone).stdout
    assert json.loads(run(COLLECT, clone)) == before
    assert "0 entries added" in place.run("store export --as git-notes", folder=place.folder).stdout
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
