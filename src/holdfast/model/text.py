"""Limits on stored text, helpers that shorten and count it, and the fence: stored text never passes for anything else."""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.patterns import lazy, patterns_of, tables

LONGEST_BODY = 100_000
LONGEST_TITLE = 1_000
HEADLINE = 120
LONGEST_NUMBER = 18  # digits
DEEPEST = 50  # lists and objects within each other
# Measured over English prose and code, four characters make about one token of today's models.
CHARS_PER_TOKEN = 4
_RE = patterns_of(__file__, "sentences")


def whole_number(text: str) -> int | None:
    """Parse a whole number that any store can hold; None if it is not one. Digits outside ASCII do not count."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def check_text(text: str, what: str, longest: int) -> str:
    """Return the text stripped and with plain line ends; raise Invalid if it is empty or too long."""
    check_keepable(text)
    cleaned = check_is_text(text, f"The {what}").replace("\r\n", "\n").replace("\r", "\n").strip()
    if not cleaned:
        raise Invalid(f"The {what} is empty.", hint=f"Pass the {what}.")
    if len(cleaned) > longest:
        hint = "Keep the conclusion here and link to the rest, or split it."
        raise Invalid(f"The {what} has {len(cleaned):,} characters; {longest:,} is the most.", hint=hint)
    return cleaned


def check_is_text(value: str, what: str) -> str:
    """Return a text as it is; raise Invalid if a caller passed something else."""
    if isinstance(value, str):
        return value
    raise Invalid(f"{what} must be a text, not {value!r:.40}.")


def check_keepable(value: Any, depth: int = 0) -> None:
    """Reject values that a store could not return unchanged: NUL bytes, broken Unicode, infinite numbers, deep nesting."""
    if depth > DEEPEST:
        raise Invalid(f"It is nested more than {DEEPEST} deep.")
    if isinstance(value, str):
        if "\0" in value:
            raise Invalid("The text contains NUL bytes.", hint="Remove them and try again.")
        try:
            value.encode()
        except UnicodeEncodeError as problem:
            raise Invalid("The text is not valid UTF-8.", hint="Check its encoding and try again.") from problem
    elif isinstance(value, dict | list | tuple):
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            check_keepable(part, depth + 1)
    elif isinstance(value, int | float) and not abs(value) <= sys.float_info.max:  # whole numbers may be larger
        raise Invalid("A number is infinite, too large or not a number.")


def headline(text: str) -> str:
    """Return the first sentence or line, short enough for a list."""
    bare = (_RE["marker"].sub("", line).rstrip(" #*->\t") for line in text.splitlines())  # a sign or an option stays
    line = next(filter(None, bare), "")
    ends = (end for at, end in sentence_ends(line) if line[at - 1] not in ";；" and re.search(r"[^\W\d]", line[:at]))
    return shorten(line[: next(ends, len(line))], HEADLINE)


def sentence_ends(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence, or its part before a semicolon, ends and the next one begins; no abbreviation ends one."""
    begin = 0
    for end, after in (match.span() for match in _RE["end"].finditer(text)):
        first = next(filter(str.isalpha, text[begin : begin + 20]), "")
        if not _RE["continues"].search(f"{first}\0{text[max(begin, end - 16) : end]}\0{text[end : after + 20]}"):
            yield end, after
            begin = after


def flat(text: str) -> str:
    """Return a text as one line: a heading ends in a colon, a paragraph in a full stop."""
    marked = re.sub(r"^#{1,6}[ \t]+(.*[^\s:])[ \t]*$", r"\1:", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"(?<=\w)[ \t]*\n[ \t]*\n", ". ", marked).split())


def shorten(text: str, most: int) -> str:
    """Cut at the end of a word and append an ellipsis."""
    flat = " ".join(text[: 2 * most + 100].split())
    if len(flat) <= most and len(text) <= 2 * most + 100:
        return flat
    return flat[: most - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right number: "1 memory", "2 memories"."""
    head, *tail = re.split(r"(?= (?:for|of|that) )", noun, maxsplit=1)  # "2 notes for agents"
    plural = head[:-1] + "ies" if re.search(r"[^aeiou]y$", head) else head + "s"
    return f"{number:,} {head if number == 1 else plural}{''.join(tail)}"


def plotted(numbers: Sequence[int]) -> str:
    """Return numbers as a row of small bars."""
    most = max(numbers, default=0)
    return "".join(" ▁▂▃▄▅▆▇█"[round(8 * number / most)] if most else " " for number in numbers)


def tokens_of(text: str) -> int:
    """Estimate how many tokens a model spends on a text."""
    # Outside ASCII (accents, CJK) a character costs more: count bytes there.
    return max(1, round(len(text.encode(errors="replace")) / CHARS_PER_TOKEN)) if text else 0


def text_or_empty(value: Any) -> str:
    """Return a text as it is, and "" for anything else."""
    return value if isinstance(value, str) else ""


def texts_of(value: Any) -> list[str]:
    """Return the texts in a list, and none for anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def listed(value: Any) -> str:
    """Return a value as text; the items of a list with semicolons between them."""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def filled(*parts: object) -> list[str]:
    """Return the texts among some parts: what is empty, 0, False or None is left out."""
    return [str(part) for part in parts if part]


def good_cut(text: str, start: int, end: int) -> int:
    """Return a good place to cut a text near an end: after a paragraph, line or word in the last fifth before it."""
    if end >= len(text):
        return len(text)
    for separator in ("\n\n", "\n", " "):
        if (position := text.rfind(separator, start + (end - start) * 4 // 5, end)) > 0:
            return position + len(separator)
    return end


# `_markers` finds what looks like one, in one pass over the text as it looks, by the tables below and in `text.txt`.
# Names of HTML elements and type arguments stay; of every other tag `<` becomes `&lt;` and `[` becomes `&#91;`, and a line that
# opens a turn of a chat gets `| ` before it.

OURS = "\0"  # before a fence that we write ourselves; no stored text holds one, see `check_keepable`

_TABLES = tables(__file__)
_SAME_LOOK = dict(_TABLES["alike"])
_ALIKE = {character: row[0] for row in _SAME_LOOK.values() for character in row}
_LESS, _MORE = _SAME_LOOK["less"], _SAME_LOOK["more"]
_QUOTES = "‹«《〈〈⟪"  # quotation marks of some languages: a plain word in them is a quotation
# Invisible, or moves what is visible: control characters, directions, zero-width joiners, tags, selectors, fillers.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
_HIDDEN += r"\U000e0000-\U000e007f\U000e0100-\U000e01ef"
_MOVING = lazy(f"[{_CONTROL}{_HIDDEN}]")
_SEEN = rf"[^\x00-\x7f{_CONTROL}{_HIDDEN}\u200c\u200d]"  # letters beyond ASCII and emoji, which need joiners
_UNSEEN = lazy(rf"[{_CONTROL}{_HIDDEN}]|[\u200c\u200d](?<!{_SEEN}.)(?!{_SEEN})")
_ASCII = lazy(r"[\x00-\x08\x0b-\x1f\x7f]")
_LATIN = lazy(r"\b(?:LATIN|REGIONAL INDICATOR|MODIFIER)\b.*?\bLETTER (?:[A-Z]{2,} )*([A-Z])\b")

# Names that may stay in angle brackets, type arguments after a name, and names that never pass.
_ELEMENTS = frozenset(word for _, words in _TABLES["elements"] for word in words.split())
_TYPE, _NEVER = (lazy("|".join(names for _, names in _TABLES[section])) for section in ("types", "never"))
_TAG = lazy(
    r"""<(?P<loose>\s*+)(?P<slash>/{0,4}+)(?P<gap>\s*+["'*`~=.,;:+$\#@&^_\d-]*+)"""
    r"(?P<name>\|?[^\W\d_][\w|:.$-]*+|\|\s++[\w-]++\s*+(?=\|)|[!?](?=[\w\[-])|0x[0-9a-f]{2}(?=>))"
)
_CLOSED = lazy(r"""[^<>;(){}&|]*+>|\s++[\w:-]++\s*+=\s*+["']""")
_CLOSED_AT_ONCE = lazy(r"""["'*`~_/-]*+\s*+>""")
# Tokens and markers in square brackets: the first wherever they stand, the others unless they index something or name a link.
_SQUARE = lazy(
    r"\[\s*+/{0,4}+\s*+(?:"
    r"(?:inst|sys|gmask|smask|sop|eop|bos|eos|think|system_prompt|available_tools|tool_(?:calls|results|content)|call_id|modality)\s*+\]|"
    r"(?<![\w)\]]\[)(?:(?:system|assistant|user|human|developer)\s*+(?:\](?!\()|:(?!:))|system[ _-](?!\])[^\]\n]{0,80}\](?!\()|"
    r"request interrupted[^\]\n]{0,60}\]))"
)
# Lines that open a turn of a chat, or a part of a prompt.
_TURN = lazy(
    r"(?m)^[ \t]*+(?:"
    r"(?P<any>[*_#>]{0,6}+[ \t]*+(?:(?:gpt4 correct )?(?:human|assistant)|(?:tool|function)[ _-](?:result|output|response|call)s?)[*_]{0,3}+\s*+:)|"
    r"(?P<capital>[*_>]{0,3}+(?:gpt4 correct user|user|system|developer|ai)[*_]{0,3}+:)|"
    r"\#{2,6}+[ \t]*+(?:(?:instructions?|response|input|system|user|developer)[ \t]*+:|(?:system|developer) (?:prompt|message|instructions?)\b)|"
    r"[-=*_~\#]{2,}+[ \t]*+(?:begin|end|start)(?: of)?(?: the)? (?:system|developer|user|assistant|memor(?:y|ies)|untrusted|tool|prompt|context|conversation)\b"
    r")"
)


def visible(text: str) -> str:
    """Return a text for a terminal, without characters that move the cursor, change the direction of writing or are invisible."""
    # Agents read terminals too, so its tags and tokens are made harmless as well.
    return _harmless((_ASCII if text.isascii() else _MOVING).sub("", text))


def escaped(json: str) -> str:
    """Return JSON with such characters, and the first of each marker, written as escapes: the same value, safe to print."""
    whole = _harmless(json, _escape)
    return whole if whole.isascii() else _MOVING.sub(lambda match: _escape(match[0]), whole)


def defused(text: str, *, fences: bool = False) -> str:
    """Return a text that can neither close its fence nor open another, nor pass for a client's own words."""
    if fences and OURS in text:  # a whole answer: lets those through that are marked
        first, *rest = text.split(OURS)
        fenced = (part.partition("\n") for part in rest)  # the first line is a fence of ours
        return "".join([defused(first), *(fence + line_end + defused(inside) for fence, line_end, inside in fenced)])
    return _harmless((_ASCII if text.isascii() else _UNSEEN).sub("", text))


def inline(text: str) -> str:
    """Return a text as part of one line, without any bracket a tag could begin with."""
    flat = " ".join(defused(text).split())
    return re.sub(f"[{_MORE}]", "›", re.sub(f"[{_LESS}]", "‹", flat))


def attribute(text: str) -> str:
    """Return a text as the value of an attribute of a fence."""
    return inline(text).replace('"', "'")


def _harmless(seen: str, escape: Callable[[str], str] | None = None) -> str:
    parts, end = list[str](), 0
    for place, instead in _markers(seen):
        parts += [seen[end:place], escape(seen[place]) if escape else instead]
        end = place + 1
    return "".join([*parts, seen[end:]]) if parts else seen


def _markers(text: str) -> Iterator[tuple[int, str]]:
    """Yield where a marker begins and what its first character is replaced by, in order. Linear in the text."""
    # What the text looks like: one alphabet, no case, no accents, nothing invisible; and where each character is in it.
    look = text.lower().replace("\\", "/")
    places: Sequence[int] = range(len(text))
    if not text.isascii() or _ASCII.search(text):
        looks = [_looks_like(char) for char in text]
        look, places = "".join(looks), [place for place, seen in enumerate(looks) for _ in seen]
    tags = (match for match in _TAG.finditer(look) if _is_marker(text, places, match))
    markers = [(places[match.start()], "&lt;") for match in tags]
    markers += [(places[match.start()], "&#91;") for match in _SQUARE.finditer(look)]
    for match in _TURN.finditer(look):
        start = places[match.start() + len(match[0]) - len(match[0].lstrip())]
        if match["capital"] is None or next(filter(str.isalpha, text[start : start + 20]), "").isupper():
            markers.append((start, f"| {text[start]}"))
    yield from sorted(markers)


@lru_cache(maxsize=8192)
def _looks_like(char: str) -> str:
    if char in _ALIKE:
        return _ALIKE[char]
    if char.isascii():
        return "" if _ASCII.match(char) else char.lower()
    if _UNSEEN.match(char) or unicodedata.category(char)[0] == "M" or unicodedata.category(char) == "Cf":
        return ""
    if traced := _LATIN.search(unicodedata.name(char, "")):
        return traced[1].lower()
    plain = "".join(part for part in unicodedata.normalize("NFKD", char) if unicodedata.category(part)[0] != "M")
    return "".join(_ALIKE.get(part, part) for part in plain).lower()


def _is_marker(original: str, places: Sequence[int], match: "re.Match[str]") -> bool:
    """True if a `<` opens a marker: not if what follows `<` is an element of HTML, a type argument, a comparison, an address or a path."""
    text, start, end, name = match.string, match.start(), match.end(), match["name"].rstrip(".:-")
    if name[0] in "!?|" or name.startswith("0x"):
        return not (name == "!" and re.match(r"doctype html\b", text[end : end + 13]))
    if _NEVER.fullmatch("".join(char for char in name if char.isalnum())):
        return True
    begins = match.start("name")
    written = original[places[begins] : places[begins + len(name) - 1] + 1]
    written = written if written.isascii() else ""  # it only looks so
    before = text[start - 1] if start else ""
    if original[places[start]] in _QUOTES and not re.search(r"\w[-_:]\w", name):
        return False
    if match["loose"] and "." in name:
        return False  # a file that a shell reads from
    if match["loose"] or match["gap"] or before == "<":
        return bool(_CLOSED_AT_ONCE.match(text, end)) and not _is_element(written)
    # `<https://…>`, `<ada@example.org>` and `<stdio.h>`
    is_address = re.match(r"@\w|//\w", text[end : end + 3]) or name.endswith((".h", ".hpp"))
    if _is_element(written) or is_address or (match["slash"] and re.match(r"/\w", text[end : end + 2])):
        return False
    if match["slash"] or not (before.isalnum() or (before in "_)]" and before)):
        return True
    return not _TYPE.fullmatch(written) if _CLOSED.match(text, end) else bool(re.search(r"\w[-:]\w\w", name))


def _is_element(written: str) -> bool:
    return written.lower() in _ELEMENTS or (len(written) == 1 and written.isalpha())


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return char if char in "\n\r" else "".join(f"\\u{unit}" for unit in units)
