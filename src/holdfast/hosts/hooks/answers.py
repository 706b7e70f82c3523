"""What is said to a client at its events: from what was prepared before, once a session and place, in the shape it takes."""

from __future__ import annotations

import json
import os

from holdfast.hosts.hooks.happening import LONGEST_PATH, arguments, first, is_late
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
LONGEST_COMMAND = 50_000  # characters of a command that are looked at
READING = ("Read", "read_file", "view", "Grep", "Glob", "LS", "list_directory", "search_file_content")
# Files that hold credentials (not their examples), and commands that print files or everything there is.
CREDENTIALS = (
    r"(?:^|[\s/'\"=])(?:\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|"
    r"[\w.-]+\.(?:pem|p12|pfx|key|keystore|jks)|credentials(?:\.json|\.ya?ml)?|secrets?\.(?:json|ya?ml|toml)|service-account[\w-]*\.json|\.git-credentials)"
    r"(?=$|[\s'\";|&>)])"
)
SHOWING = r"(?:^|[\s;&|(])(?:cat|less|more|head|tail|bat|nl|xxd|strings|grep|rg|awk|sed|base64|source|\.|cp|scp|curl)\s"
SHOWING_ALL = (
    r"(?:^|[;&|(]\s*)(?:printenv|env|set|export -p)\s*(?:$|[|;>])|\bgh auth token\b|\baws configure export-credentials\b|"
    r"\bgcloud auth print-(?:access|identity)-token\b|\bkubectl get secrets?\b.{0,300}-o|"
    r"\bsecurity find-generic-password\b.{0,300}-w|\bvault (?:read|kv get)\b"
)


def answer(home: str, told: Json, given: Json) -> Json:
    """Return what is to be said to what happened, if anything is."""
    answering = _ANSWERS.get(told["event"])
    return answering(home, _prepared(home, told["cwd"]), told, given) if answering else {}


def _prepared(home: str, cwd: str) -> Json:
    """Return what was prepared for the checkout around a folder, if it says that it is for this folder and repository."""
    root = checkout_root(cwd)
    project = session_settings(os.environ).get("project", "")
    try:
        with open(prepared_file(home, root, project), "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(found, dict) and (found.get("path"), found.get("remotes")) == (root, remotes_of(root))
    return found if is_ours else {}


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
    command, path = _command_and_path(first(given, "tool_input", "toolArgs", "tool_args") or {}, told["cwd"])
    padded = _padded(command)
    found = [one for one in prepared.get("triggers", ()) if _fires(one, padded, path)]
    known = prepared.get("files", {}).get(path, []) if path and told["tool"] not in READING else []
    if prepared.get("guard") and (why := _shows_secrets(command, path)):
        known = [{"id": "", "text": why, "block": prepared["guard"] == "block"}, *known]
    if is_late(told) and told["event"] == "PreToolUse":
        found, known = [one for one in (*found, *known) if one.get("block")], []
    place = mask_secrets(path) or mask_secrets(command[:1_000])[:80]
    fresh = [one for one in (*found, *known) if _see(home, told["session"], [f"{one['id']} {place}"])]
    if not fresh:
        return {}
    answer = _context([one["text"] for one in fresh[:3]], [one["id"] for one in fresh[:3] if one["id"]], "action site")
    blocking = [one["text"] for one in fresh if one.get("block")]
    return {**answer, "block": "\n".join(blocking)} if blocking else answer


_ANSWERS = {"SessionStart": _on_start, "UserPromptSubmit": _on_prompt, "PreToolUse": _on_tool, "PostToolUse": _on_tool}


def _command_and_path(given: Any, cwd: str) -> tuple[str, str]:
    if isinstance(given, str):
        given = arguments(given)
    if not isinstance(given, dict):
        return "", ""
    command = first(given, "command", "cmd", "script") or ""
    command = " ".join(map(str, command[:1_000])) if isinstance(command, list) else str(command)
    command = command[:LONGEST_COMMAND]
    path = str(first(given, "file_path", "filePath", "path", "notebook_path", "absolute_path") or "")[:LONGEST_PATH]
    if path:
        root = checkout_root(cwd)
        whole = os.path.realpath(os.path.join(cwd, path))
        path = os.path.relpath(whole, root) if whole.startswith(root) else whole
    return " ".join(command.split()), path.replace(os.sep, "/")


def _shows_secrets(command: str, path: str) -> str:
    """Tell what is wrong with reading a file, or running a command, that would put credentials into the context."""
    from re import search

    if found := search(CREDENTIALS, path) or (search(SHOWING, command) and search(CREDENTIALS, command)):
        return f"Holdfast: {found[0].strip()} usually holds credentials. Read the names you need, not the values, or ask the user."
    if search(SHOWING_ALL, command):
        return "Holdfast: this command prints credentials or the whole environment. Ask for the one name you need."
    return ""


def _fires(one: Json, padded: str, path: str) -> bool:
    """True if a command holds the words of a trigger in a row, each whole, or a path fits it."""
    return any(f" {words} " in padded for words in one.get("commands", ())) or (
        bool(path) and any(_matches(pattern, path) for pattern in one.get("paths", ()))
    )


def _padded(command: str) -> str:
    """Return a command with one space around each word and sign that separates commands."""
    spaced = command.replace(";", " ; ").replace("&&", " && ").replace("|", " | ").replace("(", " ( ")
    return f" {' '.join(spaced.split())} "


def _matches(pattern: str, path: str) -> bool:
    """Return whether a path fits a pattern; patterns without a star are a file or a folder."""
    if "*" not in pattern and "?" not in pattern:
        return path == pattern or path.startswith(pattern.rstrip("/") + "/") or path.endswith("/" + pattern)
    from fnmatch import fnmatchcase

    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _see(home: str, session: str, places: Iterable[str]) -> bool:
    """Note what a session was shown; tell whether it was new to it."""
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
    """Return an answer in the shape a client takes; one it does not know it would drop, or worse."""
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
