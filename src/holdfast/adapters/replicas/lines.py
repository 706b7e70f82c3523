"""An event as one line of a note: its id, what a person wants to know, a tab, and the event as JSON.

Lines sort by id, and none depends on another: concatenating, sorting and dropping repeats, as git's `cat_sort_uniq`
does, is a correct union.
"""

import json
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Event, event_from_json, event_to_json
from holdfast.model.foreign_json import parse_json
from holdfast.model.text import shorten

LONGEST_LINE = 4_000_000
_TITLE = 100
# Where some programs would break a line, and git would not.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def line_of(event: Event) -> str:
    """Write an event. What only means something on this machine stays here: the project's name, the worktree's."""
    value = event_to_json(event)
    del value["id"]
    value["data"] = _carried(value["data"])
    said = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{event.id} {_summary(event)}\t{said.translate(_BREAKS)}"


def event_of(line: str) -> Event:
    """Read a line."""
    if len(line) > LONGEST_LINE:
        raise Invalid(f"It is longer than {LONGEST_LINE:,} characters.")
    front, tab, said = line.partition("\t")
    try:
        value = parse_json(said) if tab else None
    except ValueError as problem:
        raise Invalid("It is cut short or not ours.") from problem
    if not isinstance(value, dict):
        raise Invalid("It is cut short or not ours.")
    return event_from_json({**value, "id": front.split(" ", 1)[0]})


def _carried(data: dict[str, Any]) -> dict[str, Any]:
    kept = {name: item for name, item in data.items() if name != "project"}
    if isinstance(origin := kept.get("origin"), dict):
        kept["origin"] = {name: item for name, item in origin.items() if name != "worktree"}
    return kept


def _summary(event: Event) -> str:
    title, kind = event.data.get("title") or event.data.get("reason"), event.data.get("kind")
    said = f"“{shorten(title, _TITLE)}”" if isinstance(title, str) and title.strip() else f"of {event.about[:10]}"
    parts = ", ".join(event.data) if event.verb == "revised" else kind if isinstance(kind, str) else ""
    words = " ".join(word for word in (event.at[:10], event.by.name or event.by.kind, event.verb, parts, said) if word)
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())
