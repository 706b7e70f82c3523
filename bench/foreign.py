"""Write stores in the formats of other systems, for import benchmarks and test fixtures."""

import json
import sqlite3
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

MEMORY_MCP = """
create table schema_version (version integer primary key, applied_at text default current_timestamp);
create table memories (
    id integer primary key, content text not null, content_hash text unique, memory_type text not null,
    source text not null, is_hot integer default 0, is_pinned integer default 0, promotion_source text,
    access_count integer default 0, last_accessed_at text, created_at text default current_timestamp,
    trust_score real default 1.0, source_log_id integer, extracted_at text, session_id text,
    importance_score real default 0.5, project_id text, category text, retrieved_count integer default 0,
    used_count integer default 0, last_used_at text, utility_score real default 0.25
);
create table memory_tags (
    memory_id integer references memories(id) on delete cascade, tag text not null, primary key (memory_id, tag)
);
create table output_log (
    id integer primary key, content text not null, timestamp text default current_timestamp, session_id text,
    project_id text
);
create table mined_patterns (
    id integer primary key, pattern text not null, pattern_hash text unique, pattern_type text not null,
    occurrence_count integer default 1, first_seen text default current_timestamp,
    last_seen text default current_timestamp, status text default 'pending', source_log_id integer,
    confidence real default 0.5, score real default 0.0, memory_id integer
);
create table trust_history (
    id integer primary key, memory_id integer, reason text not null, old_trust real not null, new_trust real not null,
    delta real not null, similarity real, note text, created_at text default current_timestamp
);
create table memory_relationships (
    id integer primary key, from_memory_id integer not null, to_memory_id integer not null,
    relation_type text not null, created_at text default current_timestamp,
    unique (from_memory_id, to_memory_id, relation_type)
);
create table sessions (
    id text primary key, started_at text default current_timestamp, last_activity_at text default current_timestamp,
    topic text, project_path text, memory_count integer default 0, log_count integer default 0
);
create table projects (
    id text primary key, name text, path text, last_accessed_at text default current_timestamp,
    created_at text default current_timestamp
);
create table retrieval_events (
    id integer primary key, query_hash text not null, memory_id integer not null, similarity real not null,
    was_used integer default 0, feedback text, created_at text default current_timestamp
);
create table injection_log (
    id integer primary key, memory_id integer not null, resource text not null,
    injected_at text default current_timestamp, session_id text, project_id text
);
create table metadata (key text primary key, value text not null);
insert into schema_version (version, applied_at) values (18, '2026-01-01 00:00:00');
"""
CLAUDE_MEM = """
create table schema_versions (id integer primary key, version integer unique not null, applied_at text not null);
create table sdk_sessions (
    id integer primary key autoincrement, content_session_id text not null, memory_session_id text unique,
    project text not null, platform_source text not null default 'claude', user_prompt text, started_at text not null,
    started_at_epoch integer not null, completed_at text, completed_at_epoch integer,
    status text not null default 'active' check (status in ('active', 'completed', 'failed')),
    worker_port integer, prompt_counter integer default 0, custom_title text, observed_model text, observed_billing text
);
create table observations (
    id integer primary key autoincrement, memory_session_id text not null, project text not null, text text,
    type text not null, title text, subtitle text, facts text, narrative text, concepts text, files_read text,
    files_modified text, prompt_number integer, discovery_tokens integer default 0, content_hash text,
    generated_by_model text, relevance_count integer default 0, merged_into_project text, agent_type text,
    agent_id text, metadata text, created_at text not null, created_at_epoch integer not null,
    origin_device_id text, origin_local_id integer, sync_rev integer, synced_at integer
);
create table session_summaries (
    id integer primary key autoincrement, memory_session_id text not null, project text not null, request text,
    investigated text, learned text, completed text, next_steps text, files_read text, files_edited text, notes text,
    prompt_number integer, discovery_tokens integer default 0, merged_into_project text, created_at text not null,
    created_at_epoch integer not null, origin_device_id text, origin_local_id integer, sync_rev integer, synced_at integer
);
create table user_prompts (
    id integer primary key autoincrement, session_db_id integer, content_session_id text not null,
    prompt_number integer not null, prompt_text text not null, created_at text not null,
    created_at_epoch integer not null, origin_device_id text, origin_local_id integer, sync_rev integer, synced_at integer
);
create table tool_uses (
    id integer primary key autoincrement, tool_use_id text not null, content_session_id text not null,
    project text not null, tool_name text not null, tool_input text, tool_response text, created_at text not null,
    created_at_epoch integer not null
);
"""


def write_database(path: Path, schema: str, tables: Mapping[str, Iterable[Row]]) -> None:
    """Write a SQLite file with these rows."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma page_size = 1024")
        connection.executescript(schema)
        for table, rows in tables.items():
            for row in rows:
                names, marks = ", ".join(row), ", ".join("?" * len(row))
                connection.execute(f"insert into {table} ({names}) values ({marks})", tuple(row.values()))
        connection.commit()


def write_json(folder: Path, files: Mapping[str, Any]) -> None:
    """Write a folder of JSON files; a string is written unchanged."""
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1) + "\n", encoding="utf-8")


def write_notes(
    folder: Path, notes: Sequence[tuple[str, int, str]], *, remote: str = "", at: int = 1_760_000_000
) -> None:
    """Create a repository with notes, each in a namespace on a numbered commit; the commits are an hour apart."""
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "-q", "-b", "main")
    if remote:
        _git(folder, "remote", "add", "origin", remote)
    commits = max(number for _, number, _ in notes) + 1
    stream: list[bytes] = []
    for number in range(commits):
        stream.append(_commit(f"commit refs/heads/main\nmark :{number + 1}\n", at + number * 3600, f"Step {number}"))
        stream.append(b"from :%d\n" % number if number else b"")
    for namespace in dict.fromkeys(name for name, _, _ in notes):
        stream.append(_commit(f"commit refs/notes/mem/{namespace}\n", at + commits * 3600, "Notes"))
        stream += [_note(number, said) for name, number, said in notes if name == namespace]
    _git(folder, "fast-import", "--quiet", given=b"".join(stream))


def _commit(head: str, at: int, message: str) -> bytes:
    who = f"Ada Example <ada@example.org> {at} +0000"
    return f"{head}committer {who}\ndata {len(message)}\n{message}\n".encode()


def _note(number: int, said: str) -> bytes:
    content = said.encode()
    return b"N inline :%d\ndata %d\n%s\n" % (number + 1, len(content), content)


def _git(folder: Path, *command: str, given: bytes = b"") -> None:
    subprocess.run(["git", "-C", str(folder), *command], input=given, check=True, capture_output=True)  # noqa: S603, S607
