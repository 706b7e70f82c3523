"""A PostgreSQL store is backed up and restored with the server's own tools."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine.opening import open_store
from holdfast.engine.postgres.database import Postgres
from holdfast.engine.recovery.copy_store import journal_hash
from holdfast.model.query import Query
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from tests import engines
from tests.conftest import Time, keep, make_memory
from tests.engine.test_store import everything
from tests.verbs.test_recall import Topics


@pytest.mark.skipif(bool(engines.URL), reason="needs the tools and a second database of the server from PyPI")
def test_a_dump_restored_elsewhere_is_the_same_store(tmp_path: Path, time: Time) -> None:
    tools = Path(engines.tools())
    server = engines.server()
    admin = Postgres(server)
    for name in ("original", "restored"):
        admin.outside(f"drop database if exists {name}")
        admin.outside(f"create database {name} template template0")
    admin.close()
    original, restored = (server.replace("/postgres?", f"/{name}?") for name in ("original", "restored"))
    memory = make_memory(tmp_path, time, embedder=Topics())
    memory.store.close()
    memory = replace(memory, store=open_store(Postgres(original)))
    for body in ("Storage is billed by the hour.", "The wolf sleeps in the den."):
        keep(memory, body)
    catch_up(memory)
    dump = tmp_path / "dump"
    subprocess.run([tools / "pg_dump", "--format=custom", f"--file={dump}", original], check=True)
    subprocess.run([tools / "pg_restore", "--no-owner", f"--dbname={restored}", dump], check=True)
    store = open_store(Postgres(restored))
    assert journal_hash(store.db) == journal_hash(memory.store.db)
    assert everything(store) == everything(memory.store)
    expected = [hit.record.id for hit in recall(memory, Query(text="storage")).hits]
    memory.store.close()
    memory = replace(memory, store=store)
    assert [hit.record.id for hit in recall(memory, Query(text="storage")).hits] == expected != []
    keep(memory, "Written after the restore.")  # counters came along
    store.close()
