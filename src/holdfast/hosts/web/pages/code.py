"""The code: a treemap of the repository coloured by whether what is known still holds, each file, and what is around a memory or file."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.anchor import parse_anchor
from holdfast.model.errors import NotFound
from holdfast.model.files import read_inside
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.policy.freshness import places_of
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.freshness import Citation, Knowledge, citations_of, is_here, knowledge, worst
from holdfast.verbs.records.hot import vitals_by_id
from holdfast.verbs.search.graph import links_here, neighbours
from holdfast.verbs.search.recall import recall

WIDTH, HEIGHT, HEAD = 1000.0, 560.0, 20.0
LEAST_LABEL = (44.0, 16.0)  # a smaller tile has no text
MOST_LISTED, MOST_OPEN = 100, 15
SIZES = ("files", "memories")
LEGEND = WORDS["legend"]
MOST_LINES, MOST_BYTES, WIDEST = 3_000, 400_000, 400
MOST_NEAR = 12  # neighbours of a sort
NEAR, SHORT = 8, 60  # lines shown around what is cited; a file shorter than that is shown whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder or file: how many files it has, and what cites it."""

    path: str
    files: int
    citations: tuple[Citation, ...] = ()
    is_file: bool = False

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2] or self.path

    @property
    def state(self) -> str:
        """The worst state of what cites it."""
        return worst(self.citations) if self.citations else "uncited"

    @property
    def memories(self) -> int:
        """How many memories cite it."""
        return len({one.record.id for one in self.citations})

    @property
    def cited(self) -> list[Citation]:
        """What cites it, each memory once with its worst state, the worst first."""
        rank = list(LEGEND).index
        chosen = {one.record.id: one for one in sorted(self.citations, key=lambda one: rank(one.state))}
        return sorted(chosen.values(), key=lambda one: -rank(one.state))

    @property
    def states(self) -> list[tuple[str, int]]:
        """How many memories are in each state, the worst first."""
        return list(Counter[str](one.state for one in self.cited).items())

    def size(self, by: str) -> float:
        """Return how large its tile is."""
        return float(self.memories if by == "memories" else max(self.files, 1) ** 0.7)


class Tile(NamedTuple):
    """A rectangle of the map: a folder or file, and whether there is room for its name."""

    folder: Folder
    x: float
    y: float
    width: float
    height: float
    inner: bool = False

    @property
    def labelled(self) -> bool:
        """True if its name fits."""
        return self.width >= LEAST_LABEL[0] and self.height >= LEAST_LABEL[1]


class Line(NamedTuple):
    """A line of source, the citations that begin there, the state of its citation, and whether one is near."""

    number: int
    text: str
    citations: Sequence[Citation]
    state: str
    near: bool


class Branch(NamedTuple):
    """Some neighbours of a memory or file: by which relation, or the file that they cite as well."""

    label: str
    records: Sequence[Record] = ()
    path: str = ""
    files: Sequence[str] = ()


def _known(ask: Ask) -> Knowledge:
    instant = render.end_of_day(ask, ask.text("as_of")[:10])
    return cached_until_event(ask, "knowledge", lambda: knowledge(ask.memory, instant), instant)


def tracked(ask: Ask) -> tuple[str, ...]:
    """Return the files of the checkout, or those that memories cite if it is not here."""
    is_local = is_here(ask.memory, ask.memory.project)
    files = cached_until_event(ask, "files", ask.memory.checkout.files) if is_local else None
    return tuple(_known(ask).cited if files is None else files)


def anchors(ask: Ask, text: str) -> Iterable[str]:
    """Return the files of the checkout; after a path and `::`, what seems to be defined in that file."""
    path, inside, _ = text.partition("::")
    if not inside:
        return tracked(ask)
    try:
        lines, _ = source_of(ask.memory, path)
    except NotFound:
        return ()
    return dict.fromkeys(f"{path}::{name}" for names in _DEFINED.findall("\n".join(lines)) for name in names if name)


_DEFINED = re.compile(  # after a word that defines, before the block of a function, or set at the start of a line
    r"\b(?:class|const|def|enum|fn|func(?:[ \t]*\([^)\n]*\))?|function|interface|struct|trait|type)[ \t]+(\w+)"
    r"|\b(?!(?:if|for|while|switch|catch|with)\b)(\w+)[ \t]*\([^;{}()]*\)[ \t]*\{|^(\w+)[ \t]*:?=(?!=)",
    re.MULTILINE,
)


def _rows(ask: Ask) -> list[render.Row]:
    cited = (one for folder in folders_in(_known(ask), ask.text("folder").strip("/")) for one in folder.citations)
    return render.table(cited, "anchor, state, id=record.id, title=record.title")


@render.page_at("/map/drawn", "map_drawn.html", "Map", back="/map")
def _map(ask: Ask) -> dict[str, Any]:
    at, known = ask.text("folder").strip("/"), _known(ask)
    size = ask.text("size") if ask.text("size") in SIZES else "files" if known.files is not None else "memories"
    folders = folders_in(known, at)
    citations = tuple(one for folder in folders for one in folder.citations)
    here = Folder(path=at, files=sum(folder.files for folder in folders), citations=citations)
    parts = at.split("/") if at else []
    tiles = list[Tile]()
    for tile in treemap(folders, size, 0, 0, WIDTH, HEIGHT):
        tiles.append(tile)
        if tile.width > 3 * LEAST_LABEL[0] and tile.height > 4 * HEAD and not tile.folder.is_file:
            # What is directly inside it is drawn too.
            room = (tile.x + 3, tile.y + HEAD, tile.width - 6, tile.height - HEAD - 3)
            inside = treemap(folders_in(known, tile.folder.path), size, *room)
            tiles += (one._replace(inner=True) for one in inside)
    parents = [("/".join(parts[: place + 1]), part) for place, part in enumerate(parts)]
    listed = sorted(folders, key=lambda one: (-one.memories, one.path))[:MOST_LISTED]
    shown = {"known": known, "as_of": ask.text("as_of")[:10], "parents": parents, "cited": here.cited[:MOST_LISTED]}
    shown |= {"size": size, "sizes": SIZES, "tiles": tiles, "width": WIDTH, "height": HEIGHT, "legend": LEGEND}
    return shown | {"folder": here, "folders": listed, "not_listed": len(folders) - len(listed), "most": MOST_OPEN}


render.page_at("/map", "map.html", "Map", parts=(_map,), rows=_rows)(lambda ask: {"date": ask.text("as_of")[:10]})


def folders_in(known: Knowledge, at: str) -> list[Folder]:
    """Return what is inside a folder, with everything that cites it; a folder with one folder in it stands for that one."""
    found = []
    for folder in _direct(known, at):
        while not folder.is_file and len(inside := _direct(known, folder.path)) == 1 and not inside[0].is_file:
            folder = inside[0]  # noqa: PLW2901
        found.append(folder)
    return found


def _direct(known: Knowledge, at: str) -> list[Folder]:
    start = f"{at}/" if at else ""
    files, cited, leaves = Counter[str](), defaultdict[str, list[Citation]](list), set[str]()
    every = (*((path, (), 1) for path in known.files or ()), *((path, some, 0) for path, some in known.cited.items()))
    for path, citations, count in every:
        if path.startswith(start):
            name = path[len(start) :].partition("/")[0]
            leaves |= {name} if start + name == path else set()
            files[name] += count
            cited[name].extend(citations)
    return [
        Folder(path=start + name, files=files[name], citations=tuple(cited[name]), is_file=name in leaves)
        for name in sorted(cited)
    ]


def treemap(folders: Sequence[Folder], size: str, x: float, y: float, width: float, height: float) -> Iterator[Tile]:
    """Yield a tile for each folder with a size, in a rectangle (squarified: Bruls, Huizing and van Wijk)."""
    sized = [(folder.size(size), folder) for folder in folders]
    rest = sorted((pair for pair in sized if pair[0] > 0), key=lambda pair: -pair[0])
    scale = width * height / sum(area for area, _ in rest) if rest else 0
    while rest:
        side = min(width, height)  # along which a row of tiles is laid, as long as that makes the worst of them squarer
        ratio, total, count = math.inf, 0.0, 0
        for area, _ in rest:
            longer = total + area * scale
            worst_ratio = max(side**2 * rest[0][0] * scale / longer**2, longer**2 / (side**2 * area * scale))
            if worst_ratio > ratio:
                break
            ratio, total, count = worst_ratio, longer, count + 1
        row, rest = rest[:count], rest[count:]
        thick, along, upright = total / side, 0.0, width >= height
        for area, folder in row:
            length = area * scale / thick
            yield Tile(folder, *((x, y + along, thick, length) if upright else (x + along, y, length, thick)))
            along += length
        if upright:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick


@render.page_at("/file", "file.html", "File")
def _file(ask: Ask) -> dict[str, Any]:
    path = ask.text("path").strip("/")
    cited = citations_of(ask.memory, path)
    lines, problem = source_of(ask.memory, path)
    folder, _, name = path.rpartition("/")
    parts = parts_of(render.coloured("\n".join(lines), path) if lines else [], cited)
    return {"path": path, "folder": folder, "parts": parts, "problem": problem, "cited": cited, "title": name or "File"}


def source_of(memory: Memory, path: str) -> tuple[list[str], str]:
    """Return the lines of a tracked file, with secrets masked, or the reason why they cannot be shown."""
    if not is_here(memory, memory.project):
        return [], "The checkout of this project is not here; only what cites the file is known."
    tracked, top = memory.checkout.files(), memory.checkout.top().resolve()
    file = (top / path).resolve()
    if not path or not file.is_relative_to(top) or (tracked is not None and path not in tracked):
        hint = "The map under Memories lists the files of the checkout."
        raise NotFound(f"{path or 'This'} is no tracked file of the checkout.", hint=hint)
    if tracked is None and not any(True for _ in citations_of(memory, path)):
        raise NotFound(f"No memory cites {path}.", hint="Outside git only files that a memory cites are shown.")
    try:
        text = read_inside(top, path, MOST_BYTES).decode(errors="replace")
    except OSError as problem:
        return [], f"The file cannot be shown: {problem.strerror}."
    if "\0" in text:
        return [], "It is a binary file."
    lines = mask_secrets(text).split("\n")
    shown = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines[:MOST_LINES]]
    return shown, f"The first {MOST_LINES:,} of {len(lines):,} lines are shown." if len(lines) > MOST_LINES else ""


def parts_of(lines: Sequence[str], cited: list[Citation]) -> list[tuple[Line, ...]]:
    """Return the lines of a file in parts, those near to what is cited and those far from everything.

    Citations of the whole file, or of lines that are gone, begin at the first line.
    """
    begin, inside = defaultdict[int, list[Citation]](list), dict[int, str]()
    for one in cited:
        begin[one.first if 0 < one.first <= len(lines) else 1].append(one)
        for number in range(one.first, one.last + 1) if one.first else ():
            inside.setdefault(number, one.state)
    near = {number for at in (*begin, *inside) for number in range(at - NEAR, at + NEAR + 1)}
    whole = not cited or len(lines) <= SHORT
    numbered = [
        Line(number, text, begin.get(number, ()), inside.get(number, ""), whole or number in near)
        for number, text in enumerate(lines, start=1)
    ]
    return [tuple(lines) for _, lines in groupby(numbered, key=lambda line: line.near)]


@render.page_at(
    "/graph", "graph.html", "Graph", rows=lambda ask: render.table(links_here(ask.memory), "source, relation, target")
)
def _near(ask: Ask) -> dict[str, Any]:
    """Return what is around a memory (by id or title) or a file; without one, the most linked and the most cited."""
    # `sought` is true if what is shown is only the closest to some words, or nothing.
    node, known, shown = ask.text("node"), _known(ask), dict[str, Any](center=None, sought=False, most=MOST_NEAR)
    shown |= {"node": node, "path": "", "hubs": (), "files": ()}
    if node in known.cited:
        return shown | {"path": node, "branches": _around_file(known, node)}
    if node and is_reference(ask.memory, node):
        shown["center"] = find(ask.memory, node).record
    elif node:
        found = recall(ask.memory, Query(text=node, limit=1, everywhere=ask.everywhere), surface=False)
        shown["center"] = found.hits[0].record if found.hits else found.closest
        shown["sought"] = found.confidence != "high"
    if center := shown["center"]:
        # What it is linked to by relation, what its session saved, and what cites the same files.
        branches = [Branch(label, some) for label, some in neighbours(ask.memory, center).items()]
        for path in dict.fromkeys(parse_anchor(anchor).path for anchor in places_of(center)):
            others = {one.record.id: one.record for one in known.cited.get(path, ()) if one.record.id != center.id}
            branches += [Branch("cites", list(others.values()), path)] if path else []
        return shown | {"branches": branches}
    ends = Counter(end for arrow in links_here(ask.memory) for end in (arrow.source, arrow.target))
    hubs = [one.record for one in vitals_by_id(ask.memory, dict(ends.most_common(MOST_NEAR))).values()]
    files = Counter({path: len({one.record.id for one in ones}) for path, ones in known.cited.items()})
    return shown | {"hubs": hubs, "files": [path for path, _ in files.most_common(MOST_NEAR)]}


def _around_file(known: Knowledge, path: str) -> list[Branch]:
    """Return the memories that cite a file, by kind, and the files that they cite with it."""
    citing = {one.record.id: one.record for one in known.cited[path]}
    by_kind = dict[str, list[Record]]()
    for record in citing.values():
        by_kind.setdefault(f"cited by {record.kind.replace('_', ' ')}", []).append(record)
    together = Counter(name for name, ones in known.cited.items() for one in ones if one.record.id in citing)
    del together[path]
    files = [name for name, _ in together.most_common(MOST_NEAR)]
    return [*(Branch(label, some) for label, some in by_kind.items()), Branch("cited together with", files=files)]
