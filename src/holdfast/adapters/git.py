"""Ask git something, for at most so long."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIT_SECONDS = 5.0
QUICK_SECONDS = 1.0  # for what is asked with every answer
# Set by git for its own hooks: they would point every question at that repository.
_LEADING_ASTRAY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")


def git(folder: Path, *question: str, seconds: float = GIT_SECONDS, given: bytes = b"") -> bytes | None:
    """Give what git answers; None where it does not."""
    try:
        answer = subprocess.run(  # noqa: S603
            _command(folder, question),
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=_surroundings(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None


@contextmanager
def git_told(folder: Path, *question: str, seconds: float) -> Iterator[Iterator[bytes]]:
    """Give the lines of an answer as they come: who has heard enough leaves, and git stops. It stops by itself when it is late."""
    with subprocess.Popen(  # noqa: S603
        _command(folder, question), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_surroundings()
    ) as process:
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            yield iter(process.stdout)
        finally:
            late.cancel()
            process.kill()


def _command(folder: Path, question: tuple[str, ...]) -> list[str]:
    return ["git", "-C", str(folder), "-c", "core.quotePath=false", *question]


def _surroundings() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _LEADING_ASTRAY}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def git_text(folder: Path, *question: str, seconds: float = GIT_SECONDS, given: str = "") -> str | None:
    """Give what git answers, as text; None where it does not."""
    said = git(folder, *question, seconds=seconds, given=given.encode())
    return None if said is None else said.decode(errors="replace")
