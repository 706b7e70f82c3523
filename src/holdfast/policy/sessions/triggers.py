"""Decide at which commands and files a record is injected, by its own triggers or those that its text implies; and write its warning."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.model.fence import inline
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import filled, shorten
from holdfast.policy.activity.patterns import compiled
from holdfast.policy.sessions.warned_places import sites_in

LONGEST, MOST_SET = 200, 20  # characters of a trigger, and triggers of a record
MOST_WILDCARDS = 6
LONGEST_PART, MOST_STEPS = 300, 3  # of a warning: characters of each line, and steps of its remedy
SPEAKING = frozenset({"scar", "anti_pattern"})
_WILDCARD = re.compile(r"\[[^\]]*\]|[*?]+")
_LITERAL = re.compile(r"[^\W_]{2}")
_PATH = re.compile(
    r"^(?:[\w.@*?-]+/)+[\w.*?@-]*$|^[\w*?-]+\.(?:py|ts|tsx|js|go|rs|rb|java|sql|ya?ml|toml|json|sh|tf|env|md|lock|ipynb|proto)$|^\.env[\w.*]*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Patterns of commands (`git push --force`), and paths or path patterns."""

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
    if kind != "path" and not _PATH.match(pattern) and compiled(pattern) is None:
        return f"the trigger {shown} names no command"
    return ""


def places_of(record: Record) -> Places:
    """Return where a record is injected: at its own triggers, else where its text and anchors imply."""
    if record.triggers:
        usable = [
            trigger for trigger in record.triggers[:MOST_SET] if not _problem(trigger)
        ]  # older versions stored others
        return _sorted(usable)
    if record.kind not in SPEAKING or record.source == "starter":
        return Places()
    return _sorted(inferred(record))


def warns_at(record: Record) -> str:
    """Return at which commands and edits a record warns, in words; "" if at none."""
    places = places_of(record)
    listed = "; ".join(
        (*(f"`{command}`" for command in places.commands), *(f"edits of {path}" for path in places.paths))
    )
    return f"{listed} (inferred from its text)" if listed and not record.triggers else listed


def warning_of(record: Record) -> str:
    """Return what an agent reads at the command or file of a scar: one line each for lesson, reason, excuses and remedy."""
    severity = record.fields.get("severity")
    kind = inline(f"{severity} {record.kind}" if severity else record.kind)
    title, body = record.title.strip(), record.body.strip()
    start = title.rstrip("….").rstrip()
    # The lesson and the rest of the text, without saying anything twice.
    lesson, reason = (title, "" if body.lower() in title.lower() else body)
    if not start or body.lower().startswith(start.lower()):
        lesson, reason = body, ""
    excuses = _texts(record, "counter_arguments")[:MOST_STEPS]
    steps = _texts(record, "action_protocol") or _texts(record, "solution_approach")
    reason = " ".join((reason, *(text for text in _texts(record, "why") if text not in record.body))).strip()
    lines = filled(
        f"Holdfast: {kind} {short(record.id)}: {inline(shorten(lesson, LONGEST_PART))}",
        reason and f"Why: {inline(shorten(reason, LONGEST_PART))}",
        excuses and f"You may think: {inline(shorten('; '.join(excuses), LONGEST_PART))}",
        steps and f"Instead: {inline(shorten('; '.join(steps[:MOST_STEPS]), LONGEST_PART))}",
    )
    return "\n".join(lines)


def inferred(record: Record) -> list[str]:
    """Return the triggers that the text of a warning implies, and the files it cites."""
    title = "" if record.title.strip() in record.body else f"{record.title.strip().rstrip('.')}. "
    warning = "\n".join((f"{title}{record.body}", *_texts(record, "applies_when", "why", "problem_context")))
    named = sites_in(
        warning, advice=_texts(record, "action_protocol", "solution_approach", "self_check", "verify_with")
    )
    cited = [f"path:{path}" for path in (anchor.partition("::")[0] for anchor in record.anchors) if _PATH.match(path)]
    return list(dict.fromkeys(trigger for trigger in (*named, *cited) if not _problem(trigger)))


def _sorted(triggers: Iterable[str]) -> Places:
    commands: dict[str, None] = {}
    paths: dict[str, None] = {}
    for trigger in (item.strip() for item in triggers):
        kind, _, rest = trigger.partition(":")
        if kind in ("command", "path") and rest.strip():
            (commands if kind == "command" else paths)[" ".join(rest.split())] = None
        elif _PATH.match(trigger) and not trigger.startswith("./"):
            paths[trigger] = None
        else:
            commands[" ".join(trigger.split())] = None
    return Places(commands=tuple(commands), paths=tuple(paths))


def _texts(record: Record, *names: str) -> list[str]:
    texts: list[str] = []
    for name in names:
        value = record.fields.get(name)
        texts += map(str, value) if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    return texts
