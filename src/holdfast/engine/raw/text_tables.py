"""Search and rewrite texts stored outside the journal, to remove secrets and erased text from them."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from holdfast.engine.database import insert, stored
from holdfast.engine.journal import Journal
from holdfast.model.patterns import tables

# By table: its key, its text columns, and its JSON column.
TABLES = {table: [part.strip() for part in row.split("|")] for table, row in tables(__file__)["tables"]}


def rows(store: Journal) -> Iterator[tuple[str, Any, dict[str, str], Any]]:
    """Yield every row of these tables: its table, its key, its texts by column, and its parsed JSON."""
    for table, (key, listed, doc) in TABLES.items():
        columns = listed.split()
        names = ", ".join(filter(None, (key, *columns, doc)))
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
            key, _, doc_column = TABLES[table]
            # `patterns` has a column named key, so the parameter for the row's key has another name.
            given = {f"old_{name}": text for name, text in former.items()} | {"row_key": row_key}
            where = " and ".join((f"{key} = :row_key", *(f"{name} = :old_{name}" for name in former)))
            if table == "sightings":  # the whole row is its key, and the cleaned row may exist already
                store.db.execute(f"delete from sightings where {where}", given)
                insert(store.db, "sightings", [{"pattern": row_key, **texts}], keeping="pattern, session, wording")
                continue
            texts |= {doc_column: json.dumps(doc)} if doc_column else {}
            sets = ", ".join(f"{name} = :{name}" for name in texts)
            store.db.execute(f"update {table} set {sets} where {where}", given | texts)
    return changed
