"""A day of work in a client: what reached its model in two sessions, and what is known afterwards."""

from tests.e2e.day import AFTERNOON, COMMAND, DECIDED, LEARNED, MORNING, SIGN, Day, after_call
from tests.e2e.seat import DECISION, THREAD, WARNING
from tests.rows import missing


def test_the_brief_reaches_the_model_with_the_first_request_once_and_leaves_a_receipt(day: Day) -> None:
    requests = day.morning.told(MORNING)
    assert missing(requests[0].text, WARNING, DECISION, THREAD) == []
    assert requests[-1].text.count(THREAD) == 1
    assert {"brief", "action site"} <= {receipt["why"] for receipt in day.seat.told("stats", "receipts")}


def test_the_model_recalls_and_reads_what_is_known_and_is_told_where_it_keeps_something(day: Day) -> None:
    first, after = day.morning.told(MORNING)[0].text, after_call(day.morning, MORNING, "recall")
    assert after.count(DECISION) > first.count(DECISION)
    (kept,) = [record["id"] for record in day.seat.records("learning") if record["body"] == LEARNED]
    assert f"Saved as {kept}" in after_call(day.morning, MORNING, "remember")


def test_edits_failed_commands_and_the_last_message_are_captured_as_one_session_under_its_request(day: Day) -> None:
    assert day.seat.sessions() == [f"{AFTERNOON}, please.", f"{MORNING}, please."]
    found = [(one["title"], one["fields"].get("files_modified")) for one in day.seat.records("observation")]
    assert ([files for _, files in found], MORNING in found[0][0]) == ([["oven.py"]], True), found
    summaries = [(one["title"], str(one["fields"].get("notes"))) for one in day.seat.records("summary")]
    assert any(MORNING in title for title, _ in summaries), summaries
    assert any("unittest" in note and "fails" in note for _, note in summaries), summaries
    assert any(DECIDED in one["body"] for one in day.seat.records("decision"))


def test_the_second_session_is_told_what_the_first_kept_and_what_it_only_said(day: Day) -> None:
    assert missing(day.afternoon.told(AFTERNOON)[0].text, LEARNED, DECIDED) == []


def test_the_warning_reaches_the_model_at_the_command_and_not_before_and_the_command_runs(day: Day) -> None:
    assert SIGN not in after_call(day.morning, MORNING, "remember")
    after = after_call(day.morning, MORNING, day.client.shell(COMMAND).tool)
    assert WARNING in after.partition(SIGN)[2]
    assert "swept the kiln" in after
    assert not (day.seat.repository / "build").exists()
