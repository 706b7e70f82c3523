"""Arrows between records, found from either end."""

from dataclasses import dataclass

from holdfast.engine.database import Database
from holdfast.engine.views import Batch

NAME = "links"
VERSION = 1
TABLES = ("links",)
SCHEMA = """
create table links (
    source text not null,
    relation text not null,
    target text not null,
    primary key (source, relation, target)
);
create index links_target on links (target, relation);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One link with both its ends."""

    source: str
    relation: str
    target: str


def apply(db: Database, batch: Batch, /) -> None:
    """Make the arrows that leave each record the ones it now has."""
    for entry in batch.entries:
        source = entry.record.id
        if entry.record.revision > 1:
            db.execute("delete from links where source = :source", {"source": source})
        if entry.record.links:
            db.many(
                """
                insert into links (source, relation, target) values (:source, :relation, :target)
                on conflict do nothing
                """,
                [
                    {"source": source, "relation": link.relation, "target": link.target}
                    for link in entry.record.links
                ],
            )


def around(db: Database, record_id: str) -> list[Arrow]:
    """Give the arrows that leave or reach a record."""
    rows = db.query(
        "select source, relation, target from links where source = :id or target = :id order by source, relation, target",
        {"id": record_id},
    )
    return [Arrow(source=row[0], relation=row[1], target=row[2]) for row in rows]


def superseder(db: Database, record_id: str) -> str:
    """Give the active record that replaced this one, or nothing."""
    rows = db.query(
        """
        select source from links join records on records.id = links.source
        where target = :id and relation = 'supersedes' and records.state = 'active' order by source desc limit 1
        """,
        {"id": record_id},
    )
    return str(rows[0][0]) if rows else ""
