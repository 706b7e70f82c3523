"""Answer a client's event from prepared files: at most once for each session and place, in the client's own format."""

from __future__ import annotations

import json
import os

from holdfast.hosts.hooks.activity import LONGEST_PATH, arguments, first, is_late
from holdfast.hosts.hooks.places import (
    checkout_root,
    handover_file,
    plain_name,
    prepared_file,
    remotes_of,
    session_settings,
)
from holdfast.policy.secrets.find import mask_secrets

MYPY = False
if MYPY:
    from collections.abc import Iterable  # noqa: TC003
    from typing import Any

    Json = dict[str, Any]

LONGEST_ANSWER = 9_500  # characters: Claude Code cuts at 10,000
LONGEST_COMMAND = 50_000  # characters of a command that are checked
READING = ("Read", "read_file", "view", "Grep", "Glob", "LS", "list_directory", "search_file_content")
# Files that hold credentials (not their examples), and commands that print files or the whole environment.
CREDENTIALS = (
    r"(?:^|[\s/'\"=])(?:\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|"
    r"[\w.-]+\.(?:pem|p12|pfx|key|keystore|jks)|credentials(?:\.json|\.ya?ml)?|secrets?\.(?:json|ya?ml|toml)|service-account[\w-]*\.json|\.git-credentials)"
    r"(?=$|[\s'\";|&>)])"
)
PRINTING = (
    r"(?:^|[\s;&|(])(?:cat|less|more|head|tail|bat|nl|xxd|strings|grep|rg|awk|sed|base64|source|\.|cp|scp|curl)\s"
)
PRINTING_ALL = (
    r"(?:^|[;&|(]\s*)(?:printenv|env|set|export -p)\s*(?:$|[|;>])|\bgh auth token\b|\baws configure export-credentials\b|"
    r"\bgcloud auth print-(?:access|identity)-token\b|\bkubectl get secrets?\b.{0,300}-o|"
    r"\bsecurity find-generic-password\b.{0,300}-w|\bvault (?:read|kv get)\b"
)


def answer(home: str, event: Json, payload: Json) -> Json:
    """Return the answer to an event; empty if there is none."""
    handler = _ANSWERS.get(event["event"])
    return handler(home, _prepared(home, event["cwd"]), event, payload) if handler else {}


def _prepared(home: str, cwd: str) -> Json:
    """Return what was prepared for the checkout around a folder, if it names this folder and repository."""
    root = checkout_root(cwd)
    project = session_settings(os.environ).get("project", "")
    try:
        with open(prepared_file(home, root, project), "rb") as file:
            prepared = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(prepared, dict) and (prepared.get("path"), prepared.get("remotes")) == (root, remotes_of(root))
    return prepared if is_ours else {}


def _on_start(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer the start of a session: the brief, and after a compaction the handover."""
    parts, ids = [], list[str]()
    if event.get("source") == "compact":
        parts.append(_handover(home, event["session"]))
    brief = prepared.get("brief") or {}
    if brief.get("text"):
        parts.append(brief["text"])
        ids += brief.get("ids", [])
        _see(home, event["session"], ["brief"])
    return _context(parts, ids, "brief")


def _on_prompt(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer a prompt: with the brief, if it was not ready at session start; else at most with a pointer."""
    brief = prepared.get("brief") or {}
    if brief.get("text") and _see(home, event["session"], ["brief"]):
        return _context([brief["text"]], brief.get("ids", []), "brief")
    words = {word.strip("`'\".,;:!?()[]{}") for word in event.get("text", "").lower().split()}
    matching = [hint for hint in prepared.get("hints", ()) if len(words.intersection(hint["words"])) >= 2]
    fresh = [hint for hint in matching[:3] if _see(home, event["session"], [f"{hint['id']} hint"])]
    if not fresh:
        return {}
    titles = "; ".join(hint["text"] for hint in fresh)
    return _context(
        [f"Holdfast: possibly relevant: {titles}. Use read for the full text."],
        [hint["id"] for hint in fresh],
        "prompt",
    )


def _on_tool(home: str, prepared: Json, event: Json, payload: Json) -> Json:
    """Answer a tool about to run: what is known about its command or file."""
    command, path = _command_and_path(first(payload, "tool_input", "toolArgs", "tool_args") or {}, event["cwd"])
    padded = _padded(command)
    triggered = [item for item in prepared.get("triggers", ()) if _fires(item, padded, path)]
    notes = prepared.get("files", {}).get(path, []) if path and event["tool"] not in READING else []
    if prepared.get("guard") and (why := _shows_secrets(command, path)):
        notes = [{"id": "", "text": why, "block": prepared["guard"] == "block"}, *notes]
    if is_late(event) and event["event"] == "PreToolUse":
        triggered, notes = [item for item in (*triggered, *notes) if item.get("block")], []
    place = mask_secrets(path) or mask_secrets(command[:1_000])[:80]
    fresh = [item for item in (*triggered, *notes) if _see(home, event["session"], [f"{item['id']} {place}"])]
    if not fresh:
        return {}
    answer = _context(
        [item["text"] for item in fresh[:3]], [item["id"] for item in fresh[:3] if item["id"]], "action site"
    )
    blocking = [item["text"] for item in fresh if item.get("block")]
    return {**answer, "block": "\n".join(blocking)} if blocking else answer


_ANSWERS = {"SessionStart": _on_start, "UserPromptSubmit": _on_prompt, "PreToolUse": _on_tool, "PostToolUse": _on_tool}


def _command_and_path(tool_input: Any, cwd: str) -> tuple[str, str]:
    if isinstance(tool_input, str):
        tool_input = arguments(tool_input)
    if not isinstance(tool_input, dict):
        return "", ""
    command = first(tool_input, "command", "cmd", "script") or ""
    command = " ".join(map(str, command[:1_000])) if isinstance(command, list) else str(command)
    command = command[:LONGEST_COMMAND]
    path = str(first(tool_input, "file_path", "filePath", "path", "notebook_path", "absolute_path") or "")[
        :LONGEST_PATH
    ]
    if path:
        root = checkout_root(cwd)
        whole = os.path.realpath(os.path.join(cwd, path))
        path = os.path.relpath(whole, root) if whole.startswith(root) else whole
    return " ".join(command.split()), path.replace(os.sep, "/")


def _shows_secrets(command: str, path: str) -> str:
    """Return a warning if reading a file or running a command would put credentials into the context; "" if not."""
    from re import search

    if match := search(CREDENTIALS, path) or (search(PRINTING, command) and search(CREDENTIALS, command)):
        return f"Holdfast: {match[0].strip()} usually holds credentials. Read the names you need, not the values, or ask the user."
    if search(PRINTING_ALL, command):
        return "Holdfast: this command prints credentials or the whole environment. Print only the variable you need."
    return ""


def _fires(trigger: Json, padded: str, path: str) -> bool:
    """True if a command contains the words of a trigger in a row, or a path matches it."""
    return any(f" {words} " in padded for words in trigger.get("commands", ())) or (
        bool(path) and any(_matches(pattern, path) for pattern in trigger.get("paths", ()))
    )


def _padded(command: str) -> str:
    """Return a command with a space around each word and each separator of commands."""
    spaced = command.replace(";", " ; ").replace("&&", " && ").replace("|", " | ").replace("(", " ( ")
    return f" {' '.join(spaced.split())} "


def _matches(pattern: str, path: str) -> bool:
    """True if a path matches a pattern; a pattern without a wildcard is a file or a folder."""
    if "*" not in pattern and "?" not in pattern:
        return path == pattern or path.startswith(pattern.rstrip("/") + "/") or path.endswith("/" + pattern)
    from fnmatch import fnmatchcase

    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _see(home: str, session: str, places: Iterable[str]) -> bool:
    """Mark places as seen by a session; True if any was new to it."""
    folder = os.path.join(home, "seen")
    file = os.path.join(folder, plain_name(session))
    try:
        with open(file, encoding="utf-8") as known:
            seen = set(known.read().splitlines())
    except OSError:
        seen = set()
        os.makedirs(folder, 0o700, exist_ok=True)
    new = [place.replace("\n", " ") for place in places if place.replace("\n", " ") not in seen]
    if new:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, "".join(f"{place}\n" for place in new).encode())
        os.close(handle)
    return bool(new)


def _handover(home: str, session: str) -> str:
    try:
        with open(handover_file(home, session), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _context(parts: list[str], ids: list[str], why: str) -> Json:
    text = "\n\n".join(part for part in parts if part)[:LONGEST_ANSWER]
    return {"text": text, "ids": ids, "why": why} if text else {}


def shaped(client: str, event: str, answer: Json) -> Json:
    """Return an answer in the format of a client; unknown fields could be dropped, or worse."""
    text = answer.get("text", "")
    if client == "cursor":
        return {"additional_context": text} if text else {"permission": "allow"}
    if client in ("copilot", "opencode"):
        return {"additionalContext": text} if text else {}
    if client == "gemini" and event == "PreToolUse":
        return {"decision": "deny", "reason": answer["block"]} if answer.get("block") else {}
    output: Json = {"hookEventName": event} if client != "gemini" else {}
    if text:
        output["additionalContext"] = text
    if event == "PreToolUse" and answer.get("block"):
        output |= {"permissionDecision": "deny", "permissionDecisionReason": answer["block"]}
    elif answer.get("allow"):
        output |= {"permissionDecision": "allow", "permissionDecisionReason": "Holdfast's own tool"}
    return {"hookSpecificOutput": output}
