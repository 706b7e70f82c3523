"""What the tools with several actions do, one small function each; a tool looks its action up here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.query import Query
from holdfast.model.text import counted
from holdfast.surfaces.core import care, knowledge, work
from holdfast.surfaces.core.text import line, waiting_for, within
from holdfast.verbs.capture.mining import mined
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import list_records, list_scopes
from holdfast.verbs.search.graph import connected
from holdfast.verbs.search.predict import predict
from holdfast.verbs.search.timeline import timeline
from holdfast.verbs.sessions.absorb import candidates
from holdfast.verbs.sessions.analyze import activity, blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS, close, payload_file
from holdfast.verbs.sessions.scars import effects, unanswered
from holdfast.verbs.sessions.session import left_by, list_sessions, only_open, refresh, start
from holdfast.verbs.sessions.suggest import dismiss, promote, suggestions
from holdfast.verbs.sessions.thread import open_thread, open_threads, reopen, resolve, resolved_threads, touch, triage
from holdfast.verbs.sessions.topics import patterns, topics_of
from holdfast.verbs.sessions.transcript import save_transcript, search_transcripts
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import conflicts, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The arguments of a tool with actions; each action looks at those it needs."""

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


Action = Callable[[Memory, Given], str]


def _start(memory: Memory, given: Given) -> str:
    opened = start(memory, session=given.id, title=given.title, issue=given.issue, force=given.force)
    return work.opening_of(opened, payload_file=str(payload_file(memory, opened.session.id) or ""))


def _refresh(memory: Memory, _: Given) -> str:
    return work.opening_of(refresh(memory))


def _close(memory: Memory, given: Given) -> str:
    banner = waiting_for(unanswered(memory, given.id and left_by(memory, given.id).session.id))
    outcome = close(memory, session=given.id, close_type=given.close_type, payload=given.payload)
    return "\n".join([*banner, work.closing_of(outcome)])


def _sessions(memory: Memory, given: Given) -> str:
    found = list_sessions(memory, limit=given.limit)
    return within(work.BUDGET, [f"{counted(len(found), 'session')}:"], map(work.session_line, found), "a smaller limit")


def _session(memory: Memory, given: Given) -> str:
    meant = given.id or only_open(memory).id
    return work.left_of(left_by(memory, meant), topics_of(memory, meant))


def _patterns(memory: Memory, given: Given) -> str:
    return work.patterns_of(patterns(memory, days=given.days))


def _save_transcript(memory: Memory, given: Given) -> str:
    form = "json" if given.text.lstrip().startswith("{") else "markdown"
    kept = save_transcript(memory, given.text, session=given.id, form=form)
    return f"Kept the transcript of {kept.session}: {kept.tokens} tokens, credentials masked."


def _search_transcripts(memory: Memory, given: Given) -> str:
    return work.pieces_of(search_transcripts(memory, given.text, limit=min(given.limit, 50)))


SESSION: dict[str, Action] = {
    "start": _start,
    "refresh": _refresh,
    "close": _close,
    "list": _sessions,
    "show": _session,
    "patterns": _patterns,
    "save_transcript": _save_transcript,
    "search_transcripts": _search_transcripts,
}


def _threads(memory: Memory, _: Given) -> str:
    return work.threads_of(open_threads(memory), nothing="No thread is open. thread(open, text) keeps one.")


def _resolved(memory: Memory, given: Given) -> str:
    return work.threads_of(resolved_threads(memory, limit=given.limit), nothing="No thread was resolved yet.")


def _open(memory: Memory, given: Given) -> str:
    issues = (given.issue,) if given.issue else ()
    return work.opened_thread(open_thread(memory, given.text, issues=issues, force=given.force))


def _touch(memory: Memory, given: Given) -> str:
    return f"Touched {work.thread_line(touch(memory, given.id or given.text))}"


def _resolve(memory: Memory, given: Given) -> str:
    return f"Resolved {work.thread_line(resolve(memory, given.id or given.text, given.note))}"


def _reopen(memory: Memory, given: Given) -> str:
    return f"Reopened {work.thread_line(reopen(memory, given.id))}"


def _triage(memory: Memory, _: Given) -> str:
    return work.triage_of(triage(memory))


def _suggestions(memory: Memory, _: Given) -> str:
    found = suggestions(memory)
    items = [f"{line(one)} ({len(one.extra.get('evidence', ()))} sessions)" for one in found]
    return (
        within(work.BUDGET, [f"{counted(len(found), 'suggestion')}:"], items, "promote or dismiss some")
        if found
        else "Nothing is suggested."
    )


def _promote(memory: Memory, given: Given) -> str:
    return f"Opened {line(promote(memory, given.id))}"


def _dismiss(memory: Memory, given: Given) -> str:
    record, left = dismiss(memory, given.id)
    again = f"It comes back if its topic does, {left} more times at most." if left > 0 else "It will not come back."
    return f"Dismissed {line(record)}. {again}"


THREAD: dict[str, Action] = {
    "list": _threads,
    "open": _open,
    "touch": _touch,
    "resolve": _resolve,
    "reopen": _reopen,
    "resolved": _resolved,
    "triage": _triage,
    "suggestions": _suggestions,
    "promote": _promote,
    "dismiss": _dismiss,
}


def _timeline(memory: Memory, given: Given) -> str:
    half = max(1, given.limit // 2)
    found = timeline(memory, given.id, before=half, after=half)
    return within(work.BUDGET, [], map(line, found), "a smaller limit")


def _log(memory: Memory, given: Given) -> str:
    kinds = (given.text,) if given.text else (*LEARNINGS, "decision")
    page = list_records(memory, Query(text="", kinds=kinds, limit=given.limit))
    own = [record for record in page.records if record.source != "starter"]
    return (
        within(work.BUDGET, ["Latest first:"], map(line, own), "a smaller limit") if own else "Nothing was learned yet."
    )


def _graph(memory: Memory, given: Given) -> str:
    return work.graph_of(connected(memory, given.id))


def _analytics(memory: Memory, given: Given) -> str:
    spots = blind_spots(memory, days=given.days)
    return work.activity_of(activity(memory, days=given.days), spots, wordings(memory, days=given.days), given.days)


def _reflections(memory: Memory, given: Given) -> str:
    return work.replies_of(reflections(memory, days=given.days))


def _scars(memory: Memory, given: Given) -> str:
    return work.effects_of(effects(memory, days=given.days))


def _candidates(memory: Memory, _: Given) -> str:
    return work.candidates_of(candidates(memory))


def _contradictions(memory: Memory, given: Given) -> str:
    if given.id:
        return knowledge.clashes_of(find(memory, given.id).record, conflicts(memory, given.id))
    return knowledge.disputes_of(open_contradictions(memory, limit=given.limit))


def _duplicates(memory: Memory, given: Given) -> str:
    return knowledge.proposals_of(proposals(memory, limit=given.limit))


def _mined(memory: Memory, given: Given) -> str:
    return knowledge.mined_of(mined(memory, limit=given.limit))


def _scopes(memory: Memory, _: Given) -> str:
    items = [f"{count:4} {scope}" for scope, count in list_scopes(memory).items()]
    return within(work.BUDGET, [f"{len(items)} scopes:"], items, "recall(scopes=…)")


def _health(memory: Memory, given: Given) -> str:
    told = care.health_of(health(memory, days=given.days))
    return "\n".join([work.health_of(status(memory), unanswered(memory)), told])


def _hot(memory: Memory, _: Given) -> str:
    return care.hot_of(hot_set(memory))


def _next(memory: Memory, given: Given) -> str:
    return care.predictions_of(predict(memory, given.id))


def _quality(memory: Memory, given: Given) -> str:
    return care.quality_of(quality(memory, days=given.days), given.days)


EXPLORE: dict[str, Action] = {
    "timeline": _timeline,
    "graph": _graph,
    "log": _log,
    "analytics": _analytics,
    "reflections": _reflections,
    "scars": _scars,
    "candidates": _candidates,
    "contradictions": _contradictions,
    "duplicates": _duplicates,
    "mined": _mined,
    "scopes": _scopes,
    "hot": _hot,
    "next": _next,
    "quality": _quality,
    "health": _health,
}
