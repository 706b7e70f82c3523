"""Implement the actions of the tools `session`, `thread` and `explore`: one function each, looked up by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.query import Query
from holdfast.model.text import counted
from holdfast.surfaces.core import reports, review_text, session_text
from holdfast.surfaces.core.session_text import thread_line
from holdfast.surfaces.core.text import line, listed, waiting_for, within
from holdfast.surfaces.reader import MODEL
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture.mining import mined
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import list_records, list_scopes
from holdfast.verbs.search.graph import connected
from holdfast.verbs.search.predict import predict
from holdfast.verbs.search.timeline import timeline
from holdfast.verbs.sessions import thread as threads
from holdfast.verbs.sessions.absorb import candidates
from holdfast.verbs.sessions.analyze import activity, blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS, close, payload_file
from holdfast.verbs.sessions.scars import effects, unanswered
from holdfast.verbs.sessions.session import contents_of, list_sessions, only_open, refresh, start
from holdfast.verbs.sessions.suggest import dismiss, promote, suggestions
from holdfast.verbs.sessions.topics import patterns, topics_of
from holdfast.verbs.sessions.transcript import save_transcript, search_transcripts
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import conflicts, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of a tool with actions; each action uses those it needs."""

    id: str = ""
    text: str = ""
    title: str = ""
    issue: str = ""
    note: str = ""
    close_type: str = "standard"
    payload: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False
    days: int = 30
    limit: int = 20


Action = Callable[[Memory, Arguments], str]


def _start(call: Call, args: Arguments) -> str:
    memory, opened = start(call.memory, session=args.id, title=args.title, issue=args.issue, force=args.force)
    call.acting.context = memory.context
    return session_text.opening_of(opened, payload_file=str(payload_file(memory, opened.session.id) or ""))


def _close(call: Call, args: Arguments) -> str:
    banner = waiting_for(unanswered(call.memory, args.id and contents_of(call.memory, args.id).session.id))
    outcome = close(call.memory, session=args.id, close_type=args.close_type, payload=args.payload)
    return "\n".join([*banner, session_text.closing_of(outcome)])


def _list(call: Call, args: Arguments) -> str:
    sessions = list_sessions(call.memory, limit=args.limit)
    head, lines = [f"{counted(len(sessions), 'session')}:"], map(session_text.session_line, sessions)
    return within(MODEL.budget, head, lines, "a smaller limit")


def _show(call: Call, args: Arguments) -> str:
    session = args.id or only_open(call.memory).id
    return session_text.left_of(contents_of(call.memory, session), topics_of(call.memory, session))


def _save_transcript(call: Call, args: Arguments) -> str:
    form = "json" if args.text.lstrip().startswith("{") else "markdown"
    transcript = save_transcript(call.memory, args.text, session=args.id, form=form)
    return f"Saved the transcript of {transcript.session}: {transcript.tokens} tokens, credentials masked."


SESSION: dict[str, Callable[[Call, Arguments], str]] = {
    "start": _start,
    "refresh": lambda call, _: session_text.opening_of(refresh(call.memory)),
    "close": _close,
    "list": _list,
    "show": _show,
    "patterns": lambda call, args: session_text.patterns_of(patterns(call.memory, days=args.days)),
    "save_transcript": _save_transcript,
    "search_transcripts": lambda call, args: session_text.pieces_of(
        search_transcripts(call.memory, args.text, limit=min(args.limit, 50))
    ),
}


def _open(memory: Memory, args: Arguments) -> str:
    issues = (args.issue,) if args.issue else ()
    return session_text.opened_thread(threads.open_thread(memory, args.text, issues=issues, force=args.force))


def _suggestions(memory: Memory, _: Arguments) -> str:
    suggested = suggestions(memory)
    items = [f"{line(record)} ({len(record.extra.get('evidence', ()))} sessions)" for record in suggested]
    head = f"{counted(len(suggested), 'suggestion')}:"
    return listed(MODEL, head, items, "promote or dismiss some", nothing="There are no suggestions.")


def _dismiss(memory: Memory, args: Arguments) -> str:
    record, left = dismiss(memory, args.id)
    again = f"It comes back if its topic does, {left} more times at most." if left > 0 else "It will not come back."
    return f"Dismissed {line(record)}. {again}"


THREAD: dict[str, Action] = {
    "list": lambda memory, _: session_text.threads_of(
        threads.open_threads(memory), nothing="No thread is open. thread(open, text) creates one."
    ),
    "open": _open,
    "touch": lambda memory, args: f"Touched {thread_line(threads.touch(memory, args.id or args.text))}",
    "resolve": lambda memory, args: f"Resolved {thread_line(threads.resolve(memory, args.id or args.text, args.note))}",
    "reopen": lambda memory, args: f"Reopened {thread_line(threads.reopen(memory, args.id))}",
    "resolved": lambda memory, args: session_text.threads_of(
        threads.resolved_threads(memory, limit=args.limit), nothing="No thread was resolved yet."
    ),
    "triage": lambda memory, _: session_text.triage_of(threads.triage(memory)),
    "suggestions": _suggestions,
    "promote": lambda memory, args: f"Opened {line(promote(memory, args.id))}",
    "dismiss": _dismiss,
}


def _timeline(memory: Memory, args: Arguments) -> str:
    half = max(1, args.limit // 2)
    return within(MODEL.budget, [], map(line, timeline(memory, args.id, before=half, after=half)), "a smaller limit")


def _log(memory: Memory, args: Arguments) -> str:
    kinds = (args.text,) if args.text else (*LEARNINGS, "decision")
    items = [line(record) for record in list_records(memory, Query.of(kinds=kinds, limit=args.limit)).records]
    return listed(MODEL, "Latest first:", items, "a smaller limit", nothing="No lesson or decision was saved yet.")


def _analytics(memory: Memory, args: Arguments) -> str:
    spots, compared = blind_spots(memory, days=args.days), wordings(memory, days=args.days)
    return session_text.activity_of(activity(memory, days=args.days), spots, compared, args.days)


def _contradictions(memory: Memory, args: Arguments) -> str:
    if args.id:
        return review_text.likely_conflicts_of(find(memory, args.id).record, conflicts(memory, args.id))
    return review_text.disputes_of(open_contradictions(memory, limit=args.limit))


def _scopes(memory: Memory, _: Arguments) -> str:
    items = [f"{count:4} {scope}" for scope, count in list_scopes(memory).items()]
    return within(MODEL.budget, [f"{len(items)} scopes:"], items, "recall(scopes=…)")


def _health(memory: Memory, args: Arguments) -> str:
    report = reports.health_of(health(memory, days=args.days))
    return "\n".join([session_text.health_of(status(memory), unanswered(memory)), report])


EXPLORE: dict[str, Action] = {
    "timeline": _timeline,
    "graph": lambda memory, args: session_text.graph_of(connected(memory, args.id)),
    "log": _log,
    "analytics": _analytics,
    "reflections": lambda memory, args: session_text.replies_of(reflections(memory, days=args.days)),
    "scars": lambda memory, args: session_text.effects_of(effects(memory, days=args.days)),
    "candidates": lambda memory, _: session_text.candidates_of(candidates(memory)),
    "contradictions": _contradictions,
    "duplicates": lambda memory, args: review_text.proposals_of(proposals(memory, limit=args.limit)),
    "mined": lambda memory, args: review_text.mined_of(mined(memory, limit=args.limit)),
    "scopes": _scopes,
    "hot": lambda memory, _: reports.hot_of(hot_set(memory)),
    "next": lambda memory, args: reports.predictions_of(predict(memory, args.id)),
    "quality": lambda memory, args: reports.quality_of(quality(memory, days=args.days), args.days),
    "health": _health,
}
