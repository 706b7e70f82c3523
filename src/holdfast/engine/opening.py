"""Open a store: migrate its schema and rebuild the views that another version made."""

from pathlib import Path

from holdfast.engine.database import Database
from holdfast.engine.journal import fill_checksums
from holdfast.engine.store import MOVING, Progress, Store, check_schema, schema_steps, silent, stale_views
from holdfast.engine.views import View
from holdfast.engine.views.words import words
from holdfast.model.errors import StoreError, StoreFull, StoreUnwritable


def open_store(
    db: Database, progress: Progress = silent, *, home: Path | None = None, unfinished: bool = False
) -> Store:
    """Bring a database to this version's schema and views, and return the store in it.

    Raises StoreError for a store that an interrupted `migrate` left incomplete, unless `unfinished` is set.
    """
    store = Store(db, home)
    if (version := _schema_version(db)) != len(schema_steps()) or _stale_views(store):
        try:
            _bring_up_to_date(store, progress)
        except (StoreFull, StoreUnwritable) as problem:
            if not version:
                raise
            with db.in_memory(problem):  # so that an older store on a full or read-only disk can still be read
                _bring_up_to_date(store, progress)
    if not unfinished and store.setting(MOVING):
        raise StoreError(
            "Another store is being moved into this one.",
            hint="Run the same `holdfast store migrate` again to finish it.",
        )
    return store


def _bring_up_to_date(store: Store, progress: Progress) -> None:
    with store.db.transaction():
        for step in schema_steps()[
            _schema_version(store.db) :
        ]:  # perhaps none: another process may have run them first
            store.db.script(step)
        store.note("schema", str(len(schema_steps())))
        fill_checksums(store.db)
        if stale := _stale_views(store):
            if words in stale:  # transcripts have the same words
                from holdfast.engine.raw.transcripts import index_chunks  # noqa: PLC0415  rarely needed

                index_chunks(store.db)
            store.rebuild(stale, progress)
            if misplaced := store.misplaced():
                store.moved(misplaced)


def _schema_version(db: Database) -> int:
    return check_schema(Store(db).setting("schema")) if db.has_table("settings") else 0


def _stale_views(store: Store) -> list[View]:
    return stale_views((row[0], row[1]) for row in store.db.query("select name, version from views"))
