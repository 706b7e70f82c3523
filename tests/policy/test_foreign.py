"""Whoever quotes a decision has not made it."""

from bench.labelled import MOST_TAKEN, READER, judge_pasted
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.noteworthy import signals
from tests.rows import each, rows

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
            assert (len(own), [at for at, char in enumerate(own) if char == "\n"]) == (
                len(text),
                [at for at, char in enumerate(text) if char == "\n"],
            )
