"""Start, resume and find sessions, and read what they left."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Ambiguous, Conflict, Forbidden, NotFound
from holdfast.model.ids import check_part, days_before, is_part, short
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import check_keepable, check_text
from holdfast.policy.secrets.find import mask_secrets, masked
from holdfast.policy.sessions.closing import rapport_of
from holdfast.policy.sessions.left_off import LeftOff
from holdfast.verbs.memory import MOST_CANDIDATES, Memory, candidates
from holdfast.verbs.records.hot import cool
from holdfast.verbs.sessions.left_off import left_off
from holdfast.verbs.sessions.scars import Effect, effects
from holdfast.verbs.sessions.starters import plant
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.sessions.thread import Thread, open_threads

RESUME_DAYS = 1.0
DECISION_DAYS, DECISIONS = 5.0, 3
INSIGHT_DAYS, INSIGHT_SESSIONS = 30.0, 5
LONGEST_TITLE = 200
STATE_TAG = "project-state"
SHORTEST_PART = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """How well scars worked recently."""

    sessions: int
    shown: int
    heeded: float
    blind_spot: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session should know when it starts."""

    session: Session
    resumed: bool = False
    last: Session | None = None
    summary: Record | None = None
    state: Record | None = None
    rapport: str = ""
    threads: tuple[Thread, ...] = ()
    decisions: tuple[Record, ...] = ()
    suggestions: tuple[Record, ...] = ()
    left_open: tuple[Session, ...] = ()
    left_off: LeftOff | None = None
    planted: int = 0
    insight: Insight | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContents:
    """A session with everything it left behind."""

    session: Session
    records: tuple[Record, ...] = ()
    shown: int = 0
    recalls: int = 0
    last_at: str = ""
    close: dict[str, Any] = field(default_factory=dict)


def start(
    memory: Memory,
    *,
    session: str = "",
    title: str = "",
    issue: str = "",
    project: str = "",
    agent: str = "",
    force: bool = False,
) -> tuple[Memory, Opening]:
    """Start a session, or resume one: the named one, this process's own, or that of its dead predecessor.

    The returned memory acts in it, with that project and agent if they are set. With a read-only key nothing is started.
    """
    current = current_session(memory)
    if project and project != memory.project:
        memory = memory.acting_on(project)
    memory = memory.acting(actor=replace(memory.actor, name=agent or memory.actor.name))
    if memory.role == "read":
        return memory, context(memory)
    own = current if current and current.project == memory.project else None
    resumed = find_session(memory, session) if session else None if force else own or orphan(memory)
    if resumed and resumed.project != memory.project:
        raise Conflict(f"{resumed.id} belongs to {resumed.project}.", hint="Resume it from that project.")
    if resumed:
        check_own(memory, resumed)
    planted = plant(memory)
    cool(memory)
    memory = begin(memory, resumed, title=title, issue=issue)
    started = find_session(memory, memory.actor.session)
    if current and current.is_open and current.id != started.id:
        supersede(memory, current, started.id)
    is_resumed = bool(resumed and not resumed.implicit)
    return memory, replace(_opening(memory, started), resumed=is_resumed, planted=planted)


def begin(
    memory: Memory,
    known: Session | None = None,
    *,
    title: str = "",
    issue: str = "",
    implicit: bool = False,
    name: str = "",
) -> Memory:
    """Record that a session starts or continues in this process; return the memory that acts in it.

    `name` is the client's own session id, if known, so that hooks and tools use the same session.
    """
    name = mask_secrets(name)
    if name and known is None:
        known = sessions.of(memory.store, name)
    memory = memory.acting_in(known.id if known else name or memory.clock.tick())
    host = memory.host
    data: dict[str, Any] = {"project": memory.project, "host": host.name, "pid": host.pid, "parent": host.parent}
    if title:
        data["title"] = check_text(masked(title), "title", LONGEST_TITLE)
    if issue:
        data["issue"] = check_text(masked(issue), "issue", LONGEST_TITLE)
    if implicit:
        data["implicit"] = True
    after = max(known.last, known.end) if known else ""
    memory.commit([memory.event("started", memory.actor.session, data=data, after=after)])
    return memory


def check_own(memory: Memory, session: Session) -> None:
    """Reject work in the session of another user of a server, except by an admin."""
    if not _is_own(memory, session) and memory.role != "admin":
        raise Forbidden(f"{session.id} is a session of another user.", hint="Only they, or an admin, may change it.")


def _is_own(memory: Memory, session: Session) -> bool:
    return session.agent in ("", memory.user) if memory.user else True


def refresh(memory: Memory) -> Opening:
    """Return what a session should know, without starting one."""
    current = current_session(memory)
    if current is None:
        raise NotFound("No active session.", hint="Start one: holdfast session start")
    return replace(_opening(memory, current), resumed=True)


def context(memory: Memory) -> Opening:
    """Return where the project stands, without a session."""
    return _opening(memory, current_session(memory) or Session(id="", project=memory.project, agent=memory.actor.name))


def supersede(memory: Memory, old: Session, by: str) -> None:
    """Close a session because another replaces it."""
    event = memory.event("closed", old.id, data={"type": "superseded", "by": by}, after=old.last)
    memory.commit([replace(event, by=replace(event.by, session=old.id))])


def current_session(memory: Memory) -> Session | None:
    """Return the open session this memory acts in; None if there is none."""
    session = sessions.of(memory.store, memory.actor.session) if memory.actor.session else None
    return session if session and session.is_open else None


def recalls(memory: Memory) -> int:
    """Return how many recalls the current session made."""
    return memory.store.counted(memory.actor.session, "surfaced") if memory.actor.session else 0


def find_session(memory: Memory, reference: str) -> Session:
    """Return the session with an id, or with its end or beginning."""
    if exact := sessions.of(memory.store, reference):
        return exact  # clients use ids of their own
    part = reference.strip()
    matches = _with_part(memory, part.upper()) or _with_part(memory, part)  # other systems use lower-case ids
    if not matches:
        check_part(reference)
        raise NotFound(f"There is no session {reference}.", hint="List them: holdfast session list")
    matches = [
        session for session in matches if not (session.implicit and session.close.get("type") == "superseded")
    ] or matches
    if len(matches) > 1:
        raise Ambiguous(candidates(reference, {session.id: session.title for session in matches}))
    return matches[0]


def _with_part(memory: Memory, part: str) -> list[Session]:
    check_keepable(part)
    return sessions.with_part(memory.store, part, MOST_CANDIDATES) if len(part) >= SHORTEST_PART else []


def in_session(memory: Memory, name: str) -> Memory:
    """Return the memory acting in the session of this name, which starts if unknown; "" returns it unchanged."""
    if not name.strip():
        return memory
    name = mask_secrets(name)
    known = sessions.of(memory.store, name.strip())
    if known is None and is_part(name):
        known = next(iter(sessions.with_part(memory.store, check_part(name), 1)), None)
    if known:
        check_own(memory, known)
    other = memory.acting_in(known.id if known else check_text(name, "session", LONGEST_TITLE))
    return other if known else begin(other, Session(id=other.actor.session), implicit=True)


def entitle(memory: Memory, reference: str, title: str) -> Session:
    """Set the title of a session; a closed one stays closed."""
    session, checked = find_session(memory, reference), check_text(masked(title), "title", LONGEST_TITLE)
    check_own(memory, session)
    if session.is_open:
        data: dict[str, Any] = {"title": checked} | ({"implicit": True} if session.implicit else {})
        event = memory.event("started", session.id, data=data, after=max(session.last, session.end))
        memory.commit([replace(event, by=replace(event.by, name=session.agent))])
    else:
        data = {**session.close, "title": checked}
        memory.commit([memory.event("closed", session.id, data=data, after=session.end)])
    return find_session(memory, session.id)


def only_open(memory: Memory) -> Session:
    """Return the only open session of this project; raise if there is none or more than one."""
    if current := current_session(memory):
        return current
    open_sessions = sessions.page(memory.store, memory.project, limit=200, only_open=True)
    own = [session for session in open_sessions if _is_own(memory, session)]
    if not own:
        raise NotFound("No active session in this project.", hint="Start one: holdfast session start")
    if len(own) > 1:
        shown = ", ".join(f"{short(session.id)} ({session.title or 'untitled'})" for session in own[:5])
        raise Ambiguous(f"{len(own)} sessions are active in this project: {shown}.", hint="Name one by its id.")
    return own[0]


def list_sessions(
    memory: Memory,
    *,
    limit: int = 20,
    offset: int = 0,
    everywhere: bool = False,
    since: str = "",
    until: str = "~",
    agent: str = "",
) -> list[Session]:
    """Return sessions, latest first: those of one agent if it is given, and with `since` and `until` those that began between two instants."""
    project = None if everywhere else memory.project
    return sessions.page(memory.store, project, limit=limit, offset=offset, since=since, until=until, agent=agent)


def session_agents(memory: Memory, *, everywhere: bool = False) -> list[str]:
    """Return the names of the agents that had sessions, in alphabetical order."""
    return sessions.agents(memory.store, None if everywhere else memory.project)


def open_sessions(memory: Memory, *, limit: int = 20, everywhere: bool = False) -> list[Session]:
    """Return sessions that have not ended, latest first."""
    return sessions.page(memory.store, None if everywhere else memory.project, limit=limit, only_open=True)


def sessions_called(memory: Memory, ids: Iterable[str]) -> dict[str, Session]:
    """Return the sessions with these ids, by id; unknown ones are left out."""
    return {id_: session for id_ in ids if (session := sessions.of(memory.store, id_))}


def saved_in(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Count the records that each of these sessions saved."""
    return records.counted_in_sessions(memory.store, ids)


def contents_of(memory: Memory, reference: str) -> SessionContents:
    """Return a session with its records and its number of recalls."""
    session = find_session(memory, reference)
    store = memory.store
    return SessionContents(
        session=session,
        records=tuple(entry.record for entry in records.of_session(store, session.id)),
        recalls=store.counted(session.id, "surfaced"),
        last_at=store.last_at(session.id),
        close=dict(session.close),
    )


def resume(memory: Memory, session: Session) -> Memory:
    """Continue a session in this process, announced or not as it was, under the name it had."""
    named = memory.acting(actor=replace(memory.actor, name=session.agent or memory.actor.name))
    return begin(named, session, implicit=session.implicit)


def orphan(memory: Memory, *, any_name: bool = False) -> Session | None:
    """Return this project's open session whose process died under the same client: its server was restarted.

    `any_name`: also one whose agent was given another name in the session. None on a team's server, where all sessions
    of all users belong to one process.
    """
    if memory.user:
        return None
    since = days_before(memory.clock.now(), RESUME_DAYS)
    host = memory.host
    for session in sessions.page(memory.store, memory.project, limit=50, since=since, only_open=True):
        same_client = (session.host, session.parent) == (host.name, host.parent)
        same_client = same_client and (any_name or session.agent == memory.actor.name)
        if same_client and session.pid != host.pid and not host.is_alive(session.pid):
            return session
    return None


def _opening(memory: Memory, session: Session) -> Opening:
    store, project = memory.store, memory.store.project_number(memory.project)
    others = [other for other in sessions.page(store, memory.project, limit=20) if other.id != session.id]
    last = next((other for other in others if other.close and other.close.get("type") != "superseded"), None)
    recent = days_before(memory.clock.now(), DECISION_DAYS)
    decisions = [entry.record for entry in records.newest(store, "decision", project, limit=DECISIONS)]
    retrospectives = [entry.record.fields for entry in records.newest(store, "retrospective", project, limit=5)]
    return Opening(
        session=session,
        last=last,
        summary=_summary(memory, last),
        state=_state(memory, project),
        rapport=next((text for fields in retrospectives if (text := rapport_of(fields))), ""),
        threads=tuple(open_threads(memory)),
        decisions=tuple(record for record in decisions if record.created_at >= recent),
        suggestions=tuple(suggestions(memory)),
        left_open=tuple(_abandoned(memory, others)),
        left_off=left_off(memory, without=session.id),
        insight=_insight(memory),
    )


def _summary(memory: Memory, last: Session | None) -> Record | None:
    summary = last.close.get("summary") if last else None
    entries = records.by_ids(memory.store, [summary]) if isinstance(summary, str) else {}
    return next((entry.record for entry in entries.values() if entry.record.state == "active"), None)


def _state(memory: Memory, project: int) -> Record | None:
    entries = records.newest(memory.store, "progress", project, limit=50)
    return next((entry.record for entry in entries if STATE_TAG in entry.record.tags), None)


def _abandoned(memory: Memory, others: list[Session]) -> list[Session]:
    """Return unclosed sessions of processes that are gone."""
    host = memory.host
    gone = [
        session
        for session in others
        if session.is_open and not (session.host == host.name and host.is_alive(session.pid))
    ]
    return [session for session in gone if not session.implicit]


def _insight(memory: Memory) -> Insight | None:
    since = days_before(memory.clock.now(), INSIGHT_DAYS)
    recent = sessions.page(memory.store, memory.project, limit=1_000, since=since)
    if len(recent) < INSIGHT_SESSIONS:
        return None
    scar_effects: list[Effect] = effects(memory, days=INSIGHT_DAYS)
    shown = sum(effect.shown for effect in scar_effects)
    if not shown:
        return None
    return Insight(
        sessions=len(recent),
        shown=shown,
        heeded=sum(effect.outcomes["applied"] for effect in scar_effects) / shown,
        blind_spot=next((effect.scar for effect in scar_effects if effect.is_blind_spot), None),
    )
