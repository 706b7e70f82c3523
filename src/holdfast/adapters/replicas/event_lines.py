"""An event as a line of a note: its id, a readable summary, a tab, and the event as JSON.

Lines sort by id, and none depends on another: concatenating, sorting and dropping repeats, as git's `cat_sort_uniq`
does, is a correct union.
"""

import json
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Event, event_from_json, event_to_json
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import short
from holdfast.model.text import shorten

LONGEST_LINE = 4_000_000
_TITLE = 100
# Line breaks for some programs, but not for git.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def line_of(event: Event) -> str:
    """Write an event as a line, without the local names of the project and worktree."""
    value = event_to_json(event)
    del value["id"]
    value["data"] = _without_local_names(value["data"])
    encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{event.id} {_summary(event)}\t{encoded.translate(_BREAKS)}"


def event_of(line: str) -> Event:
    """Parse a line."""
    if len(line) > LONGEST_LINE:
        raise Invalid(f"It is longer than {LONGEST_LINE:,} characters.")
    front, tab, encoded = line.partition("\t")
    try:
        value = parse_json(encoded) if tab else None
    except ValueError as problem:
        raise Invalid("It is cut short or not ours.") from problem
    if not isinstance(value, dict):
        raise Invalid("It is cut short or not ours.")
    return event_from_json({**value, "id": front.split(" ", 1)[0]})


def _without_local_names(data: dict[str, Any]) -> dict[str, Any]:
    shared = {name: item for name, item in data.items() if name != "project"}
    if isinstance(origin := shared.get("origin"), dict):
        shared["origin"] = {name: item for name, item in origin.items() if name != "worktree"}
    return shared


def _summary(event: Event) -> str:
    title, kind = event.data.get("title") or event.data.get("reason"), event.data.get("kind")
    subject = f"“{shorten(title, _TITLE)}”" if isinstance(title, str) and title.strip() else f"of {short(event.about)}"
    changed = [name for name in event.data if name != "on"]  # `on` is what its author had seen
    parts = ", ".join(changed) if event.verb == "revised" else kind if isinstance(kind, str) else ""
    words = " ".join(
        word for word in (event.at[:10], event.by.name or event.by.kind, event.verb, parts, subject) if word
    )
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())
