"""Help that teaches, and completion."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from holdfast.hosts.cli.command import COMMANDS, FIRST, HEADINGS, HIDDEN, MOVED, SYNONYMS
from holdfast.hosts.cli.main import NEVER_GUESSED, VARIABLE, WELCOME, cli
from holdfast.model.ids import short
from tests.conftest import ran
from tests.hosts.running import Run, answer
from tests.rows import each, examples, missing, refused

ROOT = click.Context(cli, info_name="holdfast")


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(ROOT):
            found = command.get_command(ROOT, name)
            assert found is not None
            yield from commands(found, (*path, name))


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
    shown = HELP[tuple(path.split())]
    assert re.search(rf"^ +(.*\| )?(holdfast {path}|holdfast .* {path})\b", shown, re.MULTILINE)


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
def test_a_wrong_command_names_the_right_one(run: Run, words: list[str], said: str) -> None:
    done = run(*words)
    assert done.returncode == 64
    assert said in done.stderr


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
    code = (
        "import atexit, sys; sys.argv = ['holdfast']\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        "from holdfast.hosts.cli.entry import main; main()"
    )
    shell = {"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast re", "COMP_CWORD": "1"}
    environment = {**os.environ, "HOME": str(own_home), **shell}
    done = ran([sys.executable, "-c", code], tmp_path, env=environment, check=True)
    assert "plain,recall" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded & {"rich", "numpy", "sqlite3", "holdfast.hosts.cli.memories", "holdfast.compose"} == set()


def test_every_shell_gets_a_completion_script_and_bash_takes_it(run: Run) -> None:
    scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
    assert [shell for shell in scripts if f"_HOLDFAST_COMPLETE={shell}_complete" not in scripts[shell]] == []
    assert "holdfast" in ran(["bash", "-c", scripts["bash"] + "\ncomplete -p holdfast"], check=True).stdout
