"""Format the results of bettermemory's tools as JSON: relevance as a word, staleness, and a status for every write."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.query import Hit
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import (
    SAME,
    Duplicate,
    PreviouslyRemoved,
    Refused,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
)
from holdfast.policy.admission.refusals import Remedies, explain, explain_pending
from holdfast.policy.language.overlap import words
from holdfast.surfaces.bettermemory.arguments import PENDING, category_of, source_of
from holdfast.surfaces.bettermemory.drift import STALE_DAYS, Checked, checked, verdict, verified_parts
from holdfast.surfaces.bettermemory.staleness import Staleness
from holdfast.surfaces.bettermemory.tombstones import Tombstone
from holdfast.surfaces.phrases import content
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.records.write import Outcome, Written, WrittenPending

SNIPPET, SUMMARY, AROUND = 200, 80, 20
LONG_WORDS = 500  # words from which an ambient memory is too long for background
REMEDIES = Remedies(
    revise="memory_update",
    restore="memory_restore",
    force="force=true",
    transient="acknowledge_transient=true",
    any_scope="acknowledge_scope_mismatch=true",
    approve="memory_write_confirm(pending_id) once the user agrees",
    reject="memory_write_cancel(pending_id)",
)
RELEVANCE = {"strong": "high", "fair": "medium", "weak": "low"}
_WORD = re.compile(r"\w[\w-]*")


def present(result: Any) -> str:
    """Format a result as JSON."""
    return json.dumps(result, ensure_ascii=False, indent=2)


def present_error(problem: HoldfastError) -> str:
    """Format an error as text."""
    message = "; ".join(problem.problems) + "." if problem.problems else problem.message
    return f"{message} {problem.hint}".strip()


def hit(answer: Hit, stale: Staleness, question: str, token: str) -> dict[str, Any]:
    """Return one search result."""
    record = answer.record
    row_ = {
        "id": record.id,
        "scopes": list(record.scopes),
        "confidence": record.confidence,
        "category": category_of(record),
        "snippet": shorten(answer.snippet or content(record), SNIPPET),
        "score": round(answer.score, 4),
        "relevance": RELEVANCE[answer.confidence],
        "match_terms": terms(question, record),
        **times(record),
        "verification": verification(stale.checked),
        "path_drift_checked": len(stale.paths),
        "path_drift_missing": len(stale.missing),
        "staleness_verdict": stale.verdict,
        "use_token": token,
    }
    return row_ if stale.commits is None else {**row_, "commit_drift_count": stale.commits}


def expanded(first: Mapping[str, Any], record: Record, stale: Staleness) -> dict[str, Any]:
    """Return the best result with its whole text, measured again."""
    drift = {"path_drift": path_drift(stale), "commit_drift": commit_drift(stale)}
    return {**first, "body": content(record), **drift, "staleness_verdict": stale.verdict}


def full(record: Record, stale: Staleness) -> dict[str, Any]:
    """Return a memory in full."""
    return {
        **head(record),
        "source": source_of(record),
        "body": content(record),
        "origin": {
            "repo": record.project or None,
            "cwd": record.extra.get("cwd"),
            "branch": record.origin.branch or None,
            "worktree": record.origin.worktree or None,
        },
        "verification": verification(stale.checked),
        "staleness_verdict": stale.verdict,
        "path_drift": path_drift(stale),
        "commit_drift": commit_drift(stale),
        **verified_parts(record.anchors),
    }


def row(record: Record, now: str) -> dict[str, Any]:
    """Return a memory as a list row; staleness is judged by age alone."""
    check = checked(record, now)
    row_ = {**head(record), "summary": shorten(record.title, SUMMARY), "verification": verification(check)}
    return {**row_, "staleness_verdict": verdict(check.status)}


def head(record: Record) -> dict[str, Any]:
    """Return the fields that every memory starts with."""
    return {
        "id": record.id,
        "scopes": list(record.scopes),
        "confidence": record.confidence,
        "category": category_of(record),
        **times(record),
    }


def times(record: Record) -> dict[str, Any]:
    """Return when a memory was created, updated and verified."""
    return {
        "created": record.created_at,
        "updated": record.updated_at,
        "last_verified_at": record.verified_at or None,
    }


def verification(check: Checked) -> dict[str, Any]:
    """Return when a memory was last verified, and what to do about it."""
    return {
        "status": check.status,
        "last_verified_at": check.at or None,
        "age_days": None if check.days is None else int(check.days),
        "recommendation": check.recommendation or None,
        "stale_after_days": STALE_DAYS,
    }


def path_drift(stale: Staleness) -> dict[str, Any] | None:
    """Return which cited paths are missing; None if none is missing and none was verified."""
    if not stale.missing and not stale.attested:
        return None
    return {"checked": len(stale.paths), "missing": list(stale.missing), "verified": list(stale.attested)}


def commit_drift(stale: Staleness) -> dict[str, Any] | None:
    """Return how many commits were made since a memory was verified; None if unknown."""
    if stale.commits is None:
        return None
    recommendation = "The code changed since this was verified: check it again, then memory_verify."
    status = "drift" if stale.commits else "clean"
    return {
        "status": status,
        "commits_since_verify": stale.commits,
        "recommendation": recommendation if stale.commits else None,
    }


def terms(question: str, record: Record) -> list[str]:
    """Return the words of a question that occur in a memory or its scopes."""
    stored = set(_WORD.findall(f"{record.text} {' '.join(record.scopes)}".lower()))
    parts = stored | {part for word in stored for part in re.split(r"[-_]", word)}
    return [word for word in dict.fromkeys(_WORD.findall(question.lower())) if word in parts & words(question)]


def written(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of a write, as a status with what to do next."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts):
            return {**committed(record), **_neighbours(related, conflicts)}
        case WrittenPending(record=record, why=why, related=related):
            return {**_pending(record, why), **_neighbours(related, ())}
    return refused(outcome)


def committed(record: Record) -> dict[str, Any]:
    """Return a saved memory."""
    saved = {"status": "committed", **head(record), "source": source_of(record)}
    is_long = category_of(record) == "ambient" and len(record.body.split()) > LONG_WORDS
    return {**saved, "warnings": ["ambient_body_long"]} if is_long else saved


def verified(record: Record) -> dict[str, Any]:
    """Return what was verified, and when."""
    result = {"verified": record.id, "last_verified_at": record.verified_at, "updated": record.updated_at}
    return {**result, **verified_parts(record.anchors)}


def refused(outcome: Refused) -> dict[str, Any]:
    """Return why a memory was not saved; raises where it contains credentials."""
    refusal = explain(outcome, REMEDIES)
    match outcome:
        case Transient(markers=markers):
            details: dict[str, Any] = {"markers": [{"marker": marker} for marker in markers]}
            return {"status": "transient_warning", **details, "hint": refusal.hint}
        case ScopeMismatch(suggested=suggested):
            details = {"matches": [_mentioned(scope) for scope in suggested], "suggested_scopes": list(suggested)}
        case Duplicate(matches=matches):
            details = {"matches": [similar(match) for match in matches]}
        case PreviouslyRemoved(matches=matches):
            details = {"removed_matches": [removed(match) for match in matches]}
        case SecretFound():
            raise Invalid(refusal.reason, hint=refusal.hint)
    return {"status": refusal.code, **details, "hint": refusal.hint}


def with_snippets(result: dict[str, Any], text: str) -> dict[str, Any]:
    """Add the text around each marker to a refusal for transient wording."""
    if result["status"] != "transient_warning":
        return result
    marked = [{**place, "snippet": _around(text, place["marker"])} for place in result["markers"]]
    return {**result, "markers": marked}


def similar(match: Similar) -> dict[str, Any]:
    """Return a similar memory."""
    return {
        "id": match.record.id,
        "scopes": list(match.record.scopes),
        "confidence": match.record.confidence,
        "snippet": shorten(content(match.record), SNIPPET),
        "similarity": round(match.similarity, 3),
        "relevance": "high" if match.similarity >= SAME else "medium",
        "created": match.record.created_at,
        "updated": match.record.updated_at,
    }


def removed(match: Similar) -> dict[str, Any]:
    """Return a similar memory that was removed, and why."""
    row_ = similar(match)
    gone = {"removed_at": match.record.updated_at, "removed_reason": match.record.reason}
    return {**row_, "relevance": f"{row_['relevance']}-removed", **gone}


def tombstone(tombstone_: Tombstone) -> dict[str, Any]:
    """Return a removed memory as a list row."""
    row_ = {**head(tombstone_.record), "summary": shorten(tombstone_.record.title, SUMMARY)}
    gone = {
        "removed": tombstone_.at,
        "removed_reason": tombstone_.record.reason,
        "removed_session": tombstone_.session or None,
    }
    return {**row_, **gone}


def renamed(old: str, new: str, records: Iterable[Record]) -> dict[str, Any]:
    """Return the ids of the memories whose scope was renamed."""
    changed = list(records)
    return {
        "old_scope": old,
        "new_scope": new,
        "active": [record.id for record in changed if record.state != "retired"],
        "tombstoned": [record.id for record in changed if record.state == "retired"],
    }


def _pending(record: Record, why: str) -> dict[str, Any]:
    preview = {
        "content": record.body,
        "scopes": list(record.scopes),
        "confidence": record.confidence,
        "source": source_of(record),
        "category": category_of(record),
    }
    return {
        "status": "pending",
        "pending_id": f"{PENDING}{record.id}",
        "pending_reason": "config" if "confirm_writes" in why else "user-inference",
        "preview": preview,
        "hint": explain_pending(record.id, REMEDIES),
    }


def _neighbours(related: Sequence[Similar], conflicts: Sequence[LikelyConflict]) -> dict[str, Any]:
    neighbours: dict[str, Any] = {}
    if related:
        neighbours["related"] = [similar(match) for match in related]
    if conflicts:
        neighbours["conflicts"] = [{"id": clash.record.id, "reason": clash.found.explain} for clash in conflicts]
    return neighbours


def _mentioned(scope: str) -> dict[str, Any]:
    return {"kind": "project_name", "evidence": scope.split(":")[1], "suggested_scope": scope}


def _around(text: str, marker: str) -> str:
    place = max(0, text.lower().find(marker))
    return " ".join(text[max(0, place - AROUND) : place + len(marker) + AROUND].split())
