"""A slice of the soak in every whole run of the tests; `python3 dev.py soak` plays it for ten minutes."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.hosts.preloaded import ENTRY
from tests.hosts.running import Forked
from tests.rows import WHOLE
from tests.soak.run import SETTINGS, report, soak

SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))
# A worker goes on while others write: on a slow machine, for minutes.
WRITERS, WRITES, WORKING = (3, 200, 2.0) if WHOLE else (3, 40, 0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.whole
@pytest.mark.xdist_group("soak")
def test_everything_at_once_while_things_go_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    done, findings = soak(SECONDS)
    told: list[str] = []
    assert report(done, findings, told.append), "\n".join(told) + capsys.readouterr().err
    assert done["kill -9"] >= 5
    assert done["full disk (files limited to 400 kB) said"] > 0


WRITER = """
import random, sys, time
from pathlib import Path
from holdfast.compose import open_memory
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.records.write import write
from holdfast.verbs.upkeep.erasing import erase
chance, mine = random.Random(sys.argv[1]), []
def text():
    return f"The {chance.choice(['rate', 'retry', 'size'])} limit of the queue is {chance.randrange(9)} per minute now."
with open_memory() as memory:
    for _ in range(int(sys.argv[3])):
        if Path(sys.argv[2]).exists():
            break
        made = write(memory, Draft(body=text()), waivers=Waivers(duplicate=True))
        mine += [made.record.id] if hasattr(made, "record") else []
        if len(mine) > 5:
            revise(memory, chance.choice(mine), Revision(body=text()))
        if len(mine) > 12:
            gone = mine.pop(chance.randrange(len(mine)))
            erase(memory, gone) if chance.random() < 0.3 else retire(memory, gone, "made room")
        time.sleep(0.02)  # the worker needs the processor too
"""


@pytest.mark.xdist_group("soak")
def test_no_worker_fails_while_others_write_revise_and_erase(tmp_path: Path) -> None:
    """Workers run one after another until a time is up, and writers until then or until each wrote so often."""
    stop, errors, home = tmp_path / "stop", tmp_path / "errors.txt", {"HOME": str(tmp_path)}
    errors.touch()
    environment = {**os.environ, **SETTINGS, **home, "HOLDFAST_HOME": str(tmp_path / "store")}

    def start(program: str, *arguments: str) -> Forked:
        said = f"import os; os.dup2(os.open({str(errors)!r}, os.O_WRONLY | os.O_APPEND), 2)\n"
        return Forked(("-c", said + program, *arguments), tmp_path, environment, text=False)

    def code(process: Forked) -> int:
        process.communicate(600)
        return process.wait()

    writers = [start(WRITER, str(number), str(stop), str(WRITES)) for number in range(WRITERS)]
    workers, until = [code(start(ENTRY, "work"))], time.monotonic() + WORKING
    while time.monotonic() < until:
        workers.append(code(start(ENTRY, "work")))
    stop.touch()
    assert {*workers, *map(code, writers)} == {0}, errors.read_text()[-4_000:]
