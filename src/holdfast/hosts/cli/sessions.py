"""Commands for sessions, their transcripts and briefs, and threads."""

from pathlib import Path
from typing import Annotated, Any, Literal

import click

from holdfast.hosts.cli.command import Result, command
from holdfast.hosts.cli.memories import refusal_of
from holdfast.hosts.cli.render import page, wrapped
from holdfast.hosts.cli.values import Days, Everywhere, Id, Limit, json_in, stdin_text, text_in
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.ids import short
from holdfast.model.request import Asked
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.brief import brief
from holdfast.verbs.sessions import thread as threads
from holdfast.verbs.sessions import transcript as transcripts
from holdfast.verbs.sessions.analyze import Patterns, patterns, topics_of
from holdfast.verbs.sessions.close import LONGEST_PAYLOAD, NotClosed, close, payload_file
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import Opening, contents_of, find_session, list_sessions, only_open, refresh, start
from holdfast.verbs.sessions.thread import Thread

ThisSession = Annotated[str | None, Asked("The session; default: the active one.")]
Reference = Annotated[str, Asked("")]


@click.group("session")
def session_command() -> None:
    """Start, list and close sessions: bounded pieces of work.

    \b
    holdfast session start --title "Rate limits" --issue SHOP-12
    holdfast session close --quick
    """


@command(under=session_command)
def start_command(
    memory: Memory,
    *,
    title: Annotated[str, Asked("What it is about.")] = "",
    issue: Annotated[str, Asked("The issue it works on.")] = "",
    session: Annotated[str, Asked("Resume this session.")] = "",
    force: Annotated[bool, Asked("Start a new one although one is active.")] = False,
) -> Result:
    """Start a session, or resume the one a restart interrupted; shows what the last one left."""
    started, opening = start(memory, session=session, title=title, issue=issue, force=force)
    file = payload_file(started, opening.session.id)
    return opening, page("started", opening, payload_file=file)


@command(under=session_command, in_session=True, page="opening")
def refresh_command(memory: Memory, *, session: ThisSession = None) -> Opening:
    """Show the opening of the session again."""
    del session  # the memory acts in it
    return refresh(memory if memory.actor.session else memory.acting_in(only_open(memory).id))


@command(under=session_command, in_session=True)
def close_command(
    memory: Memory,
    *,
    session: ThisSession = None,
    quick: Annotated[bool, Asked("Without reflection: for less than half an hour.")] = False,
    autonomous: Annotated[bool, Asked("No human took part.")] = False,
    retroactive: Annotated[bool, Asked("For work that had no session.")] = False,
    payload: Annotated[Path | None, Asked("JSON file with the closing payload; - reads stdin.")] = None,
    answers: Annotated[tuple[str, ...], Asked("what_broke=…, what_worked=….", metavar="QUESTION=TEXT")] = (),
) -> Result:
    """Close a session with what it learned, decided and left open (default: a standard close)."""
    content = json_in(payload, LONGEST_PAYLOAD) if payload else {}
    if not isinstance(content, dict):
        raise Invalid(f"{payload} must contain a JSON object.")
    if wrong := [pair for pair in answers if "=" not in pair]:
        hint = "`holdfast session close --help` names the questions."
        raise Invalid(f"{wrong[0]!r} is not QUESTION=TEXT.", hint=hint)
    content |= {name: text for name, _, text in (pair.partition("=") for pair in answers)}
    types = {"quick": quick, "autonomous": autonomous, "retroactive": retroactive}
    how = next((name for name, chosen in types.items() if chosen), "standard")
    session_id = find_session(memory, session).id if session else ""
    scars = unanswered(memory, session_id)
    outcome = close(memory, session=session_id, close_type=how, payload=content)
    return outcome, page("closing", outcome, scars), Conflict.exit_code if isinstance(outcome, NotClosed) else 0


@command("list", under=session_command)
def list_sessions_command(memory: Memory, *, limit: Limit = 20, everywhere: Everywhere = False) -> Result:
    """List sessions, latest first."""
    sessions = list_sessions(memory, limit=limit, everywhere=everywhere)
    nothing = "No sessions yet: agents start them, or `holdfast session start`."
    return sessions, page("sessions", sessions, head=False) if sessions else nothing


@command("show", under=session_command)
def show_session_command(memory: Memory, id: str | None = None) -> Result:  # noqa: A002
    """Show a session with its memories and topics."""
    session = id or only_open(memory).id
    left, topics = contents_of(memory, session), topics_of(memory, session)
    return {"left": left, "topics": topics}, page("session", left, topics)


@command(under=session_command, page="patterns")
def patterns_command(
    memory: Memory, *, days: Days = 30, least: Annotated[int, Asked("Minimum number of sessions.")] = 2
) -> Patterns:
    """Show memories and topics that recur across sessions."""
    return patterns(memory, days=days, least=least)


@session_command.group("transcript")
def transcript_group() -> None:
    """Save, read, search and delete transcripts of sessions."""


@command(under=transcript_group, in_session=True)
def save_command(
    memory: Memory,
    file: Path,
    *,
    session: ThisSession = None,
    format_: Annotated[Literal["json", "markdown"] | None, Asked("Default: by the file's extension.")] = None,
) -> Result:
    """Save a transcript (JSON lines as clients write them, or text); credentials are masked."""
    text = stdin_text() if str(file) == "-" else text_in(file, transcripts.LONGEST)
    form = format_ or ("json" if file.suffix in (".json", ".jsonl") else "markdown")
    saved = transcripts.save_transcript(memory, text, session=session or "", form=form)
    value = {"session": saved.session, "tokens": saved.tokens, "format": saved.format}
    return value, f"Saved the transcript of {short(saved.session)}: {saved.tokens:,} tokens."


@command("show", under=transcript_group)
def show_transcript_command(memory: Memory, id: Reference) -> Result:  # noqa: A002
    """Print the transcript of a session."""
    transcript = transcripts.get_transcript(memory, id)
    return transcript, transcript.body


@command("search", under=transcript_group, page="passages")
def search_transcripts_command(
    memory: Memory,
    text: tuple[str, ...],
    *,
    limit: Annotated[int, Asked("Maximum number to show.", least=1, most=50)] = 10,
    everywhere: Everywhere = False,
) -> Any:
    """Search transcripts."""
    return transcripts.search_transcripts(memory, " ".join(text), limit=limit, everywhere=everywhere)


@command("drop", under=transcript_group)
def drop_transcript_command(memory: Memory, id: Reference) -> Result:  # noqa: A002
    """Delete the transcript of a session permanently."""
    dropped = transcripts.drop_transcript(memory, id)
    return {"dropped": dropped}, "Deleted." if dropped else "There is no such transcript."


@command()
def brief_command(
    memory: Memory,
    plan: tuple[str, ...] = (),
    *,
    form: Annotated[
        Literal["compact", "gate", "full"],
        Asked("With a plan: compact; gate (only what must not be repeated); or full (with texts)."),
    ] = "compact",
    budget: Annotated[
        int | None, Asked("With a plan: maximum tokens; default 500, 100 or 4000 by form.", least=20)
    ] = None,
    for_: Annotated[
        str, Asked("Simulate: what hooks would inject for this, and why.", metavar="PROMPT|COMMAND|FILE")
    ] = "",
    branch: Annotated[str, Asked("With --for: as if this branch were checked out.")] = "",
    as_of: Annotated[str, Asked("With --for: with what was known at this date.", form="date")] = "",
) -> Result:
    """Print the brief that a session of this project starts with; with a PLAN, what is known about it.

    A plan's brief is for a sub-agent's prompt. With --for, nothing is recorded.
    """
    if for_:
        from holdfast.hosts.simulator import simulate

        steps = simulate(memory, for_, branch=branch, at=as_of)
        return steps, page("simulated", steps)
    if not plan:
        return _session_brief(memory)
    plan_brief = brief(memory, " ".join(plan), form=form, budget=budget or 0)
    return plan_brief, plan_brief.text


@command()
def opening_command(memory: Memory) -> Result:
    """Print the brief that a session of this project starts with: another name of `holdfast brief`."""
    return _session_brief(memory)


def _session_brief(memory: Memory) -> Result:
    started = brief_of(memory)
    if started.text:  # printed as an agent gets it: stored text was fenced when the brief was made
        return started, lambda: print(wrapped(started.text))
    return (
        started,
        'The brief is empty: nothing is stored for this project yet (holdfast remember "…"), or `inject` is off.',
    )


@click.group("thread")
def thread_command() -> None:
    """Track unfinished work that outlives a session.

    Refer to a thread by its id, its number in the list (#2, oldest first) or a part of its text.

    \b
    holdfast thread open "Load-test the limiter"
    holdfast thread resolve limiter --note "done in SHOP-14"
    """


@command("open", under=thread_command)
def open_thread_command(
    memory: Memory,
    text: tuple[str, ...],
    *,
    issues: Annotated[tuple[str, ...], Asked("A related issue.")] = (),
    force: Annotated[bool, Asked("Open it although there is a similar thread.")] = False,
) -> Result:
    """Open a thread, or touch the similar one that exists."""
    outcome = threads.open_thread(memory, " ".join(text), issues=issues, force=force)
    if not isinstance(outcome, threads.Opened | threads.Known):
        return refusal_of(outcome)
    known = isinstance(outcome, threads.Known)
    return outcome, page("thread_done", "Opened", outcome.thread, known=known)


@command("list", under=thread_command)
def list_threads_command(
    memory: Memory,
    *,
    archived: Annotated[bool, Asked("Also list threads dormant for a month.")] = False,
    resolved: Annotated[bool, Asked("List resolved threads instead.")] = False,
) -> Result:
    """List threads, most active first."""
    listed = threads.resolved_threads(memory) if resolved else threads.open_threads(memory, archived=archived)
    nothing = "No resolved threads." if resolved else 'No open threads. Open one: holdfast thread open "…"'
    return listed, page("threads", listed, nothing, head=False)


@command(under=thread_command, page="triage")
def triage_command(memory: Memory) -> dict[str, list[Thread]]:
    """Show all open threads by stage."""
    return threads.triage(memory)


@command(under=thread_command)
def touch_command(memory: Memory, thread: Reference) -> Result:
    """Record that a thread was worked on."""
    touched = threads.touch(memory, thread)
    return touched, page("thread_done", "Touched", touched)


@command("resolve", under=thread_command)
def resolve_thread_command(
    memory: Memory, thread: Reference, *, note: Annotated[str, Asked("How it was resolved.")] = ""
) -> Result:
    """Resolve a thread."""
    resolved = threads.resolve(memory, thread, note)
    return resolved, page("thread_done", "Resolved", resolved)


@command(under=thread_command)
def reopen_command(memory: Memory, id: Id) -> Result:  # noqa: A002
    """Reopen a resolved thread."""
    reopened = threads.reopen(memory, id)
    return reopened, page("thread_done", "Reopened", reopened)
