"""Search and rewrite texts stored outside the journal, to remove secrets and erased text from them."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from holdfast.engine.database import insert, stored
from holdfast.engine.journal import Journal

# Table, key, its text columns, and its JSON column. Transcripts are missing here: they are cut into pieces, so they are
# cleaned where that is done.
TABLES: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("trail", "id", ("session",), "doc"),
    ("outputs", "number", ("session", "body"), ""),
    ("patterns", "id", ("key", "body"), ""),
    ("sightings", "pattern", ("session", "wording"), ""),
    ("failures", "number", ("said",), ""),
    ("settings", "name", ("value",), ""),
    ("projects", "number", ("name",), ""),
)


def rows(store: Journal) -> Iterator[tuple[str, Any, dict[str, str], Any]]:
    """Yield every row of these tables: its table, its key, its texts by column, and its parsed JSON."""
    for table, key, columns, doc in TABLES:
        names = ", ".join((key, *columns, *([doc] if doc else [])))
        for row in store.db.query(f"select {names} from {table} order by {key}"):
            texts = {column: str(row[column]) for column in columns}
            yield table, row[key], texts, stored(row[doc], dict) if doc else None


def rewrite(store: Journal, clean: Callable[[Any], Any], but: Collection[str] = ()) -> dict[str, int]:
    """Replace texts with what `clean` returns, except in the tables `but`; return counts of changed rows by table."""
    changed: dict[str, int] = {}
    with store.db.transaction():
        for table, row_key, former, former_doc in rows(store):
            texts, doc = {column: clean(text) for column, text in former.items()}, clean(former_doc)
            if table in but or (texts, doc) == (former, former_doc):
                continue
            changed[table] = changed.get(table, 0) + 1
            _, key, columns, doc_column = next(one for one in TABLES if one[0] == table)
            # `patterns` has a column named key, so the parameter for the row's key has another name.
            given = {f"old_{name}": text for name, text in former.items()} | {"row_key": row_key}
            where = " and ".join((f"{key} = :row_key", *(f"{name} = :old_{name}" for name in columns)))
            if table == "sightings":  # the whole row is its key, and the cleaned row may exist already
                store.db.execute(f"delete from sightings where {where}", given)
                insert(store.db, "sightings", [{"pattern": row_key, **texts}], keeping="pattern, session, wording")
                continue
            texts |= {doc_column: json.dumps(doc)} if doc_column else {}
            sets = ", ".join(f"{name} = :{name}" for name in texts)
            store.db.execute(f"update {table} set {sets} where {where}", given | texts)
    return changed
