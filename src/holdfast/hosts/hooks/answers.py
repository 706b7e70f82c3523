"""Answer a client's event from prepared files: at most once for each session and place, in the client's own format."""

from __future__ import annotations

import json
import os
import time

from holdfast.hosts.hooks import current
from holdfast.hosts.hooks.activity import LONGEST_PATH, arguments, first, is_late
from holdfast.hosts.hooks.places import branch_of, checkout_root, handover_file
from holdfast.model.files import digest, read_regular
from holdfast.policy.secrets.find import mask_secrets

MYPY = False
if MYPY:
    from collections.abc import Iterable  # noqa: TC003
    from typing import Any

    Json = dict[str, Any]

LONGEST_ANSWER = 9_500  # characters: Claude Code cuts at 10,000
RECALLED = "recalled"  # mark of a session that looked for scars
LONGEST_COMMAND = 50_000  # characters of a command that are checked
LATE, CHANGED = "Not ready when this session began:", "Changed since this session began:"
FENCE = ("<holdfast-brief-update>", "</holdfast-brief-update>")
CUT = "(Cut: longer than a hook may answer.)"
READING = ("Read", "read_regular", "view", "Grep", "Glob", "LS", "list_directory", "search_file_content")
# Files that hold credentials (not their examples), and commands that print files or the whole environment.
CREDENTIALS = (
    r"(?:^|[\s/'\"=])(?:\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|"
    r"[\w.-]+\.(?:pem|p12|pfx|key|keystore|jks)|credentials(?:\.json|\.ya?ml)?|secrets?\.(?:json|ya?ml|toml)|service-account[\w-]*\.json|\.git-credentials)"
    r"(?=$|[\s'\";|&>)])"
)
PRINTING = (
    r"(?:^|[\s;&|(])(?:cat|less|more|head|tail|bat|nl|xxd|strings|grep|rg|awk|sed|base64|source|\.|cp|scp|curl)\s"
)
# Commands after which there is no way back, and words that end a session: where `remind` reminds.
RISKY = (
    r"(?:^|[;&|(]\s*|\bsudo\s+)(?:git\s+(?:push|reset\s+--hard|tag)|(?:npm|pnpm|yarn|cargo|poetry|uv)\s+publish|twine\s+upload|"
    r"docker\s+push|kubectl\s+(?:apply|delete|rollout)|helm\s+(?:install|upgrade|uninstall)|terraform\s+(?:apply|destroy)|"
    r"gh\s+(?:release\s+create|pr\s+merge)|rm\s+-\w*r|(?:alembic|flyway|prisma|rails|python\s+manage\.py)\s.{0,40}migrat|"
    r"(?:make|just|npm\s+run|\./)\s*\S{0,40}(?:deploy|release))|\b(?:drop|truncate)\s+(?:table|database)\b"
)
WRAPPING_UP = r"\b(?:wrap (?:it |this |things )?up|that'?s (?:all|it) for (?:today|now)|(?:done|finished) for (?:today|now)|close the session|end of (?:the )?day|good ?night|bye)\b"
PRINTING_ALL = (
    r"(?:^|[;&|(]\s*)(?:printenv|env|set|export -p)\s*(?:$|[|;>])|\bgh auth token\b|\baws configure export-credentials\b|"
    r"\bgcloud auth print-(?:access|identity)-token\b|\bkubectl get secrets?\b.{0,300}-o|"
    r"\bsecurity find-generic-password\b.{0,300}-w|\bvault (?:read|kv get)\b"
)


def answer(home: str, event: Json, payload: Json) -> Json:
    """Return the answer to an event; empty if there is none."""
    if event["event"] == "PreCompact":  # what the session gets afterwards is about this compaction
        current.see(home, event["session"], [f"{current.COMPACTION} {time.time_ns()}"])
        if os.path.exists(before := handover_file(home, event["session"])):
            os.unlink(before)
    return respond(home, current.prepared_for(home, event), event, payload) if event["event"] in _ANSWERS else {}


def respond(home: str, prepared: Json, event: Json, payload: Json) -> Json:
    """Return the answer to an event from what was prepared; empty if there is none."""
    return _ANSWERS[event["event"]](home, prepared, event, payload)


def _on_start(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer the start of a session: after a compaction the handover, the brief, and where work was left off."""
    session, parts, ids = event["session"], list[str](), list[str]()
    if event.get("source") == "compact":
        parts.append(_handover(home, session))
    brief = prepared.get("brief") or {}
    if brief.get("text"):
        parts.append(brief["text"])
        ids += brief.get("ids", [])
        _note_brief(home, session, prepared)
    if left := _left_off(prepared, event):
        parts.append(left["text"])
        ids += left["ids"]
        current.see(home, session, [f"left off {left['session']}"])
    return _context(parts, ids, "brief")


def _on_prompt(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer a prompt: the first with what was not ready at session start; the others at most with a pointer."""
    session, parts, ids = event["session"], list[str](), list[str]()
    is_first, left = current.see(home, session, ["prompt"]), _left_off(prepared, event)
    if not prepared["late"] or is_first:
        text, fresh_ids = _brief_or_news(home, session, prepared)
        parts.append(text)
        ids += fresh_ids
    if current.awaits_handover(home, session):
        parts.append(_handover(home, session))
    if is_first and left and current.see(home, session, [f"left off {left['session']}"]):
        parts.append(left["text"])
        ids += left["ids"]
    for conflict in prepared.get("conflicts", ()):
        if conflict["session"] == session and current.see(home, session, [f"{conflict['id']} conflict"]):
            parts.append(conflict["text"])
            ids += [conflict["id"], *conflict["ids"]]
    if any(parts):
        return _context(parts, ids, "brief")
    if (
        (remind := prepared.get("remind"))
        and _found(WRAPPING_UP, event.get("text", "")[:500])
        and current.see(home, event["session"], ["close"])
    ):
        last = f"Holdfast: before this session ends, call {remind['close']} with what it leaves."
        return _context([last], [], "close")
    words = {word.strip("`'\".,;:!?()[]{}") for word in event.get("text", "").lower().split()}
    matching = [hint for hint in prepared.get("hints", ()) if len(words.intersection(hint["words"])) >= 2]
    fresh = [hint for hint in matching[:3] if current.see(home, session, [f"{hint['id']} hint"])]
    if not fresh:
        return {}
    titles = "; ".join(hint["text"] for hint in fresh)
    return _context(
        [f"Holdfast: possibly relevant: {titles}. Use {prepared.get('read', 'read')} for the full text."],
        [hint["id"] for hint in fresh],
        "prompt",
    )


def _note_brief(home: str, session: str, prepared: Json) -> None:
    """Note which lines of a brief a session got, and from which places in the lists of changes on it is not current."""
    brief = prepared["brief"]
    rows = [
        f"row {id_} {digest(line)[:12]}"
        for line in brief["text"].split("\n")
        if (id_ := current.id_in(line, brief["ids"]))
    ]
    places = json.dumps(prepared["made_from"]["changes"])
    current.see(home, session, ["brief", *rows, f"from {places}", *[LATE] * prepared["late"]])


def _brief_or_news(home: str, session: str, prepared: Json) -> tuple[str, list[str]]:
    """Return the brief for a session that got none; else, once, what it got outdated or not at all, with the new ids."""
    known, brief = current.seen(home, session), prepared.get("brief") or {}
    is_checked = current.CURRENT in known
    if not prepared["late"]:
        current.see(home, session, [current.CURRENT])
    if brief.get("text") and "brief" not in known:
        _note_brief(home, session, prepared)
        return brief["text"], brief["ids"]
    if is_checked or "brief" not in known or "made_from" not in prepared:
        return "", []
    given = dict(line.split(" ")[1:3] for line in known if line.startswith("row "))
    rows = {id_: line for line in brief["text"].split("\n") if (id_ := current.id_in(line, brief["ids"]))}
    new = {id_: line for id_, line in rows.items() if given.get(id_) != digest(line)[:12]}
    changed = current.changed_since(json.loads(next(line[5:] for line in known if line.startswith("from "))))
    withdrawn = [id_[-8:] for id_ in given if id_ in changed and id_ not in rows]
    if not new and not withdrawn:
        return "", []
    _note_brief(home, session, prepared)
    lines = [f"Withdrawn, do not rely on: {', '.join(withdrawn)}."] if withdrawn else []
    return "\n".join((FENCE[0], LATE if LATE in known else CHANGED, *new.values(), *lines, FENCE[1])), list(new)


def _left_off(prepared: Json, event: Json) -> Json:
    """Return where work was left off on the current branch, else the latest; empty if this very session did it."""
    works = prepared.get("left_off") or []
    if not works:
        return {}
    branch = event.get("branch") or branch_of(checkout_root(event["cwd"]))
    work: Json = next((one for one in works if one["branch"] == branch), works[0])
    return {} if work["session"] == event["session"] else work


def _on_tool(home: str, prepared: Json, event: Json, payload: Json) -> Json:
    """Answer a tool about to run: what is known about its command or file."""
    command, path = _command_and_path(first(payload, "tool_input", "toolArgs", "tool_args") or {}, event["cwd"])
    edited = [path] if path and event["tool"] not in READING else []
    triggered = triggered_by(prepared.get("triggers", ()), command, edited, event["cwd"])
    notes = [*prepared.get("files", {}).get(path, ()), *_about(path, prepared.get("topics", {}))] if path else []
    if (
        (remind := prepared.get("remind"))
        and _found(RISKY, " ".join(command.split()))
        and RECALLED not in current.seen(home, event["session"])
    ):
        text = f"Holdfast: this cannot be undone easily. Call {remind['search']} with your plan first: scars may apply."
        notes = [{"id": "", "text": text}, *notes]
    if prepared.get("guard") and (why := _shows_secrets(" ".join(command.split()), path)):
        notes = [{"id": "", "text": why, "block": prepared["guard"] == "block"}, *notes]
    if is_late(event) and event["event"] == "PreToolUse":
        triggered, notes = [item for item in (*triggered, *notes) if item.get("block")], []
    place = mask_secrets(path) or mask_secrets(" ".join(command.split())[:1_000])[:80]
    # A warning is given once a session, or at each place if it stops the action.
    places = [(item, place if item.get("block") else "warning") for item in triggered]
    places += [(item, item.get("topic") or place) for item in notes]
    fresh = [item for item, where in places if current.see(home, event["session"], [f"{item['id']} {where}"])]
    if not fresh:
        return {}
    ids = [item["id"] for item in fresh[:3] if item["id"]]
    answer = _context([item["text"] for item in fresh[:3]], ids, "action site")
    blocking = [item["text"] for item in fresh if item.get("block")]
    return {**answer, "block": "\n".join(blocking)} if blocking else answer


def _about(path: str, topics: Json) -> list[Json]:
    """Return the notes whose topic is a word of a path; the beginning of a word counts too (`auth` for authentication)."""
    if not topics:
        return []
    parts = "".join(char if char.isalnum() else " " for char in path.lower()).split()
    named = {word for part in parts for word in topics if word == part or (len(part) > 3 and word.startswith(part))}
    return [note for word in sorted(named) for note in topics[word]]


def _found(pattern: str, text: str) -> bool:
    from re import IGNORECASE, search

    return bool(text and search(pattern, text, IGNORECASE))


_ANSWERS = {"SessionStart": _on_start, "UserPromptSubmit": _on_prompt, "PreToolUse": _on_tool, "PostToolUse": _on_tool}


def _command_and_path(tool_input: Any, cwd: str) -> tuple[str, str]:
    if isinstance(tool_input, str):
        tool_input = arguments(tool_input)
    if not isinstance(tool_input, dict):
        return "", ""
    texts = (text for name in ("input", "patch", "text") if isinstance(text := tool_input.get(name), str))
    patch = next((text for text in texts if text.lstrip().startswith("*** Begin Patch")), "")
    command = first(tool_input, "command", "cmd", "script") or patch
    command = " ".join(map(_quoted, command[:1_000])) if isinstance(command, list) else str(command)
    path = str(first(tool_input, "file_path", "filePath", "path", "notebook_path", "absolute_path") or "")
    return command[:LONGEST_COMMAND], _in_checkout(path[:LONGEST_PATH], cwd) if path else ""


def _quoted(word: Any) -> str:
    """Return one argument of a command as a shell would need it."""
    text = str(word)
    return (
        text
        if text and text.replace("-", "a").replace("/", "a").replace(".", "a").isalnum()
        else "'" + text.replace("'", "'\\''") + "'"
    )


def _in_checkout(path: str, cwd: str) -> str:
    """Return a path relative to the root of the checkout, if it is inside."""
    root, whole = checkout_root(cwd), os.path.realpath(os.path.join(cwd, path))
    return (os.path.relpath(whole, root) if whole.startswith(root) else whole).replace(os.sep, "/")


def _shows_secrets(command: str, path: str) -> str:
    """Return a warning if reading a file or running a command would put credentials into the context; "" if not."""
    from re import search

    if match := search(CREDENTIALS, path) or (search(PRINTING, command) and search(CREDENTIALS, command)):
        return f"Holdfast: {match[0].strip()} usually holds credentials. Read the names you need, not the values, or ask the user."
    if search(PRINTING_ALL, command):
        return "Holdfast: this command prints credentials or the whole environment. Print only the variable you need."
    return ""


def triggered_by(triggers: Iterable[Json], command: str, edited: list[str], cwd: str) -> list[Json]:
    """Return the triggers that a command or an edited file sets off."""
    lower = command.lower()
    near = [item for item in triggers if edited or _is_named(item, lower)]
    if not near:
        return []
    if not command:
        return [item for item in near if any(_matches(path, file) for path in item.get("paths", ()) for file in edited)]
    from holdfast.policy.activity.patterns import fires  # only for a command that may need a warning
    from holdfast.policy.activity.shell import parse
    from holdfast.policy.activity.written_files import patched, writes_of

    calls = parse(command)
    written = [(how, _in_checkout(path, cwd)) for how, path in (*writes_of(calls), *patched(command))]
    files = [("edit", file) for file in edited]
    return [
        item
        for item in near
        if any(fires(pattern, calls) for pattern in item.get("patterns", ()))
        or any(_touches(path, how, file) for path in item.get("paths", ()) for how, file in (*written, *files))
    ]


def _is_named(item: Json, lower: str) -> bool:
    """True if a command contains a name without which a trigger cannot match: so that few commands are parsed."""
    return any(
        not pattern["names"] or any(name in lower for name in pattern["names"]) for pattern in item.get("patterns", ())
    ) or any(
        path.rstrip("/").rpartition("/")[2].lower().partition("*")[0] in lower
        or path.partition("/")[0].lower() in lower
        for path in item.get("paths", ())
    )


def _touches(pattern: str, how: str, path: str) -> bool:
    """True if writing a path changes a file that a pattern names; removing a folder removes the files in it."""
    return _matches(pattern, path) or (how == "delete" and path != "." and pattern.startswith(path.rstrip("/") + "/"))


def _matches(pattern: str, path: str) -> bool:
    """True if a path matches a pattern; a pattern without a wildcard is a file or a folder."""
    if "*" not in pattern and "?" not in pattern:
        inside = pattern.rstrip("/") + "/"
        return path == pattern or path.startswith(inside) or path.endswith("/" + pattern) or f"/{inside}" in path
    from fnmatch import fnmatchcase

    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _handover(home: str, session: str) -> str:
    """Return where a session stood at its last compaction, and note that it got it; "" if that is not ready."""
    try:
        text = read_regular(handover_file(home, session)).decode()
    except OSError:
        return ""
    current.see(home, session, [f"handover {time.time_ns()}"])
    return text


def _context(parts: list[str], ids: list[str], why: str) -> Json:
    """Return an answer of whole parts; one that is too long loses lines before its last, which closes its fence."""
    text = ""
    for part in filter(None, parts):
        room = LONGEST_ANSWER - len(text) - 2 * bool(text)
        fitted = part if len(part) <= room else _cut(part, room)
        text = f"{text}\n\n{fitted}" if text and fitted else text or fitted
    return {"text": text, "ids": ids, "why": why} if text else {}


def _cut(part: str, room: int) -> str:
    *lines, last = part.split("\n")
    kept, left = list[str](), room - len(last) - len(CUT) - 2
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, CUT, last]) if kept else ""


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
