"""Measurement tools: CPU time, percentiles, memory, tables."""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and 95th percentile of some CPU times, in milliseconds."""

    p50: float
    p95: float

    def __str__(self) -> str:
        return f"{self.p50:.2f} / {self.p95:.2f}"


def spread(step: Callable[[Any], object], inputs: Sequence[Any]) -> Spread:
    """Run a step for each input and return the spread of its CPU times (all threads of this process)."""
    times = []
    for item in inputs:
        start = time.process_time()
        step(item)
        times.append(1000 * (time.process_time() - start))
    return spread_of(times)


def spread_of(times: Sequence[float]) -> Spread:
    """Return the median and 95th percentile of some times."""
    ordered = sorted(times)
    return Spread(p50=ordered[len(ordered) // 2], p95=ordered[int(len(ordered) * 0.95)])


def best(rounds: Sequence[Spread]) -> Spread:
    """Return the fastest of several rounds: other load on a shared machine only ever slows a round down."""
    return min(rounds, key=lambda one: one.p50)


def cpu_seconds(step: Callable[[], object]) -> float:
    """Return the CPU seconds that a step takes."""
    start = time.process_time()
    step()
    return time.process_time() - start


def resident_mib(process: int | str = "self") -> float:
    """Return a process's resident memory; without /proc, the peak of this process."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table that can be pasted into a document."""
    drawn = Table(title=title, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        drawn.add_column(column, justify="left" if place == 0 else "right")
    for row in rows:
        drawn.add_row(*(f"{item:.3f}" if isinstance(item, float) else str(item) for item in row))
    Console(width=150).print(drawn)
