"""What docs/compatibility.md says about Memory MCP's tools and variables, tried literally."""

import pytest

from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


@promise("starters, if they are on, are not counted or listed, and marked where recall returns them")
def test_starters_are_not_counted(place: Place) -> None:
    place.environment["HOLDFAST_STARTERS"] = "true"
    ask = place.tools("memory-mcp")
    found = ask("recall", query="a migration without a way back", mode="exploratory")
    assert all("starter" in memory["tags"] for memory in found["memories"])
    assert (ask("memory_stats")["total_memories"], ask("list_memories")) == (0, [])
    assert place.tools("bettermemory")("memory_list") == []
    assert place.tools("claude-mem")("search", format="json")["totalResults"] == 0
