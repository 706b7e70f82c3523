"""What tests of replicas share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replicas.seats import Seat, Seats, seating


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try every kind of replica, or the `KIND` that a module is about."""
    if "seats" in metafunc.fixturenames:
        kinds = getattr(metafunc.module, "KIND", "notes repository folder").split()
        metafunc.parametrize("seats", kinds, indirect=True)


@pytest.fixture
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
