"""The trail: activity reported by hooks, stored for a while so that records can be derived from it."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from holdfast.engine.database import stored
from holdfast.engine.journal import Journal
from holdfast.model.trail import MOST, HookEvent, hook_event_from_json


def add(store: Journal, hook_events: Sequence[HookEvent]) -> None:
    """Store activity; what is stored already does not change."""
    rows = [
        {"id": one.id, "at": one.at, "session": one.session, "event": one.event, "doc": json.dumps(asdict(one))}
        for one in hook_events
    ]
    store.db.many(
        """
        insert into trail (id, at, session, event, derived, doc) values (:id, :at, :session, :event, 0, :doc)
        on conflict do nothing
        """,
        rows,
    )


def waiting(store: Journal) -> list[str]:
    """Return the sessions with activity that is not processed yet."""
    return [row[0] for row in store.db.query("select distinct session from trail where derived = 0 order by session")]


def unfinished(store: Journal, before: str) -> list[HookEvent]:
    """Return the last activity of each session that stopped in the middle of a turn before an instant."""
    return [
        one for row in store.db.query(_UNFINISHED, {"before": before}) if (one := stored(row[0], hook_event_from_json))
    ]


_UNFINISHED = """
select doc from trail
where id in (select max(id) from trail group by session) and at < :before
and event not in ('Stop', 'SessionEnd', 'SessionStart', 'PreCompact', 'Idle')
"""


def of_session(store: Journal, session: str) -> list[HookEvent]:
    """Return all activity of a session, in order."""
    rows = store.db.query("select doc from trail where session = :session order by id", {"session": session})
    return [one for row in rows if (one := stored(row[0], hook_event_from_json))]


def fresh(store: Journal, session: str) -> list[HookEvent]:
    """Return the activity of a session that is not processed yet, in order."""
    sql = "select doc from trail where session = :session and derived = 0 order by id"
    return [one for row in store.db.query(sql, {"session": session}) if (one := stored(row[0], hook_event_from_json))]


def before(store: Journal, last: str, limit: int, *, session: str = "") -> list[HookEvent]:
    """Return the activity before an id, latest first; `session` selects one session."""
    own = "session = :session and " if session else ""
    sql = f"select doc from trail where {own}id < :last order by id desc limit :limit"
    given = {"last": last, "limit": limit} | ({"session": session} if session else {})
    return [one for row in store.db.query(sql, given) if (one := hook_event_from_json(json.loads(row[0])))]


def after(store: Journal, first: str, limit: int) -> list[HookEvent]:
    """Return the activity after an id, in order."""
    sql = "select doc from trail where id > :first order by id limit :limit"
    rows = store.db.query(sql, {"first": first, "limit": limit})
    return [one for row in rows if (one := hook_event_from_json(json.loads(row[0])))]


def last_id(store: Journal) -> str:
    """Return the id of the latest activity, empty if there is none."""
    return str(store.db.query("select coalesce(max(id), '') from trail")[0][0])


def settle(store: Journal, session: str, last: str) -> None:
    """Mark the activity of a session up to and including an id as processed."""
    sql = "update trail set derived = 1 where session = :session and id <= :last"
    store.db.execute(sql, {"session": session, "last": last})


def expire(store: Journal, before: str) -> int:
    """Delete processed activity older than an instant, and the oldest beyond the cap; return how much was deleted."""
    gone = store.db.execute("delete from trail where at < :before and derived = 1", {"before": before})
    sql = "delete from trail where id not in (select id from trail order by id desc limit :most)"
    return gone + store.db.execute(sql, {"most": MOST})


def size(store: Journal) -> tuple[int, int]:
    """Return the amount of stored activity, and how much of it is not processed yet."""
    row = store.db.query("select count(*), coalesce(sum(1 - derived), 0) from trail")[0]
    return int(row[0]), int(row[1])
