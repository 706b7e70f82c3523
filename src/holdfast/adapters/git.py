"""Run git with a timeout. It never prompts, only uses the repository of the folder, and runs no program that its settings name."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIT_SECONDS = 5.0
QUICK_SECONDS = 1.0  # for questions on the way to every result
LATE = 124  # the exit code of a git that took too long
# Git hooks set these to their own repository; ours is the one of the folder.
_REPOSITORY_VARIABLES = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX".split()
)

# A folder that looks like the inside of a repository can be committed to another: git must not take its settings. The rest
# keeps git from running programs that the settings of an unpacked repository name.
_SAFE = (
    "core.quotePath=false",
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "protocol.ext.allow=never",
)
_REMOTE_COMMANDS = frozenset({"fetch", "push"})
# Objects missing from a partial clone are not fetched: reading needs no network, and the remote may name a program.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}

_OBJECT = re.compile(r"[0-9a-fA-F]{4,64}")


def is_object(name: str) -> bool:
    """True if a name can be that of a git object. Names come with imported records: a leading dash would make one an option."""
    return _OBJECT.fullmatch(name) is not None


def run_git(
    folder: Path, *arguments: str, stdin: bytes = b"", seconds: float = GIT_SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder and return the finished process; raises OSError if git is not installed."""
    command = _command(folder, arguments)
    try:
        return subprocess.run(  # noqa: S603
            command, input=stdin, capture_output=True, env=_environment(arguments[0]), timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, LATE, b"", b"git took too long")


def git(folder: Path, *arguments: str, seconds: float = GIT_SECONDS, stdin: bytes = b"") -> bytes | None:
    """Return git's output; None if it fails."""
    try:
        answer = run_git(folder, *arguments, stdin=stdin, seconds=seconds)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 else None


def git_text(folder: Path, *arguments: str, seconds: float = GIT_SECONDS, stdin: str = "") -> str | None:
    """Return git's output as text; None if it fails."""
    output = git(folder, *arguments, seconds=seconds, stdin=stdin.encode())
    return None if output is None else output.decode(errors="replace")


def objects(batch: bytes) -> dict[str, bytes]:
    """Parse the output of `git cat-file --batch` into contents by object name; missing ones are left out."""
    contents, place = dict[str, bytes](), 0
    while (end := batch.find(b"\n", place)) >= 0:
        head = batch[place:end].decode().split()
        if len(head) != 3:  # missing
            place = end + 1
            continue
        size = int(head[2])
        contents[head[0]] = batch[end + 1 : end + 1 + size]
        place = end + size + 2
    return contents


@contextmanager
def git_lines(folder: Path, *arguments: str, seconds: float) -> Iterator[Iterator[bytes]]:
    """Yield git's output line by line; leaving the context stops git, and so does the timeout."""
    with subprocess.Popen(  # noqa: S603
        _command(folder, arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment(arguments[0])
    ) as process:
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            yield iter(process.stdout)
        finally:
            late.cancel()
            process.kill()


def _command(folder: Path, arguments: tuple[str, ...]) -> list[str]:
    return ["git", "-C", str(folder), *(word for setting in _SAFE for word in ("-c", setting)), *arguments]


def _environment(command: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    limits = {} if command in _REMOTE_COMMANDS else _OFFLINE
    return {**own, **limits, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
