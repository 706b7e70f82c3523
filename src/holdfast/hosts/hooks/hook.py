"""The hook itself: note what happened, answer it, and see that somebody works on it all."""

from __future__ import annotations

import json
import os
import sys
import time

from holdfast.hosts.hooks.happening import cut_off, happening, is_late, is_private, now
from holdfast.hosts.hooks.places import client_note, data_folder, home_of, private_mark, session_settings
from holdfast.model.foreign_json import parse_json
from holdfast.policy.secrets.find import mask_secrets

MYPY = False
if MYPY:
    from typing import Any

    Json = dict[str, Any]

LONGEST_STDIN = 1_000_000  # bytes that are looked at; of a longer event what stands before that is kept
LONGEST_READ = 50_000_000  # bytes taken from a client that goes on writing: the rest would leave it with a broken pipe
LONGEST_LOG = 500_000
MOST_SPOOLED = 20_000  # files; a store that nobody drains must not fill the disk
ENDINGS = ("PreCompact", "Stop", "SubagentStop", "SessionEnd", "SessionStart")
ANSWERED = ("SessionStart", "UserPromptSubmit", "PreToolUse")
OBSERVER_FOLDER = "holdfast-observer-"  # as in model/trail.py, which would cost an import
OUR_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_", "mcp_holdfast_", "holdfast_", "holdfast-")


def main(arguments: list[str]) -> None:
    """Note what happened and answer it; whatever goes wrong is ours to bear."""
    home = os.environ.get("HOLDFAST_HOME", "")
    try:
        event, client, named = _options(arguments)
        home = named or home
        given = _stdin()
        told = happening(event, client, given)
        home = home or home_of(told["cwd"])
        answer = _act(home, told, given)
        if answer:
            from holdfast.hosts.hooks.answers import shaped  # only where something is said

            sys.stdout.write(json.dumps(shaped(client, event, answer)))
            sys.stdout.flush()
    except BaseException as problem:  # noqa: BLE001  the outermost loop of a host: the client must not notice
        _log(home, f"{type(problem).__name__}: {problem}")


def _act(home: str, told: Json, given: Json) -> Json:
    """Keep the happening, find the answer, note what was put into the context, and see that somebody works on it all."""
    if OBSERVER_FOLDER in told["cwd"]:
        return {}  # a model that reads the trail must not find itself in it
    ours, is_there = told["tool"].startswith(OUR_TOOLS), os.path.isdir(home)
    if is_there and (told["event"] in ("SessionStart", "UserPromptSubmit") or (ours and told["event"] == "PreToolUse")):
        _note_client(home, told["session"])
    if ours:
        return {"allow": True} if told["event"] == "PreToolUse" else {}
    if not is_there:
        return {}  # no store was set up here, and a hook makes none
    if _keeps_nothing(home, told, given):
        return {}
    if settings := session_settings(os.environ):
        told["settings"] = settings
    _spool(home, told)
    answer = _answer(home, told, given)
    if answer.get("ids"):
        _spool(
            home,
            {
                **told,
                "event": "Injected",
                "text": "",
                "result": "",
                "given": {"ids": answer["ids"], "why": answer["why"], "tokens": len(answer["text"]) // 4},
            },
        )
    if told["event"] in ENDINGS:
        _wake(home, told["cwd"])
    if told["event"] == "SessionStart":
        _cap(home)
    return answer


def _keeps_nothing(home: str, told: Json, given: Json) -> bool:
    """True if this belongs to a turn whose whole prompt was private; the next prompt ends it."""
    mark = private_mark(home, told["session"])
    if told["event"] == "UserPromptSubmit":
        if is_private(given):
            _write(mark, b"")
            return True
        if os.path.exists(mark):
            os.unlink(mark)
        return False
    return told["event"] not in ("SessionStart", "SessionEnd") and os.path.exists(mark)


def _answer(home: str, told: Json, given: Json) -> Json:
    if told["event"] not in ANSWERED and not is_late(told):
        return {}
    from holdfast.hosts.hooks.answers import answer  # only where something may be said

    return answer(home, told, given)


def _options(arguments: list[str]) -> tuple[str, str, str]:
    named = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    client = named.get("--client", "claude-code")
    if client == "claude-code" and os.environ.get("COPILOT_CLI"):
        client = "copilot"  # it runs hooks written for Claude Code, but takes answers in its own shape
    return arguments[0], client, named.get("--home", "")


def _stdin() -> Json:
    """Read the client's JSON; of what is too long to be looked at, the members that stand before the cap."""
    raw = sys.stdin.buffer.read(LONGEST_STDIN + 1)
    text = raw.decode("utf-8", "replace")
    if len(raw) > LONGEST_STDIN:
        left = LONGEST_READ
        while left > 0 and (more := sys.stdin.buffer.read(min(left, 1 << 20))):
            left -= len(more)
        return cut_off(text)
    given = parse_json(text)
    if not isinstance(given, dict):
        raise TypeError("stdin is no JSON object")
    return given


def _spool(home: str, told: Json) -> None:
    """Drop one file for whoever drains the spool: written aside and renamed, so that no one reads half of it."""
    folder = os.path.join(home, "spool")
    name = f"{time.time_ns():020d}-{os.getpid()}-{len(told)}{told['event'][:2]}"
    aside = os.path.join(folder, f".{name}")
    try:
        _write(aside, json.dumps({"id": name, **told, "took_ms": round(1000 * time.process_time(), 1)}).encode())
        os.rename(aside, os.path.join(folder, f"{name}.json"))
    except OSError:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def _write(path: str, data: bytes) -> None:
    """Write a whole file that only the user can read; the system may take less than it is given at once."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.mkdir(os.path.dirname(path), 0o700)
        handle = os.open(path, flags, 0o600)
    try:
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def _cap(home: str) -> None:
    """Drop the oldest files of a spool that nobody drains: it must not fill the disk."""
    folder = os.path.join(home, "spool")
    names = os.listdir(folder)
    if len(names) <= MOST_SPOOLED:
        return
    _log(home, f"the spool held {len(names)} files; the oldest were dropped")
    for name in sorted(names)[: len(names) - MOST_SPOOLED]:
        os.unlink(os.path.join(folder, name))


def _note_client(home: str, session: str) -> None:
    """Note which session our client is in, for the server it started: few clients tell their servers."""
    _write(client_note(home, os.getppid()), session.encode("utf-8", "replace"))


def _wake(home: str, cwd: str) -> None:
    """Start the worker unless one is running; it lives on its own and ends when there is nothing left to do."""
    command = [sys.executable, "-P", "-m", "holdfast", "--home", home, "work"]
    if sys.platform == "win32":
        import subprocess

        # Asking after a process with `os.kill` would press Ctrl-C there; a second worker sees the lock and ends.
        subprocess.Popen(command, cwd=cwd, creationflags=0x00000208, close_fds=True)  # noqa: S603  detached, no window
        return
    if _is_locked(os.path.join(home, "work.lock")) or os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(cwd if os.path.isdir(cwd) else "/")
    os.execv(sys.executable, command)  # noqa: S606


def _is_locked(path: str) -> bool:
    """True if a worker holds the lock. It goes with the process: a file that a killed one left behind is no lock."""
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # no locks on this file system: a second worker does no harm
    finally:
        os.close(handle)
    return False


def _log(home: str, line: str) -> None:
    """Write one line about our own troubles; if even that cannot be done, nobody is told."""
    try:
        file = os.path.join(home or data_folder(), "hooks.log")
        if os.path.exists(file) and os.path.getsize(file) > LONGEST_LOG:
            os.replace(file, file + ".1")
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{now()} {mask_secrets(line)[:500]}\n".encode(errors="replace"))
        os.close(handle)
    except (OSError, ValueError):
        return
