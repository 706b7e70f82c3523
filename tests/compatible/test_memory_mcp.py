"""Memory MCP's API reference, tried literally."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools

promise = pytest.mark.promise
TOOLS = """remember recall recall_with_fallback recall_by_tag list_memories forget memory_stats hot_cache_status promote demote
pin unpin log_output run_mining mining_status review_candidates approve_candidate reject_candidate bootstrap_project
seed_from_text seed_from_file link_memories unlink_memories get_related_memories relationship_stats validate_memory
invalidate_memory get_trust_history find_contradictions get_contradictions mark_contradiction resolve_contradiction
get_sessions get_session get_session_memories cross_session_patterns set_session_topic access_patterns predict_next warm_cache
predictive_cache_status db_maintenance run_cleanup validate_embeddings db_info embedding_info audit_history
db_rebuild_vectors metrics_status""".split()
MEMORY = set(
    "id content memory_type source is_hot is_pinned tags access_count trust_score similarity hot_score composite_score created_at".split()
)
SAID = "We decided to use Valkey instead of Memcached because it persists its data."


@pytest.fixture
def ask(place: Place) -> Tools:
    (place.folder / "CLAUDE.md").write_text("# Foo\n\n## Testing\n\n- Run the tests with just test before each push.\n")
    (place.folder / "README.md").write_text("# Foo\n\nFoo sells shoes to everybody.\n")
    return place.tools("memory-mcp")


@promise("all tools of the reference are there")
def test_every_tool(ask: Tools) -> None:
    assert set(TOOLS) <= ask.names


@promise("remember, recall: the documented fields; a duplicate is reported")
def test_remember_and_recall(ask: Tools) -> None:
    text = "This project uses PostgreSQL with pgvector"
    kept = ask("remember", content=text, memory_type="project", tags=["database"])
    assert {"success", "message", "memory_id"} <= set(kept)
    assert ask("remember", content=text)["was_duplicate"]
    found = ask("recall", query="which database does this project use", mode="balanced", include_related=True)
    assert {"memories", "confidence", "gated_count", "mode", "guidance", "ranking_factors", "formatted_context"} <= set(
        found
    )
    [memory] = found["memories"]
    assert set(memory) >= MEMORY
    assert (memory["id"], memory["source"], memory["trust_score"]) == (kept["memory_id"], "manual", 1.0)
    assert set(found["formatted_context"][0]) >= {"summary", "memory_type", "tags", "age", "confidence", "source_hint"}
    for mode, limit in (("precision", 3), ("exploratory", 10)):
        assert len(ask("recall", query="database", mode=mode)["memories"]) <= limit
    assert ask("recall", query="database", memory_type="pattern")["memories"] == []
    assert ask("recall_with_fallback", query="which database does this project use")["memories"]
    assert [one["id"] for one in ask("recall_by_tag", tag="database")] == [kept["memory_id"]]
    assert [one["id"] for one in ask("list_memories", limit=20, offset=0)] == [kept["memory_id"]]
    assert set(ask("memory_stats")) >= {"total_memories", "hot_cache_count", "by_type", "by_source"}


@promise("recall: limit and threshold override the mode; related memories; recall_with_fallback with min_results")
def test_recall_options(ask: Tools) -> None:
    one = ask("remember", content="This project uses PostgreSQL with pgvector", memory_type="pattern")["memory_id"]
    other = ask("remember", content="The database of this project runs on port 5433", memory_type="reference")[
        "memory_id"
    ]
    ask("link_memories", from_memory_id=one, to_memory_id=other, relation_type="relates_to")
    assert len(ask("recall", query="database of this project", limit=1, mode="exploratory")["memories"]) == 1
    assert ask("recall", query="database of this project", threshold=1.0, memory_type="conversation")["memories"] == []
    found = ask("recall", query="PostgreSQL with pgvector", limit=1, include_related=True)
    assert [row["memory"]["id"] for row in found["related_memories"]] == [other]
    both = ask("recall_with_fallback", query="database of this project PostgreSQL", min_results=2)
    assert {row["id"] for row in both["memories"]} == {one, other}


@promise("PROMOTION_THRESHOLD, DEFAULT_RECALL_LIMIT, MINING_AUTO_APPROVE_ENABLED")
def test_more_variables(place: Place) -> None:
    place.environment |= {
        "MEMORY_MCP_PROMOTION_THRESHOLD": "1",
        "MEMORY_MCP_DEFAULT_RECALL_LIMIT": "1",
        "MEMORY_MCP_MINING_AUTO_APPROVE_ENABLED": "false",
    }
    ask = place.tools("memory-mcp")
    ask("remember", content="This project uses PostgreSQL with pgvector")
    ask("remember", content="This project uses PostgreSQL 17 on port 5433")
    assert len(ask("recall", query="PostgreSQL of this project")["memories"]) == 1
    assert ask("hot_cache_status")["current_count"] == 1
    for day in ("monday", "tuesday", "wednesday"):
        ask("log_output", content=SAID, session_id=day)
    assert ask("run_mining")["auto_approved"] == 0


@promise("hot cache: a memory that was recalled three times is promoted by itself")
def test_promotion_by_access(ask: Tools) -> None:
    kept = ask("remember", content="This project uses PostgreSQL with pgvector")["memory_id"]
    for _ in range(3):
        [memory] = ask("recall", query="which database does this project use")["memories"]
    [item] = ask("hot_cache_status")["items"]
    assert (item["id"], item["promotion_source"], memory["access_count"] >= 3) == (kept, "auto_threshold", True)


@promise("PROMOTION_THRESHOLD, AUTO_PROMOTE, HOT_CACHE_MAX_ITEMS, DB_PATH are read; others are named")
def test_variables(place: Place) -> None:
    del place.environment["HOLDFAST_HOME"]
    place.environment |= {
        "MEMORY_MCP_DB_PATH": str(place.home / "mine" / "memory.db"),
        "MEMORY_MCP_HOT_CACHE_MAX_ITEMS": "7",
        "MEMORY_MCP_AUTO_PROMOTE": "false",
        "MEMORY_MCP_EMBEDDING_MODEL": "all-MiniLM-L6-v2",
    }
    ask = place.tools("memory-mcp")
    ask("remember", content="This project uses PostgreSQL with pgvector")
    for _ in range(4):
        ask("recall", query="which database does this project use")
    status = ask("hot_cache_status")
    assert (status["current_count"], status["max_items"]) == (0, 7)
    assert (place.home / "mine" / "holdfast.db").exists()
    assert "MEMORY_MCP_EMBEDDING_MODEL" in place.run("compat memory-mcp status").stderr


@promise("hot cache: promote, demote, pin, unpin; the status has items, metrics and effectiveness")
def test_the_hot_cache(ask: Tools) -> None:
    kept = ask("remember", content="This project uses PostgreSQL with pgvector")["memory_id"]
    for tool in ("promote", "pin", "unpin", "demote"):
        assert ask(tool, memory_id=kept)["success"]
    status = ask("hot_cache_status")
    assert {"items", "max_items", "current_count", "pinned_count", "metrics", "effectiveness"} <= set(status)
    assert {"hits", "misses", "evictions", "promotions"} <= set(status["metrics"])


@promise("memory://hot-cache bootstraps itself from README.md and CLAUDE.md if it is empty")
def test_the_resource_bootstraps(ask: Tools) -> None:
    lines = ask.read("memory://hot-cache").splitlines()
    assert lines[0] == "[MEMORY: Hot Cache - High-confidence patterns]"
    assert any("just test" in line for line in lines[1:])


@promise("mining: log, run, status, review, approve into the hot cache with trust 0.7")
def test_mining(ask: Tools) -> None:
    ask("log_output", content=SAID, session_id="monday")
    run = ask("run_mining", hours=24)
    assert (run["outputs_processed"], run["new_patterns"], run["auto_approved"]) == (1, 1, 0)
    status = ask("mining_status")
    assert (status["enabled"], status["promotion_threshold"], status["candidates_ready"]) == (True, 3, 0)
    [candidate] = ask("review_candidates")
    assert {"id", "pattern", "type", "occurrences", "first_seen", "last_seen"} <= set(candidate)
    approved = ask("approve_candidate", pattern_id=candidate["id"], tags=["cache"])
    [memory] = ask("recall_by_tag", tag="cache")
    assert (memory["id"], memory["source"], memory["is_hot"], memory["trust_score"]) == (
        approved["memory_id"],
        "mined",
        True,
        0.7,
    )
    assert "Pattern not found" in ask.refused("reject_candidate", pattern_id=999)


@promise("mining: what recurs three times with enough confidence is approved and promoted by itself")
def test_automatic_approval(ask: Tools) -> None:
    for day in ("monday", "tuesday", "wednesday"):
        ask("log_output", content=SAID, session_id=day)
    run = ask("run_mining")
    assert (run["auto_approved"], run["promoted_to_hot"]) == (1, 1)
    [item] = ask("hot_cache_status")["items"]
    assert (item["content"], item["promotion_source"]) == (SAID, "mined_approved")


@promise("mining: a report about a run of a command gives the command")
@pytest.mark.parametrize(
    "said", ["Now `uv run pytest -q` fails with 2 errors.", "Ran the tests with `uv run pytest -q` and all passed."]
)
def test_a_command_is_mined(ask: Tools, said: str) -> None:
    ask("log_output", content=said, session_id="monday")
    ask("run_mining")
    assert [one["pattern"] for one in ask("review_candidates")] == ["uv run pytest -q"]


@promise("bootstrap_project, seed_from_text, seed_from_file")
def test_seeding(ask: Tools, place: Place) -> None:
    done = ask("bootstrap_project", root_path=".", promote_to_hot=True, memory_type="project", tags=["docs"])
    assert (done["files_found"], done["files_processed"], done["memories_created"] >= 2) == (2, 2, True)
    assert (
        ask("seed_from_text", content="- The API is versioned by path.\n- Jobs run at night.")["memories_created"] == 2
    )
    (place.folder / "NOTES.md").write_text("The queue is RabbitMQ.\n")
    assert ask("seed_from_file", file_path="NOTES.md", promote_to_hot=False)["memories_created"] == 1


@promise("knowledge graph: link, related, stats, unlink, with every relation type")
@pytest.mark.parametrize("relation", ["relates_to", "depends_on", "supersedes", "refines", "contradicts", "elaborates"])
def test_links(ask: Tools, relation: str) -> None:
    one = ask("remember", content="The API is versioned by path.")["memory_id"]
    other = ask("remember", content="Nightly jobs write to the archive.")["memory_id"]
    ask("link_memories", from_memory_id=one, to_memory_id=other, relation_type=relation)
    [related] = ask("get_related_memories", memory_id=one, direction="outgoing", relation_type=relation)
    assert related["memory"]["id"] == other
    assert ask("relationship_stats")["by_type"] == {relation: 1}
    assert ask("unlink_memories", from_memory_id=one, to_memory_id=other)["removed_count"] == 1


@promise("trust: reasons and their amounts, custom boost and penalty, history")
def test_trust(ask: Tools) -> None:
    kept = ask("remember", content="The API is versioned by path.")["memory_id"]
    trust = 1.0
    for reason, amount in {
        "outdated": 0.10,
        "partially_incorrect": 0.15,
        "factually_wrong": 0.30,
        "low_utility": 0.05,
        "superseded": 0.05,
    }.items():
        trust -= amount
        assert ask("invalidate_memory", memory_id=kept, reason=reason)["new_trust"] == pytest.approx(trust)
    for reason, amount in {"used_correctly": 0.05, "explicitly_confirmed": 0.15, "cross_validated": 0.20}.items():
        trust = min(1.0, trust + amount)
        assert ask("validate_memory", memory_id=kept, reason=reason)["new_trust"] == pytest.approx(trust)
    assert ask("validate_memory", memory_id=kept, boost=0.01, note="seen")["new_trust"] == pytest.approx(
        min(1.0, trust + 0.01)
    )
    assert len(ask("get_trust_history", memory_id=kept, limit=20)["entries"]) == 9


@promise("contradictions: mark, list, resolve by supersedes, delete or weaken")
@pytest.mark.parametrize("resolution", ["supersedes", "delete", "weaken"])
def test_contradictions(ask: Tools, resolution: str) -> None:
    old = ask("remember", content="The API listens on port 8080.")["memory_id"]
    new = ask("remember", content="The API listens on port 9090.")["memory_id"]
    assert [one["memory_b"]["id"] for one in ask("find_contradictions", memory_id=new)] == [old]
    ask("mark_contradiction", memory_id_a=old, memory_id_b=new)
    assert len(ask("get_contradictions")) == 1
    ask("resolve_contradiction", memory_id_a=old, memory_id_b=new, keep_id=new, resolution=resolution)
    assert ask("get_contradictions") == []


@promise("sessions: provenance, topic, memories, patterns across sessions")
def test_sessions(ask: Tools) -> None:
    kept = ask("remember", content="The API is versioned by path.", session_id="monday")["memory_id"]
    ask("set_session_topic", session_id="monday", topic="Versioning")
    assert ask("get_session", session_id="monday")["topic"] == "Versioning"
    assert [one["id"] for one in ask("get_session_memories", session_id="monday")] == [kept]
    assert "monday" in [one["id"] for one in ask("get_sessions", limit=20)]
    assert isinstance(ask("cross_session_patterns", min_sessions=2), list)


@promise("predictive cache: patterns, predictions, warming, status")
def test_predictions(ask: Tools) -> None:
    kept = ask("remember", content="The API is versioned by path.")["memory_id"]
    assert isinstance(ask("access_patterns", min_count=2), list)
    assert isinstance(ask("predict_next", memory_id=kept), list)
    assert ask("warm_cache", memory_id=kept)
    assert {"enabled", "config", "stats"} <= set(ask("predictive_cache_status"))


@promise("maintenance: every tool answers with its documented fields; what was promoted is not cleaned up")
def test_maintenance(ask: Tools) -> None:
    kept = ask("remember", content="We talked about the port of the API.", memory_type="conversation")["memory_id"]
    ask("promote", memory_id=kept)
    assert {"bytes_reclaimed", "memory_count", "auto_demoted_count"} <= set(ask("db_maintenance"))
    assert {"hot_cache_demoted", "patterns_expired", "logs_deleted", "memories_deleted"} <= set(ask("run_cleanup"))
    assert [one["id"] for one in ask("list_memories")] == [kept]
    for tool in ("validate_embeddings", "db_info", "embedding_info", "db_rebuild_vectors"):
        assert ask(tool)
    counters = ask("metrics_status")["counters"]
    assert {"recall.total", "store.total", "mining.outputs", "hot_cache.hits"} <= set(counters)
    ask("forget", memory_id=kept)
    assert ask("audit_history", limit=50)["entries"][0]["operation"] == "delete_memory"


LINES = [
    "bootstrap",
    "bootstrap -r OTHER",
    "bootstrap -f README.md -f ARCHITECTURE.md",
    "bootstrap --no-promote",
    "--json bootstrap",
    'log-output -c "Some content"',
    "log-output -f FILE",
    "log-output",
    "run-mining --hours 24",
    "seed README.md -t project --promote",
    "status",
    "--json status",
    "db-rebuild-vectors",
    "db-rebuild-vectors --clear-only",
    "consolidate",
    "seed OTHER/README.md",
    '--json log-output -c "Some content"',
    "--json run-mining --hours 24",
    "--json seed README.md",
    "--json db-rebuild-vectors",
    "--json consolidate",
]


@promise("memory-mcp-cli: every line of the reference")
@pytest.mark.parametrize("line", LINES)
def test_command_lines(place: Place, tmp_path: Path, line: str) -> None:
    (place.folder / "README.md").write_text("# Foo\n\nFoo sells shoes to everybody.\n")
    (place.folder / "ARCHITECTURE.md").write_text("# Architecture\n\nThe API talks to the queue.\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("# Other\n\nOther sells hats.\n")
    file = tmp_path / "out.log"
    file.write_text(SAID)
    words = line.replace("OTHER", str(other)).replace("FILE", str(file))
    done = place.run(f"compat memory-mcp {words}", stdin=SAID if line == "log-output" else "")
    if "--json" in line:
        assert json.loads(done.stdout)
    if "bootstrap" in line and "--json" in line:
        assert {"files_processed", "memories_created"} <= set(json.loads(done.stdout))
    if "Some content" in line and "--json" not in line:
        assert "Logged 12 characters" in done.stdout


@promise("memory-mcp-cli status lists the hot cache")
def test_status_lists_the_hot_cache(ask: Tools, place: Place) -> None:
    place.run("compat memory-mcp bootstrap")
    assert "just test" in place.run("compat memory-mcp status").stdout
    assert ask("hot_cache_status")["current_count"] >= 1


@promise("import keeps pins, hot flags, access counts, trust, source and links; the statistics count them")
def test_import_keeps_everything(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with sqlite3.connect(file) as db:
        db.executescript(Path(__file__).with_name("memory_mcp.sql").read_text())
    place.run(f"store import --from memory-mcp {file}")
    ask = place.tools("memory-mcp")
    memory, _ = ask("list_memories")
    names = ("memory_type", "source", "is_hot", "is_pinned", "access_count", "trust_score", "tags")
    assert [memory[name] for name in names] == ["pattern", "mined", True, True, 13, 0.95, ["api"]]
    assert ask("promote", memory_id=7)["success"]
    assert ask("memory_stats")["by_source"] == {"manual": 1, "mined": 1}
    assert ask("relationship_stats")["by_type"] == {"relates_to": 1}
    assert ask("hot_cache_status")["effectiveness"]["total_accesses"] == 13
