"""At which commands and files a record should speak up: as its author said, or as its own text names them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.record import Record

LONGEST, MOST_SET = 200, 20  # characters of a trigger, and triggers of a record
MOST_WILDCARDS = 6
SPEAKING = frozenset({"scar", "anti_pattern"})
MOST = 6
_WILDCARD = re.compile(r"\[[^\]]*\]|[*?]+")
_LITERAL = re.compile(r"[^\W_]{2}")
_QUOTED = re.compile(r"`([^`\n]{3,80})`")
_RUN = re.compile(
    r"^(?:git (?:push|tag|rebase|reset|commit|merge|clean|checkout)|(?:npm|pnpm|yarn|pip|uv|cargo|poetry) [a-z:-]+|make [\w-]+|"
    r"docker(?: compose)? [a-z]+|kubectl [a-z]+|terraform [a-z]+|helm [a-z]+|alembic [a-z]+|python3? -m \w+|pytest|psql|rm -rf)"
)
_PATH = re.compile(
    r"^(?:[\w.@-]+/)+[\w.*@-]+$|^[\w-]+\.(?:py|ts|tsx|js|go|rs|rb|java|sql|ya?ml|toml|json|sh|tf|env|md)$|^\.env[\w.]*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Commands, as words in a row, and paths or patterns of paths."""

    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.paths)


def problem_with(triggers: Sequence[str]) -> str:
    """Return why triggers cannot be used, empty if they can: hooks compare each of them with every command and file."""
    if len(triggers) > MOST_SET:
        return f"it has {len(triggers)} triggers; {MOST_SET} is the most"
    return next(filter(None, map(_problem, triggers)), "")


def _problem(trigger: str) -> str:
    shown = repr(trigger[:40])
    if len(trigger) > LONGEST:
        return f"the trigger {shown}… is longer than {LONGEST} characters"
    kind, _, rest = trigger.strip().partition(":")
    said = rest.strip() if kind in ("command", "path") and rest.strip() else trigger.strip()
    if len(_WILDCARD.findall(said)) > MOST_WILDCARDS:
        return f"the trigger {shown} has more than {MOST_WILDCARDS} wildcards"
    if ".." in said.split("/"):
        return f"the trigger {shown} leads out of the project"
    if not _LITERAL.search(_WILDCARD.sub("*", said)):
        return f"the trigger {shown} would match nearly everything; name at least two letters of the command or path"
    return ""


def places_of(record: Record) -> Places:
    """Give where a record speaks up: its own triggers, else what a warning names in backticks, and its anchors."""
    if record.triggers:
        usable = [one for one in record.triggers[:MOST_SET] if not _problem(one)]  # as older versions kept them
        return _sorted(usable)
    if record.kind not in SPEAKING or record.source == "starter":
        return Places()
    named = [quote for text in (record.body, *_texts(record)) for quote in _QUOTED.findall(text)]
    found = _sorted([*named, *(anchor.partition("::")[0] for anchor in record.anchors)], sure=False)
    return Places(commands=found.commands[:MOST], paths=found.paths[:MOST])


def _sorted(named: "list[str] | tuple[str, ...]", *, sure: bool = True) -> Places:
    commands: dict[str, None] = {}
    paths: dict[str, None] = {}
    for one in (item.strip() for item in named):
        kind, _, rest = one.partition(":")
        if kind in ("command", "path") and rest.strip():
            (commands if kind == "command" else paths)[" ".join(rest.split())] = None
        elif _PATH.match(one):
            paths[one] = None
        elif run := _RUN.match(one):
            commands[run[0] if not sure else " ".join(one.split())] = None
        elif sure:
            commands[" ".join(one.split())] = None
    return Places(commands=tuple(commands), paths=tuple(paths))


def _texts(record: Record) -> list[str]:
    found: list[str] = []
    for name in ("action_protocol", "applies_when", "why"):
        value = record.fields.get(name)
        found += value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return found
