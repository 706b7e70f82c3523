"""What a user states for good in a prompt, and whether a prompt objects to the answer before it."""

from time import process_time

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.capture import LEAST_RECALL, MOST_FALSE, judge_prompts
from bench.labelled import SPLITS
from holdfast.policy.language.user_statements import Said, objection, stated
from tests.rows import each


@each("split", SPLITS)
def test_most_statements_of_the_labelled_prompts_are_kept_and_hardly_anything_else(split: str) -> None:
    judged = judge_prompts(split)
    assert judged.recall >= LEAST_RECALL, judged.wrong
    assert judged.false_share <= MOST_FALSE, judged.wrong


def test_a_statement_begins_where_the_task_ends() -> None:
    text = "add a login form, but never use inline styles, the CSP blocks them"
    assert stated(text) == [
        Said(
            kind="preference",
            text="never use inline styles, the CSP blocks them",
            span=(text.index("but"), len(text)),
        )
    ]


@each(
    ("text", "kind"),
    [
        ("we decided to use Postgres", "decision"),
        ("I prefer pytest over unittest.", "preference"),
        ("our CI runs on node 22", "fact"),
        ("no, we never mock the database here", "preference"),
        ("Wir haben uns für Postgres entschieden", "decision"),
        ("prefiero funciones pequeñas", "preference"),
    ],
)
def test_a_statement_has_a_kind(text: str, kind: str) -> None:
    assert [said.kind for said in stated(text)] == [kind]


def test_a_correction_is_marked_and_loses_its_objection() -> None:
    (said,) = stated("No. Prices are in cents everywhere. Fix the total.")
    assert (said.text, said.corrects, said.updates) == ("Prices are in cents everywhere.", True, True)


def test_an_update_is_marked() -> None:
    (said,) = stated("the settings now live in config/app.toml")
    assert (said.corrects, said.updates) == (False, True)


def test_a_sentence_before_a_request_to_remember_it_is_kept() -> None:
    assert [said.text for said in stated("Token audience is acme-web. Remember that.")] == [
        "Token audience is acme-web."
    ]


@each(
    "text",
    [
        "```\nwe never use this\n```",
        "> we always use npm\n\nis that right?",
        'the wiki says "never deploy on fridays"',
        "<holdfast-brief>We never mock the database.</holdfast-brief>",
        "Traceback (most recent call last):\n  File 'a'\nValueError: must always be set",
    ],
)
def test_quoted_pasted_and_injected_text_is_not_the_users(text: str) -> None:
    assert stated(text) == []


def test_a_statement_with_a_credential_is_not_kept() -> None:
    assert stated("always use the token ghp_" + "a1B2" * 9) == []


@each(
    ("prompt", "expected"),
    [
        ("no, the replica lags", "no"),
        ("that's wrong", "no"),
        ("Nein, das stimmt nicht", "no"),
        ("不对，不是这个", "no"),
        ("違います", "no"),
        ("are you sure?", "doubt"),
        ("still the same error", "doubt"),
        ("no problem, thanks", ""),
        ("now add a test", ""),
        ("great, commit it", ""),
        ("kein Problem, weiter", ""),
        ("", ""),
    ],
)
def test_an_objection_is_told_from_going_on(prompt: str, expected: str) -> None:
    assert objection(prompt) == expected


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for said in stated(text):
        assert said.text


@each("piece", ["we never ", "no, ", "a, b. ", "用", "don't use x; ", "\n- always", "(((", "the the "])
def test_no_text_takes_long(piece: str) -> None:
    began = process_time()
    stated(piece * (50_000 // len(piece)))
    assert process_time() - began < 3
