"""The table of commands, from commands.txt: what defines each one, its help, and what people type instead."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import reduce
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: its module in `hosts/cli`, its help, what is said of its parameters, and its own commands if it is a group."""

    path: str
    line: str  # for the overview
    module: str  # + makes it a group, = a verb
    page: list[str] = field(default_factory=list)  # the page that shows its result, and a label while it runs
    shape: list[str] = field(default_factory=list)  # what --json prints, as a map of the result
    help: list[str] = field(default_factory=list)  # paragraphs
    parameters: dict[str, str] = field(default_factory=dict)
    synonyms: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)  # without the word holdfast
    commands: "dict[str, Entry]" = field(default_factory=dict)

    @property
    def epilog(self) -> str:
        """The end of its help: the examples."""
        lines = [f"  holdfast {line}" for line in self.examples]
        return "\n".join(("\b", "Examples:", *lines)) if lines else ""


COMMON: dict[str, str] = {}  # parameters that mean the same in most commands


def read(file: Path) -> dict[str, dict[str, Entry]]:
    """Return the commands of a table under its headings."""
    headings: dict[str, dict[str, Entry]] = {}
    entries, entry = dict[str, Entry](), Entry(path="", line="", module="")
    rows = (row for row in file.read_text(encoding="utf-8").splitlines() if row and not row.startswith("#"))
    for row in rows:
        sign, text = row.strip()[0], row.strip()[2:]
        match sign if row.startswith((" ", "[", ":")) else "":
            case "[":
                entries = headings[row.strip("[]")] = {}
            case ":":
                name = text.partition("  ")[0] if text.startswith("--") else text.split()[0]
                (entry.parameters if entry.path else COMMON)[name] = text
            case "=":
                entry.help[:] = [text]
            case "|" if text.startswith("  "):  # printed as it stands
                entry.help.extend(["\b"] if not entry.help[-1].startswith("\b") else [])
                entry.help[-1] += f"\n{text[2:]}"
            case "|":
                entry.help.append(text)
            case ">":
                entry.page.extend(text.split("  "))
            case "~" | "{":
                (entry.synonyms if sign == "~" else entry.shape).extend(text.split())
            case "":
                path, module, line = row.split("  ", 2)
                entry = Entry(path=path, line=line, module=module, help=[line])
                *groups, name = path.split()
                reduce(lambda place, group: place[group].commands, groups, entries)[name] = entry
            case _:
                entry.examples.append(row.strip())
    return headings


HEADINGS = read(Path(__file__).with_suffix(".txt"))
FIRST, GROUPS, HIDDEN = HEADINGS["Everyday"], HEADINGS["Groups"], HEADINGS.pop("Hidden")
COMMANDS = {name: entry for table in (*HEADINGS.values(), HIDDEN) for name, entry in table.items()}


EVERY = [*COMMANDS.values(), *(inner for entry in COMMANDS.values() for inner in entry.commands.values())]
# What people type who do not know a command's name yet.
SYNONYMS = {"version": "--version"} | {word: entry.path for entry in EVERY for word in entry.synonyms}
# What was a command of its own once, and is now.
MOVED: dict[str, str] = {
    **{name: f"{group} {name}" for group in ("ingest", "stats", "store", "server") for name in GROUPS[group].commands},
    "serve": "server run",
    "use": "judge",
    "log": "stats learnings",
    "confirm": "review approve",
    "cancel": "review reject",
    "accept": "review approve",
    "reject": "review reject",
    "quarantine": "review list --sort quarantined",
    "contradictions": "review contradictions",
    "duplicates": "review duplicates",
}
for _name in {"run", *COMMANDS} & set(MOVED):
    del MOVED[_name]
# A slip of the finger must not lead to one of these.
NEVER_GUESSED = frozenset({"forget", "uninstall", "unlink", "unshare", *HIDDEN})


def suggestion(word: str) -> str:
    """Return the command that was probably meant, in the words to type; "" if there is no good guess."""
    known, meant = word.lower(), {name: name for name in COMMANDS} | SYNONYMS | MOVED
    if known in MOVED or known in SYNONYMS:
        return meant[known]
    near = nearest(known, [name for name, command in meant.items() if command not in NEVER_GUESSED])
    return meant.get(near, "")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name a mistyped word resembles, never one that removes something."""
    near = get_close_matches(word, [name for name in names if name not in NEVER_GUESSED], n=1, cutoff=0.8)
    return near[0] if near else ""
