"""Split documents into self-contained pieces (list items, paragraphs, code), each with its path of headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Documents that describe a project, most important first.
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
CONTROL_SHARE = 0.3  # share of control bytes above which a file is binary
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
    """One statement of a document, and the headings above it."""

    path: tuple[str, ...]
    text: str

    def under(self, name: str) -> str:
        """Return the text with its place, “[name > heading]”, in front."""
        place = " > ".join((name, *self.path)) if name else " > ".join(self.path)
        return f"[{place}] {self.text}" if place else self.text


def is_text(raw: bytes) -> bool:
    """True if a file's bytes are text, not binary."""
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in raw)
    return b"\0" not in raw and controls <= CONTROL_SHARE * max(1, len(raw))


def pieces(text: str, *, markdown: bool = True) -> list[Piece]:
    """Return the distinct pieces of a document in order; headings count only in markdown."""
    all_pieces = (
        Piece(path=path, text=content)
        for path, lines in _blocks(text, markdown=markdown)
        if (content := _content(lines))
    )
    return list(dict.fromkeys(all_pieces))


def _blocks(text: str, *, markdown: bool) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the blocks of a document with their path. A heading, empty line, list item or fence starts a new block."""
    path: list[tuple[int, str]] = []
    block: list[str] = []
    fence, in_item = "", False
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fence_mark = _FENCE.match(line)
        if fence or fence_mark:
            block.append(line)
            fence = _fence(fence, fence_mark, line)
            continue
        heading = _HEADING.fullmatch(line) if markdown else None
        starts_item = bool(_ITEM.match(line))
        if heading or starts_item or not line.strip() or (in_item and not line.startswith(" ")):
            yield tuple(name for _, name in path), block
            block, in_item = [], starts_item
        if heading:
            path = [*((level, name) for level, name in path if level < len(heading[1])), (len(heading[1]), heading[2])]
        elif line.strip():
            block.append(line)
    yield tuple(name for _, name in path), block


def _fence(open_fence: str, mark: re.Match[str] | None, line: str) -> str:
    """Return the fence that is open after a line."""
    if not mark:
        return open_fence
    if not open_fence:
        return mark[1]
    return "" if mark[1].startswith(open_fence) and line.strip() == mark[1] else open_fence


def _content(lines: list[str]) -> str:
    """Return the text of a block; "" if it is too short to mean anything, or only decoration."""
    if not lines:
        return ""
    first = _ITEM.sub("", lines[0], count=1)
    text = "\n".join([first, *lines[1:]]).strip()[:LONGEST]
    if _DECORATION.fullmatch(text):
        return ""
    long_enough = len(text) > SHORTEST or (len(text) >= SHORTEST_PAIR and bool(_PAIR.match(text)))
    return text if long_enough else ""
