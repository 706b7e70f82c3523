"""bettermemory's tools on a real store: the scripts beside this, and limits."""

import json

import pytest

from holdfast.surfaces.bettermemory import tools as listing
from holdfast.surfaces.bettermemory.tools import surface
from holdfast.verbs.memory import Memory
from tests.surfaces.conftest import Tools
from tests.surfaces.scripts import scripts_in

globals().update(scripts_in(__file__))


def test_the_policy_fits_where_clients_cut_it() -> None:
    assert len(surface.instructions.encode()) < 1_700


def test_lists_have_an_end(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listing.MOST_LISTED == 1_000
    monkeypatch.setattr(listing, "MOST_LISTED", 2)
    tools = Tools(memory, surface)
    for name in ("Ruff", "Mypy", "Pytest"):
        tools("memory_write", content=f"{name} is one of the tools.", scopes=["tools"])
    assert len(json.loads(tools("memory_list"))) == 2
