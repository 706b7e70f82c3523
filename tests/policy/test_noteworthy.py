"""What of a text wants keeping, how sure that is, and what must never be taken for it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled import READER, SPLITS, rows_of
from holdfast.model.kinds import KINDS as RECORD_KINDS
from holdfast.policy.language.noteworthy import KINDS, marked, signals
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__, {"READER": READER}))


@examples
def test_a_marked_line_is_taken_at_its_word(text: str, kind: str) -> None:
    assert [(signal.kind, signal.how) for signal in signals(text, READER)] == [(kind, "inline")]


@examples
def test_links_mentions_code_and_task_lists_are_no_markers(text: str) -> None:
    assert marked(text) == []


@examples
def test_quotes_code_output_injected_text_questions_suppositions_and_secrets_are_passed_over(text: str) -> None:
    assert signals(text, READER) == []


def test_every_signal_becomes_a_kind_of_record() -> None:
    assert set(KINDS.values()) <= set(RECORD_KINDS)


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab .`\n<>▶─[]:decision@memory?\"'"), max_size=300))
def test_any_text_can_be_read_and_spans_lie_inside_it(text: str) -> None:
    for one in signals(text, READER):
        assert 0 <= one.span[0] < one.span[1] <= len(text)


def test_the_labelled_lines_are_half_traps_and_half_held_back() -> None:
    halves = {split: rows_of("signals", split) for split in SPLITS}
    assert {split: len(rows) for split, rows in halves.items()} == {"dev": 139, "held": 139}
    assert {split: sum(not row["wanted"] for row in rows) for split, rows in halves.items()} == {"dev": 69, "held": 69}
