"""Ask git something, for at most so long. It never waits for somebody to type, and looks only at the repository of the folder."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIT_SECONDS = 5.0
QUICK_SECONDS = 1.0  # for what is asked with every answer
LATE = 124  # the exit code of a git that took too long
# A hook of git tells its children where its own repository is; ours is the one of the folder.
_OTHERS = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX".split()
)

_OBJECT = re.compile(r"[0-9a-fA-F]{4,64}")


def is_object(name: str) -> bool:
    """Return whether a name can be that of an object. Names come with records from anywhere: one that is an option would be obeyed."""
    return _OBJECT.fullmatch(name) is not None


def run_git(
    folder: Path, *question: str, given: bytes = b"", seconds: float = GIT_SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder and give what it said; raises OSError if there is no git."""
    command = _command(folder, question)
    try:
        return subprocess.run(  # noqa: S603
            command, input=given, capture_output=True, env=_surroundings(), timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, LATE, b"", b"git took too long")


def git(folder: Path, *question: str, seconds: float = GIT_SECONDS, given: bytes = b"") -> bytes | None:
    """Return what git answers; None where it does not."""
    try:
        answer = run_git(folder, *question, given=given, seconds=seconds)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 else None


def git_text(folder: Path, *question: str, seconds: float = GIT_SECONDS, given: str = "") -> str | None:
    """Return what git answers, as text; None where it does not."""
    said = git(folder, *question, seconds=seconds, given=given.encode())
    return None if said is None else said.decode(errors="replace")


def objects(said: bytes) -> dict[str, bytes]:
    """Return what each object holds by what `git cat-file --batch` said; those that are not there are left out."""
    found, place = dict[str, bytes](), 0
    while (end := said.find(b"\n", place)) >= 0:
        head = said[place:end].decode().split()
        if len(head) != 3:  # missing
            place = end + 1
            continue
        size = int(head[2])
        found[head[0]] = said[end + 1 : end + 1 + size]
        place = end + size + 2
    return found


@contextmanager
def git_told(folder: Path, *question: str, seconds: float) -> Iterator[Iterator[bytes]]:
    """Return the lines of an answer as they come: who has heard enough leaves, and git stops. It stops by itself when it is late."""
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
    # A folder that looks like the inside of a repository can be committed to another: git must not take its settings.
    safe = ("-c", "core.quotePath=false", "-c", "safe.bareRepository=explicit")
    return ["git", "-C", str(folder), *safe, *question]


def _surroundings() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def came_with_repository(store: Path) -> bool:
    """Return whether the repository around a store brings one: whoever made that may have made the store too.

    Anywhere in it, and however it is spelt: links lead to other folders, and some systems take a for A.
    """
    return git(store, "ls-files", "--error-unmatch", "--", ":(top,icase,glob)**/holdfast.db") is not None
