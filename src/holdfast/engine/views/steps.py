"""View of steps: how often the top result of one recall was followed by that of the next in the same session."""

from typing import NamedTuple

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch
from holdfast.model.event import Event

NAME = "steps"
VERSION = 1
TABLES = ("steps", "last_steps")
SCHEMA = """
create table steps (
    source text not null,
    target text not null,
    times integer not null,
    last_at text not null,
    primary key (source, target)
);
create table last_steps (
    session text primary key,
    id text not null
);
"""


class Step(NamedTuple):
    """A record that was the top result after another one, how often and when last."""

    target: str
    times: int
    last_at: str


def apply(db: Database, batch: Batch, /) -> None:
    """Count the step from the previous top result of each session to the new one."""
    for event in batch.counted:
        if event.verb == "surfaced" and (top := _top(event)):
            given = {"session": event.about, "id": top}
            db.execute(_STEP, {**given, "at": event.at})
            db.execute(_LAST, given)


def _top(event: Event) -> str:
    ids = event.data.get("ids")
    return ids[0] if isinstance(ids, list) and ids and isinstance(ids[0], str) else ""


_STEP = """
insert into steps (source, target, times, last_at)
select last_steps.id, :id, 1, :at from last_steps where session = :session and last_steps.id <> :id
on conflict (source, target) do update set
    times = steps.times + 1,
    last_at = case when excluded.last_at > steps.last_at then excluded.last_at else steps.last_at end
"""
_LAST = """
insert into last_steps (session, id) values (:session, :id) on conflict (session) do update set id = excluded.id
"""


def after(store: Journal, record_id: str) -> list[Step]:
    """Return the steps from a record, most frequent first."""
    sql = "select target, times, last_at from steps where source = :id order by times desc, target"
    return [Step(*row) for row in store.db.query(sql, {"id": record_id})]


def most(store: Journal, least: int, limit: int) -> list[tuple[str, Step]]:
    """Return the steps taken at least `least` times with the record they start from, most frequent first."""
    sql = """
    select source, target, times, last_at from steps where times >= :least order by times desc, source, target limit :limit
    """
    return [(row[0], Step(row[1], row[2], row[3])) for row in store.db.query(sql, {"least": least, "limit": limit})]


def counted(store: Journal) -> tuple[int, int]:
    """Return the number of distinct steps, and how often all of them together were taken."""
    row = store.db.query("select count(*), coalesce(sum(times), 0) from steps")[0]
    return int(row[0]), int(row[1])
