"""A session in short: its summary, and the hand-over after a compaction."""

import pytest

from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.text import tokens_of
from holdfast.policy.activity.recap import ahead_in, handover, summary
from tests.policy.trails import EXPECTED, Trail, session


def test_a_summary_tells_what_was_asked_done_learned_and_left() -> None:
    trail = Trail().ask("add retries to the mailer").use("Grep", pattern="send_mail")
    trail.use("Edit", file_path="/repo/mail.py", old_string="", new_string="").use(
        "Bash", "[main abc1234] mail: retry three times", command="git commit -am 'mail: retry three times'"
    )
    trail.stop(
        "Done. Turns out the SMTP server answers 451 when it is busy.\n\nNext steps:\n- cap the pause\n- tell the docs\n\nShall I go on?"
    )
    trail.ask("yes").use("Read", file_path="/repo/docs/mail.md").use(
        "Bash", "E   AssertionError: 3 != 4", failed=True, command="pytest -q"
    )
    found = summary(trail.told)
    assert found is not None
    assert found.title == "Add retries to the mailer"
    assert found.fields == {
        "request": "Add retries to the mailer",
        "investigated": "Looked for “send_mail”\npytest fails: AssertionError: 3 != 4",
        "learned": "Turns out the SMTP server answers 451 when it is busy.",
        "completed": "Retry three times (abc1234)",
        "next_steps": "cap the pause\ntell the docs",
        "notes": "pytest fails: AssertionError: 3 != 4\nShall I go on?",
        "files_read": ["docs/mail.md"],
        "files_modified": ["mail.py"],
    }
    assert found.extra == {"trail": "summary s1", "session": "s1", "client": "claude-code", "until": "h008"}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_summary_of_a_recorded_session_can_be_kept_as_it_is(name: str) -> None:
    found = summary(session(name))
    assert (found is None) == (name in ("trivial", "our-tools"))
    if found:
        check_fields(KINDS["summary"], found.fields)
        assert found.title


def test_a_session_in_which_nothing_happened_has_no_summary_and_no_hand_over() -> None:
    assert summary([]) is None
    assert handover([], 500) == ""
    assert summary(Trail().ask("thanks").stop("You're welcome!").told) is None


@pytest.mark.parametrize("name", [name for name, wanted in EXPECTED.items() if wanted])
def test_a_hand_over_never_exceeds_its_budget_and_begins_with_the_request(name: str) -> None:
    happenings = session(name)
    whole = handover(happenings, 5_000)
    for budget in range(1, 300, 7):
        text = handover(happenings, budget)
        assert tokens_of(text) <= budget
        assert text == whole or tokens_of(whole) > budget
    assert whole.startswith("Where this session stands:")


def test_a_hand_over_leaves_room_for_every_section() -> None:
    trail = Trail().ask("port the importer")
    for place in range(30):
        trail.ask(f"port part number {place} of the importer to the new interface")
        trail.use("Edit", file_path=f"/repo/src/part{place}.py", old_string="", new_string="")
        trail.stop(f"Ported. Renamed part {place} on the way. Next I'd look at part {place + 1}. Remaining: the rest.")
    text = handover(trail.told, 150)
    assert tokens_of(text) <= 150
    assert [line.partition(":")[0] for line in text.splitlines() if line[0] != "-"] == [
        "Where this session stands",
        "Asked",
        "Next",
        "Done",
        "Files in play",
    ]
    assert "part number 29" in text


def test_next_steps_are_the_list_under_their_heading_or_the_sentences_that_say_so() -> None:
    assert ahead_in("Fine.\n\n## Next steps\n\n1. Write docs\n2. Ship\n\nBye.") == ["Write docs", "Ship"]
    assert ahead_in("**Remaining:**\n- [ ] docs\nBye") == ["docs"]
    assert ahead_in("It works. The docs still need a page. Should I write it?") == ["The docs still need a page."]
    assert ahead_in("It works.") == []
