"""View of usage: how often each record was returned, in which session, and with which outcome."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from holdfast.engine.database import Database, Params, Row
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch
from holdfast.engine.views.records import parsed
from holdfast.model.event import OUTCOMES, Event
from holdfast.model.query import Usage
from holdfast.model.record import Record

NAME = "usage"
VERSION = 4
TABLES = ("usage", "uses", "shown", "costs")
COLUMNS = ("surfaced", *OUTCOMES)
SCHEMA = f"""
create table usage (
    id text primary key,
    {", ".join(f"{name} integer not null" for name in COLUMNS)},
    last_used_at text not null
);
create table uses (
    event text primary key,
    id text not null,
    session text not null,
    at text not null,
    outcome text not null,
    variant text not null,
    observed integer not null
);
create index uses_id on uses (id, at);
create index uses_session on uses (session);
create index uses_at on uses (at);
create table shown (
    session text not null,
    id text not null,
    at text not null,
    times integer not null,
    variant text not null,
    primary key (session, id)
);
create index shown_at on shown (at);
create table costs (
    session text primary key,
    at text not null,
    recalls integer not null,
    empty integer not null,
    tokens integer not null
);
create index costs_at on costs (at);
"""


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


def apply(db: Database, batch: Batch, /) -> None:
    """Count the events of a batch (the store passes each once) and clear the wordings of erased records from `uses`."""
    gone = [{"id": entry.record.id} for entry in batch.entries if entry.record.state == "erased"]
    db.many("update uses set variant = '' where id = :id", gone)
    reported = [event for event in batch.counted if event.verb == "used" and event.data.get("outcome") in OUTCOMES]
    used = [event for event in reported if "withdraws" not in event.data]
    # Opening a record that a recall returned is not a second impression.
    surfaced = [event for event in batch.counted if event.verb == "surfaced" and event.data.get("how") != "read"]
    shown = [row for event in surfaced for row in _shown_rows(event)]
    counts = [_count(event) for event in used if event.by.kind != "rule"]  # uses observed by a rule do not count
    db.many(_ADD, [*counts, *(_NONE | {"id": row["id"], "surfaced": 1} for row in shown)])
    db.many(_USE, [_use_row(event) for event in used])
    db.many(_COST, [_cost_row(event) for event in surfaced])
    db.many(_SHOW, shown)
    _withdraw(db, [str(event.data["withdraws"]) for event in reported if "withdraws" in event.data])


def _withdraw(db: Database, events: Sequence[str]) -> None:
    """Remove uses that were taken back."""
    if not events:
        return
    sql = "select id, outcome from uses where observed = 0 and event in (select value from json_each(:events))"
    gone = [_NONE | {"id": row[0], row[1]: -1} for row in db.query(sql, {"events": json.dumps(events)})]
    db.many("delete from uses where event = :event", [{"event": event} for event in events])
    db.many(_ADD, gone)
    db.many(_LAST_USED, [{"id": row["id"]} for row in gone])


def _count(event: Event) -> Params:
    outcome = str(event.data["outcome"])
    used_at = event.at if outcome in ("applied", "corrected") else ""
    return _NONE | {"id": event.about, outcome: 1, "used_at": used_at}


def _use_row(event: Event) -> Params:
    outcome, variant = event.data["outcome"], event.data.get("variant")
    row = {"event": event.id, "id": event.about, "session": event.by.session, "at": event.at, "outcome": outcome}
    observed = int("observed" in event.data or event.by.kind == "rule")
    return {**row, "variant": variant if isinstance(variant, str) else "", "observed": observed}


def _cost_row(event: Event) -> Params:
    tokens = event.data.get("tokens")
    cost = {"session": event.about, "at": event.at, "empty": int(not _ids(event))}
    return {**cost, "tokens": tokens if isinstance(tokens, int) else 0}


def _shown_rows(event: Event) -> list[Params]:
    variants = event.data.get("variants")
    named = variants if isinstance(variants, dict) else {}
    wordings = {record_id: named.get(record_id) for record_id in _ids(event)}
    return [
        {"session": event.about, "id": one, "at": event.at, "variant": wording if isinstance(wording, str) else ""}
        for one, wording in wordings.items()
    ]


def _ids(event: Event) -> list[str]:
    """Return the ids of the records an event lists as returned, each once."""
    ids = event.data.get("ids")
    return list(dict.fromkeys(item for item in ids if isinstance(item, str))) if isinstance(ids, list) else []


_NONE: dict[str, Any] = dict.fromkeys(COLUMNS, 0) | {"used_at": ""}
_ADD = f"""
insert into usage (id, {", ".join(COLUMNS)}, last_used_at)
values (:id, {", ".join(f":{name}" for name in COLUMNS)}, :used_at)
on conflict (id) do update set
    {", ".join(f"{name} = usage.{name} + excluded.{name}" for name in COLUMNS)},
    last_used_at = case when excluded.last_used_at > usage.last_used_at
        then excluded.last_used_at else usage.last_used_at end
"""
_LAST_USED = """
update usage set last_used_at = coalesce(
    (select max(at) from uses where uses.id = usage.id and outcome in ('applied', 'corrected') and observed = 0), ''
) where id = :id
"""
_COST = """
insert into costs (session, at, recalls, empty, tokens) values (:session, :at, 1, :empty, :tokens)
on conflict (session) do update set
    recalls = costs.recalls + 1, empty = costs.empty + excluded.empty, tokens = costs.tokens + excluded.tokens,
    at = case when excluded.at > costs.at then excluded.at else costs.at end
"""
_USE = """
insert into uses (event, id, session, at, outcome, variant, observed)
values (:event, :id, :session, :at, :outcome, :variant, :observed)
on conflict do nothing
"""
_SHOW = """
insert into shown (session, id, at, times, variant) values (:session, :id, :at, 1, :variant)
on conflict (session, id) do update set
    times = shown.times + 1,
    at = case when excluded.at < shown.at then excluded.at else shown.at end,
    variant = case when shown.variant = '' then excluded.variant else shown.variant end
"""


def of(store: Journal, ids: Iterable[str]) -> dict[str, Usage]:
    """Return the usage by record id; a record that was never returned or used is left out."""
    rows = store.db.query(_OF, {"ids": json.dumps(list(ids))})
    return {row["id"]: Usage(**{name: row[name] for name in (*COLUMNS, "last_used_at")}) for row in rows}


_OF = "select * from usage where id in (select value from json_each(:ids))"


def since(store: Journal, ids: Iterable[str], at: str) -> list[Use]:
    """Return the uses of these records since an instant."""
    sql = f"select {_USED} from uses where at >= :at and id in (select value from json_each(:ids))"
    return _uses(store.db.query(sql, {"at": at, "ids": json.dumps(list(ids))}))


def is_counted(store: Journal, event: str) -> bool:
    """True if a use is counted: it was reported and not taken back."""
    return bool(store.db.query("select 1 from uses where event = :event", {"event": event}))


def all_since(store: Journal, at: str) -> list[Use]:
    """Return the uses of all records since an instant, in order."""
    return _uses(store.db.query(f"select {_USED} from uses where at >= :at order by event", {"at": at}))


def in_session(store: Journal, session: str) -> list[Use]:
    """Return the uses that a session reported, in order."""
    return _uses(
        store.db.query(f"select {_USED} from uses where session = :session order by event", {"session": session})
    )


_USED = "event, id, session, at, outcome, variant, observed"


def _uses(rows: Sequence[Row]) -> list[Use]:
    return [Use(row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6])) for row in rows]


def shown_in(store: Journal, session: str) -> list[Impressions]:
    """Return the impressions of a session, in order of the first one of each record."""
    sql = "select session, id, at, times, variant from shown where session = :session order by at, id"
    return [Impressions(*row) for row in store.db.query(sql, {"session": session})]


def worded_in(store: Journal, session: str) -> list[Impressions]:
    """Return the impressions of a session that used one of two wordings, in order of the first one of each record."""
    sql = "select session, id, at, times, variant from shown where session = :session and variant <> '' order by at, id"
    return [Impressions(*row) for row in store.db.query(sql, {"session": session})]


def unanswered_scars(store: Journal, session: str) -> list[Record]:
    """Return the active scars that were returned to a session in one of two wordings and have no declared use in it."""
    return [parsed(row[0]) for row in store.db.query(_UNANSWERED, {"session": session})]


_UNANSWERED = """
select records.doc from shown join records on records.id = shown.id
where shown.session = :session and shown.variant <> '' and records.kind = 'scar' and records.state = 'active'
and not exists (select 1 from uses where uses.session = :session and uses.id = shown.id and observed = 0)
order by shown.at, shown.id
"""


def costs_since(store: Journal, at: str) -> list[Cost]:
    """Return the cost of recalls per session, for sessions with a recall since an instant."""
    sql = "select session, at, recalls, empty, tokens from costs where at >= :at order by at, session"
    return [Cost(*row) for row in store.db.query(sql, {"at": at})]


def strangers(store: Journal) -> list[str]:
    """Return the ids that have uses but no record."""
    sql = "select distinct uses.id from uses left join records on records.id = uses.id where records.id is null"
    return [row[0] for row in store.db.query(sql)]


def shown_since(store: Journal, at: str) -> list[Impressions]:
    """Return the impressions of all sessions whose first one is not before an instant."""
    sql = "select session, id, at, times, variant from shown where at >= :at order by at, id"
    return [Impressions(*row) for row in store.db.query(sql, {"at": at})]
