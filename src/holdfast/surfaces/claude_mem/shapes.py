"""Format the results of claude-mem's tools: index tables with integer ids and reading costs, JSON rows, session context.

The rows are also those of its HTTP interface: /api/search, /api/timeline and /api/observation/:id.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from holdfast.engine.views import Entry
from holdfast.model.ids import epoch_ms
from holdfast.model.record import Draft, Record
from holdfast.model.text import counted, shorten
from holdfast.policy.activity.claude_mem_types import (
    SESSION,
    TYPES,
    concepts_of,
    facts_of,
    files_modified,
    files_read,
    narrative_of,
    reading_cost,
    type_of,
)
from holdfast.policy.admission.admit import Duplicate
from holdfast.policy.admission.refusals import Remedies
from holdfast.surfaces.maps import Terms, mapped
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.search.observations import CATEGORIES, Around, Found, Prompt, Wanted

REMEDIES = Remedies(restore="`holdfast restore {id}`, which the user runs")
SESSION_SIGN = "🎯"
HEAD = "| ID | Time | T | Title | Read |\n|----|------|---|-------|------|"
DITTO = "″"
SUMMARIZED = ("investigated", "learned", "completed", "next_steps")
OBSERVATION = """
    id=number, memory_session_id=record.by.session, project=record.project, platform_source=record.by.name,
    type=record|type, title=record.title, subtitle=record.fields.subtitle|text, narrative=record|narrative, text=null,
    facts=record|facts, concepts=record|concepts, files_read=record|files_read, files_modified=record|files_modified,
    prompt_number=record.extra.prompt_number, discovery_tokens=record.fields.discovery_tokens|zero,
    created_at=record.created_at, created_at_epoch=record.created_at|epoch, ref=record.id"""
SUMMARY = """
    id=number, memory_session_id=record.by.session, project=record.project, request=record|request,
    investigated=record.fields.investigated|text, learned=record.fields.learned|text,
    completed=record.fields.completed|text, next_steps=record.fields.next_steps|text, notes=record.fields.notes|text,
    created_at=record.created_at, created_at_epoch=record.created_at|epoch"""
PROMPT = """
    content_session_id=session, prompt_number=number, prompt_text=text, created_at=at, created_at_epoch=at|epoch"""
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
    about = f' matching "{shorten(wanted.question, 120)}"' if wanted.question else ""
    if not results.entries:
        return "\n".join([f"No results found{about}.", *results.notes])
    sessions = sum(entry.record.kind == SESSION for entry in results.entries)
    counts = f"{len(results.entries) - sessions} obs, {counted(sessions, 'session')}"
    left = results.total - wanted.offset - len(results.entries)
    more = [f"{left} more: offset={wanted.offset + len(results.entries)}"] if left > 0 else []
    head = f"Found {results.total} result(s){about} (showing {counts})"
    best_first = bool(wanted.question) and wanted.order in ("", "relevance")
    rows = [_row(entry, entry.record.created_at[:16].replace("T", " ")) for entry in results.entries]
    table = ["Best first:", "", HEAD, *rows, ""] if best_first else _days(results.entries)
    return "\n".join([head, "", *table, *more, *results.notes])


def index_rows(results: Found, wanted: Wanted) -> dict[str, Any]:
    """Return search results as rows."""
    observed, sessions = _parted(results.entries)
    return {
        "query": wanted.question,
        "totalResults": results.total,
        "observations": [row(entry) for entry in observed],
        "sessions": [row(entry) for entry in sessions],
        "prompts": [],
    }


def timeline(around: Around) -> str:
    """Format what happened around a record or time, with its row marked."""
    center = around.center
    named = f'{name_of(center)} "{shorten(center.record.title, 80)}"' if center else around.at
    if not around.entries:
        return f"Nothing was saved around {named}."
    head = f"Timeline around {named}: {counted(len(around.entries), 'item')}"
    return "\n".join([head, "", *_days(around.entries, marked=center.number if center else -1)])


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
    return mapped(SUMMARY if entry.record.kind == SESSION else OBSERVATION, entry, None, TERMS)


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as a row."""
    return mapped(PROMPT, prompt, None, TERMS)


def context(project: str, entries: Sequence[Entry], now: str) -> str:
    """Format the context a session receives when it starts."""
    if not entries:
        return f"# [{project}] recent context\n\nNo observations yet; this is the first session."
    observed, sessions = _parted(entries)
    read = sum(reading_cost(entry.record) for entry in observed)
    signs = " ".join([f"{SESSION_SIGN}session", *(f"{sign}{name}" for name, sign in TYPES.items())])
    lines = [f"# [{project}] recent context, {now[:16].replace('T', ' ')} UTC", "", f"Legend: {signs}"]
    lines += ["Format: ID TIME TYPE TITLE", "Fetch details: get_observations([IDs]) | Search: search(query)", ""]
    lines += [f"Stats: {len(observed)} obs ({read:,}t to read all)"]
    for day, group in groupby(entries, key=_day):
        lines += ["", f"### {day}", *(_context_line(entry) for entry in group)]
    if sessions and entries[-1].record.kind == SESSION:  # nothing was observed after the last summary
        summary = sessions[-1].record.fields
        parts = {name: shorten(str(summary[name]), 300) for name in SUMMARIZED if summary.get(name)}
        lines += ["", *(f"**{name.replace('_', ' ').title()}**: {part}" for name, part in parts.items())]
    return "\n".join(lines)


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


def name_of(entry: Entry) -> str:
    """Return how an observation or session is cited."""
    return f"#{'S' if entry.record.kind == SESSION else ''}{entry.number}"


def _days(entries: Iterable[Entry], marked: int = -1) -> list[str]:
    lines: list[str] = []
    for day, group in groupby(entries, key=_day):
        lines += [f"### {day}", "", HEAD]
        last = ""
        for entry in group:
            time = entry.record.created_at[11:16]
            lines.append(_row(entry, DITTO if time == last else time, "→ " if entry.number == marked else ""))
            last = time
        lines.append("")
    return lines


def _row(entry: Entry, time: str, mark: str = "") -> str:
    record = entry.record
    sign = SESSION_SIGN if record.kind == SESSION else TYPES[type_of(record)]
    cells = (name_of(entry), time, sign, mark + _title(record))
    return f"| {' | '.join(cells)} | ~{reading_cost(record)} |"


def _context_line(entry: Entry) -> str:
    record = entry.record
    if record.kind == SESSION:
        return f"S{entry.number} {_title(record)} ({record.created_at[:16].replace('T', ' ')})"
    return f"{entry.number} {record.created_at[11:16]} {TYPES[type_of(record)]} {_title(record)}"


def _parted(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    by_sort = {is_session: [*group] for is_session, group in groupby(sorted(entries, key=_is_session), key=_is_session)}
    return by_sort.get(False, []), by_sort.get(True, [])


def _is_session(entry: Entry) -> bool:
    return entry.record.kind == SESSION


def _title(record: Record) -> str:
    return shorten(record.title, 100).replace("|", "/")


def _day(entry: Entry) -> str:
    moment = datetime.fromisoformat(entry.record.created_at)
    return f"{moment:%b} {moment.day}, {moment.year}"


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for item in text.strip("[]").split(",") if (part := item.strip().strip("\"'")))
