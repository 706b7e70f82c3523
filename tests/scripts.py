"""Scripts: what is done and what each step must answer, in the text file beside a test module, where a test would be nothing else.

    [test_name] what it promises
    name = step argument=JSON …  -> path=JSON path~"text" …

`$` begins a command of holdfast (`$4` ends with that code, `$?` with any), `@` one of `STEPS` or a method of the script; anything else is a tool, after `!` it must
refuse, and `3x` repeats it, with the turn as `${n}`. `name*=[…]` takes a step once for each item, `*=[{…}]` once for each
set of arguments; each answer must be as it is checked, and `one,other = …` names them. An answer gets a name, or what a pattern finds in it: `name /pattern/ = …`. A value is JSON, or
`$name.path` of an earlier answer, inside a text `${name.path}`. A path has dots, `*` for each item and `#` for their number, `head` and `short` for
the beginning and the end of an id, `flat` for a text without line breaks, `is` for the type of an object, `json` for its JSON, `tokens` for how many a text has. After it
`=` is equal, `!=` is not, `^` begins with a text, `~` contains a text, an item or a key, `!~` does not, `~=` has the same items in any order, `~<` contains texts in that
order, `<`, `<=`, `>` and `>=` compare. A line that begins with `->` checks the answer before it.
`@each names rows` runs a script for each row, `@sampled 3 names rows` for one in three, `@examples names` for each row that
data/examples.json has under the name of the script, as one test (`tests/rows.py`), `@mark name` marks it, `@engines` runs it on each engine, `@do name` takes the steps of the part `[name]`, `3x @do name` three times.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.model.text import tokens_of
from tests.rows import each, sampled, table_of

_DECODER = json.JSONDecoder()
_STEP = re.compile(r"(?:([\w,]+)(?: /(.+?)/)? = )?(\d+x )?(!|\$(?:\d+|\?)?(?= )|@)? ?([\w.${}-]+)(.*?)(?: +-> (.+))?$")
_PART = re.compile(r" *([\w.#*/-]*)(~[=<]|![~=]|[<>]=|[=~<>^])|(?: *)(?=\$)")
_NAMED = re.compile(r"\$\{([\w.#*]+)\}|\$([\w.#*]+)")
CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda found, wanted: found == about(wanted),
    "!=": lambda found, wanted: found != wanted,
    "~": lambda found, wanted: wanted in found,
    "!~": lambda found, wanted: wanted not in found,
    "^": lambda found, wanted: found.startswith(wanted),
    "~=": lambda found, wanted: sorted(found) == sorted(wanted),
    "~<": lambda found, wanted: re.search(".*".join(map(re.escape, wanted)), found, re.DOTALL) is not None,
    "<": lambda found, wanted: found < wanted,
    "<=": lambda found, wanted: found <= wanted,
    ">": lambda found, wanted: found > wanted,
    ">=": lambda found, wanted: found >= wanted,
}


def about(wanted: Any) -> Any:
    """Return a value that equals those whose numbers are as near as rounding leaves them."""
    if isinstance(wanted, dict):
        return {name: about(item) for name, item in wanted.items()}
    if isinstance(wanted, list):
        return [about(item) for item in wanted]
    return pytest.approx(wanted, abs=1e-4) if isinstance(wanted, float) else wanted


Step = Callable[[Any, dict[str, Any]], Any]


class Each(list[Any]):
    """The answers of a step that was taken several times."""

    __slots__ = ()


STEPS: dict[str, Step] = {
    "set": lambda script, given: script.environment.update(given),
    "unset": lambda script, given: [script.environment.pop(name) for name in given],
    "stdin": lambda script, given: setattr(script, "stdin", given.get("text") or bytes.fromhex(given["hex"])),
    "write": lambda script, given: [_write(script.folder / name, given[name]) for name in given],
    "go": lambda script, given: setattr(script, "folder", (script.folder / given["path"]).resolve()),
    "value": lambda _, given: given["of"],
    "append": lambda script, given: [_write(script.folder / name, given[name], "a") for name in given],
    "bytes": lambda script, given: (script.folder / given["path"]).write_bytes(bytes.fromhex(given["hex"])),
    "exists": lambda script, given: (script.folder / given["path"]).exists(),
    "file": lambda script, given: (script.folder / given["path"]).read_text(),
    "json": lambda script, given: json.loads((script.folder / given["path"]).read_text()),
    "files": lambda script, given: sorted(path.name for path in script.folder.glob(given["of"])),
    "permissions": lambda script, given: f"{(script.folder / given['of']).stat().st_mode & 0o777:o}",
    "link": lambda script, given: (script.folder / given["path"]).symlink_to(given["to"]),
    "remove": lambda script, given: (script.folder / given["path"]).unlink(missing_ok=True),
}


@dataclass
class Script:
    """One script while it runs: the answers so far, by name."""

    folder: Path
    known: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)
    stdin: str | bytes = ""
    answered: Any = None
    steps: ClassVar[Mapping[str, Step]] = STEPS

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run `holdfast`."""
        raise NotImplementedError

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        """Call a tool."""
        raise NotImplementedError

    def run(self, line: str) -> None:
        """Take one step, and check what it answers."""
        if line.startswith("-> "):
            self.check(line, self.answered, line.removeprefix("-> "))
            return
        step = _STEP.match(line)
        assert step, line
        name, pattern, times, sign, word, given, wanted = step.groups()
        for turn in range(int(times[:-2]) if times else 1):
            self.known["n"] = f"{turn:02}"
            answer = self.answer(sign or "", word, given)
        if name:
            found = re.search(pattern, answer) if pattern else None
            assert found or not pattern, f"{line}\n{answer}"
            several = name.split(",")
            self.known |= zip(several, answer if several[1:] else [found[1] if found else answer], strict=True)
        self.answered = answer
        for one in answer if isinstance(answer, Each) else [answer]:
            self.check(line, one, wanted or "")

    def check(self, line: str, answer: Any, wanted: str) -> None:
        """Compare parts of an answer with what they must be."""
        for path, check, value in self.parts(wanted):
            found = listed(at(answer, path))
            assert CHECKS[check](found, listed(value)), f"{line}\n{path or 'the answer'}: {found!r}"

    def answer(self, sign: str, word: str, given: str) -> Any:
        if sign[:1] == "$":
            done = self.command(shlex.split(self.filled(word + given)))
            assert sign == "$?" or done.returncode == int(sign[1:] or 0), (word + given, done)
            self.stdin = ""
            is_json = re.search(r" --(as )?json\b", given) and done.stdout
            return read(done.stdout) if is_json else done.stdout + done.stderr
        rows = [dict[str, Any]()]
        for name, _, value in self.parts(given):
            field, items = name.removesuffix("*"), value if name.endswith("*") else [value]
            rows = [row | ({field: item} if field else item) for row in rows for item in items]
        if sign == "@" and word not in self.steps and hasattr(self, word):
            return getattr(self, word)(**rows[0])
        if sign == "@":
            found = [self.steps[word](self, row) for row in rows]
        else:
            found = [read(self.call(self.filled(word), row, refused=bool(sign))) for row in rows]
        return found[0] if len(rows) == 1 else Each(found)

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
        if not isinstance(value, str) or isinstance(value, Plain):
            return value
        whole = _NAMED.fullmatch(value)
        if whole and whole[2] and whole[2].partition(".")[0] in self.known:
            return self.of(whole[2])
        return re.sub(r"\$\{([\w.#*]+)\}", lambda named: str(self.of(named[1])), value)


def at(value: Any, path: str) -> Any:
    """Return what is at a path."""
    step, _, rest = path.partition(".")
    if not path or (isinstance(value, dict) and path in value):  # a key may have dots
        return value[path] if path else value
    if step in WORDS and not (isinstance(value, Mapping) and step in value) and not hasattr(value, step):
        return at(WORDS[step](value), rest)
    if step == "*":
        return [at(item, rest) for item in value]
    if isinstance(value, Mapping):
        return at(value[step], rest)
    is_place = isinstance(value, list | tuple) and step.removeprefix("-").isdigit()
    return at(value[int(step)] if is_place else getattr(value, step), rest)


WORDS: dict[str, Callable[[Any], Any]] = {
    "#": len,
    "head": lambda value: value[:14],
    "short": lambda value: value[-8:],
    "flat": lambda value: " ".join(value.split()),
    "is": lambda value: type(value).__name__,
    "json": json.dumps,
    "tokens": tokens_of,
}


COMMON: dict[str, Any] = {
    "EVIDENCE": "Ran the migration on a copy of production and compared the row counts.",
    "FIELDS": {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]},  # of a scar
    "TOKEN": f"ghp_{'a1B2' * 9}",
    "NOBODY": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
}


class Plain(str):
    """A text of a table, in which no answer is named."""

    __slots__ = ()


def plain(value: Any) -> Any:
    """Return a row of a table as it is used: its texts are plain."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return Plain(value) if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """Return a value with lists for whatever is one, so that it can be compared with JSON."""
    if isinstance(value, Mapping):
        return {name: listed(item) for name, item in value.items()}
    return [listed(item) for item in value] if isinstance(value, list | tuple | AbstractSet) else value


def read(answer: Any) -> Any:
    """Return an answer, or the JSON that it is as a text."""
    is_json = isinstance(answer, str) and answer[:1] in ("{", "[") and answer.rstrip()[-1:] in ("}", "]")
    return json.loads(answer) if is_json else answer


def _write(file: Path, text: str, mode: str = "w") -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open(mode) as opened:
        return opened.write(text)


Start = Callable[[pytest.FixtureRequest, dict[str, Any]], Script]


def scripts_in(module: dict[str, Any], start: Start) -> None:
    """Add a test to a test module (its `globals()`) for each script in the text beside it, by its name."""
    known, named = parts_of(module["__file__"])
    module |= {name: _test(text, start, known, named) for name, text in named.items() if name.startswith("test_")}


def parts_of(module: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values that the text beside a test module begins with, and its scripts and their parts, by their names."""
    text = Path(module).with_suffix(".txt").read_text(encoding="utf-8")
    head, *texts = re.split(r"^\[(?=\w+\])", text, flags=re.MULTILINE)
    known = COMMON | {name: json.loads(value) for name, value in re.findall(r"^(\w+) = (.+)$", head, re.MULTILINE)}
    return known, {text.partition("]")[0]: text for text in texts}


def lines_of(text: str, named: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a script, with those of the parts that it names in `@do part`."""
    for line in text.splitlines():
        if part := re.fullmatch(r"(?:(\d+)x )?@do (\w+)", line):
            yield from list(lines_of(named[part[2]], named))[1:] * int(part[1] or 1)
        elif line.strip() and not line.startswith("#"):
            yield line


def _rows(names: str, table: Iterable[Any]) -> list[dict[str, Any]]:
    """Return each row of a table by the names of its columns."""
    fields = names.split(",")
    return [dict(zip(fields, row if len(fields) > 1 else [row], strict=True)) for row in table]


def _test(text: str, start: Start, known: dict[str, Any], named: Mapping[str, str]) -> Callable[..., None]:
    head, *lines = lines_of(text, named)
    name = head.partition("]")[0]
    rows, marks, steps, is_one = [dict[str, Any]()], list[pytest.MarkDecorator](), list[str](), False
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in ("@each", "@sampled"):
            one_in, joined, table = (rest if word == "@sampled" else f"1 {rest}").split(" ", 2)
            rows = _rows(joined, sampled(json.loads(table), int(one_in)))
        elif word == "@examples":
            rows, is_one = _rows(rest, plain(table_of(name))), True
        elif line == "@engines":
            marks.append(pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True))
        elif word == "@mark":
            marks.append(getattr(pytest.mark, rest))
        else:
            steps.append(line)

    def test(request: pytest.FixtureRequest, values: dict[str, Any]) -> None:
        script = start(request, known | values)
        for line in steps:
            script.run(line)

    test.__name__ = name
    ids = [str(number) for number in range(len(rows))]
    marked: Any = (each("values", rows) if is_one else pytest.mark.parametrize("values", rows, ids=ids))(test)
    for mark in marks:
        marked = mark(marked)
    made: Callable[..., None] = marked
    return made
