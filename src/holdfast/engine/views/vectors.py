"""View of vectors, for each passage of a record one, and one for each of its words."""
# It lags behind: `unembedded` is the queue for the embedder.

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.engine.database import Bits, Database, Halves, Queries, insert, query_each, value
from holdfast.engine.journal import Journal, counted_up
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import NUMBERS, fingerprint, within

_SQL = Queries(__file__)
TOKEN_SIZE = 64  # values per word
LARGEST = 4_000  # values per vector; larger vectors get no graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The vectors of a passage: sign bits for the first, rough comparison, float16 values for the exact one."""

    # `tokens` has TOKEN_SIZE values for each of its words, two in a byte (`engine.search.vectors.packed`), to rank the best
    # records again; empty if there are none.

    number: int
    passage: int
    fingerprint: str
    code: bytes
    vector: bytes
    tokens: bytes = b""


@view_of(3)
def vectors(db: Database, batch: Batch) -> None:
    """Delete the vectors of changed texts and of erased records, and queue records without vectors."""
    erased = [{"number": entry.number} for entry in batch.erased]
    for table in vectors.tables:
        db.many(f"delete from {table} where number = :number", erased)
    kept = [entry for entry in batch.entries if entry.record.state != "erased"]
    revised = [{"number": entry.number, "fingerprint": fingerprint(entry.record)} for entry in kept if entry.known]
    db.many("delete from vectors where number = :number and fingerprint <> :fingerprint", revised)
    db.many(_SQL["forget_tokens"], revised)
    db.many(_SQL["queue"], [{"number": entry.number} for entry in kept])


def waiting(store: Journal, projects: Iterable[int] | None, limit: int, *, unfound: bool = False) -> list[int]:
    """Return the numbers of records that wait for vectors, of these projects or of all if None, newest first per project."""
    # With `unfound`, only those that have none yet, not even by an earlier embedder.
    each = [within(project) for project in ((None,) if projects is None else projects)]
    found = query_each(store.db, _SQL["unfound" if unfound else "waiting"], each, {"limit": limit})
    return [row[0] for rows in found for row in rows][:limit]


def by_ids(store: Journal, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the vector of the first passage of each of these records that has one, as float16 values."""
    return {row[0]: bytes(row[1]) for row in store.db.query(_SQL["by_ids"], {"ids": list(ids)})}


def tokens_of(db: Database, numbers: Iterable[int]) -> list[tuple[int, bytes]]:
    """Return (number, vectors of its words) for each passage of these records that has some."""
    sql = f"select number, tokens from token_vectors where number in ({NUMBERS})"
    return [(row[0], row[1]) for row in db.query(sql, {"numbers": list(numbers)})]


def lag(store: Journal) -> int:
    """Count the records in the queue for the embedder."""
    return int(value(store.db, "select count(*) from unembedded"))


def is_empty(store: Journal) -> bool:
    """True if no record has a vector."""
    return not store.db.query("select 1 from vectors limit 1")


def store(store: Journal, numbers: Sequence[int], passages: Sequence[Passage], *, graph: bool = True) -> None:
    """Replace the vectors of these records and take them off the queue. For bulk loads, create the graph afterwards."""
    with store.db.transaction():
        if passages and graph:
            make_graph(store.db, len(passages[0].vector) // 2)
        stamp = counted_up(store.db, "stamp")
        for table in vectors.tables:
            store.db.execute(f"delete from {table} where number in ({NUMBERS})", {"numbers": list(numbers)})
        rows, words = list[dict[str, object]](), list[dict[str, object]]()
        for item in passages:
            place = {"number": item.number, "passage": item.passage}
            codes = {"code": Bits(item.code), "vector": Halves(item.vector)}
            rows.append({**place, "fingerprint": item.fingerprint, "stamp": stamp, **codes})
            words += [{**place, "tokens": item.tokens}] if item.tokens else []
        insert(store.db, "vectors", rows)
        insert(store.db, "token_vectors", words)


def forget_all(store: Journal) -> None:
    """Delete every vector and queue every record, for a change of embedder."""
    with store.db.transaction():
        drop_graph(store.db)
        store.db.execute("delete from vectors")
        store.db.execute("delete from token_vectors")
        queue_all(store)


def queue_all(store: Journal) -> None:
    """Queue every record for the embedder; vectors that are there stay until then."""
    store.db.execute(_SQL["queue_all"])


def make_graph(db: Database, size: int) -> None:
    """Create PostgreSQL's graph for vectors of a size, unless it exists. SQLite has none: it compares sign bits."""
    if db.dialect == "postgres" and size <= LARGEST and not db.query(_SQL["has_graph"]):
        db.script(_SQL["graph"].format(size=size))


def drop_graph(db: Database) -> None:
    """Drop PostgreSQL's graph, for another vector size or before a bulk load, which is faster without it."""
    if db.dialect == "postgres":
        db.script("drop index if exists vectors_graph;\n")
