"""The worker under load: it runs again and again while others write, revise, retire and erase. Every exit code must be 0.

python3 dev.py uv run python -m tests.soak.worker [SECONDS]   half an hour unless given
"""

import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.hosts.running import Forked

WRITERS = 3
_WORKER = """
import sys
from holdfast.hosts.cli.entry import main
sys.argv = ["holdfast", "work"]
main()
"""
_WRITER = """
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


def stress(seconds: float, folder: Path, *, writes: int = sys.maxsize, seed: int = 1) -> Counter[tuple[str, int]]:
    """Run workers on one store for so long and writers until then, or until each wrote so often; count their exit codes.

    What a process that did not end with 0 printed is in `folder/errors.txt`.
    """
    stop, errors = folder / "stop", folder / "errors.txt"
    errors.touch()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_"))},
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "store"),
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_PROJECT": "example.org/acme/shop",
        "HOLDFAST_STARTERS": "false",
    }
    chance, ended = random.Random(seed), Counter[tuple[str, int]]()

    def start(program: str, *arguments: str) -> Forked:
        told = f"import os; os.dup2(os.open({str(errors)!r}, os.O_WRONLY | os.O_APPEND), 2)\n"
        return Forked(("-c", told + program, *arguments), folder, environment, text=False)

    writers = [start(_WRITER, str(chance.random()), str(stop), str(writes)) for _ in range(WRITERS)]
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ended["worker", _code(start(_WORKER))] += 1
    finally:
        stop.touch()
        for writer in writers:
            ended["writer", _code(writer)] += 1
    return ended


def _code(process: Forked) -> int:
    process.communicate(600)
    return process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        done = stress(float(sys.argv[1]) if len(sys.argv) > 1 else 1_800.0, Path(place))
        for (role, code), times in sorted(done.items()):
            print(f"{role:<8} exit code {code:<4} {times:>6}")
        print((Path(place) / "errors.txt").read_text()[-4_000:], end="")
    sys.exit(any(code for _, code in done))
