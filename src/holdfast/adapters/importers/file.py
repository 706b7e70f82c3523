"""Import any markdown, plain text, JSON or JSON lines file."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from holdfast.adapters.importers.claude_code import sections_of
from holdfast.adapters.importers.files import Entry, entries, json_lines, read_text, sound
from holdfast.adapters.importers.maps import Row, digest, first, lists, mapping, rest, rows, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, ActorKind
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.record import CONFIDENCES, VISIBILITIES, Draft
from holdfast.model.replica import Foreign, ForeignLink, Item, Remark

_BODY, _TITLE, _TIME, _OTHER_TIMES, _KIND, _LABELS = lists("file columns")
_AUTHOR = frozenset({"kind", "name", "session"})
_USED = {"retired": {"state", "reason"}, "pending": {"state"}, "active": {"state"}}  # what a state takes from an object
UNIQUE = 16  # characters that make an id unique across files


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a file: sections of markdown, paragraphs of text, objects of JSON."""
    if not path.is_file():
        raise Invalid(f"{path} is not a file.", hint="To import a folder, name the system: --from claude-code.")
    file, seen, kind = path.resolve(), Counter[str](), path.suffix.lower()
    if kind in (".md", ".markdown"):
        yield from sections_of((file, str(file), None), read_text(path), "notes")
    elif kind in (".json", ".jsonl", ".ndjson"):
        listed = _listed(path) if kind == ".json" else json_lines(path.name, read_text(path).splitlines())
        for entry in listed:
            if isinstance(entry, Remark):
                yield entry
                continue
            where, row = entry
            name = _key(row["id"], file) if text(row.get("id")) else digest(_generic(row))
            seen[name] += 1
            yield _object(row, where, name if seen[name] == 1 else f"{name} #{seen[name]}", file)
    else:
        at, by = when(file.stat().st_mtime), Actor(kind="user")
        for place, part in enumerate(re.split(r"\n\s*\n", read_text(file)), start=1):
            body, where = part.strip(), f"{file.name}, paragraph {place}"
            seen[body] += 1
            if body and seen[body] == 1:  # a repeated paragraph counts once
                draft = Draft(body=body, fields={"category": "notes"}, at=at, extra={"file": str(file)})
                yield Foreign(key=f"{file} {digest(body)}", where=where, draft=draft, by=by, dated=False)


def _listed(path: Path) -> Iterator[Entry | Remark]:
    """Yield the objects of a file; texts in a list become objects, a single object is a list."""
    try:
        value = parse_json(read_text(path))
    except ValueError:
        yield from entries(path)
        return
    items = value if isinstance(value, list) else [value]
    inner = [part for part in value.values() if isinstance(part, list)] if isinstance(value, dict) else []
    if len(inner) == 1 and not first(value, *_BODY):
        items = inner[0]
    for place, item in enumerate(items, start=1):
        yield sound(f"{path.name} #{place}", {"text": item} if isinstance(item, str) else item)


def _key(id_: Any, file: Path) -> str:
    """Return the key of an id; a short one is unique only within its file."""
    name = text(id_)
    return name if len(name) >= UNIQUE else f"{file} {name}"


def _object(row: Row, where: str, key: str, file: Path) -> Foreign:
    timed = next((name for name in _TIME if when(row.get(name))), "")
    named = next((name for name in _BODY if isinstance(row.get(name), str) and row[name].strip()), "")
    titled = next((name for name in _TITLE if text(row.get(name)).strip()), "")
    kinds = next((name for name in _KIND if text(row.get(name)) in KINDS), "")
    fits = {
        "fields": isinstance(row.get("fields"), dict),
        "project": isinstance(row.get("project"), str),
        "confidence": row.get("confidence") in CONFIDENCES,
        "visibility": row.get("visibility") in VISIBILITIES,
    }
    parts: dict[str, Any] = {name: row[name] for name, fit in fits.items() if fit}
    parts |= {name: labels for name in _LABELS if (labels := texts(row.get(name)))}
    state, links, by = text(row.get("state")), row.get("links"), row.get("by")
    author: Row = by if isinstance(by, dict) else {"name": by}
    who: ActorKind = author["kind"] if author.get("kind") in get_args(ActorKind) else "user"
    is_links = isinstance(links, list) and all(isinstance(link, dict) and "target" in link for link in links)
    arrows = rows(links) if is_links else []
    used = {timed, named, titled, kinds, "id", *parts, *(name for name in _OTHER_TIMES if when(row.get(name)))}
    used |= _USED.get(state, set()) | ({"links"} if is_links else set())
    used |= {"by"} if isinstance(by, str) or (isinstance(by, dict) and set(by) <= _AUTHOR) else set()
    used |= {"extra"} if isinstance(row.get("extra"), dict) else set()
    return Foreign(
        key=key,
        where=where,
        draft=Draft(
            body=row[named] if named else _generic(row),
            kind=row[kinds] if kinds else "fact",
            title=text(row.get(titled)),
            at=when(row.get(timed)) or when(file.stat().st_mtime),
            extra=rest(row, used) | dict(mapping(row.get("extra"))),
            **parts,
        ),
        by=Actor(kind=who, name=text(author.get("name")), session=text(author.get("session"))),
        state="retired" if state == "retired" else "pending" if state == "pending" else "active",
        reason=text(row.get("reason")) if state == "retired" else "",
        updated_at=when(row.get("updated_at")),
        verified_at=when(row.get("verified_at")),
        links=tuple(ForeignLink(text(link.get("relation")), _key(link["target"], file)) for link in arrows),
        dated=bool(timed),
    )


def _generic(row: Row) -> str:
    return "\n".join(f"{name}: {text(value)}" for name, value in rest(row, ()).items())
