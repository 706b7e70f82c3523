"""A claude-mem database: observations and session summaries both ways; sessions and their prompts are imported."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import Tables, tables_of
from holdfast.adapters.importers.maps import Row, first, first_time, mapping, parsed, rest, text, texts
from holdfast.model.event import Actor
from holdfast.model.ids import epoch_ms
from holdfast.model.kinds import name_in
from holdfast.model.record import Record
from holdfast.model.replica import Exported, Foreign, ForeignSession, ForeignTranscript, Item
from holdfast.model.text import headline

OBSERVATIONS, SUMMARIES = maps.map_of("claude-mem observations"), maps.map_of("claude-mem summaries")
_PROMPT = {*OBSERVATIONS.counts, "content_session_id", "prompt_text", "created_at", "created_at_epoch", "session_db_id"}
_READ, _SESSION = maps.lists("claude-mem read")
_LEFT_OUT = maps.words("claude-mem left out")


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a database that is a memory or is about one."""
    with tables_of(path / "claude-mem.db" if path.is_dir() else path, "observations") as tables:
        last, summaries = defaultdict[str, str](str), dict[str, str]()  # the last activity of each session, its summary
        for memory in _memories(tables):
            session = memory.by.session
            last[session] = max(last[session], memory.draft.at)
            summaries |= {session: memory.key} if memory.key.startswith(SUMMARIES.key) else {}
            yield memory
        turns = defaultdict[str, list[Row]](list)
        for row in tables.rows("user_prompts"):
            session, at = text(row.get("content_session_id")), first_time(row, *OBSERVATIONS.at)
            last[session] = max(last[session], at)
            turn = {"role": "user", "content": text(row.get("prompt_text")), "at": at, **rest(row, _PROMPT)}
            turns[session].append(turn)
        yield from _sessions(tables, last, summaries)
        for session, prompts in turns.items():
            yield ForeignTranscript(session=session, turns=tuple(prompts), where=f"user_prompts of {session}")
        yield from tables.unread(_READ, _LEFT_OUT)


def _memories(tables: Tables) -> Iterator[Foreign]:
    sessions = {text(row.get("memory_session_id")): row for row in tables.rows("sdk_sessions")}

    def memory(columns: maps.Map, row: Row, extra: Row, **known: Any) -> Foreign:
        observer = text(row.get("memory_session_id"))
        session = sessions.get(observer, {})
        name, agent = text(session.get("content_session_id")), text(session.get("platform_source"))
        project, merged = text(row.get("project")), text(row.get("merged_into_project"))
        return columns.memory(
            row,
            f"{columns.kind}s {row.get('id')}",
            key=f"{columns.key}{row.get('memory_session_id')}:{row.get('id')}",
            by=Actor(kind="agent", name=agent or "claude", session=name or observer),
            project=merged or project or None,
            extra={**extra, **({"merged_from": project} if merged else {})},
            **known,
        )

    for row in tables.rows("observations"):
        facts, metadata = texts(row.get("facts")), parsed(text(row.get("metadata")))
        ours = metadata.pop(maps.OURS, {}) if isinstance(metadata, dict) else {}
        body = first(row, *OBSERVATIONS.body) or "\n".join(facts) or first(row, "subtitle", "title")
        shown = {**row, maps.OURS: ours} | ({"text": ""} if text(row.get("text")) == body else {})
        yield memory(OBSERVATIONS, shown, {"metadata": metadata} if metadata else {}, body=body)
    for row in tables.rows("session_summaries"):
        yield memory(SUMMARIES, row, {}, title=headline(first(row, *SUMMARIES.body)))


def _sessions(tables: Tables, last: dict[str, str], summaries: Mapping[str, str]) -> Iterator[Item]:
    """Yield the sessions; an unclosed session ends at its last activity."""
    for row in tables.rows("sdk_sessions"):
        observer, at = text(row.get("memory_session_id")), first_time(row, "started_at_epoch", "started_at")
        session = text(row.get("content_session_id")) or observer
        active_at = last.pop(session, "") or at
        title = text(row.get("custom_title")) or headline(text(row.get("user_prompt")))
        yield ForeignSession(
            id=session,
            at=at,
            project=text(row.get("project")) or None,
            by=Actor(kind="agent", name=text(row.get("platform_source")) or "claude"),
            title=title,
            closed_at=first_time(row, "completed_at_epoch", "completed_at") or active_at,
            close={"type": text(row.get("status")) or "ended", "title": title},
            left={"summary": summaries[session]} if session in summaries else {},
            extra=rest(row, _SESSION) | {"memory_session_id": observer},
            where=f"sdk_sessions {row.get('id')}",
        )
    for session, at in last.items():  # whose row is gone, but not their records
        yield ForeignSession(id=session, at=at, closed_at=at, close={"type": "ended"}, where=session)


def write(records: Iterable[Record], path: Path) -> Exported:
    """Add memories to a database of claude-mem, except those it has. It has no place for retired ones."""
    done, there, numbers = Exported(), set[tuple[Any, ...]](), set[tuple[str, int]]()
    with tables_of(path / "claude-mem.db" if path.is_dir() else path, "observations", write=True) as tables:
        for table, title in (("observations", "title"), ("session_summaries", "request")):
            for number, *name in tables.connection.execute(f'select id, created_at_epoch, "{title}" from {table}'):
                there.add((table, *name))
                numbers.add((table, number))
        for record in records:
            if record.state == "retired":
                done["left_out"] += 1
                continue
            table = "session_summaries" if record.kind == "summary" else "observations"
            row = _row(record, SUMMARIES if record.kind == "summary" else OBSERVATIONS)
            if (table, row["id"]) in numbers:
                del row["id"]
            is_known = (table, row["created_at_epoch"], row.get("request", row.get("title"))) in there
            if not is_known:
                started = {"started_at": row["created_at"], "started_at_epoch": row["created_at_epoch"]}
                session = {**row, **started, "content_session_id": record.by.session, "status": "completed"}
                tables.insert("sdk_sessions", {name: value for name, value in session.items() if name != "id"})
                tables.insert(table, row)
            done["known" if is_known else "written"] += 1
    return done


def _row(record: Record, columns: maps.Map) -> dict[str, Any]:
    imported, row = mapping(record.extra.get("imported")), columns.row(record)
    came = str(imported.get("id", "")).split(":") if imported.get("system") == "claude-mem" else []
    ours, metadata = row.pop(maps.OURS), mapping(row.get("metadata"))
    if ours != {"kind": record.kind, "confidence": "medium"} or record.kind != columns.kind:
        metadata = {**metadata, maps.OURS: ours}
    project = imported.get("project") or record.project.rstrip("/").rsplit("/", 1)[-1]
    merged = record.extra.get("merged_from")
    row |= {"project": merged or project, "merged_into_project": merged and project, "metadata": metadata or None}
    if columns is SUMMARIES and any(name in record.fields for name in SUMMARIES.body):
        row["request"] = record.fields.get("request", "")
    row |= {"narrative": None} if row.get("narrative") == "\n".join(record.fields.get("facts", ())) else {}
    return {
        "type": name_in("claude-mem", record.kind) or "discovery",
        **row,
        "id": int(came[-1]) if len(came) > 2 and came[-1].isdecimal() else None,
        "memory_session_id": came[1] if len(came) > 2 else f"holdfast {record.by.session}",
        "created_at": record.created_at,
        "created_at_epoch": epoch_ms(record.created_at),
    }
