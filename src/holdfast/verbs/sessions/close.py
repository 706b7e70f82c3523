"""Close a session: store what it learned, decided and left open, settle its scars, and report how complete the close was."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_between, instant, is_called, short
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Link, Record
from holdfast.model.session import Session
from holdfast.model.text import headline, shorten
from holdfast.policy.admission.admit import Duplicate, Refused, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.closing import Conduct, Payload, ceremony, read_payload, refusals, remarks, title_of
from holdfast.policy.sessions.evidence import USE_OF
from holdfast.verbs.memory import Memory, is_reference, untagged
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, draft_event, write
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import STATE_TAG, begin, check_own, find_session, only_open
from holdfast.verbs.sessions.suggest import suggest
from holdfast.verbs.sessions.thread import Known, Opened, open_thread, resolve, touch

LEARNINGS = ("scar", "win", "pattern", "anti_pattern", "learning")
LONGEST_PAYLOAD = 1_000_000
PAYLOAD_FILES = ("closing.json", "closing-payload.json")  # the second is GitMem's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is closed, with these results."""

    session: Session
    title: str
    kept: tuple[Record, ...] = ()
    threads: tuple[Record, ...] = ()
    answered: Mapping[str, str] = field(default_factory=dict)
    suggestion: Record | None = None
    compliance: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotClosed:
    """The session stays open until these problems are fixed."""

    session: Session
    problems: tuple[str, ...]


def close(
    memory: Memory,
    *,
    session: str = "",
    close_type: str = "standard",
    payload: Mapping[str, Any] | None = None,
    took_ms: int = 0,
) -> Closed | NotClosed:
    """Close a session with its payload; refuse, without writing anything, if a proper close needs more."""
    target = _target(memory, session, close_type)
    raw, file = _raw_payload(memory, target, payload or {})
    parsed = read_payload(masked(raw))
    if parsed.session and not is_called(target.id, parsed.session):
        raise Invalid(f"The payload is for session {parsed.session}, not for {target.id}.", hint="Nothing was written.")
    conduct = _conduct(memory, target, parsed)
    if problems := refusals(close_type, parsed, conduct):
        return NotClosed(session=target, problems=tuple(problems))
    closed = _close(memory.acting_in(target.id), target, close_type, parsed, took_ms)
    if file:
        file.unlink(missing_ok=True)  # only now, so that a crash before loses nothing
    return closed


def payload_file(memory: Memory, session: str, name: str = PAYLOAD_FILES[0]) -> Path | None:
    """Return where a session may leave its payload as a file; None on a database server."""
    folder = memory.store.folder
    return folder / "sessions" / session / name if folder else None


def _target(memory: Memory, session: str, close_type: str) -> Session:
    if close_type == "retroactive":
        return find_session(memory, begin(memory, implicit=False).actor.session)
    target = find_session(memory, session) if session else only_open(memory)
    if target.project != memory.project:
        raise Conflict(f"{target.id} belongs to {target.project}.", hint="Close it from that project.")
    check_own(memory, target)
    if not target.is_open:
        raise Conflict(f"{target.id} was closed at {target.closed_at}.", hint="Start a new session.")
    return target


def _raw_payload(memory: Memory, session: Session, inline: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """Return the payload: the passed one on top of the session's file."""
    file = _payload_left(memory, session)
    if file is None:
        return dict(inline), None
    try:
        stored = parse_json(read_regular(file, LONGEST_PAYLOAD))
    except OSError as problem:
        raise Invalid(f"{file} cannot be read ({problem.strerror}).") from problem
    except ValueError as problem:
        raise Invalid(
            f"{file} is not JSON: {problem}.", hint="Fix the file and close again; nothing was written."
        ) from problem
    if not isinstance(stored, dict):
        raise Invalid(f"{file} must contain one JSON object.")
    return {**stored, **inline}, file


def _payload_left(memory: Memory, session: Session) -> Path | None:
    """Return the file with a session's payload: in the session's folder, or where GitMem agents put it."""
    files = [payload_file(memory, session.id, name) for name in PAYLOAD_FILES]
    if existing := next((file for file in files if file and file.is_file()), None):
        return existing
    shared = memory.checkout.top() / ".gitmem" / PAYLOAD_FILES[1]
    # Several sessions share that file: one older than this session belongs to another.
    return shared if shared.is_file() and instant(shared.stat().st_mtime) >= session.started_at else None


def _conduct(memory: Memory, session: Session, payload: Payload) -> Conduct:
    written = [entry.record for entry in records.of_session(memory.store, session.id)]
    return Conduct(
        minutes=days_between(session.started_at, memory.clock.now()) * 1440,
        recalls=memory.store.counted(session.id, "surfaced"),
        observations=sum(record.kind == "observation" for record in written),
        unanswered=len(unanswered(memory, session.id)),
        learnings=sum(record.kind in LEARNINGS for record in written) + len(payload.learnings) + len(payload.kept),
    )


def _close(memory: Memory, session: Session, close_type: str, payload: Payload, took_ms: int) -> Closed:
    notes: list[str] = []
    issue = session.issue or payload.issue
    title = title_of(payload, issue, session.title)
    recorded = _settle(memory, payload, notes)
    kept = [
        *_keep(memory, [_learning(item) for item in payload.learnings], notes),
        *_keep(memory, map(_decision, payload.decisions), notes),
    ]
    threads = _threads(memory, payload, notes)
    conduct = _conduct(memory, session, replace(payload, learnings=()))
    answers, scar_events = _settle_unanswered(memory, payload)
    compliance = _compliance(close_type, payload, conduct, answers, took_ms)
    all_remarks = [
        *remarks(close_type, payload, replace(conduct, unanswered=list(answers.values()).count("ignored"))),
        *notes,
    ]
    own_events = [draft_event(memory, draft) for draft in _drafts(memory, payload, title, session, conduct)]
    by_kind = {str(event.data["kind"]): event.id for event in own_events}
    data = {"type": close_type, "title": title, "issue": issue, "compliance": compliance, "remarks": all_remarks}
    data |= {kind: by_kind[kind] for kind in ("summary", "retrospective") if kind in by_kind}
    entries = memory.commit(
        [*scar_events, *own_events, memory.event("closed", session.id, data=data, after=session.last)]
    )
    return Closed(
        session=find_session(memory, session.id),
        title=title,
        kept=(*kept, *(entry.record for entry in entries)),
        threads=tuple(threads),
        answered={**recorded, **answers},
        suggestion=suggest(memory, title, session.id) if title else None,
        compliance=compliance,
        remarks=tuple(all_remarks),
    )


def _keep(memory: Memory, drafts: Iterable[Draft], notes: list[str]) -> list[Record]:
    """Store what a session leaves; duplicates and failures are noted."""
    stored = []
    for draft in drafts:
        try:
            outcome: Outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True), redact=True)
        except HoldfastError as problem:
            notes.append(f"not kept: {shorten(draft.body, 80)} ({problem})")
            continue
        match outcome:
            case Written(record=record) | WrittenPending(record=record):
                stored.append(record)
            case Duplicate(matches=matches):
                notes.append(f"known already: {short(matches[0].record.id)} {shorten(matches[0].record.title, 80)}")
            case refused:
                notes.append(f"not kept: {shorten(draft.body, 80)} ({explain(refused).reason})")
    return stored


def _learning(item: Mapping[str, Any]) -> Draft:
    kind = str(item.get("kind") or item.get("learning_type") or "learning")
    body = str(item.get("text") or item.get("description") or item.get("title") or "")
    known = {spec.name for spec in KINDS[kind].fields} if kind in KINDS else set()
    fields = {name: value for name, value in item.items() if name in known}
    extra_fields = item.get("fields")
    return Draft(
        body=body,
        kind=kind,
        title=str(item.get("title") or ""),
        fields={**fields, **(extra_fields if isinstance(extra_fields, dict) else {})},
    )


def _decision(item: Mapping[str, Any]) -> Draft:
    fields = {
        "rationale": str(item.get("rationale") or ""),
        "alternatives": [str(text) for text in item.get("alternatives_considered") or item.get("alternatives") or ()],
    }
    return Draft(
        body=str(item.get("decision") or item["title"]), kind="decision", title=str(item["title"]), fields=fields
    )


def _threads(memory: Memory, payload: Payload, notes: list[str]) -> list[Record]:
    """Open new threads, touch existing ones, resolve finished ones."""
    threads = []
    for text in payload.threads:
        try:
            outcome = _thread(memory, text)
        except HoldfastError as problem:
            notes.append(f"thread not kept: {shorten(text, 80)} ({problem})")
            continue
        match outcome:
            case Opened(thread=thread) | Known(thread=thread):
                threads.append(thread.record)
            case refused:
                notes.append(f"thread not kept: {shorten(text, 80)} ({explain(refused).reason})")
    for text in payload.resolved:
        try:
            resolve(memory, text, "resolved in this session")
        except HoldfastError as problem:
            notes.append(f"thread not resolved: {shorten(text, 80)} ({problem})")
    return threads


def _thread(memory: Memory, text: str) -> Opened | Known | Refused:
    """Touch the thread with this id, with or without text after it; else open one."""
    reference, _, words = text.partition(":")
    if not is_reference(memory, reference):
        return open_thread(memory, text)
    try:
        return Known(thread=touch(memory, reference), share=1.0)
    except NotFound:
        if not words.strip():
            raise
        return open_thread(memory, text if untagged(reference) == reference.strip() else words)


def _settle(memory: Memory, payload: Payload, notes: list[str]) -> dict[str, str]:
    """Record the uses of scars that the payload lists one by one: shown in the session, or known by id or title."""
    recorded: dict[str, str] = {}
    shown = {record.id: record for record in unanswered(memory)}
    for item in payload.scars:
        name = str(item.get("scar_identifier") or item.get("scar_id") or item.get("title") or "")
        outcome = USE_OF.get(str(item.get("reference_type") or "acknowledged"))
        scar = next((record for record in shown.values() if _names(name, record)), None) or _known_scar(memory, name)
        if scar is None or outcome is None:
            notes.append(f"no scar matches {shorten(name, 60)!r}")
            continue
        memory.commit([memory.event("used", scar.id, data={"outcome": outcome, "declared": "at close"})])
        recorded[scar.id] = outcome
    return recorded


def _known_scar(memory: Memory, name: str) -> Record | None:
    """Return the scar of this project with an id or exactly this title."""
    entries = records.newest(memory.store, "scar", memory.store.project_number(memory.project), limit=1_000)
    wanted = name.strip().lower()
    named = (one.record for one in entries if wanted in (one.record.id.lower(), one.record.title.lower()))
    return next(named, None)


def _names(name: str, scar: Record) -> bool:
    wanted = name.strip().lower()
    return is_called(scar.id, name) or bool(wanted and (wanted in scar.title.lower() or scar.title.lower() in wanted))


def _settle_unanswered(memory: Memory, payload: Payload) -> tuple[dict[str, str], list[Event]]:
    """Settle scars without an answer: applied if the reflection names them, else ignored."""
    applied = payload.reflection.get("scars_applied", "").lower()
    answers: dict[str, str] = {}
    events = []
    for scar in unanswered(memory):
        is_named = scar.title.lower() in applied or short(scar.id).lower() in applied
        answers[scar.id] = "applied" if is_named else "ignored"
        events.append(memory.event("used", scar.id, data={"outcome": answers[scar.id], "observed": "at close"}))
    return answers, events


def _compliance(
    close_type: str, payload: Payload, conduct: Conduct, answers: Mapping[str, str], took_ms: int
) -> dict[str, Any]:
    return {
        "close_type": close_type,
        "ceremony": ceremony(conduct),
        "minutes": round(conduct.minutes, 1),
        "questions_answered": len(payload.reflection),
        "human_asked_for_corrections": payload.corrections is not None,
        "learnings_stored": conduct.learnings,
        "scars_ignored": list(answers.values()).count("ignored"),
        "recalls": conduct.recalls,
        **({"ceremony_duration_ms": took_ms} if took_ms else {}),
    }


def _drafts(memory: Memory, payload: Payload, title: str, session: Session, conduct: Conduct) -> list[Draft]:
    """Return the records about the session itself."""
    drafts = []
    did_something = (
        conduct.recalls
        or conduct.learnings
        or payload.reflection
        or payload.summary
        or payload.decisions
        or payload.threads
    )
    if did_something:
        summary_lines = [f"{name.replace('_', ' ')}: {text}" for name, text in payload.summary.items()]
        body = "\n".join([title or f"Session {short(session.id)}", *summary_lines])
        drafts.append(Draft(body=body, kind="summary", title=title or headline(body), fields=dict(payload.summary)))
    if payload.reflection:
        fields = {**payload.reflection, **({"corrections": payload.corrections} if payload.corrections else {})}
        body = f"Looking back at {title or short(session.id)}"
        drafts.append(Draft(body=body, kind="retrospective", title=body, fields=fields))
    if payload.project_state:
        drafts.append(_state_draft(memory, payload.project_state))
    return drafts


def _state_draft(memory: Memory, text: str) -> Draft:
    """Return the state of the project, replacing the last one."""
    project = memory.store.project_number(memory.project)
    earlier = [
        entry.record.id
        for entry in records.newest(memory.store, "progress", project, limit=50)
        if STATE_TAG in entry.record.tags
    ]
    links = tuple(Link(relation="supersedes", target=record_id) for record_id in earlier[:1])
    return Draft(body=text.removeprefix("PROJECT STATE:").strip(), kind="progress", tags=(STATE_TAG,), links=links)
