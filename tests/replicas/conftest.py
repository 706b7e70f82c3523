"""What tests of replicas share."""

import pytest

from tests.replicas.seats import seating
from tests.rows import opened


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try every kind of replica, or the `KIND` that a module is about."""
    if "seats" in metafunc.fixturenames:
        kinds = getattr(metafunc.module, "KIND", "notes repository folder").split()
        metafunc.parametrize("seats", kinds, indirect=True)


# A function that seats people around one replica: git notes, a repository's files, the user's own files.
seats = opened(lambda request, tmp_path: seating(request.param, tmp_path))


ada, bob = (pytest.fixture(lambda seats, name=name: seats(name)) for name in ("ada", "bob"))
