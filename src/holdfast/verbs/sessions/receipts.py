"""What sessions got, asked for or not: on what occasion, its cost, and the outcome, declared or observed by a rule; and the briefs of the past."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile, islice, pairwise, takewhile
from pathlib import Path

from holdfast.engine.raw import trail
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.engine.views import records, sessions, usage
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, Event, ids_in, tokens_in
from holdfast.model.files import FILE
from holdfast.model.foreign_json import texts_in
from holdfast.model.ids import Clock, days_before, fixed_id, parse_instant, short
from holdfast.model.record import Record
from holdfast.model.session import HookEvent
from holdfast.model.text import texts_of
from holdfast.policy.activity.patterns import compiled, fires
from holdfast.policy.activity.shell import parse
from holdfast.policy.sessions.outcomes import distinctive, outcome_of
from holdfast.policy.sessions.triggers import places_of
from holdfast.verbs.memory import Memory, Report

COMMON = 0.05  # a word in a larger share of the project's records is not distinctive
MOST_INJECTIONS = 500  # injections into one session
IN_WORDS = {"applied": "followed", "ignored": "unused"}
LONGEST_COMMAND = 10_000  # characters of a command in which a trigger is looked for
FEW = 20  # with fewer records no word counts as common
_ARGUMENTS = ("command", "file_path", "filePath", "path", "notebook_path", "query")
MOST_LOOKED_AT = 5_000
WHY = ("brief", "session start", "start")
MOST_REPLAYED = 100_000  # events: a store with more cannot be taken back to a date while someone waits


def receipts(memory: Memory, *, days: float = 7, limit: int = 50) -> list[Report]:
    """Return recent injections, latest first: records, reason, cost, and outcomes as declared, as a rule saw them, and in words."""
    found = list[Report]()
    for event in memory.store.happened(("injected",), days_before(memory.clock.now(), days), limit):
        ids = ids_in(event)
        uses = [use for use in usage.uses(memory.store, session=event.about) if use.id in ids]
        declared, seen = ([use.outcome for use in uses if use.observed == by_rule] for by_rule in (False, True))
        counts = Counter(IN_WORDS.get(outcome, outcome) for outcome in (*declared, *seen))
        result = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        receipt = {
            "session": event.about,
            "at": event.at,
            "why": str(event.data.get("why", "")),
            "tokens": tokens_in(event),
            "ids": ids,
            "outcomes": declared,
            "observed": seen,
            "result": "none used" if set(counts) == {IN_WORDS["ignored"]} else result,
        }
        found.append(receipt)
    return found


def deliveries_in(memory: Memory, session: str, only: str = "") -> list[Report]:
    """Return the memories that a session got, in order of time, or only one of them: on what occasion, and what followed."""
    store = memory.store
    events = [event for verb in ("injected", "surfaced") for event in store.in_session(session, verb, MOST_INJECTIONS)]
    known = memory.known(id_ for event in events for id_ in ids_in(event) if only in ("", id_))
    outcomes = {use.id: use for use in sorted(usage.uses(store, session=session), key=lambda use: not use.observed)}
    # Each injection by hooks with its occasion, the event before it: a prompt, a command or a file.
    hooks = dict[tuple[str, tuple[str, ...]], tuple[str, str]]()
    for cause, hook_event in pairwise(trail.of_session(store, session)):
        if hook_event.event == "Injected":
            given = next((str(cause.given[name]) for name in _ARGUMENTS if cause.given.get(name)), "")
            place = parse_instant(hook_event.at), tuple(texts_of(hook_event.given.get("ids")))
            hooks[place] = hook_event.text, cause.text or given or "the start of the session"
    deliveries = []
    for event in sorted(events, key=lambda event: event.at):
        ids, is_read = ids_in(event), event.data.get("how") == "read"
        channel = "read" if is_read else str(event.data.get("why") or "") if event.verb == "injected" else "recall"
        text, occasion = hooks.get((event.at, ids), ("", str(event.data.get("query", ""))))
        for id_ in (id_ for id_ in ids if id_ in known):
            use = outcomes.get(id_)
            outcome = use.outcome if use and use.at >= event.at else ""
            seen = {"session": session, "at": event.at, "outcome": outcome, "observed": bool(use and use.observed)}
            deliveries.append(delivered(known[id_], ids, channel, occasion, text) | seen)
    return deliveries


def delivered(record: Record, ids: tuple[str, ...], channel: str, occasion: str, text: str) -> Report:
    """Return one memory of an injected text: what matched, else its rank, and exactly what was injected of it."""
    below = dropwhile(lambda line: short(record.id) not in line, text.splitlines())
    own = list(takewhile(bool, below) if channel == "action site" else islice(below, 1))
    match = list[str]()
    if channel == "action site":
        places, calls = places_of(record), parse(occasion[:LONGEST_COMMAND])
        match = [one for one in places.commands if (pattern := compiled(one)) and fires(pattern, calls)]
        match += [one for one in (*places.paths, *record.anchors) if one.partition("::")[0].strip("*/") in occasion]
    elif channel == "prompt":
        words = {word.strip("`'\".,;:!?()[]{}") for word in occasion.lower().split()}
        match = sorted(word for word in words if len(word) > 3 and word in record.text.lower())
    by = ", ".join(match[: 3 if channel == "action site" else 5]) or f"{ids.index(record.id) + 1} of {len(ids)}"
    of_no_session = {"session": "", "outcome": "", "observed": False}
    got = {"record": record, "ids": ids, "channel": channel, "occasion": occasion, "match": by, "text": "\n".join(own)}
    return of_no_session | got


def deliveries_of(memory: Memory, record: Record, *, limit: int = 30) -> list[Report]:
    """Return every time that agents got a memory in its latest sessions, latest first."""
    sessions = usage.sessions_shown(memory.store, record.id, limit)
    found = (one for session in sessions for one in deliveries_in(memory, session, record.id))
    return sorted(found, key=lambda one: one["at"], reverse=True)


def note_outcomes(memory: Memory, activity: Sequence[HookEvent], *, ended: bool) -> int:
    """Record what a session's replies and edits show about injected records; return how many.

    Outcomes observed by a rule are kept apart from declared ones. A use is recorded as soon as it is seen, an unused record
    only when the session is over; each is recorded once, however often the activity is read.
    """
    session = activity[0].session
    known = {use.id for use in usage.uses(memory.store, session=session)}
    injected = [event for event in activity if event.event == "Injected"]  # the first injection of each record counts
    first = {id_: event for event in reversed(injected) for id_ in texts_of(event.given.get("ids"))}
    by, events = Actor(kind="rule", name="outcomes", session=session), list[Event]()
    for id_, record in memory.known(first.keys() - known).items():
        if outcome := _outcome(memory, record, first[id_], activity, ended=ended):
            event = memory.event("used", id_, data={"outcome": outcome}, by=by)
            events.append(replace(event, id=fixed_id(first[id_].at, f"used {session} {id_}")))
    if events:
        memory.commit(events)
    return len(events)


def _outcome(
    memory: Memory, record: Record, injection: HookEvent, activity: Sequence[HookEvent], *, ended: bool
) -> str | None:
    called = [event for event in activity if event.event == "PreToolUse" and event.id < injection.id]
    after = [event for event in activity if event.id > injection.id]
    earlier = [event.text for event in activity if event.event == "UserPromptSubmit"]
    earlier += [text for event in called for text in texts_in(event.given, keys=False)]
    later = [event.text for event in after if event.event in ("Stop", "SubagentStop")]
    # What the agent itself did, never what a tool returned.
    later += [text for one in after if one.event == "PostToolUse" for text in texts_in(one.given, keys=False)]
    is_done = any(event.event == "Stop" for event in after)
    size, span = memory.store.size((memory.here,)), records.span(memory.here)
    of, most = memory.caches.frequencies.of, COMMON * size if size >= FEW else size
    words = distinctive(record, common=lambda word: of([word], (span,), size)[word] > most)
    return outcome_of(words, record.id, later, earlier) or ("ignored" if ended and is_done else None)


def brief_given(memory: Memory, at: str) -> Report | None:
    """Return the last brief that a session of this project got until an instant; None if there was none."""
    for event in memory.store.happened(("injected",), "", MOST_LOOKED_AT):
        session = sessions.of(memory.store, event.about) if event.at <= at and event.data.get("why") in WHY else None
        if session and session.project == memory.project:
            given = [record for record in memory.known(ids_in(event)).values() if record.state != "erased"]
            return {"session": event.about, "at": event.at, "tokens": tokens_in(event), "records": given}
    return None


def compare(earlier: Sequence[Record], later: Sequence[Record]) -> dict[str, list[Record]]:
    """Return what changed from a brief to a later one: what was added and removed, and what both have."""
    before, after = {one.id for one in earlier}, {one.id for one in later}
    return {
        "added": [one for one in later if one.id not in before],
        "removed": [one for one in earlier if one.id not in after],
        "kept": [one for one in later if one.id in before],
    }


def known_at(memory: Memory, folder: Path, at: str) -> Memory:
    """Return a memory with what was known at an instant, in a store of its own in a folder; its clock stands there."""
    events = list(islice((event for _, event in memory.store.journal() if event.at <= at), MOST_REPLAYED + 1))
    if len(events) > MOST_REPLAYED:
        raise Invalid(f"More than {MOST_REPLAYED:,} events would have to be replayed.", hint="Leave the date out.")
    store = open_store(SQLite(folder / FILE))
    store.commit(events)
    return replace(memory, store=store, embedder=None, clock=Clock(datetime.fromisoformat(at).timestamp))
