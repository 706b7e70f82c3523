"""What a user states for good in a prompt, and whether a prompt objects to the answer before it."""

from time import process_time

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.capture import LEAST_RECALL, MOST_FALSE, judge_prompts
from bench.labelled import READER, SPLITS
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.language.user_statements import Said, objection, resolved, stated
from tests.rows import each, examples


def said_in(text: str, answer: str = "") -> list[Said]:
    return stated(text, answer, READER, certain=text)


@each("split", SPLITS)
def test_most_statements_of_the_labelled_prompts_are_kept_and_hardly_anything_else(split: str) -> None:
    judged = judge_prompts(split)
    assert judged.recall >= LEAST_RECALL, judged.wrong
    assert judged.false_share <= MOST_FALSE, judged.wrong


@examples
def test_a_statement_has_a_kind(text: str, kind: str) -> None:
    assert [said.kind for said in said_in(text)] == [kind]


def test_a_sentence_before_a_request_to_remember_it_is_kept() -> None:
    assert [said.text for said in said_in("Token audience is acme-web. Remember that.")] == [
        "Token audience is acme-web."
    ]


def test_a_text_after_a_request_to_remember_it_is_kept_whatever_it_is() -> None:
    assert [said.text for said in said_in("Remember that the blue crate goes left.")] == ["the blue crate goes left."]


@examples
def test_what_leans_on_an_earlier_sentence_is_kept_with_it(statement: str, old: str, expected: str) -> None:
    assert resolved(statement, old) == expected


def test_what_points_at_something_unsaid_is_not_kept() -> None:
    assert said_in("I said 30 minutes, not an hour.", "I set it up.") == said_in("These are our rules:") == []


def test_a_statement_is_kept_without_what_leads_to_it() -> None:
    said = said_in("I told you: reset tokens live for 30 minutes."), said_in("Great. Reset tokens live for 30 minutes.")
    assert [one.text.lower() for some in said for one in some] == ["reset tokens live for 30 minutes."] * 2


def test_a_correction_has_the_subject_of_what_it_corrects() -> None:
    (said,) = said_in("no, it's 250 per minute now", "The rate limit is 100 per minute.")
    assert (said.corrects, said.about) == (True, "The rate limit is 100 per minute.")
    assert "250" in said.text
    assert "rate limit" in said.text


@examples
def test_quoted_pasted_and_injected_text_is_not_the_users(text: str) -> None:
    assert stated(text, "", READER) == []


def test_a_statement_with_a_credential_is_not_kept() -> None:
    assert said_in("always use the token ghp_" + "a1B2" * 9) == []


@examples
def test_an_objection_is_told_from_going_on(prompt: str, expected: str) -> None:
    assert objection(prompt, "The connection pool is the cause of the stale reads.", READER) == expected


def test_without_a_classifier_only_explicit_markers_count() -> None:
    assert stated("we never mock the database here", "", SentenceReader()) == []


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for said in said_in(text):
        assert said.text


@each("piece", ["we never ", "no, ", "a, b. ", "用", "don't use x; ", "\n- always", "(((", "the the "])
def test_no_text_takes_long(piece: str) -> None:
    began = process_time()
    stated(piece * (50_000 // len(piece)), "", SentenceReader())
    assert process_time() - began < 3
