"""A claude-mem database: observations and session summaries both ways; sessions and their prompts are imported."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import Tables, database_of, insert, tables_of
from holdfast.model.event import Actor
from holdfast.model.foreign import Exported, Foreign, ForeignSession, ForeignTranscript, Item
from holdfast.model.ids import epoch_ms
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.model.text import headline

OBSERVATIONS, SUMMARIES = maps.map_of("claude-mem observations"), maps.map_of("claude-mem summaries")
_SUMMARY = SUMMARIES.body
_SESSION = frozenset(
    "id content_session_id memory_session_id project started_at started_at_epoch completed_at completed_at_epoch "
    "custom_title worker_port".split()
)
_PROMPT = OBSERVATIONS.counts | {"content_session_id", "prompt_text", "created_at", "created_at_epoch", "session_db_id"}
_READ = frozenset("sdk_sessions observations session_summaries user_prompts schema_versions".split())
_LEFT_OUT = maps.words("claude-mem left out")


@dataclass(slots=True, kw_only=True)
class _Sessions:
    """Sessions by the observer's id, the time of each one's last activity, and its summary."""

    rows: dict[str, maps.Row]
    last: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)

    def memory(self, columns: maps.Map, row: maps.Row, **known: Any) -> Foreign:
        """Return a memory with its key, project and the host's session."""
        observer = maps.text(row.get("memory_session_id"))
        session = self.rows.get(observer, {})
        name = maps.text(session.get("content_session_id")) or observer
        self.last[name] = max(self.last.get(name, ""), maps.first_time(row, *OBSERVATIONS.at))
        project, merged = maps.text(row.get("project")), maps.text(row.get("merged_into_project"))
        extra = known.pop("extra", {}) | ({"merged_from": project} if merged else {})
        return columns.memory(
            row,
            f"{columns.kind}s {row.get('id')}",
            key=f"{columns.key}{row.get('memory_session_id')}:{row.get('id')}",
            by=Actor(kind="agent", name=maps.text(session.get("platform_source")) or "claude", session=name),
            project=merged or project or None,
            extra=extra,
            **known,
        )


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a database that is a memory or is about one."""
    with tables_of(path / "claude-mem.db" if path.is_dir() else path, "observations") as tables:
        known = _Sessions(rows={maps.text(row.get("memory_session_id")): row for row in tables.rows("sdk_sessions")})
        for row in tables.rows("observations"):
            facts, metadata = maps.texts(row.get("facts")), maps.parsed(maps.text(row.get("metadata")))
            ours = metadata.pop(maps.OURS, {}) if isinstance(metadata, dict) else {}
            body = maps.first(row, *OBSERVATIONS.body) or "\n".join(facts) or maps.first(row, "subtitle", "title")
            shown = {**row, maps.OURS: ours} | ({"narrative": ""} if maps.text(row.get("narrative")) == body else {})
            yield known.memory(OBSERVATIONS, shown, body=body, extra={"metadata": metadata} if metadata else {})
        for row in tables.rows("session_summaries"):
            memory = known.memory(SUMMARIES, row, title=headline(maps.first(row, *_SUMMARY)))
            known.summaries[memory.by.session] = memory.key
            yield memory
        prompts = _prompts(tables, known)
        yield from _sessions(tables, known)
        yield from prompts
        yield from tables.unread(_READ, _LEFT_OUT)


def _prompts(tables: Tables, known: _Sessions) -> list[ForeignTranscript]:
    turns: dict[str, list[maps.Row]] = {}
    for row in tables.rows("user_prompts"):
        session, at = maps.text(row.get("content_session_id")), maps.first_time(row, *OBSERVATIONS.at)
        known.last[session] = max(known.last.get(session, ""), at)
        turn = {"role": "user", "content": maps.text(row.get("prompt_text")), "at": at, **maps.rest(row, _PROMPT)}
        turns.setdefault(session, []).append(turn)
    return [
        ForeignTranscript(session=session, turns=tuple(prompts), where=f"user_prompts of {session}")
        for session, prompts in turns.items()
    ]


def _sessions(tables: Tables, known: _Sessions) -> Iterator[Item]:
    """Yield the sessions; an unclosed session ends at its last activity."""
    named = set[str]()
    for row in tables.rows("sdk_sessions"):
        observer = maps.text(row.get("memory_session_id"))
        session = maps.text(row.get("content_session_id")) or observer
        named.add(session)
        at = maps.first_time(row, "started_at_epoch", "started_at")
        title = maps.text(row.get("custom_title")) or headline(maps.text(row.get("user_prompt")))
        yield ForeignSession(
            id=session,
            at=at,
            project=maps.text(row.get("project")) or None,
            by=Actor(kind="agent", name=maps.text(row.get("platform_source")) or "claude"),
            title=title,
            closed_at=maps.first_time(row, "completed_at_epoch", "completed_at") or known.last.get(session, "") or at,
            close={"type": maps.text(row.get("status")) or "ended", "title": title},
            left={"summary": known.summaries[session]} if session in known.summaries else {},
            extra=maps.rest(row, _SESSION) | {"memory_session_id": observer},
            where=f"sdk_sessions {row.get('id')}",
        )
    for session, last in known.last.items():
        if session not in named:  # its row is gone, its records are not
            yield ForeignSession(id=session, at=last, closed_at=last, close={"type": "ended"}, where=session)


def write(records: Iterable[Record], path: Path) -> Exported:
    """Add memories to a database of claude-mem, except those it has. It has no place for retired ones."""
    done, left = {"written": 0, "known": 0}, 0
    with database_of(path / "claude-mem.db" if path.is_dir() else path, "observations") as db:
        tables = {"observations": "title", "session_summaries": "request"}
        there = {
            table: set(db.execute(f'select created_at_epoch, "{name}" from {table}')) for table, name in tables.items()
        }
        numbers = {table: {row[0] for row in db.execute(f"select id from {table}")} for table in tables}
        for record in records:
            if record.state == "retired":
                left += 1
                continue
            table = "session_summaries" if record.kind == "summary" else "observations"
            row = _row(record, SUMMARIES if record.kind == "summary" else OBSERVATIONS)
            if row["id"] in numbers[table]:
                del row["id"]
            is_known = (row["created_at_epoch"], row.get(tables[table])) in there[table]
            if not is_known:
                started = {"started_at": row["created_at"], "started_at_epoch": row["created_at_epoch"]}
                session = {**row, **started, "content_session_id": record.by.session, "status": "completed"}
                insert(db, "sdk_sessions", {name: value for name, value in session.items() if name != "id"})
                insert(db, table, row)
            done["known" if is_known else "written"] += 1
    return Exported(**done, left_out=left)


def _row(record: Record, columns: maps.Map) -> dict[str, Any]:
    imported, row = maps.mapping(record.extra.get("imported")), columns.row(record)
    came = str(imported.get("id", "")).split(":") if imported.get("system") == "claude-mem" else []
    ours, metadata = row.pop(maps.OURS), maps.mapping(row.get("metadata"))
    if ours != {"kind": record.kind, "confidence": "medium"} or record.kind != columns.kind:
        metadata = {**metadata, maps.OURS: ours}
    kind = KINDS[record.kind].names.get("claude-mem") if record.kind in KINDS else ""
    project = imported.get("project") or record.project.rstrip("/").rsplit("/", 1)[-1]
    merged = record.extra.get("merged_from")
    row |= {"project": merged, "merged_into_project": project} if merged else {"project": project}
    row |= {"metadata": metadata} if metadata else {}
    if columns is SUMMARIES and any(name in record.fields for name in _SUMMARY):
        row["request"] = record.fields.get("request", "")
    return {
        "type": kind or "discovery",
        **row,
        "id": int(came[-1]) if len(came) > 2 and came[-1].isdecimal() else None,
        "memory_session_id": came[1] if len(came) > 2 else f"holdfast {record.by.session}",
        "created_at": record.created_at,
        "created_at_epoch": epoch_ms(record.created_at),
    }
