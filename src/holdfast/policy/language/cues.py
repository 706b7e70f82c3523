"""Rows of regular expressions in text files, and the closed word lists of the rules about language (`cues.txt`) as such rows."""

import re

from holdfast.model.patterns import lazy, tables


def cues_of(module: str) -> dict[str, dict[str, str]]:
    """Return the rows of the file beside a module, by section and name; rows of the same name are alternatives.

    `<name>` in a row stands for a row of the section `words`.
    """
    found: dict[str, dict[str, str]] = {"words": {}}
    words = found["words"]
    for section, rows in tables(module).items():
        cues = found.setdefault(section, {})
        for name, row in rows:
            text = re.sub(r"(?<!P)<(\w+)>", lambda match: words[match[1]], row)
            cues[name] = f"{cues[name]}|{text}" if name in cues else text
    return found


def patterns_of(module: str, section: str) -> dict[str, re.Pattern[str]]:
    """Return the rows of a section as patterns."""
    return {name: lazy(text) for name, text in cues_of(module)[section].items()}


CUES: dict[str, str] = {name: text for rows in cues_of(__file__).values() for name, text in rows.items()}
