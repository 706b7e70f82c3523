"""Resolve project names, and move memories between projects: other systems use short names, Holdfast the remote or the path."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Ambiguous, Forbidden, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.ports import Earlier
from holdfast.model.record import GLOBAL, project_of_remote
from holdfast.model.session import Session
from holdfast.model.text import check_text
from holdfast.verbs.memory import Memory, Report

HERE = ("", "default")
LONGEST, MOST = 500, 1_000_000
_STATES = ("active", "pending", "retired")


def follow_address(memory: Memory) -> str:
    """Move what was saved under this folder's path to the project of its new remote; return a sentence about it, or ""."""
    certain = [each.project for each in memory.checkout.earlier() if each.certain] if _is_local(memory) else []
    if not certain or not _active(memory, certain[0]):
        return ""
    moved = move(memory, certain[0], memory.project)
    source, target, count = moved["source"], moved["target"], _counted(len(moved["records"]))
    undo = f"holdfast store project move {target} {shlex.quote(source)}"
    return f"This folder has a remote now: {count} moved from {source} to {target}. To undo: {undo}"


def saved_elsewhere(memory: Memory, *, for_agent: bool = False) -> list[str]:
    """Return a sentence with a command about each other identity under which memories of this checkout were saved.

    For an agent a common first commit is not enough: a stranger's clone has it too.
    """
    if not _is_local(memory):
        return []
    by_history = not for_agent and memory.actor.kind != "agent" and not _active(memory, memory.project)
    parts = (name for name in memory.store.projects() if name.startswith(f"{memory.project}#"))
    own = (Earlier(project=name, why="here") for name in parts)
    return [
        f"{_counted(count)} {_SAVED[each.why].format(each.project)}; to move {'it' if count == 1 else 'them'} here: "
        f"holdfast store project move {shlex.quote(each.project)} ."
        for each in (*memory.checkout.earlier(by_history=by_history), *own)
        if (count := _active(memory, each.project))
    ]


def notes_on_nothing(memory: Memory) -> list[str]:
    """Return what to say where a project has no memories: under which names its checkout has some, else how many others have."""
    if _active(memory, memory.project):
        return []
    total = records.counted(memory.store, records.Filter())
    listed = "." if memory.actor.kind == "agent" else ": holdfast list --everywhere"
    others = f"No memories for {memory.project} yet; other projects have {total:,}{listed}"
    return saved_elsewhere(memory) or ([others] if total else [])


_SAVED = {
    "here": "saved here as {}",
    "moved": "saved as {}, from where this folder was moved or copied",
    "history": "saved as {}, which has the same first commit",
}


def _is_local(memory: Memory) -> bool:
    return not memory.user and memory.project == memory.checkout.project()


def _active(memory: Memory, project: str) -> int:
    if project not in memory.store.projects():
        return 0
    return records.counted(memory.store, records.Filter(projects=(memory.store.project_number(project),)))


def _counted(count: int) -> str:
    return "1 memory was" if count == 1 else f"{count:,} memories were"


def in_project(memory: Memory, name: str) -> Memory:
    """Return the memory for the project with this name; the same object if it is already the current project."""
    return memory.acting_on(project_called(memory, name))


def project_called(memory: Memory, name: str) -> str:
    """Return the project meant by a name: an exact match, one whose last part matches, or else a new project."""
    wanted = name.strip()
    if wanted.lower() in HERE or _short(memory.project) == wanted.lower():
        return memory.project
    check_text(wanted, "project", LONGEST)
    known = [project for project in memory.store.projects() if project]
    if wanted in known:
        return wanted
    matches = [project for project in known if _short(project) == wanted.lower()]
    if len(matches) > 1:
        some = ", ".join(matches[:5])
        raise Ambiguous(f"{len(matches)} projects are called {wanted}: {some}.", hint="Use the full name.")
    return matches[0] if matches else wanted


def project_at(memory: Memory, path: str) -> str:
    """Return the project meant by a path: matched as a whole if known, otherwise by its last part."""
    wanted = path.strip().rstrip("/")
    return project_called(memory, wanted if wanted in memory.store.projects() else wanted.rpartition("/")[2])


def move(memory: Memory, source: str, target: str, *, scope: str = "", dry_run: bool = False) -> Report:
    """Move the memories of a project to another, those with one scope or all, with their history, uses and sessions."""
    if memory.user:
        raise Forbidden("Only the owner of a store moves memories.", hint="Run it on the server.")
    source, target = (identity_of(memory, name) for name in (source, target))
    if source == target:
        raise Invalid("The two projects are the same.")
    homes, scopes = memory.store.homes(source), (scope,) if scope else ()
    chosen = records.Filter(projects=homes, scopes=scopes, states=_STATES, separate=True)
    moved = [entry.record for entry in records.page(memory.store, chosen, limit=MOST)]
    found = sessions.page(memory.store, source, limit=MOST) if source and not scope else []
    if not moved and not found:
        named = ", ".join([name for name in memory.store.projects() if name][:10])
        hint = f"Projects here are {named}." if named else "The store is empty."
        raise NotFound(f"There is nothing to move in {source or 'every project'}.", hint=hint)
    if not dry_run:
        moves = [memory.event("revised", one.id, data={"project": target}, after=one.head) for one in moved]
        memory.commit([*moves, *(session_event(memory, session, {"project": target}) for session in found)])
    return {"source": source, "target": target, "records": moved, "sessions": len(found)}


def identity_of(memory: Memory, name: str) -> str:
    """Return the project a user names: by its remote, its name here, or "." for the current one."""
    said = name.strip()
    if said in ("", "."):
        return memory.project if said else GLOBAL
    if said in memory.store.projects():
        return said
    return project_of_remote(said) or project_called(memory, said)


def session_event(memory: Memory, session: Session, data: Mapping[str, Any]) -> Event:
    """Return the event that changes facts of a session; a closed one stays closed since when it was."""
    by = replace(memory.actor, name=session.agent)
    if session.is_open:
        given = {**data, **({"implicit": True} if session.implicit else {})}
        return memory.event("started", session.id, data=given, after=max(session.last, session.end), by=by)
    given = {**session.close, **data}
    return memory.event("closed", session.id, data=given, after=session.end, at=session.closed_at, by=by)


def _short(project: str) -> str:
    return project.rstrip("/").rpartition("/")[2].lower()
