"""What the project knows stands in the very first request of a session."""

from tests.e2e.day import MORNING, Day
from tests.e2e.seat import DECISION, THREAD, WARNING


def test_the_brief_reaches_the_model_with_the_first_request(day: Day) -> None:
    first = day.morning.told(MORNING)[0].text
    assert [known for known in (WARNING, DECISION, THREAD) if known not in first] == []


def test_the_brief_is_told_once_and_leaves_a_receipt(day: Day) -> None:
    assert day.morning.told(MORNING)[-1].text.count(THREAD) == 1
    assert "brief" in {receipt["why"] for receipt in day.seat.told("stats", "receipts")}
