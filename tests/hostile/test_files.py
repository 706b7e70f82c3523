"""Files of others are distrusted: only regular ones are read, and never more of them than a bound."""

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.hosts.conftest import environment_of
from tests.hosts.running import hooked, preloaded
from tests.replicas.seats import git
from tests.rows import WHOLE

HUGE = 200_000_000 if WHOLE else 120_000_000  # bytes
LITTLE = 400_000  # kilobytes of addresses: about a hundred more than the command needs
AT_ONCE = 120  # seconds, on a machine that does other things as well

# Where a pipe without a writer lies ({work} is a checkout, {home} the user's folder), and what must not wait for it.
PIPES = json.loads(Path(__file__).with_name("pipes.json").read_text(encoding="utf-8"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for folder in ("p/memory", "notes", ".gitmem"):
        (work / folder).mkdir(parents=True)
    (work / "p/memory/topic.md").write_text("# Topic\n\nThe cache is warmed at night.\n")
    git(work, "init", "-q")
    return work


def environment(work: Path) -> dict[str, str]:
    """Return the variables of a user whose project is the checkout itself."""
    return {name: value for name, value in environment_of(work.parent).items() if name != "HOLDFAST_PROJECT"}


def holdfast(work: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that must end at once: what waits for a pipe waits for ever."""
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(AT_ONCE)
    try:
        return preloaded(command, work, environment(work))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _late(*_: object) -> None:
    raise TimeoutError


@pytest.mark.parametrize("what", PIPES)
def test_a_pipe_is_never_waited_for(work: Path, what: str) -> None:
    place, command = PIPES[what]
    if "{work}/cited.py" in place and not command.startswith("remember"):
        (work / "cited.py").write_text("LIMIT = 3\n")
        assert holdfast(work, "remember", "--anchor", "cited.py", "The retry limit is three.").returncode == 0
        (work / "cited.py").unlink()
    pipe = Path(place.format(work=work, home=work.parent))
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    done = holdfast(work, *shlex.split(command))
    assert done.returncode in (0, 3, 4, 5, 64), done.stderr
    assert "Usage" not in done.stderr


@pytest.mark.parametrize("name", ["config", "HEAD", "commondir"])
def test_no_hook_waits_for_a_pipe_among_gits_files(work: Path, name: str) -> None:
    assert holdfast(work, "remember", "The retry limit is three.").returncode == 0
    assert holdfast(work, "work").returncode == 0
    assert list((work.parent / "store" / "prepared").glob("*.json"))
    (work / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(work / ".git" / name)
    for event in ("SessionStart", "PreToolUse", "Stop"):
        push = {"command": "git push"}
        hooked(work.parent / "store", work, event, environment=environment(work), tool_name="Bash", tool_input=push)


@pytest.mark.parametrize(("system", "table"), [("claude-mem", "observations"), ("memory-mcp", "memories")], ids=str)
def test_one_huge_text_is_left_out_of_an_import_in_little_memory(work: Path, system: str, table: str) -> None:
    with closing(sqlite3.connect(work / "huge.db")) as db:
        db.execute(f"create table {table} (id integer primary key, title text, text text, content text)")
        db.execute(f"insert into {table} values (1, 'one', 'The cache is warmed at night.', 'The cache is warm.')")
        db.execute(f"insert into {table} values (2, 'two', 'x', cast(zeroblob({HUGE}) as text))")
        db.execute(f"insert into {table} values (3, 'three', 'The ledger is closed in May.', 'The ledger is closed.')")
        db.commit()
    command = [sys.executable, "-m", "holdfast", "store", "import", "--from", system, "huge.db", "--dry-run", "--json"]
    little = ["sh", "-c", f'ulimit -v {LITTLE}; exec "$@"', "sh", *command]
    done = subprocess.run(little, cwd=work, env=environment(work), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["taken"]) == 2, report
    assert "too large" in done.stdout
