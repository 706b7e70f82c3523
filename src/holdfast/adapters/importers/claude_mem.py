"""Import a claude-mem database: observations, session summaries, sessions and their prompts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.adapters.importers.sqlite_file import Row, Tables, tables_of
from holdfast.adapters.importers.values import first, parsed, rest, text, texts, when
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignSession, ForeignTranscript, Item, Remark
from holdfast.model.record import Draft
from holdfast.model.text import headline

_OBSERVATION = frozenset(
    "id memory_session_id project text type title subtitle facts narrative concepts files_read files_modified "
    "discovery_tokens metadata merged_into_project".split()
)
_TIMES = frozenset({"created_at", "created_at_epoch"})
# These change without the memory changing.
_COUNTS = frozenset({"relevance_count", "sync_rev", "synced_at"})
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_SESSION = frozenset(
    "id content_session_id memory_session_id project started_at started_at_epoch completed_at completed_at_epoch "
    "custom_title worker_port".split()
)
_READ = frozenset("sdk_sessions observations session_summaries user_prompts schema_versions".split())
_LEFT_OUT = {
    "tool_uses": "raw input and output of tools",
    "pending_messages": "work queued in claude-mem",
}


@dataclass(slots=True, kw_only=True)
class _Sessions:
    """Sessions by the observer's id, and the time of each one's last activity."""

    rows: dict[str, Row] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)
    damage: list[Remark] = field(default_factory=list)

    def actor(self, row: Row) -> Actor:
        """Return the author of a row, with the host's session id."""
        memory_session = text(row.get("memory_session_id"))
        known = self.rows.get(memory_session, {})
        name = text(known.get("platform_source")) or "claude"
        session = text(known.get("content_session_id")) or memory_session
        self.last[session] = max(self.last.get(session, ""), _at(row, "created_at"))
        return Actor(kind="agent", name=name, session=session)


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a database that is a memory or is about one."""
    with tables_of(path / "claude-mem.db" if path.is_dir() else path, "observations") as tables:
        known = _Sessions()
        known.rows = {text(row.get("memory_session_id")): row for row in tables.rows("sdk_sessions", known.damage)}
        for row in tables.rows("observations", known.damage):
            yield _observation(row, known)
        for row in tables.rows("session_summaries", known.damage):
            yield _summary(row, known)
        prompts = _prompts(tables, known)
        yield from _sessions(tables, known)
        yield from prompts
        yield from known.damage
        yield from tables.unread(_READ, _LEFT_OUT)


def _observation(row: Row, known: _Sessions) -> Foreign:
    facts = texts(row.get("facts"))
    body = first(row, "text", "narrative") or "\n".join(facts) or first(row, "subtitle", "title")
    fields = {
        "type": text(row.get("type")),
        "subtitle": text(row.get("subtitle")),
        "facts": list(facts),
        "narrative": text(row.get("narrative")) if text(row.get("narrative")) != body else "",
        "concepts": list(texts(row.get("concepts"))),
        "files_read": list(texts(row.get("files_read"))),
        "files_modified": list(texts(row.get("files_modified"))),
        "discovery_tokens": row.get("discovery_tokens"),
    }
    extra = rest(row, _OBSERVATION | _COUNTS, _TIMES) | _metadata(row)
    draft = Draft(kind="observation", title=text(row.get("title")), body=body, fields=fields, extra=extra)
    return _placed(row, draft, "observation", known)


def _metadata(row: Row) -> dict[str, Any]:
    metadata = text(row.get("metadata"))
    return {"metadata": parsed(metadata)} if metadata else {}


def _summary(row: Row, known: _Sessions) -> Foreign:
    fields: dict[str, Any] = {name: text(row.get(name)) for name in _SUMMARY}
    fields |= {"files_read": list(texts(row.get("files_read"))), "files_modified": list(texts(row.get("files_edited")))}
    body = first(row, *_SUMMARY)
    used = {*_SUMMARY, "files_read", "files_edited", "id", "memory_session_id", "project", "merged_into_project"}
    extra = rest(row, used | _COUNTS, _TIMES)
    draft = Draft(kind="summary", title=headline(body), body=body, fields=fields, extra=extra)
    memory = _placed(row, draft, "summary", known)
    known.summaries[memory.by.session] = memory.key
    return memory


def _placed(row: Row, draft: Draft, what: str, known: _Sessions) -> Foreign:
    """Return a memory with its key, project, time and session."""
    at, merged = _at(row, "created_at"), text(row.get("merged_into_project"))
    project = text(row.get("project"))
    extra = {**draft.extra, "merged_from": project} if merged else draft.extra
    return Foreign(
        key=f"{what}:{row.get('memory_session_id')}:{row.get('id')}",
        where=f"{what}s {row.get('id')}",
        draft=replace(draft, project=merged or project or None, at=at, extra=extra),
        by=known.actor(row),
        counts={name: row[name] for name in sorted(_COUNTS) if row.get(name)},
        dated=bool(at),
    )


def _prompts(tables: Tables, known: _Sessions) -> list[ForeignTranscript]:
    """Return the prompts of each session, in order."""
    turns: dict[str, list[Mapping[str, Any]]] = {}
    for row in tables.rows("user_prompts", known.damage):
        session, at = text(row.get("content_session_id")), _at(row, "created_at")
        known.last[session] = max(known.last.get(session, ""), at)
        more = rest(
            row, _COUNTS | {"content_session_id", "prompt_text", "created_at", "created_at_epoch", "session_db_id"}
        )
        turns.setdefault(session, []).append(
            {"role": "user", "content": text(row.get("prompt_text")), "at": at, **more}
        )
    return [
        ForeignTranscript(session=session, turns=tuple(prompts), where=f"user_prompts of {session}")
        for session, prompts in turns.items()
    ]


def _sessions(tables: Tables, known: _Sessions) -> Iterator[Item]:
    """Yield the sessions; an unclosed session ends at its last activity."""
    named = set[str]()
    for row in tables.rows("sdk_sessions", known.damage):
        session = text(row.get("content_session_id")) or text(row.get("memory_session_id"))
        named.add(session)
        at = _at(row, "started_at")
        ended = _at(row, "completed_at") or known.last.get(session, "") or at
        title = text(row.get("custom_title")) or headline(text(row.get("user_prompt")))
        yield ForeignSession(
            id=session,
            at=at,
            project=text(row.get("project")) or None,
            by=Actor(kind="agent", name=text(row.get("platform_source")) or "claude"),
            title=title,
            closed_at=ended,
            close={"type": text(row.get("status")) or "ended", "title": title},
            left={"summary": known.summaries[session]} if session in known.summaries else {},
            extra=rest(row, _SESSION) | {"memory_session_id": text(row.get("memory_session_id"))},
            where=f"sdk_sessions {row.get('id')}",
        )
    for session, last in known.last.items():
        if session not in named:  # its row is gone, its records are not
            yield ForeignSession(id=session, at=last, closed_at=last, close={"type": "ended"}, where=session)


def _at(row: Row, name: str) -> str:
    return when(row.get(f"{name}_epoch")) or when(row.get(name))
