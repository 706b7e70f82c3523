"""View of usage: how often each record was returned or injected, in which session, and with which outcome."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast.engine.database import Database, Params, Queries, column, insert
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import parsed
from holdfast.model.event import OUTCOMES, Event
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.model.text import text_or_empty

_SQL = Queries(__file__)
COLUMNS = ("surfaced", "injected", *OUTCOMES)


class Use(NamedTuple):
    """One outcome of a record: session, time, the wording that was returned, and whether a rule observed it."""

    event: str
    id: str
    session: str
    at: str
    outcome: str
    variant: str
    observed: bool = False


class Cost(NamedTuple):
    """The recalls of a session: how many, how many were empty, and how many tokens the results took."""

    session: str
    at: str
    recalls: int
    empty: int
    tokens: int


class Impressions(NamedTuple):
    """The impressions of one record in one session: `at` is the first of them."""

    session: str
    id: str
    at: str
    times: int
    variant: str


@view_of(5)
def usage(db: Database, batch: Batch) -> None:
    """Count what was returned and its outcomes, and clear the wordings of erased records from `uses`."""
    db.many("update uses set variant = '' where id = :id", [{"id": entry.record.id} for entry in batch.erased])
    reported = [event for event in batch.verbs("used") if event.data.get("outcome") in OUTCOMES]
    used = [event for event in reported if "withdraws" not in event.data]
    # Opening a record that a recall returned is not a second impression.
    surfaced = [(event, _ids(event)) for event in batch.verbs("surfaced") if event.data.get("how") != "read"]
    injected = [(event, _ids(event)) for event in batch.verbs("injected")]
    shown = (("injected", injected), ("surfaced", surfaced))
    db.many(_SQL["show"], [row for _, events in shown for event, ids in events for row in _shown_rows(event, ids)])
    counts = [_NONE | {"id": one, column: 1} for column, events in shown for _, ids in events for one in ids]
    for event in used:
        if event.by.kind != "rule":  # uses observed by a rule do not count
            outcome = str(event.data["outcome"])
            used_at = event.at if outcome in ("applied", "corrected") else ""
            counts.append(_NONE | {"id": event.about, outcome: 1, "last_used_at": used_at})
    uses = [
        {
            "event": event.id,
            "id": event.about,
            "session": event.by.session,
            "at": event.at,
            "outcome": event.data["outcome"],
            "variant": text_or_empty(event.data.get("variant")),
            "observed": int("observed" in event.data or event.by.kind == "rule"),
        }
        for event in used
    ]
    insert(db, "uses", uses, keeping="event")
    costs = [
        {"session": event.about, "at": event.at, "recalls": 1, "empty": int(not ids), "tokens": tokens}
        for event, ids in surfaced
        for tokens in [event.data["tokens"] if isinstance(event.data.get("tokens"), int) else 0]
    ]
    insert(db, "costs", costs, replacing="session", adding="recalls empty tokens", latest="at")
    if withdrawn := [str(event.data["withdraws"]) for event in reported if "withdraws" in event.data]:
        gone = [_NONE | {"id": row[0], row[1]: -1} for row in db.query(_SQL["withdrawn"], {"events": withdrawn})]
        db.many("delete from uses where event = :event", [{"event": event} for event in withdrawn])
        counts += gone
    insert(db, "usage", counts, replacing="id", adding=" ".join(COLUMNS), latest="last_used_at")
    if withdrawn:
        db.many(_SQL["last_used"], [{"id": row["id"]} for row in gone])


def _ids(event: Event) -> list[str]:
    """Return the ids of the records an event lists as returned, each once."""
    ids = event.data.get("ids")
    return list(dict.fromkeys(item for item in ids if isinstance(item, str))) if isinstance(ids, list) else []


def _shown_rows(event: Event, ids: list[str]) -> list[Params]:
    variants = event.data.get("variants")
    named = variants if isinstance(variants, dict) else {}
    at = {"session": event.about, "at": event.at}
    return [{**at, "id": one, "variant": text_or_empty(named.get(one))} for one in ids]


_NONE: dict[str, Any] = {"id": "", **dict.fromkeys(COLUMNS, 0), "last_used_at": ""}


def of(store: Journal, ids: Iterable[str]) -> dict[str, Usage]:
    """Return the usage by record id; a record that was never returned or used is left out."""
    rows = store.db.query("select * from usage where id in (select value from json_each(:ids))", {"ids": list(ids)})
    return {row["id"]: Usage(**{name: row[name] for name in (*COLUMNS, "last_used_at")}) for row in rows}


def since(store: Journal, ids: Iterable[str], at: str) -> list[Use]:
    """Return the uses of these records since an instant."""
    return _uses(store, "at >= :at and id in (select value from json_each(:ids))", {"at": at, "ids": list(ids)})


def is_counted(store: Journal, event: str) -> bool:
    """True if a use is counted: it was reported and not taken back."""
    return bool(store.db.query("select 1 from uses where event = :event", {"event": event}))


def all_since(store: Journal, at: str) -> list[Use]:
    """Return the uses of all records since an instant, in order."""
    return _uses(store, "at >= :at order by event", {"at": at})


def in_session(store: Journal, session: str) -> list[Use]:
    """Return the uses that a session reported, in order."""
    return _uses(store, "session = :session order by event", {"session": session})


def _uses(store: Journal, where: str, given: Params) -> list[Use]:
    rows = store.db.query(f"select event, id, session, at, outcome, variant, observed from uses where {where}", given)
    return [Use(row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6])) for row in rows]


def shown_in(store: Journal, session: str) -> list[Impressions]:
    """Return the impressions of a session, in order of the first one of each record."""
    return _impressions(store, "session = :session", {"session": session})


def shown_since(store: Journal, at: str) -> list[Impressions]:
    """Return the impressions of all sessions whose first one is not before an instant."""
    return _impressions(store, "at >= :at", {"at": at})


def _impressions(store: Journal, where: str, given: Params) -> list[Impressions]:
    sql = f"select session, id, at, times, variant from shown where {where} order by at, id"
    return [Impressions(*row) for row in store.db.query(sql, given)]


def unanswered_scars(store: Journal, session: str) -> list[Record]:
    """Return the active scars that were returned to a session in one of two wordings and have no declared use in it."""
    return [parsed(doc) for doc in column(store.db, _SQL["unanswered_scars"], {"session": session})]


def costs_since(store: Journal, at: str) -> list[Cost]:
    """Return the cost of recalls per session, for sessions with a recall since an instant."""
    return [Cost(*row) for row in store.db.query(_SQL["costs_since"], {"at": at})]


def strangers(store: Journal) -> list[str]:
    """Return the ids that have uses but no record."""
    return column(store.db, _SQL["strangers"])


def sessions_shown(store: Journal, record_id: str, limit: int) -> list[str]:
    """Return the latest sessions that a record was returned to or injected into."""
    return column(store.db, _SQL["sessions_shown"], {"id": record_id, "limit": limit})
