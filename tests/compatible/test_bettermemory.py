"""bettermemory's document, tried literally."""

from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, git, original
from tests.compatible.scripts import scripts_in

scripts_in(globals())
TUTORIAL = 'When I ask for a "zero to hero" tutorial, I want a hands-on walkthrough with code I can run, not a tour of the IDE.'


@pytest.mark.xdist_group("bettermemory itself")
def test_the_original_reads_what_it_wrote(place: Place, tmp_path: Path) -> None:
    """bettermemory 1.4.1 writes, Holdfast imports and exports."""
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    program = [original("bettermemory") / "bin" / "bettermemory"]
    there = place.original("bettermemory", program, BETTERMEMORY_DIR=tmp_path / "before")
    kept = there("memory_write", content=TUTORIAL, scopes=["learning-style"], confidence="high")
    checked = there("memory_write", content="The scheduler retries failed jobs three times.", scopes=["projects:foo"])
    there("memory_verify", id=checked["id"], verified_commits=["4d79987"], verified_versions=["celery 5.4"])
    gone = there("memory_write", content="Deploys go out on Tuesdays.", scopes=["infrastructure"])
    there("memory_remove", id=gone["id"], reason="They go out daily.")
    shown = {one["id"]: there("memory_show", id=one["id"]) for one in (kept, checked)}
    [removed] = there("memory_list_tombstones")
    newer = next((tmp_path / "before").glob("*zero.md")).read_text().replace("schema_version: 1", "schema_version: 2")
    (tmp_path / "before" / "newer.md").write_text(newer)
    done = place.run(f"store import --from bettermemory {tmp_path / 'before'}", code=None)
    assert "newer bettermemory" in done.stdout
    here = place.tools("bettermemory")
    assert here("memory_list_tombstones")[0]["removed_session"] == removed["removed_session"]
    assert here("memory_show", id=kept["id"])["origin"]["cwd"] == shown[kept["id"]]["origin"]["cwd"]
    place.run(f"store export --as bettermemory {tmp_path / 'after'}")
    back = place.original("bettermemory", program, BETTERMEMORY_DIR=tmp_path / "after")
    rows = {row["body"]: row for row in back("memory_list", with_bodies=True, auto_scope=False)}
    assert set(rows) == {one["body"] for one in shown.values()}
    same = "scopes confidence source category created last_verified_at verified_commits verified_versions".split()
    for one in shown.values():
        after = back("memory_show", id=rows[one["body"]]["id"])
        ours, theirs = ({name: _at_second(show.get(name)) for name in same} for show in (after, one))
        assert (ours, after["origin"]["repo"]) == (theirs, one["origin"]["repo"])
    [tombstone] = back("memory_list_tombstones")
    assert tombstone["removed_reason"] == "They go out daily."
    assert [hit["relevance"] for hit in back("memory_search", query="zero to hero tutorial")] == ["high"]


def _at_second(value: Any) -> Any:
    return value[:19] if isinstance(value, str) and value[:2] == "20" else value
