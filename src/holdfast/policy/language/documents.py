"""Documents in pieces that make sense alone: list items, paragraphs and code, each under its path of headings. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What a project tells of itself, what matters most first.
FILES = (
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "README.md",
    "README",
    "CONTRIBUTING.md",
    "docs/README.md",
    "ARCHITECTURE.md",
)
MARKDOWN = (".md", ".markdown", ".mdx")
SHORTEST, SHORTEST_PAIR, LONGEST = 10, 5, 4_000
CONTROL_SHARE = 0.3  # of the bytes of a file, from which it is no text
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s{0,3}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
_PAIR = re.compile(r"[^:\s][^:]{0,40}:\s+\S")
_DECORATION = re.compile(
    r"(?:\s*(?:<!--.*?-->|<[^>]*>|\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?|[-=*_]{3,})\s*)+", re.DOTALL
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing a document says, and the headings above it."""

    path: tuple[str, ...]
    text: str

    def under(self, name: str) -> str:
        """Give the piece with where it stands before it."""
        place = " > ".join((name, *self.path)) if name else " > ".join(self.path)
        return f"[{place}] {self.text}" if place else self.text


def is_text(raw: bytes) -> bool:
    """Tell a text from a binary file."""
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in raw)
    return b"\0" not in raw and controls <= CONTROL_SHARE * max(1, len(raw))


def pieces(text: str, *, markdown: bool = True) -> list[Piece]:
    """Give what a document says, once each, in order; headings count only in markdown."""
    found = (Piece(path=path, text=said) for path, lines in _blocks(text, markdown=markdown) if (said := _said(lines)))
    return list(dict.fromkeys(found))


def _blocks(text: str, *, markdown: bool) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Give the blocks of a document with their path: a new one begins at a heading, an empty line, an item or a fence."""
    path: list[tuple[int, str]] = []
    block: list[str] = []
    fence, item = "", False
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence or mark:
            block.append(line)
            fence = _fence(fence, mark, line)
            continue
        heading = _HEADING.fullmatch(line) if markdown else None
        begins = bool(_ITEM.match(line))
        if heading or begins or not line.strip() or (item and not line.startswith(" ")):
            yield tuple(name for _, name in path), block
            block, item = [], begins
        if heading:
            path = [*((level, name) for level, name in path if level < len(heading[1])), (len(heading[1]), heading[2])]
        elif line.strip():
            block.append(line)
    yield tuple(name for _, name in path), block


def _fence(open_one: str, mark: re.Match[str] | None, line: str) -> str:
    """Give the fence that is open after a line."""
    if not mark:
        return open_one
    if not open_one:
        return mark[1]
    return "" if mark[1].startswith(open_one) and line.strip() == mark[1] else open_one


def _said(lines: list[str]) -> str:
    """Give the text of a block; nothing where it is too short to mean anything, or only decoration."""
    if not lines:
        return ""
    first = _ITEM.sub("", lines[0], count=1)
    said = "\n".join([first, *lines[1:]]).strip()[:LONGEST]
    if _DECORATION.fullmatch(said):
        return ""
    long_enough = len(said) > SHORTEST or (len(said) >= SHORTEST_PAIR and bool(_PAIR.match(said)))
    return said if long_enough else ""
