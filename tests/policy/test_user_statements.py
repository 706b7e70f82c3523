"""What a user states for good in a prompt, and whether a prompt objects to the answer before it."""

from bench.capture import LEAST_RECALL, MOST_FALSE, judge_prompts
from bench.labelled import READER, SPLITS
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.language.user_statements import Said, objection, resolved, stated
from tests.policy.scripts import scripts_in
from tests.rows import each, examples


def said_in(text: str, answer: str = "") -> list[Said]:
    return stated(text, answer, READER, certain=text)


globals().update(scripts_in(__file__, said_in=lambda _, given: said_in(**given)))


@each("split", SPLITS)
def test_most_statements_of_the_labelled_prompts_are_kept_and_hardly_anything_else(split: str) -> None:
    judged = judge_prompts(split)
    assert judged.recall >= LEAST_RECALL, judged.wrong
    assert judged.false_share <= MOST_FALSE, judged.wrong


@examples
def test_a_statement_has_a_kind(text: str, kind: str) -> None:
    assert [said.kind for said in said_in(text)] == [kind]


@examples
def test_what_leans_on_an_earlier_sentence_is_kept_with_it(statement: str, old: str, expected: str) -> None:
    assert resolved(statement, old) == expected


@examples
def test_quoted_pasted_and_injected_text_is_not_the_users(text: str) -> None:
    assert stated(text, "", READER) == []


@examples
def test_an_objection_is_told_from_going_on(prompt: str, expected: str) -> None:
    assert objection(prompt, "The connection pool is the cause of the stale reads.", READER) == expected


def test_without_a_classifier_only_explicit_markers_count() -> None:
    assert stated("we never mock the database here", "", SentenceReader()) == []
