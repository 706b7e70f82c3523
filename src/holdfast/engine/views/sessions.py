"""View of sessions: the current state of each, computed from its events."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from holdfast.engine.database import Database, Params, Row, stored
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch
from holdfast.model.event import Event
from holdfast.model.ids import TAIL
from holdfast.model.session import Session, apply_event

NAME = "sessions"
VERSION = 4
TABLES = ("sessions",)
SCHEMA = """
create table sessions (
    id text primary key,
    tail text not null,
    project text not null,
    agent text not null,
    is_open integer not null,
    started_at text not null,
    doc text not null
);
create index sessions_tail on sessions (tail);
create index sessions_project on sessions (project, started_at);
"""


def apply(db: Database, batch: Batch, /) -> None:
    """Update sessions from the events that start and close them."""
    for event in batch.counted:
        if event.verb in ("started", "closed") and (session := apply_event(of(Journal(db), event.about), event)):
            db.execute(_PUT, _row(session))


def rebuild_row(db: Database, session: str, events: Sequence[Event]) -> None:
    """Rebuild the row of one session from all events about it, which must be in the order of their ids."""
    db.execute("delete from sessions where id = :id", {"id": session})
    apply(db, Batch(counted=list(events)))


_PUT = """
insert into sessions (id, tail, project, agent, is_open, started_at, doc)
values (:id, :tail, :project, :agent, :is_open, :started_at, :doc)
on conflict (id) do update set
    project = excluded.project, agent = excluded.agent, is_open = excluded.is_open, started_at = excluded.started_at,
    doc = excluded.doc
"""


def _row(session: Session) -> Params:
    return {
        "id": session.id,
        "tail": session.id[-TAIL:],
        "project": session.project,
        "agent": session.agent,
        "is_open": int(session.is_open),
        "started_at": session.started_at,
        "doc": json.dumps(asdict(session), ensure_ascii=False),
    }


def of(store: Journal, session_id: str) -> Session | None:
    """Return a session by its id, or None."""
    rows = store.db.query("select doc from sessions where id = :id", {"id": session_id})
    return _read(rows)[0] if rows else None


def with_part(store: Journal, part: str, most: int) -> list[Session]:
    """Return the sessions whose id ends with a part, else those whose id begins with it, by id."""
    sql = "select doc from sessions where tail = :tail order by id"
    ending = _read(store.db.query(sql, {"tail": part[-TAIL:]})) if len(part) >= TAIL else []
    if found := [session for session in ending if session.id.endswith(part)]:
        return found[:most]
    sql = "select doc from sessions where id >= :low and id < :high order by id limit :most"
    return _read(store.db.query(sql, {"low": part, "high": part + "~", "most": most}))


def page(
    store: Journal,
    project: str | None,
    *,
    limit: int,
    offset: int = 0,
    since: str = "",
    until: str = "~",
    agent: str = "",
    only_open: bool = False,
) -> list[Session]:
    """Return a page of the sessions of a project, or of all projects if None, latest first; `until` is excluded."""
    given = {"project": project or "", "since": since, "until": until, "agent": agent, "limit": limit, "offset": offset}
    everywhere = "" if project is not None else "1 = 1 or "
    narrowed = (" and is_open = 1" if only_open else "") + (" and agent = :agent" if agent else "")
    return _read(store.db.query(_PAGE.format(everywhere=everywhere, narrowed=narrowed), given))


_PAGE = """
select doc from sessions where ({everywhere}project = :project) and started_at >= :since and started_at < :until{narrowed}
order by started_at desc, id desc limit :limit offset :offset
"""


def agents(store: Journal, project: str | None) -> list[str]:
    """Return the names of the agents with sessions in a project, or in all projects if None, in alphabetical order."""
    everywhere = "" if project is not None else "1 = 1 or "
    sql = f"select distinct agent from sessions where ({everywhere}project = :project) and agent <> '' order by agent"
    return [row[0] for row in store.db.query(sql, {"project": project or ""})]


def counted(store: Journal, project: str | None) -> int:
    """Count the sessions of a project, or of all projects if None."""
    everywhere = "" if project is not None else "1 = 1 or "
    sql = f"select count(*) from sessions where {everywhere}project = :project"
    return int(store.db.query(sql, {"project": project or ""})[0][0])


def _read(rows: Sequence[Row]) -> list[Session]:
    return [stored(row[0], lambda said: Session(**said)) for row in rows]
