"""Views of what happened to records besides their use: work on threads, changes of trust, the hot set, and steps between results.

They are counted from events, each of which the store passes once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.engine.database import Database, Queries, insert, query_each, value
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import within
from holdfast.model.fold import HEATED_BECAUSE

_SQL = Queries(__file__)


class Touched(NamedTuple):
    """How often a record was worked on after it was created, and when last."""

    times: int = 0
    last_at: str = ""


class TrustChange(NamedTuple):
    """One change of how far a record is believed; its note stays in the event."""

    event: str
    id: str
    at: str
    reason: str
    delta: float


class HotEntry(NamedTuple):
    """A record of the hot set: its number, whether it is pinned, since when and why."""

    id: str
    number: int
    pinned: bool
    at: str
    why: str


class Step(NamedTuple):
    """A record that was the top result after another one, how often and when last."""

    target: str
    times: int
    last_at: str


@view_of(1)
def touches(db: Database, batch: Batch) -> None:
    """Count how often each thread was worked on, and when last."""
    events = batch.verbs("touched")
    made = [event for event in events if "withdraws" not in event.data]
    rows = [{"id": event.about, "touches": 1, "last_at": event.at} for event in made]
    insert(db, "touches", rows, replacing="id", adding="touches", latest="last_at")
    taken_back = [event for event in events if "withdraws" in event.data]
    times = ({key: str(event.data.get(key, "")) for key in ("at", "last_at")} for event in taken_back)
    rows = [{"id": event.about, **at} for event, at in zip(taken_back, times, strict=True)]
    db.many(_SQL["withdraw_touch"], rows)


def touched(store: Journal, ids: Iterable[str]) -> dict[str, Touched]:
    """Return the touches by record id; a record that was never touched is left out."""
    return {row[0]: Touched(row[1], row[2]) for row in store.db.query(_SQL["touched"], {"ids": list(ids)})}


@view_of(2)
def trusts(db: Database, batch: Batch) -> None:
    """Store the changes of trust, and delete those of erased records."""
    db.many("delete from trusts where id = :id", [{"id": entry.record.id} for entry in batch.erased])
    rows = []
    for event in batch.verbs("trusted"):
        reason, delta = str(event.data.get("reason", "")), event.data.get("delta")
        if isinstance(delta, int | float):
            rows.append({"event": event.id, "id": event.about, "at": event.at, "reason": reason, "delta": float(delta)})
    insert(db, "trusts", rows, keeping="event")


def trust_changes(store: Journal, ids: Iterable[str]) -> dict[str, list[TrustChange]]:
    """Return the changes of trust by record id, in order; a record without changes is left out."""
    changes: dict[str, list[TrustChange]] = {}
    for row in store.db.query(_SQL["trust_changes"], {"ids": list(ids)}):
        changes.setdefault(row[1], []).append(TrustChange(*row))
    return changes


@view_of(1)
def heat(db: Database, batch: Batch) -> None:
    """Update the hot set and how often it was hit; free-text reasons of erased records are cleared."""
    reasons = ", ".join(f"'{reason}'" for reason in HEATED_BECAUSE)
    erased = [{"id": entry.record.id} for entry in batch.erased]
    db.many(f"update heat set why = '' where id = :id and why not in ({reasons})", erased)
    counts, moves = Counter[str](), list[dict[str, object]]()
    for event in batch.verbs("heated"):
        hot, why = event.data.get("hot") is True, str(event.data.get("why", ""))
        row = {"id": event.about, "at": event.at, "why": why, "event": event.id}
        moves.append({**row, "hot": int(hot), "pinned": int(hot and event.data.get("pinned") is True)})
        counts[_MOVES.get(why, "promotions" if hot else "demotions")] += 1
    db.many(_SQL["heat"], moves)
    for event in batch.verbs("surfaced"):
        if isinstance(event.data.get("hot"), int):
            shown, hits = event.data.get("ids"), int(event.data["hot"])
            counts["hits"] += hits
            counts["misses"] += max(0, (len(shown) if isinstance(shown, list) else 0) - hits)
    rows = [{"name": name, "value": number} for name, number in counts.items() if name and number]
    insert(db, "heat_counts", rows, replacing="name", adding="value")


# Counted under these names, "" not at all.
_MOVES = {"evicted": "evictions", "stale": "demotions", "unpin": "", "pin": ""}


def last_heated(store: Journal, record_id: str) -> str:
    """Return the id of the last event that added a record to the hot set or removed it; empty if there is none."""
    return str(value(store.db, "select event from heat where id = :id", {"id": record_id}, ""))


def hot(store: Journal, projects: Sequence[int]) -> list[HotEntry]:
    """Return the active records of these projects that are in the hot set."""
    found = query_each(store.db, _SQL["hot"], [within(project) for project in projects])
    return [HotEntry(row[0], row[1], bool(row[2]), row[3], row[4]) for rows in found for row in rows]


def heat_counts(store: Journal) -> dict[str, int]:
    """Return the hits and misses of the hot set, and its promotions, demotions and evictions."""
    known = {row[0]: row[1] for row in store.db.query("select name, value from heat_counts")}
    return {name: known.get(name, 0) for name in ("hits", "misses", "promotions", "demotions", "evictions")}


@view_of(1)
def steps(db: Database, batch: Batch) -> None:
    """Count how often the top result of one recall was followed by that of the next in the same session."""
    for event in batch.verbs("surfaced"):
        ids = event.data.get("ids")
        if isinstance(ids, list) and ids and isinstance(ids[0], str) and ids[0]:
            top = {"session": event.about, "id": ids[0]}
            db.execute(_SQL["step"], {**top, "at": event.at})
            insert(db, "last_steps", [top], replacing="session")


def steps_after(store: Journal, record_id: str) -> list[Step]:
    """Return the steps from a record, most frequent first."""
    return [Step(*row) for row in store.db.query(_SQL["steps_after"], {"id": record_id})]


def most_steps(store: Journal, least: int, limit: int) -> list[tuple[str, Step]]:
    """Return the steps taken at least `least` times with the record they start from, most frequent first."""
    rows = store.db.query(_SQL["most_steps"], {"least": least, "limit": limit})
    return [(source, Step(*step)) for source, *step in rows]


def steps_counted(store: Journal) -> tuple[int, int]:
    """Return the number of distinct steps, and how often all of them together were taken."""
    row = store.db.query("select count(*), coalesce(sum(times), 0) from steps")[0]
    return int(row[0]), int(row[1])
