"""Format the results of claude-mem's tools: index tables with integer ids and reading costs, JSON rows, session context.

The rows are also those of its HTTP interface: /api/search, /api/timeline and /api/observation/:id.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from holdfast.engine.views import Entry
from holdfast.model.ids import epoch_ms
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten, tokens_of
from holdfast.policy.activity.claude_mem_types import (
    SESSION,
    TYPES,
    concepts_of,
    facts_of,
    files_modified,
    files_read,
    narrative_of,
    type_of,
)
from holdfast.policy.admission.admit import Duplicate
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.maps import Terms, mapped, shapes_in
from holdfast.surfaces.pages import pages_of
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.search.observations import CATEGORIES, Around, Found, Prompt, Wanted

HERE = Path(__file__).parent
SHAPES = shapes_in(HERE)
REMEDIES = Remedies(restore="`holdfast restore {id}`, which the user runs")
SUMMARIZED = ("investigated", "learned", "completed", "next_steps")
TERMS = Terms(
    filters={
        "concepts": concepts_of,
        "epoch": lambda at: epoch_ms(at) if at else None,
        "facts": facts_of,
        "files_modified": files_modified,
        "files_read": files_read,
        "narrative": narrative_of,
        "request": lambda record: record.fields.get("request") or record.title,
        "type": type_of,
    }
)


def wanted(args: dict[str, Any], *, everywhere: bool) -> Wanted:
    """Return the filters of a search; a type that is not a category is an observation type."""
    type_ = args.get("type_", "")
    category = type_ if type_ in CATEGORIES else "observations" if type_ else ""
    types = (*_split(args.get("obs_type", "")), *(_split(type_) if type_ not in CATEGORIES else ()))
    return Wanted(
        question=args.get("query", ""),
        category=category or ("observations" if types else ""),
        types=types,
        concepts=_split(args.get("concepts", "")),
        files=_split(args.get("files", "")),
        since=args.get("date_start", ""),
        until=args.get("date_end", ""),
        agent=args.get("platform_source", ""),
        everywhere=everywhere,
        limit=args["limit"],
        offset=args["offset"],
        order=args.get("order_by", ""),
    )


def index(results: Found, wanted: Wanted) -> str:
    """Format search results as one table per day, or as one table if the best come first."""
    best_first = bool(wanted.question) and wanted.order in ("", "relevance")
    return page("index", results, wanted, best_first=best_first)


def index_rows(results: Found, wanted: Wanted) -> dict[str, Any]:
    """Return search results as rows."""
    return {
        "query": wanted.question,
        "totalResults": results.total,
        "observations": [row(entry) for entry in results.entries if entry.record.kind != SESSION],
        "sessions": [row(entry) for entry in results.entries if entry.record.kind == SESSION],
        "prompts": [],
    }


def timeline(around: Around) -> str:
    """Format what happened around a record or time, with its row marked."""
    return page("timeline", around)


def timeline_rows(around: Around) -> dict[str, Any]:
    """Return what happened around a record or time as rows, oldest first."""
    items = [
        {
            "type": "session" if entry.record.kind == SESSION else "observation",
            "epoch": epoch_ms(entry.record.created_at),
            "data": row(entry),
        }
        for entry in around.entries
    ]
    return {"anchor": around.center.number if around.center else around.at, "items": items}


def row(entry: Entry) -> dict[str, Any]:
    """Return an observation (the shape of /api/observation/:id) or the summary of a session."""
    return mapped(SHAPES["SUMMARY" if entry.record.kind == SESSION else "OBSERVATION"], entry, None, TERMS)


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as a row."""
    return mapped(SHAPES["PROMPT"], prompt, None, TERMS)


def context(project: str, entries: Sequence[Entry], now: str) -> str:
    """Format the context a session receives when it starts; with the last summary if nothing was observed after it."""
    last = entries[-1].record.fields if entries and entries[-1].record.kind == SESSION else {}
    summary = {name: str(last[name]) for name in SUMMARIZED if last.get(name)}
    return page("context", project, entries, now, types=TYPES, summary=summary)


def draft(args: dict[str, Any], kind: str) -> Draft:
    """Return the draft of a manual observation: with a known type an observation, otherwise a fact."""
    observed = kind.lower() in TYPES
    return Draft(
        body=args["content"],
        title=args.get("title", ""),
        kind="observation" if observed else "fact",
        fields={"type": kind.lower()} if observed else {},
        extra={"metadata": args["metadata"]} if args.get("metadata") else {},
    )


def kept(outcome: Outcome) -> Record:
    """Return the saved record, or the existing one it duplicates; raise if it was refused."""
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            return record
        case Duplicate(matches=matches):
            return matches[0].record
    raise refusal(outcome, REMEDIES)


def added(shown: Entry, outcome: Outcome) -> dict[str, Any]:
    """Return a manual observation, with the number it is fetched by."""
    record, known = shown.record, isinstance(outcome, Duplicate)
    result = {"success": True, "id": shown.number, "title": record.title, "project": record.project, "ref": record.id}
    return result | ({"deduplicated": True} if known else {})


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
        "name": lambda entry: f"#{'S' if entry.record.kind == SESSION else ''}{entry.number}",
        "sign": lambda entry: "🎯" if entry.record.kind == SESSION else TYPES[type_of(entry.record)],
    },
    blank=True,
)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for item in text.strip("[]").split(",") if (part := item.strip().strip("\"'")))
