"""The body of a hook: bring the event of any client into our own format, store it, answer it, and start the worker if needed."""

from __future__ import annotations

import json
import os
import sys
import time

from holdfast.hosts.hooks.places import branch_of, checkout_root, home_of, plain_name, session_settings
from holdfast.model.files import data_folder, write_whole
from holdfast.model.foreign_json import parse_json
from holdfast.model.patterns import lazy
from holdfast.policy.secrets.find import drop_private, mask_secrets, masked

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
OBSERVER_FOLDER = "holdfast-observer-"  # same as in model/session.py, which is not imported for speed
OUR_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_", "mcp_holdfast_", "holdfast_", "holdfast-")
LONGEST_TEXT, HEAD, TAIL, LONGEST_ARGUMENT = 50_000, 6_000, 3_000, 8_000
HALVES = (LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)
MARGIN = 20_000  # extra characters that are scanned, so that no credential is cut in half
MOST_ARGUMENTS, MOST_OF_ARGUMENTS = 50, 200_000  # of a tool call: their number, and their characters in total
# Text that clients or we inject into a conversation was not written by the user or the agent.
INJECTED = {
    "<holdfast": "</holdfast",
    "<memory ": "</memory>",
    "<system-reminder>": "</system-reminder>",
    "<hook_context>": "</hook_context>",
    "<task-notification>": "</task-notification>",
    "<persisted-output>": "</persisted-output>",
    "<claude-mem-context>": "</claude-mem-context>",
}
_OPENING = lazy("|".join(INJECTED))
WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")  # how Gemini CLI wraps results
LONGEST_PATH = 4_096
LONGEST_SHORT, MOST_SHORT = 2_000, 10  # characters of a text and items of a value whose masking took too long
LONGEST_LOOKED_AT = LONGEST_TEXT + MARGIN
RESULTS = ("textResultForLlm", "text_result_for_llm", "stdout", "stderr", "output", "content", "error", "llmContent")
SAID = ("last_assistant_message", "prompt_response", "text", "response")
# Clients that ignore the context a hook returns before a tool runs, and only use that returned after it.
LATE_CLIENTS = ("gemini",)


def main(arguments: list[str]) -> None:
    """Store the event and answer it; errors go to the log, never to the client."""
    home = os.environ.get("HOLDFAST_HOME", "")
    try:
        event, options = arguments[0], dict(zip(arguments[1::2], arguments[2::2], strict=False))
        client, preset = options.get("--client", "claude-code"), options.get("--preset", "")
        if client == "claude-code" and os.environ.get("COPILOT_CLI"):
            client = "copilot"  # it runs hooks written for Claude Code, but expects answers in its own format
        home = options.get("--home") or home
        payload = event_on_stdin()
        activity = _within_limit(event, client, payload)
        home = home or home_of(activity["cwd"], preset)
        if "--home" not in options:  # a plugin's hooks: nothing made a store for them
            os.makedirs(home, mode=0o700, exist_ok=True)
        if preset:
            activity["settings"] = {"preset": preset}
        if answer := _act(home, activity, payload):
            from holdfast.hosts.hooks.answers import shaped  # only if there is an answer

            sys.stdout.write(json.dumps(shaped(client, event, answer)))
            sys.stdout.flush()
    except BaseException as problem:  # noqa: BLE001  the outermost loop of a host: the client must not fail
        _log(home, f"{type(problem).__name__}: {problem}")


def _act(home: str, activity: Json, payload: Json) -> Json:
    """Store the event, find the answer, record what was injected, and start the worker if needed."""
    name, tool, has_store = activity["event"], activity["tool"], os.path.isdir(home)
    if OBSERVER_FOLDER in activity["cwd"]:
        return {}  # an observer must not observe itself
    ours = tool.startswith(OUR_TOOLS)
    if has_store and (name in ("SessionStart", "UserPromptSubmit") or (ours and name == "PreToolUse")):
        # Few clients pass their session on to the MCP servers that they start.
        note = os.path.join(home, "seen", f"client-{os.getppid()}")
        _write(note, activity["session"].encode("utf-8", "replace"))
    if not ours and (not has_store or _keeps_nothing(home, activity, payload)):
        return {}  # without a store a hook creates none
    # A look for scars is not reminded again; the server may be one that the user added under another name.
    if has_store and (tool.endswith("recall") and name == "PreToolUse" if ours else tool.endswith("__recall")):
        from holdfast.hosts.hooks.answers import RECALLED, see  # only for this tool

        see(home, activity["session"], [RECALLED])
    if ours:
        return {"allow": True} if name == "PreToolUse" else {}
    # The settings of the session's shell, and the branch where it is needed.
    settings = {**activity.get("settings", {}), **session_settings(os.environ)}
    branch = mask_secrets(branch_of(checkout_root(activity["cwd"]))) if name in BRANCHED else ""
    activity |= {**({"settings": settings} if settings else {}), **({"branch": branch} if branch else {})}
    _spool(home, activity)
    answer: Json = {}
    if name in ANSWERED or activity.get("client") in LATE_CLIENTS:
        from holdfast.hosts.hooks.answers import answer as answer_to  # only for events that may have an answer

        answer = answer_to(home, activity, payload)
    if answer.get("ids"):
        given = {"ids": answer["ids"], "why": answer["why"], "tokens": len(answer["text"]) // 4}
        _spool(home, {**activity, "event": "Injected", "text": answer["text"], "result": "", "given": given})
    if name in ENDINGS:
        wake(home, activity["cwd"])
    return answer


def _keeps_nothing(home: str, activity: Json, payload: Json) -> bool:
    """True if the event belongs to a turn whose whole prompt was private; the next prompt ends it."""
    mark = os.path.join(home, "seen", f"private-{plain_name(activity['session'])}")
    if activity["event"] == "UserPromptSubmit":
        text = first(payload, "prompt", *SAID)
        if isinstance(text, str) and text.strip() and not drop_private(text[:LONGEST_LOOKED_AT]).strip():
            _write(mark, b"")
            return True
        if os.path.exists(mark):
            os.unlink(mark)
        return False
    return activity["event"] not in ("SessionStart", "SessionEnd") and os.path.exists(mark)


def event_on_stdin() -> Json:
    """Parse the client's JSON; of oversized or unfinished input, the members before its end."""
    import select  # a shared library on some platforms

    parts, size, waited = [], 0, 0.0
    while size < LONGEST_READ and waited < LONGEST_WAIT:
        started = time.monotonic()
        try:
            has_more = bool(select.select([sys.stdin], [], [], LONGEST_WAIT - waited)[0])
        except (OSError, ValueError):  # a pipe of Windows, or no file
            has_more = True  # there is no way to know
        if not has_more:
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


def activity_of(event: str, client: str, payload: Json) -> Json:
    """Return an event of any client in our own format: cleaned, masked and bounded."""
    tool_input = first(payload, "tool_input", "toolArgs", "tool_args", "args")
    folder = first(payload, "cwd") or (first(payload, "workspace_roots") or [""])[0] or os.getcwd()
    normalised: Json = {
        "at": now(),
        "event": event,
        "client": client,
        "session": _name(first(payload, "session_id", "sessionId", "conversation_id")),
        "cwd": _name(folder, LONGEST_PATH),
        "agent": _name(first(payload, "agent_type", "agent_id")),
        "text": _written(first(payload, *(SAID if event in ("Stop", "SubagentStop") else ("prompt", *SAID))) or ""),
        "tool": _name(first(payload, "tool_name", "toolName")),
        "given": arguments(tool_input),
        "result": _result(first(payload, "tool_response", "toolResult", "tool_result", "result_json", "error")),
        "failed": event == "PostToolUseFailure" or _failed(payload),
        "source": _name(first(payload, "source", "trigger", "reason")),
        "transcript": _name(payload.get("transcript_path"), LONGEST_PATH),
    }
    clean = masked(normalised)
    clean["text"] = clean["text"][:LONGEST_TEXT].strip()  # after masking: half a secret would not be recognised
    always = ("event", "session", "cwd", "tool")
    return {name: value for name, value in clean.items() if name in always or value not in ("", {}, False)}


def _name(value: Any, longest: int = 1_000) -> str:
    """Return a short text of the client; an overlong one is cut just beyond the limit, so that it is recognised as too long."""
    return str(value or "")[: longest + 1] if isinstance(value, str | int) else ""


def first(payload: Json, *names: str) -> Any:
    """Return the first of these fields that is present: clients name things differently."""
    return next((payload[name] for name in names if payload.get(name) is not None), None)


def shortened(value: Any) -> Any:
    """Return a JSON value with the first words of its texts and the first items of its lists and objects."""
    if isinstance(value, str) and len(value) > LONGEST_SHORT:
        # Up to a space, so that no credential is cut in half.
        words = value[:LONGEST_SHORT].rsplit(maxsplit=1)[0] if " " in value[:LONGEST_SHORT].strip() else ""
        return f"{words}\n[… {len(value) - len(words)} characters …]"
    if isinstance(value, dict):
        return {str(name)[:200]: shortened(item) for name, item in list(value.items())[:MOST_SHORT]}
    return [shortened(item) for item in value[:MOST_SHORT]] if isinstance(value, list) else value


def cut_off(text: str) -> Json:
    """Return the members of a truncated JSON object; the last one as far as it goes, if it is a text."""
    decoder, members, place = json.JSONDecoder(), {}, text.find("{") + 1
    while 0 < place < len(text):
        key_at = text.find('"', place)
        try:
            key, place = decoder.raw_decode(text, key_at)
            place = text.index(":", place) + 1
            place += len(text[place : place + 64]) - len(text[place : place + 64].lstrip())
            members[key], place = decoder.raw_decode(text, place)
        except (ValueError, IndexError, RecursionError):
            if text[place : place + 1] == '"' and key_at < place:
                members[key] = _partial(text[place : place + LONGEST_LOOKED_AT])
            break
    if not members:
        raise ValueError("stdin is too long, and no JSON object begins it")
    return members


def _partial(text: str) -> str:
    """Read the beginning of a JSON string that has no end."""
    for end in range(len(text), max(0, len(text) - 12), -1):  # an escape may have been cut in two
        try:
            return str(parse_json(f'{text[:end]}"'))
        except ValueError:
            continue
    return ""


def _written(value: Any) -> str:
    """Return text of a person or agent, bounded: without private parts and the spans that clients or we injected."""
    text = drop_private(value[:LONGEST_LOOKED_AT]) if isinstance(value, str) else ""
    kept, place = [], 0
    while opened := _OPENING.search(text, place):
        kept.append(text[place : opened.start()])
        end = text.find(INJECTED[opened[0]], opened.start())
        place = text.find(">", end) + 1 if end >= 0 else 0
        if place <= 0:
            return "".join(kept).strip()
    return "".join((*kept, text[place:])).strip()


def arguments(tool_input: Any) -> Json:
    """Return the arguments of a tool call, bounded."""
    if isinstance(tool_input, str):  # some clients send JSON as text
        try:
            tool_input = parse_json(tool_input)
        except ValueError:
            return {"text": _middle_cut(tool_input, *HALVES)}
    bounded: Json = {}
    left = MOST_OF_ARGUMENTS
    for name, value in list(tool_input.items())[:MOST_ARGUMENTS] if isinstance(tool_input, dict) else ():
        if left <= 0:
            break
        is_plain = isinstance(value, bool | int | float) or value is None
        # Masked before it is cut: the quotes of JSON would hide assignments of secrets.
        kept = value if is_plain else _middle_cut(value if isinstance(value, str) else _as_json(value), *HALVES)
        bounded[str(name)[:200]] = kept
        left -= min(len(value), LONGEST_ARGUMENT + 2 * MARGIN) if isinstance(value, str) else len(str(kept)) + MARGIN
    return bounded


def _as_json(value: Any) -> str:
    """Return a value as JSON with its credentials masked; an oversized one is cut before that."""
    whole = json.dumps(value)
    return json.dumps(masked(value)) if len(whole) <= LONGEST_ARGUMENT + 2 * MARGIN else _middle_cut(whole, *HALVES)


def _result(result: Any) -> str:
    if isinstance(result, dict):
        parts = [result.get(name) for name in RESULTS]
        result = "\n".join(part for part in parts if isinstance(part, str) and part) or _as_json(result)
    elif isinstance(result, list):
        result = "\n".join(str(part.get("text", "")) for part in result[:100] if isinstance(part, dict))
    text = "" if result is None else str(result)
    return _middle_cut(text.removeprefix(WRAPPED[0]).removesuffix(WRAPPED[1]), HEAD, TAIL)


def _middle_cut(text: str, head: int, tail: int) -> str:
    """Cut the middle out of a long text and note how much.

    Private spans and secrets are removed before that, so that none is cut in half. Of a very long text only the ends are
    scanned, each with a margin.
    """
    total = len(text)
    if total <= head + tail + 2 * MARGIN:
        text = drop_private(text)
        if len(text) <= head + tail:
            return text
        begin = end = mask_secrets(text)
        total = len(begin)
    else:
        begin, end = mask_secrets(drop_private(text[: head + MARGIN])), text[-tail - MARGIN :]
        opened, closed = end.lower().find("<private>"), end.lower().find("</private>")
        if closed >= 0 and not 0 <= opened < closed:  # a private span that began before
            end = end[closed + len("</private>") :]
        end = mask_secrets(drop_private(end))
    return f"{begin[:head]}\n[… {total - head - tail} characters …]\n{end[-tail:]}"


def _failed(payload: Json) -> bool:
    answer = first(payload, "tool_response", "toolResult", "tool_result")
    if not isinstance(answer, dict):
        return False
    if isinstance(output := answer.get("llmContent"), str):  # Gemini CLI prints the exit code under the output
        before, _, after = output.rpartition("\nExit Code: ")
        if before.startswith(("<untrusted_context>", "Output:")) and after.split("\n", 1)[0].strip() not in ("", "0"):
            return True
    code = answer.get("exit_code", answer.get("exitCode", answer.get("returnCode")))
    results = (answer.get("resultType"), answer.get("result_type"))
    return bool(answer.get("is_error") or answer.get("isError")) or "failure" in results or code not in (None, 0)


def _spool(home: str, activity: Json) -> None:
    """Write an event to the spool.

    At the start of a session the oldest files of one that is not drained are deleted: it must not fill the disk.
    """
    folder = os.path.join(home, "spool")
    name = f"{time.time_ns():020d}-{os.getpid()}-{len(activity)}{activity['event'][:2]}"
    spooled = {"id": name, **activity, "took_ms": round(1000 * time.process_time(), 1)}
    _write(os.path.join(folder, f"{name}.json"), json.dumps(spooled))
    names = os.listdir(folder) if activity["event"] == "SessionStart" else []
    if len(names) > MOST_SPOOLED:
        _log(home, f"the spool held {len(names)} files; the oldest were dropped")
        for old in sorted(names)[: len(names) - MOST_SPOOLED]:
            os.unlink(os.path.join(folder, old))


def _write(path: str, content: str | bytes) -> None:
    """Write a whole file that only the user can read, in a folder that is created if it is missing."""
    try:
        write_whole(path, content)
    except FileNotFoundError:
        os.mkdir(os.path.dirname(path), 0o700)
        write_whole(path, content)


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


def now() -> str:
    """Return the current time in the stored format."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"
