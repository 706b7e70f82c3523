"""What docs/compatibility.md says about Memory MCP's tools and variables, tried literally."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools, git
from tests.compatible.test_memory_mcp import SAID

promise = pytest.mark.promise
MINE = "This project uses PostgreSQL with pgvector"


@promise("remember: a duplicate gets the new tags, its text stays; similarity alone makes no link")
def test_a_duplicate_gets_tags(ask: Tools, place: Place) -> None:
    first = ask("remember", content=MINE, tags=["database"])["memory_id"]
    again = ask("remember", content=f"{MINE}!", tags=["sql"])
    assert (again["memory_id"], again["was_duplicate"]) == (first, True)
    [memory] = ask("list_memories")
    assert (memory["content"], memory["tags"]) == (MINE, ["database", "sql"])
    ask("remember", content="This project uses PostgreSQL 17 on port 5433")
    assert ask("relationship_stats")["total_relationships"] == 0
    assert ask("get_contradictions") == []
    assert ask("remember", content="The API listens on port 8080.")["success"]
    assert ask("remember", content="The API listens on port 9090.")["success"]
    place.work()
    assert ask("relationship_stats")["by_type"] == {"contradicts": 1}


@promise("remember: secrets and retired texts are refused with a reason; an unknown session id starts a session")
def test_refused_memories(ask: Tools, place: Place) -> None:
    assert "credentials" in json.loads(ask.refused("remember", content="The token is ghp_" + "a1B2" * 9))["error"]
    kept = ask("remember", content=MINE, session_id="monday")
    [memory] = ask("list_memories")
    assert "monday" in [one["id"] for one in ask("get_sessions")]
    place.run(f'forget {memory["ref"]} --reason "It is MySQL now"')
    assert "It is MySQL now" in ask.refused("remember", content=MINE)
    assert kept["success"]


@promise("recall: an unknown mode or type is an error that lists the valid ones; a recall does not change trust")
def test_wrong_modes(ask: Tools) -> None:
    kept = ask("remember", content=MINE)["memory_id"]
    assert "exploratory" in ask.refused("recall", query="database", mode="wild")
    assert "conversation" in ask.refused("recall", query="database", memory_type="wild")
    assert "conversation" in ask.refused("remember", content="Something else.", memory_type="wild")
    for _ in range(5):
        ask("recall", query="which database does this project use")
    assert ask("get_trust_history", memory_id=kept)["entries"] == []


@promise("RecallResponse, MemoryResponse and FormattedMemory have every documented field")
def test_fields(ask: Tools) -> None:
    ask("remember", content=MINE, tags=["database"])
    found = ask("recall", query="which database does this project use")
    wanted = "memories confidence gated_count mode guidance ranking_factors formatted_context context_summary promotion_suggestions related_memories"
    assert set(wanted.split()) <= set(found)
    [formatted] = found["formatted_context"]
    assert (formatted["summary"], formatted["tags"], formatted["source_hint"]) == (MINE, ["database"], "cold storage")


@promise("newest first; list_memories has pages; forget erases the text for good")
def test_lists_and_forgetting(ask: Tools, place: Place) -> None:
    ids = [
        ask("remember", content=f"Service number {n} runs in zone {n * 37}.", tags=["zone"])["memory_id"]
        for n in range(3)
    ]
    assert [one["id"] for one in ask("recall_by_tag", tag="zone")] == ids[::-1]
    assert [one["id"] for one in ask("list_memories", limit=1, offset=1)] == [ids[1]]
    ask("forget", memory_id=ids[0])
    stored = b"".join(file.read_bytes() for file in Path(place.environment["HOLDFAST_HOME"]).glob("holdfast.db*"))
    assert b"Service number 0" not in stored
    assert ask("audit_history", operation="delete_memory")["count"] == 1
    ref = ask("list_memories")[0]["ref"]
    place.run(f'forget {ref} --reason "Zones are gone"')
    place.run(f"restore {ref}")
    operations = [entry["operation"] for entry in ask("audit_history")["entries"]]
    assert operations == ["restore_memory", "cleanup_memories", "delete_memory"]


@promise("hot cache: hits are recalls whose result was hot; pin adds too; declared use adds a memory")
def test_the_hot_cache_counts(ask: Tools) -> None:
    one, other = ask("remember", content=MINE)["memory_id"], ask("remember", content="Jobs run at night.")["memory_id"]
    ask("pin", memory_id=one)
    ask("recall", query="which database does this project use")
    metrics = ask("hot_cache_status")["metrics"]
    assert metrics["hits"] == 1
    for _ in range(3):
        ask("mark_memory_used", memory_id=other)
    assert {item["id"] for item in ask("hot_cache_status")["items"]} == {one, other}
    assert "- This project uses PostgreSQL" in ask.read("memory://hot-cache")


@promise("memory://hot-cache lists contents with their tags")
def test_the_format_of_the_resource(ask: Tools) -> None:
    ask("promote", memory_id=ask("remember", content=MINE, tags=["database", "sql"])["memory_id"])
    assert ask.read("memory://hot-cache").splitlines() == [
        "[MEMORY: Hot Cache - High-confidence patterns]",
        f"- {MINE} [database, sql]",
    ]


@promise("mining: lines are counted once; secrets are masked; a rejected pattern is not proposed again")
def test_mining_details(ask: Tools) -> None:
    ask("log_output", content=f"{SAID} The token is ghp_{'a1B2' * 9}.", session_id="monday")
    for hours in (24, 1):
        ask("run_mining", hours=hours)
    [candidate] = ask("review_candidates")
    assert candidate["occurrences"] == 1
    assert "ghp_" not in json.dumps(ask("mining_status"))
    assert ask("bulk_reject_candidates", pattern_ids=[candidate["id"]])["rejected_count"] == 1


@promise("bootstrap: the documented files in their order, with the path of headings; again it changes nothing")
def test_bootstrap_files(ask: Tools, place: Place) -> None:
    files = ["CLAUDE.md", ".claude/CLAUDE.md", "README.md", "CONTRIBUTING.md", "docs/README.md", "ARCHITECTURE.md"]
    for number, name in enumerate(files):
        (place.folder / name).parent.mkdir(exist_ok=True)
        (place.folder / name).write_text(
            f"# Part {number}\n\n## Rules\n\nRule {number} names the zone {number * 37}.\n"
        )
    done = ask("bootstrap_project")
    assert (done["files_found"], done["memories_created"]) == (6, 6)
    assert "Part 0 > Rules" in json.dumps(ask("list_memories"))
    assert ask("bootstrap_project")["memories_created"] == 0
    outside = place.home / "outside.md"
    outside.write_text("The queue is RabbitMQ.\n")
    assert "outside" in ask.refused("seed_from_file", file_path=str(outside))


@promise("links: linking twice is no error; recall leaves out superseded memories")
def test_links_twice(ask: Tools) -> None:
    old, new = (ask("remember", content=f"The API listens on port {port}.")["memory_id"] for port in (8080, 9090))
    for _ in range(2):
        ask("link_memories", from_memory_id=new, to_memory_id=old, relation_type="supersedes")
    assert ask("relationship_stats")["by_type"]["supersedes"] == 1
    assert [one["id"] for one in ask("recall", query="which port does the API listen on")["memories"]] == [new]


@promise("find_contradictions names the conflict; delete retires the other memory with a reason")
def test_a_contradiction(ask: Tools) -> None:
    old, new = (ask("remember", content=f"The API listens on port {port}.")["memory_id"] for port in (8080, 9090))
    [clash] = ask("find_contradictions", memory_id=new, similarity_threshold=0.5)
    assert "9090" in clash["reason"]
    assert ask("find_contradictions", memory_id=new, similarity_threshold=1.0) == []
    ask("resolve_contradiction", memory_id_a=old, memory_id_b=new, keep_id=new, resolution="delete")
    [entry] = ask("audit_history", operation="cleanup_memories")["entries"]
    assert (entry["target_id"], bool(entry["details"])) == (old, True)


@promise("contradictions of the review: tabs or spaces, two clouds, two ports, never or every Friday")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Indent code with tabs.", "Indent code with four spaces."),
        ("Production runs on AWS.", "Production runs on Google Cloud."),
        ("The API listens on port 8080.", "The API listens on port 9090."),
        ("Never deploy on Fridays.", "We deploy every Friday."),
    ],
)
def test_contradictions_of_other_forms(ask: Tools, one: str, other: str) -> None:
    old = ask("remember", content=one)["memory_id"]
    new = ask("remember", content=other)["memory_id"]
    assert [clash["memory_b"]["id"] for clash in ask("find_contradictions", memory_id=new)] == [old]


@promise("sessions: a project path may be a name; a week of sessions is compared; summarize_session, end_session")
def test_session_details(ask: Tools) -> None:
    kept = ask("remember", content="Chose JWT over sessions.", category="decision", session_id="monday")["memory_id"]
    assert "monday" in [one["id"] for one in ask("get_sessions", project_path="/anywhere/foo")]
    assert [one["id"] for one in ask("summarize_session", session_id="monday")["decisions"]] == [kept]
    assert ask("end_session", session_id="monday")["success"]


@promise("consolidation: the merged text keeps what each memory added, and the merge can be undone")
def test_consolidation(ask: Tools, place: Place) -> None:
    first = "Access tokens expire after 15 minutes and are signed with RS256 by the gateway. Ask Noor for the key."
    second = (
        "Access tokens are signed with RS256 by the gateway and expire after 15 minutes. Refresh tokens live in Redis."
    )
    for content in (first, second):
        ask("remember", content=content)
    assert ask("preview_consolidation")["cluster_count"] == 1
    ask("run_consolidation", dry_run=False)
    [merged] = ask("list_memories")
    assert ("Ask Noor" in merged["content"], "Refresh tokens" in merged["content"]) == (True, True)
    place.run(f"review split {merged['ref']}")
    assert len(ask("list_memories")) == 2


@promise("metrics: counters survive a restart")
def test_counters(ask: Tools) -> None:
    ask("remember", content=MINE)
    ask("recall", query="database")
    ask.restart()
    counters = ask("metrics_status")["counters"]
    assert (counters["recall.total"], counters["store.total"]) == (1, 1)
    assert ask("embedding_info")["cache_size"] == 0


@promise("DEMOTION_DAYS and AUTO_DEMOTE: what was not used for so long leaves the hot cache, unless it is off")
@pytest.mark.parametrize(
    ("variables", "demoted"),
    [({}, 1), ({"MEMORY_MCP_AUTO_DEMOTE": "false"}, 0), ({"MEMORY_MCP_DEMOTION_DAYS": "9999"}, 0)],
)
def test_demotion(place: Place, tmp_path: Path, variables: dict[str, str], demoted: int) -> None:
    with sqlite3.connect(tmp_path / "memory.db") as db:  # a memory that was hot a year ago
        db.executescript(Path(__file__).with_name("memory_mcp_old.sql").read_text())
    place.run(f"store import --from memory-mcp {tmp_path / 'memory.db'}")
    place.environment |= variables
    ask = place.tools("memory-mcp")
    assert ask("hot_cache_status")["current_count"] == 1
    assert ask("db_maintenance")["auto_demoted_count"] == demoted
    assert ask("hot_cache_status")["current_count"] == 1 - demoted


@promise("MINING_AUTO_APPROVE_CONFIDENCE and _OCCURRENCES; LOG_RETENTION_DAYS")
@pytest.mark.parametrize(
    ("variables", "approved"),
    [
        ({"MEMORY_MCP_MINING_AUTO_APPROVE_OCCURRENCES": "1"}, 1),
        ({"MEMORY_MCP_MINING_AUTO_APPROVE_OCCURRENCES": "1", "MEMORY_MCP_MINING_AUTO_APPROVE_CONFIDENCE": "1.0"}, 0),
    ],
)
def test_approval_by_variables(place: Place, variables: dict[str, str], approved: int) -> None:
    place.environment |= variables | {"MEMORY_MCP_LOG_RETENTION_DAYS": "2"}
    ask = place.tools("memory-mcp")
    ask("log_output", content=SAID, session_id="monday")
    assert ask("run_mining")["auto_approved"] == approved


WITHOUT_EFFECT = """EMBEDDING_MODEL EMBEDDING_DIM EMBEDDING_BACKEND DEFAULT_CONFIDENCE_THRESHOLD HIGH_CONFIDENCE_THRESHOLD
MINING_ENABLED PREDICTIVE_CACHE_ENABLED PREDICTION_THRESHOLD MAX_PREDICTIONS SEQUENCE_DECAY_DAYS TRUST_SCORE_MANUAL
TRUST_SCORE_MINED TRUST_DECAY_HALFLIFE_DAYS""".split()


@promise("variables without a counterpart are named in a warning")
def test_variables_without_effect(place: Place) -> None:
    place.environment |= {f"MEMORY_MCP_{name}": "1" for name in WITHOUT_EFFECT}
    warned = place.run("compat memory-mcp status").stderr
    assert [name for name in WITHOUT_EFFECT if f"MEMORY_MCP_{name}" not in warned] == []


@promise("memories belong to the current project: nothing of another is returned, counted or merged; ids are small")
def test_projects_are_apart(place: Place, tmp_path: Path) -> None:
    bar = tmp_path / "bar"
    bar.mkdir()
    git(bar, "init", "-q"), git(bar, "remote", "add", "origin", "git@github.com:me/bar.git")
    there, here = place.tools("memory-mcp", bar), place.tools("memory-mcp")
    assert there("remember", content=MINE)["memory_id"] == 1
    assert here("remember", content="Jobs run at night.")["memory_id"] == 1
    assert here("recall", query="which database does this project use")["memories"] == []
    assert here("memory_stats")["total_memories"] == 1
    assert here("recall_with_fallback", query="which database does this project use")["memories"] == []


def row(ask: Tools, **given: Any) -> dict[str, Any]:
    ask("remember", **given)
    [memory] = ask("list_memories")
    return dict(memory)


@promise("types: a category makes the kind more specific, the type stays; episodic is bound to its session")
def test_types(ask: Tools, place: Place) -> None:
    memory = row(ask, content="Chose JWT over sessions.", memory_type="project", category="decision")
    assert memory["memory_type"] == "project"
    assert place.json(f"show {memory['ref']} --json")["kind"] == "decision"


@promise("resolve_contradiction by weaken leaves an entry in the history of trust")
def test_weakening(ask: Tools) -> None:
    old, new = (ask("remember", content=f"The API listens on port {port}.")["memory_id"] for port in (8080, 9090))
    ask("resolve_contradiction", memory_id_a=old, memory_id_b=new, keep_id=new, resolution="weaken")
    history = ask("get_trust_history", memory_id=old)
    assert (len(history["entries"]), history["current_trust"] < 1.0) == (1, True)


@promise("after a bootstrap, one text answers a question about it, not all of them at similarity 1.0")
def test_similarity_after_a_bootstrap(ask: Tools, place: Place) -> None:
    parts = {
        "Testing": "Run just test before each push.",
        "Deploys": "Deploys go out on Tuesdays.",
        "Queue": "Jobs wait in RabbitMQ.",
    }
    text = "".join(f"## {name}\n\n{said}\n\n" for name, said in parts.items())
    (place.folder / "README.md").write_text(f"# Foo\n\n{text}")
    ask("bootstrap_project")
    found = ask("recall", query="when do deploys go out")["memories"]
    assert "Tuesdays" in found[0]["content"]
    assert [memory["similarity"] for memory in found].count(1.0) <= 1


@promise("starters, if they are on, are not counted or listed, and marked where recall returns them")
def test_starters_are_not_counted(place: Place) -> None:
    place.environment["HOLDFAST_STARTERS"] = "true"
    ask = place.tools("memory-mcp")
    found = ask("recall", query="a migration without a way back", mode="exploratory")
    assert all("starter" in memory["tags"] for memory in found["memories"])
    assert (ask("memory_stats")["total_memories"], ask("list_memories")) == (0, [])
    assert place.tools("bettermemory")("memory_list") == []
    assert place.tools("claude-mem")("search", format="json")["totalResults"] == 0
