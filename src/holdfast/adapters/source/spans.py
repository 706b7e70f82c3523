"""Locate a symbol, a value or lines in the text of a file."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.adapters.source.grammars import definitions, knows
from holdfast.adapters.source.normalise import digest, essence, extension_of
from holdfast.model.anchor import bare_value

SLACK = 8  # characters that layout may add, such as commas at the end of lines
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


@lru_cache(maxsize=4)  # several names of a file are looked up one after the other
def tree_of(text: str) -> ast.Module | None:
    """Return the parsed text of a Python file; None if it cannot be parsed."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _python(text: str, name: str) -> Iterator[Span]:
    tree = tree_of(text)
    for node in _named(tree, name.split(".")) if tree else ():
        decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
        yield Span(first=min(decorators, default=node.lineno), last=node.end_lineno or node.lineno)


def _named(tree: ast.AST, names: Sequence[str]) -> "Iterator[ast.stmt]":
    """Yield the definitions and assignments of a dotted name, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == names[0]:
            if len(names) == 1:
                yield node
            else:
                yield from _named(node, names[1:])
        elif len(names) == 1 and isinstance(node, ast.Assign | ast.AnnAssign) and names[0] in targets(node):
            yield node


def targets(node: "ast.Assign | ast.AnnAssign") -> list[str]:
    """Return the names that an assignment sets."""
    set_here = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [
        target.id if isinstance(target, ast.Name) else target.attr
        for target in set_here
        if isinstance(target, ast.Name | ast.Attribute)
    ]


def _assigned(text: str, name: str) -> tuple[str, int] | None:
    tree = tree_of(text)
    for node in _named(tree, name.split(".")) if tree else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            return bare_value(ast.get_source_segment(text, node.value) or ""), node.lineno
    return None
