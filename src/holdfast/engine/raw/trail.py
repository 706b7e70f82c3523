"""The trail: what hooks told, kept for a while so that records can be derived from it."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from holdfast.engine.database import Database, stored
from holdfast.model.trail import MOST, Happening, happening_from_json


def add(db: Database, happenings: Sequence[Happening]) -> None:
    """Keep happenings; one that is here already changes nothing."""
    rows = [
        {"id": one.id, "at": one.at, "session": one.session, "event": one.event, "doc": json.dumps(asdict(one))}
        for one in happenings
    ]
    db.many(
        """
        insert into trail (id, at, session, event, derived, doc) values (:id, :at, :session, :event, 0, :doc)
        on conflict do nothing
        """,
        rows,
    )


def waiting(db: Database) -> list[str]:
    """Give the sessions of which something was not derived yet."""
    return [row[0] for row in db.query("select distinct session from trail where derived = 0 order by session")]


def of_session(db: Database, session: str) -> list[Happening]:
    """Give what happened in a session, in order."""
    rows = db.query("select doc from trail where session = :session order by id", {"session": session})
    return [one for row in rows if (one := stored(row[0], happening_from_json))]


def fresh(db: Database, session: str) -> list[Happening]:
    """Give what happened in a session and was not derived yet, in order."""
    sql = "select doc from trail where session = :session and derived = 0 order by id"
    return [one for row in db.query(sql, {"session": session}) if (one := stored(row[0], happening_from_json))]


def before(db: Database, last: str, limit: int, *, session: str = "") -> list[Happening]:
    """Give what was told before a happening, latest first; of one session if it is named."""
    own = "session = :session and " if session else ""
    sql = f"select doc from trail where {own}id < :last order by id desc limit :limit"
    given = {"last": last, "limit": limit} | ({"session": session} if session else {})
    return [one for row in db.query(sql, given) if (one := happening_from_json(json.loads(row[0])))]


def after(db: Database, first: str, limit: int) -> list[Happening]:
    """Give what was told after a happening, in order."""
    sql = "select doc from trail where id > :first order by id limit :limit"
    rows = db.query(sql, {"first": first, "limit": limit})
    return [one for row in rows if (one := happening_from_json(json.loads(row[0])))]


def last_id(db: Database) -> str:
    """Give the id of what was told last."""
    return str(db.query("select coalesce(max(id), '') from trail")[0][0])


def settle(db: Database, session: str, last: str) -> None:
    """Note that everything up to a happening was derived."""
    sql = "update trail set derived = 1 where session = :session and id <= :last"
    db.execute(sql, {"session": session, "last": last})


def expire(db: Database, before: str) -> int:
    """Drop what is old or beyond the cap; give how much."""
    gone = db.execute("delete from trail where at < :before and derived = 1", {"before": before})
    sql = "delete from trail where id not in (select id from trail order by id desc limit :most)"
    return gone + db.execute(sql, {"most": MOST})


def size(db: Database) -> tuple[int, int]:
    """Tell how many happenings there are, and how many wait."""
    row = db.query("select count(*), coalesce(sum(1 - derived), 0) from trail")[0]
    return int(row[0]), int(row[1])
