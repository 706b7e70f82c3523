"""What is worth keeping in a session's log, and what is only said in passing."""

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, SPLITS, every_sentence, rows_of, score_passages
from holdfast.policy.language.mine import FAMILIES, mine
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__))


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
