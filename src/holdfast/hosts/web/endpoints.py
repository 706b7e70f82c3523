"""The endpoints of the JSON API: the content of the pages for programs, and the paths claude-mem's users script against."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, get_type_hints

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from holdfast import __version__
from holdfast.hosts.to_json import plain, recalled_to_json
from holdfast.hosts.web.api import Api, Json
from holdfast.hosts.web.live import sent
from holdfast.hosts.web.pages.activity import wanted_of
from holdfast.hosts.web.render import table
from holdfast.hosts.web.viewer import Ask, asked
from holdfast.model.anchor import Freshness
from holdfast.model.errors import Invalid
from holdfast.model.event import Event, event_to_json
from holdfast.model.kinds import KINDS
from holdfast.model.query import Mode, Query, Usage
from holdfast.model.record import Entry, Record, record_to_json
from holdfast.model.session import Session
from holdfast.model.text import whole_number
from holdfast.policy.activity.claude_mem_types import OBSERVED, SESSION
from holdfast.policy.ranking.health import Measure
from holdfast.policy.sessions.session_brief import Prepared
from holdfast.surfaces.claude_mem import tools as claude_mem
from holdfast.verbs.memory import find
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import browse, called, get, history
from holdfast.verbs.search.observations import ORDERS, fetched, observation, timeline_of
from holdfast.verbs.search.observations import prompts as prompts_of
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.sessions.session import SessionContents, contents_of, list_sessions
from holdfast.verbs.sessions.thread import triage
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import Days as ByDay
from holdfast.verbs.upkeep.health import Health, Project, day_by_day, health, projects
from holdfast.verbs.upkeep.stream import Item, Wanted, older, place_of

API = Api()
Id = Annotated[str, "An id as it is shown, or the whole id."]
Kind = Annotated[str, "Only this kind.", {"enum": list(KINDS)}]
Limit = Annotated[int, "The most to return.", {"minimum": 1, "maximum": 100}]
Offset = Annotated[int, "How many to skip.", {"minimum": 0, "maximum": 1_000_000, "default": 0}]
Days = Annotated[int, "How many days back.", {"minimum": 1, "maximum": 365}]
OnlyProject = Annotated[str, "Only this project; empty: all."]
OnlyAgent = Annotated[str, "Only what this agent saved."]
Before = Annotated[int, "How many before it.", {"minimum": 0, "maximum": 20}]
After = Annotated[int, "How many after it.", {"minimum": 0, "maximum": 20}]
_ROWS = [Json]
_PAGE = {"items": _ROWS, "hasMore": bool, "offset": int, "limit": int, "total": int}
_FOUND = {"query": str, "totalResults": int, "observations": _ROWS, "sessions": _ROWS, "prompts": _ROWS}
_TEXTS = "title body project reason verified_at".split()
_LISTS = "scopes tags anchors triggers".split()
_ALWAYS = "id kind state visibility confidence source created_at updated_at url".split()
_RECORD = {
    **dict.fromkeys(_ALWAYS, str),
    "revision": int,
    **{f"{name}?": str for name in _TEXTS},
    **{f"{name}?": [str] for name in _LISTS},
    "fields?": Json,
    "origin?": Json,
    "links?": _ROWS,
}
_RECALLED: Json = {"hits": ["Hit"], "related": _ROWS, "notes": [str], "search": str, "confidence": str}
_RECALLED |= dict.fromkeys(("gated", "cut", "lagging"), int)
_EFFECT: Json = {"record": "Record", "shown": int, "outcomes": dict[str, int], "blind_spot": bool}
_EFFECT |= dict.fromkeys(("heeded", "weight"), float)
_HEALTH = get_type_hints(Health) | {"measures": [get_type_hints(Measure) | {"cost": float}]}
_SHOWN = {"usage": Usage, "number": int, "superseded_by": str, "freshness": Freshness | None}
COMPONENTS = {  # shapes that several results have; records with their links are not what `plain` makes of them
    "Record": _RECORD,
    "Freshness": Freshness,
    "Session": Session,
    "Event": Event,
    "Entry": get_type_hints(Item) | {"records": _ROWS},
    "Hit": {
        "record": "Record",
        "score": float,
        "confidence": str,
        "why": dict[str, float],
        "snippet": str,
        "freshness": Freshness | None,
    },
}


def cited(record: Record) -> Json:
    """Return a record with its permanent link."""
    return {**record_to_json(record), "url": f"/r/{record.id}"}


@API.endpoint("/api/recall", _RECALLED, selects_project=True)
def recalled(
    ask: Ask,
    q: Annotated[str, "The question."] = "what is known",
    kind: Kind = "",
    limit: Limit = 20,
    as_of: Annotated[str, "As it was known on this date."] = "",
    mode: Annotated[Mode, "How well an answer must fit."] = "balanced",
) -> Json:
    """Search the memory; each hit has the reasons why it matched and how fresh it is. Reads only, counts no use."""
    asked = {"everywhere": ask.everywhere, "limit": limit, "as_of": as_of, "mode": mode}
    query = Query.of(q, now=ask.memory.clock.now(), kinds=[kind] if kind else [], **asked)
    return recalled_to_json(recall(ask.memory, query, surface=False), cited)


@API.endpoint("/api/records", {"records": ["Record"], "total": int}, selects_project=True)
def records(ask: Ask, kind: Kind = "", limit: Limit = 20, offset: Offset = 0) -> Json:
    """List memories, newest first."""
    query = Query.of(everywhere=ask.everywhere, kinds=[kind] if kind else [], limit=limit)
    page = browse(ask.memory, query, offset=offset)
    return {"records": [cited(entry.record) for entry in page.entries], "total": page.total}


@API.endpoint("/api/records/{id}", _RECORD | _SHOWN)
def record(ask: Ask, id: Id) -> Json:
    """Return one memory in full, with its links and uses."""
    shown = get(ask.memory, id)
    return {
        **cited(shown.record),
        "links": plain(shown.links),
        "usage": plain(shown.usage),
        "number": shown.number,
        "superseded_by": shown.superseded_by,
        "freshness": plain(freshness(ask.memory, [shown.record]).get(shown.record.id)),
    }


@API.endpoint("/api/records/{id}/history", {"events": ["Event"]})
def record_history(ask: Ask, id: Id) -> Json:
    """List every event of a memory."""
    return {"events": [event_to_json(event) for event in sorted(history(ask.memory, id), key=lambda event: event.id)]}


@API.endpoint("/api/records/{id}/{what}", {"id": str, "done": str, "message": str, "url": str}, method="POST")
def act(ask: Ask, id: Id, what: Annotated[str, "The action.", {"enum": list(ACTIONS)}]) -> Json:
    """Verify, retire, restore, pin, share, judge or link a memory."""
    target = find(ask.memory, id).record
    done = act_on(ask.memory, target.id, what, ask.fields)
    return {"id": target.id, "done": what, "message": done.message, "url": f"/r/{target.id}"}


@API.endpoint("/api/stream", {"items": ["Entry"], "before": str}, selects_project=True)
def activity(
    ask: Ask,
    before: Annotated[str, "Continue from here: `before` of the last answer."] = "",
    session: Annotated[str, "Only this session."] = "",
    limit: Limit = 20,
) -> Json:
    """List activity, latest first."""
    wanted, place = Wanted(project=ask.project, session=session), place_of(before) if before else None
    page = older(ask.memory, wanted, before=place, limit=limit)
    return {"items": [item_json(item) for item in page.items], "before": str(page.place) if page.place else ""}


def item_json(item: Any) -> Json:
    """Return an item of the stream, its records as links."""
    rows = table(item.records, "id kind title")
    return {**plain(replace(item, records=())), "records": [{**row, "url": f"/r/{row['id']}"} for row in rows]}


@API.endpoint("/api/sessions", {"sessions": ["Session"]}, selects_project=True)
def sessions(ask: Ask, limit: Limit = 20, offset: Offset = 0) -> Json:
    """List sessions, latest first."""
    return {"sessions": plain(list_sessions(ask.memory, limit=limit, offset=offset, everywhere=ask.everywhere))}


@API.endpoint("/api/sessions/{id}", get_type_hints(SessionContents) | {"records": ["Record"]})
def session(ask: Ask, id: Id) -> Json:
    """Return one session with what it left."""
    left = contents_of(ask.memory, id)
    return {**plain(left), "records": [cited(record) for record in left.records]}


@API.endpoint("/api/threads", {"stages": dict[str, list[Json]]}, selects_project=True)
def threads(ask: Ask) -> Json:
    """List open threads by the stage of their life."""
    return {
        "stages": {
            stage: [{**plain(thread), "record": cited(thread.record)} for thread in threads]
            for stage, threads in triage(ask.memory).items()
        }
    }


@API.endpoint("/api/scars", {"scars": [_EFFECT]}, selects_project=True)
def scars(ask: Ask, days: Days = 30) -> Json:
    """List the effect of each scar shown recently."""
    found = effects(ask.memory, days=days)
    rows = table(found, "shown heeded weight=multiplier blind_spot=is_blind_spot")
    own = ({"record": cited(one.scar), "outcomes": dict(one.outcomes)} for one in found)
    return {"scars": [{**one, **row} for one, row in zip(own, rows, strict=True)]}


@API.endpoint("/api/health", _HEALTH, selects_project=True)
def health_report(ask: Ask, days: Days = 30) -> Json:
    """Report how healthy the memory is, and what to do first."""
    report = health(ask.memory, days=days)
    return {**plain(report), "measures": [{**plain(measure), "cost": measure.cost} for measure in report.measures]}


@API.endpoint("/api/insights", ByDay, selects_project=True)
def insights(ask: Ask, days: Days = 30) -> Json:
    """Count activity day by day."""
    counts: Json = plain(day_by_day(ask.memory, days=days, everywhere=ask.everywhere))
    return counts


@API.endpoint("/api/brief", Prepared, selects_project=True)
def brief(ask: Ask) -> Json:
    """Return the brief a session of the project would begin with."""
    text: Json = plain(brief_of(ask.memory))
    return text


@API.endpoint("/api/projects", {"projects": [Project]})
def every_project(ask: Ask) -> Json:
    """List the projects of the store."""
    return {"projects": plain(projects(ask.memory))}


# The paths and rows that claude-mem's users script against, with our links next to their numbers.


def _row(entry: Entry) -> Json:
    return {**claude_mem.row(entry), "url": f"/r/{entry.record.id}"}


@API.endpoint("/api/search", _FOUND)
def search(
    ask: Ask,
    query: Annotated[str, "A question or words; empty: everything that passes the filters."] = "",
    project: OnlyProject = "",
    limit: Limit = 20,
    offset: Offset = 0,
    type: Annotated[str, "observations, sessions or prompts; else a type of observation."] = "",
    obs_type: Annotated[str, "Types of observation, separated by commas."] = "",
    concepts: Annotated[str, "Concepts, separated by commas."] = "",
    files: Annotated[str, "Files or folders, separated by commas."] = "",
    dateStart: Annotated[str, "Not before this date or time."] = "",
    dateEnd: Annotated[str, "Not after this date or time."] = "",
    platformSource: OnlyAgent = "",
    orderBy: Annotated[str, "Best first, or by date.", {"enum": list(ORDERS)}] = "",
    format: Annotated[Literal["json", "index"], "json: rows; index: also a table to read."] = "json",
) -> Json:
    """Search as claude-mem's users do: observations and session summaries as rows."""
    page = {"query": query, "limit": limit, "offset": offset, "order_by": orderBy}
    about = {"type_": type, "obs_type": obs_type, "concepts": concepts, "files": files}
    when = {"platform_source": platformSource, "date_start": dateStart, "date_end": dateEnd}
    found = claude_mem.found(ask.viewer.memory, project, page | about | when)
    content = {"content": [{"type": "text", "text": claude_mem.index(*found)}]} if format == "index" else {}
    return claude_mem.index_rows(*found) | content


@API.endpoint("/api/timeline", {"items": _ROWS, "content": _ROWS})
def timeline(
    ask: Ask,
    anchor: Annotated[str, "A number, an id or a time."] = "",
    query: Annotated[str, "A question whose best answer is the anchor."] = "",
    project: OnlyProject = "",
    depth_before: Before = 3,
    depth_after: After = 3,
) -> Json:
    """Return what was saved around an observation, a moment or the best answer to a question."""
    if not anchor and not query:
        raise Invalid("A timeline needs an anchor or a query.")
    memory, only = ask.viewer.memory, project_called(ask.viewer.memory, project) if project else None
    depths = {"before": depth_before, "after": depth_after}
    around = timeline_of(memory, anchor=anchor, question=query, project=only, **depths)
    text = claude_mem.timeline_text(around)
    return {**claude_mem.timeline_rows(around), "content": [{"type": "text", "text": text}]}


def _listed(ask: Ask, kinds: Sequence[str], project: str, limit: int, offset: int) -> Json:
    query = Query.of(everywhere=not project, kinds=kinds, limit=limit)
    page = browse(in_project(ask.viewer.memory, project), query, offset=offset)
    return _items([_row(entry) for entry in called(ask.viewer.memory, page.entries)], page.total, limit, offset)


def _items(rows: list[Json], total: int, limit: int, offset: int) -> Json:
    more = offset + len(rows) < total
    return {"items": rows, "hasMore": more, "offset": offset, "limit": limit, "total": total}


@API.endpoint("/api/observations", _PAGE)
def observations(ask: Ask, project: OnlyProject = "", limit: Limit = 20, offset: Offset = 0) -> Json:
    """List observations, newest first."""
    return _listed(ask, OBSERVED, project, limit, offset)


@API.endpoint("/api/summaries", _PAGE)
def summaries(ask: Ask, project: OnlyProject = "", limit: Limit = 20, offset: Offset = 0) -> Json:
    """List summaries of sessions, newest first."""
    return _listed(ask, (SESSION,), project, limit, offset)


@API.endpoint("/api/prompts", _PAGE)
def prompts(ask: Ask, limit: Limit = 20, offset: Offset = 0) -> Json:
    """List what users asked, latest first: in sessions with hooks, and in imported ones."""
    page, total = prompts_of(ask.viewer.memory, limit=limit, offset=offset)
    return _items([claude_mem.prompt_row(prompt) for prompt in page], total, limit, offset)


@API.endpoint("/api/observations/batch", {"observations": _ROWS}, method="POST")
def several(
    ask: Ask,
    ids: Annotated[str, "Numbers of observations, separated by commas, or a list of them."] = "",
    orderBy: Annotated[str, "By date.", {"enum": list(ORDERS[1:])}] = "",
    limit: Limit = 100,
) -> Json:
    """Return several observations in full."""
    numbers = [number for part in ids.strip("[] ").split(",") if (number := whole_number(part.strip())) is not None]
    if not numbers:
        raise Invalid("ids must name at least one number.", hint='{"ids": [1, 2, 3]}')
    entries = fetched(ask.viewer.memory, numbers, order=orderBy, limit=limit)
    return {"observations": [_row(entry) for entry in called(ask.viewer.memory, entries)]}


FilePath = Annotated[str, "A file or folder."]
Type = Annotated[str, "A type of observation."]
Concept = Annotated[str, "A concept."]


@API.endpoint("/api/search/by-file", _FOUND)
def by_file(ask: Ask, filePath: FilePath = "", project: OnlyProject = "", limit: Limit = 20) -> Any:
    """List what was observed about a file or a folder."""
    return search(ask, files=filePath, project=project, limit=limit)


@API.endpoint("/api/search/by-type", _FOUND)
def by_type(ask: Ask, type: Type = "", project: OnlyProject = "", limit: Limit = 20) -> Any:
    """List observations of a type."""
    return search(ask, obs_type=type, project=project, limit=limit)


@API.endpoint("/api/search/by-concept", _FOUND)
def by_concept(ask: Ask, concept: Concept = "", project: OnlyProject = "", limit: Limit = 20) -> Any:
    """List observations of a concept."""
    return search(ask, concepts=concept, project=project, limit=limit)


@API.endpoint("/api/memory/save", method="POST")
def save_memory(
    ask: Ask,
    text: Annotated[str, "What to remember."] = "",
    title: Annotated[str, "Its title."] = "",
    project: Annotated[str, "Its project; empty: the current one."] = "",
) -> Json:
    """Save one observation manually."""
    return claude_mem.add(ask.viewer.memory, "", project, content=text, title=title)


@API.endpoint("/api/version", {"version": str})
def version(ask: Ask) -> Json:  # noqa: ARG001
    """Return the version of Holdfast."""
    return {"version": __version__}


@API.endpoint("/api/observation/{id}", {"id": int, **dict.fromkeys("type title ref url created_at".split(), str)})
def one_observation(ask: Ask, id: Id) -> Json:
    """Return one observation by its number or id: the stable citation."""
    memory = ask.viewer.memory
    return _row(called(memory, [observation(memory, id)])[0])


@API.endpoint("/api/stats", {"database": Json})
def stats(ask: Ask) -> Json:
    """Count what the store holds."""
    counts = status(ask.memory)
    (database,) = table([counts], "path=place size=bytes observations=everywhere events projects")
    return {"worker": {"version": "holdfast", "running": True}, "database": database, "holdfast": plain(counts)}


@API.endpoint("/api/context/inject")
def context(
    ask: Ask,
    project: Annotated[str, "The project."] = "",
    projects: Annotated[str, "Several, separated by commas."] = "",
    platformSource: OnlyAgent = "",
) -> str:
    """Return the index a session begins with, as text."""
    return claude_mem.context(ask.viewer.memory, False, project, projects, platformSource)


async def stream(request: Request) -> Response:
    """Send activity as it happens: one `happened` event for each batch, as JSON."""
    ask = await to_thread.run_sync(asked, request)
    wanted, at = wanted_of(ask), ask.text("after")
    after = place_of(at) if at else None
    allowed: Callable[[], bool] = getattr(request.state, "allowed", lambda: True)

    async def events() -> AsyncIterator[bytes]:
        yield b": holdfast\n\n"
        async for page in ask.viewer.watcher.follow(ask.viewer.memory, wanted, after):
            if not await to_thread.run_sync(allowed):
                return  # access was revoked while the stream was open
            if page is None:
                yield b": still here\n\n"
            else:
                items = [item_json(item) for item in reversed(page.items)]
                yield sent("happened", {"items": items, "after": str(page.place)})

    return StreamingResponse(events(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


ENDPOINTS = tuple(API.endpoints)
