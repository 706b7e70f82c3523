"""Decide at which commands and files a record is injected: by its own triggers, or by names in its text."""

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
    """Commands, as words in a row, and paths or path patterns."""

    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.paths)


def problem_with(triggers: Sequence[str]) -> str:
    """Return why triggers cannot be used; "" if they can. Hooks compare each of them with every command and file."""
    if len(triggers) > MOST_SET:
        return f"it has {len(triggers)} triggers; {MOST_SET} is the most"
    return next(filter(None, map(_problem, triggers)), "")


def _problem(trigger: str) -> str:
    shown = repr(trigger[:40])
    if len(trigger) > LONGEST:
        return f"the trigger {shown}… is longer than {LONGEST} characters"
    kind, _, rest = trigger.strip().partition(":")
    pattern = rest.strip() if kind in ("command", "path") and rest.strip() else trigger.strip()
    if len(_WILDCARD.findall(pattern)) > MOST_WILDCARDS:
        return f"the trigger {shown} has more than {MOST_WILDCARDS} wildcards"
    if ".." in pattern.split("/"):
        return f"the trigger {shown} leads out of the project"
    if not _LITERAL.search(_WILDCARD.sub("*", pattern)):
        return f"the trigger {shown} would match nearly everything; name at least two letters of the command or path"
    return ""


def places_of(record: Record) -> Places:
    """Return where a record is injected: its own triggers, else names in backticks in a warning, and its anchors."""
    if record.triggers:
        usable = [
            trigger for trigger in record.triggers[:MOST_SET] if not _problem(trigger)
        ]  # older versions stored others
        return _sorted(usable)
    if record.kind not in SPEAKING or record.source == "starter":
        return Places()
    quoted = [quote for text in (record.body, *_texts(record)) for quote in _QUOTED.findall(text)]
    places = _sorted([*quoted, *(anchor.partition("::")[0] for anchor in record.anchors)], explicit=False)
    return Places(commands=places.commands[:MOST], paths=places.paths[:MOST])


def _sorted(names: "list[str] | tuple[str, ...]", *, explicit: bool = True) -> Places:
    commands: dict[str, None] = {}
    paths: dict[str, None] = {}
    for name in (item.strip() for item in names):
        kind, _, rest = name.partition(":")
        if kind in ("command", "path") and rest.strip():
            (commands if kind == "command" else paths)[" ".join(rest.split())] = None
        elif _PATH.match(name):
            paths[name] = None
        elif run := _RUN.match(name):
            commands[run[0] if not explicit else " ".join(name.split())] = None
        elif explicit:
            commands[" ".join(name.split())] = None
    return Places(commands=tuple(commands), paths=tuple(paths))


def _texts(record: Record) -> list[str]:
    texts: list[str] = []
    for name in ("action_protocol", "applies_when", "why"):
        value = record.fields.get(name)
        texts += value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return texts
