"""Metrics of a server, in the text format of Prometheus."""

import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"
HELP = {
    "holdfast_requests_total": "Requests, by path and status.",
    "holdfast_tools_total": "Tool calls, by tool.",
    "holdfast_refused_total": "Requests refused before they were looked at, by reason.",
}


@dataclass(slots=True)
class Metrics:
    """Counters and one histogram; any thread may add to them."""

    counts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    buckets: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    seconds: float = 0.0
    in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter."""
        label_text = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
        with self._lock:
            self.counts[name, label_text] += 1

    def took(self, seconds: float) -> None:
        """Add the duration of a request."""
        place = next((place for place, most in enumerate(SECONDS) if seconds <= most), len(SECONDS))
        with self._lock:
            self.buckets[place] += 1
            self.seconds += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return every counter and the current gauges as text."""
        lines: list[str] = []
        for name, meaning in HELP.items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} counter"]
            lines += [
                f"{one}{{{label_text}}} {value}"
                for (one, label_text), value in sorted(self.counts.items())
                if one == name
            ]
        lines += [
            "# HELP holdfast_request_seconds How long requests took.",
            "# TYPE holdfast_request_seconds histogram",
        ]
        total = 0
        for most, number in zip((*SECONDS, "+Inf"), self.buckets, strict=True):
            total += number
            lines.append(f'holdfast_request_seconds_bucket{{le="{most}"}} {total}')
        lines += [f"holdfast_request_seconds_sum {self.seconds:.6f}", f"holdfast_request_seconds_count {total}"]
        for name, value in {"holdfast_requests_in_flight": self.in_flight, **gauges}.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
