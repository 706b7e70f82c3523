"""Memory MCP's API reference, tried literally."""

import json
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools
from tests.compatible.scripts import scripts_in

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
TOOLS = """remember recall recall_with_fallback recall_by_tag list_memories forget memory_stats hot_cache_status promote demote
pin unpin log_output run_mining mining_status review_candidates approve_candidate reject_candidate bootstrap_project
seed_from_text seed_from_file link_memories unlink_memories get_related_memories relationship_stats validate_memory
invalidate_memory get_trust_history find_contradictions get_contradictions mark_contradiction resolve_contradiction
get_sessions get_session get_session_memories cross_session_patterns set_session_topic access_patterns predict_next warm_cache
predictive_cache_status db_maintenance run_cleanup validate_embeddings db_info embedding_info audit_history
db_rebuild_vectors metrics_status""".split()
SAID = "We decided to use Valkey instead of Memcached because it persists its data."


@promise("all tools of the reference are there")
def test_every_tool(ask: Tools) -> None:
    assert set(TOOLS) <= ask.names


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
