"""Which candidates of a recall are answers."""

from holdfast.model.query import Query
from holdfast.policy.ranking.gate import passing

ASKED = Query(text="how do I run a migration on the orders table?")


def test_a_record_is_no_answer_only_because_its_session_has_one() -> None:
    """In a small store the bar is low, and the session lifts every record of it almost half as high as the best."""
    assert passing(ASKED, 4, [0.90, 0.09, 0.07], [1.59, 0.72, 0.63]) == [0]
    assert passing(ASKED, 4, [0.90, 0.14, 0.07], [1.59, 0.72, 0.63]) == [0, 1]


def test_next_to_a_weak_answer_a_weaker_one_counts() -> None:
    assert passing(ASKED, 4, [0.20, 0.10, 0.02], [0.50, 0.30, 0.10]) == [0, 1]


def test_nothing_is_answered_if_none_of_the_leaders_fits() -> None:
    assert passing(ASKED, 1_000, [0.20, 0.19, 0.18], [0.50, 0.45, 0.40]) == []
    assert passing(ASKED, 4, [0.10, 0.02], [0.50, 0.45]) == [0]  # a small store shows its best
