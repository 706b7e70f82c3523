"""Many clients at once on the same store, each in its own process.

Questions come with their vectors: real clients embed on their own machines, and here they would compete for one.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.measure import Spread, spread_of
from holdfast.model.ports import Encoded

ROOT = Path(__file__).parent.parent  # `bench` is not installed: clients import it from this folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What clients ask, for how long, and where."""

    flags: dict[str, str]
    projects: int
    questions: dict[str, list[float]] = field(repr=False)
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How many calls all clients made per second of wall time, and how long each call took (ms)."""

    rate: float
    wall: Spread


@dataclass(slots=True)
class Known:
    """An embedder with precomputed vectors of the questions."""

    questions: dict[str, list[float]]
    name: str
    size: int
    earlier: Sequence[str]
    floor: float
    ceiling: float
    center: Any

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the precomputed vectors."""
        import numpy as np

        return [Encoded(vector=np.array(self.questions[text], dtype=np.float32)) for text in texts]

    def knows(self, word: str) -> bool:  # noqa: ARG002
        """Return True: the questions are not misspelled, and no other question has a vector."""
        return True


def many(clients: int, load: Load, *, write: bool) -> Answered:
    """Run clients in parallel and collect how long each of their calls took."""
    told = json.dumps({**asdict(load), "write": write}) + "\n"
    running = [_Client(place) for place in range(clients)]
    for client in running:
        client.say(told)
    for client in running:
        client.wait()
    for client in running:  # all clients are ready
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
    """Run one client: open the store, report ready, wait for the start, and print how long each call took (ms)."""
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
    """Recall in a random project, once per step."""
    from holdfast.model.query import Query
    from holdfast.verbs.search.recall import recall

    memory, chance = _opened(told), random.Random(place)
    questions = list(told["questions"])
    while True:
        here = memory.acting_on(f"bench/project-{chance.randrange(told['projects'])}")
        recall(here, Query(text=chance.choice(questions), weak=True))
        yield


def _writes(told: dict[str, Any], place: int) -> Iterator[None]:
    """Write to a random project, once per step, with the usual check for duplicates."""
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
    return replace(
        memory, embedder=Known(told["questions"], own.name, own.size, (), own.floor, own.ceiling, own.center)
    )


if __name__ == "__main__":
    main()
