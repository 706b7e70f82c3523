"""What tests of replicas share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replicas.seats import Seat, Seats, seating


@pytest.fixture(params=["notes", "repository", "folder"])
def seats(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Seats]:
    """Give a function that seats people around one replica: git notes, a repository's files, the user's own files."""
    with seating(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def ada(seats: Seats) -> Seat:
    return seats("ada")


@pytest.fixture
def bob(seats: Seats) -> Seat:
    return seats("bob")
