"""A second session begins with what the first one learned."""

from tests.e2e.day import AFTERNOON, DECIDED, LEARNED, Day


def test_the_second_session_is_told_what_the_first_kept(day: Day) -> None:
    assert LEARNED in day.afternoon.told(AFTERNOON)[0].text


def test_the_second_session_is_told_what_the_first_only_said(day: Day) -> None:
    assert DECIDED in day.afternoon.told(AFTERNOON)[0].text
