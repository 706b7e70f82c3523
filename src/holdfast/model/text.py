"""Limits on stored text, and helpers that shorten and count it."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.patterns import patterns_of

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
