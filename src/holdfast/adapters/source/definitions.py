"""List where a name is defined in a file, qualified by its class, so that a mention can be resolved to one place."""

import ast
import re
from collections.abc import Iterator

from holdfast.adapters.source.grammars import definitions, knows
from holdfast.adapters.source.normalise import extension_of
from holdfast.adapters.source.spans import targets, tree_of

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
        return sorted(_python(text, name), key=lambda found: found.count("."))
    if knows(extension):
        assigned = re.findall(
            rf"^[ \t]*((?:\w+\.)+{last})\s*=\s*(?:async\s*)?(?:function\s*\(|\(|\w+\s*=>)", text, re.MULTILINE
        )
        return [name] * len(set(definitions(extension, text, name))) + [one for one in assigned if one != name]
    sets = re.findall(rf"^[ \t]*[\"']?{re.escape(last)}[\"']?[ \t]*[:=]", text, re.MULTILINE)
    return [last] * len(sets) if extension in _CONFIGURATION else []


def _python(text: str, name: str) -> Iterator[str]:
    tree = tree_of(text)
    for qualified in _qualified(tree, "") if tree else ():
        if qualified == name or qualified.endswith(f".{name}"):
            yield qualified


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
