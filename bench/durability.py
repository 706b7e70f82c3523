"""Durability: count lost writes with several writers at once, and with writers killed while they write."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.sqlite import SQLite
from holdfast.verbs.records.read import get

_WRITER = """
import sys
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.write import Written, write
memory = open_memory(load_settings())
who, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    outcome = write(memory, Draft(body=f"writer {who} keeps thing {number} of its own"), waivers=Waivers(duplicate=True))
    assert isinstance(outcome, Written), outcome
    print(outcome.record.id, flush=True)
"""


def concurrent(writers: int = 4, each: int = 250) -> tuple[int, int, int]:
    """Write from several processes; return the numbers of acknowledged writes, lost writes and failed processes."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        started = [_writer(folder, str(number), each) for number in range(writers)]
        outputs = [process.communicate() for process in started]
        acknowledged = [line for output, _ in outputs for line in output.split()]
        failed = [error for process, (_, error) in zip(started, outputs, strict=True) if process.returncode]
        for error in failed:
            print(error, file=sys.stderr)
        return len(acknowledged), _lost(folder, acknowledged), len(failed)
    finally:
        shutil.rmtree(folder)


def killed(rounds: int = 20, seed: int = 1) -> tuple[int, int]:
    """Kill writers of one store at random moments; return how many writes were acknowledged and lost."""
    folder, random = Path(tempfile.mkdtemp(prefix="holdfast-bench-")), Random(seed)
    try:
        acknowledged: list[str] = []
        for number in range(rounds):
            process = _writer(folder, f"round {number}", 100_000)
            assert process.stdout is not None
            acknowledged.append(process.stdout.readline().strip())
            time.sleep(random.uniform(0, 0.4))
            process.send_signal(signal.SIGKILL)
            rest, _ = process.communicate()
            # A line cut short was never acknowledged.
            acknowledged.extend(line for line in rest.split("\n")[:-1] if line)
        return len(acknowledged), _lost(folder, acknowledged)
    finally:
        shutil.rmtree(folder)


def _writer(folder: Path, who: str, count: int) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    environment |= {"HOLDFAST_HOME": str(folder), "HOLDFAST_PROJECT": "bench", "HOLDFAST_EMBEDDER": "none"}
    command = [sys.executable, "-c", _WRITER, who, str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


def _lost(folder: Path, ids: list[str]) -> int:
    """Return how many acknowledged writes are missing; assert that the store is sound and agrees with its journal."""
    flags = {"home": str(folder), "project": "bench", "embedder": "none"}
    with open_memory(load_settings(environment={}, flags=flags)) as memory:
        assert isinstance(memory.store.db, SQLite)
        assert memory.store.db.damage() == []
        found = {row[0] for row in memory.store.db.query("select id from records")}
        for record_id in ids[-5:]:
            assert get(memory, record_id).record == memory.store.folded(record_id)
        return len(set(ids) - found)
