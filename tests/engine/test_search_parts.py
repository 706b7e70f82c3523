"""Tokens, passages, what a question names, snippets and packing: the pure parts of search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.search.question import dates_in, listing_in, past_asked_for
from holdfast.engine.search.vectors import _close, first_look
from holdfast.engine.tokens import MOST, SIZE, WHOLE, passages, pieces, tokens
from holdfast.model.event import Json
from holdfast.model.query import Hit, Past
from holdfast.model.record import Record
from holdfast.policy.ranking.diversity import pack, snippet
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__, package="holdfast.engine"))


@examples
def test_text_is_cut_into_words_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(max_size=300))
def test_tokens_never_hold_spaces_and_never_fail(text: str) -> None:
    assert all(token and not any(char.isspace() for char in token) for token in tokens(text))


def test_a_short_text_is_one_passage_and_a_long_one_is_cut_at_line_ends() -> None:
    assert passages("short") == ["short"]
    text = "Title\n" + "\n".join(f"line {number} " + "x" * 80 for number in range(60))
    cut = pieces(text)
    assert len(text) > WHOLE
    assert all(len(piece) <= SIZE for piece in cut)
    assert "\n".join(cut) == text
    assert all(piece.startswith("Title\n") for piece in passages(text))


def test_a_huge_text_has_a_bounded_number_of_passages() -> None:
    assert len(pieces("word " * 100_000)) == MOST


@given(st.text(alphabet="ab .\n", min_size=801, max_size=3000))
def test_cutting_loses_nothing_but_space(text: str) -> None:
    cut = pieces(text)
    assert all(len(piece) <= max(SIZE, WHOLE) for piece in cut)
    if len(cut) < MOST:
        assert "".join("".join(cut).split()) == "".join(text.split())


def test_a_diff_is_headed_by_the_path_it_changes() -> None:
    hunk = "@@ -1,5 +1,5 @@ def f():\n" + "\n".join(
        f"+    line{number} = compute_something({number})" for number in range(40)
    )
    diff = f"diff --git a/src/a.py b/src/a.py\nindex 1..2 100644\n--- a/src/a.py\n+++ b/src/a.py\n{hunk}"
    assert passages(diff)[0].startswith("src/a.py\n@@ def f():")
    assert all(piece.startswith("src/a.py\n") for piece in passages(diff))


def test_dates_in_a_question_match_days_and_months() -> None:
    asked = dates_in("What did we decide on 7 May 2023?")
    assert asked.match("2023-05-07T00:00:00.000Z") == 1.0
    assert asked.match("2023-05-08T00:00:00.000Z") == 0.5
    assert asked.match("2022-05-07T00:00:00.000Z") == 0.0
    assert dates_in("2026-11-15").match("2026-11-15T09:00:00.000Z") == 1.0
    assert not dates_in("may we use 3 threads?").months
    month = dates_in("What happened last month?", "2026-03-31T12:00:00.000Z")
    assert [month.match(f"2026-{day}T12:00:00.000Z") for day in ("01-31", "02-01", "02-28", "03-01")] == [0, 1, 1, 0]


@examples
def test_a_question_about_the_past_says_which_state_it_means(question: str, past: Json | None) -> None:
    now = "2026-11-16T10:00:00.000Z"
    assert past_asked_for(question, dates_in(question, now).spans(now), now) == (None if past is None else Past(**past))


def test_a_snippet_is_the_part_that_answers() -> None:
    text = "Nothing here. " * 30 + "The cache expires after five minutes. " + "More nothing. " * 30
    shown = snippet(text, {"cach": 3.0, "expir": 3.0})
    assert shown.startswith("…The cache expires after five minutes.")
    assert len(shown) <= 281


def test_a_budget_is_kept_and_what_it_cuts_is_counted() -> None:
    hits = [
        Hit(record=Record(id=str(n), title="t", body="word " * 50), score=1, confidence="fair", why={})
        for n in range(5)
    ]
    packed, cut = pack(hits, {}, limit=10, budget=200)
    assert sum(hit.tokens for hit in packed) <= 200
    assert (len(packed), cut) == (2, 3)
    assert pack(hits, {}, limit=4, budget=0)[1] == 1


@examples
def test_ascii_and_other_texts_are_cut_alike(text: str) -> None:
    assert tokens(f"{text} é") == [*tokens(text), "e"]


def test_the_codes_looked_at_are_the_nearest_and_as_many_as_promised() -> None:
    random = np.random.default_rng(1)
    codes = random.integers(0, 2**63, (2, 1_000), dtype=np.uint64)
    query, numbers = codes[:, 7], np.arange(1_000) + 5_000
    found = _close(query, numbers, codes, None)
    distances = {5_000 + n: int(np.bitwise_count(column ^ query).sum()) for n, column in enumerate(codes.T)}
    assert sorted(distances[number] for number in found) == sorted(distances.values())[: first_look(1_000)]
    assert 5_007 in found
    assert len(set(found)) == len(found)


@examples
def test_a_question_that_names_only_a_time_or_a_kind_asks_for_a_list(text: str) -> None:
    assert listing_in(text, dates_in(text, "2026-11-16T12:00:00.000Z")) is not None


@examples
def test_a_question_that_names_more_asks_for_no_list(text: str) -> None:
    assert listing_in(text, dates_in(text, "2026-11-16T12:00:00.000Z")) is None
