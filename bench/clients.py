"""Many clients at once, each a process of its own on the same store.

Questions come with their vectors: clients embed on machines of their own, and here they all share one.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import Spread, spread_of

ROOT = Path(__file__).parent.parent  # `bench` is not installed: it is found from here


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What clients ask, for how long, and where."""

    flags: dict[str, str]
    projects: int
    questions: dict[str, list[float]] = field(repr=False)
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How many calls all clients made in a second of the clock, and how long each waited."""

    rate: float
    wall: Spread


@dataclass(slots=True)
class Known:
    """An embedder that knows the questions beforehand."""

    questions: dict[str, list[float]]
    name: str
    size: int
    floor: float
    ceiling: float
    center: Any

    def embed(self, texts: Sequence[str]) -> Any:
        """Give what was made beforehand."""
        import numpy as np

        return np.array([self.questions[text] for text in texts], dtype=np.float32)


def many(clients: int, load: Load, *, write: bool) -> Answered:
    """Let clients work side by side, and gather how long each of their calls took."""
    told = json.dumps({**asdict(load), "write": write}) + "\n"
    running = [_Client(place) for place in range(clients)]
    for client in running:
        client.say(told)
    for client in running:
        client.wait()
    for client in running:  # everybody is ready
        client.say("begin\n")
    times = [took for client in running for took in client.times()]
    return Answered(rate=len(times) / load.seconds, wall=spread_of(times))


class _Client:
    def __init__(self, place: int) -> None:
        command = [sys.executable, "-m", "bench.clients", str(place)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603

    def say(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def wait(self) -> None:
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("a client of the benchmark did not start")

    def times(self) -> list[float]:
        out, _ = self._process.communicate()
        if self._process.returncode:
            raise RuntimeError("a client of the benchmark failed")
        found: list[float] = json.loads(out)
        return found


def main() -> None:
    """Do what one client does: open the store, say so, wait for the start, and tell how long each call took."""
    told = json.loads(sys.stdin.readline())
    place = int(sys.argv[1])
    calls = _writes(told, place) if told["write"] else _recalls(told, place)
    next(calls)
    print("ready", flush=True)
    sys.stdin.readline()
    until, times = time.perf_counter() + told["seconds"], []
    while (start := time.perf_counter()) < until:
        next(calls)
        times.append(1000 * (time.perf_counter() - start))
    print(json.dumps(times))


def _recalls(told: dict[str, Any], place: int) -> Iterator[None]:
    """Ask about one project after the other."""
    from holdfast.model.query import Query
    from holdfast.verbs.search.recall import recall

    memory, chance = _opened(told), random.Random(place)
    questions = list(told["questions"])
    while True:
        here = memory.acting_on(f"bench/project-{chance.randrange(told['projects'])}")
        recall(here, Query(text=chance.choice(questions), weak=True))
        yield


def _writes(told: dict[str, Any], place: int) -> Iterator[None]:
    """Write to one project after the other, checked for what is said already as any write is."""
    from bench.corpus import Corpus
    from holdfast.model.record import Draft
    from holdfast.policy.admission.admit import Waivers
    from holdfast.verbs.records.write import write

    memory, chance, corpus = _opened(told), random.Random(place), Corpus(seed=1_000 + place)
    while True:
        here = memory.acting_on(f"bench/project-{chance.randrange(told['projects'])}")
        write(here, Draft(body=corpus.text()), waivers=Waivers(transient=True, duplicate=False))
        yield


def _opened(told: dict[str, Any]) -> Any:
    from holdfast.compose import open_memory
    from holdfast.compose.settings import load_settings

    memory = open_memory(load_settings(environment={}, flags=told["flags"]))
    own = memory.embedder
    assert own is not None
    if told["write"]:
        return memory
    memory.embedder = Known(told["questions"], own.name, own.size, own.floor, own.ceiling, own.center)
    # What a host that serves many projects keeps: made here, it is shared by the views of each.
    assert memory.frequencies is not None
    assert memory.codes is not None
    return memory


if __name__ == "__main__":
    main()
