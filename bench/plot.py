"""Plot how cost grows: one line for each engine, both axes logarithmic, as a self-contained SVG."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.scale import Result

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 420, 300, 58, 44, 40, 16
COLOURS = {"sqlite": "#2f6f4f", "postgres": "#2b5b9e"}
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def _p50(one: "Result", name: str) -> float:
    return one.recall.get(name, (0.0, 0.0))[0]


PANELS: tuple[tuple[str, Callable[["Result"], float]], ...] = (
    ("recall in a project, CPU ms (p50)", lambda one: _p50(one, "here")),
    ("recall everywhere, CPU ms (p50)", lambda one: _p50(one, "everywhere")),
    ("recall by words alone, CPU ms (p50)", lambda one: _p50(one, "words")),
    ("size on disk, MB", lambda one: one.megabytes),
)


def draw(results: Sequence["Result"]) -> str:
    """Return the SVG of some results."""
    measured = [(title, value) for title, value in PANELS if any(value(one) for one in results)]
    panels = [
        f'<g transform="translate({WIDTH * (place % 2)} {HEIGHT * (place // 2)})">'
        f"{_panel(title, value, [one for one in results if value(one)])}</g>"
        for place, (title, value) in enumerate(measured)
    ]
    style = "text{font:12px system-ui,sans-serif;fill:#333}.t{font-size:13px;font-weight:600}.a{stroke:#bbb;fill:none}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT * ((len(panels) + 1) // 2)}" role="img">'
        f"<title>Growth of cost with the number of records</title><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(panels)}</svg>\n'
    )


def _panel(title: str, value: Callable[["Result"], float], results: Sequence["Result"]) -> str:
    values = [value(one) for one in results]
    sizes = [one.records for one in results]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    first, last = math.log10(min(sizes)), max(math.log10(max(sizes)), math.log10(min(sizes)) + 1)

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT - 110)

    def y(amount: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(amount) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [f'<text class="t" x="{LEFT}" y="22">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<path class="a" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{_short(10**power)}</text>')
    parts += [
        f'<text x="{x(size):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{_short(size)}</text>'
        for size in sorted(set(sizes))
    ]
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">records in 100 projects</text>')
    for engine, colour in COLOURS.items():
        line = [(x(one.records), y(value(one)), value(one)) for one in results if one.engine == engine]
        if not line:
            continue
        path = " ".join(f"{'ML'[place > 0]}{at:.1f} {up:.1f}" for place, (at, up, _) in enumerate(line))
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{at:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for at, up, _ in line]
        at, up, amount = line[-1]
        label = f"{NAMES[engine]} {_short(amount)}"
        parts.append(f'<text x="{at + 6:.1f}" y="{up - 6:.1f}" style="fill:{colour}">{label}</text>')
    return "".join(parts)


def _short(number: float) -> str:
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"
