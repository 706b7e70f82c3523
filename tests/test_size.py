"""The product does not grow: a capability comes with what it makes superfluous."""

from scripts.size import FILES, LINES, TEST_LINES, totals


def test_no_more_lines_and_files_than_the_ceilings_allow() -> None:
    lines, files, tests = totals()
    assert (lines <= LINES, files <= FILES, tests <= TEST_LINES) == (True, True, True), (lines, files, tests)
