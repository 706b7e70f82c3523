"""Which candidates of a recall are answers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from holdfast.model.event import Actor, ActorKind
from holdfast.model.query import Hit, Mode, Query
from holdfast.model.record import Record, Source
from holdfast.policy.ranking.gate import Basis, Evidence, answered, chances, current_first, labelled, passing
from tests.rows import each

ASKED = Query(text="how do I run a migration on the orders table?")


def likely(fits: Sequence[float], coverages: Sequence[float] = (), *, words: int = 6) -> list[float]:
    whole = [*coverages, *(0.5 for _ in fits[len(coverages) :])]
    return chances(Evidence(basis="hybrid", fits=fits, coverages=whole, words=words))


def test_who_stands_out_from_the_others_is_likelier_right() -> None:
    alone, first, background = likely([0.6])[0], likely([0.6, 0.55])[0], likely([0.6, *[0.3] * 20])[0]
    assert alone > background > first > likely([0.6, 0.55])[1]


def test_a_store_of_any_size_is_judged_alike() -> None:
    few, many = likely([0.6, *[0.05] * 4])[0], likely([0.6, *[0.05] * 400])[0]
    assert few == pytest.approx(many)


def test_who_has_every_word_of_the_question_is_likelier_right() -> None:
    assert likely([0.6, 0.3], [1.0])[0] > likely([0.6, 0.3], [0.9])[0]


def test_what_is_about_the_same_thing_answers_only_as_it_reads() -> None:
    def read(*odds: float) -> list[float]:
        return chances(Evidence(basis="read", fits=[0.7, 0.6, 0.5], coverages=[0.5] * 3, words=6, odds=odds))

    unread, yes, no = read(), read(3.0, -3.0), read(-6.0, -6.0)
    assert unread[0] > yes[0] > 0.8 * unread[0] > 0.2 > no[0]
    assert yes[2] == pytest.approx(read(3.0, -3.0, -3.0)[2])  # not read: as the worst that was


def of(fits: Sequence[float], basis: Basis = "hybrid", odds: Sequence[float] = ()) -> Evidence:
    return Evidence(basis=basis, fits=fits, coverages=[0.5 for _ in fits], words=6, odds=odds)


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
    assert answered(of([])) == 0.0


@each(("chance", "expected"), [(0.98, ["strong", "fair"]), (0.7, ["fair", "fair"]), (0.2, ["weak", "weak"])])
def test_labels_say_how_likely_right_a_hit_is_and_only_the_first_is_strong(chance: float, expected: list[str]) -> None:
    hits = [replace(made(place, 1.0, "2026-01-01"), chance=chance) for place in range(2)]
    assert [hit.confidence for hit in labelled(hits, "read")] == expected


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


def test_a_newer_version_that_fits_less_well_stays_where_it_is() -> None:
    older, newer = made(1, 1.0, "2026-01-01", contradicted_by="2"), made(2, 0.9, "2026-02-01", fit=0.5)
    assert current_first([older, newer]) == [older, newer]
