"""What callers of GitMem's tools get: a text to show where there is one, else JSON; errors as an object that lists them."""

import json
from collections.abc import Sequence
from typing import Any

from holdfast.engine.raw.transcripts import Piece, Transcript
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.ids import days_between
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.admission.admit import Duplicate
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.gitmem.uses import Noted
from holdfast.surfaces.phrases import kind_of, refusal
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.records.write import Held, Outcome, Written
from holdfast.verbs.sessions.absorb import Absorbed
from holdfast.verbs.sessions.scars import Answered, unanswered
from holdfast.verbs.sessions.session import recalls

SHORT = 10
REMEDIES = Remedies(force="allow_duplicate=true")


def present_error(problem: HoldfastError) -> str:
    """Write an error as GitMem documents it."""
    message = str(problem) if problem.problems else problem.hint or problem.message
    errors = list(problem.problems) or [problem.message]
    return json.dumps({"success": False, "errors": errors, "message": message}, ensure_ascii=False, indent=2)


def short(record: Record) -> str:
    """Give the first characters of an id, as many as tell it apart; those of threads say what they are."""
    tag = "" if record.kind != "thread" else "ts-" if record.state == "pending" else "t-"
    return f"{tag}{record.id[:SHORT]}"


def ago(at: str, now: str) -> str:
    """Say how long ago something was, in days."""
    days = int(days_between(at, now))
    return f"{days}d ago" if days else "today"


def advised(memory: Memory, text: str) -> str:
    """Put before a text what should have been done first; it stands in nobody's way."""
    if waiting := unanswered(memory):
        names = ", ".join(short(one) for one in waiting[:5])
        return f"Note: {counted(len(waiting), 'recalled scar')} not confirmed yet ({names}): confirm_scars.\n{text}"
    return text if recalls(memory) else f"Note: nothing was recalled in this session yet: recall(plan).\n{text}"


def kept(outcome: Outcome, key: str) -> str:
    """Write what became of something that should be kept; raises where it is not."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts):
            also = [f"related: {short(one.record)} {shorten(one.record.title, 80)}" for one in related[:3]]
            also += [_contradicted(one) for one in conflicts[:3]]
            return "\n".join([f"Created {kind_of(record)}: {record.title}", f"{key}: {record.id}", *also])
        case Held(record=record, why=why):
            return f"Pending until the user approves it ({why}): {record.title}\n{key}: {record.id}"
        case Duplicate(matches=matches):
            known = matches[0].record
            lines = [f"Known already as {kind_of(known)}: {known.title}", f"{key}: {known.id}", "deduplicated: true"]
            return "\n".join([*lines, "Nothing new was kept; allow_duplicate=true keeps this one too."])
    raise refusal(outcome, REMEDIES)


def confirmed(told: Answered) -> str:
    """Write the answers that were taken; raises with everything that is wrong where none was."""
    if told.problems or told.waiting:
        missing = [f"Not confirmed: {short(one)} {one.title}" for one in told.waiting]
        hint = "Answer every recalled scar in one call. Nothing was taken."
        raise Invalid("The confirmations are not valid.", hint=hint, problems=[*told.problems, *missing])
    lines = [f"{decision}: {short(scar)} {shorten(scar.title, 80)}" for scar, decision in told.taken]
    return "\n".join([f"valid: true · {counted(len(told.taken), 'scar')} confirmed, go on.", *lines])


def reflected(told: Answered) -> str:
    """Write what was told of scars; raises where nothing of it could be taken."""
    if not told.taken:
        raise Invalid("No reflection was taken.", hint="Mend them and call again.", problems=told.problems)
    lines = [f"{outcome}: {short(scar)} {shorten(scar.title, 80)}" for scar, outcome in told.taken]
    lines += [f"Not taken: {problem}" for problem in told.problems]
    lines += [f"Nothing told of: {short(one)} {shorten(one.title, 80)}" for one in told.waiting]
    return "\n".join([f"valid: true · {counted(len(told.taken), 'reflection')}", *lines])


def noted(told: Noted) -> dict[str, Any]:
    """Give what a batch of uses came to."""
    return {
        "success": not told.unknown,
        "usage_ids": list(told.events),
        "resolved_count": len(told.events),
        "failed_count": len(told.unknown),
        "failed_identifiers": [name for name, _ in told.unknown],
        "errors": [f"{name}: {problem}" for name, problem in told.unknown],
    }


def absorbed(found: Absorbed) -> str:
    """Write what was taken in, and what should become a scar."""
    if not found.kept and not found.known:
        raise Invalid("No observation was kept.", hint="Mend them and call again.", problems=found.problems)
    known = f" ({len(found.known)} known before)" if found.known else ""
    lines = [f"absorbed: {len(found.kept) + len(found.known)}{known}", f"scar_candidates: {len(found.candidates)}"]
    lines += [f"Not kept: {problem}" for problem in found.problems]
    lines += [
        f"Consider create_learning(scar): {shorten(one.record.title, 120)} ({one.cue})" for one in found.candidates
    ]
    return "\n".join(lines)


def saved(kept_: Transcript) -> dict[str, Any]:
    """Give what became of a transcript."""
    size = len(kept_.body.encode())
    return {
        "success": True,
        "session_id": kept_.session,
        "size_bytes": size,
        "size_kb": round(size / 1024, 1),
        "estimated_tokens": kept_.tokens,
    }


def transcript(found: Transcript) -> dict[str, Any]:
    """Give a transcript."""
    return {
        "success": True,
        "session_id": found.session,
        "transcript": found.body,
        "size_bytes": len(found.body.encode()),
    }


def passages(found: Sequence[Piece], query: str) -> str:
    """Write passages of transcripts."""
    if not found:
        return f"No transcript says anything about: {shorten(query, 120)}"
    lines = [
        f"{one.session[:SHORT]} part {one.place} (similarity {one.share:.2f}): {shorten(one.body, 300)}"
        for one in found
    ]
    return "\n".join([f"{counted(len(found), 'passage')} for: {shorten(query, 120)}", *lines])


def _contradicted(clash: Clash) -> str:
    named = f"{short(clash.record)} {shorten(clash.record.title, 80)}"
    return (
        f"seems to contradict {named}: {clash.found.explain} archive_learning takes out the one that no longer holds."
    )
