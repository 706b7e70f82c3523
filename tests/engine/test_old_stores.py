"""Stores of other versions: an older one opens with everything in it; beside a newer one that upgraded it nothing more is written."""

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.engine.database import Database
from holdfast.engine.journal import COLUMNS, changed_rows
from holdfast.engine.recovery.backup import look_at
from holdfast.engine.recovery.salvage import salvage
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import ALL_VIEWS, Store, open_store, schema_steps
from holdfast.engine.views import records
from holdfast.model.errors import NewerStore
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.verbs.search.recall import recall
from tests.conftest import Time, contents, make_memory, new_folder, recorded
from tests.rows import refused, rows, some

STORES = sorted((Path(__file__).parents[1] / "data" / "stores").glob("*.db.gz"))


def test_every_step_of_the_schema_has_a_store_written_by_its_time() -> None:
    steps = (Path(records.__file__).parents[1] / "schema").glob("*.sql")
    assert [path.name[:4] for path in STORES] == sorted(path.name[:4] for path in steps)


@pytest.mark.embedded
@pytest.mark.parametrize("packed", STORES, ids=lambda path: path.name[:4])
def test_a_store_of_an_older_schema_opens_with_everything_in_it(packed: Path, tmp_path: Path) -> None:
    file, new = new_folder(tmp_path / "store") / "holdfast.db", tmp_path / "new.db"
    file.write_bytes(gzip.decompress(packed.read_bytes()))
    assert look_at(file).events == 11
    saved = salvage(file, new)
    assert (saved.events, saved.memories, saved.lost, saved.doubtful) == (11, 5, 0, ())
    assert look_at(new) == look_at(file)
    with closing(sqlite3.connect(file)) as raw:
        before = raw.execute(f"select seq, {COLUMNS} from events order by seq").fetchall()
        [(schema,)] = raw.execute("select value from settings where name = 'schema'")
    assert schema == str(int(packed.name[:4]))
    with make_memory(tmp_path, Time()) as memory:
        store = memory.store
        assert isinstance(store.db, SQLite)
        assert [tuple(row) for row in store.db.query(f"select seq, {COLUMNS} from events order by seq")] == before
        assert store.db.query("select count(*) from events where checksum is null")[0][0] == 0
        assert (changed_rows(store), store.db.damage()) == ([], [])
        found = [some(store.folded(row[0])) for row in store.db.query("select id from records order by number")]
        assert [[one.kind, one.state, one.body] for one in found] == rows("what_every_old_store_holds")
        migrated = contents(store)
        store.rebuild(ALL_VIEWS)
        assert contents(store) == migrated
        [hit] = recall(memory, Query(text="prices in cents")).hits
        assert hit.record.body == "Prices are kept in cents, never in floats."


# What the upgrade of a newer version leaves in a store, and what an older one that has it open may try.
UPGRADES = {
    "schema": f"update settings set value = '{len(schema_steps()) + 1}' where name = 'schema'",
    "view": "update views set version = version + 1 where name = 'words'",
}
UPGRADE = r"this Holdfast knows.*Upgrade Holdfast"
WRITES: dict[str, Callable[[Store], object]] = {
    "commit": lambda store: store.commit([recorded(Clock(lambda: 1_800_000_000.0), "too late")]),
    "rebuild": lambda store: store.rebuild(),
    "redact": lambda store: store.rewrite(lambda event: event),
    "mask": lambda store: store.put_again(list(store.journal())),
}


@pytest.mark.parametrize("upgrade", UPGRADES.values(), ids=UPGRADES)
def test_an_older_process_with_the_store_open_writes_nothing_after_an_upgrade(
    database: Callable[[], Database], upgrade: str
) -> None:
    store = open_store(database())
    store.commit([recorded(Clock(lambda: 1_700_000_000.0), "in time")])
    open_store(database()).db.execute(upgrade)
    before = list(store.journal())
    refused(NewerStore, lambda: open_store(database()), says=UPGRADE)
    for write in WRITES.values():
        refused(NewerStore, write, store, says=UPGRADE)
    assert list(store.journal()) == before
    assert store.db.query("select count(*) from records")[0][0] == 1
