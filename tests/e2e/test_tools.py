"""The model calls our tools and reads their answers."""

from tests.e2e.day import LEARNED, MORNING, Day, after_call
from tests.e2e.seat import DECISION


def test_the_model_recalls_and_reads_what_is_known(day: Day) -> None:
    first, after = day.morning.told(MORNING)[0].text, after_call(day.morning, MORNING, "recall")
    assert after.count(DECISION) > first.count(DECISION)


def test_the_model_keeps_something_and_is_told_where(day: Day) -> None:
    kept = [record["id"] for record in day.seat.records("learning") if record["body"] == LEARNED]
    assert len(kept) == 1
    assert f"Saved as {kept[0]}" in after_call(day.morning, MORNING, "remember")
