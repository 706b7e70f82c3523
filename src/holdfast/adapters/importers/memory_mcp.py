"""A Memory MCP database: memories with tags and relations both ways; trust, usage, sessions and projects are imported."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import tables_of
from holdfast.adapters.importers.maps import Row, mapping, rest, text, when
from holdfast.model.event import Actor
from holdfast.model.kinds import name_in
from holdfast.model.record import Link, Record
from holdfast.model.replica import Exported, ForeignEvent, ForeignLink, ForeignSession, Item
from holdfast.model.text import headline

BY = "memory-mcp"
MEMORIES, CANDIDATES = maps.map_of("memory-mcp memories"), maps.map_of("memory-mcp candidates")
_KINDS = {key: maps.words(f"memory-mcp kind by {key}") for key in ("category", "type", "pattern")}
_HOSTS, _TRUST, _RELATED, _LEFT = (maps.words(f"memory-mcp {key}") for key in ("hosts", "trust", "related", "left out"))
_STATES: dict[str, Literal["pending", "retired"]] = {"pending": "pending", "rejected": "retired"}
_READ = {*_RELATED, *"memories trust_history sessions projects injection_log schema_version metadata".split()}


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a database that is a memory or is about one."""
    with tables_of(path / "memory.db" if path.is_dir() else path, "memories") as tables:
        homes = dict[str, str]()  # the project of each session's memories
        related = {table: defaultdict[Any, list[Row]](list) for table in _RELATED}  # the rows about each memory
        for table, column in _RELATED.items():
            for row in tables.rows(table):
                related[table][row.get(column)].append(row)
        for row in tables.rows("memories"):
            homes.setdefault(text(row.get("session_id")), project_of(row.get("project_id")))
            yield from _memory(row, {table: rows[row["id"]] for table, rows in related.items()})
        for row in related["mined_patterns"][None]:  # not yet memories; pending here too, from today
            status = text(row.get("status")) or "pending"
            yield CANDIDATES.memory(
                row,
                f"mined_patterns {row.get('id')}",
                key=f"pattern:{row.get('pattern_hash') or row.get('id')}",
                kind=_KINDS["pattern"].get(text(row.get("pattern_type")), "pattern"),
                tags=("mined",),
                confidence="low",
                at="" if status == "pending" else when(row.get("first_seen")),
                state=_STATES.get(status, "active"),
                reason="rejected" if status == "rejected" else "",
            )
        for row in tables.rows("sessions"):
            place, topic = text(row.get("project_path")), text(row.get("topic"))
            yield ForeignSession(
                id=text(row.get("id")),
                at=when(row.get("started_at")),
                project=homes.get(text(row.get("id"))) or place.rstrip("/").rsplit("/", 1)[-1] or None,
                by=Actor(kind="agent", name=BY),
                title=headline(topic),
                closed_at=when(row.get("last_activity_at")),
                close={"type": "ended", "title": topic},
                extra=rest(row, {"id", "started_at", "last_activity_at"}),
                where=f"sessions {row.get('id')}",
            )
        for row in tables.rows("trust_history"):
            reason, note, imported = text(row.get("reason")), text(row.get("note")), rest(row, {"memory_id", "note"})
            data = {"outcome": _TRUST.get(reason, reason), "note": note, "imported": imported}
            yield _event(row, "used", "trust", data)
        for row in tables.rows("retrieval_events"):
            yield _event(row, "surfaced", "retrieval", {"imported": rest(row, {"memory_id", "was_used", "feedback"})})
            if row.get("was_used"):
                yield _event(row, "used", "retrieval", {"outcome": "applied", "note": text(row.get("feedback"))})
        for row in tables.rows("injection_log"):
            yield _event(row, "surfaced", "injection", {"imported": rest(row, {"memory_id", "session_id"})})
        yield from tables.unread(_READ, _LEFT)


def _memory(row: Row, related: dict[str, list[Row]]) -> Iterator[Item]:
    category, trust, where = text(row.get("category")), row.get("trust_score"), f"memories {row['id']}"
    trust = trust if isinstance(trust, int | float) else None
    kind = _KINDS["category"].get(category) or _KINDS["type"].get(text(row.get("memory_type")), "fact")
    mined = [rest(other, {"memory_id", "pattern"}) for other in related["mined_patterns"]]
    memory = MEMORIES.memory(
        row,
        where,
        kind=kind,
        fields={"category": category} if kind == "fact" else {},
        tags=tuple(text(tag["tag"]) for tag in related["memory_tags"]),
        project=project_of(row.get("project_id")),
        confidence="medium" if trust is None or 0.5 <= trust < 0.8 else "high" if trust >= 0.8 else "low",
        extra={"mined": mined} if mined else {},
        links=tuple(
            ForeignLink(text(to.get("relation_type")), f"memory:{to.get('to_memory_id')}", when(to.get("created_at")))
            for to in related["memory_relationships"]
        ),
        trust=trust,
    )
    yield memory
    key, by, used_at = memory.key, Actor(kind="agent", name=BY), when(row.get("last_used_at"))
    if (pinned := bool(row.get("is_pinned"))) or row.get("is_hot"):
        data: dict[str, Any] = {"hot": True, "pinned": pinned, "why": "imported"}
        at = when(row.get("last_accessed_at")) or memory.draft.at
        yield ForeignEvent(key=f"{key}:hot:{pinned}", verb="heated", of=(key,), at=at, by=by, data=data, where=where)
    if used_at and not any(event.get("was_used") for event in related["retrieval_events"]):
        data = {"outcome": "applied", "imported": {"used_count": row.get("used_count")}}
        yield ForeignEvent(key=f"{key}:{used_at}", verb="used", of=(key,), at=used_at, by=by, data=data, where=where)


def _event(row: Row, verb: Literal["used", "surfaced"], table: str, data: Row) -> ForeignEvent:
    of, at = f"memory:{row.get('memory_id')}", when(row.get("injected_at" if table == "injection" else "created_at"))
    by, key = Actor(kind="agent", name=BY, session=text(row.get("session_id"))), f"{table}:{row.get('id')}:{of}"
    return ForeignEvent(key=key, verb=verb, of=(of,), at=at, by=by, data=data, where=f"{table} {row.get('id')}")


def project_of(project_id: Any) -> str:
    """Return our name of a project: its remote in full, or the folder's name; "" applies everywhere."""
    host, _, path = text(project_id).partition("/")
    return path if host == "local" else f"{_HOSTS.get(host, host)}/{path}".lower() if path else host


def write(records: Iterable[Record], path: Path) -> Exported:
    """Add memories to a database of Memory MCP, except those it has. It has no place for retired ones."""
    done, numbers, links = Exported(), dict[str, int](), list[tuple[str, Link]]()
    with tables_of(path / "memory.db" if path.is_dir() else path, "memories", write=True) as tables:
        there: dict[str, int] = dict(tables.connection.execute("select content, id from memories"))
        for record in records:
            is_candidate = text(mapping(record.extra.get("imported")).get("id")).startswith(CANDIDATES.key)
            if is_candidate and record.state != "active":
                row = CANDIDATES.row(record) | ({"status": "rejected"} if record.state == "retired" else {})
                added = tables.insert("mined_patterns", {"pattern_hash": row.pop("id"), **row})
            elif record.state == "retired":
                done["left_out"] += 1
                continue
            else:
                row, links = _row(record), [*links, *((record.id, link) for link in record.links)]
                if row["id"] in there.values():
                    del row["id"]
                added = None if record.body in there else tables.insert("memories", row)
                numbers[record.id] = number = added or there.get(record.body, 0)
                for tag in record.tags:
                    tables.insert("memory_tags", {"memory_id": number, "tag": tag})
            done["written" if added else "known"] += 1
        for id_, link in links:
            if link.target in numbers:
                ends = {"from_memory_id": numbers[id_], "to_memory_id": numbers[link.target]}
                tables.insert("memory_relationships", {**ends, "relation_type": link.relation})
    return done


def _row(record: Record) -> dict[str, Any]:
    host, _, path = record.project.partition("/")
    hosts = {name: short for short, name in _HOSTS.items()}
    project = f"{hosts.get(host, host)}/{path}" if path else f"local/{host}" if host else None
    came = mapping(record.extra.get("imported")).get("system") == BY
    known = () if came else _KINDS["category"].items()
    row = MEMORIES.row(record)
    return {
        "memory_type": name_in(BY, record.kind) or "project",
        "source": "manual",
        "category": next((name for name, ours in known if ours == record.kind), None),
        **row,
        "id": int(row["id"]) if row["id"].isdecimal() else None,
        "content_hash": sha256((f"{project}:" if project else "").encode() + record.body.encode()).hexdigest(),
        "created_at": record.created_at[:19].replace("T", " "),
        "project_id": project,
    }
