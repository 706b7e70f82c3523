"""Look at cited places in source text, with Python's parser or a grammar: whether each exists, its content, where it is now."""

import ast
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from holdfast.model.anchor import Anchor, CodeMark, bare_value
from holdfast.model.patterns import tables

_TABLES = tables(__file__)
_COMMENTS = {extension: pattern for names, pattern in _TABLES["comments"] for extension in names.split()}
_GRAMMARS = {extension: grammar for names, grammar in _TABLES["grammars"] for extension in names.split()}
_PATTERNS = dict(_TABLES["patterns"])
_WRAPPERS, _NO_DEFINITION = (frozenset(names.split()) for _, names in _TABLES["nodes"])
_PLAIN = {"python": ".python-version", "node": ".nvmrc", "ruby": ".ruby-version"}
GONE, UNKNOWN = CodeMark(there=False), CodeMark(there=None)
SLACK = 8  # characters that layout may add, such as commas at the end of lines
_LAYOUT = re.compile(r"\s+")
_TRAILING = re.compile(r",(?=[)\]}])")
_NAMES = ("name", "declarator", "left", "key", "type")
_CONFIGURATION = frozenset("toml yaml yml json jsonc ini cfg conf env".split())


class Span(NamedTuple):
    """Lines of a file, counted from 1, both included."""

    first: int
    last: int


# The content of a file; True if it is a folder or too large, False if it is outside the checkout or not permitted, None if there is none.
File = bytes | bool | None
Read = Callable[[str], File]


def look(anchor: Anchor, read: Read, cited: CodeMark | None = None) -> CodeMark:
    """Return the mark of a place. With the mark that was cited, a part that only moved is found where it is now."""
    if anchor.kind == "version":
        return _version(anchor, read)
    if anchor.kind == "commit":
        return UNKNOWN  # git has to be asked
    raw = read(anchor.path)
    if not isinstance(raw, bytes):
        return GONE if raw is None else CodeMark() if raw and anchor.kind != "value" else UNKNOWN
    blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()
    if cited and cited.blob == blob and cited.hash:
        return cited  # the file is unchanged
    if b"\0" in raw[:8_000]:
        return CodeMark(blob=blob, hash=blob[:16]) if anchor.kind in ("path", "absent") else UNKNOWN
    return replace(_inside(anchor, raw.decode(errors="replace").replace("\r\n", "\n"), cited), blob=blob)


def _inside(anchor: Anchor, text: str, cited: CodeMark | None) -> CodeMark:
    match anchor.kind:
        case "symbol" if _extension_of(anchor.path) in missing_grammars():  # only the cited text itself can be found
            if anchor.name.rpartition(".")[2] not in text:
                return GONE
            moved = _moved_lines(text, anchor.path, cited.hash, cited.size) if cited and cited.hash else None
            return _mark(anchor, text, moved) if moved else UNKNOWN if cited and cited.hash else CodeMark()
        case "symbol":  # the definition with the cited text, else the first one in its fullest extent
            found = GONE
            for span in _symbol_spans(anchor.path, text, anchor.name):
                mark = _mark(anchor, text, span)
                if cited and cited.hash == mark.hash:
                    return mark
                if not found.there or (mark.first <= found.first and mark.last >= found.last):
                    found = mark
            return found
        case "lines":
            return _lines(anchor, text, cited)
        case "value":
            assigned = _value_of(anchor.path, text, anchor.name)
            return CodeMark(value=assigned[0], first=assigned[1], last=assigned[1]) if assigned else GONE
    return _mark(anchor, text, _whole(text))


def _lines(anchor: Anchor, text: str, cited: CodeMark | None) -> CodeMark:
    last = _whole(text).last
    if cited and cited.hash:
        if cited.last <= last and (mark := _mark(anchor, text, Span(cited.first, cited.last))).hash == cited.hash:
            return mark
        if moved := _moved_lines(text, anchor.path, cited.hash, cited.size):
            return _mark(anchor, text, moved)
    return GONE if anchor.first > last else _mark(anchor, text, Span(anchor.first, min(anchor.last, last)))


def _mark(anchor: Anchor, text: str, span: Span) -> CodeMark:
    says = essence("\n".join(text.split("\n")[span.first - 1 : span.last]), _extension_of(anchor.path))
    return CodeMark(hash=digest(says), size=len(says), first=span.first, last=span.last)


def _version(anchor: Anchor, read: Read) -> CodeMark:
    """Compare a version with the one that the lock files and manifests of a project name; 2.31 means any 2.31.x."""

    def text(path: str) -> str:
        raw = read(path)
        return raw.decode(errors="replace") if isinstance(raw, bytes) else ""

    plain = _PLAIN.get(anchor.name.lower(), "")
    found = text(plain).strip().removeprefix("v") if plain else ""
    for path, pattern in _TABLES["versions"] if anchor.name and not found else ():
        if match := re.search(pattern.format(name=re.escape(anchor.name)), text(path), re.MULTILINE | re.IGNORECASE):
            found = match[1]
            break
    if not found:
        return UNKNOWN
    is_cited = found == anchor.value or found.startswith(f"{anchor.value}.")
    return CodeMark(value=bare_value(anchor.value) if is_cited else found)


def _whole(text: str) -> Span:
    return Span(1, text.count("\n") + (not text.endswith("\n")) or 1)


def _symbol_spans(path: str, text: str, name: str) -> Iterator[Span]:
    """Yield where a symbol is defined: cheap guesses first, then a parser's result, so that a match can end the search."""
    if _extension_of(path) in ("py", "pyi"):
        defines = _PATTERNS["python definition"].format(name=re.escape(name))
        for line in re.finditer(defines, text, re.MULTILINE) if "." not in name else ():
            before = text[: line.start()].removesuffix("\n").rpartition("\n")[2].lstrip()
            if not before.startswith(("@", ")")):  # a decorator, or the end of a long one
                yield _block(text, line)
        for node in _python_nodes(_tree_of(text), name):
            decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
            yield Span(min(decorators, default=node.lineno), node.end_lineno or node.lineno)
    elif _knows(_extension_of(path)):
        yield from _definitions(_extension_of(path), text, name)
    elif match := re.search(rf"^(?P<indent>[ \t]*)[^\n]*\b{re.escape(name.rpartition('.')[2])}\b", text, re.MULTILINE):
        yield _block(text, match)  # without a grammar, the best guess is the block where the name first occurs


def _moved_lines(text: str, path: str, wanted: str, size: int) -> Span | None:
    lines, extension = text.split("\n"), _extension_of(path)
    sizes = [len(essence(line, extension)) for line in lines]
    first = 0
    for last in range(len(lines)):
        while first < last and (not sizes[first] or sum(sizes[first : last + 1]) > size + SLACK):
            first += 1
        for start in range(first, last + 1):
            total = sum(sizes[start : last + 1])
            if total < size:
                break
            fits = sizes[start] and total <= size + SLACK
            if fits and digest(essence("\n".join(lines[start : last + 1]), extension)) == wanted:
                return Span(start + 1, last + 1)
    return None


def _value_of(path: str, text: str, name: str) -> tuple[str, int] | None:
    for node in _python_nodes(_tree_of(text), name) if _extension_of(path) in ("py", "pyi") else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            return bare_value(ast.get_source_segment(text, node.value) or ""), node.lineno
    last = re.escape(name.rpartition(".")[2])
    if match := re.search(_PATTERNS["assignment"].format(name=last), text, re.MULTILINE):
        return bare_value(match["value"]), text.count("\n", 0, match.start("value")) + 1
    return None


def _block(text: str, match: "re.Match[str]") -> Span:
    """Return the block that begins with a line, by its indentation alone."""
    first = last = text.count("\n", 0, match.start()) + 1
    indent, inside = len(match["indent"].expandtabs()), False
    for number, line in enumerate(text[match.start() :].split("\n")[1:], start=first + 1):
        if bare := line.lstrip():
            # The signature may span several lines, and ends with a bracket at its own depth.
            if len(line) - len(bare) <= indent and inside and not bare.startswith((")", "]", "}")):
                break
            inside, last = True, number
    return Span(first, last)


def essence(text: str, extension: str) -> str:
    """Return a text without layout, trailing commas and the choice of quotes; code also without comments."""
    comment = _COMMENTS.get(extension)
    code = re.compile(f"({_PATTERNS['strings']})|{comment}") if comment else None  # `re` caches it
    bare = code.sub(lambda match: match[1] or "", text) if code else text
    bare = _LAYOUT.sub("", bare)
    return _TRAILING.sub("", bare.replace("'", '"')) if code else bare


def digest(essence: str) -> str:
    """Return the hash of a normalised text."""
    return hashlib.sha256(essence.encode()).hexdigest()[:16]


def defined(path: str, text: str, name: str) -> list[str]:
    """Return the qualified names of the definitions that a dotted name may mean, outermost first."""
    last = name.rpartition(".")[2]
    if not re.search(rf"\b{re.escape(last)}\b", text):
        return []
    extension = _extension_of(path)
    if extension in ("py", "pyi"):
        if not re.search(_PATTERNS["python name"].format(name=last), text, re.MULTILINE):
            return []  # parsing takes longer
        tree = _tree_of(text)
        names = _qualified(tree, "") if tree else ()
        return sorted((each for each in names if f".{each}".endswith(f".{name}")), key=lambda each: each.count("."))
    if _knows(extension):
        assigned = re.findall(_PATTERNS["function of an object"].format(name=last), text, re.MULTILINE)
        return [name] * len(set(_definitions(extension, text, name))) + [other for other in assigned if other != name]
    sets = re.findall(rf"^[ \t]*[\"']?{re.escape(last)}[\"']?[ \t]*[:=]", text, re.MULTILINE)
    return [last] * len(sets) if extension in _CONFIGURATION else []


def _qualified(node: ast.AST, above: str) -> Iterator[str]:
    """Yield the names defined in a module and its classes; not what is local to a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{above}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from _qualified(child, f"{above}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            yield from (f"{above}{target}" for target in _targets(child))
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _qualified(child, above)


@lru_cache(maxsize=4)  # several names of a file are looked up one after the other
def _tree_of(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _python_nodes(tree: ast.AST | None, name: str) -> Iterator[ast.stmt]:
    """Yield the definitions and assignments of a dotted name in a Python file, at any depth."""
    first, _, inner = name.partition(".")
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == first:
            yield from _python_nodes(node, inner) if inner else [node]
        elif not inner and isinstance(node, ast.Assign | ast.AnnAssign) and first in _targets(node):
            yield node


def _targets(node: "ast.Assign | ast.AnnAssign") -> list[str]:
    set_here = node.targets if isinstance(node, ast.Assign) else [node.target]
    named = (target for target in set_here if isinstance(target, ast.Name | ast.Attribute))
    return [target.id if isinstance(target, ast.Name) else target.attr for target in named]


def _extension_of(path: str) -> str:
    """Return the extension of a file, or its name if it has none."""
    return path.rpartition("/")[2].lower().rpartition(".")[2]


def _knows(extension: str) -> bool:
    return extension in _GRAMMARS and extension not in missing_grammars()


@cache
def missing_grammars() -> frozenset[str]:
    """Return the file extensions whose grammar is not installed: those of the extra `languages`, unless it is."""
    return frozenset(extension for extension, grammar in _GRAMMARS.items() if find_spec(grammar.split()[0]) is None)


def _definitions(extension: str, text: str, name: str) -> Iterator[Span]:
    if name.rpartition(".")[2] not in text:
        return
    raw = text.encode()
    root = _parser(extension).parse(raw).root_node
    names = name.split(".")
    # Methods may be outside of their type, as in Go: then the last name alone is searched.
    for node in list(_named(root, names, raw)) or list(_named(root, names[-1:], raw)):
        outer = node.parent if node.parent is not None and node.parent.type in _WRAPPERS else node
        yield Span(outer.start_point[0] + 1, outer.end_point[0] + 1)


def _named(node: Any, names: list[str], raw: bytes) -> Iterator[Any]:
    for child in node.named_children:
        defined = _name_of(child, raw).replace("::", ".") if child.type not in _NO_DEFINITION else ""
        if defined == ".".join(names):
            yield child
            continue
        if defined == names[0]:
            yield from _named(child, names[1:], raw)
        yield from _named(child, names, raw)


def _name_of(node: Any, raw: bytes) -> str:
    """Return the name a node defines, through the declarators C puts around it."""
    for field in _NAMES:
        inner = node.child_by_field_name(field)
        if inner is not None and (field != "type" or node.type == "impl_item"):
            while (deeper := inner.child_by_field_name("declarator")) is not None:
                inner = deeper
            return raw[inner.start_byte : inner.end_byte].decode(errors="replace")
    return ""


@cache
def _parser(extension: str) -> Any:
    from tree_sitter import Language, Parser  # noqa: PLC0415  only if such a file is cited

    module, language = _GRAMMARS[extension].split()
    return Parser(Language(getattr(import_module(module), language)()))
