"""Decide at which commands and files a record is injected, by its own triggers or those that its text implies; and write its warning."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.model.ids import short
from holdfast.model.patterns import cues_of, lazy
from holdfast.model.record import Record
from holdfast.model.text import filled, inline, shorten
from holdfast.policy.activity.patterns import compiled, narrowed
from holdfast.policy.activity.shell import INTERPRETERS, KNOWN, SHELLS, SQL_CLIENTS, SQL_VERBS, WRAPPERS

_BARE = frozenset({*SHELLS, *INTERPRETERS, *WRAPPERS})  # alone they name no action
Role = Literal["site", "remedy", "condition", ""]
MOST = 6

_CUES = cues_of(__file__)
_SAYS = {name: lazy(text) for name, text in _CUES["warnings"].items()}
_HABITS = {tuple(commands.split(", ")): lazy(text) for commands, text in _CUES["habits"].items()}
_LANGUAGE = frozenset(_CUES["words"]["language"].split())  # first words of code, not of commands
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
class _Mention:
    text: str
    kind: Literal["command", "path", "flag", "sql"]
    role: Role
    sentence: int


def sites_in(warning: str, *, advice: Iterable[str] = ()) -> list[str]:
    """Return the triggers that a warning's text implies; what `advice` names is what to do, unless a negation says otherwise."""
    mentions = list(_mentions(warning))
    for place, text in enumerate(advice, 1):
        mentions += _mentions(text, default="remedy", first=1_000 * place)
    remedies = [mention.text for mention in mentions if mention.role == "remedy"]
    sites = [mention for mention in mentions if mention.role == "site" and mention.text not in remedies]
    if not sites:  # "pass `--no-cache` to `docker build`": the command is where the flag is missed
        flagged = {mention.sentence for mention in mentions if mention.role == "condition"}
        sites = [mention for mention in mentions if mention.kind == "command" and mention.sentence in flagged]
        remedies = []
    about, triggers = {site.sentence for site in sites}, dict[str, None]()
    flags = [mention for mention in mentions if mention.role == "condition"]
    for text, sentence in _merged(sites, mentions):
        if text.split()[0] in _BARE and len(text.split()) <= 1 + text.count(" -"):
            continue
        # A flag excuses the command of its sentence, or every one if its sentence names none.
        own = [flag.text for flag in flags if flag.sentence == sentence or flag.sentence not in about]
        narrow = text if text.startswith("path:") else narrowed(text, [*remedies, *own])
        is_script = _SAYS["path"].fullmatch(text.removeprefix("./"))  # it looks like a path
        triggers[f"command:{narrow}" if is_script else narrow] = None
    return list(triggers)[:MOST]


def _merged(sites: list[_Mention], mentions: list[_Mention]) -> Iterator[tuple[str, int]]:
    """Yield triggers with their sentence: SQL joins the client that runs it, a flag joins the command of its sentence."""
    commands = [site for site in sites if site.kind == "command"]
    clients = [name for name in (site.text.split()[0] for site in commands) if name in SQL_CLIENTS]
    joined = {site.sentence for site in sites if site.kind == "flag"}
    has_sql = any(site.kind == "sql" for site in sites)
    for site in sites:
        text = site.text
        if site.kind == "path":
            text = f"path:{text}"
        elif site.kind == "sql":
            text = f"{clients[0] if clients else 'sql'} {text}"
        elif site.kind == "flag":
            here = (one for one in mentions if one.kind == "command" and one.sentence == site.sentence)
            text = f"{next((one.text for one in here if one.role in ('site', '')), '')} {text}".strip()
        elif site.sentence in joined or (has_sql and text.split()[0] in SQL_CLIENTS):
            continue
        yield text, site.sentence


def _mentions(text: str, default: Role = "", first: int = 0) -> Iterator[_Mention]:
    """Yield what a text names, each with its role; the first command without a cue is what the text is about."""
    # Sentences are counted from `first`.
    is_told = bool(default)
    text = _SAYS["fence"].sub(_as_quotations, text)
    text = _SAYS["in_quotes"].sub(lambda match: f"`{match[1]}`" if match[1].split()[0] in KNOWN else match[0], text)
    named = {tuple(match[1].split()[:2]) for match in _SAYS["quoted"].finditer(text)}
    for number, sentence in enumerate(_SAYS["sentence"].split(text), first):
        plain = _SAYS["quoted"].sub(lambda quote: " " * len(quote[0]), sentence)
        # What is not in quotation marks counts too, unless the text quotes it elsewhere.
        spans = [(match.span(), match[1].strip().removeprefix("$ ")) for match in _SAYS["quoted"].finditer(sentence)]
        unquoted = ((match.span(), match[0].strip()) for match in _SAYS["prose_command"].finditer(plain))
        spans += [(place, said) for place, said in unquoted if tuple(said.split()[:2]) not in named]
        for (start, end), quoted in sorted(spans):
            before, after = sentence[:start], sentence[end:]
            kind = _kind_of(quoted, before)
            if not kind:
                continue
            role = _role(kind, before, after, default, is_first=not is_told)
            is_told = is_told or role == "site"
            named_as = " ".join(quoted.split())
            named_as = named_as.removesuffix(" …").rstrip() if kind in ("command", "sql") else named_as
            yield _Mention(text=named_as, kind=kind, role=role, sentence=number)
        for commands, pattern in _HABITS.items():
            for match in pattern.finditer(plain):
                before, after = sentence[: match.start()], sentence[match.end() :]
                role = _role_of_habit(match[0], before, after, default)
                if role == "site":
                    is_told = True
                    yield from (_Mention(text=one, kind="command", role=role, sentence=-1) for one in commands)


def _as_quotations(fence: re.Match[str]) -> str:
    lines = [line.strip().removeprefix("$ ") for line in fence[1].splitlines()]
    return " " + ", ".join(f"`{line}`" for line in lines if line and not line.startswith("#")) + "\n"


def _role_of_habit(habit: str, before: str, after: str, default: Role) -> Role:
    """Return what a habit is: one that a clause begins with is advice ("Prune images only"), unless it did harm."""
    if habit.startswith("before"):
        return "site"
    is_order = not _SAYS["clause"].split(before)[-1].strip() and not re.search(r"(?:ing|ed)\b", habit)
    is_advice = is_order and not _SAYS["harm"].search(after)
    return "remedy" if is_advice else _role("command", before, after, default, is_first=True)


def _kind_of(quoted: str, before: str) -> Literal["command", "path", "flag", "sql", ""]:
    quoted = _SAYS["setting"].sub("", quoted) if _SAYS["setting"].match(quoted) else quoted
    words = quoted.split()
    first = words[0] if words else ""
    if first.startswith("-") and len(first) > 1 and _SAYS["second"].match(first):
        return "flag"
    if first.lower() in SQL_VERBS - {"merge"} and first not in KNOWN and (first.isupper() or len(words) > 1):
        return "sql"
    if len(words) == 1 and _SAYS["path"].fullmatch(first):
        is_script = first.startswith("./") or first.endswith((".sh", ".bash", ".ps1")) or "/" in first
        return "command" if first.startswith("./") or (is_script and _SAYS["running"].search(before)) else "path"
    if not _SAYS["word"].fullmatch(first) or first.lower() in _LANGUAGE:
        return ""
    name = first.rpartition("/")[2]
    if name in KNOWN or first.startswith("./"):
        return "command"
    if _SAYS["code"].search(quoted.partition(" ")[0]) or first != first.lower():
        return ""
    if len(words) == 1:
        return "command" if _SAYS["running"].search(before) and "." not in first else ""
    # `consumer stalled` is a name.
    is_name = len(words) == 2 and words[1].isalpha() and before.strip() and not _SAYS["doing"].search(before)
    return "command" if _SAYS["second"].match(words[1]) and not _SAYS["code"].search(quoted) and not is_name else ""


def _role(kind: str, before: str, after: str, default: Role, *, is_first: bool) -> Role:
    before = _SAYS["quoted"].sub("it", before)
    clause = _SAYS["clause"].split(before)[-1]
    if role := _cue_before(kind, before, clause):
        return role
    if kind == "flag":
        if (_SAYS["with"].search(clause) or _SAYS["imperative"].search(clause)) and not _SAYS["gerund"].search(clause):
            return "condition"
        return "site" if is_first and (_SAYS["harm"].search(after) or _SAYS["option"].match(after)) else ""
    if _SAYS["only"].match(after):
        return "site"
    if (
        _SAYS["imperative"].search(_wide(before, clause) if _SAYS["end"].match(after) else clause)
        or (_SAYS["first"].match(after) and _SAYS["ought"].search(clause))
        or _SAYS["good"].match(after)
    ):
        return "remedy"
    if _SAYS["advice"].search(clause) and not is_first:
        return "remedy"
    if _SAYS["went_well"].match(after):
        return ""
    result = after if not before.strip() else _SAYS["clause"].split(after)[0][:40]
    did_harm = kind == "command" and _SAYS["harm"].search(result)
    return default or ("site" if is_first or did_harm else "")


def _cue_before(kind: str, before: str, clause: str) -> Role:
    """Return what the words before a mention make of it, whatever follows."""
    if _SAYS["without"].search(before):
        return "condition" if kind == "flag" else "remedy"
    if _SAYS["example"].search(before):
        return "remedy"
    if _SAYS["opposed"].search(clause):
        return "site"
    if _SAYS["before"].search(clause):
        return "remedy" if _SAYS["negated"].search(clause) else "site"
    if _SAYS["only_after"].search(before):
        return "remedy"
    return "site" if _SAYS["negated"].search(_wide(before, clause)) or _SAYS["when"].search(clause) else ""


def _wide(before: str, clause: str) -> str:
    """Return a clause; if a mention stands alone in it (`…: X`, `… (X)`), the clause before it."""
    clauses = _SAYS["clause"].split(before)
    return clauses[-2] if len(clauses) > 1 and clause.strip().lower() in ("", "or", "and", "nor") else clause


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
        return _sorted(record.triggers[:MOST_SET])
    if record.kind not in SPEAKING or record.source == "starter":
        return Places()
    return _sorted(inferred(record))


def warns_at(record: Record) -> str:
    """Return at which commands and edits a record warns, in words; "" if at none."""
    places = places_of(record)
    edits = (f"edits of {path}" for path in places.paths)
    listed = "; ".join((*(f"`{command}`" for command in places.commands), *edits))
    return f"{listed} (inferred from its text)" if listed and not record.triggers else listed


def warning_of(record: Record) -> str:
    """Return what an agent reads at the command or file of a scar: one line each for lesson, reason, excuses and remedy."""
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
        f"Holdfast: {inline(record.graded)} {short(record.id)}: {inline(shorten(lesson, LONGEST_PART))}",
        reason and f"Why: {inline(shorten(reason, LONGEST_PART))}",
        excuses and f"You may think: {inline(shorten('; '.join(excuses), LONGEST_PART))}",
        steps and f"Instead: {inline(shorten('; '.join(steps[:MOST_STEPS]), LONGEST_PART))}",
    )
    return "\n".join(lines)


def inferred(record: Record) -> list[str]:
    """Return the triggers that the text of a warning implies, and the files it cites."""
    title = "" if record.title.strip() in record.body else f"{record.title.strip().rstrip('.')}. "
    warning = "\n".join((f"{title}{record.body}", *_texts(record, "applies_when", "why", "problem_context")))
    advice = _texts(record, "action_protocol", "solution_approach", "self_check", "verify_with")
    named = sites_in(warning, advice=advice)
    cited = [f"path:{path}" for path in (anchor.partition("::")[0] for anchor in record.anchors) if _PATH.match(path)]
    return [*named, *cited]


def _sorted(triggers: Iterable[str]) -> Places:
    found: dict[str, dict[str, None]] = {"command": {}, "path": {}}
    for trigger in (trigger.strip() for trigger in triggers if not _problem(trigger)):
        kind, _, rest = trigger.partition(":")
        if kind not in found or not rest.strip():
            kind, rest = "path" if _PATH.match(trigger) and not trigger.startswith("./") else "command", trigger
        found[kind][" ".join(rest.split())] = None
    return Places(commands=tuple(found["command"]), paths=tuple(found["path"]))


def _texts(record: Record, *names: str) -> list[str]:
    values = (value for name in names if isinstance(value := record.fields.get(name) or [], str | list))
    return [str(text) for value in values for text in (value if isinstance(value, list) else [value])]
