"""What an observer is asked, and how its answer is read however it is written."""

from pathlib import Path

from holdfast.adapters.observers import load_mode
from holdfast.policy.activity.observer_reply import MOST_CHARACTERS, ParsedReply, most_spent, question_of, read_reply
from holdfast.policy.activity.turns import turns
from tests.policy.scripts import scripts_in
from tests.policy.trails import events_of
from tests.rows import examples, rows
from tests.scripts import Step

CODE = load_mode("code", None)
WHOLE = (Path(__file__).parents[1] / "data" / "observation.xml").read_text(encoding="utf-8").strip()
STEPS: dict[str, Step] = {
    "events": lambda _, given: events_of(given["of"]),
    "turns": lambda _, given: turns(events_of(given["of"])),
    "count": lambda _, given: [given["in"].count(text) for text in given["of"]],
}
scripts_in(globals(), {"CODE": CODE, "WHOLE": WHOLE}, "holdfast.policy", **STEPS)


@examples
def test_an_answer_is_read_whatever_stands_around_it(answer: str, changes: list[list[str]]) -> None:
    for old, new in [["WHOLE", WHOLE], *changes]:
        answer = answer.replace(old, new)
    assert read_reply(answer, CODE) == ParsedReply(observations=(rows("what_observation_xml_says"),))


@examples
def test_nothing_is_an_answer(text: str) -> None:
    assert read_reply(text, CODE) == ParsedReply()


def test_a_question_keeps_to_its_size_and_its_cost_is_never_less_than_it_could_be() -> None:
    ran = {"tool": "Bash", "result": "ü" * 9_000, "command": "x" * 9_000}
    question = question_of(turns(events_of(["long", *[ran] * 60])), CODE)
    assert len(question.text) <= MOST_CHARACTERS + 100
    assert '<elided chars="' in question.text
    assert most_spent(question, 50) >= len((question.text + question.instructions).encode()) // 2 + question.most_tokens
