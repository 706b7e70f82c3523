"""claude-mem's tools, as rows.txt maps them to verbs."""

from dataclasses import replace
from typing import Any

from holdfast.model.record import Entry
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.claude_mem import shapes
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.maps import read_rows
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import called, get
from holdfast.verbs.records.write import write
from holdfast.verbs.search.observations import fetched, recent, search_observations, timeline_of
from holdfast.verbs.sessions.session import find_session

CONTRACT = read_contract(shapes.HERE)
FURTHER = 4  # factor on how far back a full context goes
WORKFLOW = """How to look something up, from cheap to expensive:
1. search(query="…", limit=20, project="…"): a table of ids, times, types, titles and what each costs to read.
2. timeline(anchor=ID, depth_before=3, depth_after=3): what happened around one of them.
3. get_observations(ids=[…]): full texts, several in one call, only of what steps 1 and 2 showed to matter.
A row of the table costs about 30 tokens, a full text often ten times that or more: pick before you fetch."""


def workflow(_: Memory) -> str:
    """Return how to look something up."""
    return WORKFLOW


def search(memory: Memory, format_: str, project: str = "", **args: Any) -> str | dict[str, Any]:
    """Return an index of observations; of all projects unless one is named."""
    wanted = shapes.wanted(args, everywhere=not project)
    results = search_observations(in_project(memory, project), wanted)
    results = replace(results, entries=called(memory, results.entries))
    return shapes.index(results, wanted) if format_ == "index" else shapes.index_rows(results, wanted)


def timeline(memory: Memory, format_: str, project: str = "", **around: Any) -> str | dict[str, Any]:
    """Return what happened around a record or time."""
    moment = timeline_of(memory, project=project_called(memory, project) if project else None, **around)
    return shapes.timeline(moment) if format_ == "index" else shapes.timeline_rows(moment)


def get_observations(
    memory: Memory, ids: list[int], limit: int, order_by: str = "", project: str = ""
) -> list[dict[str, Any]]:
    """Return observations in full; only of one project if it is named."""
    entries = fetched(memory, ids, order=order_by, limit=limit)
    only = project_called(memory, project) if project else ""
    return [shapes.row(entry) for entry in called(memory, entries) if only in ("", entry.record.project)]


def context(memory: Memory, full: bool, project: str = "", projects: str = "", platform_source: str = "") -> str:
    """Return the index a session starts with."""
    named = [name for name in projects.split(",") if name.strip()]
    targets = [project_called(memory, name) for name in named or [project]]
    entries = recent(memory, targets, agent=platform_source, times=FURTHER if full else 1)
    return shapes.context(targets[-1], called(memory, entries), memory.clock.now())


def add(memory: Memory, kind: str, project_id: str = "", server_session_id: str = "", **args: Any) -> dict[str, Any]:
    """Save one observation manually."""
    there = in_project(memory, project_id)
    if server_session_id:
        there = there.acting_in(find_session(there, server_session_id).id)
    outcome = write(there, shapes.draft(args, kind), waivers=Waivers(transient=True, scope=True))
    shown = get(there, shapes.kept(outcome).id)
    return shapes.added(called(memory, [Entry(number=shown.number, record=shown.record)])[0], outcome)


ROWS = read_rows(shapes.HERE, globals())
