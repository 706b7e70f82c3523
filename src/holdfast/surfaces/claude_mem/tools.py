"""claude-mem's tools, each a few lines over verbs; names and parameters are those of its contract."""

from pathlib import Path
from typing import Any

from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.claude_mem import shapes
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import write
from holdfast.verbs.search.observations import fetched, recent, search_observations, timeline_of
from holdfast.verbs.sessions.session import find_session

CONTRACT = read_contract(Path(__file__).parent)
FURTHER = 4  # times as far back as usual, for a full context


def important(_: Call) -> str:
    """Explain the three steps."""
    return shapes.WORKFLOW


def search(call: Call, format_: str, project: str = "", **given: Any) -> str | dict[str, Any]:
    """Give an index of what was observed; in all projects unless one is named."""
    asked = shapes.wanted(given, everywhere=not project)
    found = search_observations(in_project(call.memory, project), asked)
    return shapes.index(found, asked) if format_ == "index" else shapes.index_rows(found, asked)


def timeline(
    call: Call,
    depth_before: int,
    depth_after: int,
    format_: str,
    anchor: str = "",
    query: str = "",
    project: str = "",
) -> str | dict[str, Any]:
    """Show what happened around something."""
    memory = in_project(call.memory, project)
    found = timeline_of(
        memory, anchor=anchor, question=query, before=depth_before, after=depth_after, everywhere=not project
    )
    return shapes.timeline(found) if format_ == "index" else shapes.timeline_rows(found)


def get_observations(
    call: Call, ids: list[int], limit: int, order_by: str = "", project: str = ""
) -> list[dict[str, Any]]:
    """Give observations in full; of one project if it is named."""
    found = fetched(call.memory, ids, order=order_by, limit=limit)
    only = project_called(call.memory, project) if project else ""
    return [shapes.row(entry) for entry in found if only in ("", entry.record.project)]


def session_start_context(
    call: Call, full: bool, project: str = "", projects: str = "", platform_source: str = "", **_: Any
) -> str:
    """Give the index a session begins with."""
    memory, named = call.memory, [one for one in projects.split(",") if one.strip()]
    meant = [project_called(memory, one) for one in named or [project]]
    entries = recent(memory, meant, agent=platform_source, times=FURTHER if full else 1)
    return shapes.context(meant[-1], entries, memory.clock.now())


def observation_add(
    call: Call, kind: str, project_id: str = "", server_session_id: str = "", **given: Any
) -> dict[str, Any]:
    """Keep one thing by hand."""
    memory = in_project(call.memory, project_id)
    if server_session_id:
        memory = memory.acting_in(find_session(memory, server_session_id).id)
    outcome = write(memory, shapes.draft(given, kind), waivers=Waivers(transient=True, scope=True))
    return shapes.added(get(memory, shapes.kept(outcome).id), outcome)
