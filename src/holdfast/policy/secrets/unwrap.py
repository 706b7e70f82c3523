"""Undo terminal codes, invisible characters and the escapes of formats, so that credentials in them can be found.

Each spelling comes with a function that maps a span in it back to the original text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from holdfast.model.patterns import lazy

MYPY = False
if MYPY:  # importing `typing` is too slow here
    import re  # noqa: TC003

MOST_LAYERS = 3  # such as JSON in a URL in HTML; a run of backslashes counts as one
Back = Callable[[int, int], tuple[int, int]]

_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # fmt: skip
_ESCAPE = r"(?:\x1b|\\{1,8}(?:[uU]\{?0{0,6}1[bB]\}?|x1[bB]|033|e(?=[\[\]])))"
_TERMINAL = (
    _ESCAPE + r"(?:\][^\x07\x1b\\\n]{0,400}+(?:\x07|\x1b\\|\\{1,8}(?:a|u0007|x07))|\[[0-?]{0,40}+[ -/]{0,4}+[@-~]|[()#][A-Z0-9])?"
    r"|\x9b[0-?]{0,40}+[@-~]"
)  # fmt: skip
_WRITTEN = (
    r"(?P<gone>[" + _INVISIBLE + r"]|\\\r?\n|\\(?:\\\\){1,7}+n|%[eE]2%80%8[b-fB-F])"
    r"|\\{1,16}+(?:(?P<space>[nrt])|u(?P<unicode>[0-9a-fA-F]{4})|x(?P<hex>[2-7][0-9a-fA-F])|(?P<quote>[\"'`/$&!#]))"
    r"|\\(?P<slash>\\)\\{0,14}+"
    r"|%(?P<percent>[0-7][0-9a-fA-F])"
    r"|&(?:#(?P<decimal>\d{1,5});|#[xX](?P<number>[0-9a-fA-F]{1,4});|(?P<name>[A-Za-z]{2,7});)"
)
_NAMED = {
    "quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "equals": "=", "colon": ":", "num": "#", "period": ".",
    "lowbar": "_", "sol": "/", "bsol": "\\", "plus": "+", "dollar": "$", "commat": "@", "nbsp": " ", "grave": "`", "Tab": "\t",
    "NewLine": "\n", "lpar": "(", "rpar": ")", "excl": "!", "percnt": "%", "ast": "*", "comma": ",", "semi": ";", "quest": "?",
    "lsqb": "[", "rsqb": "]", "lbrack": "[", "rbrack": "]", "Hat": "^", "lbrace": "{", "rbrace": "}", "lcub": "{", "rcub": "}",
    "vert": "|", "hyphen": "-", "dash": "-", "shy": "", "zwj": "", "zwnj": "", "tilde": "~", "nbhy": "-",
}  # fmt: skip
_LAYER, _ESCAPED = lazy(f"(?P<terminal>{_TERMINAL})|{_WRITTEN}"), lazy(_ESCAPE)


def spellings(text: str) -> Iterator[tuple[str, Back]]:
    """Yield the text in plainer and plainer spellings, each with a function that maps its spans back."""
    backs: list[Back] = []
    layer = text
    for _ in range(MOST_LAYERS):
        plainer, back = _replaced(layer, "")
        if back is None:
            return
        if _ESCAPED.search(layer):  # a colour code may be between two words or inside one
            spaced, spaced_back = _replaced(layer, " ")
            if spaced_back:
                yield spaced, _chained((*backs, spaced_back))
        backs.append(back)
        yield plainer, _chained(tuple(backs))
        layer = plainer


def plain(text: str) -> str:
    """Return the plainest spelling of a text."""
    return [text, *(spelling for spelling, _ in spellings(text))][-1]


def _replaced(text: str, terminal: str) -> tuple[str, Back | None]:
    """Return the text with one layer of escapes undone, and the way back; None if there was nothing to undo."""
    parts: list[str] = []
    new_places: list[int] = [0]  # positions in the new text, alternately after kept and replaced parts
    old_places: list[int] = [0]  # the same positions in the original text
    length = last = 0
    for match in _LAYER.finditer(text):
        new = terminal if match.lastgroup == "terminal" else _meant(match)
        if new is None:
            continue
        kept = text[last : match.start()]
        parts += (kept, new)
        length += len(kept)
        new_places += (length, length + len(new))
        old_places += (match.start(), match.end())
        length, last = length + len(new), match.end()
    if not parts:
        return text, None
    parts.append(text[last:])

    def back(start: int, end: int) -> tuple[int, int]:
        first, final = bisect_right(new_places, start) - 1, bisect_right(new_places, end - 1) - 1
        begin = old_places[first] + (start - new_places[first] if first % 2 == 0 else 0)
        stop = old_places[final] + end - new_places[final] if final % 2 == 0 else old_places[final + 1]
        return begin, stop

    return "".join(parts), back


def _meant(match: re.Match[str]) -> str | None:
    """Return the character that an escape stands for; None to leave it as it is."""
    kind, value = str(match.lastgroup), match[str(match.lastgroup)]
    match kind:
        case "gone":
            return ""
        case "space":
            return "\t" if value == "t" else "\n"
        case "quote":
            return value
        case "slash":
            return "\\"
        case "name":
            return _NAMED.get(value)
        case "decimal":
            code = int(value)
        case _:
            code = int(value, 16)
    return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x10000 else None


def _chained(backs: tuple[Back, ...]) -> Back:
    """Return the way back through all layers, the last one first."""

    def back(start: int, end: int) -> tuple[int, int]:
        for layer_back in reversed(backs):
            start, end = layer_back(start, end)
        return start, end

    return back
