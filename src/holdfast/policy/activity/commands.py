"""Classify shell commands: checks, reads, commits, files they write, and the most informative error line of the output."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.model.foreign_json import json_or_none
from holdfast.model.patterns import lazy
from holdfast.model.text import shorten
from holdfast.policy.activity.shell import parse
from holdfast.policy.activity.written_files import writes_of

LONGEST_ERROR, LONGEST_NAME = 200, 60

_PART = lazy(r"\s*(?:&&|\|\||;|\n)\s*")
_WRAPPER = lazy(
    r"^(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|command|exec|env|nohup|timeout(?: -\S+)* \S+|nice(?: -n ?\d+)?|uv run(?: -\S+)*|"
    r"poetry run|pipenv run|hatch run|rye run|pdm run|npx(?: --?y(?:es)?)?|pnpm (?:exec|dlx)|bunx|yarn dlx|bundle exec|"
    r"docker compose (?:exec|run)(?: --?\S+)* \S+|python3? -m|python -m|xvfb-run) )+"
)
# Commands that check the work: tests, linters, type checkers and builds.
_CHECK = lazy(
    r"^(?P<name>pytest|py\.test|tox|nox|unittest|ruff|mypy|pyright|flake8|pylint|black --check|tsc|vue-tsc|eslint|biome|prettier --check|"
    r"jest|vitest|mocha|ava|playwright test|cypress run|rspec|rubocop|phpunit|pest|phpstan|ctest|swift (?:test|build)|xcodebuild|"
    r"(?:npm|pnpm|yarn|bun|deno)(?: run)?(?: -\S+)* (?:test|lint|build|typecheck|type-check|check|t\b)[\w:-]*|"
    r"cargo (?:\+\S+ )?(?:test|nextest|build|check|clippy)|go (?:test|build|vet)|golangci-lint|"
    r"(?:\./)?gradlew? [\w:]*(?:test|build|check)\w*|(?:\./)?mvnw? (?:-\S+ )*(?:test|verify|package|compile)|dotnet (?:test|build)|"
    r"mix (?:test|compile|credo)|make(?: -\S+)* (?:test|check|lint|build)\w*|just (?:test|check|lint|build)\w*|task (?:test|check|lint)\w*|"
    r"make$|terraform (?:validate|plan)|helm lint|bazel (?:test|build)|cmake --build|composer test|php artisan test|rails test|flutter (?:test|analyze))"
)
_LOOK = lazy(
    r"^(?:cat|bat|head|tail|less|more|nl|sed -n|awk|rg|grep|egrep|fgrep|ag|ls|ll|tree|find|fd|wc|jq|pwd|cd|which|echo|env|printenv|stat|file|"
    r"du|df|ps|diff|git (?:-C \S+ )?(?:status|diff|log|show|branch|blame|rev-parse|remote|stash list|ls-files|grep|fetch|describe)|"
    r"docker (?:ps|logs|images)|kubectl (?:get|describe|logs)|date|whoami|uname|tee /dev/null|sleep|true|mkdir|touch|cp|chmod)\b"
)
_READ = lazy(r"^(?:cat|bat|head|tail|less|nl|sed -n)\b(?P<rest>.*)$")
_ARGUMENT = lazy(r"'[^']*'|\"[^\"]*\"|[^\s|<>;&]+")
_PATH = lazy(r"^[\w@~./+-]*[\w-]+\.\w{1,8}$|^[\w@~.+-]*/[\w@~./+-]+$|^(?:Makefile|Dockerfile|justfile|LICENSE|README)$")
_COMMITTED = lazy(
    r"^\[(?P<branch>[^\]\s]+)(?: \([^)]*\)| HEAD)? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
_COMMIT = lazy(r"\bgit\b(?:\s+-[cC]\s*\S+)*\s+commit\b(?P<rest>.*)", re.DOTALL)
_MESSAGE = lazy(
    r"(?:-\w*m|--message)[ =]\s*(?:\"\$\(cat <<-?\s*['\"]?(?P<end>\w+)['\"]?\n(?P<here>.*?)\n\s*(?P=end)|\"(?P<double>(?:\\.|[^\"\\])*)\"|'(?P<single>[^']*)'|(?P<bare>\S+))",
    re.DOTALL,
)
_REVERT = lazy(r"\bgit\b(?:\s+-[cC]\s*\S+)*\s+revert\b")
_OURS = lazy(r"^(?:holdfast|python3? -m holdfast)\b")

_CODE = lazy(r"(?:exit(?:ed with)?(?: code| status)?|return ?code|exit_code\"?)\s*[:=]?\s*(-?\d+)", re.IGNORECASE)
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


def parts_of(command: str) -> list[str]:
    """Return the single commands of a line, without wrappers such as `sudo` or `uv run`."""
    return [_WRAPPER.sub("", part.strip()) for part in _PART.split(command.partition("<<")[0]) if part.strip()]


def check_of(command: str) -> str:
    """Return the name of the check a command runs (`pytest`, `cargo test`); "" if it runs none."""
    for part in parts_of(command):
        if match := _CHECK.match(part):
            return " ".join(match["name"].split())
    return ""


def name_of(command: str) -> str:
    """Return a short name: the check, else the program with its subcommand."""
    if check := check_of(command):
        return check
    parts = [part for part in parts_of(command) if not part.startswith("cd ")]
    words = parts[-1].split() if parts else []
    name_words = words[:2] if len(words) > 1 and re.match(r"[a-z][\w:-]*$", words[1]) else words[:1]
    return shorten(" ".join(name_words), LONGEST_NAME)


def only_looks(command: str) -> bool:
    """True if a command only reads: it changes nothing and runs no check."""
    parts = [part.strip() for piece in parts_of(command) for part in piece.split("|")]
    return bool(parts) and all(_LOOK.match(part) or not part for part in parts) and not list(written_by(command))


def is_ours(command: str) -> bool:
    """True if a command runs Holdfast itself."""
    parts = [part for part in parts_of(command) if not part.startswith("cd ")]
    return bool(parts) and all(_OURS.match(part) for part in parts)


def read_by(command: str) -> Iterator[str]:
    """Yield the files a command printed."""
    for part in parts_of(command):
        if match := _READ.match(part.partition("|")[0]):
            words = [word.strip("'\"") for word in _ARGUMENT.findall(match["rest"])]
            yield from (word for word in words if _PATH.match(word) and not word.startswith("-"))


def written_by(command: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file a command wrote, moved or removed."""
    changes = dict.fromkeys(writes_of(parse(command), outputs=False))
    yield from (change for change in changes if _PATH.match(change[1]))


def commit_of(command: str, output: str) -> Commit | None:
    """Return the commit a command made, from git's output, else from the commit message."""
    request = _COMMIT.search(command)
    if not request and not _REVERT.search(command):
        return None
    text, _ = output_of(output)
    if reported := _COMMITTED.search(text):
        return Commit(hash=reported["hash"], subject=reported["subject"].strip())
    subject = _subject(request["rest"]) if request else ""
    return Commit(hash="", subject=subject) if subject and "nothing to commit" not in text else None


def _subject(rest: str) -> str:
    message = _MESSAGE.search(rest)
    if not message:
        return ""
    text = next(message[name] for name in ("here", "double", "single", "bare") if message[name] is not None)
    lines = [line.strip() for line in text.strip().splitlines()]
    return lines[0] if lines else ""


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
    code = _CODE.search(result[:400]) or _CODE.search(result[-400:])
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
