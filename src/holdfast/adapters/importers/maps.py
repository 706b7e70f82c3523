"""Turn rows of other systems into memories by a map of their columns, and memories back into rows by the same map."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import instant, parse_instant
from holdfast.model.kinds import CODED, KINDS
from holdfast.model.patterns import tables
from holdfast.model.record import CONFIDENCES, Draft, Record
from holdfast.model.replica import Foreign

Row = Mapping[str, Any]
EMPTY: tuple[Any, ...] = (None, "", [], {})
_DRAFT = frozenset(spec.name for spec in fields(Draft)) - {"links"}
OURS = "holdfast"  # the column of our exports for what a format has no column for
_LABELS = ("scopes", "tags", "anchors", "triggers")
_VALID = {"kind": KINDS, "confidence": CONFIDENCES}
# What an import adds to the columns that a map does not name.
ADDED = frozenset({"imported", "counts", "fields", "labels", "also"})
# Beyond this it is an attack: JSON of brackets only, YAML that refers to itself.
MOST_PARTS, DEEPEST = 100_000, 60
_SECTIONS = tables(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """The columns of a foreign table that a memory consists of. All others are kept in the memory's `extra`."""

    key: str = ""  # what the key of a memory begins with; its id follows
    id: str = "id"
    body: tuple[str, ...] = ()  # the first that is not empty
    at: tuple[str, ...] = ()  # the first that is a time
    kind: str = "fact"
    title: str = ""
    fields: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by our name: theirs, and how it is read
    author: str = ""  # the agent that writes all of them, or
    agent: str = ""  # the column of its name
    session: str = ""
    updated_at: str = ""
    retired_at: str = ""
    counts: tuple[str, ...] = ()  # they change without the memory changing
    dropped: tuple[str, ...] = ()  # ids, vectors, and what is read in another way

    def memory(self, row: Row, where: str, *, used: Collection[str] = (), **known: Any) -> Foreign:
        """Return the memory of a row. `known` are parts that take more than one column, made of the columns `used`."""
        own = (self.id, self.title, *self.body[:1], self.agent, self.session)
        cells = {name: text(row.get(name)) if name else "" for name in own}
        ours = mapping(row.get(OURS))
        named = {*own, *(theirs for theirs, _ in self.fields.values()), *self.counts, *self.dropped, *used}
        named |= {OURS} if ours else set()
        at = known.pop("at") if "at" in known else first_time(row, *self.at)
        read = {name: _READ[how](row.get(theirs)) for name, (theirs, how) in self.fields.items()}
        parts = {
            "kind": self.kind,
            "title": cells[self.title],
            "body": first(row, *self.body),
            **{name: value for name, value in known.items() if name in _DRAFT},
            **{name: texts(ours[name]) for name in _LABELS if name in ours},
            **{name: ours[name] for name, fits in _VALID.items() if text(ours.get(name)) in fits},
            "fields": read | known.get("fields", {}) | mapping(ours.get("fields")),
            "extra": rest(row, named - {""}, {*self.at, self.updated_at, self.retired_at}) | known.get("extra", {}),
        }
        words = (cells[name] for name in (self.title, *self.body[:1]) if name)
        about = {
            "key": self.key + (cells[self.id] or digest(*words)),
            "by": Actor(kind="agent", name=self.author or cells[self.agent], session=cells[self.session]),
            "updated_at": first_time(row, self.updated_at),
            "retired_at": first_time(row, self.retired_at),
            "counts": rest(row, row.keys() - set(self.counts)),
            "dated": bool(at),
            **{name: value for name, value in known.items() if name not in _DRAFT},
        }
        return Foreign(where=where, draft=Draft(**parts, at=at), **about)

    def row(self, record: Record) -> dict[str, Any]:
        """Return a record as a row: the columns it was imported with, those of the map, and under `holdfast` what they lack."""
        extra, columns = record.extra, self.fields
        row = {name: value for name, value in extra.items() if name not in ADDED} | dict(extra.get("counts", {}))
        values = {**extra.get("fields", {}), **record.fields}
        for name, (theirs, how) in columns.items():
            if name in values or how == "list":
                row[theirs] = values.get(name, [])
        own = {
            self.id: str(mapping(extra.get("imported")).get("id", record.id)).removeprefix(self.key),
            self.title: record.title,
            **dict.fromkeys(self.body[:1], record.body),
            **dict.fromkeys(self.at[:1], record.created_at),
            self.agent: record.by.name,
            self.session: record.by.session,
            self.updated_at: record.updated_at,
            self.retired_at: record.updated_at if record.state == "retired" else "",
        }
        ours: dict[str, Any] = {name: list(getattr(record, name)) for name in _LABELS}
        ours |= {"kind": record.kind, "confidence": record.confidence}
        ours |= {"fields": {name: value for name, value in values.items() if name not in columns}}
        row[OURS] = {name: value for name, value in ours.items() if value}
        return row | {name: value for name, value in own.items() if name and value}


def words(section: str) -> dict[str, str]:
    """Return a section of `maps.txt`: what each word of another system means here."""
    return {name: meaning for names, meaning in _SECTIONS[section] for name in names.split()}


def lists(section: str) -> tuple[tuple[str, ...], ...]:
    """Return the lists of words in a section of `maps.txt`, in their order."""
    return tuple(tuple(names.split()) for _, names in _SECTIONS[section])


def map_of(section: str) -> Map:
    """Return the map of a section of `maps.txt`."""
    parts: dict[str, Any] = dict(_SECTIONS[section])
    parts |= {name: tuple(parts.get(name, "").split()) for name in ("body", "at", "counts", "dropped")}
    columns = [column.partition("|") for column in parts.get("fields", "").split()]
    named = [(*name.partition("="), how) for name, _, how in columns]
    return Map(**parts | {"fields": {ours: (theirs or ours, how) for ours, _, theirs, how in named}})


def when(value: Any) -> str:
    """Return a stored timestamp from text, seconds or milliseconds; "" if it is not a time."""
    try:
        match value:
            case bool():
                return ""
            case int() | float():
                return instant(value / 1000 if abs(value) > 1e11 else value)
            case str() if value.strip():
                return parse_instant(value)
            case datetime():
                return instant((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
            case date():
                return parse_instant(value.isoformat())
    except (Invalid, ValueError, OverflowError, OSError):
        pass  # `rest` keeps it
    return ""


def text(value: Any) -> str:
    """Return a text; other values as JSON."""
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    return value or "" if value is None or isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)


def texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts, also from JSON or a single text."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = parsed(value)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return tuple(text(item) for item in value if item not in EMPTY) if isinstance(value, list | tuple) else ()


def parsed(value: str) -> Any:
    """Return the value of JSON, or the text itself if it is not JSON."""
    try:
        return check_shape(parse_json(value))
    except (ValueError, Invalid):
        return value


def first(row: Row, *names: str) -> str:
    """Return the first non-empty column as a text."""
    return next((value for name in names if (value := text(row.get(name)).strip())), "")


def first_time(row: Row, *names: str) -> str:
    """Return the first column that is a time, as it is stored here."""
    return next((at for name in names if name and (at := when(row.get(name)))), "")


def fields_text(record: Record, heading: Callable[[str], str], without: Collection[str] = ()) -> list[str]:
    """Return the fields of a record that are text, each under its heading, for formats that have a text only."""
    parts = []
    for name, value in record.fields.items():
        if value and name not in CODED and name not in without:
            lines = "\n".join(f"- {item}" for item in value) if isinstance(value, list) else str(value)
            parts.append(f"{heading(name.replace('_', ' '))}\n{lines}")
    return parts


def mapping(value: Any) -> Row:
    """Return a value if it is an object; otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Row]:
    """Return the objects in a list; none if it is not a list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def rest(row: Row, used: Collection[str], times: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields that were not used, so that nothing is lost; times only if they could not be parsed."""
    left = {name: value for name, value in row.items() if name not in used and value not in EMPTY}
    return {str(name): plain(value) for name, value in left.items() if name not in times or not when(value)}


def check_shape(value: Any) -> Any:
    """Return a value; reject one nested or repeated beyond anything a person writes."""
    parts, level = 0, [value]
    for _ in range(DEEPEST):
        parts += len(level)
        if not level or parts > MOST_PARTS:
            break
        containers = [item for item in level if isinstance(item, dict | list | tuple | set)]
        level = [part for item in containers for part in (item.values() if isinstance(item, dict) else item)]
    if level:
        raise Invalid("It is nested too deeply or has too many parts.")
    return value


def plain(value: Any) -> Any:
    """Return a value as JSON can represent it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.hex()
    return str(value)


def digest(*parts: str) -> str:
    """Return a short key for something without an id."""
    return blake2b("\n".join(parts).encode(errors="surrogatepass"), digest_size=8).hexdigest()


_READ: Mapping[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    "text": text,
    "list": lambda value: [*texts(value)],
}
