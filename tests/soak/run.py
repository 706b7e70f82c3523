"""The soak: agents, servers, viewers, hooks, workers, commands and sync on one store at once, while things go wrong.

python3 dev.py soak [SECONDS]   ten minutes unless given; prints what was done and whether each invariant held
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.conftest import ran
from tests.hosts.running import processes
from tests.replicas.seats import git, remote_with_commit
from tests.soak.checks import PROJECT, Finding, check

POOR = 400_000  # bytes a file may have for an agent whose disk is full
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 10  # times as long as asked for: a slow machine needs longer until everybody had a turn
TURNS = {"ack": 1, "far": 1, "heard": 1, "judged": 1, "streamed": 1, "page": 8, "server": 12, "viewer": 12}
# Who plays: a role, or a role and its guise. Those named steady are never harmed.
CAST = "agent agent/clock agent/poor served served/steady hooks cli sync sync/afar older reader viewer viewer/steady".split()
SETTINGS = {
    "HOLDFAST_EMBEDDER": "none",
    "HOLDFAST_PROJECT": PROJECT,
    "HOLDFAST_STARTERS": "false",
    "HOLDFAST_QUARANTINE": "off",  # it turns away what a clock weeks ahead wrote, and all of that must converge here
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
}
# A read-only file system for one process: its own mounts, where the system lets a user have them.
READ_ONLY = ["unshare", "-rm", "sh", "-c"]
_MOUNT = 'mount --bind "$HOLDFAST_HOME" "$HOLDFAST_HOME" && mount -o remount,ro,bind "$HOLDFAST_HOME" && exec "$@"'


@dataclass
class Soak:
    """One run: where it happens, who plays, and what was done to them."""

    folder: Path
    chance: random.Random
    marker: str = field(default_factory=lambda: uuid4().hex)
    done: Counter[str] = field(default_factory=Counter)
    players: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home, self.far = self.folder / "store", self.folder / "far"  # another machine's
        self.stop = self.folder / "stop"  # the file whose presence ends the play

    def environment(self, *, far: bool = False) -> dict[str, str]:
        """Give the variables a player runs with."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_", "GIT_"))}
        ours = {"HOME": self.folder, "HOLDFAST_HOME": self.far if far else self.home, "PYTHONPATH": ROOT}
        return kept | {name: str(path) for name, path in ours.items()} | {**SETTINGS, "SOAK_MARKER": self.marker}

    def holdfast(self, *command: str, far: bool = False) -> "subprocess.CompletedProcess[str]":
        """Run a command between the acts."""
        program, folder = [sys.executable, "-m", "holdfast", *command], self.folder / ("there" if far else "here")
        return ran(program, folder, check=True, env=self.environment(far=far))


def soak(seconds: float, seed: int = 1) -> tuple[Counter[str], list[Finding]]:
    """Play for so long; give what was done and what was found."""
    with tempfile.TemporaryDirectory(prefix="holdfast-soak-", ignore_cleanup_errors=True) as folder:
        play = Soak(folder=Path(folder), chance=random.Random(seed))
        _prepare(play)
        try:
            _perform(play, time.monotonic() + seconds, time.monotonic() + PATIENCE * seconds)
        finally:
            _end(play)
        _quiet(play)
        findings = list(check(play.home, play.far, _lines(play), play.marker))
        if os.environ.get("SOAK_KEEP"):
            shutil.copytree(play.folder, os.environ["SOAK_KEEP"], dirs_exist_ok=True)
        return play.done, findings


def _prepare(play: Soak) -> None:
    bare = remote_with_commit(play.folder / "git")
    for name, far in (("here", False), ("there", True)):
        git(play.folder, "clone", "-q", str(bare), str(play.folder / name))
        play.holdfast("replica", "on", "notes", "--no-git-config", far=far)
    play.holdfast("replica", "on", "folder")
    scar = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "a backup"]')
    play.holdfast("remember", "Never run `git push` before `make check`.", *scar)
    (play.folder / "logs").mkdir()


def _perform(play: Soak, until: float, last: float) -> None:
    """Keep everybody on stage and harm somebody every now and then; on a slow machine until everybody had a turn."""
    stopped: dict[int, float] = {}
    while time.monotonic() < until or (time.monotonic() < last and not _everybody_had_a_turn(play)):
        _keep_playing(play)
        time.sleep(play.chance.uniform(0.2, 2.0))
        for pid, back in list(stopped.items()):
            if time.monotonic() > back:
                _signal(pid, signal.SIGCONT)
                del stopped[pid]
        harmed = play.chance.random()
        if harmed < 0.55 and (victim := _victim(play)):
            _signal(victim, signal.SIGKILL)
            play.done["kill -9"] += 1
        elif harmed < 0.7 and (victim := _victim(play)):
            _signal(victim, signal.SIGSTOP)
            stopped[victim] = time.monotonic() + play.chance.uniform(0.5, 4)
            play.done["SIGSTOP"] += 1
    for pid in stopped:
        _signal(pid, signal.SIGCONT)


def _everybody_had_a_turn(play: Soak) -> bool:
    """Tell whether enough was said to judge by."""
    said = Counter(name for line in _logged(play) for name in line)
    refused = Counter(str(line.get("typed")) for line in _logged(play))
    return play.done["kill -9"] >= 5 and refused["store_full"] > 0 and all(said[name] >= n for name, n in TURNS.items())


def _keep_playing(play: Soak) -> None:
    for player in CAST:
        if player in play.players and play.players[player].poll() is None:
            continue
        if player == "reader" and not _may_mount():
            play.done["read-only disk: not possible here"] = 1
        elif player != "reader" or play.chance.random() <= 0.1:
            play.players[player] = _started(play, *player.partition("/")[::2])
            play.done[f"{player} started"] += 1


def _started(play: Soak, role: str, guise: str) -> "subprocess.Popen[bytes]":
    far = guise == "afar"
    log = play.folder / "logs" / f"{role}-{guise}-{uuid4().hex[:8]}.jsonl"
    command = [sys.executable, "-m", "tests.soak.actors", role, str(log), str(play.stop), guise]
    environment = play.environment(far=far) | ({"SOAK_STEADY": "1"} if guise == "steady" else {})
    poor = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (POOR, POOR))  # the same refusal a full disk gives
    with (play.folder / "logs" / "errors.txt").open("ab") as errors:
        return subprocess.Popen(
            [*READ_ONLY, _MOUNT, "sh", *command] if role == "reader" else command,
            cwd=play.folder / ("there" if far else "here"),
            env=environment,
            stderr=errors,
            stdout=subprocess.DEVNULL,
            preexec_fn=poor if guise == "poor" else None,  # noqa: PLW1509  there are no threads here
        )


@cache
def _may_mount() -> bool:
    """Tell whether this system lets a process have mounts of its own."""
    return bool(shutil.which("unshare")) and ran(["unshare", "-rm", "true"]).returncode == 0


def _victim(play: Soak) -> int | None:
    """Choose any process of the play, down to hooks, workers and servers; git's own are git's matter."""
    spared = {process.pid for player, process in play.players.items() if player.endswith("/steady")}
    found = [pid for pid, command in processes(play.marker).items() if pid not in spared and _may_die(pid, command)]
    return play.chance.choice(found) if found else None


def _may_die(pid: int, command: str) -> bool:
    try:
        is_steady = b"SOAK_STEADY=1" in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return "python" in command.split(" ", maxsplit=1)[0] and not is_steady


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):  # it ended by itself meanwhile
        os.kill(pid, number)


def _end(play: Soak) -> None:
    """Ask everybody to stop, and wait."""
    play.stop.touch()
    for player in play.players.values():
        try:
            player.wait(timeout=90)
        except subprocess.TimeoutExpired:
            play.done["had to be ended by force"] += 1
            player.kill()
            player.wait()


def _quiet(play: Soak) -> None:
    """Let what was left be done: workers drain, replicas meet."""
    until = time.monotonic() + 120
    while processes(play.marker) and time.monotonic() < until:
        time.sleep(0.2)
    play.holdfast("work")
    for far in (False, True, False, True):
        play.holdfast("sync", "--yes", far=far)


def _logged(play: Soak) -> list[dict[str, Any]]:
    """Give every whole line that was logged."""
    found = []
    for path in sorted((play.folder / "logs").glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return found


def _lines(play: Soak) -> list[dict[str, Any]]:
    found = _logged(play)
    typed = Counter(line.get("typed") for line in found)
    play.done["full disk (files limited to 400 kB) said"] = typed["store_full"]
    play.done["read-only disk (a mount of its own) said"] = typed["store_unwritable"]
    play.done["older release refused"] = sum("refused" in line for line in found)
    play.done["viewer: pages shown"] = sum("page" in line for line in found)
    play.done["viewer: happenings streamed"] = sum(line.get("streamed", 0) for line in found)
    return found


def report(done: Counter[str], findings: list[Finding], say: Callable[[str], None] = print) -> bool:
    """Print both tables; tell whether everything held."""
    for what, count in sorted(done.items()):
        say(f"{what:<50}{count:>8}")
    say("")
    for one in findings:
        say(f"{'held' if one.held else 'BROKEN':<8}{one.name:<40}{one.said}")
    return all(one.held for one in findings)


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    sys.exit(0 if report(*soak(length, seed=int(os.environ.get("SOAK_SEED", "1")))) else 1)
