"""Commands for sessions, their transcripts and briefs, the outcome of memories in them, and threads."""

from pathlib import Path
from typing import Annotated, Literal

from holdfast.hosts.cli.command import Result, Words
from holdfast.hosts.cli.memories import refusal_of
from holdfast.hosts.cli.render import PERSON, page, wrapped
from holdfast.hosts.cli.values import json_in, text_in
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.ids import short
from holdfast.model.kinds import Asked
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.search.brief import brief
from holdfast.verbs.sessions import thread as threads
from holdfast.verbs.sessions import transcript as transcripts
from holdfast.verbs.sessions.analyze import topics_of
from holdfast.verbs.sessions.close import LONGEST_PAYLOAD, NotClosed, close, payload_file
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.scars import VERDICTS, Answer, judge, unanswered
from holdfast.verbs.sessions.session import contents_of, find_session, only_open, refresh, start


def start_command(
    memory: Memory, *, title: str = "", issue: str = "", session: str = "", force: bool = False
) -> Result:
    started, opening = start(memory, session=session, title=title, issue=issue, force=force)
    file = payload_file(started, opening["session"].id)
    return opening, page("started", opening, payload_file=file)


def refresh_command(memory: Memory, *, session: str | None = None) -> Report:
    del session  # the memory acts in it
    return refresh(memory if memory.actor.session else memory.acting_in(only_open(memory).id))


def close_command(
    memory: Memory,
    *,
    session: str | None = None,
    quick: bool = False,
    autonomous: bool = False,
    retroactive: bool = False,
    payload: Path | None = None,
    answers: Words = (),
) -> Result:
    content = json_in(payload, LONGEST_PAYLOAD) if payload else {}
    if not isinstance(content, dict):
        raise Invalid(f"{payload} must contain a JSON object.")
    if wrong := [pair for pair in answers if "=" not in pair]:
        raise Invalid(f"{wrong[0]!r} is not QUESTION=TEXT.", hint="`holdfast session close --help` has the questions.")
    content |= {name: text for name, _, text in (pair.partition("=") for pair in answers)}
    types = {"quick": quick, "autonomous": autonomous, "retroactive": retroactive}
    how = next((name for name, chosen in types.items() if chosen), "standard")
    session_id = find_session(memory, session).id if session else ""
    scars = unanswered(memory, session_id)
    outcome = close(memory, session=session_id, close_type=how, payload=content)
    return outcome, page("closing", outcome, scars), Conflict.exit_code if isinstance(outcome, NotClosed) else 0


def session_show_command(memory: Memory, id: str | None = None) -> Result:
    session = id or only_open(memory).id
    left, topics = contents_of(memory, session), topics_of(memory, session)
    return {"left": left, "topics": topics}, page("session", left, topics)


def save_command(
    memory: Memory, file: Path, *, session: str | None = None, format_: Literal["json", "markdown"] | None = None
) -> Result:
    text = text_in(file, transcripts.LONGEST)
    form = format_ or ("json" if file.suffix in (".json", ".jsonl") else "markdown")
    saved = transcripts.save_transcript(memory, text, session=session or "", form=form)
    value = {"session": saved.session, "tokens": saved.tokens, "format": saved.format}
    return value, f"Saved the transcript of {short(saved.session)}: {saved.tokens:,} tokens."


def transcript_show_command(memory: Memory, id: str) -> Result:
    transcript = transcripts.get_transcript(memory, id)
    return transcript, transcript.body


def brief_command(
    memory: Memory,
    plan: Words = (),
    *,
    form: Literal["compact", "gate", "full"] = "compact",
    budget: int | None = None,
    for_: str = "",
    branch: str = "",
    as_of: str = "",
) -> Result:
    if for_:
        from holdfast.hosts.simulator import simulate

        steps = simulate(memory, for_, branch=branch, at=as_of)
        return steps, page("simulated", steps)
    if plan:
        plan_brief = brief(memory, " ".join(plan), form=form, budget=budget or 0)
        return plan_brief, plan_brief.text
    started = brief_of(memory, budget=budget or 0)
    if started.text:  # printed as an agent gets it: stored text was fenced when the brief was made
        return started, lambda: print(wrapped(started.text))
    limits = f"inject = {memory.config.inject}, brief_budget = {budget or memory.config.brief_budget}"
    return started, f"The brief is empty: nothing is stored for this project yet, or settings leave it out ({limits})."


def judge_command(
    memory: Memory,
    verdict: Annotated[str, Asked("", choices=VERDICTS)],
    ids: Words = (),
    *,
    evidence: str = "",
    session: str | None = None,
) -> Result:
    from holdfast.surfaces.core.text import answered  # it imports most verbs

    del session  # the memory acts in it
    judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
    lines = answered(judged, PERSON)
    shown = lines if unanswered(memory) else [line for line in lines if not line.startswith("Every scar")]
    return judged, "\n".join(shown), Conflict.exit_code if judged.problems else 0


def thread_open_command(memory: Memory, text: Words, *, issues: Words = (), force: bool = False) -> Result:
    outcome = threads.open_thread(memory, " ".join(text), issues=issues, force=force)
    if not isinstance(outcome, threads.Opened | threads.Known):
        return refusal_of(outcome)
    known = isinstance(outcome, threads.Known)
    return outcome, page("thread_done", "Opened", outcome.thread, known=known)


def thread_list_command(memory: Memory, *, archived: bool = False, resolved: bool = False) -> Result:
    listed = threads.resolved_threads(memory) if resolved else threads.open_threads(memory, archived=archived)
    nothing = "No resolved threads." if resolved else 'No open threads. Open one: holdfast thread open "…"'
    return listed, page("threads", listed, nothing)
