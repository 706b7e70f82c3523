"""What is worth keeping in a session's log, and what is only said in passing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, SPLITS, every_sentence, rows_of, score_passages
from holdfast.policy.language.mine import FAMILIES, mine
from holdfast.policy.language.reading import passages
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__))


@examples
def test_quotes_prompts_code_diffs_questions_guesses_and_secrets_are_passed_over(log: str) -> None:
    assert mine(log) == []


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab .`\n<>$-+@:;uU\"'{}memory/"), max_size=300))
def test_any_log_can_be_mined_and_spans_lie_inside_it(log: str) -> None:
    for passage in passages(log):
        assert 0 <= passage.start <= passage.end <= len(log)
    mine(log)


def test_the_labelled_passages_are_half_traps_and_half_held_back() -> None:
    halves = {split: rows_of("mining", split) for split in SPLITS}
    assert {split: len(rows) for split, rows in halves.items()} == {"dev": 132, "held": 132}
    assert {split: sum(not row["wanted"] for row in rows) for split, rows in halves.items()} == {"dev": 66, "held": 66}
    wanted = {want["kind"] for rows in halves.values() for row in rows for want in row["wanted"]}
    assert wanted | {"insight"} == set(FAMILIES)


def test_knowledge_is_found_in_passages_nobody_tuned_for() -> None:
    for split in SPLITS:
        ours, naive = score_passages(mine, split), score_passages(every_sentence, split, kinds=False)
        print(
            f"{split}: precision {ours.precision:.3f} recall {ours.recall:.3f}, naive {naive.precision:.3f} {naive.recall:.3f}"
        )
        assert ours.precision >= LEAST_PRECISION
        assert ours.recall >= LEAST_RECALL
        assert ours.precision > naive.precision
