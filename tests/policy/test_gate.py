"""Which candidates of a recall are answers."""

from holdfast.model.event import Actor, ActorKind
from holdfast.model.query import Hit, Query
from holdfast.model.record import Record, Source
from holdfast.policy.ranking.gate import current_first, labelled, passing, rivals
from tests.rows import each

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


@each(("fit", "english", "foreign"), [(0.7, "strong", "strong"), (0.6, "strong", "fair"), (0.3, "weak", "weak")])
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


def made(
    number: int,
    score: float,
    at: str,
    *,
    kind: str = "fact",
    by: ActorKind = "user",
    source: Source = "explicit",
    fit: float = 0.9,
    contradicted_by: str = "",
) -> Hit:
    by_whom = Actor(kind=by, name="someone")
    record = Record(id=str(number), kind=kind, title="t", body="b", created_at=at, by=by_whom, source=source)
    return Hit(record=record, score=score, confidence="fair", why={}, fit=fit, contradicted_by=contradicted_by)


def test_of_versions_the_newest_that_was_said_comes_first() -> None:
    older, newer = made(1, 1.0, "2026-01-01", contradicted_by="2"), made(2, 0.9, "2026-02-01", by="agent")
    assert current_first([older, newer]) == [newer, older]
    concluded = made(2, 0.9, "2026-02-01", by="agent", source="observed")
    assert current_first([older, concluded]) == [older, concluded]


def test_a_newer_hit_that_answers_about_as_well_may_have_replaced_the_first() -> None:
    best = made(1, 1.0, "2026-01-01")
    newer, newest = made(2, 0.9, "2026-02-01"), made(3, 0.85, "2026-03-01")
    assert rivals([best, newer, newest]) == [newest, newer]
    assert rivals([newest, best]) == []
    assert rivals([]) == []


@each(
    "other",
    [
        made(2, 0.7, "2026-02-01"),
        made(2, 0.9, "2026-02-01", fit=0.5),
        made(2, 0.9, "2026-02-01", kind="observation"),
        made(2, 0.9, "2026-02-01", by="agent", source="inferred"),
    ],
)
def test_others_leave_the_first_hit_where_it_is(other: Hit) -> None:
    assert rivals([made(1, 1.0, "2026-01-01"), other]) == []
