"""A folder for bettermemory: everything in use, what was retired as tombstones, and it can be read back."""

from pathlib import Path

from holdfast.adapters.importers.front_matter import front_matter
from holdfast.compose.adapters import foreign_items, write_markdown
from holdfast.model.record import Record
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory


def written(memory: Memory, folder: Path) -> dict[str, Path]:
    """Export, and give the files by the id in front of them."""
    write_markdown(records_of(memory), folder)
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
    write_markdown(records_of(memory), tmp_path / "out")
    other = make_memory(tmp_path / "other", time)
    import_items(other, "bettermemory", foreign_items("bettermemory", tmp_path / "out"))
    found = {record.extra["imported"]["id"]: record for record in records_of(other)}
    again = found[scar.id]
    assert (again.kind, again.title, again.tags, again.scopes) == (scar.kind, scar.title, scar.tags, scar.scopes)
    assert (again.project, again.created_at, again.fields) == (scar.project, scar.created_at, {"severity": "high"})
    assert (found[thought.id].state, found[thought.id].reason) == ("retired", "moved")
    other.close()
