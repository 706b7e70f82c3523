"""Plots as SVG, drawn on the server: no script, no inline style, readable by a screen reader as a sentence and a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from markupsafe import Markup

DAY, HEIGHT = 10.0, 100.0  # a bar's share of the width, and the height, in the units of a drawing that is stretched
LABELS = 7  # dates below a plot, an odd number: a phone leaves out every second


def stacked(
    days: Sequence[str],
    series: Sequence[str],
    counts: Mapping[str, Mapping[str, float]],
    label: str,
    link: Callable[[str], str],
    *,
    shares: bool = False,
) -> Markup:
    """Draw a stacked bar for each day that leads to what happened on it; a sentence if there is nothing to draw.

    With `shares` every bar is as high as the plot, and shows the shares in per cent. The bars are stretched to the
    width there is; what is written around them is not, so it can be read at any width.
    """
    most = max((sum(counts.get(day, {}).get(name, 0) for name in series) for day in days), default=0)
    if not most:
        return Markup('<p class="muted" role="img" aria-label="{}">Nothing in this time.</p>').format(label)
    top = 100.0 if shares else nice(most)
    parts = []
    for place, day in enumerate(days):
        own = {name: value for name in series if (value := counts.get(day, {}).get(name, 0))}
        total = sum(own.values())
        said = ", ".join(
            f"{name} {value:g}" + (f" ({value / total:.0%})" if shares else "") for name, value in own.items()
        )
        heights = {name: 100 * value / total for name, value in own.items()} if shares else own
        if bars := _bar(heights, series, place * DAY, top, f"{day}: {said}"):
            parts.append(
                Markup('<a href="{}" aria-label="{}: {}">{}</a>').format(link(day), day, said, Markup().join(bars))
            )
    return Markup(
        '<div class="chart"><p class="y" aria-hidden="true">{}</p>'
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="group" aria-label="{}">{}{}</svg>'
        '<p class="x" aria-hidden="true">{}</p></div>'
    ).format(
        _spans(_number(top * share) + (" %" if shares else "") for share in (1.0, 0.5, 0.0)),
        round(len(days) * DAY),
        round(HEIGHT),
        label,
        Markup().join(_grid_line(share * HEIGHT, len(days) * DAY) for share in (0.0, 0.5, 1.0)),
        Markup().join(parts),
        _spans(date.fromisoformat(day).strftime("%-d %b") for day in _some(days)),
    )


def line(counts: Mapping[str, int], label: str) -> Markup:
    """Draw a small line of counts by day, with the highest day named."""
    width, height = 600.0, 60.0
    values = list(counts.values())
    most = max(values, default=0)
    step = width / max(1, len(values) - 1)
    points = [
        (round(place * step, 1), round(height - 4 - 48 * (value / most if most else 0), 1))
        for place, value in enumerate(values)
    ]
    path = " ".join(f"{x},{y}" for x, y in points)
    peak = max(counts, key=lambda day: counts[day], default="")
    said = f"{label}: {sum(values)} in all, at most {most} on {peak}" if most else f"{label}: none"
    return Markup(
        '<svg class="sparkline" viewBox="0 0 600 60" preserveAspectRatio="none" role="img" aria-label="{}"><polygon points="0,60 {} 600,60"/><polyline points="{}"/></svg>'
    ).format(said, path, path)


def legend(series: Sequence[str]) -> Markup:
    """Return the legend of the colours."""
    items = [
        Markup(
            '<span><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="s{}" width="10" height="10"/></svg>{}</span>'
        ).format(place, name)
        for place, name in enumerate(series)
    ]
    return Markup('<p class="legend">{}</p>').format(Markup().join(items))


def nice(most: float) -> float:
    """Return the next round number for the end of an axis; its half is a whole number."""
    size = 1.0
    while size * 10 < most:
        size *= 10
    ends = (round(size * step) for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10))
    return next(end for end in ends if end >= most and end % 2 == 0)


def _number(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,.0f}"


def _spans(texts: Iterable[str]) -> Markup:
    return Markup().join(Markup("<span>{}</span>").format(text) for text in texts)


def _some(days: Sequence[str]) -> list[str]:
    """Return days at equal distances, the first and the last among them."""
    if len(days) <= LABELS:
        return list(days)
    return [days[round(place * (len(days) - 1) / (LABELS - 1))] for place in range(LABELS)]


def _grid_line(y: float, width: float) -> Markup:
    return Markup('<line class="grid-line" x1="0" x2="{}" y1="{}" y2="{}"/>').format(round(width), y, y)


def _bar(counts: Mapping[str, float], series: Sequence[str], x: float, top: float, label: str) -> list[Markup]:
    parts, base = [], 0.0
    for place, name in enumerate(series):
        if value := counts.get(name, 0):
            height = HEIGHT * value / top
            base += height
            parts.append(
                Markup('<rect class="s{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
                    place, round(x + 0.12 * DAY, 1), round(HEIGHT - base, 1), 0.76 * DAY, round(height, 1), label
                )
            )
    return parts
