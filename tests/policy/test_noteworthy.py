"""What of a text wants keeping, how sure that is, and what must never be taken for it."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled import READER, SPLITS, rows_of
from holdfast.model.kinds import KINDS as RECORD_KINDS
from holdfast.policy.language.noteworthy import KINDS, Signal, marked, signals, tier, worth
from holdfast.policy.language.reading import SentenceReader
from tests.rows import each, examples, sampled


def found(text: str) -> list[tuple[str, str]]:
    return [(signal.kind, signal.text) for signal in signals(text, READER)]


def test_a_block_is_kept_whole_and_not_read_again() -> None:
    text = "▶ decision ─── Retries\nWe retry three times.\n\nTIL that more only hides outages.\n────\nDone."
    assert found(text) == [("decision", "Retries\nWe retry three times.\n\nTIL that more only hides outages.")]


def test_a_block_nobody_closed_ends_with_its_paragraph() -> None:
    assert found("▶ learned ───\nThe exporter locks the table.\n\nNow the tests.") == [
        ("learning", "The exporter locks the table.")
    ]


def test_a_fenced_block_is_kept_under_its_name() -> None:
    assert found(":::patterns Errors\nHandlers return errors.\nThe host prints them.\n:::\nmore") == [
        ("pattern", "Errors\nHandlers return errors.\nThe host prints them.")
    ]


@examples
def test_a_marked_line_is_taken_at_its_word(text: str, kind: str) -> None:
    assert [(signal.kind, signal.how) for signal in signals(text, READER)] == [(kind, "inline")]


@examples
def test_links_mentions_code_and_task_lists_are_no_markers(text: str) -> None:
    assert marked(text) == []


LASTING = "We decided to keep the monolith until the order volume doubles."


@each(
    "text",
    [
        f"```\n{LASTING}\n```",
        f"> {LASTING}",
        f"<memory id='1'>{LASTING}</memory>",
        f"<memory-context>\n▶ decision ───\n{LASTING}\n────\n</memory-context>",
        f"<system-reminder>[decision] {LASTING}</system-reminder>",
        f'The ticket says "{LASTING}" but it is old.',
        f"2026-02-03 10:11:12 INFO worker: {LASTING}",
        f"@@ -1 +1 @@\n-{LASTING}\n+{LASTING}",
        "Did we decide to keep the monolith until the volume doubles?",
        "If we decided to keep the monolith, the volume could double.",
        "Maybe we decided to keep the monolith until the volume doubles.",
        "As soon as we decide to keep the monolith, the volume doubles.",
        "We decided to use the password: 'kX81-pqLm2Zt' for the monolith.",
    ],
)
def test_quotes_code_output_injected_text_questions_suppositions_and_secrets_are_passed_over(text: str) -> None:
    assert signals(text, READER) == []


def test_every_signal_becomes_a_kind_of_record() -> None:
    assert set(KINDS.values()) <= set(RECORD_KINDS)
    assert signals("[research] The vendor documents limits on its status page.", READER)[0].record_kind == "reference"


def signal(confidence: float, kind: str = "learning") -> Signal:
    return Signal(kind=kind, text="x", confidence=confidence, span=(0, 1), how="wording")


@each(
    ("confidence", "novelty", "expected"),
    [(0.85, 1.0, "auto"), (0.85, 0.29, "skip"), (0.65, 1.0, "suggest"), (0.65, 0.1, "skip")],
)
def test_what_is_sure_and_new_is_kept_what_is_likely_is_offered(
    confidence: float, novelty: float, expected: str
) -> None:
    assert tier(signal(confidence), novelty) == expected


def test_what_is_half_known_is_kept_with_less_confidence() -> None:
    assert [worth(0.9, novelty) for novelty in (1.0, 0.5, 0.0, 7.0)] == pytest.approx([0.9, 0.675, 0.45, 0.9])


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab .`\n<>▶─[]:decision@memory?\"'"), max_size=300))
def test_any_text_can_be_read_and_spans_lie_inside_it(text: str) -> None:
    for one in signals(text, READER):
        assert 0 <= one.span[0] < one.span[1] <= len(text)


@each(
    "piece",
    sampled(
        [
            "▶ decision ───\n",
            "[decision] ",
            "we decided to ",
            ":::pattern\n",
            "by x ",
            '"a ',
            "- [b] x y z\n",
            "got a ",
        ],
        3,
    ),
)
def test_hostile_texts_are_read_in_no_time(piece: str) -> None:
    start = process_time()
    signals(piece * (100_000 // len(piece)), SentenceReader())
    assert process_time() - start < 2


def test_the_labelled_lines_are_half_traps_and_half_held_back() -> None:
    halves = {split: rows_of("signals", split) for split in SPLITS}
    assert {split: len(rows) for split, rows in halves.items()} == {"dev": 139, "held": 139}
    assert {split: sum(not row["wanted"] for row in rows) for split, rows in halves.items()} == {"dev": 69, "held": 69}
