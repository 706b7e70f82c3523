"""Which candidates of a recall are answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from holdfast.model.event import Actor, ActorKind
from holdfast.model.query import Hit, Mode, Query
from holdfast.model.record import Record, Source
from holdfast.policy.ranking.gate import (
    Basis,
    Evidence,
    answered,
    chances,
    current_first,
    is_statement,
    labelled,
    passing,
)
from tests.rows import each

ASKED = Query(text="how do I run a migration on the orders table?")


def of(fits: Sequence[float], basis: Basis = "hybrid", odds: Sequence[float] = (), full: int = 0) -> Evidence:
    """Return evidence whose first candidates have every word of the question, and the others half of them."""
    return Evidence(
        basis=basis, fits=fits, coverages=[0.5 + 0.5 * (n < full) for n, _ in enumerate(fits)], words=6, odds=odds
    )


def likely(*fits: float, full: int = 0) -> list[float]:
    return chances(of(fits, full=full))


def test_who_stands_out_and_has_every_word_is_likelier_right_in_a_store_of_any_size() -> None:
    alone, first, background = likely(0.6)[0], likely(0.6, 0.55)[0], likely(0.6, *[0.3] * 20)[0]
    assert alone > background > first > likely(0.6, 0.55)[1]
    assert likely(0.6, *[0.05] * 4)[0] == pytest.approx(likely(0.6, *[0.05] * 400)[0])
    assert likely(0.6, 0.3, full=1)[0] > likely(0.6, 0.3)[0]


def test_what_is_about_the_same_thing_answers_only_as_it_reads() -> None:
    unread, yes, no, whole = (
        chances(of([0.7, 0.6, 0.5], "read", odds)) for odds in ((), (3.0, -3.0), (-6.0, -6.0), (3.0, -3.0, -3.0))
    )
    assert unread[0] > yes[0] > 0.8 * unread[0] > 0.2 > no[0]
    assert yes[2] == pytest.approx(whole[2])  # not read: as the worst that was


def test_who_has_a_rare_name_is_at_least_fair_and_who_has_another_code_at_most_weak() -> None:
    found = chances(replace(of([0.3, 0.28, 0.1], full=2), is_name=True))
    assert [chance >= 0.6 for chance in found] == [True, True, False]
    assert max(chances(replace(of([0.3] * 4, full=4), is_name=True))) < 0.6  # not rare
    assert likely(0.9, 0.2, full=1)[0] > 0.6 > chances(replace(of([0.9, 0.2], full=1), lacking=[0]))[0]


def test_a_record_is_no_answer_only_because_its_session_has_one() -> None:
    """The session lifts every record of it almost half as high as the best."""
    assert passing(ASKED, of([0.90, 0.09, 0.07]), [1.59, 0.72, 0.63]) == [0]
    assert passing(ASKED, of([0.90, 0.15, 0.07]), [1.59, 0.72, 0.63]) == [0, 1]


@each(("mode", "expected"), [("precision", []), ("balanced", [0, 1]), ("exploratory", [0, 1, 2])])
def test_the_mode_says_how_likely_right_an_answer_must_be(mode: Mode, expected: list[int]) -> None:
    asked = replace(ASKED, mode=mode)
    assert passing(asked, of([0.50, 0.30, 0.16]), [0.5, 0.3, 0.1]) == expected
    assert passing(asked, of([0.10, 0.06, 0.04]), [0.5, 0.3, 0.1]) == []


def test_a_question_is_answered_if_one_stands_out_or_several_fit_well() -> None:
    assert answered(of([0.5, 0.49, 0.2, 0.1])) > 0.3
    assert answered(of([0.3, 0.0])) > 0.2
    assert answered(of([0.13, 0.129, 0.128, 0.12, 0.119])) < 0.1  # many that hardly fit do not add up to an answer
    assert answered(of([0.7, 0.6], "read", [-6.0, -6.0])) < 0.1 < answered(of([0.7, 0.6], "read", [3.0, 3.0]))
    assert answered(of([0.6, 0.8], "read", [-6.0, 6.0])) > 0.6  # the second comes first
    assert answered(of([])) == 0.0


def made(number: int, at: str, *, by: ActorKind = "user", source: Source = "explicit", **hit: Any) -> Hit:
    record = Record(
        id=str(number), title="t", body="b", created_at=at, by=Actor(kind=by, name="someone"), source=source
    )
    return Hit(**{"record": record, "score": 1.0, "confidence": "fair", "why": {}, "fit": 0.9, **hit})


@each(("text", "expected"), [("Prices are stored in cents (not euros).", True), ("x = f(a_b) if a else {}", False)])
def test_a_short_question_needs_more_of_what_is_long_or_code(text: str, expected: bool) -> None:
    assert is_statement(text) is expected
    assert not is_statement(text + " A word more." * 40)
    unsure = of([0.4, 0.35, 0.2])
    assert passing(ASKED, unsure, unsure.fits)
    assert not passing(ASKED, replace(unsure, is_long=True, words=3), unsure.fits)
    assert passing(ASKED, replace(unsure, is_long=True, words=20), unsure.fits)


@each(("chance", "expected"), [(0.98, ["strong", "fair"]), (0.74, ["fair", "fair"]), (0.2, ["weak", "weak"])])
def test_labels_say_how_likely_right_a_hit_is_and_only_the_first_is_strong(chance: float, expected: list[str]) -> None:
    hits = [made(place, "2026-01-01", chance=chance) for place in range(2)]
    assert [hit.confidence for hit in labelled(hits, "read")] == expected
    hits = [made(0, "2026-01-01", chance=0.2), *hits]
    assert [hit.confidence for hit in labelled(hits, "read")] == sorted(
        [*expected, "weak"], key="strong fair weak".index
    )


def test_of_versions_the_newest_that_was_said_and_fits_as_well_comes_first() -> None:
    older, newer = made(1, "2026-01-01", contradicted_by="2"), made(2, "2026-02-01", score=0.9, by="agent")
    assert current_first([older, newer]) == [newer, older]
    concluded = made(2, "2026-02-01", score=0.9, by="agent", source="observed")
    assert current_first([older, concluded]) == [older, concluded]
    worse = replace(newer, fit=0.5)
    assert current_first([older, worse]) == [older, worse]
