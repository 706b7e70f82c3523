"""Split markdown into sections, each with the path of its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text under a heading, up to the next heading of any level."""

    path: tuple[str, ...]
    body: str
    nth: int = 1  # of those with the same path


def sections(content: str) -> Iterator[Section]:
    """Yield the non-empty sections in order; text before the first heading has no path."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for line, level, title in _lines(content):
        if not level:
            lines.append(line)
            continue
        yield from _section(path, lines, seen)
        path = [*((depth, name) for depth, name in path if depth < level), (level, title)]
        lines = []
    yield from _section(path, lines, seen)


def _section(path: list[tuple[int, str]], lines: list[str], seen: dict[tuple[str, ...], int]) -> Iterator[Section]:
    body = "\n".join(lines).strip()
    if body:
        names = tuple(name for _, name in path)
        seen[names] = seen.get(names, 0) + 1
        yield Section(path=names, body=body, nth=seen[names])


def _lines(content: str) -> Iterator[tuple[str, int, str]]:
    """Yield each line with level and text if it is a heading, else level 0; code is never a heading."""
    fence = ""
    for line in content.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        heading = None if fence or mark else _HEADING.fullmatch(line)
        yield (line, len(heading[1]), heading[2]) if heading and heading[2] else (line, 0, "")
