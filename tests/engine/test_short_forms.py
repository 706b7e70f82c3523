"""Short and long forms of software work find each other: db and database, PR and pull request."""

from collections.abc import Callable

import pytest

from holdfast.engine.database import Database
from holdfast.engine.opening import open_store
from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.short_forms import spelled_out
from holdfast.engine.tokens import query_terms, tokens
from holdfast.engine.views import words
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall
from tests.conftest import keep
from tests.rows import each


@each(
    ("question", "memory"),
    [
        ("prod db", "The production database is in Frankfurt."),
        ("production databases", "prod-db is in Frankfurt"),
        ("k8s", "Kubernetes 1.31"),
        ("Kubernetes", "k8s 1.31"),
        ("env vars configs", "ENVIRONMENT: see the configuration"),
        ("PRs", "Every pull request is reviewed."),
        ("pull requests", "PRs are reviewed"),
        ("multi-factor authentication", "mfa is on"),
        ("MFA", "Multi-factor authentication is on."),
        ("end to end tests", "the e2e suite"),
        ("SSO", "Single sign-on through Okta"),
    ],
)
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
    monkeypatch.setattr(words, "VERSION", words.VERSION + 1)
    found = transcripts.search(open_store(database()), "production database", None, 3)
    assert [piece.body for piece in found] == [text]
