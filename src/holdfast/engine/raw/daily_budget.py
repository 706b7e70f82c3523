"""A daily allowance that is never exceeded: what a call may cost is taken before it is made, the rest given back after."""

from holdfast.engine.database import Database
from holdfast.engine.raw import counters


def reserve(db: Database, name: str, at: str, amount: int, most: int) -> bool:
    """Take an amount from a day's allowance; nothing is taken if it would pass."""
    with db.transaction():  # of two at once one sees what the other took
        if spent(db, name, at) + amount > most:
            return False
        counters.add(db, name, at, amount)
    return True


def settle(db: Database, name: str, at: str, reserved: int, used: int) -> None:
    """Put what was really used in place of what was taken, on the day it was taken."""
    counters.add(db, name, at, used - reserved)


def spent(db: Database, name: str, at: str) -> int:
    """Tell how much of the allowance of an instant's day is gone."""
    sql = "select value from tallies where name = :name and day = :day"
    rows = db.query(sql, {"name": name, "day": at[:10]})
    return int(rows[0][0]) if rows else 0
