"""Classify shell commands: checks, reads, commits, files they write, and the most informative error line of the output."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from holdfast.model.foreign_json import json_or_none
from holdfast.model.text import shorten
from holdfast.policy.activity.programs import INTERPRETERS, PACKAGE_COMMANDS
from holdfast.policy.activity.shell import Call, parse, program_of
from holdfast.policy.activity.written_files import writes_of
from holdfast.policy.language.cues import patterns_of

LONGEST_ERROR, LONGEST_NAME = 200, 60
_RUNS_SCRIPTS = {*INTERPRETERS, *PACKAGE_COMMANDS}

_SAYS = patterns_of(__file__, "commands")
_ERROR_LINES = tuple(patterns_of(__file__, "errors").values())


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
    checks = (match["name"] for text in texts if (match := _SAYS["check"].match(text)))
    return " ".join(next(checks, "").split())


def name_of(command: str) -> str:
    """Return a short name: the check, else the program with its subcommand."""
    if check := check_of(command):
        return check
    firsts = [pipeline[0] for pipeline in parse(command)]
    _, _, text = next((one for one in _calls(command) if firsts and one[0] == firsts[-1]), (None, (), ""))
    words = text.split()
    return shorten(
        " ".join(words[:2] if len(words) > 1 and _SAYS["subcommand"].match(words[1]) else words[:1]), LONGEST_NAME
    )


def only_looks(command: str) -> bool:
    """True if a command only reads: it changes nothing and runs no check."""
    return all(_SAYS["look"].match(text) for _, _, text in _calls(command)) and not list(written_by(command))


def is_ours(command: str) -> bool:
    """True if a command runs Holdfast itself, and nothing else."""
    return bool(_calls(command)) and all(program_of(words[0]) == "holdfast" for _, words, _ in _calls(command))


def read_by(command: str) -> Iterator[str]:
    """Yield the files a command printed."""
    for _, words, text in _calls(command):
        if _SAYS["read"].match(text):
            yield from (word for word in words[1:] if _SAYS["path"].match(word) and not word.startswith("-"))


def written_by(command: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file a command wrote, moved or removed."""
    changes = dict.fromkeys(writes_of(parse(command), outputs=False))
    yield from (change for change in changes if _SAYS["path"].match(change[1]))


def commit_of(command: str, output: str) -> Commit | None:
    """Return the commit a command made, from git's output, else from the commit message."""
    texts, commits = list[str](), False
    for _, words, text in _calls(command):
        if text.startswith("git ") and {"commit", "revert"}.intersection(words):
            commits = True
            texts += [value for option, value in pairwise(words) if _SAYS["message"].fullmatch(option)]
            texts += [word.partition("=")[2] for word in words if word.startswith("--message=")]
    if texts and texts[0].startswith("$(…)"):  # "$(cat <<EOF …)"
        texts = [call.input for call, _, _ in _calls(command) if call.input] or [""]
    if not commits:
        return None
    printed, _ = output_of(output)
    if reported := _SAYS["committed"].search(printed):
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
    code = _SAYS["exit"].search(result[:400]) or _SAYS["exit"].search(result[-400:])
    return result, int(code[1]) if code else None


def has_failed(command: str, result: str, *, failed: bool) -> bool:
    """True if a command failed: reported by the client, by its exit code, or by the output of a check."""
    text, code = output_of(result)
    if failed or (code is not None and code != 0):
        # A search without hits exits non-zero too, and a failed read breaks nothing.
        return not only_looks(command)
    return bool(check_of(command)) and code is None and bool(_SAYS["broken"].search(text))


def error_line(result: str) -> str:
    """Return the line of an output that best describes the failure."""
    text, _ = output_of(result)
    for pattern in _ERROR_LINES:
        if match := pattern.search(text):
            message = " ".join(match["said"].split())
            if len(message) >= 6:
                return shorten(message, LONGEST_ERROR)
    return ""
