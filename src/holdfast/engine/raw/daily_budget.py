"""A daily budget that is never exceeded: reserve the most a call may cost, then settle for what it used."""

from holdfast.engine.journal import Journal
from holdfast.engine.raw import counters


def reserve(store: Journal, name: str, at: str, amount: int, most: int) -> bool:
    """Reserve an amount of a day's budget; False, with nothing reserved, if that would exceed `most`."""
    with store.db.transaction():  # of two concurrent calls, one sees what the other reserved
        if spent(store, name, at) + amount > most:
            return False
        counters.add(store, name, at, amount)
    return True


def settle(store: Journal, name: str, at: str, reserved: int, used: int) -> None:
    """Replace a reserved amount with the amount used; `at` must be on the day of the reservation."""
    counters.add(store, name, at, used - reserved)


def spent(store: Journal, name: str, at: str) -> int:
    """Return how much of the budget is spent or reserved on the day of an instant."""
    sql = "select value from tallies where name = :name and day = :day"
    rows = store.db.query(sql, {"name": name, "day": at[:10]})
    return int(rows[0][0]) if rows else 0
