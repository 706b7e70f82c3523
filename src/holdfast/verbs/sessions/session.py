"""Sessions: begin one, take it up again after a restart, find one, and look at what it left."""

from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Ambiguous, Conflict, Forbidden, NotFound
from holdfast.model.ids import check_prefix, days_before, is_prefix
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import check_keepable, check_text
from holdfast.policy.secrets.find import mask_secrets, masked
from holdfast.policy.sessions.closing import rapport_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import cool
from holdfast.verbs.sessions.scars import Effect, effects
from holdfast.verbs.sessions.starters import plant
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.sessions.thread import Thread, open_threads

RESUME_DAYS = 1.0
DECISION_DAYS, DECISIONS = 5.0, 3
INSIGHT_DAYS, INSIGHT_SESSIONS = 30.0, 5
LONGEST_TITLE = 200
STATE_TAG = "project-state"
SHORTEST_PREFIX = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """How well scars worked lately."""

    sessions: int
    shown: int
    heeded: float
    blind_spot: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session should know when it begins."""

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
    planted: int = 0
    insight: Insight | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
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
) -> Opening:
    """Begin a session, or take one up again: the one named, this process's own, or that of its dead predecessor.

    With a project or an agent this memory works on that codebase, under that name, from now on. With a key to read nothing begins.
    """
    current = current_session(memory)
    if project and project != memory.project:
        memory.move_to(project)
    memory.actor = replace(memory.actor, name=agent or memory.actor.name)
    if memory.role == "read":
        return context(memory)
    here = current if current and current.project == memory.project else None
    resumed = find_session(memory, session) if session else None if force else here or _orphan(memory)
    if resumed and resumed.project != memory.project:
        raise Conflict(
            f"{resumed.id} belongs to {resumed.project}.", hint="Sessions of other projects are not taken up."
        )
    if resumed:
        check_own(memory, resumed)
    planted = plant(memory)
    cool(memory)
    begun = begin(memory, resumed, title=title, issue=issue)
    if current and current.is_open and current.id != begun.id:
        supersede(memory, current, begun.id)
    return replace(_opening(memory, begun), resumed=bool(resumed and not resumed.implicit), planted=planted)


def begin(
    memory: Memory,
    known: Session | None = None,
    *,
    title: str = "",
    issue: str = "",
    implicit: bool = False,
    name: str = "",
) -> Session:
    """Note that a session begins, or goes on, in this process; from now on this memory acts in it.

    `name` is what the client calls it, if it says so: then hooks and tools speak of the same session.
    """
    name = mask_secrets(name)
    if name and known is None:
        known = sessions.of(memory.store.db, name)
    memory.actor = replace(memory.actor, session=known.id if known else name or memory.clock.tick())
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
    return find_session(memory, memory.actor.session)


def check_own(memory: Memory, session: Session) -> None:
    """Reject work in the session of another user of a server, except by an admin."""
    if not _is_own(memory, session) and memory.role != "admin":
        raise Forbidden(f"{session.id} is a session of another user.", hint="Only they, or an admin, may change it.")


def _is_own(memory: Memory, session: Session) -> bool:
    return session.agent in ("", memory.user) if memory.user else True


def refresh(memory: Memory) -> Opening:
    """Give what a session should know, without beginning one."""
    current = current_session(memory)
    if current is None:
        raise NotFound("No session goes on here.", hint="Start one.")
    return replace(_opening(memory, current), resumed=True)


def context(memory: Memory) -> Opening:
    """Give where the project stands, for somebody who is in no session yet."""
    return _opening(memory, current_session(memory) or Session(id="", project=memory.project, agent=memory.actor.name))


def supersede(memory: Memory, old: Session, by: str) -> None:
    """End a session because another takes its place."""
    event = memory.event("closed", old.id, data={"type": "superseded", "by": by}, after=old.last)
    memory.commit([replace(event, by=replace(event.by, session=old.id))])


def current_session(memory: Memory) -> Session | None:
    """Give the session this memory acts in, if it was begun and goes on."""
    found = sessions.of(memory.store.db, memory.actor.session) if memory.actor.session else None
    return found if found and found.is_open else None


def recalls(memory: Memory) -> int:
    """Tell how often the session this memory acts in has asked."""
    return memory.store.counted(memory.actor.session, "surfaced") if memory.actor.session else 0


def find_session(memory: Memory, reference: str) -> Session:
    """Give the session of an id or unambiguous prefix."""
    if exact := sessions.of(memory.store.db, reference):
        return exact  # hosts name sessions in their own way
    said = reference.strip()
    found = _begin_so(memory, said.upper()) or _begin_so(memory, said)  # other systems write theirs in small letters
    if not found:
        check_prefix(reference)
        raise NotFound(f"There is no session {reference}.", hint="List the sessions to see which there are.")
    found = [one for one in found if not (one.implicit and one.close.get("type") == "superseded")] or found
    if len(found) > 1:
        raise Ambiguous(f"{len(found)} sessions begin with {reference}.", hint="Give more of the id.")
    return found[0]


def _begin_so(memory: Memory, prefix: str) -> list[Session]:
    check_keepable(prefix)
    return sessions.by_prefix(memory.store.db, prefix, 20) if len(prefix) >= SHORTEST_PREFIX else []


def in_session(memory: Memory, name: str) -> Memory:
    """Give the memory at work in the session of this name, which begins if nobody ever heard of it; nothing: as it is."""
    if not name.strip():
        return memory
    name = mask_secrets(name)
    known = sessions.of(memory.store.db, name.strip())
    if known is None and is_prefix(name):
        known = next(iter(sessions.by_prefix(memory.store.db, check_prefix(name), 1)), None)
    if known:
        check_own(memory, known)
    other = memory.acting_in(known.id if known else check_text(name, "session", LONGEST_TITLE))
    if known is None:
        begin(other, Session(id=other.actor.session), implicit=True)
    return other


def entitle(memory: Memory, reference: str, title: str) -> Session:
    """Say what a session is about; one that ended stays so."""
    session, said = find_session(memory, reference), check_text(masked(title), "title", LONGEST_TITLE)
    check_own(memory, session)
    if session.is_open:
        data: dict[str, Any] = {"title": said} | ({"implicit": True} if session.implicit else {})
        event = memory.event("started", session.id, data=data, after=max(session.last, session.end))
        memory.commit([replace(event, by=replace(event.by, name=session.agent))])
    else:
        data = {**session.close, "title": said}
        memory.commit([memory.event("closed", session.id, data=data, after=session.end)])
    return find_session(memory, session.id)


def only_open(memory: Memory) -> Session:
    """Give the one session that goes on in this project, or say why it is not clear which is meant."""
    if current := current_session(memory):
        return current
    going_on = sessions.page(memory.store.db, memory.project, limit=200, only_open=True)
    found = [one for one in going_on if _is_own(memory, one)]
    if not found:
        raise NotFound("No session goes on in this project.", hint="Start one.")
    if len(found) > 1:
        shown = ", ".join(one.id for one in found[:5])
        raise Ambiguous(f"{len(found)} sessions go on in this project: {shown}.", hint="Say which one is meant.")
    return found[0]


def list_sessions(memory: Memory, *, limit: int = 20, offset: int = 0, everywhere: bool = False) -> list[Session]:
    """Give sessions, latest first."""
    return sessions.page(memory.store.db, None if everywhere else memory.project, limit=limit, offset=offset)


def left_by(memory: Memory, reference: str) -> Left:
    """Give a session with what it wrote and how often it asked."""
    session = find_session(memory, reference)
    db, store = memory.store.db, memory.store
    return Left(
        session=session,
        records=tuple(entry.record for entry in records.of_session(db, session.id)),
        recalls=store.counted(session.id, "surfaced"),
        last_at=store.last_at(session.id),
        close=dict(session.close),
    )


def _orphan(memory: Memory) -> Session | None:
    """Give the open session of this project whose process died under the same client: a server that was restarted."""
    since = days_before(memory.clock.now(), RESUME_DAYS)
    host = memory.host
    for one in sessions.page(memory.store.db, memory.project, limit=50, since=since, only_open=True):
        same_client = (one.host, one.parent, one.agent) == (host.name, host.parent, memory.actor.name)
        if same_client and one.pid != host.pid and not host.is_alive(one.pid):
            return one
    return None


def _opening(memory: Memory, session: Session) -> Opening:
    db, here = memory.store.db, memory.store.project_number(memory.project)
    others = [one for one in sessions.page(db, memory.project, limit=20) if one.id != session.id]
    last = next((one for one in others if one.close and one.close.get("type") != "superseded"), None)
    recent = days_before(memory.clock.now(), DECISION_DAYS)
    decisions = [entry.record for entry in records.newest(db, "decision", here, limit=DECISIONS)]
    retrospectives = [entry.record.fields for entry in records.newest(db, "retrospective", here, limit=5)]
    return Opening(
        session=session,
        last=last,
        summary=_summary(memory, last),
        state=_state(memory, here),
        rapport=next((text for fields in retrospectives if (text := rapport_of(fields))), ""),
        threads=tuple(open_threads(memory)),
        decisions=tuple(record for record in decisions if record.created_at >= recent),
        suggestions=tuple(suggestions(memory)),
        left_open=tuple(_abandoned(memory, others)),
        insight=_insight(memory),
    )


def _summary(memory: Memory, last: Session | None) -> Record | None:
    summary = last.close.get("summary") if last else None
    found = records.by_ids(memory.store.db, [summary]) if isinstance(summary, str) else {}
    return next((entry.record for entry in found.values() if entry.record.state == "active"), None)


def _state(memory: Memory, here: int) -> Record | None:
    found = records.newest(memory.store.db, "progress", here, limit=50)
    return next((entry.record for entry in found if STATE_TAG in entry.record.tags), None)


def _abandoned(memory: Memory, others: list[Session]) -> list[Session]:
    """Give sessions nobody closed, of processes that are gone."""
    host = memory.host
    gone = [one for one in others if one.is_open and not (one.host == host.name and host.is_alive(one.pid))]
    return [one for one in gone if not one.implicit]


def _insight(memory: Memory) -> Insight | None:
    since = days_before(memory.clock.now(), INSIGHT_DAYS)
    recent = sessions.page(memory.store.db, memory.project, limit=1_000, since=since)
    if len(recent) < INSIGHT_SESSIONS:
        return None
    found: list[Effect] = effects(memory, days=INSIGHT_DAYS)
    shown = sum(one.shown for one in found)
    if not shown:
        return None
    return Insight(
        sessions=len(recent),
        shown=shown,
        heeded=sum(one.outcomes["applied"] for one in found) / shown,
        blind_spot=next((one.scar for one in found if one.is_blind_spot), None),
    )
