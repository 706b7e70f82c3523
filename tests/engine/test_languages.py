"""Terms of other languages match the same term in English, in an inflected form, in a compound and without spaces."""

from collections.abc import Callable

import pytest

from holdfast.engine.database import Database
from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.store import open_store
from holdfast.engine.tokens import is_foreign, query_terms, tokens
from holdfast.engine.views import words
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall
from tests.conftest import keep
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__, package="holdfast.engine"))


@examples
def test_a_question_shares_words_with_a_memory_in_english(question: str, memory: str) -> None:
    assert set(query_terms(question)) & set(tokens(memory))


def test_two_languages_meet_in_english() -> None:
    assert {"databas", "backup"} <= set(tokens("Die Datenbank wird jede Nacht gesichert.")) & set(
        query_terms("数据库多久备份一次？")
    )


@examples
def test_the_language_is_told_by_script_and_function_words(text: str, foreign: bool) -> None:
    assert is_foreign(text) == foreign


@examples
def test_a_question_in_one_form_finds_the_other(question: str, memory: str) -> None:
    asked = set(query_terms(question)) - {"var"}
    assert asked & set(tokens(memory))


def test_a_memory_is_found_by_a_short_form(memory: Memory) -> None:
    kept = keep(memory, "The production database is backed up every night.")
    keep(memory, "The products page is cached for a minute.")
    assert recall(memory, Query(text="prod db")).hits[0].record.id == kept.id


def test_transcripts_of_an_earlier_version_are_indexed_again(
    database: Callable[[], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(database())
    text = "The db of prod is full."
    saved = Transcript(session="s", project=1, format="markdown", saved_at="2026-01-01T00:00:00Z", tokens=9, body=text)
    transcripts.save(store, saved, [text])
    store.db.execute("delete from chunk_words")
    assert transcripts.search(store, "production database", None, 3) == []
    monkeypatch.setattr(words.words, "version", words.words.version + 1)
    found = transcripts.search(open_store(database()), "production database", None, 3)
    assert [piece.body for piece in found] == [text]
