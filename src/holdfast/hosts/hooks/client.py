"""The hook: run by a client at each of its events, it notes what happened and answers from what was prepared before.

Started as `python -I -S client.py EVENT [--client NAME] [--home FOLDER]` with the client's JSON on stdin. It imports the
standard library and our masking of secrets, nothing else: it runs at every tool call. It opens no database, waits for
nobody, always ends with exit code 0, and writes at most one line about its own troubles, into its own log.
"""

from __future__ import annotations

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))  # noqa: PTH100, PTH120  pathlib costs as much as all the rest

from holdfast.policy.secrets import drop_private, mask_secrets, masked

MYPY = False
if MYPY:
    from collections.abc import Iterable  # noqa: TC003
    from typing import Any

    Json = dict[str, Any]

LONGEST_STDIN = 10_000_000
LONGEST_TEXT, HEAD, TAIL, LONGEST_ARGUMENT = 50_000, 6_000, 3_000, 8_000
LONGEST_ANSWER = 9_500  # characters: Claude Code cuts at 10,000
LONGEST_LOG = 500_000
MOST_SPOOLED = 20_000  # files; a store that nobody drains must not fill the disk
ENDINGS = ("PreCompact", "Stop", "SubagentStop", "SessionEnd", "SessionStart")
# Text that clients or we put into a conversation is not something anybody said.
INJECTED = (
    ("<holdfast", "</holdfast"),
    ("<memory ", "</memory>"),
    ("<system-reminder>", "</system-reminder>"),
    ("<hook_context>", "</hook_context>"),
    ("<task-notification>", "</task-notification>"),
    ("<persisted-output>", "</persisted-output>"),
    ("<claude-mem-context>", "</claude-mem-context>"),
)
WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")  # how Gemini CLI hands results to its model
OBSERVER_FOLDER = "holdfast-observer-"  # as in model/trail.py, which would cost an import
SAID = ("last_assistant_message", "prompt_response", "text", "response")
# Clients that show their model nothing of what a hook says before a tool runs, only what one says after.
LATE = ("gemini",)
OUR_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_", "mcp_holdfast_", "holdfast_", "holdfast-")


def main(arguments: list[str]) -> None:
    """Note what happened and answer it; whatever goes wrong is ours to bear."""
    home = os.environ.get("HOLDFAST_HOME", "")
    try:
        event, client, named = _options(arguments)
        home = named or home
        given = _stdin()
        told = happening(event, client, given)
        home = home or _home(told["cwd"])
        answer = _act(home, told, given)
        if answer:
            sys.stdout.write(json.dumps(shaped(client, event, answer)))
            sys.stdout.flush()
    except BaseException as problem:  # noqa: BLE001  the outermost loop of a host: the client must not notice
        _log(home, f"{type(problem).__name__}: {problem}")


def _act(home: str, told: Json, given: Json) -> Json:
    """Keep the happening, find the answer, note what was put into the context, and see that somebody works on it all."""
    if OBSERVER_FOLDER in told["cwd"]:
        return {}  # a model that reads the trail must not find itself in it
    ours, is_there = told["tool"].startswith(OUR_TOOLS), os.path.isdir(home)  # noqa: PTH112
    if is_there and (told["event"] in ("SessionStart", "UserPromptSubmit") or (ours and told["event"] == "PreToolUse")):
        _note_client(home, told["session"])
    if ours:
        return {"allow": True} if told["event"] == "PreToolUse" else {}
    if not is_there:
        return {}  # nobody set up a store here: we make none unasked
    _spool(home, told)
    answering = _on_tool if _is_late(told) and told["event"] == "PostToolUse" else ANSWERING.get(told["event"])
    answer = answering(home, _prepared(home, told["cwd"]), told, given) if answering else {}
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


def _options(arguments: list[str]) -> tuple[str, str, str]:
    named = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    client = named.get("--client", "claude-code")
    if client == "claude-code" and os.environ.get("COPILOT_CLI"):
        client = "copilot"  # it runs hooks written for Claude Code, but takes answers in its own shape
    return arguments[0], client, named.get("--home", "")


def _stdin() -> Json:
    raw = sys.stdin.buffer.read(LONGEST_STDIN + 1)
    if len(raw) > LONGEST_STDIN:
        raise ValueError("stdin is longer than 10 MB")
    given = json.loads(raw.decode("utf-8", "replace"))
    if not isinstance(given, dict):
        raise TypeError("stdin is no JSON object")
    return given


def happening(event: str, client: str, given: Json) -> Json:
    """Give what happened in our own words, whichever client tells it; cleaned, masked and bounded."""
    tool_input = _first(given, "tool_input", "toolArgs", "tool_args", "args")
    told: Json = {
        "at": _now(),
        "event": event,
        "client": client,
        "session": str(_first(given, "session_id", "sessionId", "conversation_id") or ""),
        "cwd": str(_first(given, "cwd") or (_first(given, "workspace_roots") or [""])[0] or os.getcwd()),  # noqa: PTH109
        "agent": str(_first(given, "agent_type", "agent_id") or ""),
        "text": _said(_first(given, *(SAID if event in ("Stop", "SubagentStop") else ("prompt", *SAID))) or ""),
        "tool": str(_first(given, "tool_name", "toolName") or ""),
        "given": _arguments(tool_input),
        "result": _result(_first(given, "tool_response", "toolResult", "tool_result", "result_json", "error")),
        "failed": event == "PostToolUseFailure" or _failed(given),
        "source": str(_first(given, "source", "trigger", "reason") or ""),
        "transcript": str(given.get("transcript_path") or ""),
    }
    clean = masked(told)
    always = ("event", "session", "cwd", "tool")
    return {name: value for name, value in clean.items() if name in always or value not in ("", {}, False)}


def _first(given: Json, *names: str) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _said(text: Any) -> str:
    """Give what somebody said: without what was put in, without what is private, bounded."""
    said = drop_private(text) if isinstance(text, str) else ""
    for opening, closing in INJECTED:
        while (start := said.find(opening)) >= 0:
            end = said.find(closing, start)
            end = said.find(">", end) + 1 if end >= 0 else len(said)
            said = said[:start] + said[end or len(said) :]
    if len(said) > LONGEST_TEXT:  # masked before it is cut: half a secret would not be known as one
        said = mask_secrets(said)[:LONGEST_TEXT]
    return said.strip()


def _arguments(given: Any) -> Json:
    if isinstance(given, str):  # some clients send JSON as text
        try:
            given = json.loads(given)
        except ValueError:
            return {"text": _bounded(given)}
    if not isinstance(given, dict):
        return {}
    return {str(name): _bounded(value) for name, value in list(given.items())[:50]}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return _middle_cut(value, LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)
    if isinstance(value, bool | int | float) or value is None:
        return value
    # Masked first: written as JSON its quotes would hide what an assignment gives away.
    return _middle_cut(json.dumps(masked(value)), LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)


def _result(given: Any) -> str:
    if isinstance(given, dict):
        parts = [
            given.get(name)
            for name in (
                "textResultForLlm",
                "text_result_for_llm",
                "stdout",
                "stderr",
                "output",
                "content",
                "error",
                "llmContent",
            )
        ]
        given = "\n".join(part for part in parts if isinstance(part, str) and part) or json.dumps(masked(given))
    elif isinstance(given, list):
        given = "\n".join(str(part.get("text", "")) for part in given if isinstance(part, dict))
    if given is None:
        return ""
    return _middle_cut(drop_private(str(given).removeprefix(WRAPPED[0]).removesuffix(WRAPPED[1])), HEAD, TAIL)


def _middle_cut(text: str, head: int, tail: int) -> str:
    """Cut the middle out of a long text and say how much; secrets are masked before, so that none is cut in half."""
    if len(text) <= head + tail:
        return text
    text = mask_secrets(text)
    return f"{text[:head]}\n[… {len(text) - head - tail} characters …]\n{text[-tail:]}"


def _failed(given: Json) -> bool:
    answer = _first(given, "tool_response", "toolResult", "tool_result")
    if not isinstance(answer, dict):
        return False
    if _exit_line(answer.get("llmContent")) not in ("", "0"):
        return True
    code = answer.get("exit_code", answer.get("exitCode", answer.get("returnCode")))
    return (
        bool(answer.get("is_error") or answer.get("isError"))
        or "failure" in (answer.get("resultType"), answer.get("result_type"))
        or code not in (None, 0)
    )


def _exit_line(said: Any) -> str:
    """Give the exit code that Gemini CLI writes under the output of a command, and only where it is not 0."""
    before, line, after = said.rpartition("\nExit Code: ") if isinstance(said, str) else ("", "", "")
    return after.split("\n", 1)[0].strip() if line and before.startswith(("<untrusted_context>", "Output:")) else ""


def _home(cwd: str) -> str:
    """Give the folder of the store, as `compose.store_folder` finds it, without reading any settings."""
    if named := os.environ.get("HOLDFAST_HOME"):
        return os.path.expanduser(named)  # noqa: PTH111
    folder = cwd
    while folder and os.path.dirname(folder) != folder:  # noqa: PTH120
        store = os.path.join(folder, ".holdfast")  # noqa: PTH118
        if os.path.exists(os.path.join(store, "holdfast.db")) and not _is_theirs(store):  # noqa: PTH110, PTH118
            return store
        folder = os.path.dirname(folder)  # noqa: PTH120
    return _data_folder()


def _is_theirs(store: str) -> bool:
    """Tell whether a store came with a repository, as `adapters.git.came_with_repository` does: it is not the user's.

    Git is asked only where its index does not rule it out: the name is in there, or may be (names cut short, an index in two).
    """
    folder = store = os.path.realpath(store)
    while not os.path.exists(git := os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
        if (parent := os.path.dirname(folder)) == folder:  # noqa: PTH120
            return False
        folder = parent
    try:
        if os.path.isfile(git):  # noqa: PTH113  a linked worktree, or a submodule
            with open(git, encoding="utf-8") as file:  # noqa: PTH123
                git = os.path.join(folder, file.read().partition("gitdir:")[2].strip())  # noqa: PTH118
        with open(os.path.join(git, "index"), "rb") as file:  # noqa: PTH118, PTH123
            index = file.read()
    except FileNotFoundError:
        return False  # nothing is in the repository yet
    if index[7:8] < b"\4" and b"\0link\0\0" not in index and b"holdfast.db" not in index.lower():
        return False
    import subprocess  # noqa: PLC0415  hardly anybody needs it

    asked = ["git", "-C", store, "ls-files", "--error-unmatch", "--", ":(top,icase,glob)**/holdfast.db"]
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return not subprocess.run(asked, env=around, capture_output=True, check=False).returncode  # noqa: S603


def _data_folder() -> str:
    user = os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", user), "holdfast")  # noqa: PTH118
    usual = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "share")
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(user, *usual), "holdfast")  # noqa: PTH118


def _spool(home: str, told: Json) -> None:
    """Drop one file for whoever drains the spool: written aside and renamed, so that nobody reads half of it."""
    folder = os.path.join(home, "spool")  # noqa: PTH118
    name = f"{time.time_ns():020d}-{os.getpid()}-{len(told)}{told['event'][:2]}"
    aside = os.path.join(folder, f".{name}")  # noqa: PTH118
    data = json.dumps({"id": name, **told, "took_ms": round(1000 * time.process_time(), 1)}).encode()
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileNotFoundError:
        os.mkdir(folder, 0o700)  # noqa: PTH102
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
    os.rename(aside, os.path.join(folder, f"{name}.json"))  # noqa: PTH104, PTH118


def _cap(home: str) -> None:
    """Drop the oldest files of a spool that nobody drains: it must not fill the disk."""
    folder = os.path.join(home, "spool")  # noqa: PTH118
    names = os.listdir(folder)  # noqa: PTH208
    if len(names) <= MOST_SPOOLED:
        return
    _log(home, f"the spool held {len(names)} files; the oldest were dropped")
    for name in sorted(names)[: len(names) - MOST_SPOOLED]:
        os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118


def _prepared(home: str, cwd: str) -> Json:
    """Give what was prepared for the checkout around a folder."""
    try:
        with open(prepared_file(home, cwd), "rb") as file:  # noqa: PTH123
            found = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def prepared_file(home: str, cwd: str) -> str:
    """Give where answers for a checkout are prepared; worktrees have their own."""
    root = checkout_root(cwd)
    name = "".join(char if char.isalnum() else "-" for char in root)[-150:].strip("-")
    return os.path.join(home, "prepared", f"{name or 'root'}.json")  # noqa: PTH118


def checkout_root(cwd: str) -> str:
    """Give the folder that holds the checkout, or the folder itself."""
    folder = os.path.realpath(cwd)
    start = folder
    while os.path.dirname(folder) != folder:  # noqa: PTH120
        if os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
            return folder
        folder = os.path.dirname(folder)  # noqa: PTH120
    return start


def _on_start(home: str, prepared: Json, told: Json, _: Json) -> Json:
    """Answer the start of a session: the brief, and after a compaction what was being done."""
    parts, ids = [], list[str]()
    if told.get("source") == "compact":
        parts.append(_handover(home, told["session"]))
    brief = prepared.get("brief") or {}
    if brief.get("text"):
        parts.append(brief["text"])
        ids += brief.get("ids", [])
        _see(home, told["session"], ["brief"])
    return _context(parts, ids, "brief")


def _on_prompt(home: str, prepared: Json, told: Json, _: Json) -> Json:
    """Answer a prompt: with the brief, if it was not ready when the session began; else at most with a pointer."""
    brief = prepared.get("brief") or {}
    if brief.get("text") and _see(home, told["session"], ["brief"]):
        return _context([brief["text"]], brief.get("ids", []), "brief")
    said = {word.strip("`'\".,;:!?()[]{}") for word in told.get("text", "").lower().split()}
    near = [one for one in prepared.get("hints", ()) if len(said.intersection(one["words"])) >= 2]
    fresh = [one for one in near[:3] if _see(home, told["session"], [f"{one['id']} hint"])]
    if not fresh:
        return {}
    named = "; ".join(one["text"] for one in fresh)
    return _context(
        [f"Holdfast: may matter here: {named}. read gives them in full."], [one["id"] for one in fresh], "prompt"
    )


def _on_tool(home: str, prepared: Json, told: Json, given: Json) -> Json:
    """Answer a tool about to run: what is known about this command or file, once a session and place."""
    command, path = _command_and_path(_first(given, "tool_input", "toolArgs", "tool_args") or {}, told["cwd"])
    found = [one for one in prepared.get("triggers", ()) if _fires(one, command, path)]
    known = prepared.get("files", {}).get(path, []) if path and told["tool"] not in READING else []
    if prepared.get("guard") and (why := _shows_secrets(command, path)):
        known = [{"id": "", "text": why, "block": prepared["guard"] == "block"}, *known]
    if _is_late(told) and told["event"] == "PreToolUse":
        found, known = [one for one in (*found, *known) if one.get("block")], []
    place = mask_secrets(path) or mask_secrets(command)[:80]
    fresh = [one for one in (*found, *known) if _see(home, told["session"], [f"{one['id']} {place}"])]
    if not fresh:
        return {}
    answer = _context([one["text"] for one in fresh[:3]], [one["id"] for one in fresh[:3] if one["id"]], "action site")
    blocking = [one["text"] for one in fresh if one.get("block")]
    return {**answer, "block": "\n".join(blocking)} if blocking else answer


def _is_late(told: Json) -> bool:
    return told.get("client") in LATE


READING = ("Read", "read_file", "view", "Grep", "Glob", "LS", "list_directory", "search_file_content")
ANSWERING = {"SessionStart": _on_start, "UserPromptSubmit": _on_prompt, "PreToolUse": _on_tool}


def _command_and_path(given: Any, cwd: str) -> tuple[str, str]:
    if isinstance(given, str):
        given = _arguments(given)
    if not isinstance(given, dict):
        return "", ""
    command = _first(given, "command", "cmd", "script") or ""
    command = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    path = str(_first(given, "file_path", "filePath", "path", "notebook_path", "absolute_path") or "")
    if path:
        root = checkout_root(cwd)
        whole = os.path.realpath(os.path.join(cwd, path))  # noqa: PTH118
        path = os.path.relpath(whole, root) if whole.startswith(root) else whole
    return " ".join(command.split()), path.replace(os.sep, "/")


def _shows_secrets(command: str, path: str) -> str:
    """Tell what is wrong with reading a file, or running a command, that would put credentials into the context."""
    from re import search  # noqa: PLC0415  only where the user wants this guard

    if found := search(CREDENTIALS, path) or (search(SHOWING, command) and search(CREDENTIALS, command)):
        return f"Holdfast: {found[0].strip()} usually holds credentials. Read the names you need, not the values, or ask the user."
    if search(SHOWING_ALL, command):
        return "Holdfast: this command prints credentials or the whole environment. Ask for the one name you need."
    return ""


# Files that hold credentials (not their examples), and commands that print files or everything there is.
CREDENTIALS = (
    r"(?:^|[\s/'\"=])(?:\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|"
    r"[\w.-]+\.(?:pem|p12|pfx|key|keystore|jks)|credentials(?:\.json|\.ya?ml)?|secrets?\.(?:json|ya?ml|toml)|service-account[\w-]*\.json|\.git-credentials)"
    r"(?=$|[\s'\";|&>)])"
)
SHOWING = r"(?:^|[\s;&|(])(?:cat|less|more|head|tail|bat|nl|xxd|strings|grep|rg|awk|sed|base64|source|\.|cp|scp|curl)\s"
SHOWING_ALL = (
    r"(?:^|[;&|(]\s*)(?:printenv|env|set|export -p)\s*(?:$|[|;>])|\bgh auth token\b|\baws configure export-credentials\b|"
    r"\bgcloud auth print-(?:access|identity)-token\b|\bkubectl get secrets?\b.*-o|\bsecurity find-generic-password\b.*-w|\bvault (?:read|kv get)\b"
)


def _fires(one: Json, command: str, path: str) -> bool:
    return (bool(command) and any(_in_command(words, command) for words in one.get("commands", ()))) or (
        bool(path) and any(_matches(pattern, path) for pattern in one.get("paths", ()))
    )


def _in_command(words: str, command: str) -> bool:
    """Tell whether a command runs these words: in a row, each whole."""
    padded = f" {command} ".replace(";", " ; ").replace("&&", " && ").replace("|", " | ").replace("(", " ( ")
    return f" {words} " in f" {' '.join(padded.split())} "


def _matches(pattern: str, path: str) -> bool:
    """Tell whether a path fits a pattern; patterns without a star are a file or a folder."""
    if "*" not in pattern and "?" not in pattern:
        return path == pattern or path.startswith(pattern.rstrip("/") + "/") or path.endswith("/" + pattern)
    from fnmatch import fnmatchcase  # noqa: PLC0415  only where a pattern has a star

    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _see(home: str, session: str, places: Iterable[str]) -> bool:
    """Note what a session was shown; tell whether it was new to it."""
    folder = os.path.join(home, "seen")  # noqa: PTH118
    file = os.path.join(folder, _plain_name(session))  # noqa: PTH118
    try:
        with open(file, encoding="utf-8") as known:  # noqa: PTH123
            seen = set(known.read().splitlines())
    except OSError:
        seen = set()
        os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103
    new = [place.replace("\n", " ") for place in places if place.replace("\n", " ") not in seen]
    if new:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, "".join(f"{place}\n" for place in new).encode())
        os.close(handle)
    return bool(new)


def _note_client(home: str, session: str) -> None:
    """Note which session our client is in, for the server it started: few clients tell their servers."""
    file = client_note(home, os.getppid())
    os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(handle, session.encode())
    os.close(handle)


def client_note(home: str, process: int) -> str:
    """Give where it is noted which session a client, known by its process, is in."""
    return os.path.join(home, "seen", f"client-{process}")  # noqa: PTH118


def _handover(home: str, session: str) -> str:
    try:
        with open(handover_file(home, session), encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def handover_file(home: str, session: str) -> str:
    """Give where a session leaves what it was doing for its own other side of a compaction."""
    return os.path.join(home, "prepared", f"handover-{_plain_name(session)}.txt")  # noqa: PTH118


def _plain_name(session: str) -> str:
    """Give a session's name as a file may be called."""
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in session)[:100] or "none"


def _context(parts: list[str], ids: list[str], why: str) -> Json:
    text = "\n\n".join(part for part in parts if part)[:LONGEST_ANSWER]
    return {"text": text, "ids": ids, "why": why} if text else {}


def shaped(client: str, event: str, answer: Json) -> Json:
    """Give an answer in the shape a client takes; one it does not know it would drop, or worse."""
    text = answer.get("text", "")
    if client == "cursor":
        return {"additional_context": text} if text else {"permission": "allow"}
    if client in ("copilot", "opencode"):
        return {"additionalContext": text} if text else {}
    if client == "gemini" and event == "PreToolUse":
        return {"decision": "deny", "reason": answer["block"]} if answer.get("block") else {}
    said: Json = {"hookEventName": event} if client != "gemini" else {}
    if text:
        said["additionalContext"] = text
    if event == "PreToolUse" and answer.get("block"):
        said |= {"permissionDecision": "deny", "permissionDecisionReason": answer["block"]}
    elif answer.get("allow"):
        said |= {"permissionDecision": "allow", "permissionDecisionReason": "Holdfast's own tool"}
    return {"hookSpecificOutput": said}


def _wake(home: str, cwd: str) -> None:
    """Start the worker, unless one is at work; it lives on its own and ends when there is nothing left to do."""
    command = [sys.executable, "-P", "-m", "holdfast", "--home", home, "work"]
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415  only there

        # Asking after a process with `os.kill` would press Ctrl-C there; a second worker sees the lock and ends.
        subprocess.Popen(command, cwd=cwd, creationflags=0x00000208, close_fds=True)  # noqa: S603  detached, no window
        return
    try:
        with open(os.path.join(home, "work.lock"), encoding="ascii") as file:  # noqa: PTH118, PTH123
            os.kill(int(file.read() or 0) or 1 << 30, 0)
            return
    except (OSError, ValueError, OverflowError):
        pass  # nobody is at work
    if os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(cwd if os.path.isdir(cwd) else "/")  # noqa: PTH112
    os.execv(sys.executable, command)  # noqa: S606


def _now() -> str:
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def _log(home: str, line: str) -> None:
    """Write one line about our own troubles; if even that cannot be done, nobody is told."""
    try:
        file = os.path.join(home or _data_folder(), "hooks.log")  # noqa: PTH118
        if os.path.exists(file) and os.path.getsize(file) > LONGEST_LOG:  # noqa: PTH110, PTH202
            os.replace(file, file + ".1")  # noqa: PTH105
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{_now()} {mask_secrets(line)[:500]}\n".encode(errors="replace"))
        os.close(handle)
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # what a client waits for is us: skip the tidying up
