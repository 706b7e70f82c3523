"""What the store notices about itself: counts by day, and the last failures of work nobody waits for."""

from typing import NamedTuple

from holdfast.engine.database import Database

KEPT_FAILURES = 50


class Failure(NamedTuple):
    """Something that went wrong in the background."""

    name: str
    at: str
    said: str


def add(db: Database, name: str, at: str, number: int = 1) -> None:
    """Count something on the day of an instant."""
    db.execute(_ADD, {"name": name, "day": at[:10], "number": number})


_ADD = """
insert into tallies (name, day, value) values (:name, :day, :number)
on conflict (name, day) do update set value = tallies.value + excluded.value
"""


def totals(db: Database, prefix: str, since: str = "") -> dict[str, int]:
    """Give what was counted under names that begin so, since a day."""
    sql = """
    select name, sum(value) from tallies where name >= :low and name < :high and day >= :since group by name order by name
    """
    given = {"low": prefix, "high": prefix + "~", "since": since[:10]}
    return {row[0]: int(row[1]) for row in db.query(sql, given)}


def fail(db: Database, name: str, at: str, said: str) -> None:
    """Note a failure in place of the oldest."""
    with db.transaction():
        db.execute("update counters set value = value + 1 where name = 'failures'")
        number = int(db.query("select value from counters where name = 'failures'")[0][0])
        db.execute(
            "insert into failures (number, name, at, said) values (:number, :name, :at, :said)",
            {"number": number, "name": name, "at": at, "said": said[:500]},
        )
        db.execute("delete from failures where number <= :oldest", {"oldest": number - KEPT_FAILURES})
    add(db, f"{name}.failed", at)


def failures(db: Database, limit: int = 10) -> list[Failure]:
    """Give the latest failures."""
    sql = "select name, at, said from failures order by number desc limit :limit"
    return [Failure(*row) for row in db.query(sql, {"limit": limit})]
