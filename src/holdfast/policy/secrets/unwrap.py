"""Undo what a text is wrapped in, so that credentials in it can be found: a table for each way of wrapping."""
# `LAYERS` are the escapes of terminals and formats, `JOINTS` what is between the parts of a broken text, `BLOCKS` the
# encodings of bytes. A spelling comes with a function that maps a span in it back to the original text.

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from holdfast.model.patterns import lazy
from holdfast.policy.secrets.words import is_wordy

MOST_LAYERS = 3  # such as JSON in a URL in HTML; a run of backslashes counts as one
FARTHEST = 2_000  # characters before and after the joints of a broken text
LONGEST_INFLATED = 100_000  # characters of a compressed block that are examined
TERMINAL = "\x1b"  # stands for a code of a terminal until it is replaced
Back = Callable[[int, int], tuple[int, int]]

_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # fmt: skip
_ESCAPE = r"(?:\x1b|\\{1,8}(?:[uU]\{?0{0,6}1[bB]\}?|x1[bB]|033|e(?=[\[\]])))"
_TERMINAL = (
    _ESCAPE + r"(?:\][^\x07\x1b\\\n]{0,400}+(?:\x07|\x1b\\|\\{1,8}(?:a|u0007|x07))|\[[0-?]{0,40}+[ -/]{0,4}+[@-~]|[()#][A-Z0-9])?"
    r"|\x9b[0-?]{0,40}+[@-~]"
)  # fmt: skip
_WRITTEN = (
    r"(?P<gone>[" + _INVISIBLE + r"]|\\\r?\n|\\(?:\\\\){1,7}+n|%[eE]2%80%8[b-fB-F])"
    r"|\\{1,16}+(?:(?P<space>[nrt])|u(?P<unicode>[0-9a-fA-F]{4})|x(?P<hex>[2-7][0-9a-fA-F]|0[9aAdD])|(?P<octal>01[125]|0[4-7][0-7]|1[0-7]{2})|(?P<quote>[\"'`/$&!#]))"
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
_SIGNS = {"terminal": TERMINAL, "gone": "", "slash": "\\"}
_WORD = lazy(r"[^\s\"'`,;(){}<>\[\]\\|]*+")
_TOKEN, _CONTROL = lazy(r"[\d_+/=!#$%^*~@]|[a-z][A-Z]"), lazy(r"[\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x80-\x9f\ufffd]")
_ESCAPED = lazy(_ESCAPE)
# Escapes: signs, one of which is in a text that has them, and a pattern whose groups `_meant` reads.
LAYERS = (
    (("\x1b", "\\", "%", "&"), lazy(f"(?P<terminal>{_TERMINAL})|{_WRITTEN}")),
    (("=\n", "=\r\n", "=3D", "=2E", "=5F"), lazy(r"(?P<gone>=\r?\n)|=(?P<hex>[2-7][0-9A-F])")),  # quoted-printable
)
# What is between two parts of a text: the texts of which one is in it, and a pattern. A part of a broken line is one word.
_END = r"(?<=[^\s\"'`,;(){}<>\[\]\\])"
_BEGIN = r"(?=[^\s\"'`,;(){}<>\[\]:=\\|@&]{2,}+={0,2}(?:[\s\"'`,;)\]}\\<|@&]|\Z))"
_LITERALS = r"(?<=[^\s\"'`=:,(\[{{\\])(?P<quote>[\"'`])\s{{0,40}}+(?:(?:{})\s{{0,40}}+)?[bfruBFRU]?(?P=quote)(?=[^\s\"'`,;:)\]}}])"
JOINTS = (
    (("\n",), lazy(_END + r"[ \t]{0,8}[\\`^]?\r?\n[ \t]{0,40}+(?:(?:[>#*+|;]|//|--)[ \t]{0,8}+){0,4}+" + _BEGIN)),
    (('"', "'", "`"), lazy(_LITERALS.format(r"\+\+?|\.\.?|&|\|\||<>|~|\\\r?\n"))),
    (("join(", "oncat(", "ONCAT(", "implode("), lazy(_LITERALS.format(","))),
)


def _from_base64(word: str) -> bytes:
    from binascii import a2b_base64  # noqa: PLC0415  a shared library that most hooks need not load

    letters = word.rstrip("=").replace("-", "+").replace("_", "/")
    # Most words that could be base64 encode something else than text, which their beginning shows.
    if len(letters) % 4 == 1 or not _text_of(a2b_base64(letters[:40][: len(letters[:40]) // 4 * 4]), part=True):
        raise ValueError
    return a2b_base64(letters + "=" * (-len(letters) % 4))


def _from_base32(word: str) -> bytes:
    from base64 import b32decode  # noqa: PLC0415

    letters = word.rstrip("=")
    return b32decode(letters + "=" * (-len(letters) % 8))


# Encodings of bytes: a pattern, and a function that returns the bytes of a match or raises ValueError. Base64 of a text or of
# compressed bytes begins with one of these letters, hex of a text with such a pair of digits.
BLOCKS = (
    (lazy(r"(?<![A-Za-z0-9+/_\-])(?=[A-Za-f])[A-Za-z0-9+/_\-]{16,}+={0,2}"), _from_base64),
    (lazy(r"(?<![0-9A-Za-z])(?:0x)?(?:(?:[2-7][0-9a-fA-F]|0[aAdD9])[ :]?){12,}+(?![0-9A-Za-z])"), lambda word: bytes.fromhex(word.removeprefix("0x").replace(":", ""))),
    (lazy(r"(?<![A-Za-z0-9])[A-Z2-7]{24,}+={0,6}(?![A-Za-z0-9])"), _from_base32),
    (lazy(r"(?<!\d)(?:\d{2,3},[ \n]{0,20}){11,}+\d{2,3}(?!\d)"), lambda word: bytes(map(int, word.split(",")))),
)  # fmt: skip


def spellings(text: str) -> Iterator[tuple[str, Back]]:
    """Yield the text in plainer and plainer spellings, each with a function that maps its spans back."""
    layer, before, so_far = text, "", None
    for _ in range(MOST_LAYERS):
        if layer == before:
            return
        before = layer
        for signs, pattern in LAYERS:
            if layer.isascii() and not any(sign in layer for sign in signs):
                continue
            escapes = ((match.span(), _meant(match)) for match in pattern.finditer(layer))
            if not (meant := [(span, new) for span, new in escapes if new is not None]):
                continue
            if _ESCAPED.search(layer):  # a colour code may be between two words or inside one
                spaced, back = _replaced(layer, [(span, new if new != TERMINAL else " ") for span, new in meant])
                yield spaced, _chained(so_far, back)
            layer, back = _replaced(layer, [(span, new if new != TERMINAL else "") for span, new in meant])
            so_far = _chained(so_far, back)
            yield layer, so_far


def plain(text: str) -> str:
    """Return the plainest spelling of a text."""
    return [text, *(spelling for spelling, _ in spellings(text))][-1]


def joined(text: str) -> Iterator[tuple[str, Back, list[tuple[int, str]]]]:
    """Yield what results from joining parts of a text, each with its way back, and its joints with the word after each."""
    for signs, pattern in JOINTS:
        found = pattern.finditer(text) if any(sign in text for sign in signs) else ()
        joints = [joint.span() for joint in found if pattern.groups or _is_broken(text, *joint.span())]
        while joints:
            # Joints that are close to each other are in one piece.
            gaps = (place for place in range(1, len(joints)) if joints[place][0] - joints[place - 1][1] > FARTHEST)
            near = next(gaps, len(joints))
            start, end = max(0, joints[0][0] - FARTHEST), joints[near - 1][1] + FARTHEST
            start = text.rfind("\n", start, joints[0][0]) + 1 or start
            here, joints = joints[:near], joints[near:]
            piece, back = _replaced(text, [(joint, "") for joint in here], start, end)
            places, gone = [], start
            for begin, stop in here:
                # Two literals, or a line that ends in a sign of continuation, are one text whatever the next word is.
                marked = pattern.groups or text[begin:stop].lstrip()[:1] not in "\r\n"
                places.append((begin - gone, "" if marked else _word_at(text, stop)))
                gone += stop - begin
            yield piece, back, places


def _is_broken(text: str, start: int, end: int) -> bool:
    """True if the words before and after a line break may be parts of one token, not words of a language."""
    before, after = text[max(0, start - 200) : start].rsplit(maxsplit=1)[-1], _word_at(text, end)
    return bool(_TOKEN.search(before) or _TOKEN.search(after)) and not (is_wordy(before) and is_wordy(after))


def _word_at(text: str, place: int) -> str:
    match = _WORD.match(text, place)
    return match[0] if match else ""


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the span of each encoded block in a text, and the text that it encodes."""
    for pattern, decode in BLOCKS:
        for match in pattern.finditer(text):
            try:
                inner = _text_of(decode(match[0]))
            except ValueError:
                continue
            if inner:
                yield match.start(), match.end(), inner


def _text_of(raw: bytes, *, part: bool = False) -> str:
    """Return the text that bytes are, compressed or not; "" if they are something else."""
    if raw.startswith((b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x9c", b"\x78\xda")):
        if part:
            return "compressed"
        from zlib import MAX_WBITS, decompressobj, error  # noqa: PLC0415

        try:
            raw = decompressobj(MAX_WBITS | 32).decompress(raw, LONGEST_INFLATED)
        except error:
            return ""
    wide = len(raw) > 8 and not any(raw[1:40:2])
    text = raw.decode("utf-16-le" if wide else "utf-8", "ignore" if part or wide else "strict")
    return "" if _CONTROL.search(text) else text


def _replaced(
    text: str, replacements: list[tuple[tuple[int, int], str]], start: int = 0, end: int | None = None
) -> tuple[str, Back]:
    """Return a stretch of a text with some of its spans replaced, and the way back."""
    parts: list[str] = []
    new_places, old_places = [0], [start]  # positions in both texts, alternately after kept and replaced parts
    for (begin, stop), new in replacements:
        parts += (text[old_places[-1] : begin], new)
        length = new_places[-1] + begin - old_places[-1]
        new_places += (length, length + len(new))
        old_places += (begin, stop)
    parts.append(text[old_places[-1] : end])

    def back(start: int, end: int) -> tuple[int, int]:
        first, final = bisect_right(new_places, start) - 1, bisect_right(new_places, end - 1) - 1
        begin = old_places[first] + (start - new_places[first] if first % 2 == 0 else 0)
        stop = old_places[final] + end - new_places[final] if final % 2 == 0 else old_places[final + 1]
        return begin, stop

    return "".join(parts), back


def _meant(match: re.Match[str]) -> str | None:
    """Return the character that an escape stands for; None to leave it as it is."""
    kind = str(match.lastgroup)
    value = match[kind]
    if kind in _SIGNS:
        return _SIGNS[kind]
    if kind == "space":
        return "\t" if value == "t" else "\n"
    if kind in ("quote", "name"):
        return value if kind == "quote" else _NAMED.get(value)
    code = int(value, {"decimal": 10, "octal": 8}.get(kind, 16))
    return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x10000 else None


def _chained(outer: Back | None, inner: Back) -> Back:
    return (lambda start, end: outer(*inner(start, end))) if outer else inner
