"""Plots as SVG, drawn on the server: no script, no inline style, readable by a screen reader as a sentence and a table."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP = 900, 190, 64, 30, 28, 12  # room for the larger letters of a phone


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

    With `shares` every bar is as high as the plot, and shows the shares in per cent.
    """
    most = max((sum(counts.get(day, {}).get(name, 0) for name in series) for day in days), default=0)
    if not most:
        return Markup('<p class="muted" role="img" aria-label="{}">Nothing in this time.</p>').format(label)
    top = 100.0 if shares else nice(most)
    step = (WIDTH - LEFT - RIGHT) / max(1, len(days))
    parts = [_frame(top, " %" if shares else ""), *_days(days, step)]
    for place, day in enumerate(days):
        own = {name: value for name in series if (value := counts.get(day, {}).get(name, 0))}
        total = sum(own.values())
        said = ", ".join(
            f"{name} {value:g}" + (f" ({value / total:.0%})" if shares else "") for name, value in own.items()
        )
        heights = {name: 100 * value / total for name, value in own.items()} if shares else own
        if bars := _bar(heights, series, LEFT + place * step, step, top, f"{day}: {said}"):
            parts.append(
                Markup('<a href="{}" aria-label="{}: {}">{}</a>').format(link(day), day, said, Markup().join(bars))
            )
    drawn = Markup().join(parts)
    return Markup('<svg viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(WIDTH, HEIGHT, label, drawn)


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
    """Return the next round number for the end of an axis."""
    if most <= 0:
        return 1
    size = 1.0
    while size * 10 < most:
        size *= 10
    return next(size * step for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if size * step >= most)


def _frame(top: float, unit: str) -> Markup:
    lines = []
    for share in (0.0, 0.5, 1.0):
        y = _y(share * top, top)
        value = share * top
        label = (f"{value / 1000:g}k" if value >= 10_000 else f"{value:g}") + unit
        lines.append(
            Markup(
                '<line class="grid-line" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>'
            ).format(LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, label)
        )
    return Markup().join(lines)


def _days(days: Sequence[str], step: float) -> list[Markup]:
    every = max(1, round(len(days) / 8))
    return [
        Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
            round(LEFT + (place + 0.5) * step, 1), HEIGHT - 6, "middle" if place else "start", day[5:]
        )
        for place, day in enumerate(days)
        if place % every == 0
    ]


def _bar(
    counts: Mapping[str, float], series: Sequence[str], x: float, step: float, top: float, label: str
) -> list[Markup]:
    parts, base = [], 0.0
    for place, name in enumerate(series):
        value = counts.get(name, 0)
        if value:
            y = _y(base + value, top)
            parts.append(
                Markup('<rect class="s{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
                    place,
                    round(x + step * 0.12, 1),
                    y,
                    round(max(1, step * 0.76), 1),
                    round(_y(base, top) - y, 1),
                    label,
                )
            )
            base += value
    return parts


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top, 1)
