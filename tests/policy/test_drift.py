"""Which places a text names, and whether a memory may have gone stale: the calendar, cited paths, commits."""

from holdfast.model.record import Record
from holdfast.policy.freshness import anchors_in
from holdfast.surfaces.bettermemory.staleness import Staleness, Status, anchors_of, checked, cited_paths, verified_parts
from tests.rows import examples

NOW = "2026-09-21T00:00:00.000Z"


@examples
def test_only_places_are_found(text: str, places: list[str]) -> None:
    assert anchors_in(text) == places


@examples
def test_a_check_is_stale_after_thirty_days(verified: str, status: str) -> None:
    found = checked(Record(id="x", verified_at=verified), NOW)
    assert found.status == status
    assert bool(found.recommendation) == (status != "fresh")


@examples
def test_not_having_asked_is_not_the_same_as_nothing_found(
    status: Status, missing: int, commits: int | None, expected: str
) -> None:
    assert Staleness(status=status, missing=("gone.py",) * missing, commits=commits).verdict == expected


@examples
def test_only_real_absolute_paths_are_cited(text: str, paths: list[str]) -> None:
    assert cited_paths(text) == paths


def test_what_a_check_looked_at_is_kept_apart() -> None:
    parts = {"verified_paths": ["a.py"], "verified_commits": ["abc"], "verified_versions": ["uv 1"]}
    assert verified_parts(anchors_of(parts)) == parts
