"""Import a bettermemory folder: a markdown file for each memory, tombstones, and a log of their use."""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.adapters.importers.front_matter import front_matter
from holdfast.adapters.importers.json_file import Entry, lines, read_text
from holdfast.adapters.importers.values import digest, rest, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import lines_in, open_regular
from holdfast.model.foreign import Foreign, ForeignEvent, ForeignLink, ForeignSession, Item, Remark
from holdfast.model.kinds import KINDS
from holdfast.model.record import CONFIDENCES, Draft, Origin
from holdfast.model.scope import project_of_remote

SCHEMA = 1
BY = "bettermemory"
_KINDS = {"user-inference": "preference", "ambient": "observation"}
_RELATIONS = {"extends": "elaborates"}
_SEEN = frozenset(
    "schema_version id scopes verified_paths verified_commits verified_versions removed_reason holdfast".split()
)
_TIMES = frozenset({"created", "updated", "last_verified_at", "removed"})
_GONE = "removed there"


@dataclass(slots=True, kw_only=True)
class _Log:
    """What the log contained so far: start and end of each session, and counts of ignored events."""

    spans: dict[str, tuple[str, str]] = field(default_factory=dict)
    passed: Counter[str] = field(default_factory=Counter)


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a folder, those it removed, and the events of its log."""
    files = sorted(path.glob("*.md")) if path.is_dir() else []
    gone = sorted((path / ".tombstones").glob("*.md"))
    if not files and not gone:
        raise Invalid(f"{path} is not a bettermemory folder.", hint="Pass the folder that contains its markdown files.")
    for file in (*files, *gone):
        yield _memory(file, path)
    yield from _log(path)


def _memory(file: Path, root: Path) -> Item:
    where = str(file.relative_to(root))
    try:
        meta, body = front_matter(read_text(file))
    except Invalid as problem:
        return Remark(where=where, why=problem.message)
    if not text(meta.get("id")):
        return Remark(where=where, why="it has no front matter with an id")
    version = meta.get("schema_version", SCHEMA)
    if not isinstance(version, int) or version > SCHEMA:
        return Remark(where=where, why=f"it was written by a newer bettermemory (schema {version})")
    return _foreign(meta, body, where)


def _foreign(meta: Mapping[str, Any], body: str, where: str) -> Foreign:
    origin, removed = _mapping(meta.get("origin")), when(meta.get("removed"))
    draft = _draft(meta, body)
    return Foreign(
        key=text(meta["id"]),
        where=where,
        draft=replace(draft, project=project_of_remote(text(origin.get("repo"))) or ""),
        by=Actor(kind="agent", name=BY),
        origin=Origin(branch=text(origin.get("branch"))),
        state="retired" if removed or ".tombstones" in where else "active",
        reason=text(meta.get("removed_reason")) or _GONE,
        retired_at=removed,
        updated_at=when(meta.get("updated")),
        verified_at=when(meta.get("last_verified_at")),
        links=_links(meta.get("links")),
        dated=bool(draft.at),
    )


def _draft(meta: Mapping[str, Any], body: str) -> Draft:
    """Return the draft of a file; `holdfast` holds what our own export had no other field for."""
    ours = _mapping(meta.get("holdfast"))
    confidence, category, kind = text(meta.get("confidence")), text(meta.get("category")), text(ours.get("kind"))
    known = {"confidence"} if confidence in CONFIDENCES else set()
    return Draft(
        kind=kind if kind in KINDS else _KINDS.get(category, "fact"),
        title=text(ours.get("title")),
        body=body,
        fields=_mapping(ours.get("fields")),
        scopes=texts(ours.get("scopes", meta.get("scopes"))),
        tags=texts(ours.get("tags")),
        confidence=confidence if known else "medium",  # type: ignore[arg-type]
        anchors=(
            *texts(meta.get("verified_paths")),
            *(f"commit:{commit}" for commit in texts(meta.get("verified_commits"))),
            *(f"version:{version}" for version in texts(meta.get("verified_versions"))),
        ),
        extra=rest(meta, _SEEN | known, _TIMES),
        at=when(meta.get("created")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _links(entries: Any) -> tuple[ForeignLink, ...]:
    """Return the typed links of later versions."""
    links = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            relation = text(entry.get("type") or entry.get("relation") or entry.get("kind"))
            target = text(entry.get("target") or entry.get("id") or entry.get("to"))
            links.append(ForeignLink(relation=_RELATIONS.get(relation, relation), key=target))
    return tuple(links)


def _log(path: Path) -> Iterator[Item]:
    log = _Log()
    for file in (*sorted(path.glob(".events*.jsonl.gz")), *sorted(path.glob(".events*.jsonl"))):
        for event in _events(file):
            yield from [event] if isinstance(event, Remark) else _event(event, log)
    for session, (begun, ended) in log.spans.items():
        by = Actor(kind="agent", name=BY)
        yield ForeignSession(
            id=session, at=begun, project="", by=by, closed_at=ended, close={"type": "ended"}, where=session
        )
    for kind, count in sorted(log.passed.items()):
        why = "these events are about no memory, or the files already contain what they changed"
        yield Remark(where=f"{count} {kind} events of the log", why=why)


def _events(file: Path) -> Iterator[Entry | Remark]:
    try:
        with open_regular(file) as plain, gzip.open(plain) if file.suffix == ".gz" else plain as raw:
            yield from lines(file.name, (line.decode(errors="surrogateescape") for line in lines_in(raw)))
    except (OSError, EOFError, zlib.error) as problem:
        yield Remark(where=file.name, why=f"the rest of it cannot be read ({problem})")


def _event(entry: Entry, log: _Log) -> Iterator[Item]:
    """Yield the events about memories: returned by a search, or used with an outcome."""
    where, row = entry
    at, session, kind = when(row.get("ts")), text(row.get("session")), text(row.get("kind"))
    if session and at:
        begun, ended = log.spans.get(session, (at, at))
        log.spans[session] = (min(begun, at), max(ended, at))
    by_kind = {"search": row.get("returned"), "show": row.get("id"), "use": row.get("ids")}
    of = texts(by_kind.get(kind))
    if not of:
        log.passed[kind or "unknown"] += 1
        return
    by = Actor(kind="agent", name=BY, session=session)
    key = digest(text(dict(row)))
    if kind == "use":
        data = {"outcome": text(row.get("outcome")), "note": text(row.get("note"))}
        more = {"imported": rest(row, {"ts", "session", "kind", "ids", "outcome", "note"})}
        yield ForeignEvent(key=key, verb="used", of=of, at=at, by=by, data={**data, **more}, where=where)
    else:
        returned = {
            "query": text(row.get("query")),
            "imported": rest(row, {"ts", "session", "returned", "id", "query"}),
        }
        yield ForeignEvent(key=key, verb="surfaced", of=of, at=at, by=by, data=returned, where=where)
