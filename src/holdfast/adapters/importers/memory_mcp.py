"""Import a Memory MCP database: memories with tags, relations, trust and usage, mined candidates, sessions and projects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from holdfast.adapters.importers.sqlite_file import Row, Tables, tables_of
from holdfast.adapters.importers.values import rest, text, when
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignEvent, ForeignLink, ForeignSession, Item, Remark
from holdfast.model.record import Confidence, Draft
from holdfast.model.text import headline

BY = "memory-mcp"
_BY_CATEGORY = {
    "antipattern": "anti_pattern",
    "landmine": "anti_pattern",
    "decision": "decision",
    "convention": "pattern",
    "workflow": "pattern",
    "preference": "preference",
    "lesson": "learning",
    "reference": "reference",
    "snippet": "reference",
    "command": "reference",
    "observation": "observation",
}
_BY_TYPE = {
    "project": "fact",
    "pattern": "pattern",
    "reference": "reference",
    "conversation": "observation",
    "episodic": "observation",
}
_BY_PATTERN = {"fact": "fact", "command": "reference"}
_HOSTS = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
_TRUST = {
    "used_correctly": "applied",
    "explicitly_confirmed": "applied",
    "cross_validated": "applied",
    "outdated": "contradicted",
    "partially_incorrect": "contradicted",
    "factually_wrong": "contradicted",
    "contradiction_resolved": "contradicted",
    "low_utility": "ignored",
}
# These change with every recall.
_COUNTS = frozenset(
    "is_hot is_pinned promotion_source access_count last_accessed_at trust_score retrieved_count used_count last_used_at utility_score".split()
)
_SEEN = frozenset("id content content_hash session_id project_id".split())
_READ = frozenset(
    "memories memory_tags memory_relationships mined_patterns trust_history sessions projects retrieval_events injection_log schema_version metadata".split()
)
_LEFT_OUT = {
    "output_log": "raw output of recent days",
    "access_sequences": "predictions are computed again",
    "audit_log": "it is about deleted memories",
    "mining_runs": "logs of mining runs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """Rows of other tables, by the id of the memory."""

    tags: Mapping[int, list[Row]]
    links: Mapping[int, list[Row]]
    mined: Mapping[int | None, list[Row]]
    retrieved: Mapping[int, list[Row]]
    paths: Mapping[str, str]
    damage: list[Remark] = field(default_factory=list)


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a database that is a memory or is about one."""
    with tables_of(path / "memory.db" if path.is_dir() else path, "memories") as tables:
        around = _around(tables)
        for row in tables.rows("memories", around.damage):
            yield from _memory(row, around)
        for row in around.mined.get(None, []):
            yield _candidate(row)
        yield from _sessions(tables, around)
        yield from _uses(tables, around.damage)
        yield from around.damage
        yield from tables.unread(_READ, _LEFT_OUT)


def _around(tables: Tables) -> _Around:
    damage: list[Remark] = []
    paths = {text(row.get("path")): text(row.get("id")) for row in tables.rows("projects", damage)}
    return _Around(
        tags=tables.by("memory_tags", "memory_id", damage),
        links=tables.by("memory_relationships", "from_memory_id", damage),
        mined=tables.by("mined_patterns", "memory_id", damage),
        retrieved=tables.by("retrieval_events", "memory_id", damage),
        paths={place: name for place, name in paths.items() if place},
        damage=damage,
    )


def _memory(row: Row, around: _Around) -> Iterator[Item]:
    number, category = row["id"], text(row.get("category"))
    kind = _BY_CATEGORY.get(category) or _BY_TYPE.get(text(row.get("memory_type")), "fact")
    at, key, where = when(row.get("created_at")), f"memory:{number}", f"memories {number}"
    mined = [rest(related, {"memory_id", "pattern"}) for related in around.mined.get(number, [])]
    extra = rest(row, _SEEN | _COUNTS, ("created_at",)) | ({"mined": mined} if mined else {})
    yield Foreign(
        key=key,
        where=where,
        draft=Draft(
            kind=kind,
            body=text(row.get("content")),
            fields={"category": category} if kind == "fact" else {},
            tags=tuple(text(related["tag"]) for related in around.tags.get(number, [])),
            project=project_of(row.get("project_id")),
            confidence=_confidence(row.get("trust_score")),
            extra=extra,
            at=at,
        ),
        by=Actor(kind="agent", name=BY, session=text(row.get("session_id"))),
        links=tuple(_link(related) for related in around.links.get(number, [])),
        counts=rest(row, set(row) - _COUNTS),
        trust=row["trust_score"] if isinstance(row.get("trust_score"), int | float) else None,
        dated=bool(at),
    )
    if row.get("is_hot") or row.get("is_pinned"):
        pinned = bool(row.get("is_pinned"))
        heat = {"hot": True, "pinned": pinned, "why": "imported"}
        since = when(row.get("last_accessed_at")) or at
        yield ForeignEvent(
            key=f"{key}:hot:{pinned}", verb="heated", of=(key,), at=since, by=_by(), data=heat, where=where
        )
    used_at = when(row.get("last_used_at"))
    if used_at and not any(related.get("was_used") for related in around.retrieved.get(number, [])):
        applied = {"outcome": "applied", "imported": {"used_count": row.get("used_count")}}
        yield ForeignEvent(
            key=f"{key}:{used_at}", verb="used", of=(key,), at=used_at, by=_by(), data=applied, where=where
        )


def _link(row: Row) -> ForeignLink:
    relation, at = text(row.get("relation_type")), when(row.get("created_at"))
    return ForeignLink(relation=relation, key=f"memory:{row.get('to_memory_id')}", at=at)


def _confidence(trust: Any) -> Confidence:
    """Return the confidence for a trust score; medium if it is unknown."""
    if not isinstance(trust, int | float) or 0.5 <= trust < 0.8:
        return "medium"
    return "high" if trust >= 0.8 else "low"


def _candidate(row: Row) -> Foreign:
    """Return a mined pattern that is not yet a memory; it is pending here too, from today."""
    status = text(row.get("status")) or "pending"
    states: dict[str, Literal["active", "pending", "retired"]] = {"pending": "pending", "rejected": "retired"}
    pattern, kind = text(row.get("pattern")), _BY_PATTERN.get(text(row.get("pattern_type")), "pattern")
    state = states.get(status, "active")
    at = "" if state == "pending" else when(row.get("first_seen"))
    return Foreign(
        key=f"pattern:{row.get('pattern_hash') or row.get('id')}",
        where=f"mined_patterns {row.get('id')}",
        draft=Draft(
            kind=kind,
            body=pattern,
            tags=("mined",),
            confidence="low",
            at=at,
            extra=rest(row, {"pattern", "occurrence_count", "last_seen", "score", "pattern_hash", "id"}),
        ),
        by=_by(),
        state=state,
        reason="rejected" if state == "retired" else "",
        counts=rest(row, set(row) - {"occurrence_count", "last_seen", "score"}),
        dated=bool(at),
    )


def _sessions(tables: Tables, around: _Around) -> Iterator[Item]:
    for row in tables.rows("sessions", around.damage):
        place = text(row.get("project_path"))
        known = around.paths.get(place)
        yield ForeignSession(
            id=text(row.get("id")),
            at=when(row.get("started_at")),
            project=project_of(known) if known else place.rstrip("/").rsplit("/", 1)[-1] or None,
            by=_by(),
            title=headline(text(row.get("topic"))),
            closed_at=when(row.get("last_activity_at")),
            close={"type": "ended", "title": text(row.get("topic"))},
            extra=rest(row, {"id", "started_at", "last_activity_at"}),
            where=f"sessions {row.get('id')}",
        )


def _uses(tables: Tables, damage: list[Remark]) -> Iterator[Item]:
    """Yield events about memories: trust changes, retrievals, injections and uses."""
    for row in tables.rows("trust_history", damage):
        reason = text(row.get("reason"))
        data = {"outcome": _TRUST.get(reason, reason), "note": text(row.get("note"))}
        yield _happened(row, "used", "trust", "created_at", {**data, "imported": rest(row, {"memory_id", "note"})})
    for row in tables.rows("retrieval_events", damage):
        retrieved = {"imported": rest(row, {"memory_id", "was_used", "feedback"})}
        yield _happened(row, "surfaced", "retrieval", "created_at", retrieved)
        if row.get("was_used"):
            used = {"outcome": "applied", "note": text(row.get("feedback"))}
            yield _happened(row, "used", "retrieval", "created_at", used)
    for row in tables.rows("injection_log", damage):
        injected = {"imported": rest(row, {"memory_id", "session_id"})}
        yield _happened(row, "surfaced", "injection", "injected_at", injected)


def _happened(
    row: Row, verb: Literal["used", "surfaced"], table: str, column: str, data: Mapping[str, Any]
) -> ForeignEvent:
    at, by = when(row.get(column)), Actor(kind="agent", name=BY, session=text(row.get("session_id")))
    of = (f"memory:{row.get('memory_id')}",)
    key = f"{table}:{row.get('id')}:{of[0]}"
    return ForeignEvent(key=key, verb=verb, of=of, at=at, by=by, data=data, where=f"{table} {row.get('id')}")


def _by() -> Actor:
    return Actor(kind="agent", name=BY)


def project_of(project_id: Any) -> str:
    """Return our name of a project: its remote in full, or the folder's name; "" applies everywhere."""
    name = text(project_id)
    host, _, path = name.partition("/")
    if host == "local":
        return path
    return f"{_HOSTS.get(host, host)}/{path}".lower() if path else name
