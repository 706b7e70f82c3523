"""What a model reads of sessions, threads, briefs and what they add up to."""

from collections.abc import Sequence
from typing import Any

from holdfast.engine.raw.transcripts import Piece
from holdfast.engine.views.links import Arrow
from holdfast.model.kinds import KINDS, check_kind
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import counted, plotted, shorten
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.policy.sessions.plan_brief import Brief
from holdfast.surfaces.core.text import SHORT, line, refusal_of, waiting_for, within
from holdfast.verbs.search.graph import Neighbourhood
from holdfast.verbs.sessions.absorb import Absorbed, Candidate
from holdfast.verbs.sessions.analyze import Activity, BlindSpots, Reply, Wording
from holdfast.verbs.sessions.close import Closed, NotClosed
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.sessions.session import Left, Opening
from holdfast.verbs.sessions.thread import Known, Opened, Thread
from holdfast.verbs.sessions.topics import Patterns, Topics
from holdfast.verbs.upkeep.doctor import Status

BUDGET = 1_500
THREADS_AT_START = 5


def opening_of(opened: Opening, *, payload_file: str = "", closing: str = "session(close, payload)") -> str:
    """Write what a session should know when it begins, in one readable page."""
    session = opened.session
    word = "resumed" if opened.resumed else "started"
    head = f"Holdfast session {session.id} {word} · {session.agent or 'unknown agent'} · {session.project}"
    tail = f"Recall before you act on what others may have met; close with {closing}."
    file = f" Payload file, if you prefer: {payload_file}" if payload_file else ""
    return "\n".join([head, *_standing(opened), tail + file])


def context_of(opened: Opening) -> str:
    """Write where a project stands."""
    return "\n".join([f"Project {opened.session.project}", *_standing(opened)])


def _standing(opened: Opening) -> list[str]:
    session, lines = opened.session, list[str]()
    lines += (
        [f"Working on: {' '.join(part for part in (session.issue, session.title) if part)}"]
        if session.issue or session.title
        else []
    )
    lines += _last(opened)
    lines += [f"Project state: {shorten(opened.state.body, 300)}"] if opened.state else []
    lines += [f"Working together: {shorten(opened.rapport, 200)}"] if opened.rapport else []
    lines += _open_threads(opened.threads)
    lines += [f"Decisions of the last days ({len(opened.decisions)}):"] if opened.decisions else []
    lines += [f"  {one.id[:SHORT]} {one.created_at[:10]} {shorten(one.title, 100)}" for one in opened.decisions]
    lines += ["Topics that keep coming back; thread(promote) or thread(dismiss):"] if opened.suggestions else []
    lines += [
        f"  {one.id[:SHORT]} {shorten(one.title, 80)} ({counted(len(one.extra.get('evidence', ())), 'session')})"
        for one in opened.suggestions[:3]
    ]
    lines += [
        f"Never closed: {one.id} of {one.started_at[:16]}; session(start, id) takes it up, session(close, id) ends it."
        for one in opened.left_open[:2]
    ]
    if opened.insight:
        spot = f"; blind spot: {shorten(opened.insight.blind_spot.title, 60)}" if opened.insight.blind_spot else ""
        lines.append(
            f"Last 30 days: {opened.insight.sessions} sessions, {opened.insight.shown} scars shown, {opened.insight.heeded:.0%} applied{spot}."
        )
    return lines


def _last(opened: Opening) -> list[str]:
    if opened.last is None:
        return ["This is the first session here." if not opened.resumed else "No earlier session was closed here."]
    title = str(opened.last.close.get("title") or opened.last.title or "untitled")
    lines = [f"Last session ({opened.last.closed_at[:10]}, {opened.last.agent or 'unknown'}): {shorten(title, 100)}"]
    told = opened.summary.fields if opened.summary else {}
    return lines + [
        f"  {name.replace('_', ' ')}: {shorten(str(told[name]), 160)}"
        for name in ("completed", "learned", "next_steps")
        if told.get(name)
    ]


def _open_threads(threads: Sequence[Thread]) -> list[str]:
    if not threads:
        return []
    dormant = sum(one.stage == "dormant" for one in threads)
    left = len(threads) - THREADS_AT_START
    told = f", showing {THREADS_AT_START}" if left > 0 else ""
    head = f"Threads ({len(threads)} open{told}{f', {dormant} dormant' if dormant else ''}):"
    return [head, *(f"  {thread_line(one)}" for one in threads[:THREADS_AT_START])]


def thread_line(thread: Thread) -> str:
    """Write a thread as one line."""
    stage = thread.stage if thread.stage == "resolved" else f"{thread.stage} {thread.vitality:.2f}"
    note = f" → {shorten(thread.record.reason, 80)}" if thread.record.reason else ""
    return f"{thread.record.id[:SHORT]} [{stage}, touched {thread.touched_at[:10]}] {shorten(thread.record.title, 100)}{note}"


def threads_of(threads: Sequence[Thread], *, nothing: str) -> str:
    """Write threads, one a line."""
    if not threads:
        return nothing
    return within(BUDGET, [f"{counted(len(threads), 'thread')}:"], map(thread_line, threads), "resolve or triage some")


def triage_of(stages: dict[str, list[Thread]]) -> str:
    """Write open threads by stage."""
    heads = [f"{name}: {len(found)}" for name, found in stages.items()]
    items = [thread_line(one) for found in stages.values() for one in found]
    return within(
        BUDGET,
        [" · ".join(heads), "Resolve what is done, touch what goes on; archived ones are out of the lists."],
        items,
        "thread(list)",
    )


def opened_thread(outcome: Any) -> str:
    """Write what became of a new thread."""
    match outcome:
        case Opened(thread=thread):
            return f"Opened {thread_line(thread)}"
        case Known(thread=thread):
            return f"Known already, touched: {thread_line(thread)}. force=true opens another one."
    return refusal_of(outcome)


def closing_of(outcome: Closed | NotClosed) -> str:
    """Write how a session ended, or what has to be done first."""
    if isinstance(outcome, NotClosed):
        return "\n".join(
            [
                f"Session {outcome.session.id} is NOT closed, and nothing was written:",
                *(f"- {one}" for one in outcome.problems),
            ]
        )
    kinds = ", ".join(f"{one.kind} {one.id[:SHORT]}" for one in outcome.kept)
    lines = [f"Session {outcome.session.id} closed ({outcome.compliance['close_type']}): {outcome.title or 'untitled'}"]
    lines += [f"Kept: {kinds}"] if kinds else []
    lines += (
        [f"Threads: {'; '.join(f'{one.id[:SHORT]} {shorten(one.title, 60)}' for one in outcome.threads)}"]
        if outcome.threads
        else []
    )
    settled = [
        f"{'+' if verdict == 'applied' else '!'} {scar[:SHORT]} {verdict}" for scar, verdict in outcome.answered.items()
    ]
    lines += [f"Scars settled at close: {'; '.join(settled)}"] if settled else []
    lines += (
        [
            f"Suggested thread: {outcome.suggestion.id[:SHORT]} {outcome.suggestion.title}; thread(promote) or thread(dismiss)"
        ]
        if outcome.suggestion
        else []
    )
    lines += [
        f"Compliance: {', '.join(f'{name} {value}' for name, value in outcome.compliance.items() if name != 'close_type')}"
    ]
    return within(BUDGET, lines, [f"Note: {one}" for one in outcome.remarks], "session(show)")


def session_line(session: Session) -> str:
    """Write a session as one line."""
    state = "open" if session.is_open else str(session.close.get("type", "closed"))
    title = str(session.close.get("title") or session.title or session.issue or "untitled")
    return f"{session.id} {session.started_at[:16]} [{state}, {session.agent or 'unknown'}] {shorten(title, 80)}"


def left_of(left: Left, topics: Topics) -> str:
    """Write a session with what it left."""
    head = [
        session_line(left.session),
        f"{counted(left.recalls, 'recall')}, {counted(len(left.records), 'memory')}, last active {left.last_at[:16]}",
    ]
    head += [f"About: {', '.join((*topics.labels, *topics.words))}"] if topics.words or topics.labels else []
    return within(BUDGET, head, map(line, left.records), "recall with its words")


def patterns_of(found: Patterns) -> str:
    """Write what comes back across sessions."""
    if not found.memories and not found.topics:
        return "Nothing came back in several sessions."
    items = [f"{counted(one.sessions, 'session')}: {line(one.record)}" for one in found.memories]
    topics = (
        [f"Recurring words: {', '.join(f'{word} ({count})' for word, count in found.topics)}"] if found.topics else []
    )
    return within(BUDGET, topics, items, "explore(analytics)")


def pieces_of(found: Sequence[Piece]) -> str:
    """Write passages of transcripts."""
    items = [
        f"{one.session[:SHORT]} part {one.place} (score {one.score:.1f}): {shorten(one.body, 300)}" for one in found
    ]
    return (
        within(BUDGET, [f"{counted(len(found), 'passage')}:"], items, "ask more narrowly")
        if found
        else "No transcript says this."
    )


def brief_of(made: Brief) -> str:
    """Write a brief with nothing around it: it goes into a prompt as it is."""
    return made.text


def absorbed_of(found: Absorbed) -> str:
    """Write what was taken in, and what should become a lesson."""
    head = f"Kept {counted(len(found.kept), 'observation')}" + (
        f", {len(found.known)} were known" if found.known else ""
    )
    lines = [f"{head}: {', '.join(one.id[:SHORT] for one in found.kept)}".rstrip(": ")]
    lines += [f"NOT kept: {problem}" for problem in found.problems]
    return within(
        BUDGET, [*lines, *_lessons(found.candidates)[:1]], _lessons(found.candidates)[1:], "explore(candidates)"
    )


def candidates_of(found: Sequence[Candidate]) -> str:
    """Write the observations that sound like lessons."""
    lines = _lessons(found)
    return (
        within(BUDGET, lines[:1], lines[1:], "keep or forget some first")
        if lines
        else "No observation waits to become a lesson."
    )


def _lessons(found: Sequence[Candidate]) -> list[str]:
    if not found:
        return []
    head = f"{len(found)} may be lessons: remember(kind=scar, links=[elaborates:id]) if so, forget(id) if not."
    return [head, *(f"{one.record.id[:SHORT]} {shorten(one.record.title, 120)} ({one.cue})" for one in found)]


def graph_of(found: Neighbourhood) -> str:
    """Write what a record is connected to."""
    titles = {one.id: one.title for one in (found.center, *found.records)}

    def told(arrow: Arrow) -> str:
        ends = [f"{end[:SHORT]} {shorten(titles.get(end, ''), 60)}" for end in (arrow.source, arrow.target)]
        return f"{ends[0]} —{arrow.relation}→ {ends[1]}"

    if not found.arrows:
        return f"{line(found.center)}\nNo links. revise(id, links=[relation:id]) adds one."
    return within(BUDGET, [line(found.center)], map(told, found.arrows), "a smaller depth")


def activity_of(found: Activity, spots: BlindSpots, wordings: Sequence[Wording], days: float) -> str:
    """Write what sessions add up to."""
    lines = [
        f"Last {days:.0f} days: {counted(found.sessions, 'session')} ({found.open} open), {counted(found.recalls, 'recall')}, {counted(found.reflections, 'reflection')}."
    ]
    lines += [f"Sessions a day: {plotted(found.daily)}"] if any(found.daily) else []
    lines.append(f"Shown on request: {found.tokens} tokens; unasked: {found.injected} tokens.")
    lines += (
        [f"Kept: {', '.join(f'{count} {kind}' for kind, count in found.kinds.most_common())}"] if found.kinds else []
    )
    lines += [f"Agents: {', '.join(f'{name} {count}' for name, count in found.agents.items())}"] if found.agents else []
    lines += (
        [f"Closed: {', '.join(f'{name} {count}' for name, count in found.closes.most_common())}"]
        if found.closes
        else []
    )
    lines += [f"Issues: {', '.join(f'{name} {count}' for name, count in found.issues)}"] if found.issues else []
    lines += [wording_line(one) for one in wordings if one.shown]
    items = [f"ignored: {effect_line(one)}" for one in spots.ignored] + [
        f"applied in vain: {effect_line(one)}" for one in spots.in_vain
    ]
    return within(BUDGET, lines, items, "explore(scars)")


def effects_of(found: Sequence[Effect]) -> str:
    """Write what each scar achieved."""
    if not found:
        return "No scar was shown in a session yet."
    return within(BUDGET, ["Scars by how often they were shown:"], map(effect_line, found), "a shorter time with days")


def effect_line(one: Effect) -> str:
    """Write what a scar achieved as one line."""
    told = ", ".join(f"{name} {count}" for name, count in one.outcomes.most_common()) or "nothing came of it yet"
    review = " · look at it again" if one.wants_review else ""
    return f"{one.scar.id[:SHORT]} {shorten(one.scar.title, 80)}: shown {one.shown}, {told}, weight {one.multiplier:.0%}{review}"


def wording_line(one: Wording) -> str:
    """Write how a wording fares as one line."""
    told = ", ".join(f"{name} {count}" for name, count in one.outcomes.most_common())
    return f"Wording “{one.variant}”: shown {one.shown}, heeded {one.heeded:.0%}" + (f" ({told})" if told else "")


def replies_of(found: dict[str, list[Reply]]) -> str:
    """Write what sessions answered when they closed."""
    items = [
        f"{question.replace('_', ' ')} ({one.at[:10]}, {one.agent}): {shorten(one.text, 200)}"
        for question, replies in found.items()
        for one in replies
    ]
    return (
        within(BUDGET, ["Reflections, latest first:"], items, "a shorter time with days")
        if items
        else "No session closed with a reflection yet."
    )


def health_of(found: Status, waiting: Sequence[Record]) -> str:
    """Write how the store is doing."""
    lines = [
        f"{found.here} memories in {found.project}, {found.everywhere} in {found.projects} projects; {found.pending} wait for a yes, {found.retired} retired.",
        f"{found.events} events, {found.bytes / 1e6:.1f} MB at {found.place}; embedder {found.embedder}, {found.lagging} wait for vectors.",
    ]
    lines += [found.note] if found.note else []
    return "\n".join([*lines, *waiting_for(waiting)])


def kind_of(name: str) -> str:
    """Write what a kind is and which fields it has."""
    kind = check_kind(name)
    fields = [
        f"  {one.name}{' (required)' if one.required else ''}: {one.help}{' One of ' + ', '.join(one.choices) + '.' if one.choices else ''}"
        for one in kind.fields
    ]
    return "\n".join([f"{kind.name}: {kind.help}", *(["Fields:", *fields] if fields else ["No fields of its own."])])


def help_of(tools: Sequence[tuple[str, str]], topic: str) -> str:
    """Write how to work with the memory, or about one topic."""
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
APPLYING: you heed it; evidence says what was done or checked (past tense, 50 characters or more).
N_A: it does not apply; evidence says why. REFUTED: you overrule it; evidence names the risk that accepts.
Later say how it went: verdict succeeded or failed.""",
    "closing": "\n".join(
        ["session(close, close_type=standard, payload={closing_reflection: {…}, human_corrections: …}). The questions:"]
        + [f"  {one.key}{'' if one.required else ' (optional)'}: {one.text}" for one in QUESTIONS]
        + [
            "Also: summary {request, investigated, learned, completed, next_steps, notes}, decisions [{title, decision, rationale}], open_threads [text or id],"
        ]
        + [
            "resolved_threads, learnings [{kind, text, …}], project_state. Ask the human for corrections before. quick: under 30 minutes; autonomous: no human there."
        ]
    ),
    "writing": """One memory, one thing, complete in itself. Title: what is now known, not who erred.
scar: severity + two counter_arguments (why somebody could reasonably ignore it); decision: rationale, alternatives.
Say what will still be true next month. Link what it replaces: links=[supersedes:id].""",
}
