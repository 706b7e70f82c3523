"""Tokens in any language, passages, what a question names, how common words are, snippets and packing: the parts of search."""

from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engine.database import Database
from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.search import lexical
from holdfast.engine.search.lexical import Frequencies, look_up
from holdfast.engine.search.question import dates_in, listing_in, past_asked_for
from holdfast.engine.store import Store, open_store
from holdfast.engine.tokens import MOST, SIZE, WHOLE, is_foreign, passages, pieces, query_terms, tokens
from holdfast.engine.views import words
from holdfast.model.event import Json
from holdfast.model.ids import Clock
from holdfast.model.query import Past
from holdfast.policy.ranking.diversity import snippet
from tests.conftest import recorded
from tests.policy.scripts import scripts_in
from tests.rows import examples

scripts_in(globals(), package="holdfast.engine")


@examples
def test_text_is_cut_into_words_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@settings(max_examples=25)
@given(st.text(max_size=300) | st.text(alphabet="ab .\n", min_size=801, max_size=3000))
def test_no_token_holds_a_space_and_cutting_loses_nothing_but_space(text: str) -> None:
    assert all(token and not any(char.isspace() for char in token) for token in tokens(text))
    cut = pieces(text)
    assert all(len(piece) <= max(SIZE, WHOLE) for piece in cut)
    assert len(cut) == MOST or "".join("".join(cut).split()) == "".join(text.split())


def test_a_long_text_is_cut_at_line_ends_and_each_passage_headed_by_its_title_or_path() -> None:
    assert passages("short") == ["short"]
    text = "Title\n" + "\n".join(f"line {number} " + "x" * 80 for number in range(60))
    assert "\n".join(pieces(text)) == text
    assert all(piece.startswith("Title\n") for piece in passages(text))
    assert len(pieces("word " * 100_000)) == MOST
    lines = "\n".join(f"+    line{number} = compute_something({number})" for number in range(40))
    head = "diff --git a/src/a.py b/src/a.py\nindex 1..2 100644\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,5 +1,5 @@ def f():\n"
    first, *rest = passages(head + lines)
    assert first.startswith("src/a.py\n@@ def f():")
    assert all(piece.startswith("src/a.py\n") for piece in rest)


@examples
def test_dates_in_a_question_match_days_and_months(question: str, at: str, share: float) -> None:
    assert dates_in(question, "2026-03-31T12:00:00.000Z").match(at) == share


@examples
def test_a_question_about_the_past_says_which_state_it_means(question: str, past: Json | None) -> None:
    now = "2026-11-16T10:00:00.000Z"
    assert past_asked_for(question, dates_in(question, now).spans(now), now) == (None if past is None else Past(**past))


def test_a_snippet_is_the_part_that_answers() -> None:
    text = "Nothing here. " * 30 + "The cache expires after five minutes. " + "More nothing. " * 30
    shown = snippet(text, {"cach": 3.0, "expir": 3.0})
    assert shown.startswith("…The cache expires after five minutes.")
    assert len(shown) <= 281


@examples
def test_ascii_and_other_texts_are_cut_alike(text: str) -> None:
    assert tokens(f"{text} é") == [*tokens(text), "e"]


@examples
def test_a_question_that_names_only_a_time_or_a_kind_asks_for_a_list_and_one_that_names_more_does_not(
    text: str, asked: bool
) -> None:
    assert (listing_in(text, dates_in(text, "2026-11-16T12:00:00.000Z")) is not None) == asked


@examples
def test_a_question_in_another_language_or_form_shares_words_with_a_memory(question: str, memory: str) -> None:
    assert (set(query_terms(question)) - {"var"}) & set(tokens(memory))


@examples
def test_the_language_is_told_by_script_and_function_words(text: str, foreign: bool) -> None:
    assert is_foreign(text) == foreign


def test_transcripts_of_an_earlier_version_are_indexed_again(database: Callable[[], Database]) -> None:
    store, text = open_store(database()), "The db of prod is full."
    saved = Transcript(session="s", project=1, format="markdown", saved_at="2026-01-01T00:00:00Z", tokens=9, body=text)
    transcripts.save(store, saved, [text])
    store.db.execute("delete from chunk_words")
    assert transcripts.search(store, "production database", None, 3) == []
    with patch.object(words.words, "version", words.words.version + 1):
        found = transcripts.search(open_store(database()), "production database", None, 3)
    assert [piece.body for piece in found] == [text]


EVERYWHERE = (0, 2**62)


@pytest.fixture
def large(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give 600 records of three projects, which count as very many: all deploy, a third to staging, two on a Sunday."""
    monkeypatch.setattr(lexical, "MANY", 500)
    monkeypatch.setattr(lexical, "DRAWN", 400)
    places, days = ("to staging", "out", "out"), {7: " on Sunday", 8: " on Sunday"}
    texts = [f"Deploy {n} goes {places[n % 3]}{days.get(n, '')}" for n in range(600)]
    store.commit([recorded(clock, text, project=f"p{n % 3 if n > 300 else 0}") for n, text in enumerate(texts)])
    return store


def test_common_words_are_told_from_a_draw_and_rare_ones_counted(large: Store) -> None:
    with patch.object(words, "counts", wraps=words.counts) as counts:
        found = Frequencies(large).of(["deploy", "stage", "sunday", "nowher"], [EVERYWHERE], 600)
    assert [call.args[1] for call in counts.call_args_list] == [{EVERYWHERE: ["sunday", "nowher"]}]
    assert (found["deploy"], found["sunday"], found["nowher"]) == (600, 2, 0)
    assert 150 < found["stage"] < 250
    exact = Frequencies(large).of(["deploy", "stage", "sunday"], [EVERYWHERE], 400)  # as of fewer
    assert exact == {"deploy": 600, "stage": 200, "sunday": 2}


@patch.object(lexical, "COMMON_WORD", 50)
def test_a_word_that_very_many_hold_picks_none_where_meaning_does(large: Store) -> None:
    def found(asked: list[str], *, meant: bool) -> int:
        return len(look_up(Frequencies(large), asked, [EVERYWHERE], 600, most=60, meant=meant).found)

    assert found(["stage", "deploy"], meant=True) == 0
    assert found(["stage", "deploy"], meant=False) == 60
    assert found(["sunday", "stage"], meant=True) == 2


@patch.object(lexical, "REMEMBERED", 20)
def test_what_is_remembered_of_words_is_bounded(large: Store) -> None:
    frequencies = Frequencies(large)
    for number in range(300):
        asked = [str(number), "sunday", f"unheard{number}"]
        assert frequencies.of(asked, [EVERYWHERE], 400) == dict(zip(asked, (1, 2, 0), strict=True))
        assert len(frequencies.known) <= 22
    assert not [key for key in frequencies.known if "unheard" in key[2]]


@patch.object(lexical, "POSTINGS", 40)
def test_the_one_record_with_all_words_is_found_however_common_each_word_is(store: Store, clock: Clock) -> None:
    asked = ["amber", "birch", "cedar", "delta", "ember"]
    texts = [" ".join(word for word in asked if word != asked[n % 5]) for n in range(200)]
    texts[100] = " ".join(asked)
    texts += [f"amber {n}" for n in range(50)]
    entries = store.commit([recorded(clock, text, project="p") for text in texts])
    found = look_up(Frequencies(store), asked, [EVERYWHERE], len(texts), most=10).found
    assert next(iter(found)) == entries[100].number
