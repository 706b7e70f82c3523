"""The trail: activity reported by hooks, stored for a while so that records can be derived from it."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from holdfast.engine.database import Params, chosen, column, insert, stored, value
from holdfast.engine.journal import Journal
from holdfast.model.session import MOST, HookEvent, hook_event_from_json


def add(store: Journal, hook_events: Sequence[HookEvent]) -> None:
    """Store activity; what is stored already does not change."""
    docs = [asdict(one) for one in hook_events]
    columns = ("id", "at", "session", "event")
    rows = [{**{name: doc[name] for name in columns}, "derived": 0, "doc": json.dumps(doc)} for doc in docs]
    insert(store.db, "trail", rows, keeping="id")


def waiting(store: Journal) -> list[str]:
    """Return the sessions with activity that is not processed yet."""
    return column(store.db, "select distinct session from trail where derived = 0 order by session")


def unfinished(store: Journal, before: str) -> list[HookEvent]:
    """Return the last activity of each session that stopped in the middle of a turn before an instant."""
    ended = "event in ('Stop', 'SessionEnd', 'SessionStart', 'PreCompact', 'Idle')"
    where = f"id in (select max(id) from trail group by session) and at < :before and not {ended}"
    return _events(store, where, {"before": before})


def of_session(store: Journal, session: str, *, fresh: bool = False) -> list[HookEvent]:
    """Return the activity of a session, in order; `fresh` is not processed yet."""
    return _events(store, f"session = :session {'and derived = 0' if fresh else ''} order by id", {"session": session})


def before(store: Journal, last: str, limit: int, *, session: str = "") -> list[HookEvent]:
    """Return the activity before an id, latest first; `session` selects one session."""
    given = {"last": last, "limit": limit, "session": session}
    return _events(store, f"{chosen(given)} and id < :last order by id desc limit :limit", given)


def after(store: Journal, first: str, limit: int) -> list[HookEvent]:
    """Return the activity after an id, in order."""
    return _events(store, "id > :first order by id limit :limit", {"first": first, "limit": limit})


def _events(store: Journal, where: str, given: Params) -> list[HookEvent]:
    docs = column(store.db, f"select doc from trail where {where}", given)
    return [event for doc in docs if (event := stored(doc, hook_event_from_json))]


def last_id(store: Journal) -> str:
    """Return the id of the latest activity, empty if there is none."""
    return str(value(store.db, "select coalesce(max(id), '') from trail"))


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
