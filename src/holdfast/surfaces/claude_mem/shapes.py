"""Format the results of claude-mem's tools: index tables with integer ids and reading costs, JSON rows, session context.

The rows are also those of its HTTP interface: /api/search, /api/timeline and /api/observation/:id.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from holdfast.engine.views import Entry
from holdfast.model.errors import HoldfastError
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
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.search.observations import CATEGORIES, Around, Found, Prompt, Wanted

REMEDIES = Remedies(restore="`holdfast restore {id}`, which the user runs")
SESSION_SIGN = "🎯"
HEAD = "| ID | Time | T | Title | Read |\n|----|------|---|-------|------|"
DITTO = "″"
WORKFLOW = """How to look something up, from cheap to expensive:
1. search(query="…", limit=20, project="…"): a table of ids, times, types, titles and what each costs to read.
2. timeline(anchor=ID, depth_before=3, depth_after=3): what happened around one of them.
3. get_observations(ids=[…]): full texts, several in one call, only of what steps 1 and 2 showed to matter.
A row of the table costs about 30 tokens, a full text often ten times that or more: pick before you fetch."""


def present_error(problem: HoldfastError) -> str:
    """Format an error as one line."""
    return f"Error: {'; '.join(problem.problems) + '.' if problem.problems else problem.message} {problem.hint}".strip()


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
    table = _best(results.entries) if best_first else _days(results.entries)
    return "\n".join([head, "", *table, *more, *results.notes])


def index_rows(results: Found, wanted: Wanted) -> dict[str, Any]:
    """Return search results as rows."""
    observed, sessions = _parted(results.entries)
    return {
        "query": wanted.question,
        "totalResults": results.total,
        "observations": [row(entry) for entry in observed],
        "sessions": [session_row(entry) for entry in sessions],
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
        {"type": "session", "epoch": epoch_ms(entry.record.created_at), "data": session_row(entry)}
        if entry.record.kind == SESSION
        else {"type": "observation", "epoch": epoch_ms(entry.record.created_at), "data": row(entry)}
        for entry in around.entries
    ]
    return {"anchor": around.center.number if around.center else around.at, "items": items}


def row(entry: Entry) -> dict[str, Any]:
    """Return an observation as a row: the shape of /api/observation/:id."""
    record = entry.record
    return {
        "id": entry.number,
        "memory_session_id": record.by.session,
        "project": record.project,
        "platform_source": record.by.name,
        "type": type_of(record),
        "title": record.title,
        "subtitle": record.fields.get("subtitle", ""),
        "narrative": narrative_of(record),
        "text": None,  # only old claude-mem rows have it; everything is in narrative and facts
        "facts": facts_of(record),
        "concepts": concepts_of(record),
        "files_read": files_read(record),
        "files_modified": files_modified(record),
        "prompt_number": record.extra.get("prompt_number"),
        "discovery_tokens": record.fields.get("discovery_tokens", 0),
        "created_at": record.created_at,
        "created_at_epoch": epoch_ms(record.created_at),
        "ref": record.id,
    }


def session_row(entry: Entry) -> dict[str, Any]:
    """Return the summary of a session as a row."""
    record = entry.record
    summary = {
        name: record.fields.get(name, "")
        for name in ("request", "investigated", "learned", "completed", "next_steps", "notes")
    }
    return {
        "id": entry.number,
        "memory_session_id": record.by.session,
        "project": record.project,
        **summary,
        "request": summary["request"] or record.title,
        "created_at": record.created_at,
        "created_at_epoch": epoch_ms(record.created_at),
    }


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as a row."""
    return {
        "content_session_id": prompt.session,
        "prompt_number": prompt.number,
        "prompt_text": prompt.text,
        "created_at": prompt.at,
        "created_at_epoch": epoch_ms(prompt.at) if prompt.at else None,
    }


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
    return "\n".join([*lines, *_last_summary(sessions, entries)])


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


def _best(entries: Iterable[Entry]) -> list[str]:
    rows = [_row(entry, entry.record.created_at[:16].replace("T", " ")) for entry in entries]
    return ["Best first:", "", HEAD, *rows, ""]


def _days(entries: Iterable[Entry], marked: int = -1) -> list[str]:
    lines: list[str] = []
    for day, group in groupby(entries, key=_day):
        lines += [f"### {day}", "", HEAD]
        last = ""
        for entry in group:
            time = _time(entry.record)
            lines.append(_row(entry, DITTO if time == last else time, "→ " if entry.number == marked else ""))
            last = time
        lines.append("")
    return lines


def _row(entry: Entry, time: str, mark: str = "") -> str:
    cells = (name_of(entry), time, _sign(entry.record), mark + _title(entry.record))
    return f"| {' | '.join(cells)} | ~{reading_cost(entry.record)} |"


def _context_line(entry: Entry) -> str:
    record = entry.record
    if record.kind == SESSION:
        return f"S{entry.number} {_title(record)} ({record.created_at[:16].replace('T', ' ')})"
    return f"{entry.number} {_time(record)} {_sign(record)} {_title(record)}"


def _last_summary(sessions: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Return the last summary if nothing was observed after it."""
    if not sessions or entries[-1].record.kind != SESSION:
        return []
    summary = sessions[-1].record.fields
    headings = (
        ("investigated", "Investigated"),
        ("learned", "Learned"),
        ("completed", "Completed"),
        ("next_steps", "Next Steps"),
    )
    return ["", *(f"**{word}**: {shorten(str(summary[key]), 300)}" for key, word in headings if summary.get(key))]


def _parted(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    sessions, observed = list[Entry](), list[Entry]()
    for entry in entries:
        (sessions if entry.record.kind == SESSION else observed).append(entry)
    return observed, sessions


def _sign(record: Record) -> str:
    return SESSION_SIGN if record.kind == SESSION else TYPES[type_of(record)]


def _title(record: Record) -> str:
    return shorten(record.title, 100).replace("|", "/")


def _day(entry: Entry) -> str:
    moment = datetime.fromisoformat(entry.record.created_at)
    return f"{moment:%b} {moment.day}, {moment.year}"


def _time(record: Record) -> str:
    return record.created_at[11:16]


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for item in text.strip("[]").split(",") if (part := item.strip().strip("\"'")))
