"""A small world, and for every tool of every contract a call that works in it. «scar» and the like are ids of that world."""

from typing import Any

from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.verbs.memory import Memory
from holdfast.verbs.recall import recall
from holdfast.verbs.session import start
from holdfast.verbs.thread import Opened, open_thread
from holdfast.verbs.transcript import save_transcript
from holdfast.verbs.write import draft_event
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
}


def world(memory: Memory) -> dict[str, str]:
    """Fill a memory with one of everything; give the ids."""
    session = start(memory, title="Migrations").session.id
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    recall(memory, Query(text="rehearse migrations"))
    thread = open_thread(memory, "Write the runbook for on-call")
    assert isinstance(thread, Opened)
    draft = Draft(body="Flaky imports keep coming back", kind="thread", source="mined", extra={"evidence": [session]})
    suggestion = memory.commit([draft_event(memory, draft, pending=True)])[0].record
    save_transcript(memory, "user: why does the nightly import fail?")
    number = memory.store.db.query("select number from entries where id = :id", {"id": scar.id})[0][0]
    ids = {"session": session, "scar": scar.id, "thread": thread.thread.record.id, "suggestion": suggestion.id}
    return ids | {"number": str(number)}


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
