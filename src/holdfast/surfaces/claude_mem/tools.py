"""claude-mem's tools. Names and parameters follow its contract; each calls one verb."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.model.record import Entry
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.claude_mem import shapes
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.numbers import called
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import write
from holdfast.verbs.search.observations import fetched, recent, search_observations, timeline_of
from holdfast.verbs.sessions.session import find_session

CONTRACT = read_contract(Path(__file__).parent)
FURTHER = 4  # factor on how far back a full context goes


def important(_: Call) -> str:
    """Return the three-step workflow."""
    return shapes.WORKFLOW


def search(call: Call, format_: str, project: str = "", **args: Any) -> str | dict[str, Any]:
    """Return an index of observations; of all projects unless one is named."""
    wanted = shapes.wanted(args, everywhere=not project)
    results = search_observations(in_project(call.memory, project), wanted)
    results = replace(results, entries=called(call.memory, results.entries))
    return shapes.index(results, wanted) if format_ == "index" else shapes.index_rows(results, wanted)


def timeline(
    call: Call,
    depth_before: int,
    depth_after: int,
    format_: str,
    anchor: str = "",
    query: str = "",
    project: str = "",
) -> str | dict[str, Any]:
    """Return what happened around a record or time."""
    around = timeline_of(
        call.memory,
        anchor=anchor,
        question=query,
        before=depth_before,
        after=depth_after,
        project=project_called(call.memory, project) if project else None,
    )
    return shapes.timeline(around) if format_ == "index" else shapes.timeline_rows(around)


def get_observations(
    call: Call, ids: list[int], limit: int, order_by: str = "", project: str = ""
) -> list[dict[str, Any]]:
    """Return observations in full; only of one project if it is named."""
    entries = fetched(call.memory, ids, order=order_by, limit=limit)
    only = project_called(call.memory, project) if project else ""
    return [shapes.row(entry) for entry in called(call.memory, entries) if only in ("", entry.record.project)]


def session_start_context(
    call: Call, full: bool, project: str = "", projects: str = "", platform_source: str = "", **_: Any
) -> str:
    """Return the index a session starts with."""
    memory, named = call.memory, [name for name in projects.split(",") if name.strip()]
    targets = [project_called(memory, name) for name in named or [project]]
    entries = recent(memory, targets, agent=platform_source, times=FURTHER if full else 1)
    return shapes.context(targets[-1], called(memory, entries), memory.clock.now())


def observation_add(
    call: Call, kind: str, project_id: str = "", server_session_id: str = "", **args: Any
) -> dict[str, Any]:
    """Save one observation manually."""
    memory = in_project(call.memory, project_id)
    if server_session_id:
        memory = memory.acting_in(find_session(memory, server_session_id).id)
    outcome = write(memory, shapes.draft(args, kind), waivers=Waivers(transient=True, scope=True))
    shown = get(memory, shapes.kept(outcome).id)
    return shapes.added(called(call.memory, [Entry(number=shown.number, record=shown.record)])[0], outcome)
