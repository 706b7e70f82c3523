"""The product does not grow: a capability comes with what it makes superfluous."""

import subprocess
import sys
from pathlib import Path


def test_no_more_lines_and_files_than_the_ceilings_allow() -> None:
    script = Path(__file__).parent.parent / "scripts" / "size.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:]
