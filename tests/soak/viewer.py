"""The viewer in the soak: a server of its own, somebody who turns its pages and judges what is there, and somebody who follows the stream."""

import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

Say = Callable[..., None]
PAGES = """/ /memories /memories?q=deploy+cache+retry /sessions /threads /scars /graph /review /insights/plots /projects
    /api/stream?limit=50 /api/recall?q=ledger+quota /api/health /api/search?query=lock+mirror""".split()
LISTED = "/api/records?limit=50"
PATIENCE = 120  # seconds: it may be stopped for a while on a busy machine
BUSY = 503  # the store said why, in words of ours
BUG = 500
_END_WITH_PARENT = 1


@dataclass(frozen=True)
class Seat:
    """Where a viewer can be reached, and what opens it."""

    port: int
    token: str

    def ask(self, path: str, body: dict[str, str] | None = None) -> tuple[int, str]:
        """Ask for a page, or do something."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"authorization": f"Bearer {self.token}"}
            connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def viewer(say: Say, chance: random.Random, guise: str, size: Callable[[int], int]) -> Iterator[None]:
    """Serve, turn pages, judge and follow; a `steady` one is never killed and tells how large it is."""
    command = [sys.executable, "-m", "holdfast", "web", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=_end_with_parent) as server:  # noqa: PLW1509  nothing else runs yet
        try:
            assert server.stderr
            found = re.search(r"127\.0\.0\.1:(\d+)/", server.stderr.readline())
            if found is None:
                return  # it was killed, or the store refused it: its terminal says which
            seat = Seat(int(found[1]), (Path(os.environ["HOLDFAST_HOME"]) / "http-token").read_text().strip())
            for watch in (lambda: _terminal(say, server), lambda: _follow(say, seat)):
                threading.Thread(target=watch, daemon=True).start()
            while _turn(say, chance, seat, server):
                if guise == "steady":
                    say(viewer=size(server.pid), at=time.time())
                yield
                time.sleep(0.3 * chance.random())
        finally:
            server.terminate()


def _end_with_parent() -> None:
    """Let a viewer end with who started it, as it does with its terminal."""
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGTERM)


def _turn(say: Say, chance: random.Random, seat: Seat, server: "subprocess.Popen[str]") -> bool:
    """Ask for one page, now and then say that something still holds; tell whether it is still there."""
    path = chance.choice(PAGES) if chance.random() < 0.7 else LISTED
    try:
        status, told = seat.ask(path)
        _noted(say, path, status, told)
        if status == 200 and path == LISTED and (records := json.loads(told)["records"]):
            note = f"seen {chance.getrandbits(64):016x}"
            path = f"/api/records/{chance.choice(records)['id']}/verify"
            status, told = seat.ask(path, {"note": note})
            _noted(say, path, status, told)
            if status == 200:
                say(judged=note)
    except (OSError, HTTPException) as problem:
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=5)
            return False
        say(bad=f"{path} got no answer: {problem!r}", role="viewer")
    return True


def _noted(say: Say, path: str, status: int, told: str) -> None:
    if status == BUSY:
        say(typed=json.loads(told)["error"] if told.startswith("{") else "store", page=path)
    elif status >= BUG:
        say(bad=f"{path} was answered with {status}: {told[:500]}", role="viewer")
    else:
        say(page=path)


def _terminal(say: Say, server: "subprocess.Popen[str]") -> None:
    assert server.stderr
    said = server.stderr.read()
    if "Traceback" in said:
        say(bad=said[-3000:], role="viewer")


def _follow(say: Say, seat: Seat) -> None:
    """Read the live stream until it is cut off; nothing may come twice."""
    seen: Counter[str] = Counter()
    connection = HTTPConnection("127.0.0.1", seat.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/stream", headers={"authorization": f"Bearer {seat.token}"})
        answer = connection.getresponse()
        while line := answer.readline():
            if not line.startswith(b"data: "):
                continue
            items = json.loads(line[6:])["items"]
            seen.update(f"{item['verb']} {item['text'][:16]}" for item in items if item["what"] in ("record", "prompt"))
            say(streamed=len(items))
            if again := [key for key, times in seen.items() if times > 1]:
                say(bad=f"the stream told {again[:3]} twice", role="viewer")
                return
    except (OSError, HTTPException, ValueError):
        return  # it was killed, in the middle of a line or between two
    finally:
        connection.close()
