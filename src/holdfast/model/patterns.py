"""Regular expressions that are compiled at their first use, and tables that are read from text files.

A command needs few of hundreds of patterns: compiling all when their modules are imported would take a fifth of its time.
"""

import re

MYPY = False
if MYPY:
    from typing import Any as Any  # noqa: PLC0414  for the other modules that hooks import
else:  # importing `typing` would take a third of a hook's time
    Any = object


def lazy(text: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`, compiled when one of its methods is first looked up."""
    return _Pattern(text, flags)  # type: ignore[return-value]  # it has the methods of one


class _Pattern:
    def __init__(self, text: str, flags: int | re.RegexFlag) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        # Kept on the instance: from then on the lookup finds it there, and this method is not called again.
        found = self.__dict__[name] = getattr(re.compile(self._text, self._flags), name)
        return found


def tables(module: str) -> dict[str, list[tuple[str, str]]]:
    """Return the tables of the text file beside a module: for each `[section]` its rows, a name and what follows its colon."""
    found: dict[str, list[tuple[str, str]]] = {}
    rows: list[tuple[str, str]] = []
    with open(module.removesuffix(".py") + ".txt", encoding="utf-8") as file:  # noqa: PTH123  hooks do not import pathlib
        lines = file.read().split("\n")
    for line in lines:  # an indented one continues the row before it, `#` begins a comment
        sign = line[:1]
        if sign == "[":
            rows = found[line[1:-1]] = []
        elif sign == " ":
            rows[-1] = rows[-1][0], f"{rows[-1][1]} {line.strip()}"
        elif sign and sign != "#":
            name, _, rest = line.partition(":")
            rows.append((name, rest.strip()))
    return found


def cues_of(module: str) -> dict[str, dict[str, str]]:
    """Return the rows of the file beside a module, by section and name; rows of the same name are alternatives."""
    found: dict[str, dict[str, str]] = {"words": {}}
    words = found["words"]
    for section, rows in tables(module).items():
        cues = found.setdefault(section, {})
        for name, row in rows:  # <name> stands for a row of the section `words`
            text = re.sub(r"(?<!P)<(\w+)>", lambda match: words[match[1]], row)
            cues[name] = f"{cues[name]}|{text}" if name in cues else text
    return found


def patterns_of(module: str, section: str) -> dict[str, re.Pattern[str]]:
    """Return the rows of a section as patterns."""
    return {name: lazy(text) for name, text in cues_of(module)[section].items()}
