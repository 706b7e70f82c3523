"""Find where names are defined in a file: in Python with its own parser, in other languages with tree-sitter grammars, loaded on demand."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

# Extension -> module of its grammar, and its function that returns the language.
_GRAMMARS = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), ("tree_sitter_javascript", "language")),
    **dict.fromkeys(("ts", "mts", "cts"), ("tree_sitter_typescript", "language_typescript")),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rs": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "rb": ("tree_sitter_ruby", "language"),
    **dict.fromkeys(("c", "h"), ("tree_sitter_c", "language")),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), ("tree_sitter_cpp", "language")),
    "cs": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    **dict.fromkeys(("sh", "bash"), ("tree_sitter_bash", "language")),
}
_NAMES = ("name", "declarator", "left", "key", "type")
_WRAPPERS = frozenset(
    {"export_statement", "decorated_definition", "lexical_declaration", "variable_declaration", "template_declaration"}
)
_NO_DEFINITION = frozenset(
    {"call_expression", "call", "argument", "import_specifier", "member_expression", "parameter", "required_parameter"}
)
_CONFIGURATION = frozenset("toml yaml yml json jsonc ini cfg conf env".split())


def defined(path: str, text: str, name: str) -> list[str]:
    """Return the qualified names of the definitions that a dotted name may mean, outermost first."""
    last = name.rpartition(".")[2]
    if not re.search(rf"\b{re.escape(last)}\b", text):
        return []
    extension = extension_of(path)
    if extension in ("py", "pyi"):
        if not re.search(
            rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{last}\b|^[ \t]*{last}[ \t]*[:=,]|[.,][ \t]*{last}[ \t]*=",
            text,
            re.MULTILINE,
        ):
            return []  # parsing takes longer
        tree = tree_of(text)
        names = _qualified(tree, "") if tree else ()
        return sorted((each for each in names if f".{each}".endswith(f".{name}")), key=lambda each: each.count("."))
    if knows(extension):
        assigned = re.findall(
            rf"^[ \t]*((?:\w+\.)+{last})\s*=\s*(?:async\s*)?(?:function\s*\(|\(|\w+\s*=>)", text, re.MULTILINE
        )
        return [name] * len(set(definitions(extension, text, name))) + [other for other in assigned if other != name]
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
            yield from (f"{above}{target}" for target in targets(child))
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _qualified(child, above)


@lru_cache(maxsize=4)  # several names of a file are looked up one after the other
def tree_of(text: str) -> ast.Module | None:
    """Return the parsed text of a Python file; None if it cannot be parsed."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def python_nodes(tree: ast.AST, names: Sequence[str]) -> "Iterator[ast.stmt]":
    """Yield the definitions and assignments of a dotted name, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == names[0]:
            if len(names) == 1:
                yield node
            else:
                yield from python_nodes(node, names[1:])
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


def extension_of(path: str) -> str:
    """Return the extension of a file, or its name if it has none."""
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2]


def knows(extension: str) -> bool:
    """True if there is a grammar for a file extension."""
    return extension in _GRAMMARS


def definitions(extension: str, text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each definition of a dotted name."""
    if extension not in _GRAMMARS or name.rpartition(".")[2] not in text:
        return
    raw = text.encode()
    root = _parser(extension).parse(raw).root_node
    names = name.split(".")
    # Methods may be outside of their type, as in Go: then the last name alone is searched.
    nodes = list(_named(root, names, raw)) or list(_named(root, names[-1:], raw))
    for node in nodes:
        outer = node.parent if node.parent is not None and node.parent.type in _WRAPPERS else node
        yield outer.start_point[0] + 1, outer.end_point[0] + 1


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

    module, language = _GRAMMARS[extension]
    return Parser(Language(getattr(import_module(module), language)()))
