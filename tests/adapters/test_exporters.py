"""Exports that the originals read: a folder of bettermemory with its tombstones, notes of git-notes-memory."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

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
from tests.rows import refused

SCAR = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."], "why": "It cost a day."}
RESERVE = "Reserve stock in the order's transaction."


def written(memory: Memory, folder: Path) -> dict[str, Path]:
    """Export, and give the files by the id in front of them."""
    write_foreign("bettermemory", records_of(memory), folder)
    return {str(front_matter(path.read_text())[0]["id"]): path for path in sorted(folder.rglob("*.md"))}


def test_a_record_becomes_a_file_bettermemory_reads_and_comes_back_from_it(
    memory: Memory, tmp_path: Path, time: Time
) -> None:
    labels: Any = {"tags": ("stock",), "scopes": ("tools.db_x",)}
    scar = keep(memory, RESERVE, kind="scar", title="Stock goes first", fields=SCAR, **labels)
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
    assert body.startswith(f"Stock goes first\n\n{RESERVE}\n\ncounter arguments:\n- It is")
    assert path.stat().st_mode & 0o777 == 0o600
    with make_memory(tmp_path / "other", time) as other:
        import_items(other, "bettermemory", foreign_items("bettermemory", tmp_path / "out"))
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
