"""Other systems: what each fixture holds arrives whole, what is damaged is named, and the originals read what is exported."""

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.adapters.importers import git_notes
from holdfast.adapters.importers.files import front_matter
from holdfast.adapters.importers.git_notes import split_entries
from holdfast.adapters.importers.gitmem import LEARNINGS
from holdfast.adapters.importers.maps import when
from holdfast.compose.adapters import IMPORTERS, foreign_items, write_foreign
from holdfast.model.errors import Invalid
from holdfast.model.record import Record
from holdfast.model.replica import Exported, Foreign
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, commit_about, retire, revise
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.compatible.conftest import git
from tests.conftest import Time, keep, make_memory, new_file, new_folder
from tests.importing import ARRIVED, FIXTURES, SHOP, all_records, arrived, brought, copied, reasons
from tests.rows import each, examples, refused, rows, sampled


@pytest.mark.parametrize("name", FIXTURES)
def test_everything_in_a_fixture_arrives_as_it_is_written_down(memory: Memory, tmp_path: Path, name: str) -> None:
    """Records, uses, sessions, transcripts and remarks, with the ids by which a later import knows them again."""
    before = files_of(copied(tmp_path))
    changed = "what arrives changed; if that is meant: python -m tests.importing"
    assert arrived(memory, name, tmp_path) == (ARRIVED / f"{name}.jsonl").read_text().splitlines(), changed
    assert files_of(copied(tmp_path)) == before  # a reader changes nothing at its source


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}


def taken(memory: Memory, system: str, path: Path) -> Report:
    """Take in what lies at a path."""
    return import_items(memory, system, foreign_items(system, path))


def test_a_list_that_is_cut_short_is_read_up_to_there(memory: Memory, tmp_path: Path) -> None:
    folder = copied(tmp_path) / "gitmem"
    whole = (folder / "decisions.json").read_text()
    (folder / "decisions.json").write_text(whole.rstrip().rstrip("]") + ', {"id": "x", "tit')
    assert "from character" in reasons(taken(memory, "gitmem", folder))["decisions.json"]
    assert "decision:d7a1e5c0-1111-4a6e-9d0b-000000000001" in all_records(memory)


@each("name,file", [("memory-mcp", "memory.db"), ("claude-mem", "claude-mem.db")])
def test_the_folder_of_a_database_will_do(tmp_path: Path, name: str, file: str) -> None:
    folder = new_folder(tmp_path / name)
    shutil.copy(copied(tmp_path) / f"{name}.db", folder / file)
    assert any(isinstance(item, Foreign) for item in foreign_items(name, folder))


def test_a_database_with_damaged_pages_gives_what_can_be_read(memory: Memory, tmp_path: Path) -> None:
    path = copied(tmp_path) / "memory-mcp.db"
    with closing(sqlite3.connect(path)) as db:
        root = db.execute("select rootpage from sqlite_master where name = 'sessions'").fetchone()[0]
    raw = bytearray(path.read_bytes())
    raw[(root - 1) * 1024 : root * 1024] = b"\xff" * 1024
    path.write_bytes(raw)
    report = taken(memory, "memory-mcp", path)
    assert (len(report.taken), "cannot be read" in reasons(report)["memory-mcp.db sessions"]) == (6, True)


def test_what_is_nested_without_end_is_no_memory(memory: Memory, tmp_path: Path) -> None:
    folder = copied(tmp_path) / "bettermemory"
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    for name, front in (("bomb", "\n".join(levels)), ("ring", "a: &a [*a]")):
        (folder / f"{name}.md").write_text(f"---\nid: 01KJ000000000000000000000B\n{front}\n---\n\nBoom.\n")
    told, beyond = reasons(taken(memory, "bettermemory", folder)), "It is nested too deeply or has too many parts."
    assert (told["bomb.md"], told["ring.md"]) == (beyond, beyond)
    deep = '{"text": "x", "a": ' + "[" * 100_000 + "]" * 100_000 + '}\n{"text": "Fine."}\n'
    report = taken(memory, "file", new_file(tmp_path / "deep.jsonl", deep))
    assert ([one["title"] for one in report.taken], len(report.skipped)) == (["Fine."], 1)


def test_notes_that_git_has_spread_over_folders_are_all_found(memory: Memory, tmp_path: Path) -> None:
    from bench.foreign import write_notes

    front = "---\ntype: learnings\ntimestamp: '2026-01-01T00:00:00Z'\nsummary: Number"
    write_notes(tmp_path, [("learnings", n, f"{front} {n}\n---\n\nB {n}.\n") for n in range(400)])
    report = taken(memory, "git-notes", tmp_path)
    assert (len(report.taken), report.skipped) == (400, [])


def test_a_note_too_large_to_unpack_is_refused(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_notes, "LARGEST", 100)
    refused(Invalid, brought, memory, "git-notes", tmp_path, says="has more than 100 bytes")
    assert all_records(memory) == {}


def test_a_note_whose_lines_were_sorted_by_a_merge_is_damage_not_a_memory() -> None:
    bag = "## Context\n---\nalpha body\nbeta body\nsummary: A\nsummary: B\ntype: decisions\n"
    assert [damage for _, _, damage in split_entries(bag)] == ["there is text without a front matter"]
    assert list(split_entries("")) == []
    body = "type: of thing\nsummary: this is a body, not a front"
    whole = list(split_entries(f"---\ntype: decisions\n---\n\n{body}\n"))
    assert [(body, damage) for _, body, damage in whole] == [(body, "")]


def test_memories_of_claude_code_belong_where_their_transcripts_their_repository_or_its_settings_say(
    memory: Memory, tmp_path: Path
) -> None:
    folder, repository = copied(tmp_path) / "claude-code" / "-home-ada-shop" / "memory", copied(tmp_path) / "repo"
    (folder.parent / "77aa.jsonl").write_text('{"type": "summary"}\n' + json.dumps({"cwd": str(repository)}) + "\n")
    taken(memory, "claude-code", folder)
    known = all_records(memory)
    assert {record.project for record in known.values()} == {SHOP}
    for place in (repository, repository / "sub"):
        taken(memory, "claude-code", new_file(place / "AGENTS.md", f"# Rule\n\nOf {place.name}.\n"))
    assert set(all_records(memory)) - set(known) == {"AGENTS.md › Rule", "sub/AGENTS.md › Rule"}
    assert taken(memory, "claude-code", shutil.copytree(repository, tmp_path / "elsewhere") / "AGENTS.md").known == 1
    # What stands beside the user's settings holds everywhere.
    taken(memory, "claude-code", new_file(tmp_path / ".claude" / "CLAUDE.md", "Be brief.\n"))
    assert [record.body for record in all_records(memory).values() if record.project == ""] == ["Be brief."]


@each("system", sorted(IMPORTERS))
def test_what_is_something_else_is_refused(system: str, tmp_path: Path) -> None:
    new_file(tmp_path / "other" / "x.bin", "\0\1")
    for path in (tmp_path / "other", tmp_path / "nowhere"):
        refused(Invalid, list, foreign_items(system, path))


@each("system", ["memory-mcp", "claude-mem"])
def test_a_file_that_is_no_database_or_of_another_program_is_refused(system: str, tmp_path: Path) -> None:
    new_file(tmp_path / "no.db", "this is not a database, however long it may be" * 40)
    refused(Invalid, list, foreign_items(system, tmp_path / "no.db"), says="cannot be read")
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("create table if not exists things (id)")
    refused(Invalid, list, foreign_items(system, tmp_path / "other.db"), says="has no table")


def test_a_database_with_a_write_ahead_log_is_read_beside_its_writer_and_left_as_it_is(tmp_path: Path) -> None:
    path = copied(tmp_path) / "memory-mcp.db"

    def count() -> int:
        return sum(isinstance(item, Foreign) for item in foreign_items("memory-mcp", path))

    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
    before = sorted(path.parent.iterdir())
    assert (count(), sorted(path.parent.iterdir())) == (8, before)
    with closing(sqlite3.connect(path)) as writer:
        late = "insert into memories (id, content, memory_type, source) values (7, 'Late.', 'project', 'manual')"
        writer.execute(late)
        writer.commit()
        assert count() == 9


@examples
def test_times_are_read_as_they_come(given: object, wanted: str) -> None:
    assert when(given) == wanted


@examples
def test_what_looks_like_our_own_export_is_read_as_far_as_it_fits(ours: object) -> None:
    row = {"id": "1", "title": "T", "description": "D", "learning_type": "win", "holdfast": ours}
    memory = LEARNINGS.memory(row, "here", kind="win")
    draft = memory.draft
    assert (memory.key, draft.kind, draft.body, draft.confidence) == ("learning:1", "win", "D", "medium")


@pytest.mark.parametrize("seed", sampled(range(40), 4))
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
    with suppress(Invalid):
        taken(memory, system, source)
        again = taken(memory, system, source)
        assert (again.taken, again.revised, again.events) == ([], [], {})


def damaged(raw: bytes, random: Random) -> bytes:
    """Give bytes with a piece cut out, put in, turned around, or the rest missing."""
    place = random.randrange(max(1, len(raw)))
    odd = [b"null", b"[]", b"{}", b"1e999", b"\xff", b"\x00", b"---\n", b'"\\ud800"', b'{"a":[1,{"b":null}]}']
    put_in, turned = random.choice(odd) + raw[place:], bytes([random.randrange(256)]) + raw[place + 1 :]
    return raw[:place] + random.choice([put_in, turned, raw[place + random.randrange(40) :], b""])


RESERVE = "Reserve stock in the order's transaction."


def written(memory: Memory, folder: Path) -> dict[str, Path]:
    """Export, and give the files by the id in front of them."""
    write_foreign("bettermemory", records_of(memory), folder)
    return {str(front_matter(path.read_text())[0]["id"]): path for path in sorted(folder.rglob("*.md"))}


def test_a_record_becomes_a_file_bettermemory_reads_and_comes_back_from_it(
    memory: Memory, tmp_path: Path, time: Time
) -> None:
    labels: Any = {"tags": ("stock",), "scopes": ("tools.db_x",)}
    lesson = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."], "why": "It cost a day."}
    scar = keep(memory, RESERVE, kind="scar", title="Stock goes first", fields=lesson, **labels)
    verify(memory, scar.id, anchors=("src/stock.py",))
    path = written(memory, tmp_path / "out")[scar.id]
    meta, body = front_matter(path.read_text())
    assert path.name == f"2026-09-21-stock-goes-first-{scar.id[-6:].lower()}.md"
    own = {"id": scar.id} | dict.fromkeys(("created", "updated", "last_verified_at"), scar.created_at)
    assert meta == rows("a_record_as_bettermemory_has_it") | own
    assert body.startswith(f"Stock goes first\n\n{RESERVE}\n\ncounter arguments:\n- It is")
    assert path.stat().st_mode & 0o777 == 0o600
    with make_memory(tmp_path / "other", time) as other:
        taken(other, "bettermemory", tmp_path / "out")
        (again,) = records_of(other)
    names = "kind title tags scopes project created_at".split()
    assert [getattr(again, name) for name in names] == [getattr(scar, name) for name in names]


def test_files_follow_what_happens_to_their_records(memory: Memory, tmp_path: Path) -> None:
    old, gone = keep(memory, "The old host is up."), keep(memory, "Something regrettable here.")
    first = written(memory, tmp_path / "out")
    theirs = first[old.id].with_name(f"2026-01-01-somebody-elses-{old.id[-6:].lower()}.md")
    theirs.write_text("---\nid: 01KJ0000000000000000000001\n---\n\nNot ours.\n")
    revise(memory, old.id, Revision(body="The former machine is up."))
    second = written(memory, tmp_path / "out")
    assert (second[old.id] == first[old.id], first[old.id].exists(), theirs.exists()) == (False, False, True)
    retire(memory, old.id, "the host is gone")
    erase(memory, gone.id)
    first[gone.id].unlink()
    files = written(memory, tmp_path / "out")
    assert set(files) == {old.id, "01KJ0000000000000000000001"}
    assert (files[old.id].parent.name, "".join(files[old.id].suffixes)) == (".tombstones", ".tombstone.md")
    assert front_matter(files[old.id].read_text())[0]["removed_reason"] == "the host is gone"


NOTE = (Path(__file__).parents[1] / "data" / "exported_note.md").read_text(encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = new_folder(tmp_path / "shop")
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "Ada"), git(folder, "config", "user.email", "ada@example.org")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def shown(folder: Path, kind: str) -> str:
    return git(folder, "notes", f"--ref=refs/notes/mem/{kind}", "show", "HEAD")


def test_a_record_becomes_a_note_git_notes_memory_reads(memory: Memory, repository: Path) -> None:
    git(repository, "notes", "--ref=refs/notes/mem/decisions", "add", "-m", "not an entry", "HEAD")
    keep(memory, "Ana prefers short meetings.", kind="decision", visibility="private")
    blocker = keep(memory, "The staging host is full.", kind="blocker", visibility="team")
    retire(memory, blocker.id, "it was cleaned up")
    assert write_foreign("git-notes", records_of(memory), repository) == Exported(written=1, known=0, left_out=1)
    assert shown(repository, "decisions") == "not an entry\n"
    assert "status: resolved" in shown(repository, "blockers")
    text = "PostgreSQL is the database.\n\n---\n\nIt has row locks."
    more: Any = {"fields": {"alternatives": ["SQLite"]}, "tags": ("database",), "visibility": "team"}
    keep(memory, text, kind="decision", title="Use PostgreSQL", **more)
    assert write_foreign("git-notes", records_of(memory), repository) == Exported(written=1, known=1, left_out=1)
    assert shown(repository, "decisions") == f"not an entry\n\n{NOTE}"
    assert write_foreign("git-notes", records_of(memory), repository) == Exported(written=0, known=2, left_out=1)
    drafts = [item.draft for item in foreign_items("git-notes", repository) if isinstance(item, Foreign)]
    assert ("decision", "Use PostgreSQL", ("database",)) in [(one.kind, one.title, one.tags) for one in drafts]


def test_a_note_is_found_by_the_id_it_had(memory: Memory, repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD").strip()
    for place in range(2):
        entry = NOTE.replace("Use PostgreSQL", f"Decision {place}")
        git(repository, "notes", "--ref=refs/notes/mem/decisions", "append", "-m", entry, "HEAD")
    import_items(memory, "git-notes", foreign_items("git-notes", repository), project=memory.project)
    assert find(memory, f"decisions:{commit[:7]}:1").record.title == "Decision 1"
    assert find(memory, f"decisions:{commit}:0").record.title == "Decision 0"
    refused(Invalid, find, memory, "decisions:0000000:7", says="is not an id")


@pytest.mark.parametrize("system", ["gitmem", "memory-mcp", "bettermemory", "claude-mem"])
def test_what_came_from_a_system_goes_back_whole(memory: Memory, tmp_path: Path, time: Time, system: str) -> None:
    """Imported, written back and imported into an empty store, every memory is what it was; a second export adds nothing."""
    source, target = copied(tmp_path) / system, tmp_path / "out"
    if not source.is_dir():
        source = target = source.with_suffix(".db")
    taken(memory, system, source)
    if target.is_file():
        emptied(target)
    done = write_foreign(system, records_of(memory, system), target)
    files = files_of(target)
    repeated = write_foreign(system, records_of(memory, system), target)
    assert files == files_of(target)
    assert repeated["known"] == done["written"] or target.is_dir()
    with make_memory(tmp_path / "other", time) as other:
        taken(other, system, target)
        before, after = (
            {str(record.extra["imported"]["id"]): _content(record) for record in records_of(each, system)}
            for each in (memory, other)
        )
    assert len(after) == done["written"] > 3
    assert after == {key: before[key] for key in after}


def test_a_memory_is_where_claude_mem_looks_for_it(memory: Memory, tmp_path: Path) -> None:
    keep(memory, RESERVE, kind="observation", title="Stock goes first", fields={"facts": ["在庫"]})
    target = copied(tmp_path) / "claude-mem.db"
    emptied(target)
    write_foreign("claude-mem", records_of(memory), target)
    with closing(sqlite3.connect(target)) as db:
        found = db.execute("select title, narrative, text, facts, concepts from observations").fetchall()
    assert found == [("Stock goes first", RESERVE, None, '["在庫"]', "[]")]


def test_a_candidate_that_was_reviewed_here_goes_back_as_what_it_became(memory: Memory, tmp_path: Path) -> None:
    target = copied(tmp_path) / "memory-mcp.db"
    import_items(memory, "memory-mcp", foreign_items("memory-mcp", target))
    commit_about(memory, "confirmed", all_records(memory)["pattern:p1"])
    emptied(target)
    write_foreign("memory-mcp", records_of(memory, "memory-mcp"), target)
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("select pattern, status from mined_patterns").fetchall() == [
            ("import os, sys, json in one line", "rejected")
        ]
        kept = "select count(*) from memories where content = 'uv run pytest -q tests/unit'"
        assert db.execute(kept).fetchone()[0] == 1


def emptied(database: Path) -> None:
    """Leave the tables of a database as its program makes them."""
    with closing(sqlite3.connect(database)) as db, db:
        for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
            db.execute(f"delete from {table}")


def _content(record: Record) -> dict[str, object]:
    # `mined` is where another table mentions it.
    extra = {name: value for name, value in record.extra.items() if name not in ("imported", "mined")}
    names = "kind title body fields tags scopes anchors project state confidence created_at by".split()
    return {name: getattr(record, name) for name in names} | {"extra": extra}
