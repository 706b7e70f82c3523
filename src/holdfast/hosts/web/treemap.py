"""A treemap: rectangles whose areas are in proportion to sizes, as close to squares as their order allows."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The rectangle of one size, by its place in the list."""

    index: int
    x: float
    y: float
    width: float
    height: float


def treemap(sizes: Sequence[float], x: float, y: float, width: float, height: float) -> list[Tile]:
    """Return a tile for each positive size, in a rectangle (squarified: Bruls, Huizing and van Wijk)."""
    chosen = sorted((index for index, size in enumerate(sizes) if size > 0), key=lambda index: -sizes[index])
    total = sum(sizes[index] for index in chosen)
    scale = width * height / total if total else 0
    tiles: list[Tile] = []
    row: list[int] = []
    for index in chosen:
        side = min(width, height)
        longer = [*row, index]
        if row and _worst(longer, sizes, scale, side) > _worst(row, sizes, scale, side):
            placed, (x, y, width, height) = _placed(row, sizes, scale, x, y, width, height)
            tiles += placed
            longer = [index]
        row = longer
    return tiles + (_placed(row, sizes, scale, x, y, width, height)[0] if row else [])


def _worst(row: Sequence[int], sizes: Sequence[float], scale: float, side: float) -> float:
    """Return the worst ratio of sides in a row of tiles along one side."""
    areas = [sizes[index] * scale for index in row]
    total = sum(areas)
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in areas)


def _placed(
    row: Sequence[int], sizes: Sequence[float], scale: float, x: float, y: float, width: float, height: float
) -> tuple[list[Tile], tuple[float, float, float, float]]:
    """Return the tiles of a row along the shorter side, and the rectangle that is left."""
    areas = [sizes[index] * scale for index in row]
    total, tiles, along = sum(areas), list[Tile](), 0.0
    if width >= height:
        thick = total / height
        for index, area in zip(row, areas, strict=True):
            tiles.append(Tile(index=index, x=x, y=y + along, width=thick, height=area / thick))
            along += area / thick
        return tiles, (x + thick, y, width - thick, height)
    thick = total / width
    for index, area in zip(row, areas, strict=True):
        tiles.append(Tile(index=index, x=x + along, y=y, width=area / thick, height=thick))
        along += area / thick
    return tiles, (x, y + thick, width, height - thick)
