"""Start, resume and find sessions, and read what they left; the lessons that ship with Holdfast are added at the first start."""

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Ambiguous, Conflict, Forbidden, NotFound
from holdfast.model.event import Actor, Event
from holdfast.model.files import read_regular
from holdfast.model.ids import check_part, days_before, fixed_id, instant, is_part, short
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import check_keepable, check_text
from holdfast.policy.secrets.find import mask_secrets, masked
from holdfast.policy.sessions.closing import rapport_of
from holdfast.verbs.memory import MOST_CANDIDATES, Memory, Report, candidates
from holdfast.verbs.records.hot import cool
from holdfast.verbs.records.project import session_event
from holdfast.verbs.records.read import newest_of_kind
from holdfast.verbs.sessions.left_off import left_by_branch
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.sessions.thread import open_threads, suggestions

RESUME_DAYS = 1.0
DECISION_DAYS, DECISIONS = 5.0, 3
INSIGHT_DAYS, INSIGHT_SESSIONS = 30.0, 5
LONGEST_TITLE = 200
STATE_TAG = "project-state"
SHORTEST_PART = 4
# The twelve lessons are the same records on every machine. They are never counted as a project's memories.
STARTERS, STARTERS_VERSION = Path(__file__).with_name("starters.toml"), "1"
STARTERS_AT, STARTERS_BY = 1_767_225_600.0, Actor(kind="rule", name="holdfast")  # 2026-01-01


def start(
    memory: Memory,
    *,
    session: str = "",
    title: str = "",
    issue: str = "",
    project: str = "",
    agent: str = "",
    force: bool = False,
) -> tuple[Memory, Report]:
    """Start a session, or resume one: the named one, this process's own, or that of its dead predecessor.

    The returned memory acts in it, with that project and agent if they are set. With a read-only key nothing is started.
    """
    current = current_session(memory)
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
    if current and current.id != started.id:
        data, by = {"type": "superseded", "by": started.id}, replace(memory.actor, session=current.id)
        memory.commit([memory.event("closed", current.id, data=data, after=current.last, by=by)])
    return memory, _opening(memory, started, resumed=bool(resumed and not resumed.implicit), planted=planted)


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
    host, said = memory.host, {"title": title, "issue": issue}
    data: dict[str, Any] = {"project": memory.project, "host": host.name, "pid": host.pid, "parent": host.parent}
    data |= {name: check_text(masked(text), name, LONGEST_TITLE) for name, text in said.items() if text}
    data |= {"implicit": True} if implicit else {}
    after = max(known.last, known.end) if known else ""
    memory.commit([memory.event("started", memory.actor.session, data=data, after=after)])
    return memory


def plant(memory: Memory) -> int:
    """Add the lessons to a store that never had them; return how many are new. Retired ones stay retired."""
    if not memory.config.starters or memory.store.setting("starters") == STARTERS_VERSION:
        return 0
    events = []
    for number, starter in enumerate(tomllib.loads(read_regular(STARTERS).decode())["starter"]):
        title, body = starter.pop("title"), starter.pop("body")
        fields = {"severity": starter.pop("severity"), "scar_type": "process", **starter}
        data = {"kind": "scar", "title": title, "body": body, "fields": fields, "source": "starter"}
        id_, at = fixed_id(STARTERS_AT + number, title), instant(STARTERS_AT)
        events.append(Event(id=id_, about=id_, verb="recorded", at=at, by=STARTERS_BY, data=data))
    planted = memory.commit(events)
    memory.store.note("starters", STARTERS_VERSION)
    return len(planted)


def check_own(memory: Memory, session: Session) -> None:
    """Reject work in the session of another user of a server, except by an admin."""
    if memory.user and session.agent not in ("", memory.user) and memory.role != "admin":
        raise Forbidden(f"{session.id} is a session of another user.", hint="Only they, or an admin, may change it.")


def refresh(memory: Memory) -> Report:
    """Return what a session should know, without starting one."""
    current = current_session(memory)
    if current is None:
        raise NotFound("No active session.", hint="Start one: holdfast session start")
    return _opening(memory, current, resumed=True)


def context(memory: Memory) -> Report:
    """Return where the project stands, without a session."""
    return _opening(memory, current_session(memory) or Session(id="", project=memory.project, agent=memory.actor.name))


def current_session(memory: Memory) -> Session | None:
    """Return the open session this memory acts in; None if there is none."""
    session = sessions.of(memory.store, memory.actor.session) if memory.actor.session else None
    return session if session and session.is_open else None


def find_session(memory: Memory, reference: str) -> Session:
    """Return the session with an id, or with its end or beginning."""
    if exact := sessions.of(memory.store, reference):
        return exact  # clients use ids of their own
    part = reference.strip()
    check_keepable(part)
    matches = list[Session]()
    if len(part) >= SHORTEST_PART:  # other systems use lower-case ids
        matches = sessions.with_part(memory.store, part.upper(), MOST_CANDIDATES)
        matches = matches or sessions.with_part(memory.store, part, MOST_CANDIDATES)
    if not matches:
        raise NotFound(f"There is no session {part[:40]}.", hint="List them: holdfast session list")
    matches = [one for one in matches if not (one.implicit and one.close.get("type") == "superseded")] or matches
    if len(matches) > 1:
        raise Ambiguous(candidates(reference, {session.id: session.title for session in matches}))
    return matches[0]


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
        return memory.acting_in(known.id)
    return begin(memory, Session(id=check_text(name, "session", LONGEST_TITLE)), implicit=True)


def entitle(memory: Memory, reference: str, title: str) -> Session:
    """Set the title of a session; a closed one stays closed."""
    session, checked = find_session(memory, reference), check_text(masked(title), "title", LONGEST_TITLE)
    check_own(memory, session)
    memory.commit([session_event(memory, session, {"title": checked})])
    return find_session(memory, session.id)


def only_open(memory: Memory) -> Session:
    """Return the only open session of this project; raise if there is none or more than one."""
    if current := current_session(memory):
        return current
    open_sessions = sessions.page(memory.store, memory.project, limit=200, only_open=True)
    own = [session for session in open_sessions if not memory.user or session.agent in ("", memory.user)]
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
    only_open: bool = False,
) -> list[Session]:
    """Return sessions, latest first: those of one agent, that have not ended, or that began between two instants."""
    chosen = {"since": since, "until": until, "agent": agent}
    project = None if everywhere else memory.project
    return sessions.page(memory.store, project, limit=limit, offset=offset, only_open=only_open, **chosen)


def session_agents(memory: Memory, *, everywhere: bool = False) -> list[str]:
    """Return the names of the agents that had sessions, in alphabetical order."""
    return sessions.agents(memory.store, None if everywhere else memory.project)


def sessions_called(memory: Memory, ids: Iterable[str]) -> dict[str, Session]:
    """Return the sessions with these ids, by id; unknown ones are left out."""
    return {id_: session for id_ in ids if (session := sessions.of(memory.store, id_))}


def saved_in(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Count the records that each of these sessions saved."""
    return records.counted_in_sessions(memory.store, ids)


def contents_of(memory: Memory, reference: str) -> Report:
    """Return a session with everything it left behind."""
    session, store = find_session(memory, reference), memory.store
    return {
        "session": session,
        "records": [entry.record for entry in records.of_session(store, session.id)],
        "recalls": store.counted(session.id, "surfaced"),
        "last_at": store.last_at(session.id),
        "close": dict(session.close),
    }


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
    since, host = days_before(memory.clock.now(), RESUME_DAYS), memory.host
    for session in sessions.page(memory.store, memory.project, limit=50, since=since, only_open=True):
        same_client = (session.host, session.parent) == (host.name, host.parent)
        same_client = same_client and (any_name or session.agent == memory.actor.name)
        if same_client and session.pid != host.pid and not host.is_alive(session.pid):
            return session
    return None


def project_state(memory: Memory) -> Record | None:
    """Return the last report on the state of the project; None if there is none."""
    return next((record for record in newest_of_kind(memory, "progress", limit=50) if STATE_TAG in record.tags), None)


def _opening(memory: Memory, session: Session, *, resumed: bool = False, planted: int = 0) -> Report:
    """Return what a session should know when it starts."""
    store, host, now = memory.store, memory.host, memory.clock.now()
    others = [other for other in sessions.page(store, memory.project, limit=20) if other.id != session.id]
    last = next((other for other in others if other.close and other.close.get("type") != "superseded"), None)
    named = last.close.get("summary") if last else None
    summary = memory.known([named]).get(named) if isinstance(named, str) else None
    rapports = (rapport_of(record.fields) for record in newest_of_kind(memory, "retrospective", limit=5))
    decisions = newest_of_kind(memory, "decision", limit=DECISIONS)
    left_open = (other for other in others if other.is_open and not other.implicit)
    worked = sessions.page(store, memory.project, limit=1_000, since=days_before(now, INSIGHT_DAYS))
    scars, insight = effects(memory, days=INSIGHT_DAYS) if len(worked) >= INSIGHT_SESSIONS else [], None
    if shown := sum(effect.shown for effect in scars):
        heeded = sum(effect.outcomes["applied"] for effect in scars) / shown
        blind_spot = next((effect.scar for effect in scars if effect.is_blind_spot), None)
        insight = {"sessions": len(worked), "shown": shown, "heeded": heeded, "blind_spot": blind_spot}
    return {
        "session": session,
        "resumed": resumed,
        "last": last,
        "summary": summary if summary and summary.state == "active" else None,
        "state": project_state(memory),
        "rapport": next(filter(None, rapports), ""),
        "threads": open_threads(memory),
        "decisions": [record for record in decisions if record.created_at >= days_before(now, DECISION_DAYS)],
        "suggestions": suggestions(memory),
        "left_open": [other for other in left_open if other.host != host.name or not host.is_alive(other.pid)],
        "left_off": next(iter(left_by_branch(memory, without=session.id)), None),
        "planted": planted,
        "insight": insight,  # how well scars worked recently
    }
