"""Scripts: what a document promises, as calls and what each must answer, in the text file beside a test module.

    [test_name] the promise
    name = tool argument=JSON …  -> path=JSON path~"text" …

A call goes to the surface of the module; after `!` it must be refused, `3x` repeats it. Its answer gets a name, or what a pattern finds in it:
`name /pattern/ = …`. A value is JSON, or `$name.path` of an earlier answer, inside a text `${name.path}`. A path has dots, `*` for each
item and `#` for their number. After it `=` is equal, `~` contains a text, an item or a key, `!~` does not, `~=` has the same
items in any order, `<`, `>` and `>=` compare. `$` begins a command of holdfast (`$?` may fail), `@` one of `STEPS`, `@each` rows of values.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools

_DECODER = json.JSONDecoder()
_STEP = re.compile(r"(?:(\w+)(?: /(.+?)/)? = )?(\d+x )?(!|\$\??(?= )|@)? ?([\w${}-]+)(.*?)(?: +-> (.+))?$")
_PART = re.compile(r" *([\w.#*/-]*)(~=|!~|>=|[=~<>])|(?: *)(?=\$)")
_NAMED = re.compile(r"\$\{([\w.#*]+)\}|\$([\w.#*]+)")
CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda found, wanted: found == (pytest.approx(wanted) if isinstance(wanted, float) else wanted),
    "~": lambda found, wanted: wanted in found,
    "!~": lambda found, wanted: wanted not in found,
    "~=": lambda found, wanted: sorted(found) == sorted(wanted),
    "<": lambda found, wanted: found < wanted,
    ">": lambda found, wanted: found > wanted,
    ">=": lambda found, wanted: found >= wanted,
}


@dataclass
class Script:
    """One script while it runs: the answers so far, by name, and the server that it asks."""

    place: Place
    surface: str
    known: dict[str, Any]
    opened: Tools | None = None

    @property
    def ask(self) -> Tools:
        """The client of the server, which starts at its first call: variables come before."""
        self.opened = self.opened or self.place.tools(self.surface)
        return self.opened

    def run(self, line: str) -> None:
        """Take one step, and check what it answers."""
        step = _STEP.match(line)
        assert step, line
        name, pattern, times, sign, word, given, wanted = step.groups()
        for _ in range(int(times[:-2]) if times else 1):
            answer = self.answer(sign, word, given)
        if name:
            found = re.search(pattern, answer) if pattern else None
            assert found or not pattern, f"{line}\n{answer}"
            self.known[name] = found[1] if found else answer
        for path, check, value in self.parts(wanted or ""):
            assert CHECKS[check](at(answer, path), value), f"{line}\n{path or 'the answer'}: {at(answer, path)!r}"

    def answer(self, sign: str | None, word: str, given: str) -> Any:
        if sign and sign[0] == "$":
            done = self.place.run(self.filled(word + given), code=None if sign == "$?" else 0)
            return read(done.stdout) if "--json" in given else done.stdout + done.stderr
        arguments: dict[str, Any] = {}
        for name, _, value in self.parts(given):
            arguments |= {name: value} if name else value
        if sign == "@":
            return STEPS[word](self, arguments)
        return read((self.ask.refused if sign else self.ask.text)(self.filled(word), **arguments))

    def parts(self, text: str) -> Iterator[tuple[str, str, Any]]:
        """Yield the name, the sign and the value of each part of a step."""
        place = 0
        while text[place:].strip():
            part = _PART.match(text, place)
            assert part, text[place:]
            if named := _NAMED.match(text, part.end()):
                value, place = self.of(named[2] or named[1]), named.end()
            else:
                value, place = _DECODER.raw_decode(text, part.end())
            yield part[1] or "", part[2] or "=", self.filled(value)

    def of(self, path: str) -> Any:
        name, _, rest = path.partition(".")
        return at(self.known[name], rest)

    def filled(self, value: Any) -> Any:
        """Return a value with the answers that it names."""
        if isinstance(value, dict):
            return {self.filled(name): self.filled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = _NAMED.fullmatch(value)
        if whole and whole[2] and whole[2].partition(".")[0] in self.known:
            return self.of(whole[2])
        return re.sub(r"\$\{([\w.#*]+)\}", lambda named: str(self.of(named[1])), value)


STEPS: dict[str, Callable[[Script, dict[str, Any]], Any]] = {
    "set": lambda script, given: script.place.environment.update(given),
    "unset": lambda script, given: [script.place.environment.pop(name) for name in given],
    "write": lambda script, given: [_write(script.place.folder / name, given[name]) for name in given],
    "import": lambda script, given: _import(script.place, given["system"], given["sql"]),
    "hook": lambda script, given: script.place.hook(given.pop("event"), **given),
    "read": lambda script, given: script.ask.read(given["uri"]),
    "names": lambda script, _: sorted(script.ask.names),
    "work": lambda script, _: script.place.work(),
    "restart": lambda script, _: script.ask.restart(),
    "kill": lambda script, _: script.ask.kill(),
    "start": lambda script, _: script.ask.start(),
    "use": lambda script, given: setattr(script, "opened", script.place.tools(given["surface"])),
    "go": lambda script, given: setattr(script.place, "folder", Path(given["path"])),
    "git": lambda script, given: script.place.git(*given["words"].split()),
    "exists": lambda script, given: (script.place.folder / given["path"]).exists(),
    "file": lambda script, given: Path(script.place.folder / given["path"]).read_text(),
}


def at(value: Any, path: str) -> Any:
    """Return what is at a path."""
    step, _, rest = path.partition(".")
    if not path or (isinstance(value, dict) and path in value):  # a key may have dots
        return value[path] if path else value
    if step == "*":
        return [at(item, rest) for item in value]
    return at(len(value) if step == "#" else value[int(step)] if isinstance(value, list) else value[step], rest)


def read(text: str) -> Any:
    return json.loads(text) if text[:1] in ("{", "[") and text.rstrip()[-1:] in ("}", "]") else text


def _write(file: Path, text: str) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.write_text(text)


def _import(place: Place, system: str, sql: str) -> str:
    """Import a database that another system wrote."""
    with sqlite3.connect(place.home / "theirs.db") as db:
        db.executescript(Path(__file__).with_name(sql).read_text())
    return place.run(f"store import --from {system} {place.home / 'theirs.db'}").stdout


def scripts_in(module: str) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, by its name."""
    head, *texts = re.split(
        r"^\[(?=test_)", Path(module).with_suffix(".txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    known = {name: json.loads(value) for name, value in re.findall(r"^(\w+) = (.+)$", head, re.MULTILINE)}
    surface = Path(module).stem.removeprefix("test_").removesuffix("_page").replace("_", "-")
    return {text.partition("]")[0]: _test(text, surface, known) for text in texts}


def _test(text: str, surface: str, known: dict[str, Any]) -> Callable[..., None]:
    head, *lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    steps = [line for line in lines if not line.startswith("@each ")]

    def test(place: Place, values: dict[str, Any]) -> None:
        script = Script(place, surface, {"home": str(place.home), "folder": str(place.folder), **known, **values})
        for line in steps:
            script.run(line)

    rows: list[dict[str, Any]] = [{}]
    for line in lines:
        if line.startswith("@each "):
            names, _, table = line.removeprefix("@each ").partition(" ")
            rows = [
                dict(zip(names.split(","), row if "," in names else [row], strict=True)) for row in json.loads(table)
            ]
    test.__name__ = head.partition("]")[0]
    each_row = pytest.mark.parametrize("values", rows, ids=[str(number) for number in range(len(rows))])
    marked: Callable[..., None] = pytest.mark.promise(head.partition("] ")[2])(each_row(test))
    return marked
