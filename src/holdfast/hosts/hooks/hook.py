"""The body of a hook: store the event, answer it, and start the worker if needed."""

from __future__ import annotations

import json
import os
import sys
import time

from holdfast.hosts.hooks.activity import activity_of, cut_off, is_late, is_private, now, shortened
from holdfast.hosts.hooks.places import branch_of, checkout_root, home_of, plain_name, session_settings
from holdfast.model.files import data_folder
from holdfast.model.foreign_json import parse_json
from holdfast.policy.secrets.find import mask_secrets

MYPY = False
if MYPY:
    from typing import Any

    Json = dict[str, Any]

LONGEST_STDIN = 1_000_000  # bytes that are parsed; of a longer event the members before this limit are kept
LONGEST_WAIT = 1.0  # seconds for a client that neither writes nor closes
MOST_STARTS = 1.5  # CPU time of masking, in starts of a hook: what takes longer is shortened
_STARTED = time.process_time()
LONGEST_READ = 50_000_000  # bytes read from a client that keeps writing; beyond that it gets a broken pipe
LONGEST_LOG = 500_000
MOST_SPOOLED = 20_000  # files; an undrained spool must not fill the disk
ENDINGS = ("PreCompact", "Stop", "SubagentStop", "SessionEnd", "SessionStart")
BRANCHED = ("UserPromptSubmit", "Stop", "SessionEnd")  # they note the branch
ANSWERED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact")  # the last one with nothing
OBSERVER_FOLDER = "holdfast-observer-"  # same as in model/trail.py, which is not imported for speed
OUR_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_", "mcp_holdfast_", "holdfast_", "holdfast-")


def main(arguments: list[str]) -> None:
    """Store the event and answer it; errors go to the log, never to the client."""
    home = os.environ.get("HOLDFAST_HOME", "")
    try:
        event, options = arguments[0], dict(zip(arguments[1::2], arguments[2::2], strict=False))
        client, preset = options.get("--client", "claude-code"), options.get("--preset", "")
        if client == "claude-code" and os.environ.get("COPILOT_CLI"):
            client = "copilot"  # it runs hooks written for Claude Code, but expects answers in its own format
        home = options.get("--home") or home
        payload = _stdin()
        activity = _within_limit(event, client, payload)
        home = home or home_of(activity["cwd"], preset)
        if preset:
            activity["settings"] = {"preset": preset}
        answer = _act(home, activity, payload)
        if answer:
            from holdfast.hosts.hooks.answers import shaped  # only if there is an answer

            sys.stdout.write(json.dumps(shaped(client, event, answer)))
            sys.stdout.flush()
    except BaseException as problem:  # noqa: BLE001  the outermost loop of a host: the client must not fail
        _log(home, f"{type(problem).__name__}: {problem}")


def _act(home: str, activity: Json, payload: Json) -> Json:
    """Store the event, find the answer, record what was injected, and start the worker if needed."""
    if OBSERVER_FOLDER in activity["cwd"]:
        return {}  # an observer must not observe itself
    ours, has_store = activity["tool"].startswith(OUR_TOOLS), os.path.isdir(home)
    if has_store and (
        activity["event"] in ("SessionStart", "UserPromptSubmit") or (ours and activity["event"] == "PreToolUse")
    ):
        # Few clients pass their session on to the MCP servers that they start.
        note = os.path.join(home, "seen", f"client-{os.getppid()}")
        _write(note, activity["session"].encode("utf-8", "replace"))
    if ours:
        return _own_tool(home if has_store else "", activity)
    if not has_store:
        return {}  # there is no store, and a hook creates none
    if _keeps_nothing(home, activity, payload):
        return {}
    if activity["tool"].endswith("__recall"):  # of a server that the user added under another name
        _note_recall(home, activity)
    # The settings of the session's shell, and the branch where it is needed.
    settings = {**activity.get("settings", {}), **session_settings(os.environ)}
    branch = mask_secrets(branch_of(checkout_root(activity["cwd"]))) if activity["event"] in BRANCHED else ""
    activity |= {**({"settings": settings} if settings else {}), **({"branch": branch} if branch else {})}
    _spool(home, activity)
    answer = _answer(home, activity, payload)
    if answer.get("ids"):
        given = {"ids": answer["ids"], "why": answer["why"], "tokens": len(answer["text"]) // 4}
        _spool(home, {**activity, "event": "Injected", "text": answer["text"], "result": "", "given": given})
    if activity["event"] in ENDINGS:
        wake(home, activity["cwd"])
    if activity["event"] == "SessionStart":
        _cap(home)
    return answer


def _own_tool(home: str, activity: Json) -> Json:
    """Allow a tool of ours, and note a look for scars."""
    if activity["event"] != "PreToolUse":
        return {}
    if home and activity["tool"].endswith("recall"):
        _note_recall(home, activity)
    return {"allow": True}


def _note_recall(home: str, activity: Json) -> None:
    from holdfast.hosts.hooks.answers import RECALLED  # only for this tool
    from holdfast.hosts.hooks.current import see

    see(home, activity["session"], [RECALLED])  # it is not reminded again


def _keeps_nothing(home: str, activity: Json, payload: Json) -> bool:
    """True if the event belongs to a turn whose whole prompt was private; the next prompt ends it."""
    mark = os.path.join(home, "seen", f"private-{plain_name(activity['session'])}")
    if activity["event"] == "UserPromptSubmit":
        if is_private(payload):
            _write(mark, b"")
            return True
        if os.path.exists(mark):
            os.unlink(mark)
        return False
    return activity["event"] not in ("SessionStart", "SessionEnd") and os.path.exists(mark)


def _answer(home: str, activity: Json, payload: Json) -> Json:
    if activity["event"] not in ANSWERED and not is_late(activity):
        return {}
    from holdfast.hosts.hooks.answers import answer  # only for events that may have an answer

    return answer(home, activity, payload)


def _stdin() -> Json:
    """Parse the client's JSON; of oversized or unfinished input, the members before its end."""
    parts, size, waited = [], 0, 0.0
    while size < LONGEST_READ and waited < LONGEST_WAIT:
        started = time.monotonic()
        if not _arrived(LONGEST_WAIT - waited):
            break
        waited += time.monotonic() - started
        part = sys.stdin.buffer.read1(1 << 20)  # type: ignore[union-attr]  # a buffered reader
        if not part:
            waited = 0.0
            break
        if size <= LONGEST_STDIN:
            parts.append(part)
        size += len(part)
    raw = b"".join(parts)
    text = raw[: LONGEST_STDIN + 1].decode("utf-8", "replace")
    if size > LONGEST_STDIN:
        return cut_off(text)
    try:
        payload = parse_json(text)
    except ValueError:
        if not waited:
            raise
        return cut_off(text)  # the client had not finished, and is not waited for
    if not isinstance(payload, dict):
        raise TypeError("stdin is not a JSON object")
    return payload


def _arrived(seconds: float) -> bool:
    """True if there is something to read within a time, or no way to know."""
    import select  # a shared library on some platforms

    try:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    except (OSError, ValueError):  # a pipe of Windows, or no file
        return True


def _within_limit(event: str, client: str, payload: Json) -> Json:
    """Return the event in our own format; if that takes too long, with a short beginning of each text."""
    import _signal  # type: ignore[import-not-found]  # the part of `signal` that is built in: the rest takes a quarter of a hook's time

    if not hasattr(_signal, "setitimer"):
        return activity_of(event, client, payload)

    def stop(*_: object) -> None:
        raise TimeoutError

    _signal.signal(_signal.SIGVTALRM, stop)
    _signal.setitimer(_signal.ITIMER_VIRTUAL, MOST_STARTS * _STARTED)
    try:
        activity = activity_of(event, client, payload)
        _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
    except TimeoutError:
        activity = activity_of(event, client, shortened(payload))
    return activity


def _spool(home: str, activity: Json) -> None:
    """Write a file to the spool, to a temporary name first, so that no reader sees half of it."""
    folder = os.path.join(home, "spool")
    name = f"{time.time_ns():020d}-{os.getpid()}-{len(activity)}{activity['event'][:2]}"
    aside = os.path.join(folder, f".{name}")
    try:
        _write(aside, json.dumps({"id": name, **activity, "took_ms": round(1000 * time.process_time(), 1)}).encode())
        os.rename(aside, os.path.join(folder, f"{name}.json"))
    except OSError:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def _write(path: str, data: bytes) -> None:
    """Write a whole file that only the user can read; `os.write` may write less than it is given."""
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
    """Delete the oldest files of an undrained spool, so that it does not fill the disk."""
    folder = os.path.join(home, "spool")
    names = os.listdir(folder)
    if len(names) <= MOST_SPOOLED:
        return
    _log(home, f"the spool held {len(names)} files; the oldest were dropped")
    for name in sorted(names)[: len(names) - MOST_SPOOLED]:
        os.unlink(os.path.join(folder, name))


def wake(home: str, cwd: str) -> None:
    """Start the worker unless one is running; it is detached and ends when nothing is left to do."""
    # On Windows no check: a second worker sees the lock and ends.
    if sys.platform == "win32" or not _is_locked(os.path.join(home, "work.lock")):
        start([sys.executable, "-P", "-m", "holdfast", "--home", home, "work"], cwd)


def start(command: list[str], cwd: str, variables: dict[str, str] | None = None, wait: float = 0.0) -> None:
    """Start a detached process; wait for its end up to so many seconds; after that it runs alone."""
    environment = {**os.environ, **(variables or {})}
    if sys.platform == "win32":
        import subprocess

        detached = subprocess.Popen(command, cwd=cwd, env=environment, creationflags=0x00000208, close_fds=True)  # noqa: S603  no window
        if wait:
            try:
                detached.wait(wait)
            except subprocess.TimeoutExpired:
                return
        return
    ended, ending = os.pipe()  # closed on exec, except in the process that is started
    if child := os.fork():
        os.close(ending)
        if wait:
            import select  # a shared library on some platforms

            select.select([ended], [], [], wait)
            os.waitpid(child, os.WNOHANG)
        os.close(ended)
        return
    os.setsid()
    os.set_inheritable(ending, True)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(cwd if os.path.isdir(cwd) else "/")
    os.execve(sys.executable, command, environment)  # noqa: S606


def _is_locked(path: str) -> bool:
    """True if a worker holds the lock. The lock ends with the process: a file that a killed worker left behind is no lock."""
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
    """Write a line about our own errors; if that fails too, ignore it."""
    try:
        file = os.path.join(home or data_folder(), "hooks.log")
        if os.path.exists(file) and os.path.getsize(file) > LONGEST_LOG:
            os.replace(file, file + ".1")
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{now()} {mask_secrets(line)[:500]}\n".encode(errors="replace"))
        os.close(handle)
    except (OSError, ValueError):
        return
