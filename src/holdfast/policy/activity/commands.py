"""Classify shell commands: checks, reads, commits, files they write, and the most informative error line of the output."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from holdfast.model.foreign_json import json_or_none
from holdfast.model.patterns import lazy
from holdfast.model.text import shorten
from holdfast.policy.activity.programs import INTERPRETERS, PACKAGE_COMMANDS
from holdfast.policy.activity.shell import Call, parse, program_of
from holdfast.policy.activity.written_files import writes_of

LONGEST_ERROR, LONGEST_NAME = 200, 60
_RUNS_SCRIPTS = {*INTERPRETERS, *PACKAGE_COMMANDS}

# Commands that check the work: tests, linters, type checkers and builds.
_CHECK = lazy(
    r"(?P<name>pytest|tox|nox|unittest|ruff|mypy|pyright|flake8|pylint|black --check|tsc|vue-tsc|eslint|biome|prettier --check|"
    r"jest|vitest|mocha|ava|playwright test|cypress run|rspec|rubocop|phpunit|pest|phpstan|ctest|swift (?:test|build)|xcodebuild|"
    r"(?:npm|pnpm|yarn|bun|deno)(?: run)?(?: -\S+)* (?:test|lint|build|typecheck|type-check|check|t\b)[\w:-]*|"
    r"cargo (?:\+\S+ )?(?:test|nextest|build|check|clippy)|go (?:test|build|vet)|golangci-lint|"
    r"(?:\./)?gradlew? [\w:]*(?:test|build|check)\w*|(?:\./)?mvnw? (?:-\S+ )*(?:test|verify|package|compile)|dotnet (?:test|build)|"
    r"mix (?:test|compile|credo)|make(?: -\S+)* (?:test|check|lint|build)\w*|just (?:test|check|lint|build)\w*|task (?:test|check|lint)\w*|"
    r"make$|terraform (?:validate|plan)|helm lint|bazel (?:test|build)|cmake --build|composer test|php artisan test|rails test|flutter (?:test|analyze))"
)
_LOOK = lazy(
    r"(?:cat|bat|head|tail|less|more|nl|sed -n|awk|rg|grep|egrep|fgrep|ag|ls|ll|tree|find|fd|wc|jq|pwd|cd|which|echo|env|printenv|stat|file|"
    r"du|df|ps|diff|git (?:-C \S+ )?(?:status|diff|log|show|branch|blame|rev-parse|remote|stash list|ls-files|grep|fetch|describe)|"
    r"docker (?:ps|logs|images)|kubectl (?:get|describe|logs)|date|whoami|uname|tee /dev/null|sleep|true|mkdir|touch|cp|chmod)\b"
)
_READ = lazy(r"(?:cat|bat|head|tail|less|nl|sed -n)\b")
_PATH = lazy(r"^[\w@~./+-]*[\w-]+\.\w{1,8}$|^[\w@~.+-]*/[\w@~./+-]+$|^(?:Makefile|Dockerfile|justfile|LICENSE|README)$")
_SUBCOMMAND = lazy(r"[a-z][\w:-]*$")
_MESSAGE = lazy(r"--message|-\w*m")
_COMMITTED = lazy(
    r"^\[(?P<branch>[^\]\s]+)(?: \([^)]*\)| HEAD)? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
_EXIT = lazy(r"(?:exit(?:ed with)?(?: code| status)?|return ?code|exit_code\"?)\s*[:=]?\s*(-?\d+)", re.IGNORECASE)
_BROKEN = lazy(
    r"^(?:FAILED|FAIL|ERROR|E  )\b|\b[1-9]\d* (?:failed|failing|errors?|failures?|problems?)\b|\bFAILURES?!|\btest result: FAILED|"
    r"^Traceback \(most recent|^error(?:\[\w+\])?:|\bpanicked at\b|\bnpm ERR!|^--- FAIL|\bBUILD FAILED\b|\berror TS\d+|"
    r"^\S+:\d+:\d+: error\b|^\s*✗ |^\s*× |command not found$|\bFound [1-9]\d* errors?\b",
    re.MULTILINE,
)
# Most informative first: failed assertions, then exceptions, then messages of compilers and test runners.
_ERROR_LINES = tuple(
    lazy(pattern, re.MULTILINE)
    for pattern in (
        r"^E\s+(?P<said>(?:[\w.]+(?:Error|Exception|Exit|Warning)\b|assert\b).*)$",
        r"^(?P<said>[\w.]*(?:Error|Exception|Panic)\b(?: \[\w+\])?: \S.*)$",
        r"^\s*(?P<said>(?:[\w.]*Error|[\w.]*Exception): \S.*)$",
        r"^(?P<said>error(?:\[\w+\])?: \S.*)$",
        r"(?P<said>\S+\(\d+,\d+\): error TS\d+: .*|error TS\d+: .*)$",
        r"panicked at [^\n]*?:\d+:\d+:\n(?P<said>.+)$",
        r"panicked at '(?P<said>[^'\n]+)'",
        r"^(?P<said>\S+:\d+(?::\d+)?:? (?:error:? )?\S.*)$",
        r"^\s*(?P<said>--- FAIL: \S+.*)$",
        r"^\s*(?P<said>● .+)$",
        r"^(?P<said>(?:FAILED|FAIL|ERROR)\b.+)$",
        r"^npm ERR! (?P<said>(?!code|A complete).+)$",
        r"^(?P<said>.*\b(?:fatal|error|failed|denied|not found|cannot|could not|unable to)\b.*)$",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit that a command made; `hash` is empty if the output does not include it."""

    hash: str
    subject: str


@lru_cache(maxsize=512)
def _calls(command: str) -> tuple[tuple[Call, tuple[str, ...], str], ...]:
    """Return the single commands of a line: the call, its words without wrappers such as `sudo` or `uv run`, and these as text."""
    calls = list[tuple[Call, tuple[str, ...], str]]()
    for call in (call for pipeline in parse(command) for call in pipeline if call.views):
        # A script is named by the interpreter or package manager that runs it, a module by its own name.
        scripts = (view for view in call.views if program_of(view[0]) in _RUNS_SCRIPTS and "-m" not in view)
        words = next(scripts, call.views[-1])
        calls.append((call, words, " ".join((program_of(words[0]) if "bin/" in words[0] else words[0], *words[1:]))))
    return tuple(calls)


def check_of(command: str) -> str:
    """Return the name of the check a command runs (`pytest`, `cargo test`); "" if it runs none."""
    texts = (text for call, _, own in _calls(command) for text in (own, " ".join(call.views[-1])))
    checks = (match["name"] for text in texts if (match := _CHECK.match(text)))
    return " ".join(next(checks, "").split())


def name_of(command: str) -> str:
    """Return a short name: the check, else the program with its subcommand."""
    if check := check_of(command):
        return check
    firsts = [pipeline[0] for pipeline in parse(command)]
    _, _, text = next((one for one in _calls(command) if firsts and one[0] == firsts[-1]), (None, (), ""))
    words = text.split()
    return shorten(" ".join(words[:2] if len(words) > 1 and _SUBCOMMAND.match(words[1]) else words[:1]), LONGEST_NAME)


def only_looks(command: str) -> bool:
    """True if a command only reads: it changes nothing and runs no check."""
    return all(_LOOK.match(text) for _, _, text in _calls(command)) and not list(written_by(command))


def is_ours(command: str) -> bool:
    """True if a command runs Holdfast itself, and nothing else."""
    return bool(_calls(command)) and all(program_of(words[0]) == "holdfast" for _, words, _ in _calls(command))


def read_by(command: str) -> Iterator[str]:
    """Yield the files a command printed."""
    for _, words, text in _calls(command):
        if _READ.match(text):
            yield from (word for word in words[1:] if _PATH.match(word) and not word.startswith("-"))


def written_by(command: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file a command wrote, moved or removed."""
    changes = dict.fromkeys(writes_of(parse(command), outputs=False))
    yield from (change for change in changes if _PATH.match(change[1]))


def commit_of(command: str, output: str) -> Commit | None:
    """Return the commit a command made, from git's output, else from the commit message."""
    texts, commits = list[str](), False
    for _, words, text in _calls(command):
        if text.startswith("git ") and {"commit", "revert"}.intersection(words):
            commits = True
            texts += [value for option, value in pairwise(words) if _MESSAGE.fullmatch(option)]
            texts += [word.partition("=")[2] for word in words if word.startswith("--message=")]
    if texts and texts[0].startswith("$(…)"):  # "$(cat <<EOF …)"
        texts = [call.input for call, _, _ in _calls(command) if call.input] or [""]
    if not commits:
        return None
    printed, _ = output_of(output)
    if reported := _COMMITTED.search(printed):
        return Commit(hash=reported["hash"], subject=reported["subject"].strip())
    subject = next(iter(texts[0].strip().splitlines()), "").strip() if texts else ""
    return Commit(hash="", subject=subject) if subject and "nothing to commit" not in printed else None


def output_of(result: str) -> tuple[str, int | None]:
    """Return what a command printed and its exit code, if known."""
    if result.startswith("{"):
        parsed = json_or_none(result)
        if isinstance(parsed, dict):
            text = "\n".join(
                str(parsed[name]) for name in ("output", "stdout", "stderr", "error", "content") if parsed.get(name)
            )
            inner = parsed.get("metadata")
            for source in (parsed, inner if isinstance(inner, dict) else {}):
                for name in ("exit_code", "exitCode", "returncode"):
                    if isinstance(source.get(name), int):
                        return text, int(source[name])
            return text or result, None
    code = _EXIT.search(result[:400]) or _EXIT.search(result[-400:])
    return result, int(code[1]) if code else None


def has_failed(command: str, result: str, *, failed: bool) -> bool:
    """True if a command failed: reported by the client, by its exit code, or by the output of a check."""
    text, code = output_of(result)
    if failed or (code is not None and code != 0):
        # A search without hits exits non-zero too, and a failed read breaks nothing.
        return not only_looks(command)
    return bool(check_of(command)) and code is None and bool(_BROKEN.search(text))


def error_line(result: str) -> str:
    """Return the line of an output that best describes the failure."""
    text, _ = output_of(result)
    for pattern in _ERROR_LINES:
        if match := pattern.search(text):
            message = " ".join(match["said"].split())
            if len(message) >= 6:
                return shorten(message, LONGEST_ERROR)
    return ""
