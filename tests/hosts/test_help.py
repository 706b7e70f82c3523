"""Help that teaches, completion, and every example of every help and of the first screen, run in a store made for it."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from holdfast.hosts.cli.command import COMMANDS, FIRST, HEADINGS, HIDDEN, MOVED, SYNONYMS
from holdfast.hosts.cli.main import NEVER_GUESSED, VARIABLE, WELCOME, cli
from holdfast.model.ids import short
from tests.conftest import new_file, new_folder, ran
from tests.hosts.running import Run, answer, ended, kept, runner
from tests.hosts.test_mcp import START
from tests.importing import copied
from tests.replicas.seats import git
from tests.rows import each, examples, missing, refused, rows, some

ROOT = click.Context(cli, info_name="holdfast")


def commands(command: click.Command = cli, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(ROOT):
            yield from commands(some(command.get_command(ROOT, name)), *path, name)


EVERY = dict(commands())
HELP = {path: command.get_help(click.Context(command, info_name=" ".join(path))) for path, command in EVERY.items()}
SHOWN = sorted(
    {line.strip() for text in HELP.values() for line in text.splitlines() if re.match(r" +holdfast [a-z-]", line)}
)


@each("path", EVERY)
def test_every_command_and_option_says_what_it_does(path: tuple[str, ...]) -> None:
    command = EVERY[path]
    assert command.help
    assert [option.opts for option in command.params if isinstance(option, click.Option) and not option.help] == []
    if any(taken.required for taken in command.params):  # what it cannot do without is asked for
        refused(click.UsageError, command.make_context, path[-1], [], parent=ROOT)
    assert [line for line in HELP[path].splitlines() if len(line) > 80] == []
    if isinstance(command, click.Group):  # no line of a list of commands is cut
        assert re.findall(r"^  [a-z-]+  .*\.\.\.$", HELP[path], re.MULTILINE) == []


LEAVES = [name for name in COMMANDS if name not in ("mcp", "completion")]
LEAVES += [f"{group} {name}" for group in ("ingest", "stats", "store", "server") for name in COMMANDS[group].commands]


@each("path", LEAVES)
def test_every_command_shows_an_example(path: str) -> None:
    wanted = rf"^ +(.*\| )?(holdfast {path}|holdfast .* {path})\b"
    assert re.search(wanted, HELP[tuple(path.split())], re.MULTILINE)


def test_the_overview_has_every_command_under_a_heading_and_the_first_screen_those_of_every_day(run: Run) -> None:
    shown = HELP[()]
    assert missing(shown, *(f"{heading}:" for heading in HEADINGS)) == []
    assert {name for name in COMMANDS if not re.search(rf"^  {name} ", shown, re.MULTILINE)} == set(HIDDEN)
    shown = run().stdout
    assert missing(shown, *(f"  {name}" for name in FIRST), *(f"  holdfast {line}" for line in WELCOME)) == []
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) <= 24


def test_another_word_for_a_command_leads_to_it_and_no_guess_removes_anything() -> None:
    for word, command in {**SYNONYMS, **MOVED}.items():
        refused(click.UsageError, cli.resolve_command, ROOT, [word], says=f"`holdfast {command}`")
        path = tuple(part for part in command.split() if part != "--version")[:2]
        assert path in EVERY, word
    assert not set(SYNONYMS) & {*MOVED, *COMMANDS} | set(MOVED) & set(COMMANDS)
    for word in ("install", "get", "save", "list-all", "search", "forgt", "uninstal", "unlik", "unshre", "delet"):
        refused(click.UsageError, cli.resolve_command, ROOT, [word], says=f"^(?!.*fast ({'|'.join(NEVER_GUESSED)})`)")


@examples
def test_a_wrong_command_is_answered_with_what_is_right(run: Run, words: list[str], said: str) -> None:
    ended(run(*words), 64, said)


def completed(run: Run, line: str, **environment: str) -> list[str]:
    words = line.split(" ")
    shell = {"_HOLDFAST_COMPLETE": "zsh_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = run(**shell, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip("\n").split("\n")


@examples
def test_commands_options_kinds_and_clients_are_completed(line: str, offered: str) -> None:
    *words, begun = line.split(" ")
    found = ShellComplete(cli, {}, "holdfast", VARIABLE).get_completions(words, begun)
    assert [item.value for item in found] == [offered]


@pytest.mark.embedded
def test_memories_and_scopes_are_completed_from_the_store(run: Run, tmp_path: Path) -> None:
    home = {"HOLDFAST_HOME": str(tmp_path / "store")}
    assert completed(run, "holdfast show ", **home) == [""]
    assert not (tmp_path / "store").exists()  # asking what there is makes nothing
    made = answer(run("remember", "--json", "--scope", "backend", "The queue is drained at night.", **home))
    shown = short(made["record"]["id"])
    assert completed(run, "holdfast show ", **home)[1:3] == [shown, "The queue is drained at night."]
    assert completed(run, f"holdfast --home {tmp_path / 'store'} judge applied {shown[:6].lower()}")[1] == shown
    assert completed(run, "holdfast recall --scope ba", **home)[1] == "backend"
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "holdfast.db").write_bytes(b"no database at all, but long enough to be read" * 50)
    assert completed(run, "holdfast show ", HOLDFAST_HOME=str(tmp_path / "broken")) == [""]


def test_completing_a_command_imports_none_of_them(tmp_path: Path, own_home: Path) -> None:
    shell = {"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast re", "COMP_CWORD": "1"}
    own = {**os.environ, "HOME": str(own_home), **shell}
    done = ran([sys.executable, "-c", START], tmp_path, env=own, check=True)
    assert "plain,recall" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded & {"rich", "numpy", "sqlite3", "holdfast.hosts.cli.memories", "holdfast.compose"} == set()


def test_every_shell_gets_a_completion_script_and_bash_takes_it(run: Run) -> None:
    scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
    assert [shell for shell in scripts if f"_HOLDFAST_COMPLETE={shell}_complete" not in scripts[shell]] == []
    assert "holdfast" in ran(["bash", "-c", scripts["bash"] + "\ncomplete -p holdfast"], check=True).stdout


# Every example is run in a store made for it.
ONE, TWO = "QD7Q2M4X", "8HX9K4TN"  # the ids that examples use
# Commands that run until they are stopped, open a browser or need a server; other tests start them.
NOT_RUN: tuple[str, ...] = ("store migrate", "store backup /media", "--set database")
NOT_RUN += (*"mcp web watch server completion demo compat".split(),)
# What has to happen first, by the beginning of an example.
BEFORE: dict[str, list[str]] = rows("examples_that_follow_other_commands")
# Examples that report something: the exit code they end with.
CODES = {"review approve QD7Q2M4X": 4, "review reject QD7Q2M4X": 4, "store recover damaged.db": 3}
MORE = {"store recover": "--yes", "store restore": "--yes"}  # they ask, but only in a terminal


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a repository, a home and the files that examples name."""
    folder = tmp_path_factory.mktemp("examples") / "all"
    work, home, fixtures = folder / "work", folder / "home", copied(folder.parent)
    for path, text in rows("files_that_examples_name").items():
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
    return {ONE: short(first), TWO: short(second)}


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


@pytest.mark.embedded
@pytest.mark.parametrize("line", [line for line in SHOWN if not line.removeprefix("holdfast ").startswith(NOT_RUN)])
def test_an_example_can_be_run(ids: dict[str, str], prepared: Path, holdfast: Run, line: str) -> None:
    command, _, source = re.split(r"  +", line)[0].partition(" < ")
    words = shlex.split(command)[1:]
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


@pytest.mark.embedded
def test_the_first_screen_keeps_its_promise(prepared: Path, holdfast: Run) -> None:
    """What the first command saves, the second finds by its meaning, and `init` sets up the clients."""
    remember, recall, init = (shlex.split(line) for line in WELCOME)
    saved = "Run the migrations before the seed script."
    for words, said in ((remember, ""), (recall, saved), (["brief"], saved), ([*init, "--yes"], "Claude Code")):
        ended(holdfast(*words, HOLDFAST_EMBEDDER="local"), 0, said)
    assert (prepared / "home" / ".claude.json").exists()
