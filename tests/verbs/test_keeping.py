"""Knowledge that keeps itself: trust, the hot set, prediction, modes of recall, health and maintenance."""

from holdfast.engine.raw import counters
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.health import Typo, metrics, typos_in
from tests.verbs.scripts import scripts_in

MEMORY = {"config": {"starters": False, "hot_capacity": 3}}
globals().update(scripts_in(__file__))


def test_scopes_that_differ_by_a_letter_are_suspected_only_when_rare() -> None:
    assert typos_in({"backend": 5, "backnd": 1, "frontend": 3}) == [Typo(scope="backnd", meant="backend")]
    assert typos_in({"backend": 5, "backnd": 4}) == []
    assert typos_in({"api": 5, "app": 1}) == []


def test_failures_in_the_background_are_kept_and_bounded(memory: Memory) -> None:
    for number in range(60):
        counters.fail(memory.store, "vectors", memory.clock.now(), f"problem {number}")
    found = metrics(memory)
    assert (found["failures"][0].said, found["tallies"]) == ("problem 59", {"vectors.failed": 60})
    assert len(counters.failures(memory.store, 100)) == 50
