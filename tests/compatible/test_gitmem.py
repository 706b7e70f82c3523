"""GitMem's documentation, tried literally."""

import json
import re
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools

promise = pytest.mark.promise
TABLE = Path(__file__).with_name("gitmem_names.txt").read_text().splitlines()[1:]
NAMES = {tool: aliases for tool, _, aliases in (line.partition(" ") for line in TABLE)}
OAUTH = {
    "learning_type": "scar",
    "title": "OAuth redirect URI must match exactly",
    "description": "Google OAuth rejects requests where the redirect URI doesn't match character-for-character.",
    "severity": "medium",
    "counter_arguments": [
        "In development, localhost variations are usually fine",
        "Some providers support wildcard redirects",
    ],
}
EVIDENCE = (
    "Compared the registered redirect URI with the one in the request, character by character, before the change."
)


def session_of(text: str) -> str:
    found = re.search(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", text)
    assert found, text
    return found[0]


def scar_of(text: str) -> str:
    found = re.search(r"learning_id: (\S+)", text)
    assert found, text
    return found[1]


@promise("tool reference: every tool of every tier is listed, under its own name and every alias")
def test_every_tool_and_alias(place: Place) -> None:
    place.environment["HOLDFAST_LIST_ALIASES"] = "1"
    names = place.tools("gitmem").names
    assert {name for tool, aliases in NAMES.items() for name in (tool, *aliases.split())} <= names


@promise("every gm-* alias is a slash command of the plugin that names its tool")
def test_gm_commands() -> None:
    folder = Path(__file__).parent.parent.parent / "plugin-memory" / "commands"
    aliases = {alias: tool for tool, names in NAMES.items() for alias in names.split() if alias.startswith("gm-")}
    assert len(aliases) == 23
    texts = {alias: (folder / f"{alias}.md").read_text() for alias in aliases}
    assert [alias for alias, tool in aliases.items() if f"`{tool}`" not in texts[alias] and "cache" not in tool] == []


@promise("gitmem-help lists the commands")
def test_help(ask: Tools) -> None:
    assert "session_start" in ask.text("gitmem-help")


@promise("first session: start, recall, create a learning, close; the next session loads it")
def test_the_first_session(ask: Tools) -> None:
    session = session_of(ask.text("session_start"))
    ask.text("recall", plan="add authentication to the API")
    scar = scar_of(ask.text("create_learning", **OAUTH))
    shown = ask.text("recall", plan="change the OAuth redirect URI of the login")
    assert str(OAUTH["title"]) in shown
    confirmed = ask.text(
        "confirm_scars", confirmations=[{"scar_id": scar, "decision": "APPLYING", "evidence": EVIDENCE}]
    )
    assert "valid: true" in confirmed
    closed = ask.text(
        "session_close",
        session_id=session,
        close_type="standard",
        closing_reflection="Session focused on auth migration. Comparing URIs by character worked well.",
        task_completion="partial",
        scars_to_record=[],
        open_threads=["Rate limiting still needs implementation"],
        decisions=["Chose JWT over session cookies for stateless auth"],
    )
    assert closed
    opened = ask.text("session_start", force=True)
    assert "Rate limiting still needs implementation" in opened
    assert "Chose JWT over session cookies" in opened


@promise(
    "recall examples of the documents: authentication finds the JWT and bcrypt scars, whole and to be answered, deployment the deploy scars"
)
def test_the_documented_recalls(place: Place) -> None:
    place.environment["HOLDFAST_EMBEDDER"] = "local"
    ask = place.tools("gitmem")
    against = ["Internal tools may differ", "A prototype may skip it"]
    for title, severity, why in (
        ("JWT token expiry must be validated server-side, not just client-side", "high", "An expired token was taken."),
        ("Always hash passwords with bcrypt, not SHA-256", "critical", "A leaked table was cracked within hours."),
        ("Done != Deployed != Verified Working", "high", "A fix was called done and never went out."),
        ("Database migrations must run before code deploy", "critical", "Columns were missing for ten minutes."),
    ):
        ask.text(
            "create_learning",
            learning_type="scar",
            title=title,
            description=why,
            severity=severity,
            counter_arguments=against,
        )
    place.run("store rebuild vectors --missing")
    auth = ask.text("recall", plan="add authentication to the API")
    assert [text in auth for text in ("JWT token expiry", "bcrypt", "2 scars to review", *against)] == [True] * 5
    assert ask.text("recall", plan="rename a CSS class").startswith("No memory fits")
    ask.text("session_start", force=True)
    assert ask.text("recall", plan="add authentication to the API") == auth  # the same in every session
    assert "bcrypt" in ask.text("prepare_context", plan="review authentication middleware", format="compact")
    deploy = ask.text("recall", plan="deploy to production")
    assert ("Done != Deployed" in deploy, "Database migrations" in deploy) == (True, True)


@promise("recall and search: match_count, similarity_threshold, severity and learning_type")
def test_recall_options(ask: Tools) -> None:
    ask.text("create_learning", **OAUTH)
    win = {
        "learning_type": "win",
        "title": "OAuth logins are tested end to end",
        "description": "OAuth tests paid off.",
    }
    ask.text("create_learning", **win)
    plan = "change the OAuth redirect URI of the login"
    assert "1 scar to review" in ask.text("recall", plan=plan, match_count=1, issue_id="PROJ-123")
    assert str(OAUTH["title"]) not in ask.text("recall", plan="write the OAuth chapter", similarity_threshold=1.0)
    found = ask.text("search", query="OAuth", learning_type="win", match_count=5)
    assert (win["title"] in found, str(OAUTH["title"]) in found) == (True, False)
    found = ask.text("search", query="OAuth", severity="medium", learning_type="scar")
    assert (win["title"] in found, str(OAUTH["title"]) in found) == (False, True)


@promise("carry-forward: session_start lists open threads with stage, vitality, class and age")
def test_threads_are_carried_forward(ask: Tools) -> None:
    ask.text("create_thread", text="Fix auth timeout")
    ask.text("create_thread", text="Improve the coverage of the parser")
    opened = ask.text("session_start", force=True)
    assert re.search(r"t-\w+: Fix auth timeout \[EMERGING [\d.]+\] \(operational, today\)", opened)
    assert re.search(r"t-\w+: Improve the coverage of the parser \[EMERGING [\d.]+\] \(backlog, today\)", opened)
    assert "Fix auth timeout" in ask.text("session_refresh")


@promise("suggested threads: a topic of three sessions is suggested; promote_suggestion, dismiss_suggestion")
@pytest.mark.parametrize("tool", ["promote_suggestion", "dismiss_suggestion"])
def test_suggestions(ask: Tools, tool: str) -> None:
    for nth in range(3):
        session = session_of(ask.text("session_start", issue_title="Auth timeouts of the gateway", force=True))
        ask.text(
            "session_close",
            session_id=session,
            close_type="standard",
            closing_reflection=f"Auth timeouts of the gateway came back, attempt {nth}; raising the limit helped.",
        )
    suggested = re.search(r"ts-\w+", ask.text("session_start", force=True))
    assert suggested
    done = ask.text(tool, suggestion_id=suggested[0])
    assert done.startswith("Created t-" if tool == "promote_suggestion" else "Dismissed ts-")
    assert ("uth timeouts" in ask.text("list_threads")) == (tool == "promote_suggestion")


@promise("graph_traverse: connected_to, produced_by and provenance from a node")
def test_the_graph(ask: Tools) -> None:
    session = session_of(ask.text("session_start", agent_identity="cli", linear_issue="PROJ-123"))
    ask.text("create_learning", source_linear_issue="PROJ-123", **OAUTH)
    node = f"Scar: {OAUTH['title']}"
    assert str(OAUTH["title"]) in ask.text("graph_traverse", lens="connected_to", node="PROJ-123", limit=50)
    assert str(OAUTH["title"]) in ask.text("graph_traverse", lens="produced_by", node="cli")
    assert session[-8:] in ask.text("graph_traverse", lens="provenance", node=node, predicate="created_in", depth=3)


@promise("closing ceremony: the payload file is read where session_start says, and removed")
def test_the_payload_file(ask: Tools, place: Place) -> None:
    session = session_of(ask.text("session_start"))
    folder = place.folder / ".gitmem"
    folder.mkdir()
    payload = folder / "closing-payload.json"
    payload.write_text(
        json.dumps(
            {
                "closing_reflection": "Session focused on auth migration; nothing broke that was not expected.",
                "open_threads": ["Write the migration"],
            }
        )
    )
    ask.text("session_close", session_id=session, close_type="standard")
    assert not payload.exists()
    assert "Write the migration" in ask.text("list_threads")


@promise("a server that died is resumed by the next one: its session, and the scars shown in it")
def test_a_killed_server_is_resumed(ask: Tools) -> None:
    session = session_of(ask.text("session_start", agent_identity="cli"))
    scar = scar_of(ask.text("create_learning", **OAUTH))
    assert str(OAUTH["title"]) in ask.text("recall", plan="change the OAuth redirect URI of the login")
    ask.kill()
    ask.start()
    answer = [{"scar_id": scar, "decision": "APPLYING", "evidence": EVIDENCE}]
    assert "valid: true" in ask.text("confirm_scars", confirmations=answer)
    assert session in ask.text("session_refresh")
    assert ask.text("session_close", session_id=session, close_type="quick")


@promise("confirm protocol: every recalled scar needs APPLYING, N_A or REFUTED with evidence of 50 characters")
def test_the_confirm_protocol(ask: Tools) -> None:
    scar = scar_of(ask.text("create_learning", **OAUTH))
    ask.text("recall", plan="change the OAuth redirect URI of the login")
    short = [{"scar_id": scar, "decision": "APPLYING", "evidence": "done"}]
    assert json.loads(ask.refused("confirm_scars", confirmations=short))["success"] is False
    text = "The change only touches the stylesheet of the login page, so no redirect address is involved at all."
    assert "valid: true" in ask.text(
        "confirm_scars", confirmations=[{"scar_id": scar, "decision": "N_A", "evidence": text, "relevance": "low"}]
    )


@promise("errors: a list of problems, with the field that is missing")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({**OAUTH, "severity": ""}, "severity"),
        ({**OAUTH, "counter_arguments": ["one"]}, "Scars require at least 2 counter_arguments"),
    ],
)
def test_missing_fields(ask: Tools, arguments: dict[str, object], error: str) -> None:
    answer = json.loads(ask.refused("create_learning", **{k: v for k, v in arguments.items() if v}))
    assert (answer["success"], any(error in line for line in answer["errors"])) == (False, True)


@promise("errors: an invalid session id is named, with what to do")
def test_an_invalid_session(ask: Tools) -> None:
    answer = json.loads(ask.refused("session_close", session_id="SESSION_AUTO", close_type="quick"))
    assert "Invalid session_id" in answer["errors"][0]
    assert "session_start" in answer["message"]


@promise("learning types: win, pattern and anti_pattern with their fields")
@pytest.mark.parametrize(
    "fields",
    [
        {
            "learning_type": "win",
            "title": "Parallel agent spawning cut review time by 60%",
            "problem_context": "Code review of a 500-line PR was slow with sequential analysis",
            "solution_approach": "Spawned 3 agents in parallel: one for logic, one for tests, one for security",
        },
        {
            "learning_type": "pattern",
            "title": "5-Tier Test Pyramid for MCP Servers",
            "applies_when": ["shipping MCP servers to npm", "pre-release verification"],
        },
        {"learning_type": "anti_pattern", "title": "Don't use console.log in MCP servers"},
    ],
)
def test_learning_types(ask: Tools, fields: dict[str, object]) -> None:
    kept = ask.text("create_learning", description=f"{fields['title']}. It is written down.", **fields)
    assert str(fields["title"]) in kept
    assert str(fields["title"]) in ask.text("log", learning_type=fields["learning_type"], limit=5, since=7)


@promise("create_decision with alternatives, personas and affected documents")
def test_a_decision(ask: Tools) -> None:
    kept = ask.text(
        "create_decision",
        title="Stateless auth",
        decision="Chose JWT over session cookies.",
        rationale="No shared session store is needed.",
        alternatives_considered=["Session cookies"],
        personas_involved=["security"],
        docs_affected=["docs/auth.md"],
        linear_issue="PROJ-123",
    )
    assert "decision_id" in kept
    assert "Stateless auth" in ask.text("search", query="JWT or session cookies")


@promise("multi-agent: prepare_context in three sizes; absorbed observations are found by search")
def test_sub_agents(ask: Tools) -> None:
    ask.text("create_learning", **OAUTH)
    for form in ("full", "compact", "gate"):
        assert isinstance(ask.text("prepare_context", plan="review the OAuth redirect URI", format=form), str)
    assert "OAuth redirect URI" in ask.text(
        "prepare_context", plan="review the OAuth redirect URI handling", format="compact"
    )
    absorbed = ask.text(
        "absorb_observations",
        task_id="PROJ-123",
        observations=[
            {
                "source": "Sub-Agent: code review",
                "context": "src/auth.py",
                "text": "Auth middleware doesn't validate token expiry",
                "severity": "scar_candidate",
            },
            {
                "source": "Sub-Agent: code review",
                "text": "Good use of middleware pattern for request validation",
                "severity": "info",
            },
        ],
    )
    assert "Auth middleware" in absorbed
    assert "token expiry" in ask.text("search", query="auth middleware token expiry")


@promise("threads: create, duplicate, list by status with true totals, resolve by id or text")
def test_threads(ask: Tools) -> None:
    text = "Auth middleware needs rate limiting before production deploy"
    first = ask.text("create_thread", text=text, linear_issue="PROJ-123")
    thread = re.search(r"t-\w+", first)
    assert thread
    assert "deduplicated" in ask.text("create_thread", text=text)
    ask.text("create_thread", text="Choose a package name for the client library")
    assert "total_open: 2 · total_resolved: 0" in ask.text("list_threads")
    assert ask.text("resolve_thread", thread_id=thread[0], resolution_note="Limits are in place.")
    listed = ask.text("list_threads", status="resolved")
    assert "total_open: 1 · total_resolved: 1" in listed
    assert ask.text("resolve_thread", text_match="package name")
    assert "cleanup" not in ask.text("cleanup_threads", auto_archive=True).lower()[:7]


@promise("scar usage: one, and a batch by title; a time that is none is an error")
def test_scar_usage(ask: Tools) -> None:
    scar = scar_of(ask.text("create_learning", **OAUTH))
    use = {"reference_type": "explicit", "reference_context": "Compared both addresses.", "execution_successful": True}
    assert ask("record_scar_usage", scar_id=scar, surfaced_at="2026-02-15T10:00:00Z", **use)["success"]
    assert "surfaced_at" in ask.refused("record_scar_usage", scar_id=scar, surfaced_at="yesterday", **use)
    batch = [{"scar_identifier": OAUTH["title"], "surfaced_at": "2026-02-15T10:00:00Z", **use}]
    assert ask("record_scar_usage_batch", scars=batch)["resolved_count"] == 1


@promise("session_close scars_to_record: scars known by title count although they were not shown")
def test_scars_to_record(ask: Tools) -> None:
    session = session_of(ask.text("session_start"))
    scar = scar_of(ask.text("create_learning", **OAUTH))
    used = {"scar_identifier": OAUTH["title"], "reference_type": "explicit", "reference_context": "Compared them."}
    closed = ask.text(
        "session_close",
        session_id=session,
        close_type="standard",
        closing_reflection="Session focused on auth migration; nothing broke that was not expected.",
        scars_to_record=[used],
    )
    assert "no scar" not in closed
    assert f"Scar {scar[-8:]}: applied" in closed
    assert "No blind spot" in ask.text("analyze", lens="blindspots")


@promise("analyze, graph_traverse, health and the cache tools answer")
def test_reports(ask: Tools) -> None:
    ask.text("session_start")
    for lens in ("summary", "reflections", "blindspots"):
        assert ask.text("analyze", lens=lens, days=30)
        assert ask("analyze", lens=lens, format="json")["lens"] == lens
    assert ask.text("graph_traverse", lens="stats")
    assert ask.text("health", failure_limit=10)
    assert ask("gitmem-cache-status")["initialized"]
    assert ask("gitmem-cache-health")["status"] == "healthy"
    assert ask("gitmem-cache-flush")["success"]


@promise("archive_learning: excluded from recall and search, kept for the record")
def test_archiving(ask: Tools) -> None:
    scar = scar_of(ask.text("create_learning", **OAUTH))
    ask.text("archive_learning", id=scar, reason="superseded by PROJ-123")
    assert str(OAUTH["title"]) not in ask.text("recall", plan="change the OAuth redirect URI of the login")
    assert "superseded by PROJ-123" in ask.refused("create_learning", **OAUTH)


@promise("GITMEM_DIR and GITMEM_DEFAULT_PROJECT")
def test_variables(place: Place) -> None:
    del place.environment["HOLDFAST_HOME"]
    place.environment |= {"GITMEM_DIR": str(place.home / "mine"), "GITMEM_DEFAULT_PROJECT": "my-api"}
    place.tools("gitmem").text("create_learning", **OAUTH)
    assert (place.home / "mine" / "holdfast.db").exists()
    place.environment["GITMEM_DEFAULT_PROJECT"] = "default"
    plan = "change the OAuth redirect URI of the login"
    assert str(OAUTH["title"]) not in place.tools("gitmem").text("recall", plan=plan)
    assert str(OAUTH["title"]) in place.tools("gitmem").text("recall", plan=plan, project="my-api")


@promise("npx gitmem init --yes: server, instructions, permissions, hooks and .gitignore; again: nothing to do")
def test_init(place: Place) -> None:
    (place.home / ".claude").mkdir()
    (place.folder / "CLAUDE.md").write_text("# Mine\n")
    place.run("compat gitmem init --yes --client claude-code")
    assert "gitmem" in (place.folder / ".mcp.json").read_text()
    settings = json.loads((place.folder / ".claude" / "settings.local.json").read_text())
    assert {"SessionStart", "PreToolUse"} <= set(settings["hooks"])
    notes = (place.folder / "CLAUDE.md").read_text()
    assert notes.startswith("# Mine\n")
    assert [word in notes for word in ("`session_start`", "`remember`", "`judge`")] == [True, False, False]
    assert ".mcp.json" in (place.folder / ".gitignore").read_text()
    assert "everything is set up" in place.run("compat gitmem init --yes --client claude-code").stdout
    place.run("compat gitmem uninstall --yes")
    assert (place.folder / "CLAUDE.md").read_text() == "# Mine\n"
    assert not (place.folder / ".mcp.json").exists()


@promise(
    "npx gitmem init in a project of Claude Code on a machine where it was not found; AGENTS.md, as it has no CLAUDE.md"
)
def test_init_without_a_client(place: Place) -> None:
    (place.folder / ".mcp.json").write_text('{"mcpServers": {}}')
    place.run("compat gitmem init --yes")
    assert '"gitmem"' in (place.folder / ".mcp.json").read_text()
    assert "`session_start`" in (place.folder / "AGENTS.md").read_text()
    assert '"gitmem"' in place.run("init --surface gitmem", folder=place.home).stdout


@promise("npx gitmem init --dry-run, --project my-app")
def test_init_flags(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("compat gitmem init --dry-run --client claude-code")
    assert not (place.folder / ".mcp.json").exists()
    place.run("compat gitmem init --yes --project my-app --client claude-code")
    assert place.json("status --json")["project"] == "my-app"


@promise("hooks: recall is asked for before a risky command, and closing when the user wraps up")
def test_reminders(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("init --surface gitmem --client claude-code --yes")
    ask = place.tools("gitmem")
    ask.text("create_learning", **OAUTH)
    place.run("init --surface gitmem --client claude-code --yes")
    assert str(OAUTH["title"]) in place.hook("SessionStart", source="startup")  # the first one after init
    ask.text("session_start")
    push = {"tool_name": "Bash", "tool_input": {"command": "git push origin main"}}
    assert "recall" in place.hook("PreToolUse", **push)
    assert place.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) == ""
    place.hook("PreToolUse", tool_name="mcp__holdfast__recall", tool_input={"plan": "push"})
    assert place.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git push origin dev"}) == ""
    assert "session_close" in place.hook("UserPromptSubmit", prompt="Let's wrap up")
