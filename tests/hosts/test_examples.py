"""Every example of every help, and of the first screen, is run in a store made for it."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from holdfast.hosts.cli.main import WELCOME, cli
from holdfast.model.ids import short
from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, kept, runner
from tests.hosts.test_help import ROOT, SHOWN
from tests.importing import copied
from tests.replicas.seats import git
from tests.rows import each, some

pytestmark = pytest.mark.embedded
FIRST, SECOND = "QD7Q2M4X", "8HX9K4TN"  # the ids that examples use
# Commands that run until they are stopped, open a browser or need a server; other tests start them.
NOT_RUN = ("mcp", "web", "watch", "server", "completion", "demo", "store migrate", "--set database", "compat")
NOT_RUN += ("store backup /media",)
# What has to happen first, by the beginning of an example.
BEFORE = {
    "restore": [f"forget {FIRST} --reason done"],
    "unlink": [f"link {FIRST} supersedes {SECOND}"],
    "review approve": [f"forget {SECOND} --reason done"],
    "thread resolve": ["thread open 'Load-test the limiter'"],
    "session close": ["session start"],
    "store detach": ["store separate"],
    "store import memories.jsonl": ["store export -o memories.jsonl"],
    "store restore": ["store backup ../home/holdfast-backup.db"],
    "sync": ["replica on notes --no-git-config"],
    "store project move": ["remember --project foo 'The foo service is old.'"],
}
# Examples that report something: the exit code they end with.
CODES = {"review approve QD7Q2M4X": 4, "review reject QD7Q2M4X": 4, "store recover damaged.db": 3}
MORE = {"store recover": "--yes", "store restore": "--yes"}  # they ask, but only in a terminal


def words_of(line: str) -> tuple[list[str], str]:
    """Return the arguments of an example, and the file it reads from stdin."""
    command, _, source = re.split(r"  +", line)[0].partition(" < ")
    return shlex.split(command)[1:], source


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a repository, a home and the files that examples name."""
    folder = tmp_path_factory.mktemp("examples") / "all"
    work, home, fixtures = folder / "work", folder / "home", copied(folder.parent)
    for path, text in {
        "src/pay.py": "def retry():\n    return 3\n",
        "src/settings.py": "LIMIT = 5\n",
        "docs/guide.md": "# Guide\n\nDeploys happen on Mondays.\n",
        "NOTES.md": "# Notes\n\nThe queue is drained at night.\n",
        "session.log": "We decided to use SQLite because one file is enough.\n",
        "observations.json": '[{"text": "The retry loop has no upper bound."}]',
    }.items():
        new_file(work / path, text)
    shutil.copytree(fixtures / "gitmem", work / ".gitmem")
    for name in ("notes", ".claude", ".codex", ".claude-mem"):
        new_folder(home / name)
    shutil.copy(fixtures / "claude-mem.db", home / ".claude-mem" / "claude-mem.db")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "src", "docs")
    git(work, "commit", "-qm", "first")
    git(work, "update-ref", "refs/remotes/origin/main", "HEAD")
    return folder


@pytest.fixture(scope="module")
def ids(prepared: Path) -> dict[str, str]:
    """Save the two memories that examples name, and return their ids; then the folder is copied."""
    run = runner(prepared / "work", prepared / "home")
    rest = ("--scope", "backend", "--anchor", "src/pay.py", "--at", "2026-01-01")
    first = kept(run, "The API allows 60 requests a minute.", *rest)
    second = kept(run, "The API allows 90 requests a minute.", *rest[:2])
    shutil.copytree(prepared, prepared.parent / "before")
    return {FIRST: short(first), SECOND: short(second)}


@pytest.fixture
def holdfast(prepared: Path, ids: dict[str, str]) -> Run:
    """Return what runs commands in the folder as it was, under the same path: a repository without a remote is known by it."""
    assert ids
    shutil.rmtree(prepared)
    shutil.copytree(prepared.parent / "before", prepared)
    ada = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ada@example.org")
    return runner(prepared / "work", prepared / "home", **ada)


@each("line", [line for line in SHOWN if line.removeprefix("holdfast ").startswith(NOT_RUN)])
def test_an_example_that_is_not_run_is_understood(line: str) -> None:
    command: click.Command = cli
    name, *rest = shlex.split(re.split(r"  +| [<>] ", line)[0])
    rest = rest[2:] if rest[0] == "--set" else rest
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name, *rest = rest
        command = some(command.get_command(ROOT, name))
    if "--help" not in rest:
        command.make_context(name, rest, parent=ROOT)  # a mistake in it is raised


@pytest.mark.parametrize("line", [line for line in SHOWN if not line.removeprefix("holdfast ").startswith(NOT_RUN)])
def test_an_example_can_be_run(ids: dict[str, str], prepared: Path, holdfast: Run, line: str) -> None:
    words, source = words_of(line)
    text = shlex.join(words)
    text += next((f" {flag}" for start, flag in MORE.items() if text.startswith(start)), "")
    embedder = "local" if "vectors" in words else "none"
    given = (prepared / "work" / source).read_bytes() if source else b"y\ny\ny\ny\n"
    before = next((steps for start, steps in BEFORE.items() if text.startswith(start)), [])
    for step in [*before, text]:
        arguments = [ids.get(word, word).replace("~", str(prepared / "home")) for word in shlex.split(step)]
        done = holdfast(*arguments, stdin=given, HOLDFAST_EMBEDDER=embedder)
    expected = next((code for start, code in CODES.items() if text.startswith(start)), 0)
    assert done.returncode == expected, f"{line}: {done.stdout}{done.stderr}"
    assert done.stdout.strip() or done.stderr.strip()


def test_the_first_screen_keeps_its_promise(prepared: Path, holdfast: Run) -> None:
    """What the first command saves, the second finds by its meaning, and `init` sets up the clients."""
    remember, recall, init = (shlex.split(line) for line in WELCOME)
    saved = "Run the migrations before the seed script."
    for words, said in ((remember, ""), (recall, saved), (["brief"], saved), ([*init, "--yes"], "Claude Code")):
        done = holdfast(*words, HOLDFAST_EMBEDDER="local")
        assert (done.returncode, said in done.stdout) == (0, True), done
    assert (prepared / "home" / ".claude.json").exists()
