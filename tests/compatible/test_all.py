"""What docs/compatibility.md says about all compatible surfaces, tried literally."""

import json
import re
from pathlib import Path

import pytest

from holdfast.hosts.hooks.places import FOREIGN_HOMES
from holdfast.hosts.setup.clients import instructions
from holdfast.model.config import PRESETS
from tests.compatible.conftest import Place

promise = pytest.mark.promise
SURFACES = ("gitmem", "claude-mem", "memory-mcp", "bettermemory", "git-notes")


@promise("one store: what was stored through one surface is found through all others and the command line")
def test_one_store(place: Place) -> None:
    win = {
        "learning_type": "win",
        "title": "Valkey keeps sessions",
        "description": "Valkey keeps the sessions of logins.",
    }
    place.tools("gitmem").text("create_learning", **win)
    question = "what keeps the sessions of logins"
    assert "Valkey" in place.tools("claude-mem").text("search", query=question)
    assert "Valkey" in place.tools("memory-mcp").text("recall", query=question)
    assert "Valkey" in place.tools("bettermemory").text("memory_search", query=question)
    assert "Valkey" in place.tools("git-notes").text("recall", query=question)
    assert "Valkey" in place.run(f'recall "{question}"').stdout


@promise("two surfaces with a tool of the same name are refused in one server; others can share one")
def test_two_surfaces(place: Place) -> None:
    refused = place.run("mcp --surface gitmem --surface claude-mem", code=64)
    assert "two servers" in refused.stderr
    assert place.run("mcp --surface memory-mcp --surface bettermemory").stdout == ""


@promise("settings of the user override the defaults of a surface; HOLDFAST_* variables go before those of a system")
def test_settings_override(place: Place, tmp_path: Path) -> None:
    place.environment |= {"GITMEM_DIR": str(tmp_path / "theirs"), "MEMORY_MCP_HOT_CACHE_MAX_ITEMS": "7"}
    place.environment["HOLDFAST_HOT_CAPACITY"] = "9"
    assert place.tools("memory-mcp")("hot_cache_status")["max_items"] == 9
    place.tools("gitmem").text("session_start")
    assert not (tmp_path / "theirs").exists()
    place.environment["HOLDFAST_RECALL_LIMIT"] = "2"
    ask = place.tools("memory-mcp")
    for thing in ("scheduler", "uploader", "mailer"):
        ask("remember", content=f"The {thing} retries failed jobs; see the {thing} runbook.")
    assert len(ask("recall", query="retries failed jobs")["memories"]) == 2


@promise("hooks set up for a surface use the folder and the project of its variables")
def test_hooks_read_variables(place: Place, tmp_path: Path) -> None:
    del place.environment["HOLDFAST_HOME"]
    place.environment |= {"GITMEM_DIR": str(tmp_path / "mine"), "GITMEM_DEFAULT_PROJECT": "my-api"}
    (place.home / ".claude").mkdir()
    place.run("init --surface gitmem --client claude-code --yes")
    place.tools("gitmem").text("session_start")
    place.hook("SessionStart", source="startup")
    place.hook("UserPromptSubmit", prompt="[decision] Use Valkey for sessions, because it persists its data.")
    place.hook("Stop", last_assistant_message="Noted.")
    place.run(f"--home {tmp_path / 'mine'} work", code=None)
    listed = place.json(f"--home {tmp_path / 'mine'} --set project=my-api list --json --kind decision")
    assert ["Valkey" in row["title"] for row in listed["records"]] == [True]
    assert {variable: name for name, variable in FOREIGN_HOMES.items()} == {
        variable: name
        for name, preset in PRESETS.items()
        for variable, setting in preset.variables.items()
        if setting == "home"
    }


@promise("a server added under the name of its system counts as well: mcp__gitmem__recall is a recall")
def test_servers_by_other_names(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("init --surface gitmem --client claude-code --yes")
    place.tools("gitmem").text("session_start")
    place.hook("SessionStart", source="startup")
    place.work()
    place.hook("PreToolUse", tool_name="mcp__gitmem__recall", tool_input={"plan": "push"})
    push = {"tool_name": "Bash", "tool_input": {"command": "git push origin main"}}
    assert place.hook("PreToolUse", **push) == ""


@promise("instructions for agents name only tools that the surface has")
@pytest.mark.parametrize("surface", SURFACES)
def test_instructions(place: Place, surface: str) -> None:
    named = set(re.findall(r"`([a-z_]+)`", instructions((surface,)))) - {"holdfast", "staleness_verdict"}
    assert named
    assert named <= place.tools(surface).names


@promise("unknown arguments are ignored; clear alternatives are accepted; null counts as left out")
def test_lenient_arguments(place: Place) -> None:
    ask = place.tools("gitmem")
    scar = {
        "learning_type": "SCAR",
        "title": "Rehearse migrations",
        "description": "A migration locked the table.",
        "severity": "HIGH",
        "counter_arguments": json.dumps(["It is a copy", "It is empty"]),
        "project": None,
        "nonsense": 1,
    }
    assert "Created high scar" in ask.text("create_learning", **scar)
    assert "Rehearse" in ask.text("recall", action="rehearse migrations", match_count="3")


@promise("ids: the last 8 characters are shown and enough, as is the beginning")
def test_ids(place: Place) -> None:
    ask = place.tools("gitmem")
    made = ask.text("create_learning", learning_type="win", title="Small diffs", description="Small diffs help.")
    id_ = made.split("learning_id: ")[1].split()[0]
    assert len(id_) == 26
    listed = ask.text("log").splitlines()[1].split()[0]
    assert listed == id_[-8:]
    for part in (listed, id_[:12]):
        assert id_ in ask.text("search", query=part)


@promise("a name of a project: default and its last part mean the current one, another a namespace of its own")
def test_project_names(place: Place) -> None:
    ask = place.tools("claude-mem")
    for name in ("default", "foo", ""):
        ask("observation_add", content=f"The gateway {name} is fast.", title=f"Gateway {name}", projectId=name)
    assert {row["project"] for row in ask("search", format="json")["observations"]} == {"github.com/me/foo"}
    ask("observation_add", content="The gateway of wild things.", title="Wild", projectId="wild")
    assert [row["project"] for row in ask("search", project="wild", format="json")["observations"]] == ["wild"]


@promise("<private> spans are dropped by every surface that stores text")
@pytest.mark.parametrize(
    ("surface", "tool", "arguments"),
    [
        ("gitmem", "create_learning", {"learning_type": "win", "title": "Fast", "description": "TEXT"}),
        ("memory-mcp", "remember", {"content": "TEXT"}),
        ("claude-mem", "observation_add", {"content": "TEXT"}),
        ("bettermemory", "memory_write", {"content": "TEXT", "scopes": ["tools"]}),
    ],
)
def test_private_spans(place: Place, surface: str, tool: str, arguments: dict[str, object]) -> None:
    text = "The gateway is fast. <private>The salary is 9000.</private>"
    given = {name: text if value == "TEXT" else value for name, value in arguments.items()}
    place.tools(surface).text(tool, **given)
    stored = b"".join(
        file.read_bytes() for file in Path(place.environment["HOLDFAST_HOME"]).rglob("*") if file.is_file()
    )
    assert (b"gateway is fast" in stored, b"salary" in stored) == (True, False)
