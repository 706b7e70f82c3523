"""The user's word is kept at once; an agent's conclusion needs something that confirms it, and dies when the user objects."""

from pathlib import Path

from bench.capture import judge_dialogues
from bench.labelled import SPLITS
from holdfast.engine.views import records
from holdfast.model.query import Query
from holdfast.verbs.capture.derive import derive
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.search.recall import recall
from tests.conftest import keep
from tests.policy.trails import Trail
from tests.rows import each

GUESS = "The root cause is stdout buffering in the worker process."


def lessons(memory: Memory, state: str = "active") -> list[str]:
    found = [entry.record for entry in records.of_session(memory.store, "s1")]
    return [record.body for record in found if record.state == state and record.kind not in ("observation", "summary")]


def talk(memory: Memory, *lines: str) -> Trail:
    """Prompts and answers in turn, each derived at once, as the worker does."""
    trail = Trail()
    for place, line in enumerate(lines):
        (trail.stop if place % 2 else trail.ask)(line)
        derive(memory, trail.events)
    return trail


def test_a_guess_is_pending_until_the_user_continues_from_it(memory: Memory) -> None:
    talk(memory, "why are the logs out of order?", GUESS)
    assert (lessons(memory), lessons(memory, "pending")) == ([], [GUESS])
    talk(memory, "why are the logs out of order?", GUESS, "exactly, that was it")
    assert lessons(memory) == [GUESS]


def test_a_refuted_guess_is_retired_with_the_objection_and_the_correction_supersedes_it(memory: Memory) -> None:
    talk(memory, "why are the logs out of order?", GUESS, "that's wrong, the log writer isn't thread safe")
    assert lessons(memory) == ["the log writer isn't thread safe"]
    (correction,) = (one.record for one in records.of_session(memory.store, "s1") if one.record.state == "active")
    assert (correction.source, correction.by.kind, correction.kind) == ("correction", "user", "fact")
    refuted = find(memory, correction.links[0].target).record
    assert (refuted.body, refuted.state) == (GUESS, "retired")
    assert refuted.reason == "the user objected: that's wrong, the log writer isn't thread safe"


def test_a_guess_that_a_check_proved_is_kept_at_once_and_still_dies_when_the_user_objects(memory: Memory) -> None:
    trail = Trail().ask("test_log fails")
    trail.use("Bash", "E  AssertionError: 1 != 2\n1 failed", failed=True, command="pytest -q")
    trail.use("Edit", file_path="/repo/log.py", old_string="a", new_string="b")
    trail.use("Bash", "12 passed", command="pytest -q").stop(GUESS)
    derive(memory, trail.events)
    assert lessons(memory) == [GUESS]
    derive(memory, trail.ask("no, that was luck").events)
    assert lessons(memory) == []


def test_an_agent_that_takes_its_guess_back_retires_it(memory: Memory) -> None:
    talk(memory, "why?", GUESS, "can you measure that?", "I was wrong: the buffer is flushed after each line.")
    assert (lessons(memory), lessons(memory, "pending")) == ([], [])


def test_a_finding_that_the_user_refutes_is_no_observation(memory: Memory) -> None:
    trail = Trail().ask("Why is the export slow?").use("Read", file_path="/repo/export.py")
    trail.use("Read", file_path="/repo/db.py").stop("The export is slow since it opens one connection for each row.")
    (found,) = derive(memory, trail.events).observations
    assert found.title == "The export is slow since it opens one connection for each row"
    derive(memory, trail.ask("no, it opens one connection in total").events)
    assert find(memory, found.id).record.state == "retired"


def test_a_correction_supersedes_what_recall_returned(memory: Memory) -> None:
    old = keep(memory, "The rate limit of the partner API is 60 requests per minute.")
    recall(memory, Query(text="rate limit partner API"))
    talk(memory, "what is the rate limit?", "It is 60.", "that's outdated, it's 250 now, please correct your memory")
    hits = [hit.record for hit in recall(memory, Query(text="rate limit partner API")).hits]
    assert old.id not in [record.id for record in hits]
    assert "250" in hits[0].body
    assert hits[0].links[0].target == old.id


def test_a_rule_that_contradicts_an_old_memory_supersedes_it_only_if_it_corrects(memory: Memory) -> None:
    keep(memory, "CI runs on Node 18.")
    talk(memory, "no, CI runs on Node 22 now")
    assert [hit.record.body for hit in recall(memory, Query(text="which Node does CI run on")).hits] == [
        "CI runs on Node 22 now"
    ]


def test_a_correction_leaves_other_memories_alone(memory: Memory) -> None:
    other = keep(memory, "Unit tests run in parallel on CI.")
    talk(memory, "no, tests run on Node 22 here")
    assert find(memory, other.id).record.state == "active"
    assert [link for one in records.of_session(memory.store, "s1") for link in one.record.links] == []


def test_an_echo_of_a_memory_is_not_captured_again(memory: Memory) -> None:
    known = keep(memory, "The exporter locks the orders table while it runs, so run it at night.", kind="learning")
    recall(memory, Query(text="exporter orders table"))
    talk(
        memory,
        "can I run the exporter?",
        "It turns out the exporter locks the orders table while it runs, so at night.",
        "ok",
    )
    assert lessons(memory) == [known.body]


def test_a_rule_said_again_in_other_words_is_one_memory_with_a_receipt(memory: Memory) -> None:
    trail = talk(memory, "we never deploy on fridays", "Ok.", "don't ever deploy on fridays, please")
    derive(memory, trail.events)
    assert lessons(memory) == ["we never deploy on fridays"]
    receipts = [event for _, event in memory.store.journal() if event.verb == "used"]
    assert [event.data["note"] for event in receipts] == ["don't ever deploy on fridays, please"]


def test_what_instructions_of_the_project_say_is_not_captured(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\n- Never mock the database in tests, use the test container.\n")
    talk(
        memory,
        "we never mock the database in tests, use the test container",
        "[learned] Never mock the database in tests.",
    )
    assert lessons(memory) == []


def test_what_the_agent_marked_is_kept_and_retired_when_the_user_objects(memory: Memory) -> None:
    talk(memory, "where do sessions go?", "[decision] Sessions go to Redis.")
    assert lessons(memory) == ["Sessions go to Redis."]
    talk(memory, "where do sessions go?", "[decision] Sessions go to Redis.", "no! sessions stay in postgres")
    assert lessons(memory) == ["sessions stay in postgres"]


def test_a_prompt_is_read_before_its_turn_is_over(memory: Memory) -> None:
    talk(memory, "we never deploy on fridays")
    assert lessons(memory) == ["we never deploy on fridays"]


def test_derived_again_nothing_changes(memory: Memory) -> None:
    trail = talk(memory, "why?", GUESS, "nope, two tests share the same port", "Understood.", "thanks")
    before = list(memory.store.journal())
    derive(memory, trail.events)
    assert list(memory.store.journal()) == before


def test_a_user_can_state_what_an_agent_was_refuted_on(memory: Memory) -> None:
    talk(memory, "why?", GUESS, "no")
    talk(memory, "why?", GUESS, "no", "Understood.", "remember that stdout buffering in the worker hides the last line")
    assert lessons(memory) == ["stdout buffering in the worker hides the last line"]


@each("split", SPLITS)
def test_no_refuted_guess_of_the_labelled_dialogues_survives(split: str) -> None:
    judged = judge_dialogues(split)
    assert judged.false <= 2, judged.wrong  # of 12
    assert judged.recall >= 0.75, judged.wrong
