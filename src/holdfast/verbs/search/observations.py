"""Search, list and fetch the records of a project as observations, without recording impressions; and timelines."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.engine.raw import trail, transcripts
from holdfast.engine.views import Entry, records
from holdfast.model.errors import Invalid, NotFound
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import LAST, UUID, days_before, instant, moment_of, parse_instant
from holdfast.model.kinds import SEPARATE
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import counted, whole_number
from holdfast.policy.activity.claude_mem_types import OBSERVED, SESSION, SYSTEM, concepts_of, touches, type_of
from holdfast.verbs.memory import Memory, Report, check_choice, find, is_reference
from holdfast.verbs.records.read import Listed, called, entries_called
from holdfast.verbs.search.recall import recall

ORDERS = ("relevance", "date_desc", "date_asc")
CATEGORIES = ("observations", "sessions", "prompts")
MOST, MOST_SCANNED = 100, 5_000
AT_ONCE = 300  # hits of a question that are filtered at once
LAST_ID, LONGEST_TURN = "~", 100_000
DATE = 10  # characters of an instant that are the date
RECENT, RECENT_SESSIONS = 50, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which observations to find. Without a question they are listed by date."""

    question: str = ""
    category: str = ""
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    agent: str = ""
    everywhere: bool = False
    limit: int = 20
    offset: int = 0
    order: str = ""


def search_observations(memory: Memory, wanted: Wanted) -> Listed:
    """Find observations by question, type, concept, file, date and agent, or list them if there is no question.

    The total counts all matches, up to the number that is scanned.
    """
    check_choice(wanted.order or ORDERS[0], ORDERS, "an order")
    if not 1 <= wanted.limit <= MOST or wanted.offset < 0:
        raise Invalid(f"A limit lies between 1 and {MOST}, an offset is not negative.")
    if wanted.category == "prompts":
        note = "Prompts are not memories of their own; type=sessions lists what sessions were asked to do."
        return Listed(notes=(note,))
    asked_for = {"sessions": (SESSION,), "observations": OBSERVED}
    kinds = asked_for.get(wanted.category, (*OBSERVED, SESSION))
    since, until = _instant(wanted.since), _instant(wanted.until)
    if until and len(wanted.until.strip()) <= DATE and not wanted.until.isdecimal():
        until = days_before(until, -1)  # a date without a time includes that day
    entries, notes = list[Entry](), tuple[str, ...]()
    if wanted.question.strip():
        query = Query(text=wanted.question, kinds=kinds, since=since, until=until, everywhere=wanted.everywhere)
        query = replace(query, limit=max(AT_ONCE, wanted.offset + wanted.limit))  # filtered below, before they are cut
        found = recall(memory, query, surface=False)
        if len(found.hits) == query.limit:  # there may be more
            found = recall(memory, replace(query, limit=MOST_SCANNED), surface=False)
        known = records.by_ids(memory.store, [hit.record.id for hit in found.hits])
        left = f"{counted(found.gated, 'weaker result')} left out; other words, or no query, may show them."
        entries, notes = [known[hit.record.id] for hit in found.hits], (*found.notes, *[left] * bool(found.gated))
    else:
        names = (memory.project, GLOBAL)
        projects = None if wanted.everywhere else tuple(memory.store.project_number(name) for name in names)
        chosen = records.Filter(projects=projects, kinds=kinds, since=since, until=until)
        entries = records.page(memory.store, chosen, limit=MOST_SCANNED)
    fitting = [entry for entry in entries if _is_meant(entry.record, wanted)]
    if wanted.order in ("date_desc", "date_asc"):
        fitting.sort(key=_when, reverse=wanted.order == "date_desc")
    page = fitting[wanted.offset : wanted.offset + wanted.limit]
    return Listed(entries=tuple(page), total=len(fitting), notes=notes)


def prompts(memory: Memory, *, limit: int = 20, offset: int = 0) -> tuple[list[Report], int]:
    """Return a page of what users asked, latest first, each with its number in its session; and how many there are.

    They are those of sessions with hooks, and of imported ones.
    """
    store, numbers, asked = memory.store, Counter[str](), list[Report]()

    def add(session: str, number: int, text: str, at: str) -> None:
        asked.append({"session": session, "number": number, "text": text, "at": at})

    for event in reversed(trail.before(store, LAST_ID, MOST_SCANNED)):
        if event.event == "UserPromptSubmit":
            numbers[event.session] += 1
            add(event.session, numbers[event.session], event.text, event.at)
    for session in transcripts.sessions(store):
        kept = transcripts.get(store, session)
        for line in kept.body.splitlines() if kept and '"imported"' in kept.body[:LONGEST_TURN] else ():
            turn = parse_json(line)
            if isinstance(turn, dict) and turn.get("role") == "user":
                number = turn.get("prompt_number")
                known = number if isinstance(number, int) else 0
                add(session, known, str(turn.get("content", "")), str(turn.get("at", "")))
    asked.sort(key=lambda prompt: prompt["at"], reverse=True)
    return asked[offset : offset + limit], len(asked)


def numbered(memory: Memory, numbers: Sequence[int], *, sessions: bool = False) -> list[Entry]:
    """Return records by their numbers here or in claude-mem, in the requested order.

    claude-mem numbers sessions and observations separately: `sessions` selects which of the two is meant.
    """
    found = entries_called(memory, list(dict.fromkeys(numbers)), SYSTEM, with_imported=sessions).values()
    return [min(entries, key=lambda entry: (entry.record.kind == SESSION) != sessions) for entries in found if entries]


def fetched(memory: Memory, numbers: Sequence[int], *, order: str = "", limit: int = MOST) -> list[Entry]:
    """Return records by number, in the requested order or by date; raise NotFound if none of them exists."""
    found = numbered(memory, numbers)
    if not found:
        names = ", ".join(map(str, numbers))
        raise NotFound(f"There is no observation {names}.", hint="search shows the ids there are.")
    if order:
        found.sort(key=_when, reverse=order == "date_desc")
    return found[:limit]


def observation(memory: Memory, reference: str) -> Entry:
    """Return the record of a number (`12`, `#12`, or `S12` for a session) or of an id."""
    said = reference.strip().lstrip("#").upper()
    number = said.removeprefix("S")
    read = whole_number(number)
    found = numbered(memory, [read], sessions=said != number) if read is not None else []
    if found:
        return found[0]
    if is_reference(memory, reference):
        return find(memory, reference)
    raise NotFound(f"There is no observation {reference}.", hint="search shows the ids there are.")


def timeline_of(
    memory: Memory, *, anchor: str = "", question: str = "", before: int = 3, after: int = 3, project: str | None = ""
) -> Report:
    """Return the records around an observation (its number), an instant (ISO time) or the best hit of a question.

    An instant or a question is looked for in one project (default: the current one), or in all if `project` is None.
    """
    if bool(anchor.strip()) == bool(question.strip()):
        raise Invalid("A timeline needs either an anchor or a query.", hint="Give one of them, not both.")
    kinds, everywhere = (*OBSERVED, SESSION), project is None
    there = memory.acting_on(project) if project else memory
    said = anchor.strip()
    if "-" in said and said[:4].isdecimal() and not UUID.fullmatch(said):
        moment = moment_of(said, memory.clock.now())
        found = around(there, moment, before=before, after=after, kinds=kinds, everywhere=everywhere)
        return {"entries": called(memory, found), "center": None, "at": moment}
    if said:
        center = observation(memory, anchor)
    else:
        center = _best(there, Query(text=question, kinds=kinds, limit=1, everywhere=everywhere), surface=False)
    found = around(there, center, before=before, after=after, kinds=kinds)
    at = center.record.created_at
    return {"entries": called(memory, found), "center": called(memory, [center])[0], "at": at}


def recent(memory: Memory, projects: Sequence[str], *, agent: str = "", times: int = 1) -> list[Entry]:
    """Return the newest observations and session summaries of some projects, oldest first."""
    here, store = tuple(memory.store.project_number(name) for name in projects), memory.store
    seen = records.page(store, records.Filter(projects=here, kinds=OBSERVED), limit=times * RECENT)
    sessions = records.page(store, records.Filter(projects=here, kinds=(SESSION,)), limit=times * RECENT_SESSIONS)
    found = [entry for entry in (*seen, *sessions) if agent.lower() in entry.record.by.name.lower()]
    return sorted(found, key=_when)


def _is_meant(record: Record, wanted: Wanted) -> bool:
    if record.source == "starter" or (record.kind == SESSION and (wanted.types or wanted.concepts)):
        return False
    return (
        (not wanted.types or type_of(record) in wanted.types)
        and (not wanted.concepts or bool(set(wanted.concepts) & set(concepts_of(record))))
        and (not wanted.files or any(touches(record, one) for one in wanted.files))
        and wanted.agent.lower() in record.by.name.lower()
    )


def _instant(text: str) -> str:
    """Parse a time given as ISO or as milliseconds since the epoch."""
    said = text.strip()
    if not said:
        return ""
    if len(said) > DATE and (milliseconds := whole_number(said)) is not None:
        return instant(min(milliseconds / 1000, LAST))
    return parse_instant(said, None)


def _best(memory: Memory, query: Query, *, surface: bool = True) -> Entry:
    found = recall(memory, query, surface=surface)
    if not found.hits:
        raise NotFound(f"Nothing fits {query.text!r}.", hint="Try other words, or an id.")
    return find(memory, found.hits[0].record.id)


def timeline(memory: Memory, about: str, *, before: int = 5, after: int = 5) -> list[Record]:
    """Return a record (an id, or the best hit of a question) and those made just before and after it, oldest first."""
    entry = find(memory, about) if is_reference(memory, about) else _best(memory, Query(text=about, limit=1))
    return [item.record for item in around(memory, entry, before=before, after=after)]


def around(
    memory: Memory, center: Entry | str, *, before: int, after: int, kinds: Sequence[str] = (), everywhere: bool = False
) -> list[Entry]:
    """Return a record and those made just before and after it, or those around an instant, oldest first."""
    entry = None if isinstance(center, str) else center
    project = entry.record.project if entry else memory.project
    kinds = kinds or ([entry.record.kind] if entry and entry.record.kind in SEPARATE else ())
    projects = None if everywhere else tuple(memory.store.sizes(records.homes_of((project,), kinds)))
    chosen = records.Filter(projects=projects, states=("active", "retired"), kinds=tuple(kinds))
    at = entry.record.created_at if entry else str(center)
    earlier = records.page(memory.store, replace(chosen, until=at), limit=before)
    later = records.page(memory.store, replace(chosen, since=at), limit=after + bool(entry), order="oldest")
    others = [item for item in (*earlier, *later) if entry is None or item.number != entry.number]
    return sorted((*others, *([entry] if entry else [])), key=_when)


def _when(entry: Entry) -> tuple[str, int]:
    return entry.record.created_at, entry.number
