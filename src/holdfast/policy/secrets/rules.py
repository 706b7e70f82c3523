"""The shapes of credentials, the commands that take one and the names that announce one, from `rules.txt`, which says how its rows are read."""

from holdfast.model.patterns import tables

_TABLES = tables(__file__)
# Name, hints, pattern, and where the format is described.
RULES = [(name.rstrip("?!"), *row.split("\t")) for name, row in _TABLES["shapes"]]
JUDGED = frozenset(name[:-1] for name, _ in _TABLES["shapes"] if name.endswith("?"))
WHOLE = frozenset(name[:-1] for name, _ in _TABLES["shapes"] if name.endswith("!"))
# Programs, a word that must be among their arguments, and the place of the password.
COMMANDS = [(names, *row.removeprefix("-").split("\t")) for names, row in _TABLES["commands"]]
# What names of secrets, and values that are none, look like.
NAMES = dict(_TABLES["names"])
