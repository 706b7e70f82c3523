"""Vectors of each record's passages. This view lags: `unembedded` is what still waits for the embedder."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.engine.database import Database
from holdfast.engine.views import Batch
from holdfast.engine.views.records import fingerprint, span

NAME = "vectors"
VERSION = 1
TABLES = ("vectors", "unembedded")
SCHEMA = """
create table vectors (
    number integer not null,
    passage integer not null,
    fingerprint text not null,
    stamp integer not null,
    code blob not null,
    vector blob not null,
    primary key (number, passage)
);
create index vectors_stamp on vectors (stamp);
create table unembedded (
    number integer primary key
);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One vector of a record: its sign bits for the first look, its float16 values for the second."""

    number: int
    passage: int
    fingerprint: str
    code: bytes
    vector: bytes


def apply(db: Database, batch: Batch, /) -> None:
    """Drop vectors of texts that changed and queue what has none."""
    for entry in batch.entries:
        number, record = entry.number, entry.record
        if record.state == "erased":
            db.execute("delete from vectors where number = :number", {"number": number})
            db.execute("delete from unembedded where number = :number", {"number": number})
            continue
        given = {"number": number, "fingerprint": fingerprint(record)}
        if record.revision > 1:
            db.execute("delete from vectors where number = :number and fingerprint <> :fingerprint", given)
        db.execute(_QUEUE, {"number": number})


_QUEUE = """
insert into unembedded (number)
select n from (select cast(:number as bigint) as n) as wanted
where not exists (select 1 from vectors where vectors.number = n)
on conflict do nothing
"""


def waiting(db: Database, projects: Iterable[int] | None, limit: int) -> list[int]:
    """Give records that have no vectors yet, of these projects or of all."""
    spans = [(0, 2**62)] if projects is None else [span(project) for project in projects]
    found: list[int] = []
    for low, high in spans:
        rows = db.query(
            "select number from unembedded where number between :low and :high order by number desc limit :limit",
            {"low": low, "high": high, "limit": limit - len(found)},
        )
        found.extend(row[0] for row in rows)
    return found


def of(db: Database, numbers: Iterable[int]) -> list[tuple[int, bytes]]:
    """Give the vectors of records, one for each passage, as float16 values."""
    sql = "select number, vector from vectors where number in (select cast(value as bigint) from json_each(:numbers))"
    return [(row[0], bytes(row[1])) for row in db.query(sql, {"numbers": json.dumps(list(numbers))})]


def codes_of_short(db: Database, project: int) -> list[tuple[int, bytes]]:
    """Give the sign bits of a project's active records that are one passage each, newest first."""
    low, high = span(project)
    return [(row[0], bytes(row[1])) for row in db.query(_SHORT, {"low": low, "high": high})]


_SHORT = """
select one.number, one.code from vectors as one join records on records.number = one.number
where one.number between :low and :high and one.passage = 0 and records.state = 'active'
and not exists (select 1 from vectors as more where more.number = one.number and more.passage = 1)
order by one.number desc
"""


def lag(db: Database) -> int:
    """Tell how many records still wait."""
    return int(db.query("select count(*) from unembedded")[0][0])


def store(db: Database, numbers: Sequence[int], passages: Sequence[Passage]) -> None:
    """Keep the vectors of these records and take them off the queue."""
    with db.transaction():
        db.execute("update counters set value = value + 1 where name = 'stamp'")
        stamp = int(db.query("select value from counters where name = 'stamp'")[0][0])
        for number in numbers:
            db.execute("delete from vectors where number = :number", {"number": number})
            db.execute("delete from unembedded where number = :number", {"number": number})
        db.many(
            """
            insert into vectors (number, passage, fingerprint, stamp, code, vector)
            values (:number, :passage, :fingerprint, :stamp, :code, :vector)
            """,
            [
                {
                    "number": item.number,
                    "passage": item.passage,
                    "fingerprint": item.fingerprint,
                    "stamp": stamp,
                    "code": item.code,
                    "vector": item.vector,
                }
                for item in passages
            ],
        )


def forget_all(db: Database) -> None:
    """Drop every vector and queue every record, as a change of embedder needs."""
    with db.transaction():
        db.execute("delete from vectors")
        db.execute(
            "insert into unembedded (number) select number from records where state <> 'erased' on conflict do nothing"
        )
