"""The table of commands, from commands.txt: where each one is defined, how the help groups them, and what people type instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: its module in `hosts/cli`, a line for the overview, and its own commands if it is a group of this table."""

    line: str
    module: str = ""
    commands: "Mapping[str, Entry]" = field(default_factory=dict)


HEADINGS: dict[str, dict[str, Entry]] = {}
SYNONYMS: dict[str, str] = {"version": "--version"}  # what people type who do not know a command's name yet
EXAMPLES: dict[str, list[str]] = {}  # without the word holdfast


def _read(text: str) -> None:
    entries: dict[str, Entry] = {}
    path, groups = "", dict[str, dict[str, Entry]]()
    for row in filter(None, text.splitlines()):
        if row.startswith("["):
            entries = HEADINGS.setdefault(row.strip("[]"), {})
        elif row.startswith("    ~ "):
            SYNONYMS.update(dict.fromkeys(row[6:].split(), path))
        elif row.startswith("    "):
            EXAMPLES.setdefault(path, []).append(row.strip())
        elif not row.startswith("#"):
            path, module, line = row.split("  ", 2)
            group, _, name = path.rpartition(" ")
            inner = groups.setdefault(path, {}) if module == "+" else {}
            entry = Entry(line=line, module=module.strip("+"), commands=inner)
            (groups[group] if group else entries)[name] = entry


_read(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
FIRST, GROUPS, HIDDEN = HEADINGS["Everyday"], HEADINGS["Groups"], HEADINGS.pop("Hidden")
COMMANDS = {name: entry for table in (*HEADINGS.values(), HIDDEN) for name, entry in table.items()}
# What was a command of its own once, and is now.
MOVED: dict[str, str] = {
    **{name: f"{group} {name}" for group, entry in GROUPS.items() for name in entry.commands if name not in COMMANDS},
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
del MOVED["run"]
# A slip of the finger must not lead to one of these.
NEVER_GUESSED = frozenset({"forget", "uninstall", "unlink", "unshare", *HIDDEN})


def suggestion(word: str) -> str:
    """Return the command that was probably meant, in the words to type; "" if there is no good guess."""
    known = word.lower()
    if known in MOVED:
        return MOVED[known]
    if known in SYNONYMS:
        return SYNONYMS[known]
    meant = {name: name for name in COMMANDS} | MOVED | SYNONYMS
    near = nearest(known, [name for name, command in meant.items() if command not in NEVER_GUESSED])
    return meant.get(near, "")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name a mistyped word resembles, never one that removes something."""
    return next(iter(get_close_matches(word, [name for name in names if name not in NEVER_GUESSED], n=1)), "")


def examples_of(path: str) -> str:
    """Return the examples of a command as the end of its help; empty if its own text has them."""
    lines = [f"  holdfast {line}" for line in EXAMPLES.get(path, ())]
    return "\n".join(("\b", "Examples:", *lines)) if lines else ""
