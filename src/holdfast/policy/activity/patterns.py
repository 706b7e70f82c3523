"""Match commands against patterns such as `git push --force`, `curl | sh` or `pytest unless uv run pytest`, and list the files they write.

A pattern names a program, its subcommand, the flags that matter and targets, as a command would. A command matches however it is written:
flags in another order or spelling, other options between, behind a wrapper, in a pipeline or a nested shell. `-flag` alone matches any program.
Hooks import this module: patterns are compiled to plain lists, which a prepared file holds.
"""

import re
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from holdfast.model.patterns import Any, lazy
from holdfast.policy.activity import shell
from holdfast.policy.activity.shell import Call, parse, program_of

ANY_SQL = "sql"  # in a pattern: every client of a database
UNLESS = " unless "
# Flags that say how much to print or to ask: they make no command dangerous.
_DECORATION = frozenset({"verbose", "quiet", "q", "yes", "y", "interactive", "it", "t", "message", "m", "no-edit", "color", "set-upstream"})  # fmt: skip
_PLACEHOLDER = lazy(r"<[^<>]*>|\[[^\]]*\]|…|\.\.\.|\$\(…\)")
_NAMED = lazy(r"<[\w .-]+>")
_IN_BIN = lazy(r"(?:.*/)?\.?s?bin/[^/]+")
_SUBCOMMAND = lazy(r"[A-Za-z][\w:-]*")
_SPACES = lazy(r"[\s;=(),]+")
_VARIABLE = lazy(r"\$\{?(\w+)\}?")

_FINDING = frozenset({"delete", "exec", "execdir", "ok"})  # of `find`: all else only selects files
_KILLING = frozenset({"9", "KILL", "SIGKILL"})

# What a call is made of. `operands`: (word, whether it may be the value of the option before it).
Anatomy = namedtuple("Anatomy", ("program", "path", "flags", "operands"))  # noqa: PYI024  importing typing is too slow here


def compiled(text: str) -> dict[str, Any] | None:
    """Return a pattern in the form that `fires` takes; None if no command is named."""
    pattern, *excuses = text.split(UNLESS)
    stages = _stages(pattern)
    if not stages:
        return None
    unless = [stage for excuse in excuses for stage in _stages(excuse, outermost=True)[:1]]
    env = [setting for calls in _parsed(pattern)[-1:] for setting in calls[-1].env if "*" not in setting]
    return {"stages": stages, "unless": unless, "env": env}


def names_in(pattern: dict[str, Any]) -> list[str]:
    """Return names of which a command must contain one to match a pattern; empty if any command may."""
    program = pattern["stages"][0][0]
    if not program:
        return []
    if program == ANY_SQL:
        return sorted(shell.SQL_CLIENTS)
    name = program_of(program)
    return [name, *(other for other, words in shell.ALIASES.items() if words[0] == name)]


def fires(pattern: dict[str, Any], pipelines: Iterable[Sequence[Call]]) -> bool:
    """True if a call of a command matches a pattern and none of its exceptions."""
    stages = pattern["stages"]
    for calls in pipelines:
        place = 0
        for call in calls:
            fits = any(_fits_view(stages[place], view, call, harmless=False) for view in call.views)
            excused = (_fits_view(excuse, view, call) for excuse in pattern["unless"] for view in call.views)
            if fits and set(call.env).issuperset(pattern.get("env", ())) and not any(excused):
                place += 1
                if place == len(stages):
                    return True
    return False


def narrowed(text: str, remedies: Iterable[str]) -> str:
    """Return a pattern that leaves out those remedies that it would match."""
    pattern, own = compiled(text), _parsed(text)
    if not pattern or not own:
        return text
    last, kept = own[-1][0], list[str]()
    for remedy in remedies:
        excuse, longer = _stages(remedy, outermost=True)[:1], _parsed(remedy)
        covers_all = any(_fits_view(stage, view, last) for stage in excuse for view in last.views)
        is_flag = remedy.startswith("-")
        if excuse and not covers_all and (is_flag or fires(pattern, longer)):
            stands_for = remedy
            if longer and not is_flag and last.views[0] == last.views[-1]:
                # The same command with a target where the pattern has none stands for every target.
                bare, full = anatomy(last.views[-1]), anatomy(longer[-1][0].views[-1])
                if full.flags == bare.flags and full.operands and full.operands[:-1] == bare.operands:
                    stands_for = f"{text} *"
            kept.append(stands_for)
    return UNLESS.join([text, *dict.fromkeys(kept)])


def _stages(text: str, *, outermost: bool = False) -> list[list[Any]]:
    text = text.strip()
    if text.startswith("-"):
        return [["", "", [word for word in text.split() if word.startswith("-")], [], ""]]
    calls = (_parsed(text) or [[]])[-1]  # of `cd app && make deploy`, the last is what matters
    views = [(call.views[0 if outermost else -1], call.input) for call in calls if call.views]
    return [_stage(view, given, outermost=outermost) for view, given in views]


def _parsed(text: str) -> list[list[Call]]:
    """Parse a pattern; `<name>` in it stands for any word."""
    return parse(_NAMED.sub("*", text))


def _stage(view: tuple[str, ...], given: str, *, outermost: bool) -> list[Any]:
    """Return [program, subcommand, flags, targets, phrase] of one call of a pattern."""
    found = anatomy(view)
    words = [word for word, _ in found.operands]
    wanted = [flag for flag in found.flags if flag.partition("=")[0] not in _DECORATION]
    named = [flag for flag in wanted if not _PLACEHOLDER.search(flag)]
    flags = sorted(named or [flag for flag in found.flags if "=" not in flag])
    if found.program in shell.SQL_CLIENTS or found.program == ANY_SQL:
        # The SQL, from its first verb on, without placeholders.
        sql = _SPACES.split(_PLACEHOLDER.sub(" ", _sql(view, given)).strip())
        start = next((place for place, word in enumerate(sql) if word in shell.SQL_VERBS), len(sql))
        phrase = " ".join(sql[start:])
        return [found.program, "", [], [], phrase] if phrase else [found.program, "", flags, words, ""]
    if found.program == "find" and set(flags) & _FINDING:
        return ["find", "", [flag for flag in flags if flag in _FINDING], [], ""]
    if found.program == "rm" and "recursive" in flags:
        flags = [flag for flag in flags if flag != "force"]
    subcommand = ""
    if found.program in shell.PLAIN:
        words = ["[*]" if word == "*" else word for word in words]  # all files, not any
    elif words and found.program and _SUBCOMMAND.fullmatch(words[0]):
        subcommand, *words = words
    targets = [_PLACEHOLDER.sub("*", word) if not word.startswith(("./...", "[*]")) else word for word in words]
    path = found.path if "/" in found.path and (outermost or not _IN_BIN.match(found.path)) else found.program
    return [path, subcommand, flags, [target for target in targets if target.strip("*")] or targets[:1], ""]


def _fits_view(stage: list[Any], view: tuple[str, ...], call: Call, *, harmless: bool = True) -> bool:
    """True if one view of a call has all that a stage names. Unless `harmless`, calls that change nothing do not fit."""
    program, subcommand, flags, targets, phrase = stage
    if program and not _same_program(program, view[0]):
        return False
    found = anatomy(view)
    if not program and (found.program in shell.READERS or not found.flags):
        return False
    if not program:
        subcommand_here = found.operands[0][0] if found.operands else ""
        flags = [name for word in flags for name in _named(word, found.program, subcommand_here)[0]]
    for flag in flags:  # `--force*` stands for every flag that begins so
        begins = flag.endswith("*") and any(own.startswith(flag[:-1]) for own in found.flags)
        if flag not in found.flags and not begins:
            return False
    if not harmless and _changes_nothing(found, flags):
        return False
    if phrase and f" {phrase} " not in f" {_SPACES.sub(' ', _sql(view, call.input))} ":
        return False
    operands = found.operands
    if subcommand:  # the first operand, or behind words that may be values of options
        names = [word.lower() for word, _ in operands]
        place = names.index(subcommand.lower()) if subcommand.lower() in names else len(names)
        if place == len(names) or not all(may_be_value for _, may_be_value in operands[:place]):
            return False
        operands = operands[place + 1 :]
    words = iter([word for word, _ in operands])
    return all(any(_same_target(target, word) for word in words) for target in targets)  # in this order


def _sql(view: tuple[str, ...], given: str) -> str:
    return " ".join((*view[1:], given)).replace("'", " ").replace('"', " ").lower()


def _same_program(program: str, word: str) -> bool:
    if "/" in program:
        return f"/{word.removeprefix('./')}".endswith(f"/{program.removeprefix('./')}")
    alike = shell.SQL_CLIENTS if program == ANY_SQL else shell.SHELLS if program in shell.SHELLS else (program,)
    return program_of(word) in alike


def _same_target(target: str, word: str) -> bool:
    first, second = _plain(target), _plain(word)
    if first == second or "*" not in first or "$" in first:
        return first == second
    from fnmatch import fnmatchcase  # noqa: PLC0415  few commands need it

    return fnmatchcase(second, first)


def _plain(word: str) -> str:
    word = _VARIABLE.sub(r"$\1", word)
    return (word.removeprefix("./").rstrip("/") or word) if word not in (".", "./...") else word


def _changes_nothing(found: Anatomy, flags: list[str]) -> bool:
    """True if a call only explains itself or reports what it would do; a flag that the pattern itself names does not count."""
    quiet = {*shell.HARMLESS["any"], *shell.HARMLESS.get(found.program, ())} - set(flags)
    words = [word for word, _ in found.operands]
    if found.flags & quiet:
        return "dry-run=none" not in found.flags
    if not words and found.flags & {"v", "V"} and found.program not in shell.PLAIN:
        return True
    if found.program == "git" and words[:1] in (["tag"], ["branch"]):
        return "list" in found.flags or (len(words) == 1 and not found.flags - {"a", "r", "v"})
    return words[:1] == ["help"]


# What a short flag usually means, where the program's table does not say otherwise.
_COMMON = dict(f="force", r="recursive", R="recursive", a="all", d="delete", g="global", y="yes", q="quiet")  # noqa: C408


@lru_cache(maxsize=1_000)
def anatomy(view: tuple[str, ...]) -> Anatomy:
    """Return the program, flags and operands of a call, with one spelling for each."""
    program, subcommand = program_of(view[0]), ""
    flags, operands, after_option, is_value, ended = set[str](), list[tuple[str, bool]](), False, False, False
    names = set[str]()
    for word in view[1:]:
        if is_value:
            is_value = False
            flags |= {f"{name}={_plain(word)}" for name in names}
        elif word == "--" and not ended:
            ended, after_option = True, False
        elif not ended and len(word) > 1 and word[0] == "-" and " " not in word:
            names, has_value = _named(word, program, subcommand)
            flags |= names
            last = word.lstrip("-") if word.startswith("--") or program in shell.SINGLE_DASH else word[-1:]
            after_option, is_value = not has_value, not has_value and last in shell.valued(program, subcommand)
        else:
            plain = shell.SUBCOMMANDS.get(program, {}).get(word, word)
            operands.append((plain, after_option))
            is_subcommand = not after_option or f"{program} {plain}" in shell.FLAGS
            subcommand = subcommand or (plain if is_subcommand else "")
            after_option = False
    if view[-1] == "-h" and "h" not in shell.valued(program):
        flags.add("help")
    return _adjusted(program, view, flags, operands)


def _named(word: str, program: str, subcommand: str) -> tuple[set[str], bool]:
    """Return the long names of the flags in a word, and whether it holds a value too."""
    names = {**shell.FLAGS.get(program, {}), **shell.FLAGS.get(f"{program} {subcommand}", {})}
    name, equals, value = word.lstrip("-").partition("=")
    if word.startswith("--") or program in shell.SINGLE_DASH or name.lower() in ("recurse", "force", "whatif"):
        name = name.lower() if program == "rm" else name
        found = ({*names[name].split("+")} if name in names else {name}) - {""}
        return found | ({f"{long}={_plain(value)}" for long in found} if value else set()), bool(equals)
    flags = set[str]()
    for place, letter in enumerate(name):
        if place and letter.isdigit() and not name.isdigit():
            return flags, True
        long = (names.get(letter) or _COMMON.get(letter, letter)).split("+")
        flags.update(long)
        if letter in shell.valued(program, subcommand) and place + 1 < len(name):
            return flags | {f"{flag}={_plain(name[place + 1 :])}" for flag in long}, True
    return flags, bool(equals)


def _adjusted(program: str, view: tuple[str, ...], flags: set[str], operands: list[tuple[str, bool]]) -> Anatomy:
    """Spell the same action the same way, where words and not flags say it."""
    words = [word for word, _ in operands]
    if program == "git" and "push" in words[:2]:
        flags |= {"force"} if any(word.startswith("+") for word in words) else set()
        flags |= {"delete"} if any(word.startswith(":") and len(word) > 1 for word in words) else set()
        operands = [(word.lstrip("+:") or word, value) for word, value in operands]
    elif program == "git" and words == ["add"] and "all" in flags:
        operands = [*operands, (".", False)]
        flags.discard("all")
    elif program == "kill" and _KILLING & {word.lstrip("-") for word in view}:
        flags.add("9")
        operands = [pair for pair in operands if pair[0] not in _KILLING]
    elif program == "kubectl":
        kinds = shell.SUBCOMMANDS[program]
        parts = ((word.partition("/"), word, value) for word, value in operands)
        operands = [
            (text, value)
            for (kind, slash, name), word, value in parts
            for text in ([kinds.get(kind, kind), name] if slash and kind in kinds else [word])
        ]
    elif program == "cargo":
        operands = [pair for pair in operands if not pair[0].startswith("+")]
    elif program == "systemctl":
        operands = [(word.removesuffix(".service"), value) for word, value in operands]
    elif program == "yarn" and not operands and not flags:
        operands = [("install", False)]
    return Anatomy(program, view[0], flags, tuple(operands))


_TEXTS = ("cat", "echo", "printf")
_NOWHERE = ("/dev/", "$(")
_WRITING_CODE = lazy(
    r"\.write_(?:text|bytes)\b|\bopen\([^)]*,\s*(?:mode\s*=\s*)?['\"][rb]*[wax+]|\b(?:write|append)File(?:Sync)?\b|\bFile\.write\b|"
    r"\bos\.(?:remove|rename|replace|unlink)\b|\.unlink\(|\bshutil\.(?:copy|move)|\bcreateWriteStream\b|\binplace=True"
)
_PATCHED = lazy(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_STRING = lazy(r"['\"]([^'\"\n]{1,300})['\"]")


def writes_of(pipelines: Iterable[Sequence[Call]], *, outputs: bool = True) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file written or removed; without `outputs` no printed ones."""
    for call in (call for calls in pipelines for call in calls):
        is_text = not call.views or call.views[-1][0] in _TEXTS
        redirected = call.writes if outputs or is_text else ()
        by_programs = (write for view in call.views for write in _written_by(view, call.input))
        for how, path in (*(("create", path) for path in redirected), *by_programs):
            if path and not path.startswith(_NOWHERE):
                plain = path.replace("\\", "/").removeprefix("./")
                is_placed = plain.startswith(("/", "~")) or not call.folder
                yield how, plain if is_placed else f"{call.folder.removeprefix('./')}{plain}"


def patched(patch: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file of a patch in the form that Codex applies."""
    actions = {"Add": "create", "Update": "edit", "Delete": "delete", None: "create"}
    for match in _PATCHED.finditer(patch):
        yield actions[match[1]], (match[2] or match[3]).strip()


def _written_by(view: tuple[str, ...], given: str) -> Iterator[tuple[str, str]]:
    found = anatomy(view)
    name, flags, words = found.program.lower(), found.flags, [word for word, _ in found.operands]
    if flags & {"help", "dry-run", "diff", "check"}:
        return
    if name == "git" and words:
        name, words = f"git {words[0]}", words[1:]
    if name in shell.REWRITING and (not shell.REWRITING[name] or flags.intersection(shell.REWRITING[name])):
        # Editors of streams take a script first, unless an option gave it.
        if name == "yq" or (name in ("sed", "gsed") and not flags & {"e", "expression", "f", "file"}):
            words = [word for word in words if word][1:]
        yield from (("edit", word) for word in words)
    elif name in ("cp", "install", "ln", "mv", "git mv"):
        *sources, target = words or [""]
        yield from (("delete", word) for word in sources if name.endswith("mv"))
        yield "create", target
        if target.endswith("/") or len(sources) > 1:
            yield from (("create", f"{target.rstrip('/')}/{source.rpartition('/')[2]}") for source in sources)
    elif name in shell.INTERPRETERS and _WRITING_CODE.search(code := " ".join((*view[1:], given))):
        yield from (("edit", text) for text in _STRING.findall(code) if "/" in text or "." in text)
    else:
        yield from _written_by_name(name, words, flags, view)


def _written_by_name(name: str, words: list[str], flags: set[str], view: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    match name:
        case "rm" | "git rm":
            yield from (("delete", word) for word in words if "cached" not in flags)
        case "dd" | "curl" | "wget" | "sort":  # what follows an option that names the output
            for option, value in zip(view, view[1:], strict=False):  # noqa: RUF007  importing itertools takes time
                if option in ("-o", "-O", "--output", "--output-document", "--out"):
                    yield "create", value
            yield from (("create", word[3:]) for word in view if word.startswith("of="))
        case "ruff" | "biome" if words[:1] == ["format"] or (words[:1] == ["check"] and "fix" in flags):
            yield from (("edit", word) for word in words[1:])
        case "git checkout" | "git restore":  # the files that it takes back
            if "checkout" in view:
                words = list(view[view.index("--") + 1 :]) if "--" in view else [word for word in words if "." in word]
            elif "staged" in flags and "worktree" not in flags:
                words = []
            yield from (("edit", word) for word in words if word != ".")
