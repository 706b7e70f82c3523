"""Files of others are distrusted: only regular ones are read, never more of them than a bound, and what was checked is what is read."""

import json
import os
import shlex
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.hosts.web.pages.code import source_of
from holdfast.hosts.web.pages.record import cited_by
from holdfast.model import files
from holdfast.model.files import read_inside, read_regular, write_whole
from holdfast.model.record import Draft
from holdfast.policy.admission.sharing import OWN
from holdfast.verbs.exchange.bootstrap import bootstrap
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import hydrate
from tests.conftest import Time, keep, make_memory, new_file, new_folder, ran
from tests.hosts.conftest import environment_of
from tests.hosts.running import hooked, preloaded
from tests.replicas.seats import commit, git
from tests.rows import WHOLE, refused

HUGE = 200_000_000 if WHOLE else 120_000_000  # bytes
LITTLE = 400_000  # kilobytes of addresses: about a hundred more than the command needs
AT_ONCE = 120  # seconds, on a machine that does other things as well

# Where a pipe without a writer lies ({work} is a checkout, {home} the user's folder), and what must not wait for it.
PIPES = json.loads(Path(__file__).with_name("pipes.json").read_text(encoding="utf-8"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    new_file(tmp_path / "work/p/memory/topic.md", "# Topic\n\nThe cache is warmed at night.\n")
    for folder in ("notes", ".gitmem"):
        new_folder(tmp_path / "work" / folder)
    git(tmp_path / "work", "init", "-q")
    return tmp_path / "work"


def environment(work: Path) -> dict[str, str]:
    """Return the variables of a user whose project is the checkout itself."""
    return {name: value for name, value in environment_of(work.parent).items() if name != "HOLDFAST_PROJECT"}


def holdfast(work: Path, *command: str) -> CompletedProcess[str]:
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
    with closing(sqlite3.connect(work / "huge.db")) as db, db:
        db.execute(f"create table {table} (id integer primary key, title text, text text, content text)")
        for number, text in ((1, "The cache is warmed at night."), (3, "The ledger is closed in May.")):
            db.execute(f"insert into {table} values (?, ?, ?, ?)", (number, f"the {number}", text, text))
        db.execute(f"insert into {table} values (2, 'two', 'x', cast(zeroblob({HUGE}) as text))")
    command = [sys.executable, "-m", "holdfast", "store", "import", "--from", system, "huge.db", "--dry-run", "--json"]
    little = ["sh", "-c", f'ulimit -v {LITTLE}; exec "$@"', "sh", *command]
    done = ran(little, work, env=environment(work))
    assert done.returncode == 0, done.stderr
    assert (len(json.loads(done.stdout)["taken"]), "too large" in done.stdout) == (2, True), done.stdout


SECRET = "qxz7431 is written outside of the checkout"
# What reads files of a checkout.
READERS: dict[str, Callable[[Memory, str], object]] = {
    "anchors": lambda memory, path: GitCheckout(memory.checkout.top())._read(path, ""),
    "hydrate": lambda memory, path: hydrate(memory, keep(memory, f"It is in {path}.", anchors=(path,)).id),
    "viewer": source_of,
    "viewer's citations": lambda memory, path: cited_by(memory, keep(memory, f"See {path}.", anchors=(path,))),
    "bootstrap": lambda memory, path: bootstrap(memory, Draft(body=""), files=[path]),
}


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Memory:
    top = new_folder(tmp_path / "top")
    git(top, "init", "-q", "-b", "main")
    new_folder(top / "src")
    commit(top, "src/notes.md", "# Notes\n\nNothing that anyone hides, in a file of the checkout.\n")
    new_file(tmp_path / "outside" / "notes.md", f"# Notes\n\n{SECRET}, in a file of the user.\n")
    return replace(make_memory(tmp_path, time), checkout=GitCheckout(top, "example.org/acme/shop"))


@pytest.mark.embedded
@pytest.mark.parametrize("swapped", ["src", "src/notes.md"])
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_nothing_outside_a_checkout_is_read_when_a_link_appears_after_the_check(
    memory: Memory, tmp_path: Path, swapped: str, reader: Callable[[Memory, str], object]
) -> None:
    place, real = tmp_path / "top" / swapped, os.path.realpath

    def exchanging(path: "os.PathLike[str] | str", **more: bool) -> str:
        """Resolve a path as it was, and exchange the file or folder right afterwards."""
        answer = real(path, **more)
        if answer.startswith(str(tmp_path / "top" / "src")) and not place.is_symlink():
            place.rename(tmp_path / "before")
            place.symlink_to(tmp_path / "outside" / swapped.removeprefix("src").removeprefix("/"))
        return answer

    with patch.object(os.path, "realpath", exchanging):
        said = reader(memory, "src/notes.md")
    assert place.is_symlink()
    assert SECRET not in f"{said} {list(memory.store.journal())}"


def test_a_memory_file_that_becomes_a_link_is_not_read(memory: Memory, tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "memories")
    (folder / "a.md").write_text("One thing.\n")
    scandir = os.scandir

    def exchanging(path: str) -> object:
        entries = list(scandir(path))
        if Path(path) == folder:
            (folder / "a.md").unlink()
            (folder / "a.md").symlink_to(tmp_path / "outside" / "notes.md")
        return nullcontext(entries)

    with closing(MarkdownFolder(folder, tmp_path / "states")) as replica, patch.object(os, "scandir", exchanging):
        assert sync(memory, replica, OWN).came == 0
    assert SECRET not in str(list(memory.store.journal()))


def test_a_pipe_a_folder_and_a_large_file_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to("large")
    for name in ("pipe", ".", "large", "nothing", "../other", "/etc/passwd"):
        refused(OSError, read_inside, tmp_path, name, 10, says=r"regular|larger|No such|leads out")
    refused(OSError, read_regular, tmp_path / "link", 100, links=False, says="symbolic links")
    assert read_inside(tmp_path, "link", 11) == b"x" * 11


def test_writing_a_file_follows_no_link_that_lies_at_its_temporary_name(tmp_path: Path) -> None:
    """A repository can hold links for every number of a process."""
    profile, written = new_file(tmp_path / "profile", "mine"), new_folder(tmp_path / "memories") / "a.md"
    used = next(files._COUNT)
    for count in range(used, used + 50):
        written.with_name(f".a.md.{count}.{os.getpid()}.tmp").symlink_to(profile)
    written.symlink_to(profile)
    write_whole(written, "theirs")
    assert (profile.read_text(), written.read_text(), written.is_symlink()) == ("mine", "theirs", False)
    assert len(list(written.parent.iterdir())) == 50  # one of the links was in the way
