"""Views counted from events, each of which the store passes once: returned, used, worked on, trusted, hot, one after another."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast.engine.database import Database, Params, Queries, chosen, column, insert, query_each, value
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import parsed, within
from holdfast.model.event import OUTCOMES, Event, ids_in, tokens_in
from holdfast.model.query import Usage
from holdfast.model.record import HEATED_BECAUSE, Record
from holdfast.model.text import text_or_empty

_SQL = Queries(__file__)
COLUMNS = ("surfaced", "injected", *OUTCOMES)
_NONE: dict[str, Any] = {"id": "", **dict.fromkeys(COLUMNS, 0), "last_used_at": ""}
Step = tuple[str, str, int, str]  # a record, the one that was the top result after it, how often, and when last
_MOVES = {"evicted": "evictions", "stale": "demotions", "unpin": "", "pin": ""}  # by what they count; "": nothing


class Use(NamedTuple):
    """One outcome of a record: session, time, the wording that was returned, and whether a rule observed it."""

    event: str
    id: str
    session: str
    at: str
    outcome: str
    variant: str
    observed: bool = False


class Impressions(NamedTuple):
    """The impressions of one record in one session: `at` is the first of them."""

    session: str
    id: str
    at: str
    times: int
    variant: str


@view_of(6, counted=True)
def usage(db: Database, batch: Batch) -> None:
    """Count what was returned and its outcomes, and clear the wordings of erased records from `uses`."""
    db.many("update uses set variant = '' where id = :id", [{"id": entry.record.id} for entry in batch.erased])
    reported = [event for event in batch.verbs("used") if event.data.get("outcome") in OUTCOMES]
    used = [event for event in reported if "withdraws" not in event.data]
    # Opening a record that a recall returned is not a second impression.
    surfaced = [event for event in batch.verbs("surfaced") if event.data.get("how") != "read"]
    impressions, counts = list[dict[str, Any]](), list[dict[str, Any]]()
    for event in (*batch.verbs("injected"), *surfaced):
        ids = dict.fromkeys(ids_in(event))
        said = event.data.get("variants")
        variants, at = said if isinstance(said, dict) else {}, {"session": event.about, "at": event.at}
        impressions += [{**at, "id": one, "variant": text_or_empty(variants.get(one))} for one in ids]
        counts += [_NONE | {"id": one, event.verb: 1} for one in ids]
    db.many(_SQL["show"], impressions)
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
    for event in batch.verbs("surfaced"):
        cost = _cost(event)
        if cost["top"]:
            db.execute(_SQL["step"], cost)
        db.execute(_SQL["cost"], cost)
    withdrawn = [str(event.data["withdraws"]) for event in reported if "withdraws" in event.data]
    gone = db.query(_SQL["withdrawn"], {"events": withdrawn}) if withdrawn else ()
    db.many("delete from uses where event = :event", [{"event": event} for event in withdrawn])
    counts += [_NONE | {"id": row[0], row[1]: -1} for row in gone]
    insert(db, "usage", counts, replacing="id", adding=" ".join(COLUMNS), latest="last_used_at")
    db.many(_SQL["last_used"], [{"id": row[0]} for row in gone])


def _cost(event: Event) -> dict[str, Any]:
    """Return what a recall adds to the row of its session; opening a record that it returned is no recall."""
    ids, hot, is_recall = ids_in(event), event.data.get("hot"), event.data.get("how") != "read"
    hits = hot if isinstance(hot, int) else 0
    return {
        "session": event.about,
        "at": event.at,
        "recalls": int(is_recall),
        "empty": int(is_recall and not ids),
        "tokens": tokens_in(event) if is_recall else 0,
        "hits": hits,
        "misses": max(0, len(ids) - hits) if isinstance(hot, int) else 0,
        "top": ids[0] if ids else "",
    }


def of(store: Journal, ids: Iterable[str]) -> dict[str, Usage]:
    """Return the usage by record id; a record that was never returned or used is left out."""
    rows = store.db.query("select * from usage where id in (select value from json_each(:ids))", {"ids": list(ids)})
    return {row["id"]: Usage(**{name: row[name] for name in (*COLUMNS, "last_used_at")}) for row in rows}


def is_counted(store: Journal, event: str) -> bool:
    """True if a use is counted: it was reported and not taken back."""
    return bool(store.db.query("select 1 from uses where event = :event", {"event": event}))


def uses(store: Journal, ids: Iterable[str] | None = None, *, session: str = "", since: str = "") -> list[Use]:
    """Return uses in order: of these records, that a session reported, or since an instant."""
    given = {"ids": None if ids is None else list(ids), "session": session, "since": since}
    sql = f"select event, id, session, at, outcome, variant, observed from uses where {chosen(given)} order by event"
    return [Use(*row)._replace(observed=bool(row[6])) for row in store.db.query(sql, given)]


def shown(store: Journal, session: str = "", *, since: str = "") -> list[Impressions]:
    """Return impressions by their time: those of a session, or those whose first one is not before an instant."""
    given = {"session": session, "since": since}
    sql = f"select session, id, at, times, variant from shown where {chosen(given)} order by at, id"
    return [Impressions(*row) for row in store.db.query(sql, given)]


def unanswered_scars(store: Journal, session: str) -> list[Record]:
    """Return the active scars that were returned to a session in one of two wordings and have no declared use in it."""
    return [parsed(doc) for doc in column(store.db, _SQL["unanswered_scars"], {"session": session})]


def costs_since(store: Journal, at: str) -> dict[str, Counter[str]]:
    """Count by session, for sessions with a recall since an instant, their recalls, empty ones, and tokens of results."""
    rows = store.db.query(_SQL["costs_since"], {"at": at})
    return {row[0]: Counter(recalls=row[1], empty=row[2], tokens=row[3]) for row in rows}


def strangers(store: Journal) -> list[str]:
    """Return the ids that have uses but no record."""
    return column(store.db, _SQL["strangers"])


def sessions_shown(store: Journal, record_id: str, limit: int) -> list[str]:
    """Return the latest sessions that a record was returned to or injected into."""
    return column(store.db, _SQL["sessions_shown"], {"id": record_id, "limit": limit})


class HotEntry(NamedTuple):
    """A record of the hot set: whether it is pinned, since when and why."""

    pinned: bool
    since: str
    why: str


@view_of(1, counted=True)
def touches(db: Database, batch: Batch) -> None:
    """Count how often each thread was worked on, and when last."""
    made, taken_back = list[Params](), list[Params]()
    for event in batch.verbs("touched"):
        if "withdraws" in event.data:
            taken_back.append({"id": event.about, **{key: str(event.data.get(key, "")) for key in ("at", "last_at")}})
        else:
            made.append({"id": event.about, "touches": 1, "last_at": event.at})
    insert(db, "touches", made, replacing="id", adding="touches", latest="last_at")
    db.many(_SQL["withdraw_touch"], taken_back)


def touched(store: Journal, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return by record id how often it was worked on after it was created, and when last; one that never was is left out."""
    return {row[0]: (row[1], row[2]) for row in store.db.query(_SQL["touched"], {"ids": list(ids)})}


@view_of(2, counted=True)
def trusts(db: Database, batch: Batch) -> None:
    """Store the changes of trust, and delete those of erased records."""
    db.many("delete from trusts where id = :id", [{"id": entry.record.id} for entry in batch.erased])
    rows = list[Params]()
    for event in batch.verbs("trusted"):
        reason, delta = str(event.data.get("reason", "")), event.data.get("delta")
        if isinstance(delta, int | float):
            rows.append({"event": event.id, "id": event.about, "at": event.at, "reason": reason, "delta": float(delta)})
    insert(db, "trusts", rows, keeping="event")


def trust_changes(store: Journal, ids: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return by record id each change of how far it is believed, by event, in order; a record without any is left out."""
    changes: dict[str, dict[str, float]] = {}
    for about, event, delta in store.db.query(_SQL["trust_changes"], {"ids": list(ids)}):
        changes.setdefault(about, {})[event] = delta
    return changes


@view_of(2, counted=True)
def heat(db: Database, batch: Batch) -> None:
    """Update the hot set; free-text reasons of erased records are cleared."""
    reasons = ", ".join(f"'{reason}'" for reason in HEATED_BECAUSE)
    erased = [{"id": entry.record.id} for entry in batch.erased]
    db.many(f"update heat set why = '' where id = :id and why not in ({reasons})", erased)
    counts, moves = Counter[str](), list[Params]()
    for event in batch.verbs("heated"):
        hot, why = event.data.get("hot") is True, str(event.data.get("why", ""))
        is_pinned = hot and event.data.get("pinned") is True
        row = {"id": event.about, "hot": int(hot), "pinned": int(is_pinned), "at": event.at, "why": why}
        moves.append({**row, "event": event.id})
        counts[_MOVES.get(why, "promotions" if hot else "demotions")] += 1
    db.many(_SQL["heat"], moves)
    rows = [{"name": name, "value": number} for name, number in counts.items() if name and number]
    insert(db, "heat_counts", rows, replacing="name", adding="value")


def last_heated(store: Journal, record_id: str) -> str:
    """Return the id of the last event that added a record to the hot set or removed it; empty if there is none."""
    return str(value(store.db, "select event from heat where id = :id", {"id": record_id}, ""))


def hot(store: Journal, projects: Iterable[int]) -> dict[str, HotEntry]:
    """Return the active records of these projects that are in the hot set, by id."""
    found = query_each(store.db, _SQL["hot"], [within(project) for project in projects])
    return {row[0]: HotEntry(bool(row[1]), row[2], row[3]) for rows in found for row in rows}


def heat_counts(store: Journal) -> dict[str, int]:
    """Return the hits and misses of the hot set, and its promotions, demotions and evictions."""
    known = {row[0]: row[1] for row in store.db.query(_SQL["heat_counts"])}
    return {name: known.get(name, 0) for name in ("hits", "misses", "promotions", "demotions", "evictions")}


def steps_after(store: Journal, record_id: str) -> list[Step]:
    """Return the steps from a record, most frequent first."""
    return [(row[0], row[1], row[2], row[3]) for row in store.db.query(_SQL["steps_after"], {"id": record_id})]


def most_steps(store: Journal, least: int, limit: int) -> list[Step]:
    """Return the steps taken at least `least` times, most frequent first."""
    rows = store.db.query(_SQL["most_steps"], {"least": least, "limit": limit})
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def steps_counted(store: Journal) -> tuple[int, int]:
    """Return the number of distinct steps, and how often all of them together were taken."""
    row = store.db.query("select count(*), coalesce(sum(times), 0) from steps")[0]
    return int(row[0]), int(row[1])
