"""Cost of replicas: a scan without changes, the first write, reading notes, writing new records."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.corpus import Corpus
from bench.measure import table
from holdfast.compose import open_memory
from holdfast.compose.adapters import open_replica
from holdfast.compose.settings import load_settings
from holdfast.model.event import Event
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory

TARGET = 0.3  # CPU seconds of a scan of 10,000 unchanged files
ROUNDS = 5  # the fastest counts
NEW = 100


def run(*, size: int = 10_000) -> bool:
    """Print what each replica costs next to a lower bound; return True if the scan meets its target."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        commits = _repository(repo, size)
        flags = {"home": f"{folder}/store", "embedder": "none", "project": "bench/replicas"}
        with open_memory(load_settings(folder=repo, environment={}, flags=flags), folder=repo) as memory:
            _fill(memory, size, commits)
            rows, fine = _files(memory, repo, Path(folder) / "store" / "markdown", size)
            rows += _notes(memory, repo, size, Path(folder))
    table(f"replicas, {size:,} records", ("what", "CPU seconds", "beside", "CPU seconds", "target"), rows)
    return fine


def _files(memory: Memory, repo: Path, place: Path, size: int) -> tuple[list[list[object]], bool]:
    replica, sharing = open_replica("folder", memory, repo)
    first = _cpu(lambda: sync(memory, replica, sharing))
    scan = min(_cpu(lambda: sync(memory, replica, sharing)) for _ in range(ROUNDS))
    bare = min(_cpu(lambda: [entry.stat() for entry in os.scandir(place)]) for _ in range(ROUNDS))
    reading = min(_cpu(lambda: [path.read_bytes() for path in place.glob("*.md")]) for _ in range(2))
    _fill(memory, NEW, [])
    told = _cpu(lambda: sync(memory, replica, sharing))
    replica.close()
    met = scan <= TARGET * max(1.0, size / 10_000)
    return [
        [
            "files: scan, nothing changed",
            scan,
            "bare scandir and stat",
            bare,
            f"≤ {TARGET}: {'met' if met else 'MISSED'}",
        ],
        ["files: first write", first, "reading all of them", reading, ""],
        [f"files: {NEW} new records", told, "", "", ""],
    ], met


def _notes(memory: Memory, repo: Path, size: int, folder: Path) -> list[list[object]]:
    replica, sharing = open_replica("notes", memory, repo)
    first = _cpu(lambda: sync(memory, replica, sharing))
    listed = min(_cpu(lambda: _git(repo, "notes", "--ref=holdfast/learnings", "list")) for _ in range(ROUNDS))
    again = min(_cpu(lambda: sync(memory, replica, sharing)) for _ in range(ROUNDS))
    read = min(_cpu(lambda: replica.read(afresh=True)) for _ in range(ROUNDS))
    _fill(memory, NEW, [])
    told = _cpu(lambda: sync(memory, replica, sharing))
    flags = {"home": f"{folder}/other", "embedder": "none", "project": "bench/replicas", "quarantine": "off"}
    with open_memory(load_settings(folder=repo, environment={}, flags=flags), folder=repo) as other:
        there, _ = open_replica("notes", other, repo)
        taken = _cpu(lambda: sync(other, there, sharing))
        count = sum(1 for _, event in other.store.journal() if event.verb == "recorded")
    assert count == size + 2 * NEW, count
    return [
        ["notes: read all", read, "bare git notes list", listed, ""],
        ["notes: sync, nothing changed", again, "", "", ""],
        ["notes: first write", first, "", "", ""],
        [f"notes: {NEW} new events", told, "", "", ""],
        ["notes: taken into an empty store", taken, "", "", ""],
    ]


def _fill(memory: Memory, count: int, commits: list[str]) -> None:
    """Store made-up team records, each at its own commit as long as there are commits left."""
    corpus, events = Corpus(seed=memory.store.last_seq()), list[Event]()
    for place in range(count):
        text = corpus.text()
        data = {"kind": "learning", "title": text[:80], "body": text, "visibility": "team", "project": memory.project}
        origin = {"origin": {"commit": commits[place]}} if place < len(commits) else {}
        events.append(memory.event("recorded", data=data | origin))
    for place in range(0, count, 1_000):
        memory.commit(events[place : place + 1_000])


def _repository(repo: Path, size: int) -> list[str]:
    repo.mkdir()
    _git(repo, "init", "-q", "-b", "main")
    made = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + n} +0000\ndata 1\nx\n" for n in range(size)
    )
    _git(repo, "fast-import", "--quiet", given=made)
    return _git(repo, "rev-list", "main").split()


def _git(repo: Path, *command: str, given: str = "") -> str:
    done = subprocess.run(["git", "-C", str(repo), *command], input=given.encode(), check=True, capture_output=True)  # noqa: S603, S607
    return done.stdout.decode()


def _cpu(step: Callable[[], object]) -> float:
    """Return the CPU seconds that a step takes, including its git processes."""
    before = _spent()
    step()
    return _spent() - before


def _spent() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
