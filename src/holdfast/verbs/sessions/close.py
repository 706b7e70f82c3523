"""Close a session: keep what it learned, decided and left open, settle the scars it was shown, and say how proper it was."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_between, instant
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
from holdfast.verbs.records.write import Held, Outcome, Written, draft_event, write
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import STATE_TAG, begin, check_own, find_session, only_open
from holdfast.verbs.sessions.suggest import suggest
from holdfast.verbs.sessions.thread import Known, Opened, open_thread, resolve, touch

LEARNINGS = ("scar", "win", "pattern", "anti_pattern", "learning")
LONGEST_PAYLOAD = 1_000_000
PAYLOAD_FILES = ("closing.json", "closing-payload.json")  # the second is what GitMem calls it


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is closed; this is what came of it."""

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
    """The session goes on; this is what has to be done first."""

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
    """Close a session with what it leaves behind; refused, with nothing written, when a proper close needs more."""
    meant = _meant(memory, session, close_type)
    given, file = _given(memory, meant, payload or {})
    read = read_payload(masked(given))
    if read.session and not meant.id.startswith(read.session.upper()[:26]):
        raise Invalid(f"The payload is for session {read.session}, not for {meant.id}.", hint="Nothing was written.")
    conduct = _conduct(memory, meant, read)
    if problems := refusals(close_type, read, conduct):
        return NotClosed(session=meant, problems=tuple(problems))
    closed = _close(memory.acting_in(meant.id), meant, close_type, read, took_ms)
    if file:
        file.unlink(missing_ok=True)  # only now: until here a crash would have lost it
    return closed


def payload_file(memory: Memory, session: str, name: str = PAYLOAD_FILES[0]) -> Path | None:
    """Give where a session may leave its payload as a file; none on a database server."""
    folder = memory.store.folder
    return folder / "sessions" / session / name if folder else None


def _meant(memory: Memory, session: str, close_type: str) -> Session:
    if close_type == "retroactive":
        return begin(memory, implicit=False)
    found = find_session(memory, session) if session else only_open(memory)
    if found.project != memory.project:
        raise Conflict(f"{found.id} belongs to {found.project}.", hint="Close it from there.")
    check_own(memory, found)
    if not found.is_open:
        raise Conflict(f"{found.id} was closed at {found.closed_at}.", hint="Start a new session.")
    return found


def _given(memory: Memory, session: Session, inline: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """Give the payload: what was passed on top of what the session left as a file."""
    file = _payload_left(memory, session)
    if file is None:
        return dict(inline), None
    if file.stat().st_size > LONGEST_PAYLOAD:
        raise Invalid(f"{file} is larger than {LONGEST_PAYLOAD:,} bytes.")
    try:
        left = parse_json(file.read_text(encoding="utf-8"), LONGEST_PAYLOAD)
    except (ValueError, UnicodeDecodeError) as problem:
        raise Invalid(
            f"{file} is not JSON: {problem}.", hint="Fix the file and close again; nothing was written."
        ) from problem
    if not isinstance(left, dict):
        raise Invalid(f"{file} must hold one JSON object.")
    return {**left, **inline}, file


def _payload_left(memory: Memory, session: Session) -> Path | None:
    """Give the file a session left its payload in: where it was told to, or where agents of GitMem put it."""
    places = [payload_file(memory, session.id, name) for name in PAYLOAD_FILES]
    if found := next((place for place in places if place and place.is_file()), None):
        return found
    shared = memory.checkout.top() / ".gitmem" / PAYLOAD_FILES[1]
    # Several sessions write to that place: what was there before this one began is of another.
    return shared if shared.is_file() and instant(shared.stat().st_mtime) >= session.started_at else None


def _conduct(memory: Memory, session: Session, read: Payload) -> Conduct:
    written = [entry.record for entry in records.of_session(memory.store.db, session.id)]
    return Conduct(
        minutes=days_between(session.started_at, memory.clock.now()) * 1440,
        recalls=memory.store.counted(session.id, "surfaced"),
        observations=sum(record.kind == "observation" for record in written),
        unanswered=len(unanswered(memory, session.id)),
        learnings=sum(record.kind in LEARNINGS for record in written) + len(read.learnings) + len(read.kept),
    )


def _close(memory: Memory, session: Session, close_type: str, read: Payload, took_ms: int) -> Closed:
    notes: list[str] = []
    issue = session.issue or read.issue
    title = title_of(read, issue, session.title)
    _settle(memory, read, notes)
    kept = [
        *_keep(memory, [_learning(item) for item in read.learnings], notes),
        *_keep(memory, map(_decision, read.decisions), notes),
    ]
    threads = _threads(memory, read, notes)
    conduct = _conduct(memory, session, replace(read, learnings=()))
    answers, bridge = _bridge(memory, read)
    compliance = _compliance(close_type, read, conduct, answers, took_ms)
    said = [*remarks(close_type, read, replace(conduct, unanswered=list(answers.values()).count("ignored"))), *notes]
    own = [draft_event(memory, draft) for draft in _drafts(memory, read, title, session, conduct)]
    by_kind = {str(event.data["kind"]): event.id for event in own}
    data = {"type": close_type, "title": title, "issue": issue, "compliance": compliance, "remarks": said}
    data |= {kind: by_kind[kind] for kind in ("summary", "retrospective") if kind in by_kind}
    entries = memory.commit([*bridge, *own, memory.event("closed", session.id, data=data, after=session.last)])
    return Closed(
        session=find_session(memory, session.id),
        title=title,
        kept=(*kept, *(entry.record for entry in entries)),
        threads=tuple(threads),
        answered=answers,
        suggestion=suggest(memory, title, session.id) if title else None,
        compliance=compliance,
        remarks=tuple(said),
    )


def _keep(memory: Memory, drafts: Iterable[Draft], notes: list[str]) -> list[Record]:
    """Write what a session leaves; what was written before counts, what cannot be written is said."""
    found = []
    for draft in drafts:
        try:
            outcome: Outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True), redact=True)
        except HoldfastError as problem:
            notes.append(f"not kept: {shorten(draft.body, 80)} ({problem})")
            continue
        match outcome:
            case Written(record=record) | Held(record=record):
                found.append(record)
            case Duplicate(matches=matches):
                notes.append(f"known already: {matches[0].record.id[:10]} {shorten(matches[0].record.title, 80)}")
            case refused:
                notes.append(f"not kept: {shorten(draft.body, 80)} ({explain(refused).reason})")
    return found


def _learning(item: Mapping[str, Any]) -> Draft:
    kind = str(item.get("kind") or item.get("learning_type") or "learning")
    body = str(item.get("text") or item.get("description") or item.get("title") or "")
    known = {spec.name for spec in KINDS[kind].fields} if kind in KINDS else set()
    fields = {name: value for name, value in item.items() if name in known}
    given = item.get("fields")
    return Draft(
        body=body,
        kind=kind,
        title=str(item.get("title") or ""),
        fields={**fields, **(given if isinstance(given, dict) else {})},
    )


def _decision(item: Mapping[str, Any]) -> Draft:
    fields = {
        "rationale": str(item.get("rationale") or ""),
        "alternatives": [str(one) for one in item.get("alternatives_considered") or item.get("alternatives") or ()],
    }
    return Draft(
        body=str(item.get("decision") or item["title"]), kind="decision", title=str(item["title"]), fields=fields
    )


def _threads(memory: Memory, read: Payload, notes: list[str]) -> list[Record]:
    """Open what is new, touch what goes on, resolve what is done."""
    found = []
    for text in read.threads:
        try:
            outcome = _thread(memory, text)
        except HoldfastError as problem:
            notes.append(f"thread not kept: {shorten(text, 80)} ({problem})")
            continue
        match outcome:
            case Opened(thread=thread) | Known(thread=thread):
                found.append(thread.record)
            case refused:
                notes.append(f"thread not kept: {shorten(text, 80)} ({explain(refused).reason})")
    for text in read.resolved:
        try:
            resolve(memory, text, "resolved in this session")
        except HoldfastError as problem:
            notes.append(f"thread not resolved: {shorten(text, 80)} ({problem})")
    return found


def _thread(memory: Memory, text: str) -> Opened | Known | Refused:
    """Touch the thread that an id means, with or without its text after it; else open one."""
    reference, _, words = text.partition(":")
    if not is_reference(reference):
        return open_thread(memory, text)
    try:
        return Known(thread=touch(memory, reference), share=1.0)
    except NotFound:
        if not words.strip():
            raise
        return open_thread(memory, text if untagged(reference) == reference.strip() else words)


def _settle(memory: Memory, read: Payload, notes: list[str]) -> None:
    """Take the uses of scars that the payload names one by one."""
    shown = {record.id: record for record in unanswered(memory)}
    for item in read.scars:
        name = str(item.get("scar_identifier") or item.get("scar_id") or item.get("title") or "")
        outcome = USE_OF.get(str(item.get("reference_type") or "acknowledged"))
        scar = next((one for one in shown.values() if _names(name, one)), None)
        if scar is None or outcome is None:
            notes.append(f"no scar shown in this session is meant by {shorten(name, 60)!r}")
            continue
        memory.commit([memory.event("used", scar.id, data={"outcome": outcome, "declared": "at close"})])


def _names(name: str, scar: Record) -> bool:
    said = name.strip().lower()
    return bool(said) and (scar.id.lower().startswith(said) or said in scar.title.lower() or scar.title.lower() in said)


def _bridge(memory: Memory, read: Payload) -> tuple[dict[str, str], list[Event]]:
    """Settle the scars nobody answered: named in the reflection they were applied, else they were ignored."""
    told = read.reflection.get("scars_applied", "").lower()
    answers: dict[str, str] = {}
    events = []
    for scar in unanswered(memory):
        named = scar.title.lower() in told or scar.id[:8].lower() in told
        answers[scar.id] = "applied" if named else "ignored"
        events.append(memory.event("used", scar.id, data={"outcome": answers[scar.id], "observed": "at close"}))
    return answers, events


def _compliance(
    close_type: str, read: Payload, conduct: Conduct, answers: Mapping[str, str], took_ms: int
) -> dict[str, Any]:
    return {
        "close_type": close_type,
        "ceremony": ceremony(conduct),
        "minutes": round(conduct.minutes, 1),
        "questions_answered": len(read.reflection),
        "human_asked_for_corrections": read.corrections is not None,
        "learnings_stored": conduct.learnings,
        "scars_ignored": list(answers.values()).count("ignored"),
        "recalls": conduct.recalls,
        **({"ceremony_duration_ms": took_ms} if took_ms else {}),
    }


def _drafts(memory: Memory, read: Payload, title: str, session: Session, conduct: Conduct) -> list[Draft]:
    """Give the records that tell of the session itself."""
    found = []
    did_something = (
        conduct.recalls or conduct.learnings or read.reflection or read.summary or read.decisions or read.threads
    )
    if did_something:
        told = [f"{name.replace('_', ' ')}: {text}" for name, text in read.summary.items()]
        body = "\n".join([title or f"Session {session.id[:10]}", *told])
        found.append(Draft(body=body, kind="summary", title=title or headline(body), fields=dict(read.summary)))
    if read.reflection:
        fields = {**read.reflection, **({"corrections": read.corrections} if read.corrections else {})}
        body = f"Looking back at {title or session.id[:10]}"
        found.append(Draft(body=body, kind="retrospective", title=body, fields=fields))
    if read.project_state:
        found.append(_state_draft(memory, read.project_state))
    return found


def _state_draft(memory: Memory, text: str) -> Draft:
    """Give the state of the project, in place of the last one."""
    here = memory.store.project_number(memory.project)
    former = [
        entry.record.id
        for entry in records.newest(memory.store.db, "progress", here, limit=50)
        if STATE_TAG in entry.record.tags
    ]
    links = tuple(Link(relation="supersedes", target=one) for one in former[:1])
    return Draft(body=text.removeprefix("PROJECT STATE:").strip(), kind="progress", tags=(STATE_TAG,), links=links)
