"""Find the places in code that a text names: files, lines, functions, classes, methods and constants with their values."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.model.patterns import patterns_of

MOST_ANCHORS = 8  # found in a text
_RE = patterns_of(__file__, "patterns")
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
    bare = _RE["address"].sub(" ", text)
    quoted = [match[0] for quote in _RE["quoted"].findall(bare) if (match := _RE["place"].fullmatch(quote.strip()))]
    prose = [match[0] for match in _RE["place"].finditer(_RE["quoted"].sub(" ", bare)) if "/" in match["path"]]
    return _real([*quoted, *prose])


def files_in(text: str) -> list[str]:
    """Return the paths and file names of a text, bare names in prose included: they count if such a file exists."""
    return _real([match["path"] for match in _RE["place"].finditer(_RE["address"].sub(" ", text).replace("`", " "))])


def _real(places: list[str]) -> list[str]:
    unique = dict.fromkeys(place.removeprefix("./") for place in places if not _RE["example"].search(place))
    return list(unique)[:MOST_ANCHORS]


def symbols_in(text: str) -> list[Symbol]:
    """Return the names of code in a text, those that certainly are code first."""
    symbols: dict[str, Symbol] = {}
    for symbol in _symbols(_RE["place"].sub(" ", _RE["address"].sub(" ", _RE["fenced"].sub(" ", text)))):
        known = symbols.get(symbol.name)
        if known is None or (symbol.value and not known.value) or (known.plain and not symbol.plain):
            symbols[symbol.name] = symbol
    certain = sorted(symbols.values(), key=lambda symbol: symbol.plain)
    whole = [one for one in certain if not any(other.name.endswith(f".{one.name}") for other in certain)]
    return whole[:MOST_ANCHORS]


def _symbols(text: str) -> Iterator[Symbol]:
    for quote in _RE["quoted"].findall(text):
        inside = quote.strip()
        if (match := _RE["alone"].fullmatch(inside)) and _is_name(match["name"]):
            yield _symbol(match["name"], plain=inside.islower() and "_" not in inside and "(" not in inside)
        elif match := _RE["call"].match(inside):
            yield _symbol(match["name"])
    for match in _RE["set"].finditer(text.replace("`", " ")):
        if match["name"].rpartition(".")[2].isupper():
            yield _symbol(match["name"], match["value"])
    prose = _RE["quoted"].sub(" ", text)
    yield from (_symbol(match["name"]) for match in _RE["call"].finditer(prose) if _is_name(match["name"]))
    yield from (_symbol(match["name"], plain=True) for match in _RE["formed"].finditer(prose))
    names = (
        match["name"] for called in (_RE["called_after"], _RE["called_before"]) for match in called.finditer(prose)
    )
    yield from (_symbol(name, plain=True) for name in names if _is_name(name) and name.lower() not in _WORDS)


def _symbol(name: str, value: str = "", *, plain: bool = False) -> Symbol:
    return Symbol(name=name.replace("::", ".").replace("#", "."), value=value, plain=plain)


def _is_name(name: str) -> bool:
    return len(name) >= SHORTEST
