"""What a user states for good in a prompt, and whether a prompt objects to the answer before it."""

from bench.capture import LEAST_RECALL, MOST_FALSE, judge_prompts
from bench.labelled import READER, SPLITS
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.language.user_statements import Said, stated
from tests.policy.scripts import scripts_in
from tests.rows import each


def said_in(text: str, answer: str = "") -> list[Said]:
    return stated(text, answer, READER, certain=text)


VALUES = {"READER": READER, "WITHOUT_CLASSIFIER": SentenceReader()}
globals().update(scripts_in(__file__, VALUES, said_in=lambda _, given: said_in(**given)))


@each("split", SPLITS)
def test_most_statements_of_the_labelled_prompts_are_kept_and_hardly_anything_else(split: str) -> None:
    judged = judge_prompts(split)
    assert judged.recall >= LEAST_RECALL, judged.wrong
    assert judged.false_share <= MOST_FALSE, judged.wrong
