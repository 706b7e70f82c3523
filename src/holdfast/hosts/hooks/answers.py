"""Answer a client's event from prepared files: at most once for each session and place, in the client's own format.

Prepared answers are compared with what they were made from, without opening a database. What a change withdrew is left out
at once. Where something new may be missing, a small process prepares the answers again, and the hook waits for it a moment.
"""

from __future__ import annotations

import json
import os
import sys
import time

from holdfast.hosts.hooks import places
from holdfast.hosts.hooks.hook import LATE_CLIENTS, LONGEST_PATH, arguments, first, start
from holdfast.model.files import FILE, digest, open_regular, state_of
from holdfast.model.foreign_json import parse_json
from holdfast.model.patterns import lazy
from holdfast.policy.secrets.find import mask_secrets

MYPY = False
if MYPY:
    from collections.abc import Iterable  # noqa: TC003
    from typing import Any

    Json = dict[str, Any]
    Piece = tuple[str, list[str]]  # a text, and the ids of the records in it

LONGEST_ANSWER = 9_500  # characters: Claude Code cuts at 10,000
RECALLED = "recalled"  # mark of a session that looked for scars
LONGEST_COMMAND = 50_000  # characters of a command that are checked
LATE, CHANGED = "Not ready when this session began:", "Changed since this session began:"
FENCE = ("<holdfast-brief-update>", "</holdfast-brief-update>")
CUT = "(Cut: longer than a hook may answer.)"
READING = ("Read", "read_file", "view", "Grep", "Glob", "LS", "list_directory", "search_file_content")
# Files that hold credentials (not their examples), and commands that print files or the whole environment.
CREDENTIALS = lazy(
    r"(?:^|[\s/'\"=])(?:\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|"
    r"[\w.-]+\.(?:pem|p12|pfx|key|keystore|jks)|credentials(?:\.json|\.ya?ml)?|secrets?\.(?:json|ya?ml|toml)|service-account[\w-]*\.json|\.git-credentials)"
    r"(?=$|[\s'\";|&>)])"
)
PRINTING = lazy(
    r"(?:^|[\s;&|(])(?:cat|less|more|head|tail|bat|nl|xxd|strings|grep|rg|awk|sed|base64|source|\.|cp|scp|curl)\s"
)
# Commands after which there is no way back, and words that end a session: where `remind` reminds.
RISKY = lazy(
    r"(?i)(?:^|[;&|(]\s*|\bsudo\s+)(?:git\s+(?:push|reset\s+--hard|tag)|(?:npm|pnpm|yarn|cargo|poetry|uv)\s+publish|twine\s+upload|"
    r"docker\s+push|kubectl\s+(?:apply|delete|rollout)|helm\s+(?:install|upgrade|uninstall)|terraform\s+(?:apply|destroy)|"
    r"gh\s+(?:release\s+create|pr\s+merge)|rm\s+-\w*r|(?:alembic|flyway|prisma|rails|python\s+manage\.py)\s.{0,40}migrat|"
    r"(?:make|just|npm\s+run|\./)\s*\S{0,40}(?:deploy|release))|\b(?:drop|truncate)\s+(?:table|database)\b"
)
WRAPPING_UP = lazy(
    r"(?i)\b(?:wrap (?:it |this |things )?up|that'?s (?:all|it) for (?:today|now)|(?:done|finished) for (?:today|now)|close the session|end of (?:the )?day|good ?night|bye)\b"
)
PRINTING_ALL = lazy(
    r"(?:^|[;&|(]\s*)(?:printenv|env|set|export -p)\s*(?:$|[|;>])|\bgh auth token\b|\baws configure export-credentials\b|"
    r"\bgcloud auth print-(?:access|identity)-token\b|\bkubectl get secrets?\b.{0,300}-o|"
    r"\bsecurity find-generic-password\b.{0,300}-w|\bvault (?:read|kv get)\b"
)
# Seconds; a preparation takes a fraction of one, unless the machine is busy. A client that compacted has waited longer.
LONGEST_WAIT, AFTER_COMPACTION = 2.5, 3.8
MOST_TRIES = 2  # of a session to prepare the same change
MOST_CHANGES = 200_000  # bytes of a list of changes that are read
WARNING = ("scar", "anti_pattern", "trigger")  # what may warn before a command
ANYTHING = "*"
CURRENT = "current"  # mark of a session that has been compared with its brief
COMPACTION = "compaction"  # mark of a compaction, with its time
WITH_IDS = ("triggers", "hints", "left_off", "conflicts")
CHECK = " [check first: its code or the branch changed just now]"


def answer(home: str, event: Json, payload: Json) -> Json:
    """Return the answer to an event; empty if there is none."""
    if event["event"] == "PreCompact":  # what the session gets afterwards is about this compaction
        see(home, event["session"], [f"{COMPACTION} {time.time_ns()}"])
        if os.path.exists(before := places.handover_file(home, event["session"])):
            os.unlink(before)
    return respond(home, prepared_for(home, event), event, payload) if event["event"] in _ANSWERS else {}


def respond(home: str, prepared: Json, event: Json, payload: Json) -> Json:
    """Return the answer to an event from what was prepared; empty if there is none."""
    return _ANSWERS[event["event"]](home, prepared, event, payload)


def _on_start(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer the start of a session: after a compaction the handover, the brief, and where work was left off."""
    pieces: list[Piece] = [(_handover(home, event["session"]), [])] if event.get("source") == "compact" else []
    brief = prepared.get("brief") or {}
    if brief.get("text"):
        pieces.append((brief["text"], brief.get("ids", [])))
        _note_brief(home, event["session"], prepared)
    if left := _left_off(prepared, event):
        pieces.append((left["text"], left["ids"]))
        see(home, event["session"], [f"left off {left['session']}"])
    return _context(pieces, "brief")


def _on_prompt(home: str, prepared: Json, event: Json, _: Json) -> Json:
    """Answer a prompt: the first with what was not ready at session start; the others at most with a pointer."""
    session = event["session"]
    is_first, left = see(home, session, ["prompt"]), _left_off(prepared, event)
    pieces = [_brief_or_news(home, session, prepared)] if not prepared["late"] or is_first else []
    if awaits_handover(home, session):
        pieces.append((_handover(home, session), []))
    if is_first and left and see(home, session, [f"left off {left['session']}"]):
        pieces.append((left["text"], left["ids"]))
    own = [one for one in prepared.get("conflicts", ()) if one["session"] == session]
    pieces += [(one["text"], [one["id"], *one["ids"]]) for one in own if see(home, session, [f"{one['id']} conflict"])]
    if answer := _context(pieces, "brief"):
        return answer
    remind, text = prepared.get("remind"), event.get("text", "")
    if remind and WRAPPING_UP.search(text[:500]) and see(home, session, ["close"]):
        last = f"Holdfast: before this session ends, call {remind['close']} with what it leaves."
        return _context([(last, [])], "close")
    words = {word.strip("`'\".,;:!?()[]{}") for word in text.lower().split()}
    matching = [hint for hint in prepared.get("hints", ()) if len(words.intersection(hint["words"])) >= 2]
    fresh = [hint for hint in matching[:3] if see(home, session, [f"{hint['id']} hint"])]
    titles, read = "; ".join(hint["text"] for hint in fresh), prepared.get("read", "read")
    pointer = f"Holdfast: possibly relevant: {titles}. Use {read} for the full text." if fresh else ""
    return _context([(pointer, [hint["id"] for hint in fresh])], "prompt")


def _note_brief(home: str, session: str, prepared: Json) -> None:
    """Note which lines of a brief a session got, and from which places in the lists of changes on it is not current."""
    rows = [f"row {id_} {digest(line)[:12]}" for id_, line in _rows(prepared["brief"]).items()]
    made_from = json.dumps(prepared["made_from"]["changes"])
    see(home, session, ["brief", *rows, f"from {made_from}", *[LATE] * prepared["late"]])


def _rows(brief: Json) -> dict[str, str]:
    """Return the lines of a brief by the id of the record each is about."""
    return {id_: line for line in brief["text"].split("\n") if (id_ := id_in(line, brief["ids"]))}


def _brief_or_news(home: str, session: str, prepared: Json) -> Piece:
    """Return the brief for a session that got none; else, once, what it got outdated or not at all, with the new ids."""
    known, brief = seen(home, session), prepared.get("brief") or {}
    if not prepared["late"]:
        see(home, session, [CURRENT])
    if brief.get("text") and "brief" not in known:
        _note_brief(home, session, prepared)
        return brief["text"], brief["ids"]
    if CURRENT in known or "brief" not in known or "made_from" not in prepared:
        return "", []
    given = dict(line.split(" ")[1:3] for line in known if line.startswith("row "))
    rows = _rows(brief)
    new = {id_: line for id_, line in rows.items() if given.get(id_) != digest(line)[:12]}
    made_from = parse_json(next(line[5:] for line in known if line.startswith("from ")))
    changed = {id_ for path, place in made_from.items() for id_ in _listed(path, place)}
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
    branch = event.get("branch") or places.branch_of(places.checkout_root(event["cwd"]))
    work: Json = next((one for one in works if one["branch"] == branch), works[0])
    return {} if work["session"] == event["session"] else work


def _on_tool(home: str, prepared: Json, event: Json, payload: Json) -> Json:
    """Answer a tool about to run: what is known about its command or file."""
    session, cwd = event["session"], event["cwd"]
    command, path = _command_and_path(first(payload, "tool_input", "toolArgs", "tool_args") or {}, cwd)
    edited, words = [path] if path and event["tool"] not in READING else [], " ".join(command.split())
    triggered = triggered_by(prepared.get("triggers", ()), command, edited, cwd)
    notes = [*prepared.get("files", {}).get(path, ()), *_about(path, prepared.get("topics", {}))] if path else []
    if (remind := prepared.get("remind")) and words and RISKY.search(words) and RECALLED not in seen(home, session):
        text = f"Holdfast: this cannot be undone easily. Call {remind['search']} with your plan first: scars may apply."
        notes = [{"id": "", "text": text}, *notes]
    if prepared.get("guard") and (why := _shows_secrets(words, path)):
        notes = [{"id": "", "text": why, "block": prepared["guard"] == "block"}, *notes]
    if event.get("client") in LATE_CLIENTS and event["event"] == "PreToolUse":
        triggered, notes = [item for item in (*triggered, *notes) if item.get("block")], []
    place = mask_secrets(path) or mask_secrets(words[:1_000])[:80]
    # A warning is given once a session, or at each place if it stops the action.
    sites = [(item, place if item.get("block") else "warning") for item in triggered]
    sites += [(item, item.get("topic") or place) for item in notes]
    fresh = [item for item, where in sites if see(home, session, [f"{item['id']} {where}"])]
    answer = _context([(item["text"], [item["id"]] if item["id"] else []) for item in fresh[:3]], "action site")
    blocking = [item["text"] for item in fresh if item.get("block")]
    return {**answer, "block": "\n".join(blocking)} if blocking else answer


def _about(path: str, topics: Json) -> list[Json]:
    """Return the notes whose topic is a word of a path; the beginning of a word counts too (`auth` for authentication)."""
    parts = "".join(char if char.isalnum() else " " for char in path.lower()).split()
    named = {word for part in parts for word in topics if word == part or (len(part) > 3 and word.startswith(part))}
    return [note for word in sorted(named) for note in topics[word]]


_ANSWERS = {"SessionStart": _on_start, "UserPromptSubmit": _on_prompt, "PreToolUse": _on_tool, "PostToolUse": _on_tool}


def _command_and_path(tool_input: Any, cwd: str) -> tuple[str, str]:
    if isinstance(tool_input, str):
        tool_input = arguments(tool_input)
    if not isinstance(tool_input, dict):
        return "", ""
    texts = (text for name in ("input", "patch", "text") if isinstance(text := tool_input.get(name), str))
    patch = next((text for text in texts if text.lstrip().startswith("*** Begin Patch")), "")
    command = first(tool_input, "command", "cmd", "script") or patch
    if isinstance(command, list):
        from shlex import quote  # few clients send lists

        command = " ".join(quote(str(word)) for word in command[:1_000])
    path = str(first(tool_input, "file_path", "filePath", "path", "notebook_path", "absolute_path") or "")
    return str(command)[:LONGEST_COMMAND], _in_checkout(path[:LONGEST_PATH], cwd) if path else ""


def _in_checkout(path: str, cwd: str) -> str:
    """Return a path relative to the root of the checkout, if it is inside."""
    root, whole = places.checkout_root(cwd), os.path.realpath(os.path.join(cwd, path))
    return (os.path.relpath(whole, root) if whole.startswith(root) else whole).replace(os.sep, "/")


def _shows_secrets(command: str, path: str) -> str:
    """Return a warning if reading a file or running a command would put credentials into the context; "" if not."""
    if match := CREDENTIALS.search(path) or (PRINTING.search(command) and CREDENTIALS.search(command)):
        return f"Holdfast: {match[0].strip()} usually holds credentials. Read the names you need, not the values, or ask the user."
    if PRINTING_ALL.search(command):
        return "Holdfast: this command prints credentials or the whole environment. Print only the variable you need."
    return ""


def triggered_by(triggers: Iterable[Json], command: str, edited: list[str], cwd: str) -> list[Json]:
    """Return the triggers that a command or an edited file sets off."""
    lower = command.lower()
    near = [item for item in triggers if edited or _is_named(item, lower)]
    if not near or not command:
        return [item for item in near if any(_matches(path, file) for path in item.get("paths", ()) for file in edited)]
    from holdfast.policy.activity.patterns import fires, patched, writes_of  # only for a command that may need one
    from holdfast.policy.activity.shell import parse

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
    patterns, paths = item.get("patterns", ()), [path.lower() for path in item.get("paths", ())]
    parts = ((path.rstrip("/").rpartition("/")[2].partition("*")[0], path.partition("/")[0]) for path in paths)
    return any(not each["names"] or any(name in lower for name in each["names"]) for each in patterns) or any(
        last in lower or top in lower for last, top in parts
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
    if os.path.exists(file := places.handover_file(home, session)):
        see(home, session, [f"handover {time.time_ns()}"])
    return places.text_in(file)


def _context(pieces: list[Piece], why: str) -> Json:
    """Return an answer of whole pieces; one that is too long loses lines before its last, which closes its fence."""
    text = ""
    for part in filter(None, (part for part, _ in pieces)):
        room = LONGEST_ANSWER - len(text) - 2 * bool(text)
        if len(part) > room:
            before, _, last = part.rpartition("\n")
            kept = f"{before}\n"[: max(0, room - len(last) - len(CUT) - 2)].rpartition("\n")[0]
            part = f"{kept}\n{CUT}\n{last}" if kept else ""  # noqa: PLW2901
        text = f"{text}\n\n{part}" if text and part else text or part
    return {"text": text, "ids": [id_ for _, ids in pieces for id_ in ids], "why": why} if text else {}


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


def prepared_for(home: str, event: Json) -> Json:
    """Return what was prepared for the checkout of an event, without what is outdated; prepared again if needed.

    `late` says whether something may still be missing. Before a tool runs, only a new warning is worth waiting for.
    """
    name, session, settings = event["event"], event["session"], event.get("settings", {})
    prepared = _read(home, event)
    changed = _changes(prepared, settings)
    is_start = name == "SessionStart"
    is_known = prepared or any(os.path.exists(os.path.join(home, file)) for file in (FILE, "setup.json"))
    lost = not name.endswith("ToolUse") and awaits_handover(home, session)
    if is_start or name == "UserPromptSubmit":
        is_old = changed["any"] or prepared.get("made_from", {}).get("shared")  # other machines write to it too
        is_unchecked = is_start or CURRENT not in seen(home, session)
        is_needed = lost or (is_old and is_unchecked) or (is_start and _is_pending(home))
    else:
        is_needed = changed["warns"]
    # A session waits so often for the same change: a store may be out of order.
    state = digest(" ".join(sorted((*changed["records"], *changed["doubted"]))))[:12]
    tries = (f"waited {state} {number}" for number in range(MOST_TRIES))
    if is_known and is_needed and (is_start or any(see(home, session, [one]) for one in tries)):
        command = [sys.executable, "-P", "-m", "holdfast.hosts.preparing", home, event["cwd"], *[session] * lost]
        variables = {f"HOLDFAST_{name.upper()}": value for name, value in settings.items()}
        try:
            wait = AFTER_COMPACTION if lost and is_start else LONGEST_WAIT
            start(command, event["cwd"], variables, wait=wait)
        except OSError:  # no process could be started: what is left is still right
            pass
        prepared = _read(home, event)
        changed = _changes(prepared, settings)
    return {**_without(prepared, changed), "late": changed["any"]}


def awaits_handover(home: str, session: str) -> bool:
    """True if the context of a session was compacted, and it did not get yet where it stood."""
    marks = [line.split(" ")[0] for line in seen(home, session)]
    return marks.count(COMPACTION) > marks.count("handover")


def see(home: str, session: str, marks: Iterable[str]) -> bool:
    """Note marks of what a session has seen; True if any is new to it."""
    known, file = seen(home, session), os.path.join(home, "seen", places.plain_name(session))
    new = [line for mark in marks if (line := mark.replace("\n", " ")) not in known]
    if new:
        os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, "".join(f"{line}\n" for line in new).encode())
        os.close(handle)
    return bool(new)


def seen(home: str, session: str) -> list[str]:
    """Return what a session has seen, in order."""
    return places.text_in(os.path.join(home, "seen", places.plain_name(session))).splitlines()


def _read(home: str, event: Json) -> Json:
    """Return what was prepared for the checkout around a folder, if it names this folder and repository."""
    root = places.checkout_root(event["cwd"])
    prepared = places.read_prepared(home, root, event.get("settings", {}).get("project", ""))
    return prepared if prepared.get("remotes") == places.remotes_of(root) else {}


def _changes(prepared: Json, settings: Json) -> Json:
    """Return what changed since answers were prepared: the records, those whose code changed, and whether any may warn."""
    made_from = prepared.get("made_from") or {"changes": {ANYTHING: 0}}
    listed = {id_: kind for path, place in made_from["changes"].items() for id_, kind in _listed(path, place).items()}
    moved = [path for path, state in made_from.get("files", {}).items() if state_of(path) != state]
    return {
        "records": listed,
        "doubted": {id_ for path in moved for id_ in made_from["cited"].get(path, (ANYTHING,))},
        "warns": any(kind in WARNING for kind in listed.values()),
        "any": bool(listed or moved or prepared.get("settings") != settings),
    }


def _listed(path: str, place: int) -> dict[str, str]:
    """Return the records that a list names from a place on, with their kinds; `*` if they are not known."""
    try:
        with open_regular(path) as file:
            is_known = file.seek(0, os.SEEK_END) >= place
            file.seek(place)
            text = file.read(MOST_CHANGES).decode("ascii", "replace")
    except OSError:
        is_known, text = False, ""
    named = dict(line.partition(" ")[::2] for line in text.splitlines())
    return named if is_known and ANYTHING not in named and len(text) < MOST_CHANGES else {ANYTHING: "trigger"}


def _is_pending(home: str) -> bool:
    """True if sessions did something from which the worker has not derived where they left off."""
    folder = os.path.join(home, "spool")
    spooled = [name for name in os.listdir(folder) if name.endswith(".json")] if os.path.isdir(folder) else []
    return len(spooled) > 1 or os.path.exists(os.path.join(home, "deriving"))  # the one is this event


def _without(prepared: Json, changed: Json) -> Json:
    """Return answers without the records that changed, and with a mark at those whose code did."""
    gone, doubted = changed["records"], changed["doubted"]
    if ANYTHING in gone:
        return {name: prepared[name] for name in ("read", "remind", "guard") if name in prepared}
    if not gone and not doubted:
        return prepared
    kept = {**prepared}
    for name in WITH_IDS:
        items = prepared.get(name, ())
        kept[name] = [item for item in items if not gone.keys() & {item.get("id"), *item.get("ids", ())}]
    for name in ("files", "topics"):
        notes = prepared.get(name, {})
        kept[name] = {key: [note for note in notes[key] if note["id"] not in gone] for key in notes}
    brief, lines = prepared.get("brief") or {}, list[str]()
    ids = brief.get("ids", ())
    for line in brief.get("text", "").split("\n"):
        if (id_ := id_in(line, ids)) not in gone:
            lines.append(line + CHECK * bool(id_ and {id_, ANYTHING} & doubted and "[check first" not in line))
    kept["brief"] = {**brief, "text": "\n".join(lines), "ids": [id_ for id_ in ids if id_ not in gone]}
    return kept


def id_in(line: str, ids: Iterable[str]) -> str:
    """Return the id of the record that a line of a brief is about; "" if it is about none."""
    mark, _, rest = line.partition(" ")
    name = rest.partition(" ")[0] if mark == "-" else ""
    return next((id_ for id_ in ids if name and id_.endswith(name)), "")
