"""Find in the text of a warning the commands and files it warns of, and tell them from those it recommends instead.

A command in backticks is what goes wrong ("`X` deleted …", "never run `X`", "instead of `X`"), or what to do ("use `X`", "run `X` first",
"`X` is enough"). The words around it, inside its clause, decide. Some habits are recognised without backticks ("never force push").
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.policy.activity.patterns import narrowed
from holdfast.policy.activity.programs import INTERPRETERS, KNOWN, SHELLS, SQL_CLIENTS, SQL_VERBS, WRAPPERS

_BARE = frozenset({*SHELLS, *INTERPRETERS, *WRAPPERS})  # alone they name no action
Role = Literal["site", "remedy", "condition", ""]
MOST = 6

_SENTENCE = lazy(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|\n+")
_FENCE = lazy(r"\s*```[\w-]*\n(.*?)\n?```", re.DOTALL)
_IN_QUOTES = lazy(r"(?<!\w)[\"'“‘]([a-z][\w.-]* [^\"'”’`\n]{2,80})[\"'”’](?!\w)")
_SETTING = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )+(?=\S)")
_QUOTED = lazy(r"`([^`\n]{2,200})`")
_CLAUSE = lazy(
    r"[;:(),–—]|\s-\s|\b(?:but|so|then|and then|because|since|unless|and (?=(?:use|run|call|write|change)\b))"
)
_PATH = lazy(
    r"(?:[\w.@*-]+/)+[\w.*@-]*|[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cpp|cs|php|sql|ya?ml|toml|json|jsonc|lock|sh|tf|env|md|"
    r"ini|cfg|conf|proto|graphql|prisma|gradle|xml|html|css|scss|txt|csv|ipynb|properties)|\.env[\w.]*|(?:Makefile|Dockerfile|Justfile|justfile|Gemfile|Procfile)"
)
_WORD = lazy(r"[A-Za-z_./~][\w./@~+-]*")
_SECOND = lazy(r"-{1,2}[A-Za-z0-9]|--$|[a-z][\w:-]*$|[\w.@*~$<…/-]*[./*…<>@][\w./@:*~$<>…-]*$|[A-Z]{3,}")
_CODE = lazy(r"[{}=]|\(\)|\w\(|->|::|=>|,\s*$")
# First words of code, not of commands.
_LANGUAGE = frozenset(
    "select import from async def class return if for while not is in function const let var public private static new null true false throw raise await "
    "yield type interface struct enum fn pub use package with try except export void int string bool the a an no yes and or error warning none".split()
)
_PROSE_COMMAND = lazy(
    r"(?<![\w`/.-])(?:git (?:push|commit|rebase|reset|clean|checkout|merge|tag|stash|add|branch|filter-branch|cherry-pick)|"
    r"(?:npm|pnpm|yarn|pip|uv|poetry|cargo|gem|brew|apt|apt-get) (?:publish|install|update|upgrade|uninstall|remove|add|yank|audit fix)|"
    r"docker (?:system prune|compose down|compose up|volume (?:rm|prune)|image prune|rm|rmi|push|build|run)|docker-compose (?:down|up)|"
    r"kubectl (?:delete|apply|drain|scale|edit|rollout|exec|patch|replace)|helm (?:upgrade|install|uninstall|rollback|delete)|"
    r"(?:terraform|tofu|terragrunt|pulumi) (?:apply|destroy|import|up|taint|state rm)|alembic (?:upgrade|downgrade|stamp)|"
    r"systemctl (?:restart|stop|start|disable|enable|reload)|(?:fly|vercel|netlify|wrangler|cdk|sls|serverless|firebase) (?:deploy|destroy)|"
    r"twine upload|redis-cli (?:FLUSHALL|FLUSHDB|flushall|flushdb)|rails db:\w+|manage\.py \w+|aws s3 (?:rm|sync|mv|rb)|gh (?:release|pr merge|repo delete)|"
    r"rm -[rRf]+|chmod -R|make [a-z][\w-]*(?=[ ,.;])(?<!make sure)(?<!make the)(?<!make a)(?<!make it)|dropdb|kill -9|dd if=)(?:\s+--?[a-zA-Z][\w-]*)*(?=[\s,.;:)]|$)"
)
# Habits that people name without the command.
_HABITS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (lazy(pattern, re.IGNORECASE), commands)
    for pattern, commands in (
        (r"\bforce[- ]?push(?:ing|ed|es)?\b|\bpush(?:ing|ed)? (?:with|by) force\b", ("git push --force",)),
        (r"\bamend(?:ing|ed|s)? (?:\w+ )?(?:commits?|history|it after)\b|\bamend(?:ing)? (?:after|once) push", ("git commit --amend",)),
        (r"\b(?:skip|bypass|circumvent)(?:ping|p?ed|ing|s)? (?:the )?(?:pre-?commit |git |commit )?hooks?\b", ("git commit --no-verify", "git push --no-verify")),
        (r"\bhard[- ]reset(?:ting|s)?\b|\breset(?:ting)? hard\b", ("git reset --hard",)),
        (r"\brebas(?:e|ing|ed) (?:\w+ )?(?:shared|public|pushed|release|remote)\b", ("git rebase",)),
        (r"\brewrit(?:e|ing|ten) (?:\w+ )?(?:public |pushed |shared |git )?history\b", ("git rebase", "git filter-branch", "git push --force")),
        (r"\bsquash[- ]merg(?:e|ing|ed)s?\b", ("git merge --squash", "gh pr merge --squash")),
        (r"\b(?:push|commit)(?:ing|ed)? (?:directly |straight )?(?:in)?to (?:the )?(?:main|master)\b", ("git push main", "git push master")),
        (r"\bbefore (?:you |we |every |each |any |the |a |doing )*(?:git )?commit(?:ting|s)?\b(?! [0-9a-f]{7})", ("git commit",)),
        (r"\bbefore (?:you |we |every |each |any |the |a |doing )*(?:git )?push(?:ing|es)?\b(?! notif)", ("git push",)),
        (r"\bdrop(?:ping|ped)? (?:\w+ ){0,2}(?:tables?|columns?)\b", ("sql DROP",)),
        (r"\bdrop(?:ping|ped)? (?:\w+ ){0,2}(?:database|schema)s?\b", ("sql DROP", "dropdb")),
        (r"\btruncat(?:e|ing|ed) (?:\w+ ){0,2}tables?\b", ("sql TRUNCATE",)),
        (r"\bpublish(?:ing|ed)? (?:\w+ ){0,2}to npm\b", ("npm publish", "pnpm publish", "yarn publish")),
        (r"\b(?:publish|upload)(?:ing|ed)? (?:\w+ ){0,2}to PyPI\b", ("twine upload", "uv publish", "poetry publish")),
        (r"\b(?:pip )?install(?:ing|ed)? (?:\w+ ){0,2}(?:in|into|to|with) (?:the )?(?:system|global) (?:python|interpreter|environment|pip)\b", ("pip install",)),
        (r"\bprun(?:e|ing|ed) (?:\w+ ){0,2}(?:docker|volumes?|images?)\b|\bdocker prun(?:e|ing)\b", ("docker system prune", "docker volume prune")),
    )
)  # fmt: skip

_NOT = r"never|don'?t|do not|avoid|not|no longer|stop (?=\w+ing\b)|mustn'?t|cannot|can'?t|shouldn'?t|forbidden|refrain from|nie|niemals|nicht|nunca|jamais|evita|不要|禁止"
_NEGATED = lazy(rf"(?:\b|(?<=\W))(?:{_NOT})(?:\b|(?=\W)).*$", re.IGNORECASE)
_OPPOSED = lazy(
    r"\b(?:instead of|rather than|over|in place of|not|than|anstatt|statt|anstelle von|en lugar de|en vez de|em vez de|au lieu de)\s+(?:\w+ ){0,2}$", re.IGNORECASE
)  # fmt: skip
_WITHOUT = lazy(r"\bwithout\s+(?:\w+ ){0,3}$|\b(?:lacks?|lacking|missing|forgot|omit\w*)\s+(?:\w+ ){0,2}$", re.IGNORECASE)  # fmt: skip
_WITH = lazy(r"\b(?:with|add|adding|pass|passing|needs?|requires?|set|give it|include)\s+(?:\w+ ){0,2}$", re.IGNORECASE)  # fmt: skip
_BEFORE = lazy(r"\b(?:before|prior to|ahead of|until)\s+(?:\w+ ){0,3}$", re.IGNORECASE)
_ONLY_AFTER = lazy(r"\b(?:only|not|never|don'?t|wait)\b.*\b(?:after|once|until|when|if)\s+(?:\w+ ){0,3}$", re.IGNORECASE)  # fmt: skip
_WHEN = lazy(r"\b(?:when|whenever|while|if|after|once|each time|every time)\s+(?:you |we |someone |people )?(?:\w+ ){0,2}$", re.IGNORECASE)  # fmt: skip
_EXAMPLE = lazy(r"\b(?:as in|such as|e\.?g\.?,?|for example,?|for instance,?|like)\s*$", re.IGNORECASE)
_VERBS = (
    r"use|prefer|run|rerun|try|call|do|switch|replace|check|print|list|stash|verify|publish|change|edit|write|generate|regenerate|drain|restore|merge|start|set|ask|export|add|"
    r"upgrade|work|make|take|snapshot|wait|flush|go|let|pass|read|download|commit|review|have|open|push|create|keep|put|send|build|test|install|deploy|see|look|remember|ensure|"
    r"confirm|inspect|pull|fetch|apply|copy|rename|back up|dump|pin|bump|update|stop it|fix|prefix|wrap|nutze|verwende|benutze|usa|usar|utilise[rz]?"
)
_IMPERATIVE = lazy(
    rf"^\W*(?:(?:please|always|just|only|then|instead|better|fix|so|and|or|first|you|we|must|should|need to|have to|has to|can|to)[\s,:]+)*(?:{_VERBS})\b(?!\w*ing)|"
    r"\b(?:should|must|have to|need to|always|please) (?:be )?(?:use[ds]?|run|call|prefer)\b|\buse[ds]? instead\b|\buse\s*$|用\s*$",
    re.IGNORECASE,
)
_ADVICE = lazy(
    r"\b(?:using|used|replaced? (?:it |this )?(?:with|by)|fixed|instead|made with|built with|done with|goes? through|through|via|with|by|is|are)\b.*$", re.IGNORECASE
)  # fmt: skip
_OUGHT = lazy(rf"\b(?:must|should|need to|have to|always|{_VERBS})\b", re.IGNORECASE)
_ONLY = lazy(r"\s*(?:must |may |should |can )?only (?:after|when|if|once|in|from|be)\b", re.IGNORECASE)
_OPTION = lazy(r"\s*(?:flag|option|switch)\b", re.IGNORECASE)
_GERUND = lazy(r"^\W*(?:using|passing|adding|running|calling|with|the)\b", re.IGNORECASE)
_GOOD = lazy(
    r"\s*(?:\w+ ){0,3}(?:enough|fine|safe|safer|okay|suffices|preferred|allowed|instead|better|faster|works|recommended|the (?:right|correct|safe|proper) \w+)\b", re.IGNORECASE
)  # fmt: skip
_DOING = lazy(
    r"(?:\b(?:runs?|ran|running|starts?|started|starting|never|don'?t|not|avoid|use[ds]?|using|before|after|when|if|with|of|than|to|via|through|do|calls?|first|and|or)|[(:;,])\s*$",
    re.IGNORECASE,
)
_END = lazy(r"[\s.,;)!]*$|\s*\)|\s*,?\s*(?:or|and|first)\b", re.IGNORECASE)
_WENT_WELL = lazy(r"\s*(?:\w+ ){0,2}(?:passe[sd]|succeed\w*|was green|worked)\b", re.IGNORECASE)
_FIRST = lazy(r"\s*(?:first|beforehand|before|prior to)\b", re.IGNORECASE)
_RUNNING = lazy(r"\b(?:run|runs|running|ran|start|starting|started|execut\w+|launch\w*|invok\w+|call(?:ing)?|rerun\w*|typing)\s+(?:\w+ ){0,1}$", re.IGNORECASE)  # fmt: skip
_HARM = lazy(
    r"\b(?:without|delet\w+|remov\w+|wip\w+|br[eo]\w*k\w*|los[et]\w*|overw\w+|dropp?\w*|restart\w+|lock\w*|fail\w*|corrupt\w*|leak\w*|hangs?|hung|kill\w*|block\w*|"
    r"destroy\w*|replac\w+|reset\w*|undo\w*|wrong\w*|t[ao]\w*k?\w* down|bump\w+|skip\w+|doubl\w+|duplicat\w+|expos\w+|charg\w+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mention:
    """A command, path, flag or piece of SQL that a text names, and what it is there."""

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
    triggers = [
        _trigger(text, [*remedies, *_conditions(mentions, sites, sentence)])
        for text, sentence in _merged(sites, mentions)
        if text.split()[0] not in _BARE or len(text.split()) > 1 + text.count(" -")
    ]
    return list(dict.fromkeys(triggers))[:MOST]


def _trigger(text: str, excuses: list[str]) -> str:
    """Return a trigger with what excuses it; a script is marked as a command, for it looks like a path."""
    if text.startswith("path:"):
        return text
    narrow = narrowed(text, excuses)
    return f"command:{narrow}" if _PATH.fullmatch(text.removeprefix("./")) else narrow


def _conditions(mentions: list[_Mention], sites: list[_Mention], sentence: int) -> list[str]:
    """Return the flags that excuse a command: named in its sentence, or in one that names no command."""
    about = {site.sentence for site in sites}
    return [
        mention.text
        for mention in mentions
        if mention.role == "condition" and (mention.sentence == sentence or mention.sentence not in about)
    ]


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
            near = (
                one
                for one in mentions
                if one.kind == "command" and one.role in ("site", "") and one.sentence == site.sentence
            )
            text = f"{next((one.text for one in near), '')} {text}".strip()
        elif site.sentence in joined or (has_sql and text.split()[0] in SQL_CLIENTS):
            continue
        yield text, site.sentence


def _mentions(text: str, default: Role = "", first: int = 0) -> Iterator[_Mention]:
    """Yield what a text names, each with its role; the first command without a cue is what the text is about.

    Sentences are counted from `first`.
    """
    is_told = bool(default)
    text = _FENCE.sub(_as_quotations, text)
    text = _IN_QUOTES.sub(lambda match: f"`{match[1]}`" if match[1].split()[0] in KNOWN else match[0], text)
    named = {tuple(match[1].split()[:2]) for match in _QUOTED.finditer(text)}
    for number, sentence in enumerate(_SENTENCE.split(text), first):
        for start, end, quoted in _spans(sentence, named):
            before, after = sentence[:start], sentence[end:]
            kind = _kind_of(quoted, before)
            if not kind:
                continue
            role = _role(kind, before, after, default, is_first=not is_told)
            is_told = is_told or role == "site"
            yield _Mention(text=_cleaned(quoted, kind), kind=kind, role=role, sentence=number)
        for pattern, commands in _HABITS:
            for match in pattern.finditer(_QUOTED.sub(lambda quote: " " * len(quote[0]), sentence)):
                before, after = sentence[: match.start()], sentence[match.end() :]
                role = _role_of_habit(match[0], before, after, default)
                if role == "site":
                    is_told = True
                    yield from (_Mention(text=one, kind="command", role=role, sentence=-1) for one in commands)


def _as_quotations(fence: re.Match[str]) -> str:
    """Return the lines of a code block as quotations in the sentence before it."""
    lines = [line.strip().removeprefix("$ ") for line in fence[1].splitlines()]
    return " " + ", ".join(f"`{line}`" for line in lines if line and not line.startswith("#")) + "\n"


def _role_of_habit(habit: str, before: str, after: str, default: Role) -> Role:
    """Return what a habit is: one that a clause begins with is advice ("Prune images only"), unless it did harm."""
    if habit.startswith("before"):
        return "site"
    is_order = not _CLAUSE.split(before)[-1].strip() and not re.search(r"(?:ing|ed)\b", habit)
    return "remedy" if is_order and not _HARM.search(after) else _role("command", before, after, default, is_first=True)


def _spans(sentence: str, named: set[tuple[str, ...]]) -> list[tuple[int, int, str]]:
    """Return quotations with their places, and commands without quotation marks unless the text quotes them elsewhere."""
    quoted = [(match.start(), match.end(), match[1].strip().removeprefix("$ ")) for match in _QUOTED.finditer(sentence)]
    plain = _PROSE_COMMAND.finditer(_QUOTED.sub(lambda quote: " " * len(quote[0]), sentence))
    unquoted = [(match.start(), match.end(), match[0].strip()) for match in plain]
    return sorted([*quoted, *(span for span in unquoted if tuple(span[2].split()[:2]) not in named)])


def _kind_of(quoted: str, before: str) -> Literal["command", "path", "flag", "sql", ""]:
    """Return what a quotation is; "" if it is none of these."""
    quoted = _SETTING.sub("", quoted) if _SETTING.match(quoted) else quoted
    words = quoted.split()
    first = words[0] if words else ""
    if first.startswith("-") and len(first) > 1 and _SECOND.match(first):
        return "flag"
    if (
        first.lower() in SQL_VERBS
        and first.lower() != "merge"
        and (first.isupper() or len(words) > 1)
        and first not in KNOWN
    ):
        return "sql" if first.isupper() or words[1:2] != [] else ""
    if len(words) == 1 and _PATH.fullmatch(first):
        is_script = first.startswith("./") or first.endswith((".sh", ".bash", ".ps1")) or "/" in first
        return "command" if first.startswith("./") or (is_script and _RUNNING.search(before)) else "path"
    if not _WORD.fullmatch(first) or first.lower() in _LANGUAGE:
        return ""
    name = first.rpartition("/")[2]
    if name in KNOWN or first.startswith("./"):
        return "command"
    if _CODE.search(quoted.partition(" ")[0]) or first != first.lower():
        return ""
    if len(words) == 1:
        return "command" if _RUNNING.search(before) and "." not in first else ""
    is_name = (
        len(words) == 2 and words[1].isalpha() and before.strip() and not _DOING.search(before)
    )  # `consumer stalled`
    return "command" if _SECOND.match(words[1]) and not _CODE.search(quoted) and not is_name else ""


def _cleaned(quoted: str, kind: str) -> str:
    text = " ".join(quoted.split())
    return text.rstrip("…").rstrip() if kind in ("command", "sql") and text.endswith(" …") else text


def _role(kind: str, before: str, after: str, default: Role, *, is_first: bool) -> Role:
    """Decide what a mention is by the words of its clause."""
    before = _QUOTED.sub("it", before)
    clause = _CLAUSE.split(before)[-1]
    if role := _cue_before(kind, before, clause):
        return role
    if kind == "flag":
        if (_WITH.search(clause) or _IMPERATIVE.search(clause)) and not _GERUND.search(clause):
            return "condition"
        return "site" if is_first and (_HARM.search(after) or _OPTION.match(after)) else ""
    if _ONLY.match(after):
        return "site"
    if (
        _IMPERATIVE.search(_wide(before, clause) if _END.match(after) else clause)
        or (_FIRST.match(after) and _OUGHT.search(clause))
        or _GOOD.match(after)
    ):
        return "remedy"
    if _ADVICE.search(clause) and not is_first:
        return "remedy"
    if _WENT_WELL.match(after):
        return ""
    did_harm = _HARM.search(after if not before.strip() else _CLAUSE.split(after)[0][:40]) and kind == "command"
    return default or ("site" if is_first or did_harm else "")


def _cue_before(kind: str, before: str, clause: str) -> Role:
    """Return what the words before a mention make of it, whatever follows."""
    if _WITHOUT.search(before):
        return "condition" if kind == "flag" else "remedy"
    if _EXAMPLE.search(before):
        return "remedy"
    if _OPPOSED.search(clause):
        return "site"
    if _BEFORE.search(clause):
        return "remedy" if _NEGATED.search(clause) else "site"
    if _ONLY_AFTER.search(before):
        return "remedy"
    return "site" if _NEGATED.search(_wide(before, clause)) or _WHEN.search(clause) else ""


def _wide(before: str, clause: str) -> str:
    """Return a clause; if a mention stands alone in it (`…: X`, `… (X)`), the clause before it."""
    clauses = _CLAUSE.split(before)
    return clauses[-2] if len(clauses) > 1 and clause.strip().lower() in ("", "or", "and", "nor") else clause
