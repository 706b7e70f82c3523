"""The map: a treemap of the repository, coloured by whether what is known about each folder still holds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import download, is_wanted
from holdfast.hosts.web.treemap import Tile, treemap
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.verbs.records.repository import Citation, Knowledge, knowledge, worst

WIDTH, HEIGHT, HEAD = 1000.0, 560.0, 20.0
LEAST_LABEL = (44.0, 16.0)  # a smaller tile has no text
MOST_LISTED, MOST_OPEN = 100, 15
SIZES = ("files", "memories")
LEGEND = {
    "fresh": "fresh",
    "exists": "only known to exist",
    "unverified": "never verified",
    "unknown": "cannot be checked here",
    "changed": "changed",
    "missing": "missing",
    "uncited": "nothing known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder or file: how many files it has, what cites it, and the worst state of that."""

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
    def states(self) -> list[tuple[str, int]]:
        """How many memories are in each state, the worst first."""
        each: dict[str, list[Citation]] = {}
        for one in self.citations:
            each.setdefault(one.record.id, []).append(one)
        counts: Counter[str] = Counter(worst(ones) for ones in each.values())
        return [(state, counts[state]) for state in reversed(list(LEGEND)) if counts[state]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A folder with its tile, and the tiles of what is inside it."""

    folder: Folder
    tile: Tile
    inside: tuple["Drawn", ...] = ()
    labelled: bool = False


def page(ask: Ask) -> Response:
    """Return the map of the repository or of a folder, and the memories that cite it."""
    if is_wanted(ask):
        return download(ask, "map", _rows(ask))
    later = is_large(ask)
    shown = {} if later else _map(ask)
    return render.page(ask, "map.html", title="Map", later=later, date=ask.text("as_of")[:10], **shown)


def map_part(ask: Ask) -> Response:
    """Return the map alone, for a project in which it takes a moment."""
    return render.part(ask, "map_drawn.html", "Map", "/map", **_map(ask))


def _known(ask: Ask) -> Knowledge:
    instant = render.end_of_day(ask, ask.text("as_of")[:10])
    known: Knowledge = cached_until_event(ask, "knowledge", lambda: knowledge(ask.memory, instant), instant)
    return known


def _rows(ask: Ask) -> list[dict[str, object]]:
    """Return a row for each citation inside the folder."""
    cited = (one for folder in folders_in(_known(ask), ask.text("folder").strip("/")) for one in folder.citations)
    return [{"anchor": one.anchor, "state": one.state, "id": one.record.id, "title": one.record.title} for one in cited]


def _map(ask: Ask) -> dict[str, Any]:
    date, at = ask.text("as_of")[:10], ask.text("folder").strip("/")
    known = _known(ask)
    size = ask.text("size") if ask.text("size") in SIZES else "files" if known.files is not None else "memories"
    folders = folders_in(known, at)
    here = Folder(
        path=at, files=sum(one.files for one in folders), citations=tuple(c for one in folders for c in one.citations)
    )
    return {
        "known": known,
        "as_of": date,
        "folder": here,
        "parents": _parents(at),
        "size": size,
        "sizes": SIZES,
        "drawn": _drawn(known, folders, size),
        "width": WIDTH,
        "height": HEIGHT,
        "legend": LEGEND,
        "most": MOST_OPEN,
        "folders": sorted(folders, key=lambda one: (-one.memories, one.path))[:MOST_LISTED],
        "not_listed": max(0, len(folders) - MOST_LISTED),
        "cited": _listed(here),
    }


def folders_in(known: Knowledge, at: str) -> list[Folder]:
    """Return what is inside a folder, with everything that cites it; a folder with one folder in it stands for that one."""
    return [_only(known, folder) for folder in _direct(known, at)]


def _only(known: Knowledge, folder: Folder) -> Folder:
    while not folder.is_file:
        inside = _direct(known, folder.path)
        if len(inside) != 1 or inside[0].is_file:
            break
        folder = inside[0]
    return folder


def _direct(known: Knowledge, at: str) -> list[Folder]:
    """Return the folders and files directly inside a folder."""
    start = f"{at}/" if at else ""
    files: Counter[str] = Counter()
    leaves = set()
    for path in known.files or ():
        if path.startswith(start):
            name = path[len(start) :].partition("/")[0]
            files[name] += 1
            leaves |= {name} if start + name == path else set()
    cited: dict[str, list[Citation]] = {}
    for path, citations in known.cited.items():
        if path.startswith(start):
            name = path[len(start) :].partition("/")[0]
            cited.setdefault(name, []).extend(citations)
            leaves |= {name} if start + name == path else set()
    return [
        Folder(path=start + name, files=files[name], citations=tuple(cited.get(name, ())), is_file=name in leaves)
        for name in sorted({*files, *cited})
    ]


def _drawn(known: Knowledge, folders: Sequence[Folder], size: str) -> list[Drawn]:
    """Return the tiles of folders, each with the tiles of what is directly inside it where there is room."""
    made = []
    for tile in treemap([_size(one, size) for one in folders], 0, 0, WIDTH, HEIGHT):
        folder = folders[tile.index]
        roomy = tile.width > 3 * LEAST_LABEL[0] and tile.height > 4 * HEAD and not folder.is_file
        inside = folders_in(known, folder.path) if roomy else []
        tiles = treemap(
            [_size(one, size) for one in inside], tile.x + 3, tile.y + HEAD, tile.width - 6, tile.height - HEAD - 3
        )
        nested = tuple(Drawn(folder=inside[one.index], tile=one, labelled=_has_room(one)) for one in tiles)
        made.append(Drawn(folder=folder, tile=tile, inside=nested, labelled=_has_room(tile)))
    return made


def _size(folder: Folder, size: str) -> float:
    return float(folder.memories if size == "memories" else max(folder.files, 1) ** 0.7)


def _has_room(tile: Tile) -> bool:
    return tile.width >= LEAST_LABEL[0] and tile.height >= LEAST_LABEL[1]


def _parents(at: str) -> list[tuple[str, str]]:
    parts = at.split("/") if at else []
    return [("/".join(parts[: place + 1]), part) for place, part in enumerate(parts)]


def _listed(here: Folder) -> list[Citation]:
    """Return what cites a folder, each memory once with its worst state, the worst first."""
    each: dict[str, list[Citation]] = {}
    for one in here.citations:
        each.setdefault(one.record.id, []).append(one)
    chosen = [max(ones, key=lambda one: list(LEGEND).index(one.state)) for ones in each.values()]
    return sorted(chosen, key=lambda one: -list(LEGEND).index(one.state))[:MOST_LISTED]
