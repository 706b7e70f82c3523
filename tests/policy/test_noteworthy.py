"""What of a text or of a session's log wants keeping, how sure that is, and what must never be taken for it."""

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, READER, SPLITS, every_sentence, rows_of, score_passages
from holdfast.model.kinds import KINDS as RECORD_KINDS
from holdfast.policy.language.mine import FAMILIES, mine
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


@examples
def test_quotes_prompts_code_diffs_questions_guesses_and_secrets_are_passed_over(log: str) -> None:
    assert mine(log) == []


def test_knowledge_is_found_in_passages_nobody_tuned_for() -> None:
    for split in SPLITS:
        ours, naive = score_passages(mine, split), score_passages(every_sentence, split, kinds=False)
        assert ours.precision >= max(LEAST_PRECISION, naive.precision), (split, ours, naive)
        assert ours.recall >= LEAST_RECALL, (split, ours)
    wanted = {want["kind"] for split in SPLITS for row in rows_of("mining", split) for want in row["wanted"]}
    assert wanted | {"insight"} == set(FAMILIES)
