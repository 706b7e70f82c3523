"""At which commands and files a record should speak up: as its author said, or as its own text names them."""

import re
from dataclasses import dataclass

from holdfast.model.record import Record

SPEAKING = frozenset({"scar", "anti_pattern"})
MOST = 6
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


def places_of(record: Record) -> Places:
    """Give where a record speaks up: its own triggers, else what a warning names in backticks, and its anchors."""
    if record.triggers:
        return _sorted(record.triggers)
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
