"""Readers of other systems: what each fixture holds arrives whole, and what is damaged is named."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from holdfast.adapters.importers import git_notes
from holdfast.adapters.importers.git_notes import split_entries
from holdfast.adapters.importers.markdown import sections
from holdfast.adapters.importers.values import plain, texts, when
from holdfast.compose.adapters import foreign_items
from holdfast.engine.raw import transcripts
from holdfast.engine.views import sessions, touches, usage
from holdfast.model.errors import Invalid
from holdfast.model.foreign import Foreign
from holdfast.model.record import Link, Origin
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.sessions.thread import open_threads, resolved_threads
from tests.importing import FIXTURES, SHOP, all_records, brought, copied, items, reasons
from tests.rows import each

SCAR = "learning:3f0c9c52-1111-4a6e-9d0b-7a1e5c000001"
SESSION = "9b1d4f60-aaaa-4c11-8e21-5d2f00000001"


def test_a_gitmem_scar_keeps_its_fields_times_and_whatever_else_it_has(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    scar = all_records(memory)[SCAR]
    assert (scar.kind, scar.title) == ("scar", "Stock is reserved before payment, not after")
    assert scar.fields == {
        "severity": "high",
        "scar_type": "incident",
        "counter_arguments": ["Payments rarely fail.", "Reserving early blocks carts."],
        "keywords": ["stock", "checkout"],
        "domain": ["payments"],
        "applies_when": ["touching checkout"],
        "why": "Refunds cost more than the sale.",
        "action_protocol": ["Reserve in the same transaction as the order"],
        "self_check": ["Is there a window between order and reservation?"],
        "issue": "SHOP-41",
        "verify_when": "before deploying checkout",
        "verify_with": ["select count(*) from reservations"],
        "must_show": "no orphaned reservation",
        "blocking": True,
    }
    assert (scar.created_at, scar.updated_at) == ("2026-01-10T09:15:30.250Z", "2026-02-01T10:00:00.000Z")
    assert (scar.by.name, scar.project, scar.state) == ("cli", "example.org/acme/shop", "active")
    assert (scar.extra["reviewed_by"], scar.extra["counts"]) == ("Ada", {"decay_multiplier": 0.8})


def test_gitmem_records_of_all_sorts_arrive(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "gitmem", tmp_path)
    found = all_records(memory)
    assert len(report.taken) == len(found) == 17
    decision = found["decision:d7a1e5c0-1111-4a6e-9d0b-000000000001"]
    assert (decision.by.session, decision.fields["alternatives"]) == (SESSION, ["Decimal columns", "A money library"])
    archived = found["learning:3f0c9c52-3333-4a6e-9d0b-7a1e5c000003"]
    assert (archived.state, archived.reason, archived.updated_at) == ("retired", "archived", "2026-01-20T08:00:00.000Z")
    win = found["learning:3f0c9c52-2222-4a6e-9d0b-7a1e5c000002"]
    assert win.links == (Link(relation="relates_to", target=found[SCAR].id),)
    assert found["learning:3f0c9c52-4444-4a6e-9d0b-7a1e5c000004"].project == "mailer"
    observation = next(one for key, one in found.items() if key.startswith("observation:"))
    assert observation.fields == {"severity": "warning", "subtitle": "src/preview.py"}


def test_gitmem_threads_keep_their_status_and_life(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    found = all_records(memory)
    texts_open = {thread.record.body for thread in open_threads(memory, archived=True)}
    assert texts_open == {
        "Move the mailer off the old queue",
        "Ask support which exports they still use",
        "Look at rounding in the tax report",
    }
    resolved = found["thread:t-0a1b2c3e"]
    assert (resolved.state, resolved.reason) == ("retired", "An index was missing on orders.created_at")
    assert resolved.updated_at == "2026-01-09T09:00:00.000Z"
    assert resolved.id in {thread.record.id for thread in resolved_threads(memory)}
    alive = found["thread:t-0a1b2c3d"]
    assert touches.of(memory.store, [alive.id])[alive.id] == (1, "2026-01-15T09:00:00.000Z")
    assert alive.extra["counts"]["touch_count"] == 3
    state = found["thread:t-0a1b2c3f"]
    assert (state.kind, state.tags) == ("progress", ("project-state",))


def test_gitmem_suggestions_stay_what_they_are(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    found = all_records(memory)
    waiting, promoted = found["suggestion:ts-00000001"], found["suggestion:ts-00000002"]
    assert (waiting.state, waiting.extra["score"], len(waiting.extra["evidence"])) == ("pending", 0.81, 2)
    assert suggestions(memory) == []  # it was turned down since
    assert (promoted.state, promoted.links[0].target) == ("retired", found["thread:t-0a1b2c3d"].id)


def test_gitmem_sessions_keep_their_close_and_what_they_left(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    found = all_records(memory)
    session = sessions.of(memory.store, SESSION)
    assert session
    assert (session.title, session.issue, session.agent) == ("Cents everywhere", "SHOP-12", "cli")
    assert (session.started_at, session.closed_at) == ("2026-01-11T11:00:00.000Z", "2026-01-11T13:05:00.000Z")
    assert session.close["compliance"]["learnings_stored"] == 1
    assert session.close["summary"] == found[f"summary:{SESSION}"].id
    looking_back = found[f"reflection:{SESSION}"]
    assert session.close["retrospective"] == looking_back.id
    assert looking_back.fields == {
        "what_broke": "Rounding in the invoice preview.",
        "what_worked": "A property test over random carts.",
        "capture": "Keep amounts as integers",
        "rapport": "Short questions, long silences.",
    }
    running = sessions.of(memory.store, f"{SESSION[:-1]}2")
    assert running
    assert not running.is_open
    assert found[f"reflection:{running.id}"].fields["corrections"] == "Do not touch the tax code this week."


def test_gitmem_usage_counts(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    scar = all_records(memory)[SCAR].id
    counts = usage.of(memory.store, [scar])[scar]
    assert (counts.surfaced, counts.applied, counts.ignored, counts.acknowledged) == (3, 1, 1, 1)
    assert counts.succeeded == 1
    assert counts.failed == 0
    assert {use.outcome for use in usage.in_session(memory.store, SESSION)} == {"applied", "succeeded"}


def test_what_is_damaged_in_gitmem_is_named(memory: Memory, tmp_path: Path) -> None:
    told = reasons(brought(memory, "gitmem", tmp_path))
    assert told["learnings.json #5"] == "it is not an object"
    assert told["learnings.json #6"] == "it is empty"
    assert told["notes-of-mine.json"] == "it is left out: not a known memory file"
    assert "which is not there" in told["scar_usage.json #3"]


def test_a_list_that_is_cut_short_is_read_up_to_there(memory: Memory, tmp_path: Path) -> None:
    folder = copied(tmp_path) / "gitmem"
    whole = (folder / "decisions.json").read_text()
    (folder / "decisions.json").write_text(whole.rstrip().rstrip("]") + ', {"id": "x", "tit')
    told = reasons(import_items(memory, "gitmem", foreign_items("gitmem", folder)))
    assert "from character" in told["decisions.json"]
    assert "decision:d7a1e5c0-1111-4a6e-9d0b-000000000001" in all_records(memory)


def test_memory_mcp_memories_keep_trust_tags_links_and_figures(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "memory-mcp", tmp_path)
    found = all_records(memory)
    assert len(report.taken) == 6
    first, second = found["memory:1"], found["memory:2"]
    assert (first.kind, first.project, first.tags) == ("decision", SHOP, ("orders", "scale"))
    assert (first.confidence, second.confidence, found["memory:4"].confidence) == ("high", "low", "high")
    assert first.links == (Link(relation="depends_on", target=second.id),)
    assert (first.by.session, first.extra["category"]) == ("5d2f0000-aaaa-4c11-8e21-000000000001", "decision")
    assert first.extra["mood"] == "calm"
    assert first.extra["counts"]["is_pinned"] == 1
    assert first.extra["counts"]["retrieved_count"] == 12
    assert first.created_at == "2026-02-01T10:00:01.000Z"
    assert (found["memory:3"].project, found["memory:4"].project) == ("", "tools")
    assert second.extra["mined"][0]["status"] == "promoted"


def test_memory_mcp_candidates_uses_and_sessions_arrive(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "memory-mcp", tmp_path)
    found = all_records(memory)
    assert (found["pattern:p1"].state, found["pattern:p1"].extra["first_seen"]) == ("pending", "2026-02-01 10:00:01")
    assert (found["pattern:p3"].state, found["pattern:p3"].reason) == ("retired", "rejected")
    first, second = (usage.of(memory.store, [found[key].id])[found[key].id] for key in ("memory:1", "memory:2"))
    assert (first.surfaced, first.applied, first.last_used_at) == (1, 1, "2026-02-05T08:00:00.000Z")
    assert (second.surfaced, second.applied, second.contradicted) == (1, 1, 1)
    session = sessions.of(memory.store, "5d2f0000-aaaa-4c11-8e21-000000000001")
    assert session
    assert (session.title, session.project, session.closed_at) == ("Sharding", SHOP, "2026-02-01T12:00:00.000Z")
    assert reasons(report) == {
        "memories 5": "it is empty",
        "memories 6": "The text is not valid UTF-8.",
        "memories 2": "it points at memory:99 (mentions), which is not there",
        "memory-mcp.db output_log": "1 rows are left out: raw output of recent days",
    }


@pytest.mark.parametrize(("name", "file"), [("memory-mcp", "memory.db"), ("claude-mem", "claude-mem.db")])
def test_the_folder_of_a_database_will_do(tmp_path: Path, name: str, file: str) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(copied(tmp_path) / f"{name}.db", folder / file)
    assert any(isinstance(item, Foreign) for item in foreign_items(name, folder))


def test_a_database_with_damaged_pages_gives_what_can_be_read(memory: Memory, tmp_path: Path) -> None:
    path = copied(tmp_path) / "memory-mcp.db"
    with closing(sqlite3.connect(path)) as db:
        root = db.execute("select rootpage from sqlite_master where name = 'sessions'").fetchone()[0]
    raw = bytearray(path.read_bytes())
    raw[(root - 1) * 1024 : root * 1024] = b"\xff" * 1024
    path.write_bytes(raw)
    report = import_items(memory, "memory-mcp", foreign_items("memory-mcp", path))
    assert len(report.taken) == 6
    assert "cannot be read" in reasons(report)["memory-mcp.db sessions"]


def test_bettermemory_files_keep_origin_verification_and_scopes(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "bettermemory", tmp_path)
    found = all_records(memory)
    assert len(report.taken) == 4
    deploys = found["01KJ0000000000000000000001"]
    assert (deploys.project, deploys.origin, deploys.scopes) == (
        SHOP,
        Origin(branch="main"),
        ("projects:shop", "deploys"),
    )
    assert (deploys.created_at, deploys.updated_at) == ("2026-03-01T09:00:00.000Z", "2026-03-05T09:00:00.000Z")
    assert (deploys.verified_at, deploys.anchors) == (
        "2026-03-06T09:00:00.000Z",
        ("/home/ada/shop/deploy.yml", "commit:0123abc"),
    )
    assert deploys.extra["shelf"] == "top"
    assert deploys.extra["origin"]["cwd"] == "/home/ada/shop"
    likes = found["01KJ0000000000000000000002"]
    assert (likes.kind, likes.confidence, likes.project) == ("preference", "low", "")
    assert found["01KJ0000000000000000000003"].project == "github.com/acme/billing"
    gone = found["01KJ0000000000000000000004"]
    assert (gone.state, gone.reason, gone.updated_at) == ("retired", "the host is gone", "2026-02-20T09:00:00.000Z")
    assert gone.extra["removed_session"] == "sess_0000000000000002"


def test_bettermemory_logs_tell_of_use_and_damage_is_named(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "bettermemory", tmp_path)
    deploys = all_records(memory)["01KJ0000000000000000000001"].id
    counts = usage.of(memory.store, [deploys])[deploys]
    assert (counts.surfaced, counts.applied, counts.last_used_at) == (2, 1, "2026-03-06T08:05:00.000Z")
    session = sessions.of(memory.store, "sess_0000000000000002")
    assert session
    assert (session.started_at, session.closed_at) == ("2026-03-06T08:00:00.000Z", "2026-03-06T08:06:00.000Z")
    told = reasons(report)
    assert told["no-front.md"] == "it has no front matter with an id"
    assert told["newer.md"] == "it was written by a newer bettermemory (schema 2)"
    assert told["broken.md"].startswith("Its front matter is not YAML")
    assert told[".events.jsonl:4"].startswith("it is not JSON")
    assert "1 scope_overview events of the log" in told


def test_yaml_that_refers_to_itself_fills_no_memory(memory: Memory, tmp_path: Path) -> None:
    folder = copied(tmp_path) / "bettermemory"
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (folder / "bomb.md").write_text("---\nid: 01KJ000000000000000000000B\n" + "\n".join(levels) + "\n---\n\nBoom.\n")
    told = reasons(import_items(memory, "bettermemory", foreign_items("bettermemory", folder)))
    (folder / "ring.md").write_text("---\nid: 01KJ000000000000000000000C\na: &a [*a]\n---\n\nRound.\n")
    told |= reasons(import_items(memory, "bettermemory", foreign_items("bettermemory", folder)))
    beyond = "It is nested too deeply or has too many parts."
    assert (told["bomb.md"], told["ring.md"]) == (beyond, beyond)


@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_json_of_brackets_only_is_no_memory(memory: Memory, tmp_path: Path, depth: int) -> None:
    (tmp_path / "deep.jsonl").write_text('{"text": "x", "a": ' + "[" * depth + "]" * depth + '}\n{"text": "Fine."}\n')
    report = import_items(memory, "file", foreign_items("file", tmp_path / "deep.jsonl"))
    assert [one.title for one in report.taken] == ["Fine."]
    assert len(report.skipped) == 1


def test_claude_mem_observations_and_summaries_keep_everything(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "claude-mem", tmp_path)
    found = all_records(memory)
    assert len(report.taken) == 4
    observation = found["observation:obs-session-1:1"]
    assert (observation.kind, observation.by.session) == ("observation", "host-session-1")
    assert observation.project == "example.org/acme/shop"
    assert observation.body.startswith("The box lost its text")
    assert observation.fields == {
        "type": "bugfix",
        "subtitle": "State moved into the address",
        "facts": ["The text stands in ?q=", "Back and forward work"],
        "concepts": ["problem-solution", "gotcha"],
        "files_read": ["src/search.ts"],
        "files_modified": ["src/box.tsx"],
        "discovery_tokens": 4200,
    }
    assert observation.created_at == "2026-03-01T21:20:00.000Z"
    assert observation.extra["metadata"] == {"note": "by hand"}
    assert (observation.extra["generated_by_model"], observation.extra["prompt_number"]) == ("haiku", 1)
    assert observation.extra["counts"] == {"relevance_count": 2}
    assert found["observation:obs-session-2:2"].project == "blog"
    orphan = found["observation:lost-session:3"]
    assert (orphan.by.session, orphan.extra["merged_from"]) == ("lost-session", "shop")
    summary = found["summary:obs-session-1:1"]
    assert (summary.fields["next_steps"], summary.fields["files_modified"]) == (
        "Do the same for filters.",
        ["src/box.tsx"],
    )
    assert reasons(report)["observations 4"] == "it is empty"


def test_claude_mem_sessions_and_prompts_arrive(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "claude-mem", tmp_path)
    session = sessions.of(memory.store, "host-session-1")
    assert session
    assert (session.title, session.close["type"]) == ("Make the search box keep its text", "completed")
    assert session.closed_at == "2026-03-01T22:20:00.000Z"
    assert session.close["summary"] == all_records(memory)["summary:obs-session-1:1"].id
    never_ended = sessions.of(memory.store, "host-session-2")
    assert never_ended
    assert (never_ended.is_open, never_ended.closed_at) == (False, "2026-03-02T21:30:00.000Z")
    said = transcripts.get(memory.store, "host-session-1")
    assert said
    turns = [json.loads(line) for line in said.body.splitlines()]
    assert [(turn["prompt_number"], turn["content"].strip()) for turn in turns] == [
        (1, "Make the search box keep its text"),
        (2, "and now the filters"),
    ]


def test_git_notes_keep_every_entry_with_its_commit(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "git-notes", tmp_path)
    found = {record.title: record for record in all_records(memory).values()}
    assert len(report.taken) == len(found) == 5
    chose, kept = found["Chose SQLite"], found["Kept WAL mode"]
    assert (chose.kind, chose.project, chose.tags) == ("decision", SHOP, ("database",))
    assert "A rule of dashes is no new entry." in chose.body
    assert (chose.created_at, chose.extra["spec"]) == ("2025-12-21T05:52:40.658Z", "store")
    assert len(chose.origin.commit) == 40
    assert kept.links == (Link(relation="relates_to", target=chose.id),)
    assert (found["CI has no Docker"].state, found["CI has no Docker"].reason) == ("retired", "resolved")
    review = found["Fine after two rounds"]
    assert (review.fields, review.created_at) == ({"verdict": "approved"}, "2025-10-09T10:53:20.000Z")
    assert found["Notes need refspecs"].extra["mood"] == "wary"
    assert sorted(why for where, why in reasons(report).items() if "progress" in where) == [
        "Its front matter is not YAML (did not find expected ',' or ']', line 3).",
        "its front matter is cut short",
    ]
    assert "there is text without a front matter" in reasons(report).values()


def test_notes_that_git_has_spread_over_folders_are_all_found(memory: Memory, tmp_path: Path) -> None:
    from bench.foreign import write_notes

    notes = [
        (
            "learnings",
            n,
            f"---\ntype: learnings\ntimestamp: '2026-01-01T00:00:00Z'\nsummary: Number {n}\n---\n\nB {n}.\n",
        )
        for n in range(400)
    ]
    write_notes(tmp_path / "many", notes)
    report = import_items(memory, "git-notes", foreign_items("git-notes", tmp_path / "many"))
    assert (len(report.taken), report.skipped) == (400, ())


def test_a_note_too_large_to_unpack_is_refused(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_notes, "LARGEST", 100)
    with pytest.raises(Invalid, match="has more than 100 bytes"):
        brought(memory, "git-notes", tmp_path)
    assert all_records(memory) == {}


def test_a_note_whose_lines_were_sorted_by_a_merge_is_damage_not_a_memory() -> None:
    bag = "## Context\n---\nalpha body\nbeta body\nsummary: A\nsummary: B\ntype: decisions\n"
    assert [entry.damage for entry in split_entries(bag)] == ["there is text without a front matter"]
    assert list(split_entries("")) == []
    body = "type: of thing\nsummary: this is a body, not a front"
    whole = list(split_entries(f"---\ntype: decisions\n---\n\n{body}\n"))
    assert [(entry.body, entry.damage) for entry in whole] == [(body, "")]


def test_auto_memory_files_become_memories_that_point_at_each_other(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "auto-memory", tmp_path)
    found = all_records(memory)
    tests, style = found["-home-ada-shop/tests.md"], found["-home-ada-shop/style.md"]
    assert (tests.kind, tests.title, tests.by.session) == ("fact", "How tests are run here", "77aa")
    assert tests.links == (Link(relation="mentions", target=style.id),)
    assert (style.kind, style.extra["type"]) == ("preference", "feedback")
    ports = found["-home-ada-shop/loose.md › Ports"]
    assert (ports.title, ports.body) == ("loose.md › Ports", "The API listens on 8000.")
    assert len(report.taken) == 3
    assert reasons(report)["-home-ada-shop/broken.md"].startswith("Its front matter is not YAML")


def test_a_memory_folder_belongs_to_the_project_its_transcripts_name(memory: Memory, tmp_path: Path) -> None:
    folder = copied(tmp_path) / "claude-code" / "-home-ada-shop" / "memory"
    repository = copied(tmp_path) / "repo"
    (folder.parent / "77aa.jsonl").write_text('{"type": "summary"}\n' + json.dumps({"cwd": str(repository)}) + "\n")
    import_items(memory, "claude-code", foreign_items("claude-code", folder))
    assert {record.project for record in all_records(memory).values()} == {SHOP}


def test_sections_of_instructions_keep_their_headings(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "instructions", tmp_path)
    path = copied(tmp_path) / "project" / "CLAUDE.md"
    found = {tuple(record.extra["headings"]): record for record in all_records(memory).values()}
    assert set(found) == {(), ("Commands",), ("Commands", "Tests"), ("Style", "Tests")}
    assert found["Commands", "Tests"].body == "```\n# not a heading\nmake check\n```"
    assert found["Style", "Tests"].title == "CLAUDE.md › Style › Tests"
    assert "<claude-mem-context> is left out" in reasons(report)[str(path)]


def test_instructions_in_a_repository_are_known_by_their_place_in_it(memory: Memory, tmp_path: Path) -> None:
    repository = copied(tmp_path) / "repo"
    (repository / "sub").mkdir()
    for place in (repository, repository / "sub"):
        (place / "AGENTS.md").write_text(f"# Rule\n\nOf {place.name}.\n")
        import_items(memory, "claude-code", foreign_items("claude-code", place / "AGENTS.md"))
    assert set(all_records(memory)) == {"AGENTS.md › Rule", "sub/AGENTS.md › Rule"}
    moved = tmp_path / "elsewhere"
    shutil.copytree(repository, moved)
    assert import_items(memory, "claude-code", foreign_items("claude-code", moved / "AGENTS.md")).known == 1


def test_what_stands_beside_the_users_settings_holds_everywhere(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("Be brief.\n")
    import_items(memory, "claude-code", foreign_items("claude-code", tmp_path / ".claude" / "CLAUDE.md"))
    assert [record.project for record in all_records(memory).values()] == [""]


def test_objects_of_any_json_keep_what_they_say(memory: Memory, tmp_path: Path) -> None:
    report = brought(memory, "json", tmp_path)
    found = {record.body: record for record in all_records(memory).values()}
    label, roll = found["Labels are 62 mm wide."], found["Rolls come from the second supplier."]
    assert (label.title, label.tags, label.extra["colour"]) == ("Label size", ("printing",), "white")
    assert (label.created_at, label.links) == (
        "2026-04-01T10:00:00.000Z",
        (Link(relation="depends_on", target=roll.id),),
    )
    assert "Spare rolls lie in the blue cabinet." in found
    assert found["sku: R-62\nsupplier: second"].extra["sku"] == "R-62"
    assert reasons(report) == {"memories.json #5": "it is not an object"}


def test_lines_paragraphs_and_sections_are_memories(memory: Memory, tmp_path: Path) -> None:
    lines = brought(memory, "lines", tmp_path)
    assert [one.title for one in lines.taken] == ["The till prints in code page 858.", "Till"]
    assert [remark.where for remark in lines.skipped] == ["lines.jsonl:2"]
    assert len(brought(memory, "text", tmp_path).taken) == 2
    assert [one.title for one in brought(memory, "markdown", tmp_path).taken] == ["notes.md › Printers"]


@pytest.mark.parametrize(
    "system", ["gitmem", "memory-mcp", "bettermemory", "claude-mem", "git-notes", "claude-code", "file"]
)
def test_what_is_something_else_is_refused(system: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.bin").write_bytes(b"\x00\x01")
    for path in (other, tmp_path / "nowhere"):
        with pytest.raises(Invalid):
            list(foreign_items(system, path))


@pytest.mark.parametrize("system", ["memory-mcp", "claude-mem"])
def test_a_file_that_is_no_database_or_of_another_program_is_refused(system: str, tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is not a database, however long it may be" * 40)
    with pytest.raises(Invalid, match="cannot be read"):
        list(foreign_items(system, tmp_path / "no.db"))
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("create table things (id)")
    with pytest.raises(Invalid, match="has no table"):
        list(foreign_items(system, tmp_path / "other.db"))


def test_readers_change_nothing_at_their_source(tmp_path: Path) -> None:
    here = copied(tmp_path)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file() and ".git" not in path.parts}
    for name in ("gitmem", "memory-mcp", "bettermemory", "claude-mem", "auto-memory", "json"):
        assert any(isinstance(item, Foreign) for item in items(name, tmp_path))
    after = {path: path.read_bytes() for path in here.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert before == after


def test_a_database_with_a_write_ahead_log_is_read_beside_its_writer_and_left_as_it_is(tmp_path: Path) -> None:
    path = copied(tmp_path) / "memory-mcp.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
    kept = sorted(path.parent.iterdir())
    assert len([item for item in foreign_items("memory-mcp", path) if isinstance(item, Foreign)]) == 8
    assert sorted(path.parent.iterdir()) == kept
    with closing(sqlite3.connect(path)) as writer:
        writer.execute(
            "insert into memories (id, content, memory_type, source) values (7, 'Late.', 'project', 'manual')"
        )
        writer.commit()
        assert len([item for item in foreign_items("memory-mcp", path) if isinstance(item, Foreign)]) == 9


@each(
    ("given", "wanted"),
    [
        ("2026-02-01 10:00:01", "2026-02-01T10:00:01.000Z"),
        ("2026-02-01T10:00:01.5+02:00", "2026-02-01T08:00:01.500Z"),
        (1_772_400_000_000, "2026-03-01T21:20:00.000Z"),
        (1_772_400_000, "2026-03-01T21:20:00.000Z"),
        ("soon", ""),
        (True, ""),
        (10**30, ""),
        (None, ""),
    ],
)
def test_times_are_read_as_they_come(given: object, wanted: str) -> None:
    assert when(given) == wanted


def test_values_are_read_as_they_come() -> None:
    assert texts('["a", 1, ""]') == ("a", "1")
    assert texts("one") == ("one",)
    assert texts("[not json") == ("[not json",)
    assert texts(7) == ()
    assert plain({1: b"\x01", "s": {2}}) == {"1": "01", "s": [2]}


def test_headings_in_code_are_no_headings() -> None:
    found = list(sections("~~~\n# a\n~~~\ntext\n# B #\n\nin b\n#no heading\n"))
    assert [(section.path, section.body) for section in found] == [
        ((), "~~~\n# a\n~~~\ntext"),
        (("B",), "in b\n#no heading"),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happened_to_the_files_nothing_breaks_and_nothing_comes_twice(
    memory: Memory, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    name = random.choice(["gitmem", "memory-mcp", "bettermemory", "claude-mem", "auto-memory", "json", "lines"])
    system, place = FIXTURES[name]
    source = copied(tmp_path) / place
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    for path in random.sample(files, min(3, len(files))):
        path.write_bytes(damaged(path.read_bytes(), random))
    try:
        import_items(memory, system, foreign_items(system, source))
    except Invalid:
        return
    again = import_items(memory, system, foreign_items(system, source))
    assert (again.taken, again.revised, again.events) == ((), (), {})


def damaged(raw: bytes, random: Random) -> bytes:
    """Give bytes with a piece cut out, put in, turned around, or the rest missing."""
    place = random.randrange(max(1, len(raw)))
    odd = [b"null", b"[]", b"{}", b"1e999", b"\xff", b"\x00", b"---\n", b'"\\ud800"', b'{"a":[1,{"b":null}]}']
    match random.randrange(4):
        case 0:
            return raw[:place] + random.choice(odd) + raw[place:]
        case 1:
            return raw[:place] + raw[place + random.randrange(40) :]
        case 2:
            return raw[:place] + bytes([random.randrange(256)]) + raw[place + 1 :]
    return raw[:place]
