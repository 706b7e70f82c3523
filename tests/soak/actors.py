"""What runs in the soak: each role in a process of its own, at work on one store until it is told to stop or killed.

Every line of a role's log is one JSON object: `ack` (an event the store acknowledged), `heard` (a prompt a hook took),
`page`, `judged`, `streamed` (what a viewer showed, took and told),
`typed` (an error that is ours, by its code), `bad` (anything else: a finding).
"""

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
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from holdfast.compose import open_memory
from holdfast.hosts.hooks import client
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, record_use, retire, revise
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.recall import recall
from tests.engines import release

WORDS = "plum deploy cache retry token ledger schema index branch lock mirror quota spool brief anchor thread".split()
CALM = 0.05  # seconds between two things an agent does
DAY = 86_400


class Log:
    """Where a role says what happened, a line at a time, each written whole."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def say(self, **said: Any) -> None:
        os.write(self._handle, (json.dumps(said) + "\n").encode())


def main() -> None:
    """Play one role: ROLE LOG STOP [GUISE]."""
    role, log, stop = sys.argv[1], Log(Path(sys.argv[2])), Path(sys.argv[3])
    guise = sys.argv[4] if len(sys.argv) > 4 else "plain"
    chance = random.Random(f"{role} {os.getpid()} {time.time_ns()}")
    steps = ROLES[role](log, chance, guise)
    while not stop.exists():
        try:
            next(steps)
        except HoldfastError as problem:
            log.say(typed=problem.code)
            steps = ROLES[role](log, chance, guise)
            time.sleep(0.2)
        except StopIteration:
            return
        except Exception:  # noqa: BLE001  whatever else comes out is what the soak looks for
            log.say(bad=traceback.format_exc(), role=role)
            return
    del steps  # and with it what it has open


def agent(log: Log, chance: random.Random, guise: str) -> Iterator[None]:
    """Write, revise, ask, answer and retire through the library; a `clock` agent's time jumps about."""
    with open_memory() as memory:
        if guise == "clock":
            jumps = (-30 * DAY, -DAY, -1, 0, 1, 3600, DAY, 20 * DAY)
            memory = replace(memory, clock=Clock(lambda: time.time() + chance.choice(jumps)))
        mine: list[str] = []
        while True:
            _one_thing(memory, log, chance, mine)
            yield
            time.sleep(CALM * chance.random())


def _one_thing(memory: Memory, log: Log, chance: random.Random, mine: list[str]) -> None:
    match chance.randrange(6):
        case 0 | 1:
            body = _text(chance)
            visibility = chance.choice(("private", "team"))
            made = write(memory, Draft(body=body, visibility=visibility), waivers=Waivers(duplicate=True))  # type: ignore[arg-type]
            if isinstance(made, Written):
                log.say(ack=made.record.head, body=body)
                mine.append(made.record.id)
        case 2 if mine:
            done = revise(memory, chance.choice(mine), Revision(body=_text(chance)))
            if isinstance(done, Record):
                log.say(ack=done.head)
        case 3 if mine:
            record_use(memory, [chance.choice(mine)], "applied")
        case 4 if len(mine) > 10:
            log.say(ack=retire(memory, mine.pop(0), "made room").head)
        case _:
            recall(memory, Query(text=" ".join(chance.sample(WORDS, 3))))


def _text(chance: random.Random) -> str:
    words = " ".join(chance.choice(WORDS) for _ in range(chance.choice((8, 30, 300))))
    return f"{chance.getrandbits(64):016x} {words}"


def served(log: Log, chance: random.Random, guise: str) -> Iterator[None]:
    """Use the tools as a client does, over a server of its own; `steady` ones are never killed and tell how large they are."""
    start = partial(subprocess.Popen, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with suppress(BrokenPipeError, EOFError), start([sys.executable, "-m", "holdfast", "mcp"]) as server:
        client_info = {"name": "soak", "version": "1"}
        _asked(server, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client_info)
        while True:
            body = _text(chance)
            result = _asked(server, "tools/call", name="remember", arguments={"text": body})
            said = result["content"][0]["text"]
            if said.startswith("Saved as "):
                log.say(ack=said.split()[2].rstrip(":"), body=body)
            if result.get("isError"):
                log.say(typed=said.split(":")[0][:40])
            _asked(server, "tools/call", name="recall", arguments={"query": " ".join(chance.sample(WORDS, 3))})
            if guise == "steady":
                log.say(own=anonymous(os.getpid()), server=anonymous(server.pid), at=time.time())
            yield
            time.sleep(4 * CALM * chance.random())


def _asked(server: "subprocess.Popen[str]", method: str, **params: Any) -> dict[str, Any]:
    assert server.stdin
    assert server.stdout
    line = ""
    with suppress(BrokenPipeError):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
    if not line.endswith("\n"):
        raise EOFError  # it was killed
    return dict(json.loads(line)["result"])


def anonymous(pid: int) -> int:
    """Give the kilobytes a process has for itself; pages of files it maps are not counted."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    return 0


def hooks(log: Log, chance: random.Random, _guise: str) -> Iterator[None]:
    """Tell what a session does as a client's hooks do; its ends start workers by themselves."""
    while True:
        session = f"soak-{chance.getrandbits(48):012x}"
        for event in ("SessionStart", *["UserPromptSubmit", "PreToolUse", "PostToolUse"] * 3, "Stop", "SessionEnd"):
            text = _text(chance)[:200]
            told: dict[str, Any] = {"session_id": session, "cwd": str(Path.cwd()), "prompt": text, "tool_name": "Bash"}
            told |= {"tool_input": {"command": f"git push {text[:16]}"}, "tool_response": {"stdout": text}}
            command = [sys.executable, "-I", "-S", client.__file__, event, "--home", os.environ["HOLDFAST_HOME"]]
            done = subprocess.run(command, input=json.dumps(told).encode(), capture_output=True, check=False)
            if done.returncode == 0 and event == "UserPromptSubmit":
                log.say(heard=text[:16])
            elif done.returncode not in (0, -9):
                log.say(bad=f"hook {event} ended with {done.returncode}: {done.stderr.decode()[-500:]}", role="hooks")
            yield
            time.sleep(CALM)


COMMANDS = ("remember", "recall deploy", "status", "doctor", "store backup --keep 2", "store maintain", "work")


def cli(log: Log, chance: random.Random, _guise: str) -> Iterator[None]:
    """Run commands as a person does."""
    while True:
        body, (command, *rest) = _text(chance), chance.choice(COMMANDS).split()
        done = _holdfast(log, [command, *rest, *([body] if command == "remember" else []), "--json"])
        if done and command == "remember" and done.returncode == 0:
            log.say(ack=json.loads(done.stdout)["record"]["head"], body=body)
        yield
        time.sleep(10 * CALM)


def sync(log: Log, chance: random.Random, guise: str) -> Iterator[None]:
    """Bring the replicas together, again and again; at the other machine, write for the team as well."""
    while True:
        done = _holdfast(log, ["remember", "--json", "--team", _text(chance)]) if guise == "afar" else None
        if done and done.returncode == 0:
            log.say(far=json.loads(done.stdout)["record"]["head"])
        _holdfast(log, ["sync", "--json"])
        yield
        time.sleep(20 * CALM)


def older(log: Log, _chance: random.Random, _guise: str) -> Iterator[None]:
    """Open the store with a release that is older than it: it must be refused and change nothing."""
    while True:
        done = subprocess.run([sys.executable, "-c", release(-1), "list"], capture_output=True, text=True, check=False)
        if done.returncode == 5 and "newer" in done.stderr:
            log.say(typed="newer_store", refused=1)
        elif done.returncode != -9:
            log.say(bad=f"an older release was let in: {done.returncode} {done.stderr[-500:]}", role="older")
        yield
        time.sleep(2)


def reader(log: Log, chance: random.Random, _guise: str) -> Iterator[None]:
    """Try to write where the file system is read-only."""
    with open_memory() as memory:
        write(memory, Draft(body=_text(chance)), waivers=Waivers(duplicate=True))
        log.say(bad="it could write to a read-only file system", role="reader")
        yield


def _holdfast(log: Log, command: list[str]) -> "subprocess.CompletedProcess[str] | None":
    done = subprocess.run([sys.executable, "-m", "holdfast", *command], capture_output=True, text=True, check=False)
    if done.returncode == -9:
        return None
    if "Traceback" in done.stderr or done.returncode not in (0, 4, 5):
        log.say(
            bad=f"{command[0]} ended with {done.returncode}: {done.stdout[-200:]} {done.stderr[-1500:]}", role="cli"
        )
    elif done.returncode:
        log.say(typed=f"{command[0]}: {done.stderr.strip()[:80]}")
    return done


PAGES = """/ /memories /memories?q=deploy+cache+retry /sessions /threads /scars /graph /review /insights/plots /projects
    /api/stream?limit=50 /api/recall?q=ledger+quota /api/health /api/search?query=lock+mirror""".split()
LISTED = "/api/records?limit=50"
PATIENCE = 120  # seconds: it may be stopped for a while on a busy machine
BUG, BUSY = 500, 503  # when busy, the store said why, in words of ours
_END_WITH_PARENT = 1


def viewer(log: Log, chance: random.Random, guise: str) -> Iterator[None]:
    """Serve, turn pages, judge and follow; a `steady` one is never killed and tells how large it is."""
    command = [sys.executable, "-m", "holdfast", "web", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=_end_with_parent) as server:  # noqa: PLW1509  nothing else runs yet
        try:
            assert server.stderr
            found = re.search(r"127\.0\.0\.1:(\d+)/", server.stderr.readline())
            if found is None:
                return  # it was killed, or the store refused it: its terminal says which
            token = (Path(os.environ["HOLDFAST_HOME"]) / "http-token").read_text().strip()
            headers = {"authorization": f"Bearer {token}", "connection": "close"}
            browser = httpx2.Client(base_url=f"http://127.0.0.1:{found[1]}", headers=headers, timeout=PATIENCE)
            for watch in (lambda: _terminal(log, server), lambda: _follow(log, browser)):
                threading.Thread(target=watch, daemon=True).start()
            while _turn(log, chance, browser, server):
                if guise == "steady":
                    log.say(viewer=anonymous(server.pid), at=time.time())
                yield
                time.sleep(0.3 * chance.random())
        finally:
            server.terminate()


def _end_with_parent() -> None:
    """Let a viewer end with who started it, as it does with its terminal."""
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGTERM)


def _turn(log: Log, chance: random.Random, browser: httpx2.Client, server: "subprocess.Popen[str]") -> bool:
    """Ask for one page, now and then say that something still holds; tell whether it is still there."""
    path = chance.choice(PAGES) if chance.random() < 0.7 else LISTED
    try:
        answer = _noted(log, path, browser.get(path))
        if answer.status_code == 200 and path == LISTED and (records := answer.json()["records"]):
            note = f"seen {chance.getrandbits(64):016x}"
            path = f"/api/records/{chance.choice(records)['id']}/verify"
            if _noted(log, path, browser.post(path, json={"note": note})).status_code == 200:
                log.say(judged=note)
    except httpx2.HTTPError as problem:
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=5)
            return False
        log.say(bad=f"{path} got no answer: {problem!r}", role="viewer")
    return True


def _noted(log: Log, path: str, answer: httpx2.Response) -> httpx2.Response:
    if answer.status_code == BUSY:
        log.say(typed=answer.json()["error"] if answer.text.startswith("{") else "store", page=path)
    elif answer.status_code >= BUG:
        log.say(bad=f"{path} was answered with {answer.status_code}: {answer.text[:500]}", role="viewer")
    else:
        log.say(page=path)
    return answer


def _terminal(log: Log, server: "subprocess.Popen[str]") -> None:
    assert server.stderr
    said = server.stderr.read()
    if "Traceback" in said:
        log.say(bad=said[-3000:], role="viewer")


def _follow(log: Log, browser: httpx2.Client) -> None:
    """Read the live stream until it is cut off; nothing may come twice."""
    seen: Counter[str] = Counter()
    # It may be killed in the middle of a line or between two.
    with suppress(httpx2.HTTPError, ValueError), browser.stream("GET", "/stream") as answer:
        for line in answer.iter_lines():
            if not line.startswith("data: "):
                continue
            items = json.loads(line[6:])["items"]
            seen.update(f"{item['verb']} {item['text'][:16]}" for item in items if item["what"] in ("record", "prompt"))
            log.say(streamed=len(items))
            if again := [key for key, times in seen.items() if times > 1]:
                log.say(bad=f"the stream told {again[:3]} twice", role="viewer")
                return


ROLES = {role.__name__: role for role in (agent, served, hooks, cli, sync, older, reader, viewer)}

if __name__ == "__main__":
    main()
