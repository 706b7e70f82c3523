"""Find definitions in languages other than Python with tree-sitter grammars, loaded on demand."""

from collections.abc import Iterator
from functools import cache
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
