"""Terms of other languages match the same term in English, in an inflected form, in a compound and without spaces."""

from collections.abc import Callable

import pytest

from holdfast.engine.database import Database
from holdfast.engine.languages import english_of, is_foreign, spelled_out, terms_in
from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.store import open_store
from holdfast.engine.tokens import query_terms, tokens
from holdfast.engine.views import words
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall
from tests.conftest import keep
from tests.rows import examples


@examples
def test_a_question_shares_words_with_a_memory_in_english(question: str, memory: str) -> None:
    assert set(query_terms(question)) & set(tokens(memory))


def test_two_languages_meet_in_english() -> None:
    assert {"databas", "backup"} <= set(tokens("Die Datenbank wird jede Nacht gesichert.")) & set(
        query_terms("数据库多久备份一次？")
    )


def test_a_compound_has_the_words_of_its_parts() -> None:
    assert [words[0] for words in english_of("datenbankschema")] == ["database", "schema"]
    assert [words[0] for words in english_of("rechnungsnummer")] == ["invoice", "number"]


def test_an_ending_may_follow_a_term_but_not_another_word() -> None:
    assert english_of("rechnungen") == english_of("rechnung") != ()
    assert english_of("rechnungsabgrenzungsposten") == ()


def test_english_text_is_left_as_it_is() -> None:
    assert tokens("The data of the last file in the range is on the land of the handler.") == [
        *"the data of the last file in the rang is on the land of the handler".split()
    ]


def test_text_without_spaces_is_cut_at_terms() -> None:
    assert list(terms_in("把数据库备份到云")) == [
        ("把", ()),
        ("数据库", (("database",),)),
        ("备份", (("backup",),)),
        ("到云", ()),
    ]


@examples
def test_the_language_is_told_by_script_and_function_words(text: str, foreign: bool) -> None:
    assert is_foreign(text) == foreign


@examples
def test_a_question_in_one_form_finds_the_other(question: str, memory: str) -> None:
    asked = set(query_terms(question)) - {"var"}
    assert asked & set(tokens(memory))


def test_a_question_has_one_word_for_a_phrase_and_a_memory_keeps_its_words() -> None:
    assert query_terms("size of a pull request") == ["size", "pr"]
    assert tokens("pull request") == ["pull", "request", "pr"]


def test_in_a_path_a_short_form_is_a_name() -> None:
    assert {"app", "db", "py"} <= set(tokens("src/app/db.py"))
    assert "python" not in tokens("src/app/db.py")


def test_the_encoder_reads_both_forms_of_a_short_question() -> None:
    assert spelled_out("pg version in prod?") == "pg postgresql version in prod production?"
    assert spelled_out("CI: PRs") == "CI continuous integration: PRs pull request"
    assert spelled_out("src/db/app.py, db_url and Max") == "src/db/app.py, db_url and Max"
    long = "why is the prod db so slow since the deployment of last week that nobody reviewed"
    assert spelled_out(long) == long


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
