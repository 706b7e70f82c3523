"""What docs/compatibility.md says about bettermemory's tools, tried literally."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools, git
from tests.compatible.scripts import scripts_in
from tests.conftest import new_folder

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


def kept(ask: Tools, content: str, *scopes: str, **more: Any) -> str:
    written = ask("memory_write", content=content, scopes=list(scopes or ("tools",)), **more)
    assert written["status"] == "committed", written
    return str(written["id"])


def imported(place: Place, folder: Path, **days: str) -> None:
    """Import memories as bettermemory writes them, each created on a day of its own."""
    folder.mkdir()
    for number, (name, day) in enumerate(days.items()):
        head = f"schema_version: 1\nid: 01HXYZ123ABC000000000000{number:02}\ncreated: {day}T10:23:00+00:00\nupdated: {day}T10:23:00+00:00"
        body = f"The {name} retries failed jobs; see the {name} runbook."
        (folder / f"{day}-{name}.md").write_text(
            f"---\n{head}\nscopes: [tools]\nconfidence: high\nsource: explicit-statement\n---\n{body}\n"
        )
    place.run(f"store import --from bettermemory {folder}")


@promise(
    "memory_health: dead weight is what was retrieved and never applied in the window, cold what was never retrieved"
)
def test_dead_weight(place: Place, tmp_path: Path) -> None:
    imported(place, tmp_path / "memories", scheduler="2025-03-14", mailer="2025-03-14", uploader="2025-03-14")
    ask = place.tools("bettermemory")
    ids = {row["summary"].split()[1]: row["id"] for row in ask("memory_list")}
    assert len(ids) == 3
    for name in ("scheduler", "mailer"):
        [hit] = ask("memory_search", query=f"what does the {name} do with failed jobs", max_results=1)
        assert hit["id"] == ids[name]
    ask("memory_record_use", memory_ids=[ids["mailer"]], outcome="applied")
    ask("memory_record_use", memory_ids=[ids["scheduler"]], outcome="ignored")
    fresh = kept(ask, "Ruff is the linter.")
    ask("memory_show", id=fresh)
    health = ask("memory_health")
    assert [row["id"] for row in health["dead_weight"]] == [ids["scheduler"]]
    assert [row["retrieval_count"] >= 1 for row in health["dead_weight"]] == [True]
    assert [row["id"] for row in health["cold_memories"]] == [ids["uploader"]]
    assert ask("memory_health", window_days=3_650)["dead_weight"] == []
    overview = ask("memory_scope_overview")["curation_pending"]
    assert (overview["dead"], overview["cold"]) == (1, 1)
    [scope] = health["scope_health"]
    assert (scope["scope"], scope["active"], scope["dead"], scope["cold"]) == ("tools", 4, 1, 1)
    report = place.json("compat bettermemory health --json")
    assert [row["id"] for row in report["dead_weight"]] == [ids["scheduler"]]
    assert "scheduler" in place.run("compat bettermemory health").stdout


@promise(
    "verification: never, stale after 30 days, fresh; without a commit since then an old check is as good as a new one"
)
def test_an_old_check(place: Place, tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "memories")
    for number, (name, repo) in enumerate({"scheduler": "git@github.com:me/foo.git", "mailer": ""}.items()):
        head = f"schema_version: 1\nid: 01HXYZ123ABC000000000000{number:02}\ncreated: 2025-03-14T10:23:00+00:00\nupdated: 2025-03-14T10:23:00+00:00"
        origin = f"\norigin:\n  cwd: /somewhere\n  repo: {repo}\n  branch: main" if repo else ""
        text = f"---\n{head}\nlast_verified_at: 2025-04-01T10:00:00+00:00\nscopes: [tools]\nconfidence: high\nsource: inferred{origin}\n---\nThe {name} retries failed jobs.\n"
        (folder / f"{name}.md").write_text(text)
    place.run(f"store import --from bettermemory {folder}")
    env = {"GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}
    old_commit(place, env)
    ask = place.tools("bettermemory")
    rows = {row["body"].split()[1]: row for row in ask("memory_list", with_bodies=True)}
    assert {row["verification"]["status"] for row in rows.values()} == {"stale"}
    assert (rows["scheduler"]["staleness_verdict"], rows["mailer"]["staleness_verdict"]) == (
        "fresh",
        "spot_check_required",
    )
    assert ask("memory_health")["verification_debt"]["stale_total"] == 2


def old_commit(place: Place, environment: dict[str, str]) -> None:
    import os
    import subprocess

    command = "git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m first".split()
    subprocess.run(command, cwd=place.folder, env=os.environ | environment, check=True)


@promise("memory_scope_overview: drifted is null where git cannot be asked, 0 where git found nothing")
def test_drifted(place: Place, tmp_path: Path) -> None:
    outside = new_folder(tmp_path / "notes")
    assert place.tools("bettermemory", outside)("memory_scope_overview")["curation_pending"]["drifted"] is None
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    assert place.tools("bettermemory")("memory_scope_overview")["curation_pending"]["drifted"] == 0


@promise("other kinds appear as fact; threads and summaries are not listed; search queries are stored masked")
def test_kinds(ask: Tools, place: Place) -> None:
    place.run('remember "Use JWT for the API." --kind decision')
    place.run('thread open "Finish the runbook"')
    assert [(row["category"], row["summary"]) for row in ask("memory_list")] == [("fact", "Use JWT for the API.")]
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    ask("memory_search", query=f"what is {key}")
    stored = b"".join(
        file.read_bytes() for file in Path(place.environment["HOLDFAST_HOME"]).rglob("*") if file.is_file()
    )
    assert key.encode() not in stored


@promise("its folders and its log are not read or written: a .claude-memory folder changes nothing")
def test_folders(place: Place) -> None:
    for folder in (place.folder / ".claude-memory", place.home / ".claude-memory"):
        folder.mkdir()
        (folder / "note.md").write_text("---\nid: 01HXYZ123ABC\nscopes: [tools]\n---\nRuff is the linter.\n")
    ask = place.tools("bettermemory")
    assert ask("memory_list") == []
    kept(ask, "Mypy checks types.")
    assert list(place.home.rglob(".events.jsonl")) == []


@promise("bettermemory doctor: 0 when all is well, 1 with a warning, 2 when it is broken")
def test_doctor_codes(place: Place) -> None:
    ask = place.tools("bettermemory")
    kept(ask, "Ruff is the linter.")
    ask.close()
    assert place.run("compat bettermemory --version").stdout
    done = place.run("compat bettermemory doctor --json", code=None)
    broken = [check["name"] for check in json.loads(done.stdout) if check["fix"]]
    assert done.returncode == (1 if broken else 0)
    (Path(place.environment["HOLDFAST_HOME"]) / "holdfast.db").write_bytes(b"no database" * 1_000)
    assert place.run("compat bettermemory doctor", code=None).returncode == 2
