"""Parse a shell command into pipelines of calls: here documents, substitutions, nested shells, wrappers and known variables included.

Hooks import this at a command that may need a warning, so it imports only `re` and tables. Text that no shell accepts is read as far as it goes.
"""

import re
from collections import namedtuple
from collections.abc import Container

from holdfast.model.patterns import tables

# What is known about programs: other names, flags with two spellings, options with values, wrappers.
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


MOST_NESTED = 8  # substitutions and shells inside each other
MOST_CALLS = 400

# One run of a program. `views`: its words, then those of the command that it wraps, and so on. `input`: what is known of its stdin.
# `writes`: files that the shell redirects to. `folder`: where an earlier `cd` led, relative to the start.
# `env`: the variables set for it, as NAME=value.
Call = namedtuple("Call", ("views", "input", "writes", "folder", "env"))  # noqa: PYI024  importing typing is too slow here

_PLAIN = re.compile(r"[^\s'\"\\$`;&|()<>]+")
_QUOTED = re.compile(r'[^"\\$`]+')
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|<>|<&|<|&>>|&>|>>|>\||>&|>)")
_GAP = re.compile(r"[ \t\r]+|#[^\n]*")
_BACKTICKS = re.compile(r"`((?:\\.|[^`])*)`?", re.DOTALL)
_OPERATOR = re.compile(r"&&|\|\||;;|;|&|\|&|\||\n|\)")
_NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_WHOLE_NAME = re.compile(r"\"?\$(?:\{([A-Za-z_]\w*)(?:\[@\])?\}|([A-Za-z_]\w*))\"?")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_DELIMITER = re.compile(r"\\?(['\"]?)([^\s'\"<>|;&)]+)\1")
_KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "esac", "time", "coproc"})  # fmt: skip


def parse(text: str) -> list[list[Call]]:
    """Return the pipelines of a command, in the order in which they stand; each is a list of calls."""
    reader = _Reader(text, 0, "", {})
    reader.read_list("")
    return reader.pipelines


def program_of(word: str) -> str:
    """Return the plain name of a program: without its folder, version and `.exe`."""
    name = word.replace("\\", "/").rstrip("/").rpartition("/")[2]
    if name.lower().endswith((".exe", ".cmd", ".bat")):
        name = name[:-4].lower()
    if "@" in name[1:]:
        name = name[0] + name[1:].partition("@")[0]
    if name.startswith("python") and name[6:].replace(".", "").isdigit():
        return "python"
    return name


# A call while it is read.
_Raw = namedtuple("_Raw", ("words", "input", "writes"))  # noqa: PYI024


class _Reader:
    """Reads one text; commands inside it are read by itself (substitutions) or by another reader (strings given to a shell)."""

    def __init__(self, text: str, depth: int, folder: str, variables: dict[str, list[str]]) -> None:
        self.text, self.place, self.depth, self.folder, self.variables = text, 0, depth, folder, variables
        self.pipelines: list[list[Call]] = []
        self.exported: list[str] = []
        self.after_documents = 0  # where the text continues after the here documents of this line

    def read_list(self, end: str) -> None:
        """Read commands up to an end (`)`), or to the end of the text."""
        raws = [_Raw([], [], [])]
        while self.place < len(self.text) and len(self.pipelines) + len(raws) < MOST_CALLS:
            char = self.text[self.place]
            if gap := _GAP.match(self.text, self.place):
                self.place = gap.end()
            elif char == "(":
                if raws[-1].words:  # those are the name of a function that is defined here
                    raws = [_Raw([], [], [])]
                if self.text.startswith("((", self.place):
                    self._until("))", self.place)
                else:
                    self._nested(1)
            elif char == ")" and end:
                self.place += 1
                break
            elif redirect := _REDIRECT.match(self.text, self.place):
                self._redirect(raws[-1], redirect)
            elif operator := _OPERATOR.match(self.text, self.place):
                self.place = max(operator.end(), self.after_documents if operator[0] == "\n" else 0)
                if operator[0] not in ("|", "|&"):
                    self._finish(raws)
                    raws = []
                raws.append(_Raw([], [], []))
            else:
                raws[-1].words.extend(self._words())
        self._finish(raws)

    def _nested(self, opening: int) -> None:
        """Read the commands in parentheses, behind so many signs that open them."""
        self.place, folder = self.place + opening, self.folder
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.place = len(self.text)
        else:
            self.read_list(")")
        self.depth, self.folder = self.depth - 1, folder

    def _redirect(self, raw: _Raw, redirect: re.Match[str]) -> None:
        self.place, operator = redirect.end(), redirect[0].lstrip("0123456789")
        if self.text.startswith("(", self.place) and operator in ("<", ">"):
            self._nested(1)
            raw.words.append("/dev/fd")
            return
        while self.text[self.place : self.place + 1] in (" ", "\t"):
            self.place += 1
        if operator in ("<<", "<<-"):
            raw.input.append(self._document(strip=operator == "<<-"))
            return
        target = " ".join(self._words())
        if operator == "<<<":
            raw.input.append(target)
        elif operator[0] in ">&" and not (operator == ">&" and target.rstrip("-").isdigit()) and target != "-":
            raw.writes.append(target)

    def _document(self, *, strip: bool) -> str:
        """Return a here document: it begins on the next line, after those that this line began before."""
        delimiter = _DELIMITER.match(self.text, self.place)
        if not delimiter:
            return ""
        self.place = delimiter.end()
        start = self.after_documents if self.after_documents > self.place else self.text.find("\n", self.place) + 1
        if not start:
            return ""
        lines, place = list[str](), start
        for line in self.text[start:].removesuffix("\n").split("\n"):
            place += len(line) + 1
            if (line.lstrip("\t") if strip else line.rstrip()) == delimiter[2]:
                break
            lines.append(line)
        self.after_documents = min(place, len(self.text))
        return "\n".join(lines)

    def _words(self) -> list[str]:
        start, word = self.place, self._word()
        if self.place == start:
            self.place += 1  # what cannot be read is skipped
            return []
        whole = _WHOLE_NAME.fullmatch(self.text, start, self.place)
        return self.variables.get(whole[1] or whole[2], [word]) if whole else [word]

    def _word(self, *, quoted: bool = False) -> str:
        """Return the text up to the end of a word, or of double quotes."""
        text, parts, plain = self.text, list[str](), _QUOTED if quoted else _PLAIN
        while self.place < len(text):
            char = text[self.place]
            if found := plain.match(text, self.place):
                parts.append(found[0])
                self.place = found.end()
            elif char == "\\":
                following = text[self.place + 1 : self.place + 2]
                is_kept = quoted and following not in '$`"\\\n'
                parts.append("\\" * is_kept + following.replace("\n", ""))
                self.place += 2
            elif char == "$":
                parts.append(self._dollar())
            elif script := _BACKTICKS.match(text, self.place):
                self.place = script.end()
                self._read(script[1].replace("\\`", "`"))
                parts.append("$(…)")
            elif char == "'":
                parts.append(self._until("'", self.place + 1))
            elif char == '"':
                self.place += 1
                if quoted:
                    break
                parts.append(self._word(quoted=True))
            else:
                break
        return "".join(parts)

    def _until(self, end: str, start: int) -> str:
        close = self.text.find(end, start)
        close = len(self.text) if close < 0 else close
        self.place = close + len(end)
        return self.text[start:close]

    def _dollar(self) -> str:
        text, start = self.text, self.place
        if text.startswith("$((", start):
            return "$((" + self._until("))", start + 3) + "))"
        if text.startswith("$(", start):
            self._nested(2)
            return "$(…)"
        if text.startswith("$'", start):
            return self._until("'", start + 2)
        if name := _NAME.match(text, start):
            self.place = name.end()
            values = self.variables.get(name[1] or name[2], ())
            return values[0] if len(values) == 1 else f"${name[1] or name[2]}"
        if text.startswith("${", start):
            return "${" + self._until("}", start + 2) + "}"
        self.place += 1
        return "$"

    def _read(self, script: str) -> None:
        if self.depth < MOST_NESTED and script.strip():
            inner = _Reader(script, self.depth + 1, self.folder, self.variables)
            inner.read_list("")
            self.pipelines += inner.pipelines

    def _finish(self, raws: list[_Raw]) -> None:
        calls, printed, scripts = list[Call](), "", list[str]()
        for raw in raws:
            words, env = self._command(raw.words)
            given = "".join(raw.input) or printed
            printed = ""
            if not words and not raw.writes:
                continue
            views, inner = _views(words)
            program = program_of(views[-1][0]) if views else ""
            if program in ("echo", "printf"):
                printed = " ".join(views[-1][1:])
            elif program == "cat":
                printed = given
            if program in (*SHELLS, "ssh") and given and not inner:
                inner = [given]
            env += [word for view in views if view[0] == "env" for word in view[1:3] if _ASSIGNED.match(word)]
            calls.append(Call(tuple(views), given, tuple(raw.writes), self.folder, (*self.exported, *env)))
            scripts += inner
        self.pipelines += [calls] if calls else []
        for script in scripts:
            self._read(script)

    def _command(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Return the words of a call without keywords, and the variables set for it; note loops, variables and `cd`."""
        while words and words[0] in _KEYWORDS:
            words = words[1:]
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            self.variables[words[1]] = words[3:]
            return [], []
        if words[:1] in (["case"], ["function"], ["select"]):
            return [], []
        if words[:1] in (["export"], ["local"], ["declare"], ["readonly"], ["set"]):
            self.exported += [word for word in words[1:] if words[0] == "export" and _ASSIGNED.match(word)]
            words = words[1:] if any(map(_ASSIGNED.match, words[1:])) else words
        env = list[str]()
        while words and _ASSIGNED.fullmatch(words[0]):
            env, words = [*env, words[0]], words[1:]
        if not words:
            self.variables |= {match[1]: [match[2]] for match in map(_ASSIGNED.fullmatch, env) if match}
        if words[:1] in (["cd"], ["pushd"], ["Set-Location"]):
            target = next((word for word in words[1:] if not word.startswith("-")), "")
            self.folder = target if target.startswith(("/", "~")) else f"{self.folder}{target}"
            self.folder = self.folder and f"{self.folder.rstrip('/')}/"
            return [], env
        return words, env


def _views(words: list[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return a call and the commands it wraps, outermost first; and the scripts that a shell in it runs."""
    views, left = list[tuple[str, ...]](), words
    while left and len(views) < MOST_NESTED:
        left = [*ALIASES.get(program_of(left[0]).lower(), left[:1]), *left[1:]]
        views.append(tuple(left))
        inner = _inside(program_of(left[0]), left)
        if isinstance(inner, str):
            return views, [inner]
        left = inner
    return views, []


def _inside(program: str, words: list[str]) -> list[str] | str:
    """Return the command that a program was given to run, or the text that it runs as a script; empty if there is none."""
    if program in SHELLS:
        return _of_shell(words)
    if program in INTERPRETERS and (inner := _of_interpreter(program, words)):
        return inner
    if program in WRAPPERS:
        if program == "command" and words[1:2] in (["-v"], ["-V"]):
            return []
        options, skipped = WRAPPERS[program]
        inner = _operands(words[1:], options)
        while inner and _ASSIGNED.fullmatch(inner[0]):
            inner = inner[1:]
        return inner[skipped:]
    if program in ("eval", "watch"):
        return " ".join(words[1:])
    if program in ("su", "powershell", "pwsh", "cmd", "runuser", "nix-shell"):
        scripts = ("-c", "-C", "--command", "-Command", "-command", "/c", "/C", "--run")
        return next((" ".join(words[place + 1 :]) for place, word in enumerate(words) if word in scripts), "")
    if program == "ssh":
        return " ".join(_operands(words[1:], valued("ssh"))[1:])
    if program in ("find", "fd"):
        starts = ("-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch")
        place = next((place for place, word in enumerate(words) if word in starts), len(words))
        end = next((end for end in range(place, len(words)) if words[end] in (";", "+")), len(words))
        return words[place + 1 : end]
    return _of_runner(program, _operands(words[1:], valued(program)))


def _of_shell(words: list[str]) -> list[str] | str:
    for place, word in enumerate(words[1:], 1):
        if not word.startswith(("-", "+")):
            return words[place:]
        if word.startswith("-") and not word.startswith("--"):
            if "c" in word:
                return " ".join(words[place + 1 : place + 2])
            if "n" in word or "s" in word:
                return []
    return []


def _of_interpreter(program: str, words: list[str]) -> list[str]:
    for place, word in enumerate(words[1:], 1):
        if word == "-m" and program == "python":
            return words[place + 1 :]
        if word.startswith("-"):
            if word[1:] in ("c", "e", "eval", "r", "pe", "ne", "pi", "i") or word == "-":
                return []
        elif words[place - 1].lstrip("-") not in valued(program) or place == 1:
            return [] if program == "bun" else words[place:]
    return []


def _of_runner(program: str, rest: list[str]) -> list[str]:
    """Return what a program with subcommands runs, such as `poetry run` or `docker exec`; `rest` begins with the subcommand."""
    own, name = PACKAGE_COMMANDS.get(program), " ".join([program, *rest[:1]])
    if program in ("docker", "podman", "nerdctl", "kubectl", "oc"):
        return _of_container(rest)
    if name in RUNNERS:
        options, skipped = RUNNERS[name]
        return rest[rest.index("--") + 1 :] if "--" in rest else _operands(rest[1:], options)[skipped:]
    if program == "uv" and rest[:2] == ["tool", "run"]:
        return _operands(rest[2:], valued("uvx"))
    return rest if rest and own is not None and rest[0] not in own else []


def _of_container(rest: list[str]) -> list[str]:
    if rest[:1] == ["compose"]:
        rest = _operands(rest[1:], valued("docker compose"))
    rest = rest[1:] if rest[:2] in (["container", "exec"], ["container", "run"]) else rest
    if rest[:1] not in (["exec"], ["run"], ["debug"]):
        return []
    if "--" in rest:
        return rest[rest.index("--") + 1 :]
    image, *inner = _operands(rest[1:], CONTAINER) or [""]
    if rest[0] == "exec" or (inner and program_of(inner[0]) in {*KNOWN, *SHELLS, *WRAPPERS}):
        return inner
    return [program_of(image.partition(":")[0]), *inner] if inner else []


def _operands(words: list[str], with_value: Container[str]) -> list[str]:
    """Return words from the first that is neither an option nor the value of one."""
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        option = words[place]
        place += 1
        if option == "--":
            break
        letter = option[-1:] if not option.startswith("--") else option
        if "=" not in option and (option.lstrip("-") in with_value or letter in with_value):
            place += 1
    return words[place:]
