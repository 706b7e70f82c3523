"""A session in short: its summary, and the hand-over after a compaction."""

from bench.labelled import READER
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.text import tokens_of
from holdfast.policy.activity.session_summary import ahead_in, handover, summary
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.headlines import conditions
from tests.policy.trails import EXPECTED, Trail, session
from tests.rows import each, examples, some


def test_a_summary_tells_what_was_asked_done_learned_and_left() -> None:
    trail = Trail().ask("add retries to the mailer").use("Grep", pattern="send_mail")
    trail.use("Edit", file_path="/repo/mail.py", old_string="", new_string="").use(
        "Bash", "[main abc1234] mail: retry three times", command="git commit -am 'mail: retry three times'"
    )
    trail.stop(
        "Done. Lesson: never treat a 451 of the SMTP server as final, it is only busy.\n\nNext steps:\n- cap the pause\n- tell the docs\n\nShall I go on?"
    )
    trail.ask("yes").use("Read", file_path="/repo/docs/mail.md").use(
        "Bash", "E   AssertionError: 3 != 4", failed=True, command="pytest -q"
    )
    found = some(summary(trail.events, READER))
    assert found.title == "Add retries to the mailer"
    assert found.fields == {
        "request": "Add retries to the mailer",
        "investigated": "Looked for “send_mail”\npytest fails: AssertionError: 3 != 4",
        "learned": "Lesson: never treat a 451 of the SMTP server as final, it is only busy.",
        "completed": "Retry three times (abc1234)",
        "next_steps": "cap the pause\ntell the docs",
        "notes": "pytest fails: AssertionError: 3 != 4\nShall I go on?",
        "files_read": ["docs/mail.md"],
        "files_modified": ["mail.py"],
    }
    assert found.extra == {
        "trail": "summary s1",
        "session": "s1",
        "client": "claude-code",
        "until": "h008",
        "at": "2026-03-02T10:00:08.000Z",
        "interrupted": True,
    }


def test_what_is_under_way_is_not_called_done() -> None:
    trail = (
        Trail().ask("Rename the oven to stove.").use("Edit", file_path="/repo/oven.py", old_string="", new_string="")
    )
    text = handover(trail.events, 500, READER)
    assert ("Asked: Rename the oven to stove" in text, "Done" in text, "oven.py" in text) == (True, False, True)
    quoted = Trail().ask('"Rename the oven to stove."\n').use("Bash", command="ls")
    assert "Asked: Rename the oven to stove" in handover(quoted.events, 500, READER)
    assert "Done: Rename the oven to stove" in handover(trail.stop("The oven is called stove now.").events, 500, READER)


@each("name", EXPECTED)
def test_the_summary_of_a_recorded_session_can_be_kept_as_it_is(name: str) -> None:
    found = summary(session(name), READER)
    assert (found is None) == (name in ("trivial", "our-tools"))
    if found:
        check_fields(KINDS["summary"], found.fields)
        assert found.title


def test_a_session_in_which_nothing_happened_has_no_summary_and_no_hand_over() -> None:
    assert summary([]) is None
    assert handover([], 500) == ""
    assert summary(Trail().ask("thanks").stop("You're welcome!").events) is None


@each("name", [name for name, wanted in EXPECTED.items() if wanted])
def test_a_hand_over_never_exceeds_its_budget_and_begins_with_the_request(name: str) -> None:
    hook_events = session(name)
    whole = handover(hook_events, 5_000)
    for budget in (1, 12, 40, 80, 120, 200, 299):
        text = handover(hook_events, budget)
        assert tokens_of(text) <= budget
        assert text == whole or tokens_of(whole) > budget
    assert whole.startswith("Where this session stands:")


def test_a_hand_over_leaves_room_for_every_section() -> None:
    trail = Trail().ask("port the importer")
    for place in range(30):
        trail.ask(f"port part number {place} of the importer to the new interface")
        trail.use("Edit", file_path=f"/repo/src/part{place}.py", old_string="", new_string="")
        trail.stop(f"Ported. Renamed part {place} on the way. Next I'd look at part {place + 1}. Remaining: the rest.")
    text = handover(trail.events, 150, READER)
    assert tokens_of(text) <= 150
    assert [line.partition(":")[0] for line in text.splitlines() if line[0] != "-"] == [
        "Where this session stands",
        "Asked",
        "State",
        "Next",
        "Done",
        "Files in play",
    ]
    assert "part number 29" in text


def test_next_steps_are_the_list_under_their_heading_or_the_sentences_that_say_so() -> None:
    assert ahead_in("Fine.\n\n## Next steps\n\n1. Write docs\n2. Ship\n\nBye.", READER) == ["Write docs", "Ship"]
    assert ahead_in("**Remaining:**\n- [ ] docs\nBye", READER) == ["docs"]
    assert ahead_in("It works. The docs still need a page. Should I write it?", READER) == [
        "The docs still need a page."
    ]
    assert ahead_in("It works.", READER) == []


def test_a_handover_keeps_every_constraint_of_a_long_session() -> None:
    trail = Trail().ask(
        "Split the user module. Every commit must pass CI. No circular imports. Use tabs in the SQL files."
    )
    for place in range(40):
        trail.ask(f"now part {place}").use("Edit", file_path=f"/repo/part{place}.py", old_string="", new_string="")
        trail.stop(f"Part {place} is split. Remaining: part {place + 1}.")
    trail.ask("fine, but the session table stays where it is and never delete a public class without asking")
    text = handover(trail.events, 1_200)
    for constraint in ("must pass CI", "No circular imports", "session table stays", "never delete a public class"):
        assert constraint in text
    assert tokens_of(text) <= 1_200


@examples
def test_what_a_user_says_besides_the_request_is_kept_word_for_word(prompt: str, said: list[str]) -> None:
    assert conditions([(own_part(prompt).text,) * 2]) == said


def test_the_open_steps_of_a_plan_come_next_and_an_unanswered_turn_is_interrupted() -> None:
    todos = [
        {"content": "Replace buttons", "status": "completed"},
        {"content": "Remove settings.css", "status": "pending"},
    ]
    trail = Trail().ask("Move the settings page").use("TodoWrite", todos=todos)
    found = some(summary(trail.use("Edit", file_path="/repo/a.tsx", old_string="", new_string="").events))
    assert found.fields["next_steps"] == "Remove settings.css"
    assert found.extra["interrupted"] is True


def test_a_request_that_nobody_answered_has_a_summary() -> None:
    found = some(summary(Trail().ask("Rename OrderService to CheckoutService").events))
    assert found.title == "Rename OrderService to CheckoutService"
