"""claude-mem's tools, as rows.txt maps them to verbs: index tables with integer ids and reading costs, JSON rows, session context.

The rows are also those of its HTTP interface, whose paths and parameters paths.json has.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.ids import epoch_ms
from holdfast.model.query import Query
from holdfast.model.record import Draft, Entry
from holdfast.model.text import shorten, text_or_empty, tokens_of, whole_number
from holdfast.policy.activity import claude_mem_types as types
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.surfaces.maps import Terms, mapped, problem_text, read_rows, surface_of
from holdfast.surfaces.pages import pages_of
from holdfast.surfaces.phrases import stored
from holdfast.surfaces.tool import read_contract
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import browse, called
from holdfast.verbs.records.write import write
from holdfast.verbs.search import observations
from holdfast.verbs.sessions.session import find_session

HERE = Path(__file__).parent
PATHS = HERE / "paths.json"
SUMMARIZED = ("investigated", "learned", "completed", "next_steps")
TERMS = Terms(
    filters={
        "concepts": types.concepts_of,
        "epoch": lambda at: epoch_ms(at) if at else None,
        "facts": types.facts_of,
        "files_modified": types.files_modified,
        "files_read": types.files_read,
        "narrative": lambda record: text_or_empty(record.fields.get("narrative")) or record.body,
        "request": lambda record: record.fields.get("request") or record.title,
        "type": types.type_of,
    },
    lookups={"cited": lambda memory, entry: cited(*called(memory, [entry]))},
)
# Their names of what is asked.
ASKED = {"question": "query", "since": "date_start", "until": "date_end", "agent": "platform_source"}
ASKED |= {"order": "order_by"}
Plain = dict[str, Any]
Answer = str | Plain
FURTHER = 4  # factor on how far back a full context goes


def row(entry: Entry) -> Plain:
    """Return an observation (the shape of /api/observation/:id) or the summary of a session."""
    return mapped(SHAPES["SUMMARY" if entry.record.kind == types.SESSION else "OBSERVATION"], entry, None, TERMS)


def cited(entry: Entry) -> Plain:
    """Return a row with our permanent link next to its number."""
    return {**row(entry), "url": f"/r/{entry.record.id}"}


def _by_day(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    def day(entry: Entry) -> str:
        moment = datetime.fromisoformat(entry.record.created_at)
        return f"{moment:%b} {moment.day}, {moment.year}"

    return [(name, list(group)) for name, group in groupby(entries, key=day)]


page = pages_of(
    HERE,
    {
        "by_day": _by_day,
        "cost": lambda entry: tokens_of(entry.record.text),
        "heading": lambda entry: shorten(entry.record.title, 100).replace("|", "/"),
        "name": lambda entry: f"#{'S' if entry.record.kind == types.SESSION else ''}{entry.number}",
        "sign": lambda entry: "🎯" if entry.record.kind == types.SESSION else types.TYPES[types.type_of(entry.record)],
    },
    blank=True,
)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for item in text.strip("[]").split(",") if (part := item.strip().strip("\"'")))


def workflow(_: Memory) -> str:
    """Return how to look something up."""
    return page("workflow")


def search(memory: Memory, project: str = "", format_: str = "json", with_rows: bool = False, **args: Any) -> Answer:
    """Return observations as an index, as rows, or as both; of all projects unless one is named."""
    type_ = args.get("type_", "")  # one that is not a category is an observation type
    category = type_ if type_ in observations.CATEGORIES else ""
    sorts = (*_split(args.get("obs_type", "")), *(() if category else _split(type_)))
    given: Plain = {name: args.get(theirs, "") for name, theirs in ASKED.items()}
    given |= {name: _split(args.get(name, "")) for name in ("concepts", "files")}
    given |= {"category": category or ("observations" if type_ or sorts else ""), "types": sorts}
    wanted = observations.Wanted(everywhere=not project, limit=args["limit"], offset=args["offset"], **given)
    found = observations.search_observations(in_project(memory, project), wanted)
    found = replace(found, entries=called(memory, found.entries))
    rows = {
        "query": wanted.question,
        "totalResults": found.total,
        "observations": [row(entry) for entry in found.entries if entry.record.kind != types.SESSION],
        "sessions": [row(entry) for entry in found.entries if entry.record.kind == types.SESSION],
        "prompts": [],
    }
    return _shown(rows, page("index", found, wanted), with_rows=with_rows) if format_ == "index" else rows


def timeline(memory: Memory, project: str = "", format_: str = "index", with_rows: bool = False, **near: Any) -> Answer:
    """Return what happened around a record or time as a text, as rows, or as both."""
    there = project_called(memory, project) if project else None
    moment = observations.timeline_of(memory, project=there, **near)
    rows = {"anchor": moment["center"].number if moment["center"] else moment["at"], "items": list[Any]()}
    for entry in moment["entries"]:
        sort = "session" if entry.record.kind == types.SESSION else "observation"
        rows["items"].append({"type": sort, "epoch": epoch_ms(entry.record.created_at), "data": row(entry)})
    return _shown(rows, page("timeline", moment), with_rows=with_rows) if format_ == "index" else rows


def _shown(rows: Plain, text: str, *, with_rows: bool) -> Answer:
    return rows | {"content": [{"type": "text", "text": text}]} if with_rows else text


def listed(memory: Memory, project: str, limit: int, offset: int, *, sessions: bool) -> Plain:
    """Return a page of observations or of session summaries, newest first."""
    query = Query.of(everywhere=not project, kinds=(types.SESSION,) if sessions else types.OBSERVED, limit=limit)
    page = browse(in_project(memory, project), query, offset=offset)
    return _items([cited(entry) for entry in called(memory, page.entries)], page.total, limit, offset)


def prompts(memory: Memory, limit: int, offset: int) -> Plain:
    """Return a page of what users asked, latest first."""
    page, total = observations.prompts(memory, limit=limit, offset=offset)
    return _items([mapped(SHAPES["PROMPT"], prompt, None, TERMS) for prompt in page], total, limit, offset)


def several(memory: Memory, ids: str, order_by: str, limit: int) -> Plain:
    """Return the observations that a list in a text names."""
    numbers = [number for part in ids.strip("[] ").split(",") if (number := whole_number(part.strip())) is not None]
    if not numbers:
        raise Invalid("ids must name at least one number.", hint='{"ids": [1, 2, 3]}')
    entries = observations.fetched(memory, numbers, order=order_by, limit=limit)
    return {"observations": [cited(entry) for entry in called(memory, entries)]}


def _items(rows: list[Plain], total: int, limit: int, offset: int) -> Plain:
    return {"items": rows, "hasMore": offset + len(rows) < total, "offset": offset, "limit": limit, "total": total}


def get_observations(memory: Memory, ids: list[int], limit: int, order_by: str = "", project: str = "") -> list[Plain]:
    """Return observations in full; only of one project if it is named."""
    entries = observations.fetched(memory, ids, order=order_by, limit=limit)
    only = project_called(memory, project) if project else ""
    return [row(entry) for entry in called(memory, entries) if only in ("", entry.record.project)]


def context(memory: Memory, full: bool, project: str = "", projects: str = "", platform_source: str = "") -> str:
    """Return the index a session starts with; with the last summary if nothing was observed after it."""
    named = [name for name in projects.split(",") if name.strip()]
    targets = [project_called(memory, name) for name in named or [project]]
    entries = called(memory, observations.recent(memory, targets, agent=platform_source, times=FURTHER if full else 1))
    last = entries[-1].record.fields if entries and entries[-1].record.kind == types.SESSION else {}
    summary = {name: str(last[name]) for name in SUMMARIZED if last.get(name)}
    return page("context", targets[-1], entries, memory.clock.now(), types=types.TYPES, summary=summary)


def add(memory: Memory, kind: str, project_id: str = "", server_session_id: str = "", **args: Any) -> Plain:
    """Save one manually, of a known type an observation, else a fact; return it with the number it is fetched by."""
    there = in_project(memory, project_id)
    if server_session_id:
        there = there.acting_in(find_session(there, server_session_id).id)
    type_ = {"type": kind.lower()} if kind.lower() in types.TYPES else {}
    extra = {"metadata": args["metadata"]} if args.get("metadata") else {}
    title, sort = args.get("title", ""), "observation" if type_ else "fact"
    draft = Draft(body=args["content"], title=title, kind=sort, fields=type_, extra=extra)
    outcome = write(there, draft, waivers=Waivers(transient=True, scope=True))
    shown = called(memory, [find(there, stored(outcome, "claude-mem").id)])[0]
    again = {"deduplicated": True} if isinstance(outcome, Duplicate) else {}
    return mapped(SHAPES["ADDED"], shown, None, TERMS) | again


SHAPES, ROWS = read_rows(HERE, globals())
surface = surface_of(read_contract(HERE), ROWS, TERMS, present_error=lambda problem: f"Error: {problem_text(problem)}")
