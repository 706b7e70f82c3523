"""Format sessions, threads, briefs and their statistics as text for models."""

from collections.abc import Sequence
from typing import Any

from holdfast.engine.raw.transcripts import Piece
from holdfast.engine.views.links import Arrow
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, check_kind
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import counted, filled, plotted, shorten
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.policy.sessions.left_off import plain
from holdfast.surfaces.core.text import line, listed, refusal_of, waiting_for, within
from holdfast.surfaces.phrases import tallies
from holdfast.surfaces.reader import MODEL, Reader
from holdfast.verbs.search.graph import Neighbourhood
from holdfast.verbs.sessions.absorb import Absorbed, Candidate
from holdfast.verbs.sessions.analyze import Activity, BlindSpots, Reply, Wording
from holdfast.verbs.sessions.close import Closed, NotClosed
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.sessions.session import Opening, SessionContents
from holdfast.verbs.sessions.thread import Known, Opened, Thread
from holdfast.verbs.sessions.topics import Patterns, Topics
from holdfast.verbs.upkeep.doctor import Status

LEFT_OFF = 300
THREADS_AT_START = 5


def opening_of(opened: Opening, reader: Reader = MODEL, *, payload_file: str = "") -> str:
    """Format what a session should know when it starts, as one page."""
    session = opened.session
    word = "resumed" if opened.resumed else "started"
    head = (
        f"Holdfast session {reader.session(session.id)} {word} · {session.agent or 'unknown agent'} · {session.project}"
    )
    tail = f"Recall before work that earlier sessions may have done; close with {reader.closing}."
    file = f" Payload file, if you prefer: {payload_file}" if payload_file else ""
    return "\n".join([head, *_standing(opened, reader), tail + file])


def context_of(opened: Opening) -> str:
    """Format the state of a project."""
    return "\n".join([f"Project {opened.session.project}", *_standing(opened, MODEL)])


def _standing(opened: Opening, reader: Reader) -> list[str]:
    session, insight, spot = opened.session, opened.insight, ""
    if insight and insight.blind_spot:
        spot = f"; blind spot: {shorten(insight.blind_spot.title, 60)}"
    return filled(
        (session.issue or session.title) and f"Working on: {' '.join(filled(session.issue, session.title))}",
        *_last(opened, reader),
        opened.state and f"Project state: {shorten(opened.state.body, 300)}",
        opened.rapport and f"Working together: {shorten(opened.rapport, 200)}",
        *_open_threads(opened.threads, reader),
        opened.decisions and f"Decisions of the last days ({len(opened.decisions)}):",
        *(
            f"  {short(decision.id)} {reader.day(decision.created_at)} {shorten(decision.title, 100)}"
            for decision in opened.decisions
        ),
        opened.suggestions and f"Topics that keep coming back; {reader.promote}:",
        *(
            f"  {short(topic.id)} {shorten(topic.title, 80)} ({counted(len(topic.extra.get('evidence', ())), 'session')})"
            for topic in opened.suggestions[:3]
        ),
        *(
            f"Never closed: {reader.session(left.id)} of {reader.minute(left.started_at)}; {reader.unclosed}"
            for left in opened.left_open[:2]
        ),
        insight
        and f"Last 30 days: {insight.sessions} sessions, {insight.shown} scars shown, {insight.heeded:.0%} applied{spot}.",
    )


def _last(opened: Opening, reader: Reader) -> list[str]:
    work = opened.left_off
    left = plain(work, LEFT_OFF).splitlines() if work and work.observed else []
    if opened.last is None or (work and left and work.session == opened.last.id):
        nothing = "No earlier session was closed here." if opened.resumed else "This is the first session here."
        return left or [nothing]
    title = str(opened.last.close.get("title") or opened.last.title or "untitled")
    lines = [
        f"Last session ({reader.day(opened.last.closed_at)}, {opened.last.agent or 'unknown'}): {shorten(title, 100)}"
    ]
    summary = opened.summary.fields if opened.summary else {}
    lines += [
        f"  {name.replace('_', ' ')}: {shorten(str(summary[name]), 160)}"
        for name in ("completed", "learned", "next_steps")
        if summary.get(name)
    ]
    return lines + left


def _open_threads(threads: Sequence[Thread], reader: Reader) -> list[str]:
    if not threads:
        return []
    dormant = sum(thread.stage == "dormant" for thread in threads)
    left = len(threads) - THREADS_AT_START
    shown = f", showing {THREADS_AT_START}" if left > 0 else ""
    head = f"Threads ({len(threads)} open{shown}{f', {dormant} dormant' if dormant else ''}):"
    return [head, *(f"  {thread_line(thread, reader)}" for thread in threads[:THREADS_AT_START])]


def thread_line(thread: Thread, reader: Reader = MODEL) -> str:
    """Format a thread as one line."""
    is_rated = reader.figures and thread.stage != "resolved"
    stage = f"{thread.stage} {thread.vitality:.2f}" if is_rated else thread.stage
    note = f" → {shorten(thread.record.reason, 80)}" if thread.record.reason not in ("", "resolved") else ""
    return f"{short(thread.record.id)} [{stage}, touched {reader.day(thread.touched_at)}] {shorten(thread.record.title, 100)}{note}"


def threads_of(threads: Sequence[Thread], *, nothing: str) -> str:
    """Format threads, one per line."""
    head, lines = f"{counted(len(threads), 'thread')}:", [thread_line(thread) for thread in threads]
    return listed(MODEL, head, lines, "resolve or triage some", nothing=nothing)


def triage_of(stages: dict[str, list[Thread]], reader: Reader = MODEL) -> str:
    """Format open threads by stage."""
    if not any(stages.values()):
        return "No open threads."
    heads = [f"{name}: {len(threads)}" for name, threads in stages.items()]
    items = [thread_line(thread, reader) for threads in stages.values() for thread in threads]
    head = [" · ".join(heads), "Resolve what is done, touch what continues; archived threads are not listed."]
    return within(reader.budget, head, items, "thread(list)")


def opened_thread(outcome: Any, reader: Reader = MODEL) -> str:
    """Format the outcome of opening a thread."""
    match outcome:
        case Opened(thread=thread):
            return f"Opened {thread_line(thread, reader)}"
        case Known(thread=thread):
            return f"Already open, touched: {thread_line(thread, reader)}. {reader.another}"
    return refusal_of(outcome)


def closing_of(outcome: Closed | NotClosed, reader: Reader = MODEL) -> str:
    """Format how a session closed, or what has to be done first."""
    id_ = reader.session(outcome.session.id)
    if isinstance(outcome, NotClosed):
        head = f"Session {id_} is NOT closed, and nothing was written:"
        return "\n".join(filled(head, *(f"- {problem}" for problem in outcome.problems), reader.to_close))
    saved = ", ".join(f"{record.kind} {short(record.id)}" for record in outcome.kept)
    threads = "; ".join(f"{short(record.id)} {shorten(record.title, 60)}" for record in outcome.threads)
    answers = [
        f"{'+' if verdict == 'applied' else '!'} {short(scar)} {verdict}" for scar, verdict in outcome.answered.items()
    ]
    topic = outcome.suggestion
    kept = ", ".join(f"{name} {value}" for name, value in outcome.compliance.items() if name != "close_type")
    lines = filled(
        f"Session {id_} closed ({outcome.compliance['close_type']}): {outcome.title or 'untitled'}",
        saved and f"Saved: {saved}",
        threads and f"Threads: {threads}",
        answers and f"Scars answered at close: {'; '.join(answers)}",
        topic and f"Suggested thread: {short(topic.id)} {topic.title}; {reader.promote}",
        reader.figures and f"Compliance: {kept}",
    )
    return within(reader.budget, lines, [f"Note: {remark}" for remark in outcome.remarks], "session(show)")


def session_line(session: Session, reader: Reader = MODEL) -> str:
    """Format a session as one line."""
    state = "open" if session.is_open else str(session.close.get("type", "closed"))
    title = str(session.close.get("title") or session.title or session.issue or "untitled")
    return f"{reader.session(session.id)} {reader.minute(session.started_at)} [{state}, {session.agent or 'unknown'}] {shorten(title, 80)}"


def left_of(left: SessionContents, topics: Topics, reader: Reader = MODEL) -> str:
    """Format a session with what it left."""
    about = ", ".join((*topics.labels, *topics.words))
    head = filled(
        session_line(left.session, reader),
        f"{counted(left.recalls, 'recall')}, {counted(len(left.records), 'memory')}, last active {reader.minute(left.last_at)}",
        about and f"About: {about}",
    )
    return within(reader.budget, head, (line(record, reader) for record in left.records), "recall with its words")


def patterns_of(patterns: Patterns, reader: Reader = MODEL) -> str:
    """Format what recurs across sessions."""
    if not patterns.memories and not patterns.topics:
        return "Nothing recurred in several sessions."
    items = [f"{counted(memory.sessions, 'session')}: {line(memory.record, reader)}" for memory in patterns.memories]
    words = ", ".join(f"{word} ({count})" for word, count in patterns.topics)
    return within(reader.budget, filled(words and f"Recurring words: {words}"), items, "explore(analytics)")


def pieces_of(pieces: Sequence[Piece], reader: Reader = MODEL) -> str:
    """Format passages of transcripts."""
    lines = list[str]()
    for piece in pieces:
        score = f" (score {piece.score:.1f})" if reader.figures else ""
        lines.append(f"{short(piece.session)} part {piece.place}{score}: {shorten(piece.body, 300)}")
    head = f"{counted(len(pieces), 'passage')}:"
    return listed(reader, head, lines, "ask more narrowly", nothing="No transcript matches.")


def absorbed_of(absorbed: Absorbed, reader: Reader = MODEL) -> str:
    """Format what was saved from sub-agents, and what should become a lesson."""
    known = f", {len(absorbed.known)} were known" if absorbed.known else ""
    head = f"Saved {counted(len(absorbed.kept), 'observation')}{known}"
    lines = [f"{head}: {', '.join(short(record.id) for record in absorbed.kept)}".rstrip(": ")]
    lines += [f"NOT saved: {problem}" for problem in absorbed.problems]
    title, *lessons = _lessons(absorbed.candidates, reader)
    return within(reader.budget, filled(*lines, lessons and title), lessons, "explore(candidates)")


def candidates_of(candidates: Sequence[Candidate], reader: Reader = MODEL) -> str:
    """Format the observations that sound like lessons, and how to make them one."""
    head, *lessons = _lessons(candidates, reader)
    nothing = "No observation looks like a lesson."
    return listed(reader, head, lessons, "remember or forget some first", nothing=nothing)


def _lessons(candidates: Sequence[Candidate], reader: Reader) -> list[str]:
    lines = [f"{short(one.record.id)} {shorten(one.record.title, 120)} ({one.cue})" for one in candidates]
    return [f"{len(candidates)} may be lessons: {reader.lesson}", *lines]


def graph_of(graph: Neighbourhood) -> str:
    """Format what a record is linked to."""
    titles = {record.id: record.title for record in (graph.center, *graph.records)}

    def arrow_line(arrow: Arrow) -> str:
        ends = [f"{short(end)} {shorten(titles.get(end, ''), 60)}" for end in (arrow.source, arrow.target)]
        return f"{ends[0]} —{arrow.relation}→ {ends[1]}"

    if not graph.arrows:
        return f"{line(graph.center)}\nNo links. revise(id, links=[relation:id]) adds one."
    return within(MODEL.budget, [line(graph.center)], map(arrow_line, graph.arrows), "a smaller depth")


def activity_of(
    activity: Activity, spots: BlindSpots, wordings: Sequence[Wording], days: float, reader: Reader = MODEL
) -> str:
    """Format the statistics of sessions."""
    sessions = f"{counted(activity.sessions, 'session')} ({activity.open} open)"
    lines = filled(
        f"Last {days:.0f} days: {sessions}, {counted(activity.recalls, 'recall')}, {counted(activity.reflections, 'reflection')}.",
        any(activity.daily) and f"Sessions a day: {plotted(activity.daily)}",
        f"Returned on request: {activity.tokens:,} tokens; injected automatically: {activity.injected:,} tokens.",
        *tallies(activity),
        *(wording_line(wording) for wording in wordings if wording.shown),
    )
    items = [f"ignored: {effect_line(effect)}" for effect in spots.ignored]
    items += [f"applied without success: {effect_line(effect)}" for effect in spots.in_vain]
    return within(reader.budget, lines, items, "explore(scars)")


def effects_of(effects: Sequence[Effect], reader: Reader = MODEL) -> str:
    """Format the effect of each scar."""
    head, lines = "Scars by how often they were shown:", [effect_line(effect) for effect in effects]
    return listed(reader, head, lines, "a shorter time with days", nothing="No scar was shown in a session yet.")


def effect_line(effect: Effect) -> str:
    """Format the effect of a scar as one line."""
    outcomes = ", ".join(f"{name} {count}" for name, count in effect.outcomes.most_common()) or "no outcome yet"
    review = " · needs review" if effect.wants_review else ""
    return f"{short(effect.scar.id)} {shorten(effect.scar.title, 80)}: shown {effect.shown}, {outcomes}, weight {effect.multiplier:.0%}{review}"


def wording_line(wording: Wording) -> str:
    """Format how a wording performs as one line."""
    outcomes = ", ".join(f"{name} {count}" for name, count in wording.outcomes.most_common())
    shown = f"shown {wording.shown}, applied {wording.heeded:.0%}"
    return f"Wording “{wording.variant}”: {shown}{f' ({outcomes})' if outcomes else ''}"


def replies_of(reflections: dict[str, list[Reply]], reader: Reader = MODEL) -> str:
    """Format the reflections that sessions gave when they closed."""
    items = [
        f"{question.replace('_', ' ')} ({reader.day(reply.at)}, {reply.agent}): {shorten(reply.text, 200)}"
        for question, replies in reflections.items()
        for reply in replies
    ]
    head, nothing = "Reflections, latest first:", "No session closed with a reflection yet."
    return listed(reader, head, items, "a shorter time with days", nothing=nothing)


def health_of(status: Status, waiting: Sequence[Record]) -> str:
    """Format the state of the store."""
    return "\n".join(
        filled(
            f"{status.here} memories in {status.project}, {status.everywhere} in {status.projects} projects; {status.pending} pending, {status.retired} retired.",
            f"{status.events} events, {status.bytes / 1e6:.1f} MB at {status.place}; embedder {status.embedder}, {status.lagging} not embedded yet.",
            status.note,
            *waiting_for(waiting),
        )
    )


def kind_of(name: str) -> str:
    """Format what a kind is and which fields it has."""
    kind = check_kind(name)
    fields = [
        f"  {spec.name}{' (required)' if spec.required else ''}: {spec.help}{' One of ' + ', '.join(spec.choices) + '.' if spec.choices else ''}"
        for spec in kind.fields
    ]
    return "\n".join([f"{kind.name}: {kind.help}", *(["Fields:", *fields] if fields else ["No fields of its own."])])


def help_of(tools: Sequence[tuple[str, str]], topic: str) -> str:
    """Format how to use the memory, or one topic of it."""
    if topic in KINDS:
        return kind_of(topic)
    named = dict(tools)
    if topic in named:
        return f"{topic}: {named[topic]}"
    if topic in _TOPICS:
        return _TOPICS[topic]
    lines = [f"{name}: {text.split('.')[0]}." for name, text in tools]
    return "\n".join([*lines, f"Topics: {', '.join(_TOPICS)}; every tool; kinds: {', '.join(KINDS)}."])


_TOPICS = {
    "confirm": """Recall shows scars: mistakes others made. Before consequential work answer each with judge:
APPLYING: you follow it; evidence states what was done or checked (past tense, 50 characters or more).
N_A: it does not apply; evidence states why. REFUTED: you overrule it; evidence names the accepted risk.
Later report the result: verdict succeeded or failed.""",
    "closing": "\n".join(
        ["session(close, close_type=standard, payload={closing_reflection: {…}, human_corrections: …}). The questions:"]
        + [f"  {question.key}{'' if question.required else ' (optional)'}: {question.text}" for question in QUESTIONS]
        + [
            "Also: summary {request, investigated, learned, completed, next_steps, notes}, decisions [{title, decision, rationale}], open_threads [text or id],"
        ]
        + [
            "resolved_threads, learnings [{kind, text, …}], project_state. Ask the human for corrections before. quick: under 30 minutes; autonomous: no human present."
        ]
    ),
    "writing": """One memory, one thing, complete in itself. Title: what is now known, not who erred.
scar: severity + two counter_arguments (why it could be reasonable to ignore it); decision: rationale, alternatives.
Write what will still be true next month. Link what it replaces: links=[supersedes:id].""",
}
