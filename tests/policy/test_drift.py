"""Which places a text names, and whether a memory may have gone stale: the calendar, cited paths, commits."""

from holdfast.surfaces.bettermemory.staleness import Staleness, Status
from tests.policy.scripts import scripts_in
from tests.rows import examples

scripts_in(globals(), package="holdfast.policy holdfast.surfaces.bettermemory")


@examples
def test_not_having_asked_is_not_the_same_as_nothing_found(
    status: Status, missing: int, commits: int | None, expected: str
) -> None:
    assert Staleness(status=status, missing=("gone.py",) * missing, commits=commits).verdict == expected
