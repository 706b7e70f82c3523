"""Which candidates of a recall are answers."""

import pytest

from holdfast.model.query import Hit, Query
from holdfast.model.record import Record
from holdfast.policy.ranking.gate import labelled, passing

ASKED = Query(text="how do I run a migration on the orders table?")


def test_a_record_is_no_answer_only_because_its_session_has_one() -> None:
    """In a small store the bar is low, and the session lifts every record of it almost half as high as the best."""
    assert passing(ASKED, 4, [0.90, 0.09, 0.07], [1.59, 0.72, 0.63]) == [0]
    assert passing(ASKED, 4, [0.90, 0.15, 0.07], [1.59, 0.72, 0.63]) == [0, 1]


def test_next_to_a_weak_answer_a_weaker_one_counts() -> None:
    assert passing(ASKED, 4, [0.30, 0.15, 0.02], [0.50, 0.30, 0.10]) == [0, 1]


def test_nothing_is_answered_if_none_of_the_leaders_fits() -> None:
    assert passing(ASKED, 1_000, [0.20, 0.19, 0.18], [0.50, 0.45, 0.40]) == []
    assert passing(ASKED, 4, [0.10, 0.02], [0.50, 0.45]) == [0]  # a small store shows its best


def test_a_store_that_is_not_small_answers_nothing_with_what_barely_fits() -> None:
    assert passing(ASKED, 40, [0.27, 0.26], [0.50, 0.45]) == []
    assert passing(ASKED, 40, [0.30, 0.26], [0.50, 0.45]) == [0, 1]


@pytest.mark.parametrize(
    ("fit", "english", "foreign"), [(0.7, "strong", "strong"), (0.6, "strong", "fair"), (0.3, "weak", "weak")]
)
def test_a_strong_answer_in_another_language_fits_better(fit: float, english: str, foreign: str) -> None:
    hits = [
        Hit(record=Record(id=str(place), title="t", body="b"), score=score, confidence="weak", why={}, fit=fit)
        for place, score in enumerate((1.0, 0.5))
    ]
    assert labelled(hits)[0].confidence == english
    assert labelled(hits, is_foreign=True)[0].confidence == foreign


def test_only_a_first_hit_that_leads_is_strong() -> None:
    hits = [
        Hit(record=Record(id=str(place), title="t", body="b"), score=score, confidence="weak", why={}, fit=0.9)
        for place, score in enumerate((1.0, 0.9))
    ]
    assert [hit.confidence for hit in labelled(hits)] == ["fair", "fair"]
