"""A small world, and for every tool of every contract a call that works in it. «scar» and the like are ids of that world."""

from typing import Any

from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import numbers_of
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.write import WrittenPending, draft_event, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import start
from holdfast.verbs.sessions.thread import Opened, open_thread
from holdfast.verbs.sessions.transcript import save_transcript
from tests.conftest import keep

SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
USED = {"surfaced_at": "2026-09-21T10:00:00Z", "reference_type": "explicit", "reference_context": "Rehearsed it."}
ANSWERS = dict.fromkeys(
    ("what_broke", "what_took_longer", "do_differently", "what_worked", "wrong_assumption"), "Nothing much."
)

EXAMPLES: dict[str, dict[str, dict[str, Any]]] = {
    "gitmem": {
        "session_start": {
            "project": "shop",
            "agent_identity": "cli",
            "issue_title": "Migrations",
            "issue_labels": ["db"],
        },
        "session_refresh": {},
        "session_close": {"session_id": "«session»", "close_type": "standard", "closing_reflection": ANSWERS},
        "recall": {"plan": "rehearse migrations"},
        "confirm_scars": {"confirmations": [{"scar_id": "«scar»", "decision": "APPLYING", "evidence": EVIDENCE}]},
        "reflect_scars": {"reflections": [{"scar_id": "«scar»", "outcome": "OBEYED", "evidence": EVIDENCE}]},
        "create_learning": {
            "learning_type": "win",
            "title": "Pairing",
            "description": "Pairing halved the review time.",
        },
        "create_decision": {"title": "JWT", "decision": "Use JWT.", "rationale": "It is stateless."},
        "record_scar_usage": {"scar_id": "«scar»", **USED},
        "record_scar_usage_batch": {"scars": [{"scar_identifier": "rehearse", **USED}]},
        "search": {"query": "migrations"},
        "log": {"since": 7},
        "archive_learning": {"id": "«scar»", "reason": "obsolete"},
        "prepare_context": {"plan": "rehearse migrations", "format": "compact"},
        "absorb_observations": {
            "observations": [{"source": "Sub-Agent", "text": "No test covers logout.", "severity": "warning"}]
        },
        "list_threads": {"include_resolved": True},
        "create_thread": {"text": "Rotate the signing keys"},
        "resolve_thread": {"thread_id": "«thread»", "resolution_note": "done"},
        "promote_suggestion": {"suggestion_id": "«suggestion»"},
        "dismiss_suggestion": {"suggestion_id": "«suggestion»"},
        "cleanup_threads": {},
        "health": {},
        "analyze": {"lens": "blindspots"},
        "graph_traverse": {"lens": "stats"},
        "save_transcript": {"session_id": "«session»", "transcript": "user: hello"},
        "get_transcript": {"session_id": "«session»"},
        "search_transcripts": {"query": "nightly import"},
        "gitmem-cache-status": {},
        "gitmem-cache-health": {},
        "gitmem-cache-flush": {},
        "gitmem-help": {},
    },
    "claude-mem": {
        "__IMPORTANT": {},
        "search": {"query": "migrations"},
        "timeline": {"anchor": "«number»"},
        "get_observations": {"ids": ["«number»"]},
        "session_start_context": {},
        "observation_add": {"content": "The login form posts to the session route."},
    },
    "memory-mcp": {
        "remember": {"content": "This project uses PostgreSQL with pgvector.", "tags": ["database"]},
        "recall": {"query": "migrations", "mode": "exploratory", "include_related": True},
        "recall_with_fallback": {"query": "migrations"},
        "recall_by_tag": {"tag": "database"},
        "list_memories": {"limit": 5, "memory_type": "project"},
        "forget": {"memory_id": "«one»"},
        "memory_stats": {},
        "hot_cache_status": {},
        "promote": {"memory_id": "«one»"},
        "demote": {"memory_id": "«hot»"},
        "pin": {"memory_id": "«hot»"},
        "unpin": {"memory_id": "«hot»"},
        "log_output": {"content": "We decided to use Redis for sessions because it expires keys by itself."},
        "run_mining": {"hours": 24},
        "mining_status": {},
        "review_candidates": {},
        "approve_candidate": {"pattern_id": "«candidate»", "tags": ["cache"]},
        "reject_candidate": {"pattern_id": "«candidate»"},
        "bulk_reject_candidates": {"pattern_ids": ["«candidate»"], "pattern_type_prefix": "command"},
        "bootstrap_project": {},
        "seed_from_text": {"content": "- Run the tests with just test.\n- Deploys happen on Fridays."},
        "seed_from_file": {"file_path": "notes.md"},
        "link_memories": {"from_memory_id": "«one»", "to_memory_id": "«other»", "relation_type": "depends_on"},
        "unlink_memories": {"from_memory_id": "«one»", "to_memory_id": "«hot»"},
        "get_related_memories": {"memory_id": "«one»"},
        "relationship_stats": {},
        "validate_memory": {"memory_id": "«one»", "reason": "cross_validated"},
        "invalidate_memory": {"memory_id": "«one»", "penalty": 0.2, "note": "It moved."},
        "get_trust_history": {"memory_id": "«one»"},
        "find_contradictions": {"memory_id": "«one»"},
        "get_contradictions": {},
        "mark_contradiction": {"memory_id_a": "«one»", "memory_id_b": "«other»"},
        "resolve_contradiction": {"memory_id_a": "«one»", "memory_id_b": "«other»", "keep_id": "«one»"},
        "get_sessions": {},
        "get_session": {"session_id": "«session»"},
        "get_session_memories": {"session_id": "«session»"},
        "cross_session_patterns": {},
        "set_session_topic": {"session_id": "«session»", "topic": "Migrations"},
        "summarize_session": {"session_id": "«session»"},
        "end_session": {"session_id": "«session»"},
        "access_patterns": {},
        "predict_next": {"memory_id": "«one»"},
        "warm_cache": {"memory_id": "«one»"},
        "predictive_cache_status": {},
        "mark_memory_used": {"memory_id": "«one»", "feedback": "It named the port."},
        "retrieval_quality_stats": {"memory_id": "«one»"},
        "preview_consolidation": {},
        "run_consolidation": {},
        "db_maintenance": {},
        "run_cleanup": {},
        "validate_embeddings": {},
        "db_info": {},
        "embedding_info": {},
        "audit_history": {},
        "db_rebuild_vectors": {},
        "metrics_status": {},
    },
    "bettermemory": {
        "memory_search": {"query": "worker jobs Redis", "expand_top": True},
        "memory_show": {"id": "«fact»"},
        "memory_write": {"content": "Tutorials should come with runnable code.", "scopes": ["learning-style"]},
        "memory_write_confirm": {"pending_id": "«pending»"},
        "memory_write_cancel": {"pending_id": "«pending»"},
        "memory_update": {"id": "«fact»", "content": "The worker reads jobs from Valkey.", "confidence": "high"},
        "memory_verify": {"id": "«fact»", "verified_paths": ["notes.md"], "note": "Read the compose file."},
        "memory_list": {"scopes": ["tools"], "with_bodies": True},
        "memory_remove": {"id": "«fact»", "reason": "The worker is gone."},
        "memory_restore": {"id": "«retired»"},
        "memory_list_tombstones": {},
        "memory_rename_scope": {"old_scope": "tools", "new_scope": "tooling"},
        "memory_record_use": {"memory_ids": ["«fact»"], "outcome": "applied"},
        "memory_health": {},
        "memory_scope_overview": {},
        "memory_scope_disable": {"scope": "tools"},
        "memory_scope_enable": {"scope": "tools"},
    },
}


def world(memory: Memory) -> dict[str, str]:
    """Fill a memory with one of everything; give the ids."""
    memory, opening = start(memory, title="Migrations")
    session = opening.session.id
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    recall(memory, Query(text="rehearse migrations"))
    thread = open_thread(memory, "Write the runbook for on-call")
    assert isinstance(thread, Opened)
    draft = Draft(body="Flaky imports keep coming back", kind="thread", source="mined", extra={"evidence": [session]})
    suggestion = memory.commit([draft_event(memory, draft, pending=True)])[0].record
    save_transcript(memory, "user: why does the nightly import fail?")
    one = keep(memory, "The API listens on port 8080.", tags=("database",))
    other = keep(memory, "The worker reads jobs from Redis.", scopes=("tools",))
    hot = keep(memory, "Backups run every night at two.")
    promote(memory, hot.id)
    link(memory, one.id, "relates_to", hot.id)
    log_output(memory, "We decided to use Valkey instead of Memcached because it persists its data.")
    candidate = mine_outputs(memory).offered[0]
    (memory.checkout.top() / "notes.md").write_text("# Deploy\n\n- Deploys happen on Fridays only.\n")
    retired = retire(memory, keep(memory, "The old API had a SOAP endpoint.").id, "gone")
    held = write(memory, Draft(body="The user likes short answers.", kind="preference", source="inferred"))
    assert isinstance(held, WrittenPending)
    numbers = numbers_of(memory, [record.id for record in (scar, one, other, hot, candidate)])
    named = {"number": scar, "one": one, "other": other, "hot": hot, "candidate": candidate}
    ids = {"session": session, "scar": scar.id, "thread": thread.thread.record.id, "suggestion": suggestion.id}
    ids |= {"fact": other.id, "retired": retired.id, "pending": f"pending_{held.record.id}"}
    return ids | {name: str(numbers[record.id]) for name, record in named.items()}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """Put the ids of a world into a call."""
    match value:
        case dict():
            return {name: filled(item, ids) for name, item in value.items()}
        case list():
            return [filled(item, ids) for item in value]
        case str() if value.startswith("«"):
            return ids[value.strip("«»")]
    return value
