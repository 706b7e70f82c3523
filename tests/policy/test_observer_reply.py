"""What an observer is asked, and how its answer is read however it is written."""

from typing import Any

from holdfast.adapters.observers import load_mode
from holdfast.model.observer import Question
from holdfast.policy.activity.observer_reply import (
    MOST_CHARACTERS,
    ParsedReply,
    drafts_of,
    most_spent,
    question_of,
    read_reply,
    summary_draft,
)
from holdfast.policy.activity.turns import turns
from tests.policy.scripts import scripts_in
from tests.policy.trails import events_of
from tests.rows import each, examples
from tests.scripts import Step

CODE = load_mode("code", None)
WHOLE = """<observation turn="1">
  <type>bugfix</type>
  <title>Totals of empty carts</title>
  <subtitle>They divided by zero.</subtitle>
  <facts><fact>`total` returns 0 for an empty cart</fact><fact>a &lt; b &amp;&amp; c</fact></facts>
  <narrative>The cart was empty.</narrative>
  <concepts><concept>gotcha: beware</concept><concept>bugfix</concept></concepts>
  <files_read><file>src/cart.py</file></files_read>
  <files_modified><file>src/total.py</file></files_modified>
</observation>"""
SEEN = {
    "type": "bugfix",
    "title": "Totals of empty carts",
    "subtitle": "They divided by zero.",
    "facts": ["`total` returns 0 for an empty cart", "a < b && c"],
    "narrative": "The cart was empty.",
    "concepts": ["gotcha"],
    "files_read": ["src/cart.py"],
    "files_modified": ["src/total.py"],
    "turn": 1,
}


def question(with_summary: bool = False, **trail: Any) -> Question:
    return question_of(turns(events_of(**trail)), CODE, with_summary=with_summary)


STEPS: dict[str, Step] = {
    "question": lambda _, given: question(**given),
    "drafts": lambda _, given: drafts_of(given["of"], turns(events_of(given["trail"])), "anthropic m"),
    "summary": lambda _, given: summary_draft(given["of"], events_of(given["trail"]), "x"),
    "count": lambda _, given: [given["in"].count(text) for text in given["of"]],
}
globals().update(scripts_in(__file__, {"CODE": CODE, "WHOLE": WHOLE}, "holdfast.policy", **STEPS))


@each(
    "text",
    [
        WHOLE,
        f"```xml\n{WHOLE}\n```",
        f"Here is what I saw:\n\n{WHOLE}\n\nAnything else?",
        WHOLE.replace("</observation>", ""),
        WHOLE.replace("<title>", "<title lang='en'>").replace("<narrative>The", "<narrative><![CDATA[The").replace("empty.</n", "empty.]]></n"),
        WHOLE.replace("<observation", "<Observation").replace("</observation", "</Observation"),
    ],
)  # fmt: skip
def test_an_answer_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_reply(text, CODE) == ParsedReply(observations=(SEEN,))


@examples
def test_nothing_is_an_answer(text: str) -> None:
    assert read_reply(text, CODE) == ParsedReply()


def test_a_question_keeps_to_its_size_and_its_cost_is_never_less_than_it_could_be() -> None:
    ran = {"tool": "Bash", "result": "ü" * 9_000, "command": "x" * 9_000}
    question = question_of(turns(events_of(["long", *[ran] * 60])), CODE)
    assert len(question.text) <= MOST_CHARACTERS + 100
    assert '<elided chars="' in question.text
    assert most_spent(question, 50) >= len((question.text + question.instructions).encode()) // 2 + question.most_tokens
