"""View of sessions: the current state of each, computed from its events."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from holdfast.engine.database import Database, Params, chosen, column, insert, stored, value
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.model.event import Event
from holdfast.model.ids import TAIL
from holdfast.model.session import Session, apply_event


@view_of(4, counted=True)
def sessions(db: Database, batch: Batch) -> None:
    """Update sessions from the events that start and close them."""
    for event in batch.verbs("started", "closed"):
        if session := apply_event(of(Journal(db), event.about), event):
            row = {name: getattr(session, name) for name in ("id", "project", "agent", "started_at")}
            row |= {"tail": session.id[-TAIL:], "is_open": int(session.is_open)}
            insert(db, "sessions", [{**row, "doc": json.dumps(asdict(session), ensure_ascii=False)}], replacing="id")


def rebuild_row(db: Database, session: str, events: Sequence[Event]) -> None:
    """Rebuild the row of one session from all events about it, which must be in the order of their ids."""
    db.execute("delete from sessions where id = :id", {"id": session})
    sessions.apply(db, Batch(counted=list(events)))


def of(store: Journal, session_id: str) -> Session | None:
    """Return a session by its id, or None."""
    return next(iter(_read(store, "id = :id", {"id": session_id})), None)


def with_part(store: Journal, part: str, most: int) -> list[Session]:
    """Return the sessions whose id ends with a part, else those whose id begins with it, by id."""
    ending = _read(store, "tail = :tail order by id", {"tail": part[-TAIL:]}) if len(part) >= TAIL else []
    if found := [session for session in ending if session.id.endswith(part)]:
        return found[:most]
    between = {"low": part, "high": part + "~", "most": most}
    return _read(store, "id >= :low and id < :high order by id limit :most", between)


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
    given = {"project": project or "", "from": since, "until": until, "agent": agent, "limit": limit, "offset": offset}
    where = f"{_here(project)} and started_at >= :from and started_at < :until and {chosen(given)}"
    where += " and is_open = 1" if only_open else ""
    return _read(store, f"{where} order by started_at desc, id desc limit :limit offset :offset", given)


def agents(store: Journal, project: str | None) -> list[str]:
    """Return the names of the agents with sessions in a project, or in all projects if None, in alphabetical order."""
    sql = f"select distinct agent from sessions where {_here(project)} and agent <> '' order by agent"
    return column(store.db, sql, {"project": project or ""})


def counted(store: Journal, project: str | None) -> int:
    """Count the sessions of a project, or of all projects if None."""
    return int(value(store.db, f"select count(*) from sessions where {_here(project)}", {"project": project or ""}))


def _here(project: str | None) -> str:
    return "project = :project" if project is not None else "(1 = 1 or project = :project)"


def _read(store: Journal, where: str, given: Params) -> list[Session]:
    rows = store.db.query(f"select doc from sessions where {where}", given)
    return [stored(row[0], lambda said: Session(**said)) for row in rows]
