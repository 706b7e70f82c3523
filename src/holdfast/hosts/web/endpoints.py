"""The endpoints of the JSON API: the content of the pages for programs, and the paths claude-mem's users script against."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

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
from holdfast.model.event import Event, event_to_json
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.query import Mode, Query, Usage
from holdfast.model.record import Record, record_to_json
from holdfast.model.session import Session
from holdfast.policy.ranking.health import Measure
from holdfast.policy.sessions.session_brief import Prepared
from holdfast.surfaces.claude_mem import tools as claude_mem
from holdfast.surfaces.contract import parameter_name, schema_in
from holdfast.surfaces.maps import Row
from holdfast.surfaces.schema import Schema
from holdfast.verbs.memory import find
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.read import browse, get, history
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
_ROWS = [Json]
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


@API.endpoint("/api/version", {"version": str})
def version(ask: Ask) -> Json:  # noqa: ARG001
    """Return the version of Holdfast."""
    return {"version": __version__}


@API.endpoint("/api/stats", {"database": Json})
def stats(ask: Ask) -> Json:
    """Count what the store holds."""
    counts = status(ask.memory)
    (database,) = table([counts], "path=place size=bytes observations=everywhere events projects")
    return {"worker": {"version": "holdfast", "running": True}, "database": database, "holdfast": plain(counts)}


def _answer(row: Row, schema: Schema) -> Callable[..., Any]:
    """Return the function that answers by a row; what a request leaves out has its default, or is empty."""
    defaults = {name: one.get("default", "") for name, one in schema["properties"].items()}

    def answer(ask: Ask, **given: Any) -> Any:
        named = {parameter_name(name): value for name, value in (defaults | given).items()}
        return row.run(ask.viewer.memory, named, claude_mem.TERMS)

    return answer


def _add_paths(shared: Mapping[str, Schema], results: Json, paths: Iterable[Json]) -> None:
    """Add the paths that claude-mem's users script against."""
    for one in paths:
        schema, method = schema_in(one, shared), one.get("method", "GET")
        answer = _answer(claude_mem.ROWS[one["path"]], schema)
        API.add(one["path"], schema, results[one["returns"]], answer, method=method, summary=one["summary"])


_add_paths(**parse_json(read_regular(claude_mem.PATHS)))


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
