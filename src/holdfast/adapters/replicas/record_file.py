"""A record as a markdown file: YAML front matter in a fixed order, then the text."""

import re
from dataclasses import fields
from typing import Any

import yaml

from holdfast.adapters.importers.front_matter import LONGEST, read_yaml
from holdfast.model.errors import Invalid
from holdfast.model.event import Json
from holdfast.model.ids import check_id, parse_instant
from holdfast.model.record import Record
from holdfast.model.replica import BOOKKEEPING, FRONT, normalized

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NAMES = frozenset(spec.name for spec in fields(Record)) - BOOKKEEPING - {"body"}
_TEXTS = frozenset({"kind", "title", "project", "visibility", "confidence", "source"})
_LISTS = frozenset({"scopes", "tags", "anchors", "triggers", "links"})
_MAPPINGS = frozenset({"fields", "extra", "origin", "by"})
_INSTANTS = frozenset({"created_at", "verified_at"})


def file_text(parts: Json) -> str:
    """Return the content of a record's file; fields that no record has follow ours."""
    extra = dict(parts.get("extra", {}))
    front = extra.pop(FRONT, {})
    values = {name: item for name, item in parts.items() if name not in ("body", "extra")}
    values |= ({"extra": extra} if extra else {}) | {name: item for name, item in front.items() if name not in _NAMES}
    head = yaml.dump(values, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100)
    if len(head) > LONGEST:
        raise Invalid(f"Its front matter would have {len(head):,} characters; {LONGEST:,} is the most.")
    return f"---\n{head}---\n\n{parts.get('body', '')}\n"


def file_parts(content: str) -> Json:
    """Parse the content of a file; raise Invalid if it is malformed."""
    lines = normalized(content.removeprefix("\ufeff")).split("\n")
    if lines[0].rstrip() != "---":
        return {"body": normalized(content.removeprefix("\ufeff"))}
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), None)
    if end is None:
        raise Invalid("Its front matter has no end.")
    front = read_yaml("\n".join(lines[1:end]))
    parts = {name: _part(name, item) for name, item in front.items() if name in _NAMES and item is not None}
    rest = {name: item for name, item in front.items() if name not in _NAMES}
    if rest:
        parts["extra"] = {**parts.get("extra", {}), FRONT: rest}
    parts["body"] = normalized("\n".join(lines[end + 1 :]))
    return {name: item for name, item in parts.items() if item not in ("", [], {})}


def file_name(record: Record) -> str:
    """Return a readable name that sorts by date; it stays when the title changes."""
    words = re.findall(r"\w+", record.title.lower())[:8]
    stem = "-".join((record.created_at[:10], *words)).encode()[:80].decode(errors="ignore").rstrip("-_")
    return f"{stem}-{record.id[-6:].lower()}.md"


def _part(name: str, item: Any) -> Any:
    """Return a part in its type; unknown parts are returned unchanged."""
    if name == "id":
        return check_id(str(item).strip().upper())
    if name in _INSTANTS:
        return parse_instant(str(item))
    if name in _TEXTS:
        if isinstance(item, dict | list):
            raise Invalid(f"{name} must be a text.")
        return str(item).strip()
    if name in _LISTS:
        listed = item if isinstance(item, list) else [item]
        return listed if name == "links" else [str(entry) for entry in listed]
    if name in _MAPPINGS and not isinstance(item, dict):
        raise Invalid(f"{name} must be a mapping.")
    return item
