"""Find the places in code that a text names: files, lines, functions, classes, methods and constants with their values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.model.patterns import lazy

MOST_ANCHORS = 8  # found in a text
_EXTENSIONS = (
    "py pyi js jsx mjs cjs ts tsx mts cts go rs java kt kts scala swift c h cc cpp cxx hpp hh cs php rb sh bash sql proto graphql "
    "toml yaml yml json jsonc ini cfg conf env xml html css scss vue svelte md rst txt tf lua dart ex exs erl hs ml zig gradle lock"
)
_FILE = rf"[\w.@+-]*\w\.(?:{'|'.join(_EXTENSIONS.split())})|Makefile|Dockerfile|Justfile|Gemfile|Rakefile|Procfile"
_PLACE = lazy(
    rf"(?<![\w/.:@~<$\\-])(?P<path>(?:\./)?(?:[\w.@+-]+/)*(?:{_FILE}))"
    r"(?P<inside>::[A-Za-z_][\w.]*(?:::[A-Za-z_]\w*)*(?:=[\w.'\"+-]+)?|:L?\d+(?:-L?\d+)?)?(?![\w/<>{}*]|\.\w)"
)
_QUOTED = lazy(r"`([^`\n]{1,200})`")
_FENCED = lazy(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)
_ADDRESS = lazy(r"\b(?:https?|ftp|ssh|git|file)://\S+|\b\w[\w.-]*@[\w.-]+:\S+")
# Placeholder names.
_EXAMPLE = lazy(r"(?:^|/)(?:path/to|some|your|my|foo|bar|baz|example|examples?-?\w*|dir|tmp)(?:/|\.|$)|[<>{}*…$]")

_NAME = r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*"
_VALUE = r"-?\d[\w.]*|'[^'\n]*'|\"[^\"\n]*\"|True|False|None|true|false|null"
_CALL = lazy(rf"(?<![\w./`$@-])(?P<name>{_NAME})\(")
_SET = lazy(rf"(?<![\w./-])(?P<name>{_NAME}|[A-Z][A-Z0-9_]+)\s*=\s*(?P<value>{_VALUE})(?![\w(])")
_ALONE = lazy(rf"(?P<name>{_NAME})(?:\([^()]*\))?")
# In prose a name is recognised by its form: snake_case, CamelCase with two humps, UPPER_CASE, or Class.method.
_FORMED = lazy(
    r"(?<![\w./-])(?P<name>[A-Za-z]\w*_\w+|_\w{3,}|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+(?:[A-Z][a-z0-9]+)+|"
    r"[A-Z]\w+(?:\.[A-Za-z_]\w*)+|[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?![\w/]|\.\w)"
)
_CALLED = (
    lazy(
        r"\b(?:function|method|class|constant|variable|helper|decorator|macro|struct|trait)\s+(?P<name>[A-Za-z_][\w.]*\w)"
    ),
    lazy(r"\b(?P<name>[A-Za-z_]\w*)\s+(?:function|method|class|constant|helper|decorator)\b"),
)
_WORDS = frozenset(
    "the a an this that each every one no new same other its our your main only private public static".split()
)
SHORTEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name of something defined in code; `value` is what the text says it is set to. A plain one may be an ordinary word."""

    name: str
    value: str = ""
    plain: bool = False


def anchors_in(text: str) -> list[str]:
    """Return the places a text names, those in backticks first, without URLs, routes, commands and examples.

    A bare name without a folder counts only in backticks: in prose `node.js` is not a file.
    """
    bare = _ADDRESS.sub(" ", text)
    quoted = [match[0] for quote in _QUOTED.findall(bare) if (match := _PLACE.fullmatch(quote.strip()))]
    prose = [match[0] for match in _PLACE.finditer(_QUOTED.sub(" ", bare)) if "/" in match["path"]]
    return _real([*quoted, *prose])


def files_in(text: str) -> list[str]:
    """Return the paths and file names of a text, bare names in prose included: they count if such a file exists."""
    return _real([match["path"] for match in _PLACE.finditer(_ADDRESS.sub(" ", text).replace("`", " "))])


def _real(places: list[str]) -> list[str]:
    unique = dict.fromkeys(place.removeprefix("./") for place in places if not _EXAMPLE.search(place))
    return list(unique)[:MOST_ANCHORS]


def symbols_in(text: str) -> list[Symbol]:
    """Return the names of code in a text, those that certainly are code first."""
    symbols: dict[str, Symbol] = {}
    for symbol in _symbols(_PLACE.sub(" ", _ADDRESS.sub(" ", _FENCED.sub(" ", text)))):
        known = symbols.get(symbol.name)
        if known is None or (symbol.value and not known.value) or (known.plain and not symbol.plain):
            symbols[symbol.name] = symbol
    certain = sorted(symbols.values(), key=lambda symbol: symbol.plain)
    whole = [one for one in certain if not any(other.name.endswith(f".{one.name}") for other in certain)]
    return whole[:MOST_ANCHORS]


def _symbols(text: str) -> Iterator[Symbol]:
    for quote in _QUOTED.findall(text):
        inside = quote.strip()
        if (match := _ALONE.fullmatch(inside)) and _is_name(match["name"]):
            yield _symbol(match["name"], plain=inside.islower() and "_" not in inside and "(" not in inside)
        elif match := _CALL.match(inside):
            yield _symbol(match["name"])
    for match in _SET.finditer(text.replace("`", " ")):
        if match["name"].rpartition(".")[2].isupper():
            yield _symbol(match["name"], match["value"])
    prose = _QUOTED.sub(" ", text)
    yield from (_symbol(match["name"]) for match in _CALL.finditer(prose) if _is_name(match["name"]))
    yield from (_symbol(match["name"], plain=True) for match in _FORMED.finditer(prose))
    names = (match["name"] for called in _CALLED for match in called.finditer(prose))
    yield from (_symbol(name, plain=True) for name in names if _is_name(name) and name.lower() not in _WORDS)


def _symbol(name: str, value: str = "", *, plain: bool = False) -> Symbol:
    return Symbol(name=name.replace("::", ".").replace("#", "."), value=value, plain=plain)


def _is_name(name: str) -> bool:
    return len(name) >= SHORTEST
