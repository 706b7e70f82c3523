"""A session in short: its summary, and the hand-over after a compaction."""

from typing import Any

from bench.labelled import READER
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.text import tokens_of
from holdfast.policy.activity.session_summary import handover, summary
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.headlines import conditions
from tests.policy.scripts import scripts_in
from tests.policy.trails import EXPECTED, events_of, session
from tests.rows import each, examples, missing, sampled
from tests.scripts import Step

STEPS: dict[str, Step] = {
    "summary": lambda _, given: summary(events_of(**given), READER),
    "handover": lambda _, given: handover(events_of(**given), 500, READER),
}
scripts_in(globals(), {"READER": READER}, "holdfast.policy", **STEPS)


@each("name", sampled(EXPECTED, 7))
def test_the_summary_of_a_recorded_session_can_be_kept_as_it_is(name: str) -> None:
    found = summary(session(name), READER)
    assert (found is None) == (name in ("trivial", "our-tools"))
    if found:
        check_fields(KINDS["summary"], found.fields)
        assert found.title


@each("name", sampled([name for name, wanted in EXPECTED.items() if wanted], 4))
def test_a_hand_over_never_exceeds_its_budget_and_begins_with_the_request(name: str) -> None:
    hook_events = session(name)
    whole = handover(hook_events, 5_000)
    for budget in (1, 12, 40, 80, 120, 200, 299):
        text = handover(hook_events, budget)
        assert tokens_of(text) <= budget
        assert text == whole or tokens_of(whole) > budget
    assert whole.startswith("Where this session stands:")


def test_a_handover_keeps_every_constraint_of_a_long_session_and_leaves_room_for_every_section() -> None:
    asked = "Split the user module. Every commit must pass CI. No circular imports. Use tabs in SQL."
    trail: list[Any] = [{"event": "UserPromptSubmit", "text": asked}]
    for place in range(30):
        edit = {"tool": "Edit", "file_path": f"/repo/src/part{place}.py", "old_string": "", "new_string": ""}
        answer = f"Split. Renamed part {place} on the way. Next I'd look at part {place + 1}. Remaining: the rest."
        trail += [f"now part number {place}", edit, answer]
    text = handover(events_of(trail), 150, READER)
    assert tokens_of(text) <= 150
    sections = [line.partition(":")[0] for line in text.splitlines() if line[0] != "-"]
    assert sections == ["Where this session stands", "Asked", "User said", "State", "Next", "Done", "Files in play"]
    assert "Part number 29" in text
    trail.append("fine, but the session table stays where it is and never delete a public class without asking")
    text = handover(events_of(trail), 1_200)
    said = ("must pass CI", "No circular imports", "session table stays", "never delete a public class")
    assert (missing(text, *said), tokens_of(text) <= 1_200) == ([], True)


@examples
def test_what_a_user_says_besides_the_request_is_kept_word_for_word(prompt: str, said: list[str]) -> None:
    assert conditions([(own_part(prompt).text,) * 2]) == said
