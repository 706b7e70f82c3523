"""The actions of the tools `session`, `thread` and `explore`, by name: the verb of each and the page it answers with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.query import Query
from holdfast.surfaces.core.text import clusters, page, refusal_of
from holdfast.surfaces.phrases import line
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture.mining import mined
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import list_records, list_scopes
from holdfast.verbs.search.graph import connected
from holdfast.verbs.search.observations import timeline
from holdfast.verbs.search.predict import predict
from holdfast.verbs.sessions import thread as threads
from holdfast.verbs.sessions.analyze import activity, blind_spots, patterns, reflections, topics_of, wordings
from holdfast.verbs.sessions.close import LEARNINGS, close, payload_file
from holdfast.verbs.sessions.scars import candidates, effects, unanswered
from holdfast.verbs.sessions.session import contents_of, list_sessions, only_open, refresh, start
from holdfast.verbs.sessions.thread import dismiss, promote, suggestions
from holdfast.verbs.sessions.transcript import save_transcript, search_transcripts
from holdfast.verbs.truth.compare import compare_now
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import conflicts, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health, quality


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
    return page("opening", opened=opened, payload_file=payload_file(memory, opened.session.id))


def _close(call: Call, args: Arguments) -> str:
    scars = unanswered(call.memory, args.id and contents_of(call.memory, args.id).session.id)
    outcome = close(call.memory, session=args.id, close_type=args.close_type, payload=args.payload)
    return page("closing", outcome=outcome, scars=scars)


def _show(call: Call, args: Arguments) -> str:
    session = args.id or only_open(call.memory).id
    return page("session", left=contents_of(call.memory, session), topics=topics_of(call.memory, session))


def _save_transcript(call: Call, args: Arguments) -> str:
    form = "json" if args.text.lstrip().startswith("{") else "markdown"
    transcript = save_transcript(call.memory, args.text, session=args.id, form=form)
    return f"Saved the transcript of {transcript.session}: {transcript.tokens} tokens, credentials masked."


SESSION: dict[str, Callable[[Call, Arguments], str]] = {
    "start": _start,
    "refresh": lambda call, _: page("opening", opened=refresh(call.memory)),
    "close": _close,
    "list": lambda call, args: page("sessions", sessions=list_sessions(call.memory, limit=args.limit)),
    "show": _show,
    "patterns": lambda call, args: page("patterns", patterns=patterns(call.memory, days=args.days)),
    "save_transcript": _save_transcript,
    "search_transcripts": lambda call, args: page(
        "passages", pieces=search_transcripts(call.memory, args.text, limit=min(args.limit, 50))
    ),
}


def _open(memory: Memory, args: Arguments) -> str:
    outcome = threads.open_thread(memory, args.text, issues=(args.issue,) if args.issue else (), force=args.force)
    if not isinstance(outcome, threads.Opened | threads.Known):
        return refusal_of(outcome)
    return page("thread_done", word="Opened", thread=outcome.thread, known=isinstance(outcome, threads.Known))


def _dismiss(memory: Memory, args: Arguments) -> str:
    record, left = dismiss(memory, args.id)
    again = f"It comes back if its topic does, {left} more times at most." if left > 0 else "It will not come back."
    return f"Dismissed {line(record)}. {again}"


def _done(word: str, act: Callable[[Memory, Arguments], threads.Thread]) -> Action:
    """Return the action that does something with one thread."""
    return lambda memory, args: page("thread_done", word=word, thread=act(memory, args))


THREAD: dict[str, Action] = {
    "list": lambda memory, _: page(
        "threads", threads=threads.open_threads(memory), nothing="No thread is open. thread(open, text) creates one."
    ),
    "open": _open,
    "touch": _done("Touched", lambda memory, args: threads.touch(memory, args.id or args.text)),
    "resolve": _done("Resolved", lambda memory, args: threads.resolve(memory, args.id or args.text, args.note)),
    "reopen": _done("Reopened", lambda memory, args: threads.reopen(memory, args.id)),
    "resolved": lambda memory, args: page(
        "threads", threads=threads.resolved_threads(memory, limit=args.limit), nothing="No thread was resolved yet."
    ),
    "triage": lambda memory, _: page("triage", stages=threads.triage(memory)),
    "suggestions": lambda memory, _: page("suggestions", records=suggestions(memory)),
    "promote": lambda memory, args: f"Opened {line(promote(memory, args.id))}",
    "dismiss": _dismiss,
}


def _timeline(memory: Memory, args: Arguments) -> str:
    half = max(1, args.limit // 2)
    return page("records", records=timeline(memory, args.id, before=half, after=half))


def _log(memory: Memory, args: Arguments) -> str:
    kinds = (args.text,) if args.text else (*LEARNINGS, "decision")
    records = list_records(memory, Query.of(kinds=kinds, limit=args.limit)).records
    return page("records", records=records, head="Latest first:", nothing="No lesson or decision was saved yet.")


def analytics(memory: Memory, *, days: int, agent: str = "") -> dict[str, Any]:
    """Return what the page `activity` shows: what sessions did, and which scars and wordings fail."""
    done = activity(memory, days=days, agent=agent)
    return {"activity": done, "spots": blind_spots(memory, days=days), "compared": wordings(memory, days=days)}


def _contradictions(memory: Memory, args: Arguments) -> str:
    if args.id:
        return page("conflicts", record=find(memory, args.id).record, clashes=conflicts(memory, args.id))
    compare_now(memory)
    return page("disputes", disputes=open_contradictions(memory, limit=args.limit))


def _duplicates(memory: Memory, args: Arguments) -> str:
    compare_now(memory)
    return page("proposals", proposals=proposals(memory, limit=args.limit))


def _health(memory: Memory, args: Arguments) -> str:
    state = page("state", status=status(memory), scars=unanswered(memory))
    return f"{state}\n{page('health', health=health(memory, days=args.days))}"


def hot(memory: Memory) -> dict[str, Any]:
    """Return what the page `hot` shows."""
    members = hot_set(memory)
    return {"groups": clusters(members), "size": len(members)}


EXPLORE: dict[str, Action] = {
    "timeline": _timeline,
    "graph": lambda memory, args: page("links", graph=connected(memory, args.id)),
    "log": _log,
    "analytics": lambda memory, args: page("activity", days=args.days, **analytics(memory, days=args.days)),
    "reflections": lambda memory, args: page("replies", reflections=reflections(memory, days=args.days)),
    "scars": lambda memory, args: page("effects", effects=effects(memory, days=args.days)),
    "candidates": lambda memory, _: page("candidates", candidates=candidates(memory)),
    "contradictions": _contradictions,
    "duplicates": _duplicates,
    "mined": lambda memory, args: page("mined", candidates=mined(memory, limit=args.limit)),
    "scopes": lambda memory, _: page("scopes", scopes=list_scopes(memory)),
    "hot": lambda memory, _: page("hot", **hot(memory)),
    "next": lambda memory, args: page("predictions", predictions=predict(memory, args.id)),
    "quality": lambda memory, args: page("quality", quality=quality(memory, days=args.days), days=args.days),
    "health": _health,
}
