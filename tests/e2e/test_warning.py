"""A command that a scar names is met by its warning, and the model reads it."""

from tests.e2e.day import COMMAND, MORNING, Day, after_call
from tests.e2e.seat import WARNING

SIGN = "Holdfast: high scar"


def test_the_warning_reaches_the_model_at_the_command_and_not_before(day: Day) -> None:
    tool = day.client.shell(COMMAND).tool
    assert SIGN not in after_call(day.morning, MORNING, "remember")
    after = after_call(day.morning, MORNING, tool)
    assert SIGN in after
    assert WARNING in after[after.index(SIGN) :]


def test_the_command_itself_is_not_held_up(day: Day) -> None:
    assert "swept the kiln" in after_call(day.morning, MORNING, day.client.shell(COMMAND).tool)
    assert not (day.seat.repository / "build").exists()


def test_the_warning_leaves_a_receipt(day: Day) -> None:
    assert "action site" in {receipt["why"] for receipt in day.seat.told("stats", "receipts")}
