"""Statistics of the store itself: counts by day, daily budgets, and the latest failures of background work."""

from typing import NamedTuple

from holdfast.engine.database import insert, value
from holdfast.engine.journal import Journal, counted_up

KEPT_FAILURES = 50


class Failure(NamedTuple):
    """A failure of background work: where, when, and its message."""

    name: str
    at: str
    said: str


def add(store: Journal, name: str, at: str, number: int = 1) -> None:
    """Add to a counter, on the day of an instant."""
    row = {"name": name, "day": at[:10], "value": number}
    insert(store.db, "tallies", [row], replacing="name, day", adding="value")


def totals(store: Journal, prefix: str, since: str = "") -> dict[str, int]:
    """Return the sums of the counters whose names start with a prefix, from the day of `since` on."""
    sql = "select name, sum(value) from tallies where name >= :low and name < :high and day >= :since group by name order by name"
    given = {"low": prefix, "high": prefix + "~", "since": since[:10]}
    return {row[0]: int(row[1]) for row in store.db.query(sql, given)}


def reserve(store: Journal, name: str, at: str, amount: int, most: int) -> bool:
    """Add the most that a call may cost to a day's counter; False, with nothing added, if that would exceed `most`."""
    with store.db.transaction():  # of two concurrent calls, one sees what the other reserved
        if spent(store, name, at) + amount > most:
            return False
        add(store, name, at, amount)
    return True


def spent(store: Journal, name: str, at: str) -> int:
    """Return how much of the budget is spent or reserved on the day of an instant."""
    sql = "select value from tallies where name = :name and day = :day"
    return int(value(store.db, sql, {"name": name, "day": at[:10]}))


def fail(store: Journal, name: str, at: str, said: str) -> None:
    """Store a failure, drop the oldest beyond KEPT_FAILURES, and count it under `{name}.failed`."""
    with store.db.transaction():
        number = counted_up(store.db, "failures")
        insert(store.db, "failures", [{"number": number, "name": name, "at": at, "said": said[:500]}])
        store.db.execute("delete from failures where number <= :oldest", {"oldest": number - KEPT_FAILURES})
    add(store, f"{name}.failed", at)


def failures(store: Journal, limit: int = 10) -> list[Failure]:
    """Return the latest failures, newest first."""
    sql = "select name, at, said from failures order by number desc limit :limit"
    return [Failure(*row) for row in store.db.query(sql, {"limit": limit})]
