"""bettermemory's document, tried literally."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools, git, original
from tests.hosts.test_mcp import INITIALIZE, Peer

promise = pytest.mark.promise
TOOLS = """memory_search memory_show memory_write memory_update memory_verify memory_list memory_remove memory_restore
memory_list_tombstones memory_rename_scope memory_record_use memory_health memory_scope_overview memory_scope_disable
memory_scope_enable memory_write_confirm memory_write_cancel""".split()
TUTORIAL = 'When I ask for a "zero to hero" tutorial, I want a hands-on walkthrough with code I can run, not a tour of the IDE.'


@promise("install: the model has all 17 tools and the policy in the system prompt, under 1.8 KB")
def test_seventeen_tools_and_a_policy(ask: Tools) -> None:
    assert ask.names == set(TOOLS)
    policy = ask.greeting["instructions"]
    assert len(policy.encode()) < 1_800
    assert {"memory_verify", "memory_update", "memory_remove", "memory_record_use"} <= set(
        policy.replace(",", " ").replace(".", " ").split()
    )


@promise("nothing is force-fed: no hook is written, nothing is captured or injected")
def test_init_writes_no_hooks_and_removes_earlier_ones(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.run("init --client claude-code --yes")
    settings = place.home / ".claude" / "settings.json"
    assert json.loads(settings.read_text())["hooks"]
    said = place.run("init --surface bettermemory --client claude-code --yes").stdout
    assert "begin" not in said  # nothing is injected
    assert "hooks" not in json.loads(settings.read_text())
    assert "bettermemory" in (place.home / ".claude.json").read_text()
    assert place.hook("UserPromptSubmit", prompt="what's the difference between find and fd?") == ""
    place.run("uninstall --yes")
    assert not settings.exists()


@promise("day one: an inference about the user is pending until the user agrees; week two it is found")
def test_day_one_and_week_two(ask: Tools) -> None:
    held = ask("memory_write", content=TUTORIAL, scopes=["learning-style"], category="user-inference")
    assert (held["status"], "memory_write_confirm" in held["hint"]) == ("pending", True)
    assert held["preview"]["content"] == TUTORIAL
    kept = ask("memory_write_confirm", pending_id=held["pending_id"])
    assert kept["status"] == "committed"
    assert ask("memory_write_cancel", pending_id=held["pending_id"])["existed"] is False
    ask.restart()
    [hit] = ask("memory_search", query="zero to hero tutorial")
    assert (hit["id"], hit["relevance"]) == (kept["id"], "high")
    assert {"zero", "hero", "tutorial"} <= set(hit["match_terms"])


@promise("memory_search: relevance, match_terms, times, path and commit drift on every hit; expand_top gives the body")
def test_a_hit_has_three_signals(ask: Tools, place: Place) -> None:
    (place.folder / "a.py").write_text("x = 1\n")
    git(place.folder, "add", "."), git(place.folder, "commit", "-qm", "first")
    kept = ask("memory_write", content="The scheduler retries failed jobs three times.", scopes=["infrastructure"])
    [hit] = ask("memory_search", query="scheduler retries failed jobs", expand_top=True)
    wanted = {"id", "score", "relevance", "match_terms", "created", "updated", "last_verified_at", "path_drift_checked"}
    wanted |= {"path_drift_missing", "verification", "body", "path_drift", "commit_drift"}
    assert wanted <= set(hit)
    assert (hit["id"], hit["body"]) == (kept["id"], "The scheduler retries failed jobs three times.")
    ask("memory_verify", id=kept["id"], verified_paths=["a.py"], note="Read it.")
    [again] = ask("memory_search", query="scheduler retries failed jobs")
    assert again["commit_drift_count"] == 0
    shown = ask("memory_show", id=kept["id"])
    assert (shown["verification"]["status"], shown["verified_paths"]) == ("fresh", ["a.py"])


@promise("memory_write: durability check, duplicates, previously removed with its reason, force")
def test_writes_pass_the_gates(ask: Tools) -> None:
    warned = ask("memory_write", content="We are currently using GitHub Actions.", scopes=["tools"])
    assert (warned["status"], warned["markers"][0]["marker"]) == ("transient_warning", "currently")
    assert "currently using" in warned["markers"][0]["snippet"]
    kept = ask(
        "memory_write", content="We are currently using GitHub Actions.", scopes=["tools"], acknowledge_transient=True
    )
    assert kept["status"] == "committed"
    assert (
        ask(
            "memory_write",
            content="We are currently using GitHub Actions.",
            scopes=["tools"],
            acknowledge_transient=True,
        )["status"]
        == "duplicate"
    )
    ask("memory_remove", id=kept["id"], reason="We left GitHub.")
    back = ask(
        "memory_write", content="We are currently using GitHub Actions.", scopes=["tools"], acknowledge_transient=True
    )
    assert (back["status"], back["removed_matches"][0]["removed_reason"]) == ("previously_removed", "We left GitHub.")
    forced = {"content": "We are currently using GitHub Actions.", "scopes": ["tools"]}
    assert ask("memory_write", **forced, acknowledge_transient=True, force=True)["status"] == "committed"
    markers = {row["marker"]: row for row in ask("memory_health")["marker_stats"]}
    assert markers["currently"]["override_count"] >= 1


@promise("generic questions stay clean: what shares no word and does not mean the same is left out")
def test_generic_questions(place: Place) -> None:
    place.environment["HOLDFAST_EMBEDDER"] = "local"
    ask = place.tools("bettermemory")
    for text in ("The staging database is reset every Sunday night.", "We use pnpm in this repository."):
        ask("memory_write", content=text, scopes=["tools"])
    place.run("store rebuild vectors --missing")
    questions = ("capital of France", "find and fd", "sourdough baking", "weather tomorrow in Oslo", "package manager")
    assert [len(ask("memory_search", query=question)) for question in questions] == [0, 0, 0, 0, 1]


@promise("a query of stop words finds nothing; expand_top gives a body only for a high hit; default_max_results")
def test_queries(place: Place) -> None:
    ask = _with(place, HOLDFAST_RECALL_LIMIT="2")
    for thing in ("scheduler", "uploader", "mailer"):
        ask(
            "memory_write",
            content=f"The {thing} retries failed jobs; see the {thing} runbook.",
            scopes=["infrastructure"],
        )
    assert ask("memory_search", query="how to the and") == []
    assert len(ask("memory_search", query="retries failed jobs")) == 2
    assert len(ask("memory_search", query="retries failed jobs", max_results=3)) == 3
    hits = ask("memory_search", query="kubernetes ingress of the mailer", expand_top=True)
    assert all(hit["relevance"] == "high" for hit in hits if "body" in hit)


@promise("staleness: a cited path that is gone and commits since the last check are counted on the hit")
def test_drift(ask: Tools, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.folder / "retry.py").write_text("x = 1\n")
    git(place.folder, "add", "."), git(place.folder, "commit", "-qm", "first")
    kept = ask("memory_write", content="The retry policy lives in `retry.py`.", scopes=["projects:foo"])
    head = git(place.folder, "rev-parse", "HEAD").strip()
    assert ask("memory_search", query="where does the retry policy live")[0]["path_drift_checked"] == 1
    checked = {"verified_paths": ["retry.py"], "verified_commits": [head], "verified_versions": ["1.2.0"]}
    ask("memory_verify", id=kept["id"], **checked)
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):  # later than the check, which is of this second
        monkeypatch.setenv(name, "2035-01-01T00:00:00Z")
    git(place.folder, "rm", "-q", "retry.py"), git(place.folder, "commit", "-qm", "gone")
    [hit] = ask("memory_search", query="where does the retry policy live")
    assert (hit["path_drift_checked"], hit["path_drift_missing"], hit["commit_drift_count"]) == (1, 1, 1)
    shown = ask("memory_show", id=kept["id"])
    assert (shown["verified_commits"], shown["verified_versions"]) == ([head], ["1.2.0"])
    assert shown["path_drift"]["missing"] == ["retry.py"]


@promise("memory_health: typo scopes (rare_scopes), scope distribution")
def test_typos_of_scopes(ask: Tools) -> None:
    ask("memory_write", content="Ruff is the linter.", scopes=["tooling"])
    ask("memory_write", content="Mypy checks types.", scopes=["tooling"])
    ask("memory_write", content="Pytest runs the tests.", scopes=["toolin"])
    health = ask("memory_health")
    assert health["scope_distribution"] == {"tooling": 2, "toolin": 1}
    assert [row["scope"] for row in health["rare_scopes"]] == ["toolin"]


@promise("bettermemory without arguments is the server over stdio")
def test_the_server_without_arguments(place: Place) -> None:
    peer = Peer(place.environment, place.folder, ("-m", "holdfast", "compat", "bettermemory"))
    try:
        assert peer.ask("initialize", INITIALIZE)["result"]["capabilities"]["tools"] is not None
        assert {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]} == set(TOOLS)
    finally:
        peer.close()


@promise("memory_update keeps id, created and source and bumps updated; user-inference is rejected there")
def test_an_update_in_place(ask: Tools) -> None:
    kept = ask(
        "memory_write", content="The API is versioned by header.", scopes=["projects:foo"], source="explicit-statement"
    )
    changed = ask(
        "memory_update", id=kept["id"], content="The API is versioned by path.", scopes=["projects:foo", "api"]
    )
    assert (changed["id"], changed["created"], changed["source"]) == (kept["id"], kept["created"], "explicit-statement")
    assert changed["updated"] >= kept["updated"]
    assert changed["scopes"] == ["projects:foo", "api"]
    assert "category" in ask.refused("memory_update", id=kept["id"], category="user-inference")


@promise("memory_verify bumps last_verified_at, not updated; after an update to a moved path it verifies the new one")
def test_verify_after_a_move(ask: Tools, place: Place) -> None:
    (place.folder / "old.py").write_text("x = 1\n")
    git(place.folder, "add", "."), git(place.folder, "commit", "-qm", "first")
    kept = ask("memory_write", content="The retry policy lives in `old.py`.", scopes=["projects:foo"])
    verified = ask("memory_verify", id=kept["id"], verified_paths=["old.py"])
    assert verified["updated"] == kept["updated"]
    git(place.folder, "mv", "old.py", "new.py"), git(place.folder, "commit", "-qm", "move")
    ask("memory_update", id=kept["id"], content="The retry policy lives in `new.py`.")
    assert ask("memory_verify", id=kept["id"], verified_paths=["new.py"])["verified_paths"] == ["new.py"]
    (place.folder / "other.py").write_text("y = 1\n")
    git(place.folder, "rm", "-q", "new.py"), git(place.folder, "add", "."), git(place.folder, "commit", "-qm", "gone")
    ask("memory_update", id=kept["id"], content="The retry policy lives in `other.py`.")
    assert ask("memory_verify", id=kept["id"])["verified"] == kept["id"]


@promise("remove, list_tombstones, restore: created and last_verified_at survive; an active or unknown id is an error")
def test_tombstones(ask: Tools) -> None:
    kept = ask("memory_write", content="Deploys go out on Tuesdays.", scopes=["infrastructure"])
    ask("memory_verify", id=kept["id"])
    before = ask("memory_show", id=kept["id"])
    assert ask("memory_remove", id=kept["id"], reason="They go out daily.")["tombstone_path"] is None
    [gone] = ask("memory_list_tombstones", scopes=["infrastructure"])
    assert (gone["id"], gone["removed_reason"], bool(gone["removed"]), bool(gone["removed_session"])) == (
        kept["id"],
        "They go out daily.",
        True,
        True,
    )
    ask("memory_restore", id=kept["id"])
    after = ask("memory_show", id=kept["id"])
    assert [after[name] for name in ("created", "last_verified_at")] == [before["created"], before["last_verified_at"]]
    assert after["updated"] > before["updated"]
    assert ask.refused("memory_restore", id=kept["id"])
    assert ask.refused("memory_restore", id="01HXYZ123ABC0000000000000A")


@promise("memory_list, memory_rename_scope, memory_scope_disable and _enable")
def test_scopes(ask: Tools) -> None:
    kept = ask("memory_write", content="Ruff is the linter.", scopes=["tool"])
    [row] = ask("memory_list")
    assert row["summary"] == "Ruff is the linter."
    [full] = ask("memory_list", with_bodies=True)
    assert full["body"] == "Ruff is the linter."
    assert ask("memory_rename_scope", old_scope="tool", new_scope="tools")["active"] == [kept["id"]]
    ask("memory_scope_disable", scope="tools")
    assert ask("memory_search", query="which linter is ruff") == []
    assert ask("memory_scope_enable", scope="tools")["disabled_scopes"] == []
    assert ask("memory_scope_overview")["scopes"] == {"tools": 1}


@promise("memory_record_use and memory_health: applied, contradicted with a timeline, corrected, orphans as a number")
def test_use_and_health(ask: Tools) -> None:
    kept = ask("memory_write", content="The queue is RabbitMQ.", scopes=["infrastructure"])
    ask("memory_record_use", memory_ids=[kept["id"]], outcome="applied", note="chose the client")
    ask("memory_record_use", memory_ids=[kept["id"]], outcome="contradicted")
    health = ask("memory_health", window_days=30, heavily_used_top_k=5, min_applied=1)
    assert [row["id"] for row in health["heavily_used"]] == [kept["id"]]
    assert health["contradicted"][0]["resolution_timeline"][-1]["kind"] == "contradicted"
    assert (health["orphan_use_events"], health["verification_debt"]["never_verified_total"]) == (0, 1)
    ask("memory_verify", id=kept["id"])
    assert ask("memory_health")["contradicted"] == []
    assert ask.refused("memory_record_use", memory_ids=["01HXYZ123ABC0000000000000A"], outcome="applied")
    assert ask("memory_health")["orphan_use_events"] == 0
    assert ask("memory_record_use", memory_ids=[kept["id"]], outcome="corrected")["outcome"] == "corrected"


@promise("memory_scope_overview: counts by scope, and what there is to curate")
def test_the_overview(ask: Tools) -> None:
    assert ask("memory_scope_overview")["total"] == 0
    ask("memory_write", content="The queue is RabbitMQ.", scopes=["infrastructure"])
    overview = ask("memory_scope_overview")
    assert (overview["total"], overview["curation_pending"]["never_verified"]) == (1, 1)
    assert set(overview["curation_pending"]) == {"stale", "never_verified", "drifted", "cold", "dead"}


@promise("written outside git it is global and surfaces anywhere; another repository needs auto_scope=false")
def test_auto_scope(place: Place, tmp_path: Path) -> None:
    outside, bar = tmp_path / "notes", tmp_path / "bar"
    outside.mkdir()
    bar.mkdir()
    git(bar, "init", "-q"), git(bar, "remote", "add", "origin", "git@github.com:me/bar.git")
    anywhere = place.tools("bettermemory", outside)
    said = anywhere("memory_write", content="I prefer tabs of four spaces.", scopes=["personal-context"])
    in_foo, in_bar = place.tools("bettermemory"), place.tools("bettermemory", bar)
    assert [hit["id"] for hit in in_foo("memory_search", query="tabs of four spaces")] == [said["id"]]
    assert [row["id"] for row in in_foo("memory_list")] == [said["id"]]
    assert in_foo("memory_health")["verification_debt"]["never_verified_total"] == 1
    own = in_foo("memory_write", content="The cache is Valkey.", scopes=["projects:foo"])
    assert in_bar("memory_search", query="the cache is Valkey") == []
    assert [hit["id"] for hit in in_bar("memory_search", query="the cache is Valkey", auto_scope=False)] == [own["id"]]
    assert in_bar("memory_show", id=own["id"])["origin"] == {
        "repo": "github.com/me/foo",
        "branch": "main",
        "cwd": str(place.folder),
        "worktree": None,
    }


@promise("BETTERMEMORY_DIR chooses the store")
def test_the_variable_for_the_directory(place: Place, tmp_path: Path) -> None:
    del place.environment["HOLDFAST_HOME"]
    place.environment["BETTERMEMORY_DIR"] = str(tmp_path / "mine")
    place.tools("bettermemory")("memory_write", content="The cache is Valkey.", scopes=["tools"])
    assert (tmp_path / "mine" / "holdfast.db").exists()
    [row] = place.tools("bettermemory")("memory_list")
    assert row["summary"] == "The cache is Valkey."


def _with(place: Place, **variables: str) -> Tools:
    place.environment.update(variables)
    return place.tools("bettermemory")


@promise("config scopes.allowed: a write with another scope fails")
def test_allowed_scopes(place: Place) -> None:
    ask = _with(place, HOLDFAST_ALLOWED_SCOPES="tools")
    assert "tools" in ask.refused("memory_write", content="The cache is Valkey.", scopes=["projects:foo"])


INIT = ["init", *(f"init --client {name}" for name in ("claude-code", "claude-desktop", "cursor", "continue", "cline"))]


@promise("bettermemory init, for each client it names; running it again changes nothing")
@pytest.mark.parametrize("line", [*INIT, "init --client cursor --print-only", "init --json", "init --with-addendum"])
def test_init_lines(place: Place, line: str) -> None:
    first = place.run(f"compat bettermemory {line}").stdout
    written = [file.read_text() for file in place.home.rglob("*") if file.suffix in (".json", ".yaml", ".md")]
    assert any("bettermemory" in text for text in [first, *written])
    if "--client" not in line or "--print-only" in line:
        assert written == []
    if "--json" in line:
        assert json.loads(first)["snippet"]["mcpServers"]["bettermemory"]["command"]
    if line == "init":
        assert "[ ] cursor: " in first
    if line in INIT[1:]:
        assert "everything is set up" in place.run(f"compat bettermemory {line}").stdout


def _kept(place: Place) -> tuple[Tools, dict[str, Any]]:
    ask = place.tools("bettermemory")
    kept = ask("memory_write", content="The cache is Valkey.", scopes=["projects:demo"])
    gone = ask("memory_write", content="The queue is RabbitMQ.", scopes=["tools"])
    ask("memory_remove", id=gone["id"], reason="It was never used.")
    return ask, kept


@promise("bettermemory health, health --json, health --days 60 --top-k 20: the data of memory_health")
def test_health_lines(place: Place) -> None:
    ask, kept = _kept(place)
    ask("memory_record_use", memory_ids=[kept["id"]], outcome="applied")
    assert "1" in place.run("compat bettermemory health").stdout
    report = place.json("compat bettermemory health --json")
    assert set(report) >= {"dead_weight", "heavily_used", "contradicted", "marker_stats", "verification_debt"}
    assert place.json("compat bettermemory health --days 60 --top-k 20 --json")["window_days"] == 60


@promise("bettermemory tombstones list, --json --scope, prune --older-than DAYS, --dry-run")
def test_tombstone_lines(place: Place) -> None:
    _kept(place)
    assert "It was never used." in place.run("compat bettermemory tombstones list").stdout
    [row] = place.json("compat bettermemory tombstones list --json --scope tools")
    assert row["removed_reason"] == "It was never used."
    assert place.json("compat bettermemory tombstones list --json --scope other") == []
    assert "1" in place.run("compat bettermemory tombstones prune --older-than 0 --dry-run").stdout
    assert "0" in place.run("compat bettermemory tombstones prune --older-than 365").stdout
    place.run("compat bettermemory tombstones prune --older-than 0")
    assert place.json("compat bettermemory tombstones list --json") == []


@promise("bettermemory export to stdout, -o FILE, --no-tombstones, --scope")
def test_export_lines(place: Place) -> None:
    _kept(place)
    assert len(place.json("compat bettermemory export --scope projects:demo --scope tools")["active_memories"]) == 1
    dump = place.json("compat bettermemory export")
    assert (
        [row["body"] for row in dump["active_memories"]],
        [row["removed_reason"] for row in dump["tombstoned_memories"]],
    ) == (["The cache is Valkey."], ["It was never used."])
    place.run("compat bettermemory export -o backup.json")
    assert json.loads((place.folder / "backup.json").read_text())["active_memories"] == dump["active_memories"]
    assert "tombstoned_memories" not in place.json("compat bettermemory export --no-tombstones")
    assert place.json("compat bettermemory export --scope projects:other")["active_memories"] == []


@promise("bettermemory migrate origin: --dry-run, --repo URL, --scope-repo SCOPE=URL")
def test_migrate_lines(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "notes"
    outside.mkdir()
    ask = place.tools("bettermemory", outside)
    ask("memory_write", content="The cache of bar is Valkey.", scopes=["projects:bar"], acknowledge_scope_mismatch=True)
    ask("memory_write", content="I prefer short answers.", scopes=["personal-context"])
    preview = place.run(
        "compat bettermemory migrate origin --scope-repo projects:bar=git@github.com:me/bar.git --dry-run",
        folder=outside,
    )
    assert "github.com/me/bar" in preview.stdout
    here = place.tools("bettermemory")
    assert len(here("memory_list")) == 2
    assert "Nothing was moved" in place.run("compat bettermemory migrate origin").stdout
    assert here("memory_show", id=here("memory_list")[0]["id"])["origin"]["repo"] is None
    routes = "--scope-repo projects:bar=git@github.com:me/bar.git --scope-repo projects:baz=git@github.com:me/baz.git"
    assert (
        "Moved 1 memory of projects:bar"
        in place.run(f"compat bettermemory migrate origin {routes}", folder=outside).stdout
    )
    assert (
        "Moved 0 memories of projects:bar"
        in place.run(f"compat bettermemory migrate origin {routes}", folder=outside).stdout
    )
    assert [row["summary"] for row in here("memory_list")] == ["I prefer short answers."]
    place.run("compat bettermemory migrate origin --repo git@github.com:me/foo.git", folder=outside)
    [row] = here("memory_list")
    assert here("memory_show", id=row["id"])["origin"]["repo"] == "github.com/me/foo"


class Original(Tools):
    """bettermemory itself, on a folder of its own."""

    def start(self) -> None:
        program = str(original("bettermemory") / "bettermemory")
        self.peer = Peer(self.environment, self.folder, (), program)
        self.greeting = self.peer.ask("initialize", INITIALIZE)["result"]
        self.peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, name: str, **arguments: Any) -> Any:
        result = self.peer.call(name, **arguments)
        assert not result["isError"], result
        return result["structuredContent"].get("result", result["structuredContent"])


def _original(place: Place, folder: Path) -> Original:
    tools = Original("bettermemory", place.folder, {**place.alone, "BETTERMEMORY_DIR": str(folder)})
    place.opened.append(tools)
    return tools


@promise("round trip: bettermemory 1.4.1 writes, Holdfast imports and exports, bettermemory reads the same")
@pytest.mark.xdist_group("bettermemory itself")
def test_the_original_reads_what_it_wrote(place: Place, tmp_path: Path) -> None:
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    there = _original(place, tmp_path / "before")
    kept = there("memory_write", content=TUTORIAL, scopes=["learning-style"], confidence="high")
    checked = there("memory_write", content="The scheduler retries failed jobs three times.", scopes=["projects:foo"])
    there("memory_verify", id=checked["id"], verified_commits=["4d79987"], verified_versions=["celery 5.4"])
    gone = there("memory_write", content="Deploys go out on Tuesdays.", scopes=["infrastructure"])
    there("memory_remove", id=gone["id"], reason="They go out daily.")
    shown = {one["id"]: there("memory_show", id=one["id"]) for one in (kept, checked)}
    [removed] = there("memory_list_tombstones")
    newer = next((tmp_path / "before").glob("*zero.md")).read_text().replace("schema_version: 1", "schema_version: 2")
    (tmp_path / "before" / "newer.md").write_text(newer)
    assert (
        "newer bettermemory" in place.run(f"store import --from bettermemory {tmp_path / 'before'}", code=None).stdout
    )
    here = place.tools("bettermemory")
    assert here("memory_list_tombstones")[0]["removed_session"] == removed["removed_session"]
    assert here("memory_show", id=kept["id"])["origin"]["cwd"] == shown[kept["id"]]["origin"]["cwd"]
    place.run(f"store export --as bettermemory {tmp_path / 'after'}")
    back = _original(place, tmp_path / "after")
    rows = {row["body"]: row for row in back("memory_list", with_bodies=True, auto_scope=False)}
    assert set(rows) == {one["body"] for one in shown.values()}
    same = "scopes confidence source category created last_verified_at verified_commits verified_versions".split()
    for one in shown.values():
        after = back("memory_show", id=rows[one["body"]]["id"])
        assert {name: _at_second(after.get(name)) for name in same} == {
            name: _at_second(one.get(name)) for name in same
        }
        assert after["origin"]["repo"] == one["origin"]["repo"]
    [tombstone] = back("memory_list_tombstones")
    assert tombstone["removed_reason"] == "They go out daily."
    assert [hit["relevance"] for hit in back("memory_search", query="zero to hero tutorial")] == ["high"]


def _at_second(value: Any) -> Any:
    return value[:19] if isinstance(value, str) and value[:2] == "20" else value
