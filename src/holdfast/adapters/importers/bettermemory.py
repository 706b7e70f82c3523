"""A bettermemory folder, both ways: a markdown file for each memory, tombstones, and a log of their use."""

import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import Entry, front_matter, json_lines, read_text, with_front
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import lines_in, open_regular, read_regular, write_whole
from holdfast.model.kinds import CODED, name_in
from holdfast.model.record import CONFIDENCES, Origin, Record, project_of_remote
from holdfast.model.replica import Exported, ForeignEvent, ForeignLink, ForeignSession, Item, Remark

SCHEMA = 1
GRAVES = ".tombstones"
MOST_PATHS = 64
BY = "bettermemory"
MEMORIES = maps.map_of("bettermemory memories")
# What the last check covered, and how an anchor of each sort begins.
_VERIFIED = {"verified_versions": "version:", "verified_commits": "commit:", "verified_paths": ""}
_KINDS = {"user-inference": "preference", "ambient": "observation"}
_RELATIONS = {"extends": "elaborates"}
_ABOUT = {"search": "returned", "show": "id", "use": "ids"}  # the column with the memories of an event, by its kind
_SOURCES = {"explicit": "explicit-statement", "correction": "user-correction", "inferred": "inferred"}


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a folder, those it removed, and the events of its log."""
    files = sorted(path.glob("*.md")) if path.is_dir() else []
    gone = sorted((path / GRAVES).glob("*.md"))
    if not files and not gone:
        raise Invalid(f"{path} is not a bettermemory folder.", hint="Pass the folder that contains its markdown files.")
    for file in (*files, *gone):
        try:
            meta, body = front_matter(read_text(file))
            yield _memory(meta, body, str(file.relative_to(path)))
        except Invalid as problem:
            yield Remark(str(file.relative_to(path)), problem.message)
    yield from _log(path)


def _memory(meta: dict[str, Any], body: str, where: str) -> Item:
    version = meta.get("schema_version", SCHEMA)
    if not maps.text(meta.get("id")):
        return Remark(where, "it has no front matter with an id")
    if not isinstance(version, int) or version > SCHEMA:
        return Remark(where, f"it was written by a newer bettermemory (schema {version})")
    origin, verified_at = maps.mapping(meta.get("origin")), maps.when(meta.get("last_verified_at"))
    known = {name for name in ("confidence",) if meta.get(name) in CONFIDENCES}
    links = []
    for link in maps.rows(meta.get("links")):
        relation = maps.first(link, "type", "relation", "kind")
        links.append(ForeignLink(_RELATIONS.get(relation, relation), maps.first(link, "target", "id", "to")))
    cited = [(begins, maps.texts(meta.get(name))) for name, begins in reversed(_VERIFIED.items())]
    return MEMORIES.memory(
        meta,
        where,
        used={*_VERIFIED, *known, *(("last_verified_at",) if verified_at else ())},
        body=body,
        kind=_KINDS.get(maps.text(meta.get("category")), "fact"),
        title=maps.text(maps.mapping(meta.get(maps.OURS)).get("title")),
        scopes=maps.texts(meta.get("scopes")),
        confidence=meta["confidence"] if known else "medium",
        anchors=tuple(begins + value for begins, values in cited for value in values),
        project=project_of_remote(maps.text(origin.get("repo"))) or "",
        origin=Origin(branch=maps.text(origin.get("branch"))),
        state="retired" if maps.when(meta.get("removed")) or GRAVES in where else "active",
        reason=maps.text(meta.get("removed_reason")) or "removed there",
        verified_at=verified_at,
        links=tuple(links),
    )


def _log(path: Path) -> Iterator[Item]:
    """Yield the events of the log, returned by a search or used with an outcome, and the sessions they belong to."""
    times, passed = defaultdict[str, list[str]](list), Counter[str]()  # of the events of each session
    for entry in _lines(path):
        if isinstance(entry, Remark):
            yield entry
            continue
        where, row = entry
        at, session, kind = maps.when(row.get("ts")), maps.text(row.get("session")), maps.text(row.get("kind"))
        if session and at:
            times[session].append(at)
        of = maps.texts(row.get(_ABOUT.get(kind, "")))
        if not of:
            passed[kind or "unknown"] += 1
            continue
        by, key = Actor(kind="agent", name=BY, session=session), maps.digest(maps.text(dict(row)))
        own, read = (("outcome", "note"), ("kind", "ids")) if kind == "use" else (("query",), ("returned", "id"))
        data: dict[str, Any] = {name: maps.text(row.get(name)) for name in own}
        data["imported"] = maps.rest(row, ("ts", "session", *own, *read))
        verb: Literal["used", "surfaced"] = "used" if kind == "use" else "surfaced"
        yield ForeignEvent(key=key, verb=verb, of=of, at=at, by=by, data=data, where=where)
    by, close = Actor(kind="agent", name=BY), {"type": "ended"}
    for session, own_times in times.items():
        begun, ended = min(own_times), max(own_times)
        yield ForeignSession(id=session, at=begun, project="", by=by, closed_at=ended, close=close, where=session)
    for kind, count in sorted(passed.items()):
        why = "these events are about no memory, or the files already contain what they changed"
        yield Remark(f"{count} {kind} events of the log", why)


def _lines(path: Path) -> Iterator[Entry | Remark]:
    for file in (*sorted(path.glob(".events*.jsonl.gz")), *sorted(path.glob(".events*.jsonl"))):
        try:
            with open_regular(file) as plain, gzip.open(plain) if file.suffix == ".gz" else plain as raw:
                yield from json_lines(file.name, (line.decode(errors="surrogateescape") for line in lines_in(raw)))
        except (OSError, EOFError, zlib.error) as problem:
            yield Remark(file.name, f"the rest of it cannot be read ({problem})")


def write(records: Iterable[Record], folder: Path) -> Exported:
    """Write the files of records; files of an earlier export of the same records are replaced."""
    count, earlier = 0, dict[str, list[Path]]()
    try:
        (folder / GRAVES).mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in (*folder.glob("*.md"), *(folder / GRAVES).glob("*.md")):
            earlier.setdefault(file.name.removesuffix(".md").removesuffix(".tombstone")[-6:], []).append(file)
        for count, record in enumerate(records, start=1):  # noqa: B007
            front, words = _front(record), re.findall(r"[a-z0-9]+", record.title.lower())[:6]
            tail = front["id"][-6:].lower()
            stem = "-".join((record.created_at[:10], *words))[:70].rstrip("-") + f"-{tail}"
            path = folder / (f"{GRAVES}/{stem}.tombstone.md" if record.state == "retired" else f"{stem}.md")
            for old in earlier.get(tail, ()):
                if old != path and f"\nid: {front['id']}\n" in read_regular(old).decode(errors="replace"):
                    old.unlink()
            write_whole(path, with_front(front, _body(record)))
    except OSError as problem:
        raise Invalid(f"{folder} cannot be written ({problem.strerror}).", hint="Choose another folder.") from problem
    return Exported(written=count)


def document(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records as bettermemory's own export lists them."""
    return [{**_front(record), "body": _body(record)} for record in records]


def _front(record: Record) -> dict[str, Any]:
    """Return the front matter; what bettermemory has no field for goes under `holdfast`, which it ignores."""
    imported = maps.mapping(record.extra.get("imported"))
    came = imported.get("system") == BY  # then it keeps its id there and the fields that only its file had
    is_remote = "." in record.project.split("/")[0] and record.project.count("/") > 1
    before = maps.mapping(record.extra.get("origin"))
    cwd, repo = ("", f"https://{record.project}") if is_remote else (record.project, "")
    origin = {"cwd": record.extra.get("cwd") or before.get("cwd") or cwd, "repo": before.get("repo") or repo}
    origin |= {"branch": record.origin.branch}
    # bettermemory requires a scope.
    name = "-".join(re.findall(r"[a-z0-9]+", record.project.rstrip("/").rsplit("/", 1)[-1].lower()))
    scopes = dict.fromkeys(re.sub(r"[_.]+", "-", scope) for scope in record.scopes)
    source = record.extra.get("source")
    verified: dict[str, list[str]] = {name: [] for name in reversed(_VERIFIED)}
    for anchor in record.anchors:
        sort, begins = next(each for each in _VERIFIED.items() if anchor.startswith(each[1]))
        verified[sort].append(anchor.removeprefix(begins))
    ours: dict[str, Any] = {name: getattr(record, name) for name in ("kind", "title")}
    ours |= {"tags": [*record.tags], "scopes": [*record.scopes]}
    ours |= {"fields": {name: value for name, value in record.fields.items() if name in CODED}}
    optional = {
        "origin": {name: str(value) for name, value in origin.items() if value},
        "last_verified_at": record.verified_at,
        "category": record.extra.get("category") if came else name_in(BY, record.kind),
        **{name: values[:MOST_PATHS] for name, values in verified.items()},
        "holdfast": {name: value for name, value in ours.items() if value},
    }
    front = {
        "schema_version": SCHEMA,
        "id": maps.text(imported["id"]) if came else record.id,
        "created": record.created_at,
        "updated": record.updated_at,
        "scopes": list(scopes) or [f"projects:{name}" if name else "holdfast"],
        "confidence": record.confidence,
        "source": source if source in _SOURCES.values() else _SOURCES.get(record.source, "inferred"),
        **{name: value for name, value in optional.items() if value},
        **({"removed": record.updated_at, "removed_reason": record.reason} if record.state == "retired" else {}),
    }
    there = record.extra.items() if came else ()
    return {**front, **{name: value for name, value in there if name not in maps.ADDED and name not in front}}


def _body(record: Record) -> str:
    title = "" if record.body.startswith(record.title.rstrip("…")) else record.title
    return "\n\n".join(filter(None, [title, record.body, *maps.fields_text(record, lambda name: f"{name}:")]))
