"""What docs/compatibility.md says about Memory MCP's tools and variables, tried literally."""

import json
from pathlib import Path

import pytest

from tests.compatible.conftest import Place, Tools, git
from tests.compatible.scripts import scripts_in
from tests.compatible.test_memory_mcp import SAID

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
MINE = "This project uses PostgreSQL with pgvector"


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
