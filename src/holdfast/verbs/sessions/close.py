"""Close a session: store what it learned, decided and left open, settle its scars, and report how complete the close was."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_between, instant, is_called, short
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Link, Record
from holdfast.model.session import Session
from holdfast.model.text import headline, shorten
from holdfast.policy.admission.admit import Duplicate, Waivers, explain
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.closing import Conduct, Payload, ceremony, read_payload, refusals, remarks, title_of
from holdfast.policy.sessions.evidence import USE_OF
from holdfast.verbs.memory import Memory, is_reference
from holdfast.verbs.records.read import LEARNINGS, newest_of_kind
from holdfast.verbs.records.write import Written, WrittenPending, draft_event, write
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import STATE_TAG, begin, check_own, find_session, only_open, project_state
from holdfast.verbs.sessions.thread import Known, Opened, open_thread, resolve, suggest, touch

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
    if close_type == "retroactive":
        target = find_session(memory, begin(memory, implicit=False).actor.session)
    else:
        target = find_session(memory, session) if session else only_open(memory)
        if target.project != memory.project:
            raise Conflict(f"{target.id} belongs to {target.project}.", hint="Close it from that project.")
        check_own(memory, target)
        if not target.is_open:
            raise Conflict(f"{target.id} was closed at {target.closed_at}.", hint="Start a new session.")
    raw, file = _raw_payload(memory, target, payload or {})
    parsed = read_payload(masked(raw))
    if parsed.session and not is_called(target.id, parsed.session):
        raise Invalid(f"The payload is for session {parsed.session}, not for {target.id}.", hint="Nothing was written.")
    if problems := refusals(close_type, parsed, _conduct(memory, target, parsed)):
        return NotClosed(session=target, problems=tuple(problems))
    closed = _close(memory.acting_in(target.id), target, close_type, parsed, took_ms)
    if file:
        file.unlink(missing_ok=True)  # only now, so that a crash before loses nothing
    return closed


def payload_file(memory: Memory, session: str, name: str = PAYLOAD_FILES[0]) -> Path | None:
    """Return where a session may leave its payload as a file; None on a database server."""
    folder = memory.store.folder
    return folder / "sessions" / session / name if folder else None


def _raw_payload(memory: Memory, session: Session, inline: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """Return the payload, the passed one on top of the session's file, and that file.

    It is in the session's folder, or where GitMem agents put it. Several sessions share that place: a file older than
    this session belongs to another.
    """
    files = [payload_file(memory, session.id, name) for name in PAYLOAD_FILES]
    shared = memory.checkout.top() / ".gitmem" / PAYLOAD_FILES[1]
    if shared.is_file() and instant(shared.stat().st_mtime) >= session.started_at:
        files.append(shared)
    file = next((file for file in files if file and file.is_file()), None)
    if file is None:
        return dict(inline), None
    try:
        stored = parse_json(read_regular(file, LONGEST_PAYLOAD))
    except OSError as problem:
        raise Invalid(f"{file} cannot be read ({problem.strerror}).") from problem
    except ValueError as problem:
        hint = "Fix the file and close again; nothing was written."
        raise Invalid(f"{file} is not JSON: {problem}.", hint=hint) from problem
    if not isinstance(stored, dict):
        raise Invalid(f"{file} must contain one JSON object.")
    return {**stored, **inline}, file


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
    kept = [record for draft in _learned(payload) if (record := _keep(memory, draft, notes))]
    threads = _threads(memory, payload, notes)
    conduct = _conduct(memory, session, replace(payload, learnings=()))
    # A scar without an answer was applied if the reflection names it, else ignored.
    applied, open_scars = payload.reflection.get("scars_applied", "").lower(), unanswered(memory)
    answers = {
        scar.id: "applied" if scar.title.lower() in applied or short(scar.id).lower() in applied else "ignored"
        for scar in open_scars
    }
    ignored = list(answers.values()).count("ignored")
    compliance = {
        "close_type": close_type,
        "ceremony": ceremony(conduct),
        "minutes": round(conduct.minutes, 1),
        "questions_answered": len(payload.reflection),
        "human_asked_for_corrections": payload.corrections is not None,
        "learnings_stored": conduct.learnings,
        "scars_ignored": ignored,
        "recalls": conduct.recalls,
        **({"ceremony_duration_ms": took_ms} if took_ms else {}),
    }
    all_remarks = [*remarks(close_type, payload, replace(conduct, unanswered=ignored)), *notes]
    own_events = [draft_event(memory, draft) for draft in _drafts(memory, payload, title, session, conduct)]
    by_kind = {str(event.data["kind"]): event.id for event in own_events}
    data = {"type": close_type, "title": title, "issue": issue, "compliance": compliance, "remarks": all_remarks}
    data |= {kind: by_kind[kind] for kind in ("summary", "retrospective") if kind in by_kind}
    uses = [memory.event("used", id_, data={"outcome": how, "observed": "at close"}) for id_, how in answers.items()]
    entries = memory.commit([*uses, *own_events, memory.event("closed", session.id, data=data, after=session.last)])
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


def _keep(memory: Memory, draft: Draft, notes: list[str]) -> Record | None:
    """Store something that a session leaves; a duplicate or a failure is noted."""
    try:
        outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True), redact=True)
    except HoldfastError as problem:
        notes.append(f"not kept: {shorten(draft.body, 80)} ({problem})")
        return None
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            return record
        case Duplicate(matches=matches):
            notes.append(f"known already: {short(matches[0].record.id)} {shorten(matches[0].record.title, 80)}")
        case refused:
            notes.append(f"not kept: {shorten(draft.body, 80)} ({explain(refused).reason})")
    return None


def _learned(payload: Payload) -> Iterator[Draft]:
    """Yield drafts of what a session learned and decided."""
    for item in payload.learnings:
        kind, more = str(item.get("kind") or item.get("learning_type") or "learning"), item.get("fields")
        known = {spec.name for spec in KINDS[kind].fields} if kind in KINDS else set()
        fields = {name: item[name] for name in item if name in known} | (more if isinstance(more, dict) else {})
        body, title = item.get("text") or item.get("description") or item.get("title"), item.get("title")
        yield Draft(body=str(body or ""), kind=kind, title=str(title or ""), fields=fields)
    for item in payload.decisions:
        alternatives = item.get("alternatives_considered") or item.get("alternatives") or ()
        fields = {"rationale": str(item.get("rationale") or ""), "alternatives": [str(text) for text in alternatives]}
        body, title = str(item.get("decision") or item["title"]), str(item["title"])
        yield Draft(body=body, kind="decision", title=title, fields=fields)


def _threads(memory: Memory, payload: Payload, notes: list[str]) -> list[Record]:
    """Open new threads, touch existing ones, resolve finished ones."""
    threads = []
    for text in payload.threads:
        try:
            threads.append(_thread(memory, text))
        except HoldfastError as problem:
            notes.append(f"thread not kept: {shorten(text, 80)} ({problem})")
    for text in payload.resolved:
        try:
            resolve(memory, text, "resolved in this session")
        except HoldfastError as problem:
            notes.append(f"thread not resolved: {shorten(text, 80)} ({problem})")
    return threads


def _thread(memory: Memory, text: str) -> Record:
    """Touch the thread with this id, with or without text after it; else open one."""
    reference, _, words = text.partition(":")
    if is_reference(memory, reference):
        try:
            return touch(memory, reference).record
        except NotFound:
            if not words.strip():
                raise
            text = words
    outcome = open_thread(memory, text)
    if isinstance(outcome, Opened | Known):
        return outcome.thread.record
    raise Invalid(explain(outcome).reason)


def _settle(memory: Memory, payload: Payload, notes: list[str]) -> dict[str, str]:
    """Record the uses of scars that the payload lists one by one: shown in the session, or known by id or title."""
    recorded: dict[str, str] = {}
    shown = unanswered(memory) if payload.scars else []
    for item in payload.scars:
        name = str(item.get("scar_identifier") or item.get("scar_id") or item.get("title") or "")
        outcome = USE_OF.get(str(item.get("reference_type") or "acknowledged"))
        wanted = name.strip().lower()
        # Of one that was shown, part of its title is enough.
        alike = (one for one in shown if wanted and (wanted in one.title.lower() or one.title.lower() in wanted))
        scar = next((one for one in shown if is_called(one.id, name)), next(alike, None))
        known = newest_of_kind(memory, "scar", limit=1_000) if scar is None else []
        scar = scar or next((one for one in known if wanted in (one.id.lower(), one.title.lower())), None)
        if scar and outcome:
            memory.commit([memory.event("used", scar.id, data={"outcome": outcome, "declared": "at close"})])
            recorded[scar.id] = outcome
        else:
            notes.append(f"no scar matches {shorten(name, 60)!r}")
    return recorded


def _drafts(memory: Memory, payload: Payload, title: str, session: Session, conduct: Conduct) -> Iterator[Draft]:
    """Yield the records about the session itself."""
    reported = payload.reflection or payload.summary or payload.decisions or payload.threads
    if reported or conduct.recalls or conduct.learnings:
        lines = [f"{name.replace('_', ' ')}: {text}" for name, text in payload.summary.items()]
        body = "\n".join([title or f"Session {short(session.id)}", *lines])
        yield Draft(body=body, kind="summary", title=title or headline(body), fields=dict(payload.summary))
    if payload.reflection:
        fields = {**payload.reflection, **({"corrections": payload.corrections} if payload.corrections else {})}
        body = f"Looking back at {title or short(session.id)}"
        yield Draft(body=body, kind="retrospective", title=body, fields=fields)
    if payload.project_state:  # replaces the last one
        last = project_state(memory)
        links = (Link(relation="supersedes", target=last.id),) if last else ()
        body = payload.project_state.removeprefix("PROJECT STATE:").strip()
        yield Draft(body=body, kind="progress", tags=(STATE_TAG,), links=links)
