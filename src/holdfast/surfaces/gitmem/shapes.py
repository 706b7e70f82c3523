"""Format the results of GitMem's tools: text where there is a page, otherwise JSON; errors as an object that lists them."""

import json
from collections.abc import Sequence
from typing import Any

from holdfast.engine.raw.transcripts import Piece, Transcript
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.ids import days_between, short
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.admission.admit import Duplicate
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.gitmem.uses import Noted
from holdfast.surfaces.phrases import kind_of, refusal
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.sessions.absorb import Absorbed
from holdfast.verbs.sessions.scars import Answered, unanswered
from holdfast.verbs.sessions.session import recalls

REMEDIES = Remedies(force="allow_duplicate=true")


def present_error(problem: HoldfastError) -> str:
    """Format an error as GitMem documents it."""
    message = str(problem) if problem.problems else problem.hint or problem.message
    errors = list(problem.problems) or [problem.message]
    return json.dumps({"success": False, "errors": errors, "message": message}, ensure_ascii=False, indent=2)


def tagged(record: Record) -> str:
    """Return the short form of an id, prefixed for threads and suggested threads."""
    tag = "" if record.kind != "thread" else "ts-" if record.state == "pending" else "t-"
    return f"{tag}{short(record.id)}"


def ago(at: str, now: str) -> str:
    """Return how many days ago something was."""
    days = int(days_between(at, now))
    return f"{days}d ago" if days else "today"


def advised(memory: Memory, text: str) -> str:
    """Prepend a note about unconfirmed scars or a missing recall; the text itself is unchanged."""
    if waiting := unanswered(memory):
        names = ", ".join(tagged(scar) for scar in waiting[:5])
        return f"Note: {counted(len(waiting), 'recalled scar')} not confirmed yet ({names}): confirm_scars.\n{text}"
    return text if recalls(memory) else f"Note: nothing was recalled in this session yet: recall(plan).\n{text}"


def kept(outcome: Outcome, key: str) -> str:
    """Format the outcome of a write; raise if it was refused."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts):
            also = [f"related: {tagged(match.record)} {shorten(match.record.title, 80)}" for match in related[:3]]
            also += [_contradicted(clash) for clash in conflicts[:3]]
            return "\n".join([f"Created {kind_of(record)}: {record.title}", f"{key}: {record.id}", *also])
        case WrittenPending(record=record, why=why):
            return f"Pending approval ({why}): {record.title}\n{key}: {record.id}"
        case Duplicate(matches=matches):
            known = matches[0].record
            lines = [f"Already known as {kind_of(known)}: {known.title}", f"{key}: {known.id}", "deduplicated: true"]
            return "\n".join([*lines, "Nothing new was saved; allow_duplicate=true saves this one too."])
    raise refusal(outcome, REMEDIES)


def confirmed(result: Answered) -> str:
    """Format the accepted answers; raise with every problem if any is invalid or missing."""
    if result.problems or result.waiting:
        missing = [f"Not confirmed: {tagged(scar)} {scar.title}" for scar in result.waiting]
        hint = "Answer every recalled scar in one call. Nothing was recorded."
        raise Invalid("The confirmations are not valid.", hint=hint, problems=[*result.problems, *missing])
    lines = [f"{decision}: {tagged(scar)} {shorten(scar.title, 80)}" for scar, decision in result.taken]
    return "\n".join([f"valid: true · {counted(len(result.taken), 'scar')} confirmed, continue.", *lines])


def reflected(result: Answered) -> str:
    """Format the recorded reflections; raise if none was valid."""
    if not result.taken:
        raise Invalid("No reflection was recorded.", hint="Correct them and call again.", problems=result.problems)
    lines = [f"{outcome}: {tagged(scar)} {shorten(scar.title, 80)}" for scar, outcome in result.taken]
    lines += [f"Not recorded: {problem}" for problem in result.problems]
    lines += [f"No reflection on: {tagged(record)} {shorten(record.title, 80)}" for record in result.waiting]
    return "\n".join([f"valid: true · {counted(len(result.taken), 'reflection')}", *lines])


def noted(result: Noted) -> dict[str, Any]:
    """Return the result of recording a batch of uses."""
    return {
        "success": not result.unknown,
        "usage_ids": list(result.events),
        "resolved_count": len(result.events),
        "failed_count": len(result.unknown),
        "failed_identifiers": [name for name, _ in result.unknown],
        "errors": [f"{name}: {problem}" for name, problem in result.unknown],
    }


def absorbed(result: Absorbed) -> str:
    """Format what was saved from sub-agents, and what should become a scar."""
    if not result.kept and not result.known:
        raise Invalid("No observation was saved.", hint="Correct them and call again.", problems=result.problems)
    known = f" ({len(result.known)} already known)" if result.known else ""
    lines = [f"absorbed: {len(result.kept) + len(result.known)}{known}", f"scar_candidates: {len(result.candidates)}"]
    lines += [f"Not saved: {problem}" for problem in result.problems]
    lines += [
        f"Consider create_learning(scar): {shorten(candidate.record.title, 120)} ({candidate.cue})"
        for candidate in result.candidates
    ]
    return "\n".join(lines)


def saved(stored: Transcript) -> dict[str, Any]:
    """Return the result of saving a transcript."""
    size = len(stored.body.encode())
    return {
        "success": True,
        "session_id": stored.session,
        "size_bytes": size,
        "size_kb": round(size / 1024, 1),
        "estimated_tokens": stored.tokens,
    }


def transcript(stored: Transcript) -> dict[str, Any]:
    """Return a transcript."""
    return {
        "success": True,
        "session_id": stored.session,
        "transcript": stored.body,
        "size_bytes": len(stored.body.encode()),
    }


def passages(pieces: Sequence[Piece], query: str) -> str:
    """Format passages of transcripts."""
    if not pieces:
        return f"No transcript matches: {shorten(query, 120)}"
    lines = [
        f"{short(piece.session)} part {piece.place} (similarity {piece.share:.2f}): {shorten(piece.body, 300)}"
        for piece in pieces
    ]
    return "\n".join([f"{counted(len(pieces), 'passage')} for: {shorten(query, 120)}", *lines])


def _contradicted(clash: LikelyConflict) -> str:
    named = f"{tagged(clash.record)} {shorten(clash.record.title, 80)}"
    return (
        f"seems to contradict {named}: {clash.found.explain} archive_learning archives the one that is no longer true."
    )
