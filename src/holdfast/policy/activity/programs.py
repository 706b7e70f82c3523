"""What is known about command-line programs, from `programs.txt`: other names, flags with two spellings, options with values, wrappers.

Hooks import this at a command that may need a warning.
"""

from holdfast.model.patterns import tables

_TABLES = tables(__file__)


def _words(section: str) -> dict[str, list[str]]:
    return {name: words.split() for name, words in _TABLES[section]}


def _spellings(section: str) -> dict[str, dict[str, str]]:
    return {name: dict(word.split("=") for word in words.split()) for name, words in _TABLES[section]}


def _wrapped(section: str) -> dict[str, tuple[list[str], int]]:
    """Return for each wrapper its options with values, and how many words come before the command it runs."""
    return {name.removesuffix(" +1"): (words, int(name.endswith("+1"))) for name, words in _words(section).items()}


ALIASES, VALUED, REWRITING, PACKAGE_COMMANDS = map(_words, ("aliases", "valued", "rewriting", "packages"))
SUBCOMMANDS, FLAGS = _spellings("subcommands"), _spellings("flags")
WRAPPERS, RUNNERS = _wrapped("wrappers"), _wrapped("runners")
HARMLESS = _words("harmless")  # flags with which a program only reports what it would do, or explains itself
_GROUPS = _words("groups")
SHELLS, INTERPRETERS, SQL_CLIENTS, SQL_VERBS, SINGLE_DASH, PLAIN, READERS, CONTAINER, KNOWN = (
    frozenset(_GROUPS[name])
    for name in "shells interpreters sql_clients sql_verbs single_dash plain readers container known".split()
)


def valued(program: str, subcommand: str = "") -> set[str]:
    """Return the options of a program that take the next word as their value."""
    return {*VALUED.get(program, ()), *VALUED.get(f"{program} {subcommand}", ())}
