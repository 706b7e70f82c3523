"""Extract what people and agents wrote from a session log: sentences and typed commands, without output, code and quotes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from holdfast.model.patterns import lazy

# Injected memory must not be mined again, whether its tag is closed or not.
_INJECTED = lazy(
    r"<(?P<open>[\w-]*(?:memor|recall|remind|holdfast)[\w-]*)\b[^>]{0,500}>|"
    r"<(?P<closed>[\w-]*(?:context|system|private|instruction|example|thinking)[\w-]*)\b[^>]{0,500}>",
    re.IGNORECASE,
)
_FENCE = lazy(
    r"^[ \t]*```[ \t]*(?P<language>\w*)[^\n]*\n(?P<code>.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "console", "fish"})
_ASKED = lazy(
    r"^(?:user|human|system|prompt)\s*:.*?(?=^(?:assistant|agent)\s*:|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
_SPEAKER = lazy(r"^(?:assistant|agent)\s*:\s*", re.IGNORECASE | re.MULTILINE)
_INSTRUCTION = lazy(
    r"^(?:you are an? |your (?:task|job|role) is|please (?:answer|respond|reply)|respond (?:only )?with|answer (?:only )?with)",
    re.IGNORECASE,
)
_TRACEBACK = lazy(
    r"^Traceback \(most recent call last\):.*?(?:^[\w.]+(?:Error|Exception|Interrupt|Exit)\b[^\n]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_DIFF = lazy(
    r"^(?:diff --git |--- [^\n]+\n\+\+\+ |@@ )(?:[^\n]*\n?)(?:^(?:[-+ @\\]|index |new file|deleted file|similarity|rename )[^\n]*(?:\n|\Z))*",
    re.MULTILINE,
)

# Program output and source code.
_OUTPUT = lazy(
    r"""
    ^\s*(?:
      # stack traces and complaints
      at\s+\S+.*[:(]\d+ | \.{3}\s\d+\smore | File\s" | Caused\sby: | goroutine\s | panic: | thread\s'.*panicked
    | [\w.]*(?:Error|Exception)\b[^.\n]{0,60}: | E\s{3,} | (?:error(?:\[\w+\])?|warning|fatal): | note:\srun\s | -->\s
      # differences and version control
    | [+-](?=\S) | \d+\sfiles?\schanged | \w+\smode\s\d+ | On\sbranch | Your\sbranch | Changes\s(?:not|to\sbe)
    | (?:modified|deleted|new\sfile|renamed): | Untracked | [0-9a-f]{7,40}\s | remote: | To\s\S+:\S+
      # listings, tables, search results
    | total\s\d+$ | [d-][rwx-]{9} | [├│└] | \S+:\d+:\s | \S+\s{2,}\S+\s{2,} | [\w./-]+/?$ | [-=_*~.\s]{3,}$ | \|
      # progress and logs
    | (?:Collecting|Downloading|Compiling|Fetching|Resolving|Unpacking)\s\S+(?:\s\S+){0,2}\s*(?:\(.*)?$
    | Successfully\s | Installing\s(?:collected|build|dep) | Building\swheel | Requirement\salready | added\s\d+
    | Step\s\d+/\d+ | \[\d+/\d+\] | =+\s | [✓✔✗✘●]\s | npm\s(?:WARN|ERR|notice) | --->
    | (?:.{0,40}\s)?\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL)\b
    | \d{4}-\d\d-\d\d[T\s]\d\d: | \d\d:\d\d:\d\d | \d{1,4}[-/]\d\d[-/]\d{1,4}\s | \d{1,3}(?:\.\d{1,3}){3}\s
      # code
    | (?:from\s\S+\s)?import\s | (?:async\s)?def\s | class\s\w+.*: | (?:const|let|var)\s | return\b | function\s
    | export\s(?:default|const) | (?:select|insert|update|delete|create\stable)\b.*; | [{}()\[\]]+[,;]?$ | .*[{;]$
    | .*=>\s*[{(] | \#include | //
    )""",
    re.VERBOSE,
)
_PROMPT = lazy(r"^\s*(?:\$|>|❯|%|\w+@[\w.-]+:\S*[$#])\s+(?=[\w./])")
_ROUTE = lazy(r"^\s*@?\w+(?:\.\w+)?\.(?:get|post|put|patch|delete|route)\(\s*[\"']/", re.IGNORECASE)
_BULLET = lazy(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|>\s+)?(?:\*\*|__)?")
_END = lazy(r"(?<=[.!?])[\"')`*]*\s+(?=[\"'(`*]*[A-Z0-9@`[])")
_ABBREVIATED = lazy(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|cf)|\b[A-Z])\.$")


Form = Literal["sentence", "command", "route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence, a typed command or a route declared in code, and its span in the log."""

    form: Form
    text: str
    start: int
    end: int


def passages(log: str) -> Iterator[Passage]:
    """Yield the sentences, commands and routes of a log, in order; everything else is skipped."""
    text, shell = own_words(log)
    block: list[tuple[int, str]] = []
    muted = False  # inside a paragraph of instructions
    for start, line in _lines(text):
        form = _form(line, inside=any(first <= start < last for first, last in shell))
        muted = form == "instruction" or (muted and form != "nothing")
        if form == "prose" and block and _continues(block[-1][1], line):
            block.append((start, line))
            continue
        yield from _sentences(block, text)
        block = [(start, line)] if form == "prose" and not muted else []
        if form in ("command", "route") and not muted:
            yield _line_passage(line, start, "command" if form == "command" else "route")
    yield from _sentences(block, text)


def _line_passage(line: str, start: int, form: Form) -> Passage:
    prompt = _PROMPT.match(line)
    first = prompt.end() if prompt else len(line) - len(line.lstrip())
    return Passage(form=form, text=line[first:].strip(), start=start + first, end=start + len(line.rstrip()))


def own_words(log: str) -> tuple[str, list[tuple[int, int]]]:
    """Blank out everything but the session's own words, keeping positions; also return the spans of shell code."""
    text, last = "", 0
    for start, end in tagged(log, _INJECTED):
        text += log[last:start] + _blank(log[start:end])
        last = end
    text += log[last:]
    for pattern in (_ASKED, _TRACEBACK, _SPEAKER):
        text = pattern.sub(lambda match: _blank(match[0]), text)
    shell = [match.span("code") for match in _FENCE.finditer(text) if match["language"].lower() in _SHELL]
    text = _FENCE.sub(lambda match: match[0] if match["language"].lower() in _SHELL else _blank(match[0]), text)
    return _DIFF.sub(lambda match: _blank(match[0]), text), shell


def tagged(text: str, opening: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the spans of tagged text, in one pass: tags in group `open` may be unclosed, those in `closed` may not."""
    spans: list[tuple[int, int]] = []
    unclosed: set[str] = set()  # no closing tag exists
    for match in opening.finditer(text):
        name = (match["open"] or match["closed"]).lower()
        if name in unclosed or (spans and match.start() < spans[-1][1]):
            continue
        if end := lazy(rf"</{name}>", re.IGNORECASE).search(text, match.end()):
            spans.append((match.start(), end.end()))
        elif match["open"]:
            return [*spans, (match.start(), len(text))]
        else:
            unclosed.add(name)
    return spans


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _form(line: str, *, inside: bool) -> str:
    if not line.strip() or line.lstrip().startswith("```"):
        return "nothing"
    if _PROMPT.match(line) or (inside and not line.lstrip().startswith("#")):
        return "command"
    if _ROUTE.match(line):
        return "route"
    if _INSTRUCTION.match(_BULLET.sub("", line)):
        return "instruction"
    return "output" if _OUTPUT.match(line) else "prose"


def _continues(before: str, line: str) -> bool:
    """True if a line continues the sentence of the line before it."""
    return bool(re.match(r"\s*[a-z(`]", line)) and not before.rstrip().endswith((".", "!", "?", ":"))


def _sentences(block: list[tuple[int, str]], text: str) -> Iterator[Passage]:
    """Yield the sentences of joined lines."""
    if not block:
        return
    first, line = block[0]
    start = first + len(line) - len(_BULLET.sub("", line, count=1))
    end = block[-1][0] + len(block[-1][1])
    whole = text[start:end]
    begin = 0
    for sentence_end in _END.finditer(whole):
        if not _ABBREVIATED.search(whole[begin : sentence_end.start()]):
            yield _sentence(whole, begin, sentence_end.start(), start)
            begin = sentence_end.end()
    yield _sentence(whole, begin, len(whole), start)


def _sentence(whole: str, begin: int, end: int, offset: int) -> Passage:
    text = whole[begin:end]
    shift = len(text) - len(text.lstrip())
    return Passage(
        form="sentence",
        text=" ".join(text.split()).removesuffix("**"),
        start=offset + begin + shift,
        end=offset + begin + len(text.rstrip()),
    )
