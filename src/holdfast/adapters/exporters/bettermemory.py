"""Export records as a folder that bettermemory 1.x reads: a markdown file each, removed ones as tombstones."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular, write_whole
from holdfast.model.kinds import CODED, KINDS
from holdfast.model.record import Record

SCHEMA = 1
GRAVES = ".tombstones"
MOST_PATHS = 64
_SOURCES = {"explicit": "explicit-statement", "correction": "user-correction", "inferred": "inferred"}
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def write(records: Iterable[Record], folder: Path) -> int:
    """Write the files and return their number; files of an earlier export of the same records are replaced."""
    try:
        (folder / GRAVES).mkdir(mode=0o700, parents=True, exist_ok=True)
        earlier = _earlier(folder)
        count = 0
        for count, record in enumerate(records, start=1):  # noqa: B007
            path = folder / file_name(record)
            for old in earlier.get(_tail(record), ()):
                if old != path and _is_about(old, record):
                    old.unlink()
            write_whole(path, file_text(record))
    except OSError as problem:
        raise Invalid(f"{folder} cannot be written ({problem.strerror}).", hint="Choose another folder.") from problem
    return count


def document(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records as bettermemory's own export lists them."""
    return [{**front(record), "body": _body(record)} for record in records]


def file_name(record: Record) -> str:
    """Return the path of a record's file in the folder."""
    words = re.findall(r"[a-z0-9]+", record.title.lower())[:6]
    stem = "-".join((record.created_at[:10], *words))[:70].rstrip("-") + f"-{_tail(record)}"
    return f"{GRAVES}/{stem}.tombstone.md" if record.state == "retired" else f"{stem}.md"


def file_text(record: Record) -> str:
    """Return the content of a record's file."""
    head = yaml.dump(front(record), Dumper=_DUMPER, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{head}---\n\n{_body(record)}\n"


def front(record: Record) -> dict[str, Any]:
    """Return the front matter; what bettermemory has no field for goes under `holdfast`, which it ignores."""
    scopes = [re.sub(r"[_.]+", "-", scope) for scope in record.scopes] or [_scope(record)]
    coded = {name: value for name, value in record.fields.items() if name in CODED}
    ours = {"kind": record.kind, "title": record.title, "tags": list(record.tags), "scopes": list(record.scopes)}
    removed = {"removed": record.updated_at, "removed_reason": record.reason} if record.state == "retired" else {}
    optional = {
        "origin": _origin(record),
        "last_verified_at": record.verified_at,
        "category": KINDS[record.kind].names.get("bettermemory") if record.kind in KINDS else None,
        **_verified(record),
        "holdfast": {name: value for name, value in {**ours, "fields": coded}.items() if value},
    }
    return {
        "schema_version": SCHEMA,
        "id": record.id,
        "created": record.created_at,
        "updated": record.updated_at,
        "scopes": list(dict.fromkeys(scopes)),
        "confidence": record.confidence,
        "source": _source(record),
        **{name: value for name, value in optional.items() if value},
        **removed,
    }


def _source(record: Record) -> str:
    """Return how it came to be known: as it was imported, else as it was stored here."""
    given = record.extra.get("source")
    return str(given) if given in _SOURCES.values() else _SOURCES.get(record.source, "inferred")


def _verified(record: Record) -> dict[str, list[str]]:
    """Return what the last check covered, by its kind."""
    parts: dict[str, list[str]] = {"verified_paths": [], "verified_commits": [], "verified_versions": []}
    for anchor in record.anchors:
        kind, _, value = anchor.partition(":")
        name = f"verified_{kind}s" if kind in ("commit", "version") else "verified_paths"
        parts[name].append(value if name != "verified_paths" else anchor)
    return {name: values[:MOST_PATHS] for name, values in parts.items()}


def _scope(record: Record) -> str:
    """Return a scope for a record without any, since bettermemory requires one."""
    name = "-".join(re.findall(r"[a-z0-9]+", record.project.rstrip("/").rsplit("/", 1)[-1].lower()))
    return f"projects:{name}" if name else "holdfast"


def _origin(record: Record) -> dict[str, str]:
    is_remote = "." in record.project.split("/")[0] and record.project.count("/") > 1
    imported = record.extra.get("origin")
    before = imported if isinstance(imported, dict) else {}
    cwd = record.extra.get("cwd") or before.get("cwd") or ("" if is_remote else record.project)
    repo = before.get("repo") or (f"https://{record.project}" if is_remote else "")
    place = {"cwd": cwd, "repo": repo, "branch": record.origin.branch}
    return {name: str(value) for name, value in place.items() if value}


def _body(record: Record) -> str:
    parts = [record.body] if record.body.startswith(record.title.rstrip("…")) else [record.title, record.body]
    for name, value in record.fields.items():
        if name not in CODED and value:
            text = "\n".join(f"- {item}" for item in value) if isinstance(value, list) else str(value)
            parts.append(f"{name.replace('_', ' ')}:\n{text}")
    return "\n\n".join(part for part in parts if part)


def _tail(record: Record) -> str:
    return record.id[-6:].lower()


def _earlier(folder: Path) -> dict[str, list[Path]]:
    """Return the existing files by the end of the id in their name."""
    files: dict[str, list[Path]] = {}
    for path in (*folder.glob("*.md"), *(folder / GRAVES).glob("*.md")):
        files.setdefault(path.name.removesuffix(".md").removesuffix(".tombstone")[-6:], []).append(path)
    return files


def _is_about(path: Path, record: Record) -> bool:
    return f"\nid: {record.id}\n" in read_regular(path).decode(errors="replace")
