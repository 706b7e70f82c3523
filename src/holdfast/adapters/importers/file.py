"""Import any markdown, plain text, JSON or JSON lines file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from holdfast.adapters.importers.claude_code import Source, sections_of
from holdfast.adapters.importers.files import Entry, entries, json_lines, read_text, sound
from holdfast.adapters.importers.maps import Row, digest, first, rest, rows, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, ActorKind
from holdfast.model.foreign import Foreign, ForeignLink, Item, Remark
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.record import CONFIDENCES, VISIBILITIES, Draft

_BODY = ("body", "content", "text", "memory", "description", "message", "note", "fact", "summary")
_TITLE = ("title", "name", "headline", "subject")
_TIME = ("created_at", "created", "timestamp", "at", "date", "time")
_OTHER_TIMES = ("updated_at", "verified_at")
_KIND = ("kind", "type", "category")
_LABELS = ("tags", "scopes", "anchors", "triggers")
_AUTHOR = frozenset({"kind", "name", "session"})
UNIQUE = 16  # characters that make an id unique across files


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a file: sections of markdown, paragraphs of text, objects of JSON."""
    if not path.is_file():
        raise Invalid(f"{path} is not a file.", hint="To import a folder, name the system: --from claude-code.")
    source = Source(file=path.resolve(), name=str(path.resolve()), project=None)
    match path.suffix.lower():
        case ".json":
            yield from _objects(_listed(path), source)
        case ".jsonl" | ".ndjson":
            yield from _objects(json_lines(path.name, read_text(path).splitlines()), source)
        case ".md" | ".markdown":
            yield from sections_of(source, read_text(path), "notes")
        case _:
            yield from _paragraphs(source)


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
        where = f"{path.name} #{place}"
        yield sound(where, {"text": item} if isinstance(item, str) else item)


def _objects(rows: Iterator[Entry | Remark], source: Source) -> Iterator[Item]:
    seen: dict[str, int] = {}
    for entry in rows:
        if isinstance(entry, Remark):
            yield entry
            continue
        where, row = entry
        name = _key(row["id"], source) if text(row.get("id")) else digest(_generic(row))
        seen[name] = seen.get(name, 0) + 1
        yield _object(row, where, name if seen[name] == 1 else f"{name} #{seen[name]}", source)


def _key(id_: Any, source: Source) -> str:
    """Return the key of an id; a short one is unique only within its file."""
    name = text(id_)
    return name if len(name) >= UNIQUE else f"{source.name} {name}"


def _object(row: Row, where: str, key: str, source: Source) -> Foreign:
    """Return an object as a memory: known names are read, everything else goes to `extra`."""
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
    state, links, by, more = text(row.get("state")), row.get("links"), row.get("by"), row.get("extra")
    author: Row = by if isinstance(by, dict) else {"name": by}
    is_links = isinstance(links, list) and all(isinstance(link, dict) and "target" in link for link in links)
    used = {timed, named, titled, kinds, "id", *parts, *(name for name in _OTHER_TIMES if when(row.get(name)))}
    used |= {"links"} if is_links else set()
    used |= {"by"} if isinstance(by, str) or (isinstance(by, dict) and set(by) <= _AUTHOR) else set()
    used |= {"retired": {"state", "reason"}, "pending": {"state"}, "active": {"state"}}.get(state, set())
    return Foreign(
        key=key,
        where=where,
        draft=Draft(
            body=row[named] if named else _generic(row),
            kind=row[kinds] if kinds else "fact",
            title=text(row.get(titled)),
            at=when(row.get(timed)) or when(source.file.stat().st_mtime),
            extra=rest(row, {*used, "extra"}) | more if isinstance(more, dict) else rest(row, used),
            **parts,
        ),
        by=Actor(
            kind=author["kind"] if author.get("kind") in get_args(ActorKind) else "user",
            name=text(author.get("name")),
            session=text(author.get("session")),
        ),
        state="retired" if state == "retired" else "pending" if state == "pending" else "active",
        reason=text(row.get("reason")) if state == "retired" else "",
        updated_at=when(row.get("updated_at")),
        verified_at=when(row.get("verified_at")),
        links=tuple(
            ForeignLink(relation=text(link.get("relation")), key=_key(link["target"], source))
            for link in (rows(links) if is_links else ())
        ),
        dated=bool(timed),
    )


def _generic(row: Row) -> str:
    """Return an object of unknown shape as lines of text."""
    return "\n".join(f"{name}: {text(value)}" for name, value in rest(row, ()).items())


def _paragraphs(source: Source) -> Iterator[Item]:
    at = when(source.file.stat().st_mtime)
    seen: dict[str, int] = {}
    for place, paragraph in enumerate(re.split(r"\n\s*\n", read_text(source.file).replace("\r\n", "\n")), start=1):
        if not paragraph.strip():
            continue
        name = digest(paragraph.strip())
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            continue  # a repeated paragraph
        yield Foreign(
            key=f"{source.name} {name}",
            where=f"{source.file.name}, paragraph {place}",
            draft=Draft(body=paragraph.strip(), fields={"category": "notes"}, at=at, extra={"file": source.name}),
            by=Actor(kind="user"),
            dated=False,
        )
