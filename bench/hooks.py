"""Cost of hooks: CPU and wall time of each event, and a storm of events while the worker is killed."""

import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import Spread, spread_of, table
from holdfast.compose import worker_lock
from holdfast.engine.raw import trail
from holdfast.hosts.hooks import client
from holdfast.hosts.hooks.hook import ANSWERED

CLIENT = Path(client.__file__)
ROUNDS = 30
CAPTURE, ANSWER = 3.0, 5.0  # times a bare interpreter
EVENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Please fix the failing test in the checkout module. " * 4}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git push origin main"}}),
    (
        "PostToolUse",
        {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_response": {"stdout": "ok " * 500}},
    ),
)


def run() -> bool:
    """Print what each event costs next to `python -I -S -c pass`; return True if all meet their targets."""
    with tempfile.TemporaryDirectory() as folder:
        home, place = _store(Path(folder)), Path(folder) / "checkout"
        with worker_lock(home):  # keeps the worker from running: it is not measured
            bare_cpu, bare_wall = _measured([sys.executable, "-I", "-S", "-c", "pass"], b"", place)
            rows, fine = [["python -I -S -c pass", bare_cpu, bare_wall, "", ""]], True
            for event, given in EVENTS:
                most = ANSWER if event in ANSWERED else CAPTURE
                told = json.dumps({"session_id": "bench", "cwd": str(place), **given}).encode()
                command = [sys.executable, "-I", "-S", str(CLIENT), event, "--home", str(home)]
                cpu, wall = _measured(command, told, place)
                times = cpu.p50 / bare_cpu.p50
                fine = fine and times <= most
                rows.append([event, cpu, wall, f"{times:.1f}×", f"≤ {most:g}×: {'met' if times <= most else 'MISSED'}"])
    table(
        f"hooks, {ROUNDS} runs each",
        ("event", "CPU ms p50 / p95", "wall ms p50 / p95", "of a bare start", "target"),
        rows,
    )
    return fine


def storm(*, events: int = 10_000, processes: int = 8, kills: int = 10) -> bool:
    """Send events from several processes while the worker is killed repeatedly; True if none was lost or duplicated."""
    with tempfile.TemporaryDirectory() as folder:
        home, place = _store(Path(folder)), Path(folder) / "checkout"
        tellers = [_teller(home, place, number, events // processes) for number in range(processes)]
        for _ in range(kills):
            worker = _worker(home, place)
            time.sleep(0.3)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        for one in tellers:
            one.wait()
        _worker(home, place).wait()
        kept, waiting, names = _trail(home)
        left = len(list((home / "spool").glob("*.json")))
    told = events // processes * processes
    print(
        f"{told} events from {processes} processes, {kills} workers killed: {kept} kept, {len(names)} different, {left} left in the spool, {waiting} waiting"
    )
    return kept == len(names) == told and not left and not waiting


def _store(folder: Path) -> Path:
    (folder / "checkout" / ".git").mkdir(parents=True)
    home = folder / "store"
    text = "Never run `git push` before `make check`."
    fields = ("--field", "severity=high", "--field", 'counter_arguments=["a b", "c d"]')
    _holdfast(home, folder / "checkout", "remember", text, "--kind", "scar", *fields)
    _holdfast(home, folder / "checkout", "work")
    return home


def _holdfast(home: Path, place: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "holdfast", "--home", str(home), "--set", "embedder=none", *arguments]
    subprocess.run(command, cwd=place, check=True, capture_output=True)  # noqa: S603


def _measured(command: list[str], told: bytes, place: Path) -> tuple[Spread, Spread]:
    cpu, wall = [], []
    for _ in range(ROUNDS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, input=told, cwd=place, check=True, capture_output=True)  # noqa: S603
        wall.append(1000 * (time.perf_counter() - start))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return spread_of(cpu), spread_of(wall)


_TELL = """
import io, json, sys
sys.path.insert(0, {folder!r})
from holdfast.hosts.hooks.hook import main
for turn in range({turns}):
    told = {{"session_id": "s{number}", "cwd": {place!r}, "prompt": f"prompt {{turn}} of {number}"}}
    sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(told).encode()))
    main(["PostToolUse", "--home", {home!r}])
"""


def _teller(home: Path, place: Path, number: int, turns: int) -> "subprocess.Popen[bytes]":
    code = _TELL.format(folder=str(CLIENT.parents[3]), turns=turns, number=number, place=str(place), home=str(home))
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code])  # noqa: S603


def _worker(home: Path, place: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "holdfast", "--home", str(home), "--set", "embedder=none", "work"]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL)  # noqa: S603


def _trail(home: Path) -> tuple[int, int, set[str]]:
    from holdfast.engine.journal import Journal
    from holdfast.engine.sqlite import SQLite

    journal = Journal(SQLite(home / "holdfast.db"))
    kept, waiting = trail.size(journal)
    names = {one.text for number in range(100) for one in trail.of_session(journal, f"s{number}")}
    journal.db.close()
    return kept, waiting, names
