"""A damaged store: said clearly, never touched by looking at it, and saved as far as its pages are whole."""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from holdfast.engine.raw import transcripts
from holdfast.engine.recovery.salvage import Saved, read_pages, salvage
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import ALL_VIEWS, open_store
from holdfast.hosts.cli.main import _run
from holdfast.model.errors import HoldfastError, NewerStore
from holdfast.model.event import Event
from holdfast.model.ids import Clock
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise
from holdfast.verbs.records.write import write
from holdfast.verbs.upkeep.doctor import examine
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, contents, keep, make_memory, recorded
from tests.rows import WHOLE, refused, sampled

pytestmark = pytest.mark.embedded  # it is about the file

SEEDS = int(os.environ.get("DAMAGE_SEEDS", "12" if WHOLE else "3"))
MANY = 120 if WHOLE else 50
Events = dict[str, Event]
SECRET = "The vault's word was marzipan."


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a store with history, long texts, uses, a transcript, something erased, and part of it only in the log."""
    folder = tmp_path_factory.mktemp("whole")
    random = Random(7)
    with make_memory(folder, Time()) as memory:
        ids = []
        for number in range(MANY):
            words = " ".join(random.choice(WORDS) for _ in range(random.choice((5, 30, 200, 900))))
            ids.append(write(memory, Draft(body=f"{number} {words}"), waivers=Waivers(duplicate=True)).record.id)  # type: ignore[union-attr]
        for number in range(0, MANY, 7):
            revise(memory, ids[number], Revision(body=f"{number} said anew " + " ".join(WORDS)))
            record_use(memory, [ids[number]], "applied", note="it helped")
        link(memory, ids[1], "relates_to", ids[2])
        retire(memory, ids[3], "no longer so")
        erase(memory, keep(memory, SECRET).id)
        said = transcripts.Transcript(session="s1", project=1, format="text", saved_at="", tokens=3, body="almonds")
        transcripts.save(memory.store, said, ["almonds"])
        memory.store.note("replica folder", "on")
        live = memory.store.db
        assert isinstance(live, SQLite)
        live.checkpoint()
        for number in range(20):
            keep(memory, f"only in the log: {chr(97 + number) * 5}")
        return copied(live.path, folder / "copy")


@pytest.fixture(scope="module")
def original(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Events:
    return events_of(copied(whole, tmp_path_factory.mktemp("sound") / "store"))


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """Give the file of a copy that a test may hurt."""
    return copied(whole, tmp_path / "store")


WORDS = "plum deploy cache ökonomisch retry token ledger schema 雪 index branch lock mirror quota spool".split()


def events_of(path: Path) -> Events:
    with closing(open_store(SQLite(path))) as store:
        return {event.id: event for _, event in store.journal()}


def copied(whole: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("holdfast.db", "holdfast.db-wal"):
        shutil.copyfile(whole.with_name(name), folder / name)
    return folder / "holdfast.db"


def overwrite(path: Path, page: int, random: Random, *, size: int = 4096) -> None:
    """Put garbage, or nothing, over a stretch of a page, as a bad sector does."""
    length = random.randint(32, size)
    start = (page - 1) * size + random.randint(0, size - length)
    with path.open("rb+") as file:
        file.seek(start)
        file.write(random.choice((random.randbytes(length), bytes(length))))


def saved_from(path: Path, original: Events) -> Saved:
    """Salvage a store: what is saved was there before, event by event, and the views follow from it."""
    new = path.parent.with_name("new.db")
    saved = salvage(path, new)
    found = events_of(new)
    assert {key: original.get(key) for key in found} == found
    assert len(found) == saved.events
    with closing(open_store(SQLite(new))) as store:
        assert isinstance(store.db, SQLite)
        assert store.db.damage() == []
        before = contents(store)
        store.rebuild()
        assert contents(store) == before
    return saved


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_store_with_bad_pages_is_said_to_be_damaged_and_saved_as_far_as_it_is_whole(
    path: Path, original: Events, tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(seed)
    pages = path.stat().st_size // 4096
    for _ in range(random.randint(1, 6)):
        overwrite(path, 1 if random.random() < 0.1 else random.randint(1, pages), random)
    if random.random() < 0.3:
        os.truncate(path, random.randint(1, path.stat().st_size))
    if random.random() < 0.5:
        wal = path.with_name("holdfast.db-wal")
        overwrite(wal, random.randint(1, max(1, wal.stat().st_size // 4096)), random)
    looked, out = copied(path, tmp_path / "looked"), str(tmp_path / "out")
    with patch.dict(os.environ, HOLDFAST_HOME=str(looked.parent), HOLDFAST_EMBEDDER="none"):
        for command in (["doctor"], ["list"], ["recall", "deploy cache"], ["store", "export", out], ["status"]):
            assert _run(command) in (0, 3, 5), command  # an exception nobody expected comes out as itself
    saved = saved_from(path, original)
    with patch.dict(os.environ, HOLDFAST_HOME=str(path.parent), HOLDFAST_EMBEDDER="none"):
        assert (_run(["store", "recover", "--yes"]), _run(["list"])) == (0, 0)
    assert "Traceback" not in capsys.readouterr().err
    assert len(events_of(path)) == saved.events


@pytest.mark.parametrize("seed", sampled(range(8), 4))
def test_damage_to_indexes_and_views_alone_loses_nothing(path: Path, original: Events, seed: int) -> None:
    random = Random(seed)
    for page in random.sample(sorted(derived_pages(path)), 12):
        overwrite(path, page, random)
    saved = saved_from(path, original)
    assert (saved.events, saved.doubtful) == (len(original), ())


def derived_pages(path: Path) -> set[int]:
    """Give the pages of the file that belong to indexes and views only."""
    pages, found = read_pages(path), set[int]()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        rows = connection.execute("select type, tbl_name, name from sqlite_master where rootpage > 0").fetchall()
    views = {table for view in ALL_VIEWS for table in view.tables}
    for kind, table, name in rows:
        if kind == "index" or table.split("_")[0] in views:
            list(pages.rows(name, found))
    return {page for page in found if page not in pages.log and page <= len(pages.body) // pages.size}


def test_everything_of_a_whole_store_is_saved(path: Path, whole: Path, original: Events) -> None:
    new, sound = path.parent.with_name("new.db"), copied(whole, path.parent.with_name("sound"))
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    saved = salvage(path, new)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert (saved.events, saved.lost, saved.hurt, saved.doubtful, saved.bad_pages) == (len(original), 0, (), (), 0)
    assert (saved.beside["transcripts"], saved.beside["chunks"]) == (1, 1)
    with closing(open_store(SQLite(new))) as ours, closing(open_store(SQLite(sound))) as theirs:
        assert contents(ours) == contents(theirs)
        for table in ("events", "entries", "projects", "counters", "settings", "transcripts", "chunk_words_idx"):
            rows, expected = (list(map(tuple, s.db.query(f"select * from {table} order by 1"))) for s in (ours, theirs))
            assert rows == expected, table
    assert SECRET.encode() not in new.read_bytes()


def without_log(path: Path) -> None:
    path.with_name("holdfast.db-wal").write_bytes(b"not a log")


def without_table_of_contents(path: Path) -> None:
    path.with_name("holdfast.db-wal").unlink()
    with path.open("rb+") as file:
        file.write(bytes(4096))
    refused(HoldfastError, SQLite, path, says=r"not a database|not a Holdfast store")


def with_bad_inner_page(path: Path) -> None:
    """SQLite itself cannot reach the events any more."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        root = connection.execute("select rootpage from sqlite_master where name = 'events'").fetchone()[0]
    with path.open("rb+") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)


@pytest.mark.parametrize(
    ("hurt", "lost"), [(without_log, 20), (without_table_of_contents, 20), (with_bad_inner_page, 0)]
)
def test_what_lies_elsewhere_is_saved(path: Path, original: Events, hurt: Callable[[Path], None], lost: int) -> None:
    hurt(path)
    saved = saved_from(path, original)
    assert (saved.events, saved.schema_read) == (len(original) - lost, hurt is not without_table_of_contents)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("older", [False, True], ids=["with checksums", "ids of an older version"])
def test_an_event_with_flipped_bits_is_refused_and_listed(path: Path, original: Events, seed: int, older: bool) -> None:
    """In its id, and since there are checksums in any of its columns; never kept as an event that did not happen."""
    random = Random(seed)
    with closing(open_store(SQLite(path))) as store:  # the log is in the file now
        if older:
            store.db.execute("update events set checksum = null")
    victims = random.sample(sorted(original), 3)
    body = bytearray(path.read_bytes())
    for event in map(original.__getitem__, victims):
        # What stands side by side in the row of an event, and nowhere else.
        row = f"{event.id}{event.about}{event.verb}{event.at}{event.by.kind}{event.by.name}{event.by.session}".encode()
        place, bit = random.randrange(26 if older else len(row)), 1 << random.randrange(7)
        for found in re.finditer(re.escape(row), bytes(body)):  # an unused page may hold a second copy
            body[found.start() + place] ^= bit
    path.write_bytes(body)
    saved = saved_from(path, original)
    assert (saved.events, saved.lost) == (len(original) - len(victims), len(victims))  # the index knows their own ids
    assert len(saved.refused) <= len(victims)


def test_a_flipped_bit_in_a_text_is_refused_listed_and_seen_by_the_doctor(tmp_path: Path) -> None:
    with make_memory(tmp_path, Time()) as memory:
        kept = keep(memory, "Prices are kept in cents.")
        record = keep(memory, "The till is emptied at six by Ruth.")
        assert all(not check.fix for check in examine(memory) if check.name == "pages")
    path = tmp_path / "store" / "holdfast.db"
    body = path.read_bytes()
    at = body.index(b"at six by", body.index(record.id.encode() * 2 + b"recorded")) + 3
    path.write_bytes(body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :])  # "six" has become "rix"
    with make_memory(tmp_path, Time()) as memory:
        [check] = [check for check in examine(memory) if check.name == "pages"]
        assert (bool(check.fix), check.found) == (True, f"event {record.id} was altered")
    saved = salvage(path, tmp_path / "new.db")
    assert (saved.events, saved.refused, list(events_of(tmp_path / "new.db"))) == (1, (record.id,), [kept.id])


def test_a_changed_letter_from_before_there_were_checksums_is_named_as_a_doubt(tmp_path: Path) -> None:
    with make_memory(tmp_path, Time()) as memory:
        record = keep(memory, "The till is emptied at six by Ruth.")
        assert isinstance(memory.store.db, SQLite)
        memory.store.db.execute("update events set data = replace(data, 'six', 'ten'), checksum = null")
        memory.store.db.checkpoint()
    saved = salvage(tmp_path / "store" / "holdfast.db", tmp_path / "new.db")
    assert (saved.events, saved.doubtful) == (1, (record.id,))


def test_what_a_newer_version_wrote_is_left_to_it(tmp_path: Path) -> None:
    with closing(open_store(SQLite(tmp_path / "holdfast.db"))) as store:
        store.commit([recorded(Clock())])
        store.note("schema", "999")
    refused(NewerStore, salvage, tmp_path / "holdfast.db", tmp_path / "new.db")


def test_any_bytes_at_all_are_read_without_complaint(tmp_path: Path) -> None:
    for seed in range(30 if WHOLE else 10):
        random = Random(seed)
        path = tmp_path / f"{seed}.db"
        path.write_bytes(random.choice((b"", b"SQLite format 3\0")) + random.randbytes(random.randint(0, 60_000)))
        path.with_name(path.name + "-wal").write_bytes(b"\x37\x7f\x06\x82" + random.randbytes(random.randint(0, 9_000)))
        assert salvage(path, tmp_path / f"{seed}-new.db").events == 0
