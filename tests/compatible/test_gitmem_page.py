"""What docs/compatibility.md says about GitMem's tools, tried literally."""

import json
import re
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools
from tests.compatible.test_gitmem import EVIDENCE, OAUTH, scar_of, session_of

promise = pytest.mark.promise
PLAN = "change the OAuth redirect URI of the login"
PROSE = "Session focused on auth migration; nothing broke that was not expected."
ANSWERS = {
    "what_broke": "nothing",
    "what_took_longer": "reading",
    "do_differently": "less",
    "what_worked": "pairing",
    "wrong_assumption": "none",
}


def payload_of(opened: str) -> Path:
    found = re.search(r"Payload path: (.+)", opened)
    assert found, opened
    return Path(found[1])


@promise("session_start: each session has a payload folder of its own; title, description and labels are searched")
def test_a_session_has_its_own_folder(ask: Tools) -> None:
    for title, text in (("Ports", "The gateway listens on port 9090."), ("Zones", "Times are stored as UTC.")):
        ask.text("create_learning", learning_type="pattern", title=title, description=text)
    first = ask.text("session_start", issue_description="The gateway listens on the wrong port", issue_title="Bug 7")
    second = ask.text("session_start", force=True, issue_title="Bug 8", issue_labels=["times", "UTC"])
    assert payload_of(first) != payload_of(second)
    assert payload_of(second).parent.is_dir()
    assert ("Ports" in first, "Zones" in second) == (True, True)


@promise("session_close: a refused close keeps the payload; a payload of an earlier session is not used again")
def test_a_payload_is_read_once(ask: Tools, place: Place) -> None:
    (place.folder / ".gitmem").mkdir()
    left = place.folder / ".gitmem" / "closing-payload.json"
    left.write_text(json.dumps({"closing_reflection": PROSE, "open_threads": ["An old thread"]}))
    ask.text("session_start")
    refused = json.loads(ask.refused("session_close", close_type="standard"))
    assert any("what_broke" in error or "reflection" in error for error in refused["errors"]), refused
    assert left.exists()
    payload = payload_of(ask.text("session_start"))
    payload.write_text(json.dumps({"closing_reflection": ANSWERS, "open_threads": ["A new thread"]}))
    closed = ask.text("session_close", close_type="standard")
    assert ("A new thread" in closed, "An old thread" in closed, payload.exists()) == (True, False, False)


@promise("session_close: a ceremony that was not proper is remarked on, not refused")
def test_remarks_on_a_close(ask: Tools) -> None:
    ask.text("session_start")
    closed = ask.text("session_close", close_type="standard", closing_reflection=ANSWERS)
    assert "Note: " in closed


@promise(
    "reflect_scars answers a scar that was not confirmed; a confirmed scar is not counted again when it is recorded"
)
def test_a_use_counts_once(ask: Tools) -> None:
    scar = scar_of(ask.text("create_learning", **OAUTH))
    ask.text("session_start")
    ask.text("recall", plan=PLAN)
    ask.text("confirm_scars", confirmations=[{"scar_id": scar, "decision": "APPLYING", "evidence": EVIDENCE}])
    use = {"surfaced_at": "2026-02-15T10:00:00Z", "reference_type": "explicit", "reference_context": "Compared both."}
    ids = {ask("record_scar_usage", scar_id=scar, **use)["usage_id"] for _ in range(2)}
    assert len(ids) == 1
    ask.text("session_start", force=True)
    ask.text("recall", plan=PLAN)
    ask.text("reflect_scars", reflections=[{"scar_id": scar, "outcome": "OBEYED", "evidence": EVIDENCE}])
    assert "Note: 1 recalled scar" not in ask.text(
        "create_decision", title="JWT", decision="Use it.", rationale="Fast."
    )


@promise("create_decision: a duplicate returns the known decision, allow_duplicate stores it too")
def test_a_decision_twice(ask: Tools) -> None:
    given = {"title": "Stateless auth", "decision": "Chose JWT over session cookies.", "rationale": "No shared store."}
    ask.text("create_decision", **given)
    assert "deduplicated: true" in ask.text("create_decision", **given)
    assert "Created decision" in ask.text("create_decision", **given, allow_duplicate=True)


@promise("search finds decisions and facts too, and returns an id in full; log has decisions, and no starters")
def test_search_and_log(place: Place) -> None:
    place.environment["HOLDFAST_STARTERS"] = "true"
    ask = place.tools("gitmem")
    place.run('remember "The staging cluster is called Nemo."')
    ask.text("create_decision", title="Stateless auth", decision="Chose JWT over session cookies.", rationale="Fast.")
    assert "Nemo" in ask.text("search", query="name of the staging cluster")
    assert "Stateless auth" in ask.text("search", query="JWT or session cookies")
    scar = scar_of(ask.text("create_learning", **OAUTH))
    assert all(argument in ask.text("search", query=scar) for argument in OAUTH["counter_arguments"])
    logged = ask.text("log")
    assert ("Stateless auth" in logged, str(OAUTH["title"]) in logged, len(logged.splitlines())) == (True, True, 3)
    assert str(OAUTH["title"]) not in ask.text("log", severity="critical")


@promise("starter scars: `starters = true` adds twelve, marked, and recall shows them after one's own")
def test_starters(place: Place) -> None:
    plan = "deploy to production"
    assert "starter" not in place.tools("gitmem").text("recall", plan=plan)
    place.environment["HOLDFAST_STARTERS"] = "true"
    assert "[starter]" in place.tools("gitmem").text("recall", plan=plan, similarity_threshold=0)


@promise("prepare_context keeps to its budget, and the role of the agent is part of the search")
def test_contexts(ask: Tools) -> None:
    ask.text("create_learning", **OAUTH)
    for nth in range(12):
        title = f"OAuth provider {nth} has a quirk"
        ask.text(
            "create_learning",
            learning_type="pattern",
            title=title,
            description=f"{title}: it signs with key {nth * 37}.",
        )
    for form, tokens in (("compact", 500), ("gate", 100), ("full", 4_000)):
        assert len(ask.text("prepare_context", plan="review OAuth providers", format=form)) / 4 <= tokens
    small = ask.text("prepare_context", plan="review OAuth providers", format="full", max_tokens=200)
    assert len(small) / 4 <= 200
    assert str(OAUTH["title"]) in ask.text(
        "prepare_context", plan="review", agent_role="OAuth redirect URI", format="compact"
    )


@promise("threads: a text that fits several asks which one; a note about a duplicate resolves only its own thread")
def test_thread_details(ask: Tools) -> None:
    first = re.search(r"t-\w+", ask.text("create_thread", text="Rotate the signing keys of the gateway"))
    ask.text("create_thread", text="Document the gateway for the new team")
    assert first
    assert "2" in json.loads(ask.refused("resolve_thread", text_match="gateway"))["errors"][0]
    ask.text("resolve_thread", thread_id="#2", resolution_note=f"duplicate of {first[0]}")
    listed = ask.text("list_threads", include_resolved=True)
    assert "total_open: 1 · total_resolved: 1" in listed
    assert "Document the gateway" in listed


@promise("graph_traverse: supersedes and demonstrates are accepted; links made elsewhere are predicates too")
def test_predicates(ask: Tools, place: Place) -> None:
    first = scar_of(ask.text("create_learning", **OAUTH))
    other = {**OAUTH, "title": "Providers compare hosts", "description": "One provider only compares the host part."}
    second = scar_of(ask.text("create_learning", **other))
    place.run(f"link {second} supersedes {first}")
    found = ask.text("graph_traverse", lens="connected_to", node="Providers compare hosts", predicate="supersedes")
    assert "—supersedes→" in found
    assert "—" not in ask.text(
        "graph_traverse", lens="connected_to", node="Providers compare hosts", predicate="demonstrates"
    )


@promise("transcripts: credentials are masked, text is stored as text, a file that a model names is not read")
def test_transcript_details(ask: Tools, place: Place) -> None:
    session = session_of(ask.text("session_start"))
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    ask("save_transcript", session_id=session, transcript=f"We chose Valkey. The key is {key}.", format="json")
    kept = ask("get_transcript", session_id=session)["transcript"]
    assert ("Valkey" in kept, key in kept) == (True, False)
    assert ask.text("search_transcripts", query="Valkey kubernetes helm", similarity_threshold=0.9).startswith(
        "No transcript"
    )
    later = session_of(ask.text("session_start", force=True))
    file = place.home / "talk.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "We chose Memcached."}))
    ask.text("session_close", session_id=later, close_type="quick", capture_transcript=True, transcript_path=str(file))
    assert "transcript" in ask.refused("get_transcript", session_id=later)


@promise("npx gitmem uninstall --all, check, install-hooks; there is no .gitmem folder")
def test_other_commands(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("compat gitmem install-hooks --client claude-code")
    place.run("compat gitmem init --yes --client claude-code")
    settings = (place.folder / ".claude" / "settings.local.json").read_text()
    assert "mcp__holdfast" in settings
    place.tools("gitmem").text("create_learning", **OAUTH)
    assert place.run("compat gitmem check", code=None).stdout
    assert not (place.folder / ".gitmem").exists()
    place.run("compat gitmem uninstall --all --yes")
    assert not (Path(place.environment["HOLDFAST_HOME"]) / "holdfast.db").exists()


@promise("all tiers: GITMEM_TIER has no effect; what is left out has no tool")
def test_what_is_left_out(place: Place) -> None:
    place.environment["GITMEM_TIER"] = "free"
    ask = place.tools("gitmem")
    assert len(ask.names) == 31
    assert not {"contribute_feedback", "index_docs", "search_docs"} & ask.names


@promise("prepare_context gate: a critical scar stops the plan, others let it pass")
def test_the_gate(ask: Tools) -> None:
    ask.text("create_learning", **OAUTH)
    assert ask.text("prepare_context", plan=PLAN, format="gate").startswith("PASS")
    ask.text(
        "create_learning",
        **{**OAUTH, "title": "OAuth redirect URIs must use TLS", "severity": "critical"},
        allow_duplicate=True,
    )
    gate = ask.text("prepare_context", plan=PLAN, format="gate")
    assert (gate.startswith("STOP"), "must use TLS" in gate) == (True, True)


@promise("archive_learning with the reason `superseded by ID` makes the predicate supersedes")
def test_superseding(ask: Tools) -> None:
    old = scar_of(ask.text("create_learning", **OAUTH))
    other = {**OAUTH, "title": "Providers compare hosts", "description": "One provider only compares the host part."}
    new = scar_of(ask.text("create_learning", **other))
    ask.text("archive_learning", id=old, reason=f"superseded by {new[-8:]}")
    assert "—supersedes→" in ask.text("graph_traverse", lens="connected_to", node="Providers compare hosts")
    ask.text("archive_learning", id=new, reason="superseded by PROJ-123")


@promise(
    "defaults: recall shows 3, search 5, log 10; session_close takes an issue and a duration; rapport is carried over"
)
def test_defaults(ask: Tools) -> None:
    things = "retries caching logging routing billing search uploads sessions tracing quotas webhooks pages".split()
    for nth, thing in enumerate(things):
        text = f"Gateway deploys broke {thing} when the team {thing[::-1]} moved {nth + 2} modules."
        ask.text("create_learning", **{**OAUTH, "title": f"Gateway deploys and {thing}", "description": text})
    counts = [
        ask.text("recall", plan="deploy the gateway").count("(similarity"),
        ask.text("search", query="gateway deploys").count("(similarity"),
        len(ask.text("log").splitlines()) - 1,
    ]
    assert counts == [3, 5, 10]
    session = session_of(ask.text("session_start", force=True))
    reflection = {**ANSWERS, "q8_human_style": "short answers", "q9_dynamic": "decides quickly"}
    ask.text(
        "session_close",
        session_id=session,
        close_type="standard",
        linear_issue="PROJ-123",
        ceremony_duration_ms=45_000,
        closing_reflection=reflection,
    )
    opened = ask.text("session_start", force=True)
    assert "Rapport: " in opened


@promise("gitmem-cache-health is about the index: the permission of a folder is no reason to be out of sync")
def test_a_folder_permission(ask: Tools, place: Place) -> None:
    ask.text("session_start")
    Path(place.environment["HOLDFAST_HOME"]).chmod(0o755)
    assert ask("gitmem-cache-health")["status"] == "healthy"
