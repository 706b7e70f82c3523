"""Write the small stores of other systems that the tests import: tests/data/importers/.

Run it as `python3 dev.py uv run python -m scripts.make_import_fixtures`; the same files come out every time.

The schemas in `bench.foreign` were compared once with those of the real packages:
- hot-memory-mcp 0.8.0: its own migrations, run to version 18, give the same columns in every table that is read;
- claude-mem 13.25.3: a database made by its own SessionStore has the same columns in the tables that are read;
- bettermemory 1.5.0: its Store loads the good files written here, and all that `holdfast store export --as bettermemory` writes;
- git-notes-memory 0.12.0: its own parser reads the notes written here, but for what follows a rule of dashes;
- GitMem is not on the package index; its files follow the collections and fields of the published source, 1.8.0.
None of these packages is needed to run this script.
"""

import gzip
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench.foreign import CLAUDE_MEM, MEMORY_MCP, write_database, write_json, write_notes

HERE = Path(__file__).parent.parent / "tests" / "data" / "importers"
SECRET = "DB_PASSWORD=tr0ub4dor-Zq9xk31"  # noqa: S105  made up, to see it masked
SCAR = "3f0c9c52-1111-4a6e-9d0b-7a1e5c000001"
WIN = "3f0c9c52-2222-4a6e-9d0b-7a1e5c000002"
OLD = "3f0c9c52-3333-4a6e-9d0b-7a1e5c000003"
SESSION = "9b1d4f60-aaaa-4c11-8e21-5d2f00000001"


def main() -> None:
    """Write every fixture anew."""
    shutil.rmtree(HERE, ignore_errors=True)
    gitmem(HERE / "gitmem")
    memory_mcp(HERE / "memory-mcp.db")
    bettermemory(HERE / "bettermemory")
    claude_mem(HERE / "claude-mem.db")
    git_notes(HERE / "git-notes.bundle")
    claude_code(HERE / "claude-code")
    files(HERE / "files")


def gitmem(folder: Path) -> None:
    """Write a `.gitmem` folder: two of its lists have a damaged entry."""
    write_json(
        folder,
        {
            "config.json": {"project": "shop", "timezone": "UTC"},
            "learnings.json": _learnings(),
            "decisions.json": _decisions(),
            "threads.json": _threads(),
            "suggested-threads.json": _suggestions(),
            "sessions.json": _sessions(),
            "scar_usage.json": _usage(),
            "closing-payload.json": _payload(),
            f"sessions/{SESSION[:-1]}2/session.json": _running(),
            "notes-of-mine.json": [{"remember": "nothing"}],
        },
    )


def _learnings() -> list[Any]:
    return [
        {
            "id": SCAR,
            "learning_type": "scar",
            "title": "Stock is reserved before payment, not after",
            "description": "Two customers bought the last lamp because stock went down only once the payment came back.",
            "severity": "high",
            "scar_type": "incident",
            "counter_arguments": ["Payments rarely fail.", "Reserving early blocks carts."],
            "keywords": ["stock", "checkout"],
            "domain": ["payments"],
            "applies_when": ["touching checkout"],
            "why_this_matters": "Refunds cost more than the sale.",
            "action_protocol": ["Reserve in the same transaction as the order"],
            "self_check_criteria": ["Is there a window between order and reservation?"],
            "required_verification": {
                "when": "before deploying checkout",
                "queries": ["select count(*) from reservations"],
                "must_show": "no orphaned reservation",
                "blocking": True,
            },
            "source_linear_issue": "SHOP-41",
            "project": "shop",
            "persona_name": "cli",
            "created_at": "2026-01-10T09:15:30.250Z",
            "updated_at": "2026-02-01T10:00:00.000Z",
            "is_active": True,
            "decay_multiplier": 0.8,
            "embedding": [0.1, 0.2],
            "reviewed_by": "Ada",
        },
        {
            "id": WIN,
            "learning_type": "win",
            "title": "One fixture per store made the tests fast",
            "description": f"A template database copied per test took the suite from 90 to 11 seconds. {SECRET}",
            "project": "default",
            "created_at": "2026-01-12T08:00:00.000Z",
            "related_scar_id": SCAR,
        },
        {
            "id": OLD,
            "learning_type": "pattern",
            "title": "Feature flags live in the settings table",
            "description": "Flags are rows, so that support can flip them.",
            "project": "default",
            "created_at": "2025-11-02T08:00:00.000Z",
            "is_active": False,
            "archived_at": "2026-01-20T08:00:00.000Z",
        },
        {
            "id": "3f0c9c52-4444-4a6e-9d0b-7a1e5c000004",
            "learning_type": "anti_pattern",
            "title": "Retrying inside a retry",
            "description": "The mailer retried while the queue did too: 27 copies of one mail.",
            "project": "mailer",
            "created_at": "2026-01-14T08:00:00.000Z",
        },
        "a line somebody pasted here",
        {"id": "3f0c9c52-5555-4a6e-9d0b-7a1e5c000005", "learning_type": "win", "title": "", "description": ""},
    ]


def _decisions() -> list[Any]:
    return [
        {
            "id": "d7a1e5c0-1111-4a6e-9d0b-000000000001",
            "decision_date": "2026-01-11",
            "title": "Money is kept in cents",
            "decision": "All amounts are integers of cents; formatting happens at the edge.",
            "rationale": "Floats lost a cent in every hundredth order.",
            "alternatives_considered": ["Decimal columns", "A money library"],
            "personas_involved": ["Ada", "Ben"],
            "docs_affected": ["docs/money.md"],
            "linear_issue": "SHOP-12",
            "session_id": SESSION,
            "project": "default",
            "created_at": "2026-01-11T12:00:00.000Z",
        }
    ]


def _threads() -> list[Any]:
    return [
        {
            "id": "t-0a1b2c3d",
            "text": "Move the mailer off the old queue",
            "status": "open",
            "created_at": "2026-01-11T12:30:00.000Z",
            "last_touched_at": "2026-01-15T09:00:00.000Z",
            "source_session": SESSION,
            "touch_count": 3,
        },
        {
            "id": "t-0a1b2c3e",
            "text": "Find out why the nightly export takes an hour",
            "status": "resolved",
            "created_at": "2026-01-05T12:30:00.000Z",
            "resolved_at": "2026-01-09T09:00:00.000Z",
            "resolution_note": "An index was missing on orders.created_at",
            "resolved_by_session": SESSION,
        },
        {
            "id": "t-0a1b2c3f",
            "text": "PROJECT STATE: the new checkout is behind a flag for ten percent of users",
            "status": "open",
            "created_at": "2026-01-16T12:30:00.000Z",
        },
    ]


def _suggestions() -> list[Any]:
    return [
        {
            "id": "ts-00000001",
            "text": "Flaky login test",
            "embedding": [0.5],
            "evidence_sessions": [SESSION, "9b1d4f60-bbbb-4c11-8e21-5d2f00000009"],
            "similarity_score": 0.81,
            "status": "pending",
            "dismissed_count": 1,
            "created_at": "2026-01-13T10:00:00.000Z",
            "updated_at": "2026-01-14T10:00:00.000Z",
        },
        {
            "id": "ts-00000002",
            "text": "The old queue again",
            "evidence_sessions": [SESSION],
            "similarity_score": 0.9,
            "status": "promoted",
            "promoted_thread_id": "t-0a1b2c3d",
            "dismissed_count": 0,
            "created_at": "2026-01-10T10:00:00.000Z",
        },
    ]


def _sessions() -> list[Any]:
    return [
        {
            "id": SESSION,
            "session_date": "2026-01-11",
            "session_title": "Cents everywhere",
            "project": "default",
            "agent": "cli",
            "linear_issue": "SHOP-12",
            "decisions": ["Money is kept in cents"],
            "open_threads": [
                {"id": "t-0a1b2c3d", "text": "Move the mailer off the old queue", "status": "open"},
                {
                    "id": "t-0a1b2c40",
                    "text": "Ask support which exports they still use",
                    "status": "open",
                    "created_at": "2026-01-11T13:00:00.000Z",
                },
            ],
            "closing_reflection": {
                "what_broke": "Rounding in the invoice preview.",
                "what_worked": "A property test over random carts.",
                "institutional_memory_items": ["Keep amounts as integers"],
                "rapport_notes": "Short questions, long silences.",
                "human_additions": "Round half up.",
            },
            "close_compliance": {"close_type": "standard", "agent": "cli", "learnings_stored": 1},
            "rapport_summary": "prefers diffs | short questions",
            "created_at": "2026-01-11T11:00:00.000Z",
            "updated_at": "2026-01-11T13:05:00.000Z",
        }
    ]


def _usage() -> list[Any]:
    return [
        {
            "id": "u-1",
            "scar_id": SCAR,
            "issue_id": "SHOP-50",
            "session_id": SESSION,
            "agent": "cli",
            "surfaced_at": "2026-01-11T11:10:00.000Z",
            "acknowledged_at": "2026-01-11T11:20:00.000Z",
            "reference_type": "explicit",
            "reference_context": "The reservation moved into the order's transaction.",
            "execution_successful": True,
            "created_at": "2026-01-11T11:20:00.000Z",
        },
        {
            "id": "u-2",
            "scar_id": SCAR,
            "session_id": "9b1d4f60-bbbb-4c11-8e21-5d2f00000009",
            "agent": "desktop",
            "surfaced_at": "2026-01-12T11:10:00.000Z",
            "reference_type": "none",
            "execution_successful": False,
            "created_at": "2026-01-12T11:30:00.000Z",
        },
        {"id": "u-3", "scar_id": "00000000-0000-4000-8000-000000000000", "reference_type": "none"},
    ]


def _payload() -> dict[str, Any]:
    return {
        "session_id": f"{SESSION[:-1]}2",
        "closing_reflection": {"what_broke": "", "what_took_longer": "Finding the second place that rounds."},
        "human_corrections": "Do not touch the tax code this week.",
        "decisions": [{"title": "Preview uses the invoice's own code", "decision": "The preview calls the invoice."}],
        "open_threads": ["Look at rounding in the tax report"],
        "scars_to_record": [],
    }


def _running() -> dict[str, Any]:
    return {
        "session_id": f"{SESSION[:-1]}2",
        "agent": "cli",
        "started_at": "2026-01-17T09:00:00.000Z",
        "project": "default",
        "hostname": "laptop",
        "pid": 4711,
        "recall_called": True,
        "surfaced_scars": [
            {
                "scar_id": SCAR,
                "scar_title": "Stock is reserved",
                "scar_severity": "high",
                "surfaced_at": "2026-01-17T09:05:00.000Z",
                "source": "recall",
            }
        ],
        "confirmations": [
            {
                "scar_id": SCAR,
                "scar_title": "Stock is reserved",
                "decision": "N_A",
                "evidence": "This change only touches the preview, no stock is involved anywhere.",
                "relevance": "low",
            }
        ],
        "observations": [
            {
                "source": "sub-agent",
                "text": "The preview has its own copy of the rounding code.",
                "severity": "warning",
                "context": "src/preview.py",
                "absorbed_at": "2026-01-17T09:30:00.000Z",
            }
        ],
    }


def memory_mcp(path: Path) -> None:
    """Write a Memory MCP database."""
    at = "2026-02-01 10:00:0"
    session = "5d2f0000-aaaa-4c11-8e21-000000000001"
    shop, local = "github/acme/shop", "local/tools"
    write_database(
        path,
        MEMORY_MCP.replace("utility_score real default 0.25\n", "utility_score real default 0.25, mood text\n"),
        {
            "memories": [
                {
                    "id": 1,
                    "content": "We decided to shard orders by region because one table no longer fits the backup window.",
                    "content_hash": "h1",
                    "memory_type": "project",
                    "source": "manual",
                    "is_hot": 1,
                    "is_pinned": 1,
                    "promotion_source": "manual",
                    "access_count": 9,
                    "created_at": f"{at}1",
                    "trust_score": 0.95,
                    "session_id": session,
                    "project_id": shop,
                    "category": "decision",
                    "retrieved_count": 12,
                    "used_count": 2,
                    "last_used_at": "2026-02-05 08:00:00",
                    "mood": "calm",
                },
                {
                    "id": 2,
                    "content": "The API of the warehouse answers with 202 first; poll the location header.",
                    "content_hash": "h2",
                    "memory_type": "reference",
                    "source": "mined",
                    "created_at": f"{at}2",
                    "trust_score": 0.4,
                    "project_id": shop,
                    "category": "architecture",
                },
                {
                    "id": 3,
                    "content": f"Connect to staging with {SECRET}, <private>ask Ben for the token</private> then run the seed.",
                    "content_hash": "h3",
                    "memory_type": "conversation",
                    "source": "manual",
                    "created_at": f"{at}3",
                    "project_id": None,
                },
                {
                    "id": 4,
                    "content": "The linter runs as a pre-commit hook.",
                    "content_hash": "h4",
                    "memory_type": "pattern",
                    "source": "manual",
                    "created_at": f"{at}4",
                    "project_id": local,
                    "category": "convention",
                },
                {
                    "id": 5,
                    "content": "   ",
                    "content_hash": "h5",
                    "memory_type": "project",
                    "source": "manual",
                    "created_at": f"{at}5",
                },
                {
                    "id": 6,
                    "content": b"\xff\xfe broken bytes",
                    "content_hash": "h6",
                    "memory_type": "project",
                    "source": "manual",
                    "created_at": f"{at}6",
                },
            ],
            "memory_tags": [{"memory_id": 1, "tag": "orders"}, {"memory_id": 1, "tag": "scale"}],
            "memory_relationships": [
                {"from_memory_id": 1, "to_memory_id": 2, "relation_type": "depends_on", "created_at": f"{at}7"},
                {"from_memory_id": 2, "to_memory_id": 99, "relation_type": "mentions", "created_at": f"{at}7"},
            ],
            "mined_patterns": [
                {
                    "pattern": "uv run pytest -q tests/unit",
                    "pattern_hash": "p1",
                    "pattern_type": "command",
                    "occurrence_count": 5,
                    "confidence": 0.5,
                    "first_seen": f"{at}1",
                    "last_seen": f"{at}4",
                },
                {
                    "pattern": "The API of the warehouse answers with 202 first",
                    "pattern_hash": "p2",
                    "pattern_type": "insight",
                    "status": "promoted",
                    "first_seen": f"{at}1",
                    "last_seen": f"{at}1",
                    "memory_id": 2,
                },
                {
                    "pattern": "import os, sys, json in one line",
                    "pattern_hash": "p3",
                    "pattern_type": "import",
                    "status": "rejected",
                    "first_seen": f"{at}1",
                    "last_seen": f"{at}1",
                },
            ],
            "trust_history": [
                {
                    "memory_id": 2,
                    "reason": "factually_wrong",
                    "old_trust": 0.7,
                    "new_trust": 0.4,
                    "delta": -0.3,
                    "note": "It is 200 since v3.",
                    "created_at": "2026-02-03 08:00:00",
                }
            ],
            "sessions": [
                {
                    "id": session,
                    "started_at": f"{at}0",
                    "last_activity_at": "2026-02-01 12:00:00",
                    "topic": "Sharding",
                    "project_path": "/home/ada/work",
                    "memory_count": 1,
                }
            ],
            "projects": [
                {
                    "id": shop,
                    "created_at": f"{at}0",
                    "last_accessed_at": f"{at}0",
                }
            ],
            "retrieval_events": [
                {"query_hash": "q", "memory_id": 2, "similarity": 0.9, "was_used": 1, "created_at": f"{at}8"}
            ],
            "injection_log": [
                {"memory_id": 1, "resource": "hot-cache", "injected_at": f"{at}9", "session_id": session}
            ],
            "output_log": [{"content": "USER: hello", "timestamp": f"{at}0"}],
        },
    )


def bettermemory(folder: Path) -> None:
    """Write a bettermemory folder: memories, a tombstone, a log with its archive, and three files nobody can read."""
    shop = {"cwd": "/home/ada/shop", "repo": "git@github.com:acme/shop.git", "branch": "main"}
    write_json(
        folder,
        {
            "2026-03-01-deploys-go-out-on-tuesdays.md": _markdown(
                _front("01KJ0000000000000000000001", "2026-03-01T09:00:00Z", ["projects:shop", "deploys"])
                | {
                    "updated": "2026-03-05T09:00:00Z",
                    "origin": shop,
                    "last_verified_at": "2026-03-06T09:00:00Z",
                    "category": "fact",
                    "verified_paths": ["/home/ada/shop/deploy.yml"],
                    "verified_commits": ["0123abc"],
                    "shelf": "top",
                },
                "Deploys go out on Tuesdays, after the backup has been checked.",
            ),
            "2026-03-02-ada-likes-small-diffs.md": _markdown(
                _front("01KJ0000000000000000000002", "2026-03-02T09:00:00Z", ["people"])
                | {"category": "user-inference", "source": "inferred", "confidence": "low"},
                f"Ada likes small diffs. {SECRET}",
            ),
            "2026-03-03-billing-belongs-to-another-repo.md": _markdown(
                _front("01KJ0000000000000000000003", "2026-03-03T09:00:00Z", ["projects:billing"])
                | {"origin": {"repo": "https://github.com/acme/billing"}},
                "Billing closes its books on the first of the month.",
            ),
            ".tombstones/2026-02-01-old-host.tombstone.md": _markdown(
                _front("01KJ0000000000000000000004", "2026-02-01T09:00:00Z", ["infra"])
                | {
                    "removed": "2026-02-20T09:00:00Z",
                    "removed_reason": "the host is gone",
                    "removed_session": "sess_0000000000000002",
                },
                "The old host answers on port 8080.",
            ),
            "no-front.md": "Just a note somebody dropped here.\n",
            "broken.md": "---\nid: [unclosed\n---\n\nNobody can read the front of this.\n",
            "newer.md": _markdown(
                _front("01KJ0000000000000000000009", "2026-03-09T09:00:00Z", ["x"]) | {"schema_version": 2}, "Later."
            ),
            ".events.jsonl": _events_log(),
        },
    )
    early = {"ts": "2026-03-01T10:00:00Z", "session": "sess_0000000000000001", "kind": "show"}
    with (folder / ".events-20260301T000000Z.jsonl.gz").open("wb") as raw:
        line = json.dumps(early | {"id": "01KJ0000000000000000000001"}) + "\n"
        raw.write(gzip.compress(line.encode(), mtime=0))


def _front(name: str, at: str, scopes: list[str]) -> dict[str, Any]:
    front = {"schema_version": 1, "id": name, "created": at, "updated": at, "scopes": scopes}
    return front | {"confidence": "high", "source": "explicit-statement"}


def _markdown(front: dict[str, Any], body: str) -> str:
    lines = [f"{name}: {json.dumps(value)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


def _events_log() -> str:
    session = "sess_0000000000000002"
    rows = [
        {
            "ts": "2026-03-06T08:00:00Z",
            "session": session,
            "kind": "search",
            "query": "when do we deploy",
            "returned": ["01KJ0000000000000000000001", "01KJ000000000000000000000X"],
        },
        {
            "ts": "2026-03-06T08:05:00Z",
            "session": session,
            "kind": "use",
            "ids": ["01KJ0000000000000000000001"],
            "outcome": "applied",
            "note": "waited for Tuesday",
        },
        {"ts": "2026-03-06T08:06:00Z", "session": session, "kind": "scope_overview"},
    ]
    return "".join(json.dumps(row) + "\n" for row in rows) + '{"ts": "2026-03-0\n'


def claude_mem(path: Path) -> None:
    """Write a claude-mem database."""
    epoch = 1_772_400_000_000  # 2026-03-01T21:20:00Z
    seen, host = "obs-session-1", "host-session-1"
    stamp = {"created_at": "2026-03-01T21:20:00.000Z", "created_at_epoch": epoch}
    write_database(
        path,
        CLAUDE_MEM,
        {
            "sdk_sessions": [
                {
                    "content_session_id": host,
                    "memory_session_id": seen,
                    "project": "shop",
                    "platform_source": "claude",
                    "user_prompt": "Make the search box keep its text",
                    "started_at": stamp["created_at"],
                    "started_at_epoch": epoch,
                    "completed_at": "2026-03-01T22:20:00.000Z",
                    "completed_at_epoch": epoch + 3_600_000,
                    "status": "completed",
                },
                {
                    "content_session_id": "host-session-2",
                    "memory_session_id": "obs-session-2",
                    "project": "blog",
                    "started_at": "2026-03-02T21:20:00.000Z",
                    "started_at_epoch": epoch + 86_400_000,
                },
            ],
            "observations": [
                {
                    "memory_session_id": seen,
                    "project": "shop",
                    "type": "bugfix",
                    "title": "Search text is kept across pages",
                    "subtitle": "State moved into the address",
                    "facts": json.dumps(["The text stands in ?q=", "Back and forward work"]),
                    "narrative": "The box lost its text because the page was rendered anew; the address now holds it.",
                    "concepts": json.dumps(["problem-solution", "gotcha"]),
                    "files_read": json.dumps(["src/search.ts"]),
                    "files_modified": json.dumps(["src/box.tsx"]),
                    "prompt_number": 1,
                    "discovery_tokens": 4200,
                    "relevance_count": 2,
                    "generated_by_model": "haiku",
                    "metadata": json.dumps({"note": "by hand"}),
                    **stamp,
                },
                {
                    "memory_session_id": "obs-session-2",
                    "project": "blog",
                    "text": f"An early row with text only. {SECRET}",
                    "type": "discovery",
                    "created_at": "2026-03-02T21:30:00.000Z",
                    "created_at_epoch": epoch + 87_000_000,
                },
                {
                    "memory_session_id": "lost-session",
                    "project": "shop",
                    "type": "decision",
                    "title": "Icons come from one sprite",
                    "merged_into_project": "shop",
                    "created_at": "2026-03-03T21:30:00.000Z",
                    "created_at_epoch": epoch + 173_000_000,
                },
                {"memory_session_id": seen, "project": "shop", "type": "change", "title": "", **stamp},
            ],
            "session_summaries": [
                {
                    "memory_session_id": seen,
                    "project": "shop",
                    "request": "Make the search box keep its text",
                    "learned": "The router drops state that is not in the address.",
                    "completed": "The box keeps its text.",
                    "next_steps": "Do the same for filters.",
                    "files_edited": json.dumps(["src/box.tsx"]),
                    "prompt_number": 2,
                    "created_at": "2026-03-01T22:00:00.000Z",
                    "created_at_epoch": epoch + 2_400_000,
                }
            ],
            "user_prompts": [
                {
                    "content_session_id": host,
                    "prompt_number": 1,
                    "prompt_text": "Make the search box keep its text",
                    **stamp,
                },
                {
                    "content_session_id": host,
                    "prompt_number": 2,
                    "prompt_text": "<private>my own words</private> and now the filters",
                    "created_at": "2026-03-01T22:10:00.000Z",
                    "created_at_epoch": epoch + 3_000_000,
                },
            ],
            "tool_uses": [
                {"tool_use_id": "t1", "content_session_id": host, "project": "shop", "tool_name": "Read", **stamp}
            ],
        },
    )


def git_notes(path: Path) -> None:
    """Write a repository with notes on its commits, as one bundle."""
    notes = [
        (
            "decisions",
            0,
            _entry("decisions", "2025-12-21T05:52:40.658071+00:00", "Chose SQLite", spec="store", tags=["database"])
            + "## Context\n\nOne file is enough.\n\n---\n\nA rule of dashes is no new entry.\n\n"
            + _entry("decisions", "2025-12-22T05:52:40+00:00", "Kept WAL mode", relates_to=["decisions:{0}:0"])
            + "Readers never wait.\n",
        ),
        (
            "blockers",
            1,
            _entry("blockers", "2025-12-23T06:00:00+00:00", "CI has no Docker", status="resolved")
            + "Use a real server.\n",
        ),
        (
            "learnings",
            1,
            "torn text from a merge\n\n"
            + _entry("learnings", "2025-12-24T06:00:00+00:00", "Notes need refspecs", mood="wary")
            + f"They are not fetched by default. {SECRET}\n",
        ),
        (
            "reviews",
            2,
            "---\ntype: reviews\nsummary: Fine after two rounds\ntags: ['verdict:approved']\n---\n\nSmall nits.\n",
        ),
        (
            "progress",
            2,
            "---\ntype: progress\nsummary: [broken\n---\n\nLost.\n\n---\ntype: progress\nsummary: Never ends\n",
        ),
    ]
    with tempfile.TemporaryDirectory() as place:
        repository = Path(place) / "repo"
        write_notes(repository, [("decisions", 2, "placeholder")])  # commits first: their names go into the notes
        commits = _output(repository, "rev-list", "--reverse", "main").split()
        shutil.rmtree(repository)
        filled = [(name, number, said.replace("{0}", commits[0])) for name, number, said in notes]
        write_notes(repository, filled, remote="git@github.com:acme/shop.git")
        path.parent.mkdir(parents=True, exist_ok=True)
        _output(repository, "bundle", "create", "-q", str(path), "--all")


def _entry(namespace: str, at: str, summary: str, **more: Any) -> str:
    lines = [f"type: {namespace}", f"timestamp: '{at}'", f"summary: {summary}"]
    lines += [f"{name}: {json.dumps(value)}" for name, value in more.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def _output(folder: Path, *command: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True, text=True).stdout


def claude_code(folder: Path) -> None:
    """Write an auto memory folder and a file of instructions."""
    write_json(
        folder,
        {
            "-home-ada-shop/memory/MEMORY.md": "# Memory\n\n- [Tests](tests.md): how tests are run\n",
            "-home-ada-shop/memory/tests.md": (
                "---\nname: tests\ndescription: How tests are run here\nmetadata:\n  type: project\n"
                "  originSessionId: 77aa\n---\n\nRun them with `make check`; see [[style]] and [[nowhere]].\n"
            ),
            "-home-ada-shop/memory/style.md": (
                "---\nname: style\ndescription: Ada wants short functions\ntype: feedback\n---\n\n"
                f"Functions stay under twenty lines. {SECRET}\n"
            ),
            "-home-ada-shop/memory/loose.md": "# Ports\n\nThe API listens on 8000.\n",
            "-home-ada-shop/memory/broken.md": "---\nname: [x\n---\n\nLost front.\n",
            "CLAUDE.md.txt": (  # under its own name agents at work here would obey it
                "Read this first.\n\n# Commands\n\nUse `make`.\n\n## Tests\n\n```\n# not a heading\nmake check\n```\n\n"
                "## Deploys\n\n# Style\n\n## Tests\n\nName them as sentences.\n\n"
                "<claude-mem-context>\n# Recent\n\nold table\n</claude-mem-context>\n"
            ),
        },
    )


def files(folder: Path) -> None:
    """Write one file of each sort that is read as it is."""
    write_json(
        folder,
        {
            "notes.md": "# Printers\n\nThe label printer wants 203 dpi.\n",
            "notes.txt": f"The scanner sleeps after ten minutes.\n\nWake it with a blank sheet. {SECRET}\n",
            "memories.json": {
                "memories": [
                    {
                        "id": "m-1",
                        "title": "Label size",
                        "content": "Labels are 62 mm wide.",
                        "kind": "fact",
                        "tags": ["printing"],
                        "created_at": "2026-04-01T10:00:00Z",
                        "links": [{"relation": "depends_on", "target": "m-2"}],
                        "colour": "white",
                    },
                    {"id": "m-2", "text": "Rolls come from the second supplier.", "date": "2026-04-02"},
                    "Spare rolls lie in the blue cabinet.",
                    {"sku": "R-62", "supplier": "second"},
                    7,
                ]
            },
            "lines.jsonl": '{"text": "The till prints in code page 858."}\n{"text": "cut sho\n{"name": "Till", "state": "odd"}\n',
        },
    )


if __name__ == "__main__":
    main()
