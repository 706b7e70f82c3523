"""What callers of claude-mem get: index tables with integer ids and reading costs, rows as JSON, the context of a session.

Rows are those of its HTTP interface too: /api/search, /api/timeline and /api/observation/:id.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from holdfast.engine.views import Entry
from holdfast.model.errors import HoldfastError
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
from holdfast.verbs.records.read import Shown
from holdfast.verbs.records.write import Held, Outcome, Written
from holdfast.verbs.search.observations import CATEGORIES, Around, Found, Wanted

REMEDIES = Remedies(restore="`holdfast restore {id}`")
SESSION_SIGN = "🎯"
HEAD = "| ID | Time | T | Title | Read |\n|----|------|---|-------|------|"
DITTO = "″"
WORKFLOW = """How to look something up, from cheap to dear:
1. search(query="…", limit=20, project="…"): a table of ids, times, types, titles and what each costs to read.
2. timeline(anchor=ID, depth_before=3, depth_after=3): what happened around one of them.
3. get_observations(ids=[…]): full texts, several in one call, only of what steps 1 and 2 showed to matter.
A row of the table costs about 30 tokens, a full text often ten times that or more: pick before you fetch."""


def present_error(problem: HoldfastError) -> str:
    """Write an error as one line to read."""
    return f"Error: {'; '.join(problem.problems) + '.' if problem.problems else problem.message} {problem.hint}".strip()


def wanted(given: dict[str, Any], *, everywhere: bool) -> Wanted:
    """Read the filters of a search; a type that is no category is one of observations."""
    said = given.get("type_", "")
    category = said if said in CATEGORIES else "observations" if said else ""
    types = (*_split(given.get("obs_type", "")), *(_split(said) if said not in CATEGORIES else ()))
    return Wanted(
        question=given.get("query", ""),
        category=category or ("observations" if types else ""),
        types=types,
        concepts=_split(given.get("concepts", "")),
        files=_split(given.get("files", "")),
        since=given.get("date_start", ""),
        until=given.get("date_end", ""),
        agent=given.get("platform_source", ""),
        everywhere=everywhere,
        limit=given["limit"],
        offset=given["offset"],
        order=given.get("order_by", ""),
    )


def index(found: Found, asked: Wanted) -> str:
    """Write what a search found as a table a day."""
    about = f' matching "{shorten(asked.question, 120)}"' if asked.question else ""
    if not found.entries:
        return "\n".join([f"No results found{about}.", *found.notes])
    sessions = sum(entry.record.kind == SESSION for entry in found.entries)
    counts = f"{len(found.entries) - sessions} obs, {counted(sessions, 'session')}"
    left = found.total - asked.offset - len(found.entries)
    more = [f"{left} more: offset={asked.offset + len(found.entries)}"] if left > 0 else []
    head = f"Found {found.total} result(s){about} (showing {counts})"
    return "\n".join([head, "", *_days(found.entries), *more, *found.notes])


def index_rows(found: Found, asked: Wanted) -> dict[str, Any]:
    """Give what a search found as rows."""
    observed, sessions = _parted(found.entries)
    return {
        "query": asked.question,
        "totalResults": found.total,
        "observations": [row(entry) for entry in observed],
        "sessions": [session_row(entry) for entry in sessions],
        "prompts": [],
    }


def timeline(found: Around) -> str:
    """Write what happened around something, its row marked."""
    named = f"{name_of(found.center)} {shorten(found.center.record.title, 80)}" if found.center else found.at
    if not found.entries:
        return f"Nothing was kept around {named}."
    head = f"Timeline around {named}: {counted(len(found.entries), 'item')}"
    return "\n".join([head, "", *_days(found.entries, marked=found.center.number if found.center else -1)])


def timeline_rows(found: Around) -> dict[str, Any]:
    """Give what happened around something as rows, oldest first."""
    items = [
        {"type": "session", "epoch": _epoch(entry.record.created_at), "data": session_row(entry)}
        if entry.record.kind == SESSION
        else {"type": "observation", "epoch": _epoch(entry.record.created_at), "data": row(entry)}
        for entry in found.entries
    ]
    return {"anchor": found.center.number if found.center else found.at, "items": items}


def row(entry: Entry) -> dict[str, Any]:
    """Give an observation as a row: the shape of /api/observation/:id."""
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
        "text": None,  # of old rows there; all is in narrative and facts
        "facts": facts_of(record),
        "concepts": concepts_of(record),
        "files_read": files_read(record),
        "files_modified": files_modified(record),
        "prompt_number": None,
        "discovery_tokens": record.fields.get("discovery_tokens", 0),
        "created_at": record.created_at,
        "created_at_epoch": _epoch(record.created_at),
        "ref": record.id,
    }


def session_row(entry: Entry) -> dict[str, Any]:
    """Give a summary of a session as a row."""
    record = entry.record
    told = {
        name: record.fields.get(name, "")
        for name in ("request", "investigated", "learned", "completed", "next_steps", "notes")
    }
    return {
        "id": entry.number,
        "memory_session_id": record.by.session,
        "project": record.project,
        **told,
        "request": told["request"] or record.title,
        "created_at": record.created_at,
        "created_at_epoch": _epoch(record.created_at),
    }


def context(project: str, entries: Sequence[Entry], now: str) -> str:
    """Write what a session is given when it begins."""
    if not entries:
        return f"# [{project}] recent context\n\nNothing was kept here yet; it begins with this session."
    observed, sessions = _parted(entries)
    read = sum(reading_cost(entry.record) for entry in observed)
    signs = " ".join([f"{SESSION_SIGN}session", *(f"{sign}{name}" for name, sign in TYPES.items())])
    lines = [f"# [{project}] recent context, {now[:16].replace('T', ' ')} UTC", "", f"Legend: {signs}"]
    lines += ["Format: ID TIME TYPE TITLE", "Fetch details: get_observations([IDs]) | Search: search(query)", ""]
    lines += [f"Stats: {len(observed)} obs ({read:,}t to read all)"]
    for day, group in groupby(entries, key=_day):
        lines += ["", f"### {day}", *(_context_line(entry) for entry in group)]
    return "\n".join([*lines, *_last_summary(sessions, entries)])


def draft(given: dict[str, Any], kind: str) -> Draft:
    """Give the draft of what is kept by hand: of a type it is an observation, else a fact."""
    observed = kind.lower() in TYPES
    return Draft(
        body=given["content"],
        title=given.get("title", ""),
        kind="observation" if observed else "fact",
        fields={"type": kind.lower()} if observed else {},
        extra={"metadata": given["metadata"]} if given.get("metadata") else {},
    )


def kept(outcome: Outcome) -> Record:
    """Return the record that was saved, or the one that already says it; raises where the write was refused."""
    match outcome:
        case Written(record=record) | Held(record=record):
            return record
        case Duplicate(matches=matches):
            return matches[0].record
    raise refusal(outcome, REMEDIES)


def added(shown: Shown, outcome: Outcome) -> dict[str, Any]:
    """Give what was kept by hand, with the number it is fetched by."""
    record, known = shown.record, isinstance(outcome, Duplicate)
    told = {"success": True, "id": shown.number, "title": record.title, "project": record.project, "ref": record.id}
    return told | ({"deduplicated": True} if known else {})


def name_of(entry: Entry) -> str:
    """Give what an observation or session is cited by."""
    return f"#{'S' if entry.record.kind == SESSION else ''}{entry.number}"


def _days(entries: Iterable[Entry], marked: int = -1) -> list[str]:
    lines: list[str] = []
    for day, group in groupby(entries, key=_day):
        lines += [f"### {day}", "", HEAD]
        last = ""
        for entry in group:
            time = _time(entry.record)
            mark = "→ " if entry.number == marked else ""
            cells = (name_of(entry), DITTO if time == last else time, _sign(entry.record), mark + _title(entry.record))
            lines.append(f"| {' | '.join(cells)} | {_cost(entry.record)} |")
            last = time
        lines.append("")
    return lines


def _context_line(entry: Entry) -> str:
    record = entry.record
    if record.kind == SESSION:
        return f"S{entry.number} {_title(record)} ({record.created_at[:16].replace('T', ' ')})"
    return f"{entry.number} {_time(record)} {_sign(record)} {_title(record)}"


def _last_summary(sessions: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Give the last summary where nothing was observed after it."""
    if not sessions or entries[-1].record.kind != SESSION:
        return []
    told = sessions[-1].record.fields
    wanted_ = (
        ("investigated", "Investigated"),
        ("learned", "Learned"),
        ("completed", "Completed"),
        ("next_steps", "Next Steps"),
    )
    return ["", *(f"**{word}**: {shorten(str(told[key]), 300)}" for key, word in wanted_ if told.get(key))]


def _parted(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    listed = list(entries)
    return [one for one in listed if one.record.kind != SESSION], [one for one in listed if one.record.kind == SESSION]


def _sign(record: Record) -> str:
    return SESSION_SIGN if record.kind == SESSION else TYPES[type_of(record)]


def _title(record: Record) -> str:
    return shorten(record.title, 100).replace("|", "/")


def _cost(record: Record) -> str:
    return f"~{reading_cost(record)}"


def _day(entry: Entry) -> str:
    moment = datetime.fromisoformat(entry.record.created_at)
    return f"{moment:%b} {moment.day}, {moment.year}"


def _time(record: Record) -> str:
    return record.created_at[11:16]


def _epoch(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for one in text.strip("[]").split(",") if (part := one.strip().strip("\"'")))
