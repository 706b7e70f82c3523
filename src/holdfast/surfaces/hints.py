"""What agents read instead of commands of the terminal: the tools that their surface has for the same."""

import re

from holdfast.model.patterns import tables

TOOLS = {surface: dict(rows) for surface, rows in tables(__file__).items()}
_COMMAND = re.compile(r"\bholdfast (?=[a-z])")


def for_agents(hint: str, surface: str) -> str:
    """Return a hint with the surface's tools; one for which it has no tool is left for the user to act on."""
    named = _COMMAND.search(hint)
    if not named:
        return hint
    command, table = hint[named.end() :], TOOLS.get(surface, {})
    for name in sorted(table, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?![\w-])", command):
            return table[name]
    return f"For the user: {hint}"
