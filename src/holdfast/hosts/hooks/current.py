"""Keep what hooks answer current: compare prepared answers with what they were made from, without opening a database.

What a change withdrew is left out at once. Where something new may be missing, a small process prepares the answers again,
and the hook waits for it a moment.
"""

from __future__ import annotations

import json
import os
import sys

from holdfast.hosts.hooks.places import checkout_root, plain_name, prepared_file, remotes_of
from holdfast.model.files import FILE, digest, open_regular, read_regular, state_of

MYPY = False
if MYPY:
    from collections.abc import Iterable  # noqa: TC003
    from typing import Any

    Json = dict[str, Any]

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


def prepared_for(home: str, event: Json) -> Json:
    """Return what was prepared for the checkout of an event, without what is outdated; prepared again if needed.

    `late` says whether something may still be missing. Before a tool runs, only a new warning is worth waiting for.
    """
    settings = event.get("settings", {})
    prepared = _read(home, event)
    changed = _changes(prepared, settings)
    is_start = event["event"] == "SessionStart"
    is_known = prepared or any(os.path.exists(os.path.join(home, name)) for name in (FILE, "setup.json"))
    lost = not event["event"].endswith("ToolUse") and awaits_handover(home, event["session"])
    if is_start or event["event"] == "UserPromptSubmit":
        is_old = changed["any"] or prepared.get("made_from", {}).get("shared")  # other machines write to it too
        is_unchecked = is_start or CURRENT not in seen(home, event["session"])
        is_needed = lost or (is_old and is_unchecked) or (is_start and _is_pending(home))
    else:
        is_needed = changed["warns"]
    if is_known and is_needed and (is_start or _may_try(home, event["session"], changed)):
        from holdfast.hosts.hooks import hook

        command = [sys.executable, "-P", "-m", "holdfast.hosts.preparing", home, event["cwd"]]
        variables = {f"HOLDFAST_{name.upper()}": value for name, value in settings.items()}
        try:
            wait = AFTER_COMPACTION if lost and is_start else LONGEST_WAIT
            hook.start([*command, *[event["session"]] * lost], event["cwd"], variables, wait=wait)
        except OSError:  # no process could be started: what is left is still right
            pass
        prepared = _read(home, event)
        changed = _changes(prepared, settings)
    return {**_without(prepared, changed), "late": changed["any"]}


def awaits_handover(home: str, session: str) -> bool:
    """True if the context of a session was compacted, and it did not get yet where it stood."""
    marks = [line.split(" ")[0] for line in seen(home, session)]
    return marks.count(COMPACTION) > marks.count("handover")


def changed_since(places: Json) -> set[str]:
    """Return the ids of the records that changed since places in the lists of changes."""
    return {id_ for path, place in places.items() for id_ in _listed(path, place)}


def see(home: str, session: str, places: Iterable[str]) -> bool:
    """Mark places as seen by a session; True if any was new to it."""
    known = seen(home, session)
    new = [line for place in places if (line := place.replace("\n", " ")) not in known]
    if new:
        os.makedirs(os.path.join(home, "seen"), 0o700, exist_ok=True)
        handle = os.open(_seen_file(home, session), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, "".join(f"{line}\n" for line in new).encode())
        os.close(handle)
    return bool(new)


def seen(home: str, session: str) -> list[str]:
    """Return what a session has seen, in order."""
    try:
        return read_regular(_seen_file(home, session)).decode().splitlines()
    except OSError:
        return []


def _seen_file(home: str, session: str) -> str:
    return os.path.join(home, "seen", plain_name(session))


def _read(home: str, event: Json) -> Json:
    """Return what was prepared for the checkout around a folder, if it names this folder and repository."""
    root = checkout_root(event["cwd"])
    project = event.get("settings", {}).get("project", "")
    try:
        prepared = json.loads(read_regular(prepared_file(home, root, project)))
    except (OSError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(prepared, dict) and (prepared.get("path"), prepared.get("remotes")) == (root, remotes_of(root))
    return prepared if is_ours else {}


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


def _may_try(home: str, session: str, changed: Json) -> bool:
    """True unless a session has waited often enough for the same change: a store may be out of order."""
    state = digest(" ".join(sorted((*changed["records"], *changed["doubted"]))))[:12]
    return any(see(home, session, [f"waited {state} {number}"]) for number in range(MOST_TRIES))


def _without(prepared: Json, changed: Json) -> Json:
    """Return answers without the records that changed, and with a mark at those whose code did."""
    gone, doubted = changed["records"], changed["doubted"]
    if ANYTHING in gone:
        return {name: prepared[name] for name in ("read", "remind", "guard") if name in prepared}
    if not gone and not doubted:
        return prepared
    kept = {**prepared}
    for name in WITH_IDS:
        kept[name] = [
            item for item in prepared.get(name, ()) if not gone.keys() & {item.get("id"), *item.get("ids", ())}
        ]
    for name in ("files", "topics"):
        notes = prepared.get(name, {})
        kept[name] = {key: [note for note in notes[key] if note["id"] not in gone] for key in notes}
    brief = prepared.get("brief") or {}
    lines = [(line, id_in(line, brief.get("ids", ()))) for line in brief.get("text", "").split("\n")]
    text = "\n".join(
        line + CHECK * bool(id_ and {id_, ANYTHING} & doubted and "[check first" not in line)
        for line, id_ in lines
        if not id_ or id_ not in gone
    )
    kept["brief"] = {**brief, "text": text, "ids": [id_ for id_ in brief.get("ids", ()) if id_ not in gone]}
    return kept


def id_in(line: str, ids: Iterable[str]) -> str:
    """Return the id of the record that a line of a brief is about; "" if it is about none."""
    mark, _, rest = line.partition(" ")
    name = rest.partition(" ")[0] if mark == "-" else ""
    return next((id_ for id_ in ids if name and id_.endswith(name)), "")
