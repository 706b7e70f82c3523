"""Exports that the originals read: a folder of bettermemory with its tombstones, notes of git-notes-memory."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.adapters.importers.files import front_matter
from holdfast.compose.adapters import foreign_items, write_foreign
from holdfast.model.errors import Invalid
from holdfast.model.foreign import Exported, Foreign
from holdfast.model.record import Record
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.compatible.conftest import git
from tests.conftest import Time, keep, make_memory, new_folder
from tests.importing import copied


def written(memory: Memory, folder: Path) -> dict[str, Path]:
    """Export, and give the files by the id in front of them."""
    write_foreign("bettermemory", records_of(memory), folder)
    return {str(front_matter(path.read_text())[0]["id"]): path for path in sorted(folder.rglob("*.md"))}


def a_scar(memory: Memory) -> Record:
    fields = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."], "why": "It cost a day."}
    return keep(
        memory,
        "Reserve stock in the order's transaction.",
        kind="scar",
        title="Stock goes first",
        fields=fields,
        tags=("stock",),
        scopes=("tools.db_x",),
    )


def test_a_record_becomes_a_file_bettermemory_reads(memory: Memory, tmp_path: Path) -> None:
    scar = a_scar(memory)
    verify(memory, scar.id, anchors=("src/stock.py",))
    path = written(memory, tmp_path / "out")[scar.id]
    meta, body = front_matter(path.read_text())
    assert path.name == f"2026-09-21-stock-goes-first-{scar.id[-6:].lower()}.md"
    assert meta == {
        "schema_version": 1,
        "id": scar.id,
        "created": scar.created_at,
        "updated": scar.updated_at,
        "scopes": ["tools-db-x"],
        "confidence": "medium",
        "source": "explicit-statement",
        "origin": {"repo": "https://example.org/acme/shop"},
        "last_verified_at": scar.created_at,
        "category": "fact",
        "verified_paths": ["src/stock.py"],
        "holdfast": {
            "kind": "scar",
            "title": "Stock goes first",
            "tags": ["stock"],
            "scopes": ["tools.db_x"],
            "fields": {"severity": "high"},
        },
    }
    assert body.startswith(
        "Stock goes first\n\nReserve stock in the order's transaction.\n\ncounter arguments:\n- It is"
    )
    assert path.stat().st_mode & 0o777 == 0o600


def test_retired_records_are_tombstones_and_erased_ones_are_nowhere(memory: Memory, tmp_path: Path) -> None:
    old, gone = keep(memory, "The old host is up."), keep(memory, "Something regrettable here.")
    first = written(memory, tmp_path / "out")
    assert first[old.id].parent == tmp_path / "out"
    retire(memory, old.id, "the host is gone")
    erase(memory, gone.id)
    first[gone.id].unlink()
    files = written(memory, tmp_path / "out")
    assert list(files) == [old.id]
    assert files[old.id].parent.name == ".tombstones"
    assert files[old.id].name.endswith(".tombstone.md")
    assert front_matter(files[old.id].read_text())[0]["removed_reason"] == "the host is gone"


def test_a_file_whose_title_changed_is_replaced(memory: Memory, tmp_path: Path) -> None:
    record = keep(memory, "The port is 8000.")
    other = tmp_path / "out" / f"2026-01-01-somebody-elses-{record.id[-6:].lower()}.md"
    before = written(memory, tmp_path / "out")[record.id]
    other.write_text("---\nid: 01KJ0000000000000000000001\n---\n\nNot ours.\n")
    revise(memory, record.id, Revision(body="The door is 9000."))
    assert written(memory, tmp_path / "out")[record.id] != before
    assert not before.exists()
    assert other.exists()


def test_a_folder_can_be_taken_in_again(memory: Memory, tmp_path: Path, time: Time) -> None:
    scar, thought = a_scar(memory), keep(memory, "Ports are in the readme.", scopes=("docs",))
    retire(memory, thought.id, "moved")
    write_foreign("bettermemory", records_of(memory), tmp_path / "out")
    other = make_memory(tmp_path / "other", time)
    import_items(other, "bettermemory", foreign_items("bettermemory", tmp_path / "out"))
    found = {record.extra["imported"]["id"]: record for record in records_of(other)}
    again = found[scar.id]
    assert (again.kind, again.title, again.tags, again.scopes) == (scar.kind, scar.title, scar.tags, scar.scopes)
    assert (again.project, again.created_at, again.fields) == (scar.project, scar.created_at, {"severity": "high"})
    assert (found[thought.id].state, found[thought.id].reason) == ("retired", "moved")
    other.close()


NOTE = (Path(__file__).parents[1] / "data" / "exported_note.md").read_text(encoding="utf-8")


def a_repository(tmp_path: Path) -> Path:
    folder = new_folder(tmp_path / "shop")
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "Ada"), git(folder, "config", "user.email", "ada@example.org")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def a_decision(memory: Memory) -> Record:
    return keep(
        memory,
        "PostgreSQL is the database.\n\n---\n\nIt has row locks.",
        kind="decision",
        title="Use PostgreSQL",
        fields={"alternatives": ["SQLite"]},
        tags=("database",),
        visibility="team",
    )


def test_a_record_becomes_a_note_git_notes_memory_reads(memory: Memory, tmp_path: Path) -> None:
    folder = a_repository(tmp_path)
    a_decision(memory)
    assert write_foreign("git-notes", records_of(memory), folder) == Exported(written=1, known=0, left_out=0)
    assert git(folder, "notes", "--ref=refs/notes/mem/decisions", "show", "HEAD") == NOTE
    assert write_foreign("git-notes", records_of(memory), folder) == Exported(written=0, known=1, left_out=0)
    [item] = foreign_items("git-notes", folder)
    assert isinstance(item, Foreign)
    assert (item.draft.kind, item.draft.title, item.draft.tags) == ("decision", "Use PostgreSQL", ("database",))


def test_notes_get_no_private_memory_and_keep_what_they_had(memory: Memory, tmp_path: Path) -> None:
    folder = a_repository(tmp_path)
    git(folder, "notes", "--ref=refs/notes/mem/decisions", "add", "-m", "not an entry", "HEAD")
    secret = keep(memory, "Ana prefers short meetings.", kind="decision", visibility="private")
    scar = keep(memory, "The staging host is full.", kind="blocker", visibility="team")
    retire(memory, scar.id, "it was cleaned up")
    assert write_foreign("git-notes", records_of(memory), folder) == Exported(written=1, known=0, left_out=1)
    assert git(folder, "notes", "--ref=refs/notes/mem/decisions", "show", "HEAD") == "not an entry\n"
    assert "status: resolved" in git(folder, "notes", "--ref=refs/notes/mem/blockers", "show", "HEAD")
    a_decision(memory)
    write_foreign("git-notes", records_of(memory), folder)
    shown = git(folder, "notes", "--ref=refs/notes/mem/decisions", "show", "HEAD")
    assert shown == f"not an entry\n\n{NOTE}"
    assert secret.body not in shown


def test_a_note_is_found_by_the_id_it_had(memory: Memory, tmp_path: Path) -> None:
    folder = a_repository(tmp_path)
    commit = git(folder, "rev-parse", "HEAD").strip()
    for place in range(2):
        entry = NOTE.replace("Use PostgreSQL", f"Decision {place}")
        git(folder, "notes", "--ref=refs/notes/mem/decisions", "append", "-m", entry, "HEAD")
    import_items(memory, "git-notes", foreign_items("git-notes", folder), project=memory.project)
    assert find(memory, f"decisions:{commit[:7]}:1").record.title == "Decision 1"
    assert find(memory, f"decisions:{commit}:0").record.title == "Decision 0"
    with pytest.raises(Invalid, match="is not an id"):
        find(memory, "decisions:0000000:7")


@pytest.mark.parametrize("system", ["gitmem", "memory-mcp", "bettermemory", "claude-mem"])
def test_what_came_from_a_system_goes_back_whole(memory: Memory, tmp_path: Path, time: Time, system: str) -> None:
    """Imported, written back and imported into an empty store, every memory is what it was; a second export adds nothing."""
    source, target = copied(tmp_path) / system, tmp_path / "out"
    if not source.is_dir():
        source = target = source.with_suffix(".db")
    import_items(memory, system, foreign_items(system, source))
    if target.is_file():
        emptied(target)
    done = write_foreign(system, records_of(memory), target)
    files = {path: path.read_text() for path in target.rglob("*") if path.is_file()}
    repeated = write_foreign(system, records_of(memory), target)
    assert files == {path: path.read_text() for path in target.rglob("*") if path.is_file()}
    assert repeated["known"] == done["written"] or target.is_dir()
    other = make_memory(tmp_path / "other", time)
    import_items(other, system, foreign_items(system, target))
    before, after = ({_origin(record): record for record in records_of(each)} for each in (memory, other))
    other.close()
    assert len(after) == done["written"] > 3
    for key, again in after.items():
        assert _content(again) == _content(before[key])


def emptied(database: Path) -> None:
    """Leave the tables of a database as its program makes them."""
    with closing(sqlite3.connect(database)) as db, db:
        for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
            db.execute(f"delete from {table}")


def _origin(record: Record) -> str:
    return str(record.extra["imported"]["id"])


def _content(record: Record) -> dict[str, object]:
    # `mined` is where another table mentions it.
    extra = {name: value for name, value in record.extra.items() if name not in ("imported", "mined")}
    names = "kind title body fields tags scopes anchors project state confidence created_at by".split()
    return {name: getattr(record, name) for name in names} | {"extra": extra}
