"""What callers of bettermemory get: JSON with relevance in a word, signs of staleness, and a status for every write."""

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
from holdfast.surfaces.bettermemory.drift import STALE_DAYS, Checked, checked, verdict, verified_parts
from holdfast.surfaces.bettermemory.given import PENDING, category_of, source_of
from holdfast.surfaces.bettermemory.staleness import Staleness
from holdfast.surfaces.bettermemory.tombstones import Tombstone
from holdfast.surfaces.phrases import content
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.records.write import Held, Outcome, Written

SNIPPET, SUMMARY, AROUND = 200, 80, 20
LONG_WORDS = 500  # of an ambient memory, from which it is too long to stand in the background
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
    """Write a result as JSON."""
    return json.dumps(result, ensure_ascii=False, indent=2)


def present_error(problem: HoldfastError) -> str:
    """Write an error as a text to read."""
    said = "; ".join(problem.problems) + "." if problem.problems else problem.message
    return f"{said} {problem.hint}".strip()


def hit(found: Hit, stale: Staleness, question: str, token: str) -> dict[str, Any]:
    """Give one answer of a search."""
    record = found.record
    told = {
        "id": record.id,
        "scopes": list(record.scopes),
        "confidence": record.confidence,
        "category": category_of(record),
        "snippet": shorten(found.snippet or content(record), SNIPPET),
        "score": round(found.score, 4),
        "relevance": RELEVANCE[found.confidence],
        "match_terms": terms(question, record),
        **times(record),
        "verification": verification(stale.checked),
        "path_drift_checked": len(stale.paths),
        "path_drift_missing": len(stale.missing),
        "staleness_verdict": stale.verdict,
        "use_token": token,
    }
    return told if stale.commits is None else {**told, "commit_drift_count": stale.commits}


def expanded(first: Mapping[str, Any], record: Record, stale: Staleness) -> dict[str, Any]:
    """Give the best answer with its whole text, measured anew."""
    drift = {"path_drift": path_drift(stale), "commit_drift": commit_drift(stale)}
    return {**first, "body": content(record), **drift, "staleness_verdict": stale.verdict}


def full(record: Record, stale: Staleness) -> dict[str, Any]:
    """Give a memory whole."""
    return {
        **head(record),
        "source": source_of(record),
        "body": content(record),
        "origin": {
            "repo": record.project or None,
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
    """Give a memory as a line of a list; only the calendar is looked at."""
    found = checked(record, now)
    told = {**head(record), "summary": shorten(record.title, SUMMARY), "verification": verification(found)}
    return {**told, "staleness_verdict": verdict(found.status)}


def head(record: Record) -> dict[str, Any]:
    """Give what every shape of a memory begins with."""
    return {
        "id": record.id,
        "scopes": list(record.scopes),
        "confidence": record.confidence,
        "category": category_of(record),
        **times(record),
    }


def times(record: Record) -> dict[str, Any]:
    """Give when a memory was made, changed and checked."""
    return {
        "created": record.created_at,
        "updated": record.updated_at,
        "last_verified_at": record.verified_at or None,
    }


def verification(found: Checked) -> dict[str, Any]:
    """Give when a memory was last checked, and what to do about it."""
    return {
        "status": found.status,
        "last_verified_at": found.at or None,
        "age_days": None if found.days is None else int(found.days),
        "recommendation": found.recommendation or None,
        "stale_after_days": STALE_DAYS,
    }


def path_drift(stale: Staleness) -> dict[str, Any] | None:
    """Give which cited paths are gone; nothing where none is, and nobody vouched for any."""
    if not stale.missing and not stale.attested:
        return None
    return {"checked": len(stale.paths), "missing": list(stale.missing), "verified": list(stale.attested)}


def commit_drift(stale: Staleness) -> dict[str, Any] | None:
    """Give how many commits were made since a memory was checked; nothing where that cannot be told."""
    if stale.commits is None:
        return None
    look = "The code moved on since this was checked: look again, then memory_verify."
    status = "drift" if stale.commits else "clean"
    return {
        "status": status,
        "commits_since_verify": stale.commits,
        "recommendation": look if stale.commits else None,
    }


def terms(question: str, record: Record) -> list[str]:
    """Give the words of a question that stand in a memory or its scopes."""
    said = set(_WORD.findall(f"{record.text} {' '.join(record.scopes)}".lower()))
    parts = said | {part for word in said for part in re.split(r"[-_]", word)}
    return [word for word in dict.fromkeys(_WORD.findall(question.lower())) if word in parts & words(question)]


def written(outcome: Outcome) -> dict[str, Any]:
    """Give what became of a memory to write, as a status with what to do next."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts):
            return {**committed(record), **_beside(related, conflicts)}
        case Held(record=record, why=why, related=related):
            return {**_pending(record, why), **_beside(related, ())}
    return refused(outcome)


def committed(record: Record) -> dict[str, Any]:
    """Give a memory that is kept."""
    told = {"status": "committed", **head(record), "source": source_of(record)}
    long_one = category_of(record) == "ambient" and len(record.body.split()) > LONG_WORDS
    return {**told, "warnings": ["ambient_body_long"]} if long_one else told


def verified(record: Record) -> dict[str, Any]:
    """Give what was checked, and when."""
    told = {"verified": record.id, "last_verified_at": record.verified_at, "updated": record.updated_at}
    return {**told, **verified_parts(record.anchors)}


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
    """Give a refusal for its wording with the place of each marker."""
    if result["status"] != "transient_warning":
        return result
    marked = [{**one, "snippet": _around(text, one["marker"])} for one in result["markers"]]
    return {**result, "markers": marked}


def similar(one: Similar) -> dict[str, Any]:
    """Give a memory that says nearly the same."""
    return {
        "id": one.record.id,
        "scopes": list(one.record.scopes),
        "confidence": one.record.confidence,
        "snippet": shorten(content(one.record), SNIPPET),
        "similarity": round(one.similarity, 3),
        "relevance": "high" if one.similarity >= SAME else "medium",
        "created": one.record.created_at,
        "updated": one.record.updated_at,
    }


def removed(one: Similar) -> dict[str, Any]:
    """Give a removed memory that says nearly the same, and why it was removed."""
    told = similar(one)
    gone = {"removed_at": one.record.updated_at, "removed_reason": one.record.reason}
    return {**told, "relevance": f"{told['relevance']}-removed", **gone}


def tombstone(one: Tombstone) -> dict[str, Any]:
    """Give a removed memory as a line of a list."""
    told = {**head(one.record), "summary": shorten(one.record.title, SUMMARY)}
    gone = {"removed": one.at, "removed_reason": one.record.reason, "removed_session": one.session or None}
    return {**told, **gone}


def renamed(old: str, new: str, found: Iterable[Record]) -> dict[str, Any]:
    """Give which memories have another scope now."""
    changed = list(found)
    return {
        "old_scope": old,
        "new_scope": new,
        "active": [one.id for one in changed if one.state != "retired"],
        "tombstoned": [one.id for one in changed if one.state == "retired"],
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


def _beside(related: Sequence[Similar], conflicts: Sequence[Clash]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if related:
        told["related"] = [similar(one) for one in related]
    if conflicts:
        told["conflicts"] = [{"id": one.record.id, "reason": one.found.explain} for one in conflicts]
    return told


def _mentioned(scope: str) -> dict[str, Any]:
    return {"kind": "project_name", "evidence": scope.split(":")[1], "suggested_scope": scope}


def _around(text: str, marker: str) -> str:
    place = max(0, text.lower().find(marker))
    return " ".join(text[max(0, place - AROUND) : place + len(marker) + AROUND].split())
