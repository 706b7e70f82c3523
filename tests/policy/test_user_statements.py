"""What a user states for good in a prompt, and whether a prompt objects to the answer before it."""

from bench.capture import LEAST_RECALL, MOST_FALSE, judge_prompts
from bench.labelled import MOST_TAKEN, READER, SPLITS, judge_pasted
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.noteworthy import signals
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.language.user_statements import Said, stated
from tests.policy.scripts import scripts_in
from tests.rows import each, rows


def said_in(text: str, answer: str = "") -> list[Said]:
    return stated(text, answer, READER, certain=text)


VALUES = {"READER": READER, "WITHOUT_CLASSIFIER": SentenceReader()}
scripts_in(globals(), VALUES, said_in=lambda _, given: said_in(**given))


@each("split", SPLITS)
def test_most_statements_of_the_labelled_prompts_are_kept_and_hardly_anything_else(split: str) -> None:
    judged = judge_prompts(split)
    assert judged.recall >= LEAST_RECALL, judged.wrong
    assert judged.false_share <= MOST_FALSE, judged.wrong


# Whoever quotes a decision has not made it.
QUOTED: list[str] = rows("quoted_decisions")
OWN: list[str] = rows("decisions_beside_a_quotation")


@each("text", QUOTED)
def test_a_quoted_decision_is_nobody_s(text: str) -> None:
    assert signals(text, READER) == []


@each("text", OWN)
def test_a_decision_beside_a_quotation_is_kept(text: str) -> None:
    assert "rices" in (own := own_part(text, by_agent=True).text) or "ecided to" in own or "trict" in own


@each("split", ["dev", "held"])
def test_hardly_any_pasted_sentence_counts_as_the_user_s_own(split: str) -> None:
    judged = judge_pasted(split)
    assert (judged.taken <= MOST_TAKEN * judged.foreign, judged.lost <= 0.15 * judged.own) == (True, True), judged


def test_line_breaks_and_length_stay() -> None:
    for text in (*QUOTED, *OWN):
        for by_agent in (True, False):
            own = own_part(text, by_agent=by_agent).text
            assert [len(line) for line in own.split("\n")] == [len(line) for line in text.split("\n")]
