"""`holdfast init`, `holdfast uninstall` and the doctor, as a person runs them."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, answer, kept
from tests.rows import missing


def everything_under(folder: Path) -> dict[str, bytes]:
    store = (".db", ".lock")  # it stays
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix not in store}


@pytest.fixture
def claude(own_home: Path) -> Path:
    """Let Claude Code be found, and nothing else."""
    (own_home / ".claude").mkdir()
    settings = own_home / ".claude.json"
    settings.write_text('{\n  "numStartups": 3\n}\n')
    return settings


def test_init_and_uninstall_leave_no_trace(run: Run, own_home: Path, claude: Path) -> None:
    before = everything_under(own_home)
    done = run("init", "--yes")
    assert (done.returncode, "~/.claude.json, ~/.claude/settings.json (new)" in done.stdout) == (0, True)
    entry = json.loads(claude.read_text())["mcpServers"]["holdfast"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["-P", "-m", "holdfast", "mcp"]
    again = everything_under(own_home)
    assert "Nothing to change" in run("init", "--yes").stdout
    assert everything_under(own_home) == again
    assert run("uninstall", "--yes").returncode == 0
    assert everything_under(own_home) == before
    assert "No client is set up" in run("uninstall", "--yes").stdout


@pytest.mark.embedded
def test_a_dry_run_shows_everything_and_writes_nothing(run: Run, own_home: Path, claude: Path) -> None:
    before = everything_under(own_home)
    done = run("init", "--dry-run", "--instructions")
    words = "Claude Code     1 note for agents, 1 server, 10 hooks, 1 permission: Holdfast's tools run without asking\n"
    assert words in done.stdout
    assert "                ~/.claude/CLAUDE.md (new), ~/.claude.json, ~/.claude/settings.json (new)\n" in done.stdout
    assert "to take that back: holdfast init --no-approve" in done.stdout
    assert "+++ " not in done.stdout
    assert "+++ " in run("init", "--dry-run", "--diff").stdout
    assert "nothing was written" in done.stdout
    assert everything_under(own_home) == before
    assert "nothing was written" in run("init", "--dry-run", "--yes").stdout  # who says both means the first
    assert everything_under(own_home) == before
    run("init", "--yes")
    before = everything_under(own_home)
    told = answer(run("uninstall", "--all", "--dry-run", "--json"))
    assert (told["done"], [(one["entry"], one["how"], one["count"]) for one in told["entries"]]) == (
        False,
        [("hook", "removed", 10), ("permission", "removed", 1), ("server", "removed", 1)],
    )
    assert "Claude Code     10 hooks, 1 server, 1 permission removed\n" in run("uninstall", "--dry-run").stdout
    assert everything_under(own_home) == before
    assert claude.exists()


@pytest.mark.usefixtures("claude")
def test_it_asks_and_takes_an_answer(run: Run, own_home: Path) -> None:
    before = everything_under(own_home)
    done = run("init", stdin="all\nn\ny\nn\n")
    assert "Found Claude Code (claude-code)." in done.stdout
    assert "Let Holdfast's tools run without asking in Claude Code? [Y/n]" in done.stdout
    none = run("init", stdin="n\n")
    assert (none.returncode, "No client was chosen; nothing was changed." in none.stdout) == (4, True)
    typo = run("init", stdin="claude\n")
    assert (typo.returncode, "Did you mean claude-code?" in typo.stderr) == (64, True)
    assert everything_under(own_home) == before
    asked = run("init", stdin="claude-code\ny\nn\nd\ny\n")  # no approval; d shows the changes
    assert (asked.returncode, "+++ " in asked.stdout, "permission" in asked.stdout) == (0, True, False)
    assert "permissions" not in json.loads((own_home / ".claude" / "settings.json").read_text())
    assert "Next: start a new session in Claude Code" in asked.stdout
    assert "holdfast:start" in (own_home / ".claude" / "CLAUDE.md").read_text()
    assert len((own_home / ".claude" / "CLAUDE.md").read_text()) < 900


def test_an_unknown_client_is_refused_with_the_name_that_is_meant(run: Run, own_home: Path) -> None:
    meant = {
        "gemini-cli": "Did you mean gemini?",
        "claude": "Did you mean claude-code?",
        "vs-code": "Did you mean vscode?",
        "copilto": "Did you mean copilot?",
        "emacs": "Known clients: claude-code, codex",
    }
    for command in ("init", "uninstall"):
        done = {name: run(command, "--client", name, "--yes") for name in meant}
        told = {name: (one.returncode, meant[name] in one.stderr, one.stdout) for name, one in done.items()}
        assert told == dict.fromkeys(meant, (64, True, ""))
    found = run("init", "--yes")
    assert (found.returncode, '"mcpServers"' in found.stdout) == (0, True)
    assert "No known AI client was found here" in found.stdout
    assert not everything_under(own_home)


def test_approvals_are_asked_for_apart_and_can_be_taken_back(run: Run, own_home: Path, claude: Path) -> None:
    codex, gemini = own_home / ".codex" / "config.toml", own_home / ".gemini" / "settings.json"
    for file, text in ((codex, 'model = "x"\n'), (gemini, '{"theme": "dark"}')):
        new_file(file, text)
    before = everything_under(own_home)
    settings = own_home / ".claude" / "settings.json"

    def approved() -> list[str]:
        marks = {settings: "mcp__holdfast__*", codex: 'default_tools_approval_mode = "approve"', gemini: '"trust"'}
        return [file.parent.name for file, mark in marks.items() if mark in file.read_text()]

    everyone, clients = [".claude", ".codex", ".gemini"], ["claude-code", "codex", "gemini"]
    steps: list[tuple[tuple[str, ...], list[str], list[str]]] = [  # options, then who is approved, who newly
        (("--no-approve",), [], []),
        ((), [], []),  # as it is
        (("--approve",), everyone, clients),
        ((), everyone, []),
        (("--no-approve", "--client", "codex"), [".claude", ".gemini"], []),
        (("--no-approve",), [], []),
        ((), [], []),
    ]
    for options, standing, new in steps:
        told = answer(run("init", *options, "--yes", "--json"))["entries"]
        added = [one["client"] for one in told if (one["entry"], one["how"]) == ("permission", "added")]
        assert (options, approved(), added) == (options, standing, new)
    assert json.loads(gemini.read_text())["mcpServers"]["holdfast"]["command"]
    assert run("doctor").returncode == 0
    run("uninstall", "--yes")
    assert everything_under(own_home) == before
    done = run("init", "--yes")
    assert approved() == everyone
    assert "Holdfast's tools run without asking in Claude Code, Codex, Gemini CLI;" in done.stdout
    claude.write_text(claude.read_text().replace("3", "4"))
    settings.write_text(settings.read_text().replace('"mcp__holdfast__*"', ""))  # taken back by hand
    run("init", "--yes")
    assert (approved(), run("doctor").returncode) == ([".codex", ".gemini"], 0)
    run("uninstall", "--yes")
    assert {name: text.replace(b"4", b"3") for name, text in everything_under(own_home).items()} == before


def test_an_approval_of_an_earlier_version_can_be_taken_back(run: Run, own_home: Path, claude: Path) -> None:
    gemini = own_home / ".gemini" / "settings.json"
    gemini.parent.mkdir()
    run("init", "--client", "claude-code", "--client", "gemini", "--yes")
    manifest = next(own_home.rglob("setup.json"))
    noted = json.loads(manifest.read_text())
    for touched in noted["files"].values():  # a rule was an element, a key part of the server's entry
        touched["placed"] = [one for one in touched["placed"] if one["kind"] != "approval" or one["form"] == "rule"]
        for one in touched["placed"]:
            if one["kind"] == "approval":
                one["kind"] = "element"
                del one["form"], one["given"]
    manifest.write_text(json.dumps(noted))
    run("init", "--no-approve", "--yes")
    settings = json.loads((own_home / ".claude" / "settings.json").read_text())
    assert (settings["permissions"], "trust" in gemini.read_text()) == ({"allow": []}, False)
    assert run("doctor").returncode == 0
    run("uninstall", "--yes")
    assert set(everything_under(own_home)) == {str(claude)}


def test_a_broken_file_is_said_and_the_others_are_done(run: Run, own_home: Path, claude: Path) -> None:
    claude.write_text("{ broken")
    done = run("init", "--client", "claude-code", "--yes")
    assert done.returncode == 4
    assert missing(done.stdout, f"{claude} is left alone. It is not valid JSON: line 1", "To add by hand") == []
    assert claude.read_text() == "{ broken"
    assert "hooks" in json.loads((own_home / ".claude" / "settings.json").read_text())


def test_what_a_project_gets_is_its_own(run: Run, own_home: Path, tmp_path: Path) -> None:
    project = tmp_path / "a project"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    given = ("init", "--project", "--client", "cursor", "--client", "windsurf", "--gitignore", "--yes")
    done = run(*given, cwd=project / "deep")
    assert "Windsurf: has no file for a project" in done.stdout
    assert (project / ".cursor" / "mcp.json").exists()
    assert "/.cursor/mcp.json" in (project / ".gitignore").read_text()
    assert not (own_home / ".cursor").exists()
    run("uninstall", "--yes")
    assert sorted(path.name for path in project.iterdir()) == [".git", "deep"]


def test_a_store_elsewhere_is_told_to_server_and_hooks(run: Run, own_home: Path, tmp_path: Path) -> None:
    store = tmp_path / "my store"
    run("init", "--client", "cursor", "--yes", HOLDFAST_HOME=str(store))
    entry = json.loads((own_home / ".cursor" / "mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry["env"] == {"HOLDFAST_HOME": str(store)}
    hook = json.loads((own_home / ".cursor" / "hooks.json").read_text())["hooks"]["stop"][0]
    assert hook["command"].endswith(f"--home '{store}'")
    assert (store / "setup.json").stat().st_mode & 0o777 == 0o600


def test_surfaces_are_remembered_for_the_next_time(run: Run, own_home: Path) -> None:
    run("init", "--client", "cursor", "--surface", "gitmem", "--yes")
    run("init", "--client", "cursor", "--yes")
    entry = json.loads((own_home / ".cursor" / "mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry["args"][-2:] == ["--surface", "gitmem"]


@pytest.mark.embedded
def test_leaving_altogether_deletes_memories_after_a_backup(
    run: Run, own_home: Path, claude: Path, tmp_path: Path
) -> None:
    store = {"HOLDFAST_HOME": str(tmp_path / "h")}
    answer(run("remember", "--json", "The staging database is reset every night.", **store))
    (tmp_path / "h" / "mine.txt").write_text("not yours")
    run("init", "--yes", **store)
    assert run("uninstall", "--all", stdin="y\nn\n", **store).returncode == 0
    assert (tmp_path / "h" / "holdfast.db").exists()
    done = answer(run("uninstall", "--all", "--yes", "--json", **store))
    assert sorted(path.name for path in (tmp_path / "h").iterdir()) == ["mine.txt"]
    assert Path(done["backup"]).parent == own_home
    assert Path(done["backup"]).stat().st_mode & 0o777 == 0o600
    assert answer(run("store", "restore", done["backup"], "--yes", "--json", **store))["events"] >= 1
    assert len(answer(run("list", "--json", **store))["records"]) == 1
    assert claude.read_text() == '{\n  "numStartups": 3\n}\n'
    assert run("uninstall", "--all", "--client", "codex").returncode == 64
    assert run("uninstall", "--json").returncode == 64


def test_the_started_server_is_the_one_that_was_written(run: Run, own_home: Path, claude: Path) -> None:
    """What stands in the file really lists tools, whatever lies in the folder it is started in."""
    import subprocess

    run("init", "--yes")
    entry = json.loads(claude.read_text())["mcpServers"]["holdfast"]
    trap = new_folder(own_home / "trap")
    (trap / "holdfast.py").write_text("raise SystemExit('a module of the project')")
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=json.dumps(asked) + "\n",
        cwd=trap,
        env={**os.environ, "HOME": str(own_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "holdfast"


def test_the_doctor_looks_at_clients_too(run: Run, own_home: Path, claude: Path) -> None:
    kept(run, "The staging database is reset every night.")
    run("init", "--client", "claude-code", "--yes")
    checks = {check["name"]: check for check in answer(run("doctor", "--json"))}
    assert checks["clients"]["found"] == "set up: Claude Code"
    assert checks["claude-code"] == {
        "name": "claude-code",
        "found": "Claude Code starts it, 10 hooks are in place",
        "fix": "",
    }
    (own_home / ".claude" / "settings.json").write_text("{}")
    claude.write_text(
        claude.read_text().replace(json.loads(claude.read_text())["mcpServers"]["holdfast"]["command"], "/gone/python")
    )
    done = run("doctor")
    assert done.returncode == 5
    assert missing(done.stdout, "hooks.SessionStart is gone", "(and 10 more)") == []
    assert "→ holdfast init --client claude-code" in done.stdout
    run("init", "--client", "claude-code", "--yes")
    assert run("doctor").returncode == 0
    claude.write_text("{ broken")
    done = run("doctor")
    assert (done.returncode, f"{claude}: It is not valid JSON" in done.stdout) == (5, True)
