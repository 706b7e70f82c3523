"""Which places a text names, and which only look like places."""

from holdfast.policy.freshness import anchors_in
from tests.rows import examples


@examples
def test_only_places_are_found(text: str, places: list[str]) -> None:
    assert anchors_in(text) == places
