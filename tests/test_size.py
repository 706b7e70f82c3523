"""The product does not grow: a capability comes with what it makes superfluous."""

import runpy
from pathlib import Path


def test_no_more_lines_and_files_than_the_ceilings_allow() -> None:
    script = runpy.run_path(str(Path(__file__).parent.parent / "scripts" / "size.py"))
    measured = dict(zip(("LINES", "FILES", "TEST_LINES"), script["totals"](), strict=True))
    assert {name: (count, script[name]) for name, count in measured.items() if count > script[name]} == {}
