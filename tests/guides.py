"""Run a page of the documentation as a reader would: its shell and Python blocks in order, with a home of its own.

`console` blocks are commands after a prompt and exactly what each prints; a line `…` stands for any lines, `ada$` for another person.
`sh` and `python` blocks have to succeed. What a reader need not see stands in a comment before a block:

    <!-- run
    skip: why the block cannot run here
    before: a command that makes what the block needs
    replace: text => what it is here (variables of the shell work)
    command: what prints a `text` block
    prints: what the block prints, among other things
    types: what the reader answers to the first question; y to others
    stop: what a command that does not end by itself prints; then it is interrupted
    exit: the exit code of the last command
    file: where a reader puts the block (below another home); then `holdfast doctor` has to print what `prints` says
    agent: the client that calls the tools of a `text` block (`→ tool(argument=…)`, then the result), in a session of its own
    -->
"""

import ast
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from tests.conftest import new_file, ran
from tests.hosts.running import preloaded, script_command
from tests.hosts.test_mcp import Peer, text_of

ROOT = Path(__file__).parents[1]
LONGEST = 120  # seconds that a command which is to be interrupted may run
Json = dict[str, Any]
KEYS = {"skip", "before", "replace", "command", "prints", "types", "stop", "exit", "file", "agent"}
RUN = ("console", "sh", "python")
REMOTE = "git@github.com:acme/shop.git"  # what git would start as ssh reads and writes a folder instead
FILES = {"src/pay.py": "RETRIES = 3\n", "limits.py": "PER_KEY = 60\n"}
_BLOCK = re.compile(
    r"(?:<!-- run\n(?P<notes>.*?)-->\n+)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_PROMPT = re.compile(r"^(\w*)\$ ", re.MULTILINE)
_ID = re.compile(r"\b(?=[A-Z]*\d)[0-9A-HJKMNP-TV-Z]{8,26}\b")
_COMMIT = re.compile(r"\blast [0-9a-f]{8}\b")  # it may be all digits, and look like an id
_VARYING = (
    (re.compile(r"^\d+ memor(?:y|ies) not searched by meaning yet\.\n", re.MULTILINE), ""),  # on a busy machine
    (_COMMIT, "last COMMIT"),
    (re.compile(rf"{_ID.pattern}…?"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"\d\.\d\d"), "N"),
    # A server embeds new memories in the background: until it has, fewer are compared by meaning.
    (re.compile(r"; \d+ weaker results? left out"), ""),
    (re.compile(r"\d+ (?:memory fits|memories fit)\b"), "memories fit"),
    (re.compile(r"\bjust now\b|\b\d+ min ago\b"), "AGO"),  # a busy machine takes more than a minute for a page
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page, and the notes of the comment before it."""

    language: str
    text: str
    notes: Mapping[str, list[str]]

    def note(self, key: str) -> str:
        """Return a note that occurs at most once."""
        return "\n".join(self.notes.get(key, ()))


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page that are run, and those that are left out with a reason."""
    found = []
    for match in _BLOCK.finditer(page):
        notes: dict[str, list[str]] = {}
        for line in filter(None, (match["notes"] or "").splitlines()):
            key, _, value = line.partition(": ")
            assert key in KEYS, line
            assert value, line
            notes.setdefault(key, []).append(value)
        if match["language"] in RUN or notes:
            found.append(Block(language=match["language"], text=match["text"], notes=notes))
    return found


@dataclass
class Seat:
    """A person's home, the folder they are in, and the variables of their shell."""

    home: Path
    place: Path
    variables: dict[str, str]


@dataclass
class World:
    """The people of a page, each with a home and a clone of one repository."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # what stands on the page: what it is here
    seats: dict[str, Seat] = field(default_factory=dict)

    def run(self, page: str) -> None:
        """Run the blocks of a page; fail at the first that does something else than the page says."""
        for block in blocks_of(page):
            if not block.note("skip"):
                self._run_block(block)

    def _run_block(self, block: Block) -> None:
        for command in block.notes.get("before", ()):
            code, printed = self.shell("", command)
            assert code == 0, f"{command}\n{printed}"
            for name in _ID.findall(printed)[:1]:
                self.ids["ID"] = name
        if block.note("agent"):
            self._call_tools(block)
            return
        if block.note("file"):
            self._put_in_place(block)
            return
        steps = list(_steps(block))
        for place, (person, command, promised) in enumerate(steps):
            is_last = place == len(steps) - 1
            typed = "\n".join([*block.notes.get("types", ()), "y", "y", "y\n"])
            code, printed = self.shell(person, self._here(command, block), typed=typed, stop=block.note("stop"))
            expected = int(block.note("exit") or 0) if is_last else 0
            assert code == expected, f"{command}\nexit code {code}\n{printed}"
            if promised is not None:
                self._compare(command, promised, printed)
            for text in block.notes.get("prints", ()) if is_last else ():
                assert text in printed, f"{command}\n{printed}"

    def _put_in_place(self, block: Block) -> None:
        file = self._seat("hand").home / block.note("file").removeprefix("~/")
        is_part = block.language == "json" and not block.text.startswith("{")
        new_file(file, f"{{{block.text}}}" if is_part else block.text)
        _, printed = self.shell("hand", "holdfast doctor")
        assert block.note("prints") in printed, printed

    def _call_tools(self, block: Block) -> None:
        seat = self._seat("you")
        client = {"name": block.note("agent"), "version": "1"}
        server = Peer(seat.variables, seat.place)
        server.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        for call, name, arguments, promised in _calls(block.text):
            self._compare(call, promised, f"{text_of(server.call(name, **arguments))}\n")
        server.close()

    def _here(self, command: str, block: Block) -> str:
        """Return a command with the ids and places of this world."""
        for note in block.notes.get("replace", ()):
            old, _, new = note.partition(" => ")
            assert old in block.text, note
            command = command.replace(old, new)
        for shown, real in self.ids.items():
            command = re.sub(rf"\b{shown}\b", real, command)
        return command

    def _compare(self, command: str, promised: str, printed: str) -> None:
        pattern = re.escape(settled(promised)).replace("…\\\n", r"(?:.*\n)*?")
        assert re.fullmatch(pattern, settled(printed)), f"{command}\n{printed}"
        if "\n…\n" in f"\n{promised}":
            return
        for shown, real in zip(*(_ID.findall(_COMMIT.sub("", text)) for text in (promised, printed)), strict=True):
            known = self.ids.setdefault(shown, real)  # whole, or its end
            assert known.endswith(real) or real.endswith(known), f"{command}\n{shown} is not what it was before"
        known_ids = set(self.ids.values()) - {self.ids.get("ID")}
        assert len(known_ids) >= len(self.ids) - 1, f"two ids for one memory: {self.ids}"

    def shell(self, person: str, command: str, *, typed: str = "", stop: str = "") -> tuple[int, str]:
        """Run a command in a person's clone; return its exit code and what it printed. Variables and the folder stay."""
        seat = self._seat(person or "you")
        if stop:
            return _interrupted(["bash", "-c", f"exec 2>&1\n{command}"], seat, stop)
        if words := _plain_words(command):
            done = preloaded(words, seat.place, seat.variables, typed.encode())
            return done.returncode, done.stdout + done.stderr
        after = seat.home / ".after"
        script = f"trap 'pwd >{after}; env -0 >>{after}' EXIT\nset -e\n{command}"
        command_here, inherited = script_command(self.folder)
        ours = f"{command_here.parent}:"
        variables = seat.variables | {"PATH": ours + seat.variables["PATH"]}
        done = ran(["bash", "-c", script], seat.place, env=variables, input=typed, pass_fds=[inherited])
        place, _, left = after.read_text().partition("\n")
        seat.place = Path(place)
        seat.variables = dict(line.split("=", 1) for line in left.split("\0") if "=" in line)
        seat.variables["PATH"] = seat.variables["PATH"].removeprefix(ours)
        return done.returncode, done.stdout + done.stderr

    def _seat(self, person: str) -> "Seat":
        if person not in self.seats:
            home = self._home(person)
            variables = {**_clean(), **self.variables, **_identity(home), "HOME": str(home)}
            self.seats[person] = Seat(home=home, place=home / "shop", variables=variables)
        return self.seats[person]

    def _home(self, person: str) -> Path:
        home, bare = self.folder / person, self.folder / "shop.git"
        for name in (".claude", ".codex"):
            (home / name).mkdir(parents=True)
        environment = {**_clean(), "HOME": str(home), **_identity(home)}
        user = "[user]\nname = {LOGNAME}\nemail = {LOGNAME}@example.org\n".format_map(environment)
        new_file(home / ".gitconfig", f"{user}[core]\nsshCommand = {ssh_to(bare)}\n")
        commands = [f"clone -q {REMOTE} shop"]
        if not bare.exists():
            for name, text in FILES.items():
                new_file(home / "shop" / name, text)
            work = f"remote add origin {REMOTE}", "add .", "commit -qm begin", "push -q -u origin main"
            begin = [f"init -q --bare -b main {bare}", "init -q -b main shop"]
            commands = begin + [f"-C shop {words}" for words in work]
        for command in commands:
            ran(["git", *command.split()], home, env=environment, check=True)
        return home


def ssh_to(bare: Path) -> Path:
    """Return a program that git starts as ssh and that answers for the host of every address with one repository."""
    program = bare.with_suffix(".ssh")
    program.write_text(f'#!/bin/sh\nfor command; do :; done\nset -- $command\nexec git "${{1#git-}}" {bare}\n')
    program.chmod(0o755)
    return program


def settled(text: str) -> str:
    """Return a text without what differs from run to run: ids, dates, ages, commits, scores."""
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def _steps(block: Block) -> Iterator[tuple[str, str, str | None]]:
    """Yield who runs each command of a block, the command, and exactly what it prints (None: that is not promised)."""
    if block.note("command"):
        yield "", block.note("command"), block.text
    elif block.language == "console":
        _, *parts = _PROMPT.split(block.text)
        for person, rest in zip(parts[::2], parts[1::2], strict=True):
            command, _, shown = rest.partition("\n")
            yield person, command, shown
    elif block.language == "python":
        yield "", f"python - <<'PROGRAM'\n{block.text}\nPROGRAM", None
    elif block.note("stop") or all(map(_plain_words, block.text.splitlines())):
        yield from (("", line, None) for line in block.text.splitlines())
    else:
        yield "", block.text, None


def _calls(text: str) -> Iterator[tuple[str, str, Json, str]]:
    """Yield each call of a tool as it stands on the page, its name, its arguments and what it returns."""
    for part in re.split(r"^→ ", text, flags=re.MULTILINE)[1:]:
        call, _, result = re.sub(r"\n   (?=\S)", " ", part).partition("\n")  # a long call goes on in the next line
        tree = ast.parse(call, mode="eval").body
        assert isinstance(tree, ast.Call)
        assert isinstance(tree.func, ast.Name)
        arguments = {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}
        yield call, tree.func.id, arguments, f"{result.strip()}\n"


def _plain_words(command: str) -> list[str]:
    """Return the arguments of a command that is `holdfast` and needs no shell; nothing for any other."""
    unquoted = re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command.partition("  #")[0])
    needs_shell = "\n" in command.strip() or re.search(r"[$`~|&;<>*()]", unquoted)
    if needs_shell or not command.startswith("holdfast "):
        return []
    return shlex.split(command, comments=True)[1:]


def _interrupted(script: list[str], seat: Seat, until: str) -> tuple[int, str]:
    """Run a command that does not end until it printed a text, interrupt it, and return 0 if it ended as after Ctrl-C."""
    process = subprocess.Popen(
        script, cwd=seat.place, env=seat.variables, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    printed, giving_up = "", Timer(LONGEST, process.kill)
    giving_up.start()
    for line in process.stdout:
        printed += line
        if until in printed:
            os.killpg(process.pid, signal.SIGINT)
            break
    rest, _ = process.communicate()
    giving_up.cancel()
    is_well = until in printed and process.returncode in (0, 130, -signal.SIGINT)
    return 0 if is_well else process.returncode or 1, printed + rest


def _identity(home: Path) -> dict[str, str]:
    """Return who types and commits; on a page without names Ada types, and commits are a colleague's."""
    typing, name = ("ada", "Bo") if home.name == "you" else (home.name, home.name)
    author = {"NAME": name, "EMAIL": f"{name.lower()}@example.org"}
    return {"LOGNAME": typing} | {
        f"GIT_{role}_{key}": author[key] for role in ("AUTHOR", "COMMITTER") for key in author
    }


def _clean() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_", "GIT_"))}
    return {**kept, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "GIT_CONFIG_NOSYSTEM": "1"}
