"""What the JSON interface gives: the pages' content for programs, and what users of claude-mem script against."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from holdfast.hosts.plain import plain
from holdfast.hosts.web.pages.record import ACTS, versions_of
from holdfast.hosts.web.pages.search import mode_of
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.model.event import event_to_json
from holdfast.model.query import Query
from holdfast.model.record import Entry, Record, record_to_json
from holdfast.policy.activity.claude_mem_types import OBSERVED, SESSION
from holdfast.surfaces.claude_mem import shapes
from holdfast.verbs.capture.prepare import brief_of
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.browse import browse
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.subgraph import picture
from holdfast.verbs.search.observations import observation, recent, search_observations, timeline_of
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.sessions.session import left_by, list_sessions
from holdfast.verbs.sessions.thread import triage
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.overview import day_by_day, projects
from holdfast.verbs.upkeep.stream import Wanted, older, place_of

Json = dict[str, Any]


def cited(record: Record) -> Json:
    """Write a record with the link that stays the same as long as it exists."""
    return {**record_to_json(record), "url": f"/r/{record.id}"}


def found(ask: Ask, q: str, kind: str, limit: int, as_of: str, mode: str) -> Json:
    """Ask the engine as an agent would, without leaving a trace."""
    query = Query(
        text=q, everywhere=ask.everywhere, kinds=(kind,) if kind else (), limit=limit, as_of=as_of, mode=mode_of(mode)
    )
    answer = recall(ask.memory, query, surface=False)
    hits = [
        {
            "record": cited(hit.record),
            "score": round(hit.score, 4),
            "confidence": hit.confidence,
            "why": {name: round(value, 4) for name, value in hit.why.items()},
            "snippet": hit.snippet,
            "freshness": plain(hit.freshness),
        }
        for hit in answer.hits
    ]
    return {
        "hits": hits,
        "search": answer.search,
        "gated": answer.gated,
        "cut": answer.cut,
        "notes": list(answer.notes),
    }


def one_record(ask: Ask, id: str) -> Json:  # noqa: A002  as the address names it
    """Give one memory with its links and uses."""
    shown = get(ask.memory, id)
    told = {
        "links": plain(shown.links),
        "usage": plain(shown.usage),
        "number": shown.number,
        "superseded_by": shown.superseded_by,
    }
    return {
        **cited(shown.record),
        **told,
        "freshness": plain(freshness(ask.memory, [shown.record]).get(shown.record.id)),
    }


def record_history(ask: Ask, id: str) -> Json:  # noqa: A002
    """Give everything that happened to a memory."""
    events = history(ask.memory, id)
    return {"events": [event_to_json(one.event) for one in versions_of(events)]}


def records(ask: Ask, kind: str, limit: int, offset: int) -> Json:
    """List memories, newest first."""
    page = browse(
        ask.memory, Query(text="", everywhere=ask.everywhere, kinds=(kind,) if kind else (), limit=limit), offset=offset
    )
    return {"records": [cited(entry.record) for entry in page.entries], "total": page.total}


def act(ask: Ask, id: str, what: str) -> Json:  # noqa: A002
    """Do one thing to a memory, as its page does."""
    record = find(ask.memory, id).record
    home = ask.memory if record.project in ("", ask.memory.project) else ask.memory.acting_on(record.project)
    said = ACTS[what](home, record.id, ask)
    return {"id": record.id, "done": what, "message": said, "url": f"/r/{record.id}"}


def happenings(ask: Ask, before: str, session: str, limit: int) -> Json:
    """Give the stream, latest first."""
    page = older(
        ask.memory,
        Wanted(project=ask.project, session=session),
        before=place_of(before) if before else None,
        limit=limit,
    )
    return {"items": [item_json(item) for item in page.items], "before": str(page.place) if page.place else ""}


def item_json(item: Any) -> Json:
    """Write a happening; its records as links."""
    told: Json = plain(replace(item, records=()))
    return {
        **told,
        "records": [
            {"id": one.id, "kind": one.kind, "title": one.title, "url": f"/r/{one.id}"} for one in item.records
        ],
    }


def sessions(ask: Ask, limit: int, offset: int) -> Json:
    """List sessions, latest first."""
    listed = list_sessions(ask.memory, limit=limit, offset=offset, everywhere=ask.everywhere)
    return {"sessions": plain(listed)}


def one_session(ask: Ask, id: str) -> Json:  # noqa: A002
    """Give one session with what it left."""
    left = left_by(ask.memory, id)
    return {**plain(left), "records": [cited(one) for one in left.records]}


def threads(ask: Ask) -> Json:
    """Give open threads by the stage of their life."""
    return {
        "stages": {
            stage: [{**plain(one), "record": cited(one.record)} for one in found]
            for stage, found in triage(ask.memory).items()
        }
    }


def scars(ask: Ask, days: int) -> Json:
    """Give what each scar shown lately achieved."""
    return {
        "scars": [
            {
                "record": cited(one.scar),
                "shown": one.shown,
                "outcomes": dict(one.outcomes),
                "heeded": one.heeded,
                "weight": one.multiplier,
                "blind_spot": one.is_blind_spot,
            }
            for one in effects(ask.memory, days=days)
        ]
    }


def graph(ask: Ask, node: str, depth: int, limit: int) -> Json:
    """Give what hangs together, as nodes and edges."""
    drawn = picture(ask.memory, node, depth=depth, limit=limit)
    project = f"&project={quote(ask.named, safe='')}" if ask.named else ""
    return {
        "center": drawn.center,
        "nodes": [
            {
                "id": one.id,
                "kind": one.kind,
                "title": one.title,
                "state": one.state,
                "url": f"/r/{one.id}",
                "graph": f"/graph?node={one.id}{project}",
            }
            for one in drawn.records
        ],
        "edges": plain(drawn.arrows),
        "more": drawn.more,
    }


def healthy(ask: Ask, days: int) -> Json:
    """Give how healthy a project's memory is."""
    made = health(ask.memory, days=days)
    return {**plain(made), "measures": [{**plain(one), "cost": one.cost} for one in made.measures]}


def insights(ask: Ask, days: int) -> Json:
    """Give what happened day by day."""
    told: Json = plain(day_by_day(ask.memory, days=days, everywhere=ask.everywhere))
    return told


def brief(ask: Ask) -> Json:
    """Give the brief a session of the project would begin with."""
    told: Json = plain(brief_of(ask.memory))
    return told


def every_project(ask: Ask) -> Json:
    """List the projects of the store."""
    return {"projects": plain(projects(ask.memory))}


# What users of claude-mem script against: same addresses, same rows, with our links beside their numbers.


def _row(entry: Entry) -> Json:
    made = shapes.session_row(entry) if entry.record.kind == SESSION else shapes.row(entry)
    return {**made, "url": f"/r/{entry.record.id}"}


def search(ask: Ask, query: str, project: str, limit: int, offset: int, format: str, **given: Any) -> Json | str:  # noqa: A002
    """Search observations, sessions and everything else that was kept."""
    named = {"query": query, "limit": limit, "offset": offset, "type_": given["type"], "obs_type": given["obs_type"]}
    named |= {"concepts": given["concepts"], "files": given["files"], "platform_source": given["platformSource"]}
    named |= {"date_start": given["dateStart"], "date_end": given["dateEnd"], "order_by": given["orderBy"]}
    asked = shapes.wanted(named, everywhere=not project)
    hits = search_observations(_memory(ask, project), asked)
    rows = shapes.index_rows(hits, asked)
    text = shapes.index(hits, asked)
    return {**rows, "content": [{"type": "text", "text": text}]} if format == "index" else rows


def timeline(ask: Ask, anchor: str, query: str, project: str, depth_before: int, depth_after: int) -> Json:
    """Give what was kept around something."""
    if not anchor and not query:
        raise Invalid("A timeline needs an anchor or a query.")
    around = timeline_of(
        _memory(ask, project),
        anchor=anchor,
        question=query,
        before=depth_before,
        after=depth_after,
        everywhere=not project,
    )
    return {**shapes.timeline_rows(around), "content": [{"type": "text", "text": shapes.timeline(around)}]}


def observations(ask: Ask, project: str, limit: int, offset: int) -> Json:
    """List observations, newest first."""
    memory = _memory(ask, project)
    page = browse(memory, Query(text="", everywhere=not project, kinds=OBSERVED, limit=limit), offset=offset)
    return {
        "items": [_row(entry) for entry in page.entries],
        "hasMore": offset + len(page.entries) < page.total,
        "offset": offset,
        "limit": limit,
        "total": page.total,
    }


def one_observation(ask: Ask, id: str) -> Json:  # noqa: A002
    """Give one observation by its number or its id."""
    return _row(observation(ask.viewer.memory, id))


def stats(ask: Ask) -> Json:
    """Tell what the store holds."""
    held = status(ask.memory)
    return {
        "worker": {"version": "holdfast", "running": True},
        "database": {
            "path": held.place,
            "size": held.bytes,
            "observations": held.everywhere,
            "events": held.events,
            "projects": held.projects,
        },
        "holdfast": plain(held),
    }


def context(ask: Ask, project: str, projects: str, platformSource: str) -> str:  # noqa: N803  claude-mem's name
    """Give the index a session begins with, as text."""
    memory = ask.viewer.memory
    named = [one for one in projects.split(",") if one.strip()] or [project]
    meant = [project_called(memory, one) for one in named]
    return shapes.context(meant[-1], recent(memory, meant, agent=platformSource), memory.clock.now())


def _memory(ask: Ask, project: str) -> Memory:
    return in_project(ask.viewer.memory, project) if project else ask.viewer.memory
