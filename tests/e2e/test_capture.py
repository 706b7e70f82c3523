"""What was asked, run, changed and said in a session is there afterwards, without anybody having kept it."""

from tests.e2e.day import AFTERNOON, DECIDED, MORNING, Day


def test_each_run_is_one_session_under_its_request(day: Day) -> None:
    sessions = day.seat.told("session", "list")
    assert [one["title"].strip('"') for one in sessions] == [f"{AFTERNOON}, please.", f"{MORNING}, please."]


def test_work_becomes_an_observation_with_the_file_it_changed(day: Day) -> None:
    found = [(one["title"], one["fields"].get("files_modified")) for one in day.seat.records("observation")]
    assert [files for _, files in found] == [["oven.py"]], found
    assert MORNING in found[0][0]


def test_a_session_is_summed_up(day: Day) -> None:
    assert any(MORNING in one["title"] for one in day.seat.records("summary"))


def test_a_command_that_failed_is_known_as_broken(day: Day) -> None:
    notes = [str(one["fields"].get("notes")) for one in day.seat.records("summary")]
    assert any("unittest" in note and "fails" in note for note in notes), notes


def test_what_the_model_said_at_the_end_was_heard(day: Day) -> None:
    assert any(DECIDED in one["body"] for one in day.seat.records("decision"))
