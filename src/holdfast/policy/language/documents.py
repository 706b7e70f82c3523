"""Split documents into memories: whole sections under their path of headings, or single items of a plain list."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.model.patterns import cues_of, patterns_of

FILES = tuple(cues_of(__file__)["files"]["any"].split())
MARKDOWN, RST, PROSE = (".md", ".markdown", ".mdx"), (".rst",), (".txt", "")
SHORTEST, SHORTEST_PAIR, LONGEST = 10, 5, 4_000
LEAST_PROSE = 8  # letters outside of links that a section must have, unless it has code
CONTROL_SHARE = 0.3  # share of control bytes above which a file is binary
_RE = patterns_of(__file__, "patterns")
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a document, and the headings above it."""

    path: tuple[str, ...]
    text: str

    def under(self, name: str) -> str:
        """Return the text with its place, “[name > heading]”, in front."""
        place = " > ".join((name, *self.path)) if name else " > ".join(self.path)
        if "\n" in self.text:
            return f"[{place}]\n{self.text}" if place else self.text
        marker = _RE["item"].match(self.text)
        return f"[{place}] {self.text[marker.end() if marker else 0 :]}" if place else self.text


def is_text(raw: bytes) -> bool:
    """True if a file's bytes are text, not binary."""
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in raw)
    return b"\0" not in raw and controls <= CONTROL_SHARE * max(1, len(raw))


def is_document(name: str) -> bool:
    """True if a file is prose by its name."""
    last = name.rpartition("/")[2]
    return "." not in last or f".{last.rpartition('.')[2].lower()}" in (*MARKDOWN, *RST, *PROSE)


def is_changelog(name: str) -> bool:
    """True if a file lists releases, by its name."""
    return bool(_RE["changelog"].match(name.rpartition("/")[2]))


def is_aside(name: str) -> bool:
    """True if a file says nothing about working on the project, by its name: a licence, a code of conduct."""
    return bool(_RE["aside"].fullmatch(name.rpartition("/")[2].partition(".")[0]))


def sections(text: str, *, markdown: bool = True) -> list[Piece]:
    """Return the sections that say how to work on the project, unaltered; long ones are split between their blocks."""
    parts = (
        Piece(path=path, text=part)
        for path, lines in _sections(text, markdown=markdown)
        if not any(_RE["aside"].fullmatch(_bare(name)) for name in path)
        for part in _packed(block for block in _blocks(lines, markdown=markdown) if not _is_noise(block))
    )
    return list(dict.fromkeys(parts))


def releases(text: str, *, markdown: bool = True) -> list[Piece]:
    """Return the releases of a changelog in its order, each whole; empty if no heading is a version."""
    found = defaultdict[str, list[str]](list)
    for path, lines in _sections(text, markdown=markdown):
        if version := next((name for name in path if _RE["release"].fullmatch(_bare(name))), ""):
            own = path[path.index(version) + 1 :]
            found[version].append("\n".join([*own[-1:], *lines]).strip("\n"))
    return [Piece(path=(version,), text="\n\n".join(filter(None, texts))) for version, texts in found.items()]


def pieces(text: str) -> list[Piece]:
    """Return each list item and paragraph of a plain text, under its headings."""
    found = dict[Piece, None]()
    for path, lines in _sections(text, markdown=True):
        for item in (item for block in _blocks(lines) for item in _items(block)):
            marker = _RE["item"].match(item)
            content = item[marker.end() if marker else 0 :].strip()
            shortest = SHORTEST_PAIR if _RE["pair"].match(content) else SHORTEST + 1
            # One that is too short means nothing, nor does decoration.
            if shortest <= len(content) <= LONGEST and _has_words(_RE["decoration"].sub("", content)):
                found[Piece(path=path, text=content)] = None
    return list(found)


def has_headings(text: str, *, markdown: bool = True) -> bool:
    """True if a document is divided by headings."""
    return any(path for path, _ in _sections(text, markdown=markdown))


def _sections(text: str, *, markdown: bool) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    path, levels, own = list[tuple[int, str]](), list[str](), list[str]()
    fence, lines = "", _RE["front_matter"].sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    for index, line in enumerate(lines):
        fence_mark = _RE["fence"].match(line) if markdown else None
        if fence or fence_mark:
            own.append(line)
            fence = _fence(fence, fence_mark, line)
        elif heading := _heading(lines, index, levels, markdown=markdown):
            yield tuple(name for _, name in path), own
            own = []
            path = [*((level, name) for level, name in path if level < heading[0]), heading]
        else:
            # A line of `=` or the like may belong to a heading above or below it.
            around = (text.strip() for text in (*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2]))
            rules = any(text and len(text) <= len(line.strip()) + 2 for text in around)
            own += [] if rules and _RE["underline"].fullmatch(line) else [line]
    yield tuple(name for _, name in path), own


def _heading(lines: list[str], index: int, levels: list[str], *, markdown: bool) -> tuple[int, str] | None:
    """Return the level and name of the heading on a line: behind `#`, or with a line of `=` or the like below it."""
    line = lines[index]
    if markdown and (match := _RE["heading"].fullmatch(line)):
        return len(match[1]), match[2]
    before = lines[index - 1].strip() if index else ""
    rule = lines[index + 1].strip() if index + 1 < len(lines) else ""
    over = not markdown and bool(rule) and before == rule
    is_ruled = _RE["underline"].fullmatch(rule) and line.strip() and len(rule) >= len(line.rstrip()) - 2
    if not is_ruled or line[0] in "-*|" or (line[0].isspace() and not over) or (before and not over):
        return None
    if markdown:
        return (1 if rule[0] == "=" else 2, line.strip()) if rule[0] in "=-" else None
    style = rule[0] + ("over" if over else "")
    if style not in levels:
        levels.append(style)
    return levels.index(style) + 1, line.strip()


def _fence(open_fence: str, mark: re.Match[str] | None, line: str) -> str:
    if not mark:
        return open_fence
    if not open_fence:
        return mark[1]
    return "" if mark[1].startswith(open_fence) and line.strip() == mark[1] else open_fence


def _blocks(lines: Iterable[str], *, markdown: bool = True) -> Iterator[str]:
    """Yield paragraphs, lists, tables and code, each whole; indented text belongs to what it follows."""
    block, fence, gap, comment = list[str](), "", False, False
    for line in lines:
        mark = _RE["fence"].match(line) if markdown and not comment else None
        if gap and not fence and not comment and line.strip() and not line.startswith((" ", "\t")):
            yield "\n".join(block).strip("\n")
            block = []
        block.append(line.rstrip())
        fence = _fence(fence, mark, line)
        comment = (comment or "<!--" in line) and not fence and "-->" not in line
        gap = not line.strip()
    yield "\n".join(block).strip("\n")


def _is_noise(block: str) -> bool:
    """True for badges, tables and lists of links, and questions that advertise something."""
    if not _has_words(_RE["link"].sub("", _RE["decoration"].sub("", block))):
        return True
    if block.lstrip().startswith("|"):
        rows = [row for row in block.splitlines() if _has_words(row)]
        return sum(bool(_RE["link"].search(row)) for row in rows) * 2 >= len(rows)
    return bool(_RE["question"].fullmatch(block.strip()))


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _packed(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the blocks of a section together, as many as fit; nothing if they hold neither prose nor code."""
    kept = list[str]()
    for block in (block for block in blocks if len(block) <= LONGEST):
        if kept and sum(map(len, kept)) + len(block) > LONGEST:
            yield "\n\n".join(kept)
            kept = []
        kept.append(block)
    text = "\n\n".join(kept)
    letters = sum(character.isalpha() for character in _RE["link"].sub("", _RE["decoration"].sub("", text)))
    if letters >= LEAST_PROSE or _RE["pair"].match(text) or _RE["code"].search(text):
        yield text


def _items(block: str) -> Iterator[str]:
    item, fence, begins = list[str](), "", _RE["item"].match
    for line in block.split("\n"):
        mark = _RE["fence"].match(line)
        if not fence and not mark and item and (begins(line) or (begins(item[0]) and not line[:1].isspace())):
            yield "\n".join(item)
            item = []
        item.append(line)
        fence = _fence(fence, mark, line)
    yield "\n".join(item)


def _bare(heading: str) -> str:
    """Return a heading without emphasis, links and symbols in front."""
    return re.sub(r"^[^\w\[(]+|[*_`]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip()
