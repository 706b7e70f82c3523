"""Locate a symbol, a value or lines in the text of a file, and compare texts without comments and layout."""

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from holdfast.adapters.source.definitions import definitions, extension_of, knows, python_nodes, tree_of
from holdfast.model.anchor import bare_value

SLACK = 8  # characters that layout may add, such as commas at the end of lines
_STRINGS = r"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_HASH, _SLASH, _DASH = r"\#[^\n]*", r"//[^\n]*|/\*[\s\S]*?\*/", r"--[^\n]*|/\*[\s\S]*?\*/"
_COMMENTS = {
    **dict.fromkeys("py pyi rb sh bash zsh toml yaml yml r pl tf dockerfile makefile mk cfg ini".split(), _HASH),
    **dict.fromkeys(
        "js jsx mjs cjs ts tsx mts cts go rs java kt kts scala swift c h cc cpp cxx hpp hh cs php dart proto zig".split(),
        _SLASH,
    ),
    **dict.fromkeys("sql lua hs elm".split(), _DASH),
}
_LAYOUT = re.compile(r"\s+")
_TRAILING = re.compile(r",(?=[)\]}])")
_DEFINES = r"^(?P<indent>[ \t]*)(?:async[ \t]+def|def|class)[ \t]+{name}\b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines of a file, counted from 1, both included."""

    first: int
    last: int


def text_in(text: str, span: Span) -> str:
    """Return the lines of a span."""
    return "\n".join(text.split("\n")[span.first - 1 : span.last])


def whole(text: str) -> Span:
    """Return the span of a whole text."""
    return Span(first=1, last=text.count("\n") + (not text.endswith("\n")) or 1)


def symbol_spans(path: str, text: str, name: str) -> Iterator[Span]:
    """Yield where a symbol is defined: cheap guesses first, then a parser's result, so that a match can end the search."""
    if extension_of(path) in ("py", "pyi"):
        if "." not in name:
            yield from _indented(text, name)
        yield from _python(text, name)
    elif knows(extension_of(path)):
        yield from (Span(first=first, last=last) for first, last in definitions(extension_of(path), text, name))
    else:
        yield from _mentioned(text, name.rpartition(".")[2])


def moved_lines(text: str, path: str, wanted: str, size: int) -> Span | None:
    """Return the lines whose normalised text has this hash, wherever they are now."""
    lines, extension = text.split("\n"), extension_of(path)
    sizes = [len(essence(line, extension)) for line in lines]
    first = 0
    for last in range(len(lines)):
        while first < last and (not sizes[first] or sum(sizes[first : last + 1]) > size + SLACK):
            first += 1
        for start in range(first, last + 1):
            total = sum(sizes[start : last + 1])
            if total < size:
                break
            if (
                sizes[start]
                and total <= size + SLACK
                and digest(essence("\n".join(lines[start : last + 1]), extension)) == wanted
            ):
                return Span(first=start + 1, last=last + 1)
    return None


def value_of(path: str, text: str, name: str) -> tuple[str, int] | None:
    """Return the value that a name is set to in a file, and its line; None if it is not set."""
    if extension_of(path) in ("py", "pyi") and (assigned := _assigned(text, name)):
        return assigned
    last = re.escape(name.rpartition(".")[2])
    sets = re.compile(
        rf"^[ \t]*(?:(?:export|const|let|var|static|final|pub|readonly)[ \t]+)*[\"']?(?:[\w-]+\.)*{last}[\"']?"
        r"(?:[ \t]*:[ \t]*[\w<>\[\]&]+(?=[ \t]*=))?[ \t]*(?::=|=|:)[ \t]*(?P<value>[^\n]+)",
        re.MULTILINE,
    )
    if match := sets.search(text):
        return bare_value(match["value"]), text.count("\n", 0, match.start("value")) + 1
    return None


def _indented(text: str, name: str) -> Iterator[Span]:
    """Yield the blocks that begin with a definition of a name, by their indentation alone; not those with decorators."""
    lines = None
    for match in re.finditer(_DEFINES.format(name=re.escape(name)), text, re.MULTILINE):
        lines = lines if lines is not None else text.split("\n")
        first = text.count("\n", 0, match.start()) + 1
        if first > 1 and lines[first - 2].lstrip().startswith(("@", ")")):  # a decorator, or the end of a long one
            continue
        yield Span(first=first, last=_block_end(lines, first, len(match["indent"].expandtabs())))


def _mentioned(text: str, name: str) -> Iterator[Span]:
    """Yield the block that begins where a name first occurs: the best guess without a grammar."""
    if match := re.search(rf"^(?P<indent>[ \t]*)[^\n]*\b{re.escape(name)}\b", text, re.MULTILINE):
        first = text.count("\n", 0, match.start()) + 1
        yield Span(first=first, last=_block_end(text.split("\n"), first, len(match["indent"].expandtabs())))


def _block_end(lines: Sequence[str], first: int, indent: int) -> int:
    last, inside = first, False
    for number in range(first, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        deep = len(line) - len(line.lstrip())
        # The signature may span several lines, and ends with a bracket at its own depth.
        if deep <= indent and inside and not line.lstrip().startswith((")", "]", "}")):
            break
        inside = True
        last = number + 1
    return last


def _python(text: str, name: str) -> Iterator[Span]:
    tree = tree_of(text)
    for node in python_nodes(tree, name.split(".")) if tree else ():
        decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
        yield Span(first=min(decorators, default=node.lineno), last=node.end_lineno or node.lineno)


def _assigned(text: str, name: str) -> tuple[str, int] | None:
    tree = tree_of(text)
    for node in python_nodes(tree, name.split(".")) if tree else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            return bare_value(ast.get_source_segment(text, node.value) or ""), node.lineno
    return None


def essence(text: str, extension: str) -> str:
    """Return a text without layout, trailing commas and the choice of quotes; code also without comments."""
    code = _comments(extension)
    bare = code.sub(lambda match: match[1] or "", text) if code else text
    bare = _LAYOUT.sub("", bare)
    return _TRAILING.sub("", bare.replace("'", '"')) if code else bare


def digest(essence: str) -> str:
    """Return the hash of a normalised text."""
    return hashlib.sha256(essence.encode()).hexdigest()[:16]


@cache
def _comments(extension: str) -> re.Pattern[str] | None:
    if extension not in _COMMENTS:
        return None
    return re.compile(f"({_STRINGS})|{_COMMENTS[extension]}")
