"""MCP resources of the native surface (the hot set, the project, a memory, a session), and prompts a user can pick."""

from typing import Annotated

from holdfast.model.text import counted
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.surfaces.core import reports, session_text
from holdfast.surfaces.core.text import full, line, waiting_for
from holdfast.surfaces.core.tools import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import get, waiting_records
from holdfast.verbs.sessions.absorb import candidates
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import contents_of, context
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.sessions.topics import topics_of


@surface.resource("holdfast://hot", "Hot set")
def hot(call: Call) -> str:
    """The memories of this project that matter most now: used recently and often, trusted, important."""
    return reports.hot_of(hot_set(call.memory))


@surface.resource("holdfast://project", "Project context")
def project(call: Call) -> str:
    """The state of the project: last session, threads, decisions, how the human likes to work."""
    return session_text.context_of(context(call.memory))


@surface.resource("holdfast://record/{id}", "A memory")
def record(call: Call, id: str) -> str:  # noqa: A002
    """One memory in full, by its id."""
    return full(get(call.memory, id), start=0, room=4_000)


@surface.resource("holdfast://session/{id}", "A session")
def session(call: Call, id: str) -> str:  # noqa: A002
    """One session with what it left, by its id."""
    return session_text.left_of(contents_of(call.memory, id), topics_of(call.memory, id))


@surface.prompt("Start of work")
def start_work(call: Call, task: Annotated[str, "What you are about to work on."] = "") -> str:
    """Begin with what is known: the state of the project and what recall says about the task."""
    intro = f"I want to work on: {task}\n" if task else ""
    steps = [
        "Call session(start)" + (f" with title {task!r}" if task else "") + ".",
        f"Call recall with {task!r} and with what you expect to touch; answer the scars it shows with judge."
        if task
        else "Summarize in three sentences where things stand, and ask me what to work on.",
        "Then say what you will do, and which memories it rests on.",
    ]
    head = f"{intro}This is what the project's memory contains:"
    return "\n".join([head, "", session_text.context_of(context(call.memory)), "", *steps])


@surface.prompt("Closing ceremony")
def close_work(call: Call) -> str:
    """Close the session well: nine questions, the human's corrections, what was learned, decided and left open."""
    lines = ["Let us close this session. Answer each question briefly:"]
    lines += [
        f"{place}. {question.text} ({question.key}{'' if question.required else ', optional'})"
        for place, question in enumerate(QUESTIONS, 1)
    ]
    lines += [
        "Show me the answers and ask me for corrections. Then save each lesson with remember (a mistake is a scar), and call",
        "session(close, close_type=standard, payload={closing_reflection, human_corrections, summary, decisions, open_threads}).",
        *waiting_for(unanswered(call.memory)),
    ]
    return "\n".join(lines)


@surface.prompt("Review of candidates")
def review_candidates(call: Call) -> str:
    """Go through what needs a decision: lessons from observations, pending memories, suggested threads."""
    memory = call.memory
    pending, topics = waiting_records(memory), suggestions(memory)
    waiting = {
        f"{counted(len(pending), 'memory')} pending: judge(confirmed or cancelled)": pending,
        f"{counted(len(topics), 'suggested thread')}: thread(promote or dismiss)": topics,
    }
    parts = [text for head, records in waiting.items() if records for text in (head, *map(line, records))]
    lessons = session_text.candidates_of(candidates(memory))
    return "\n".join(["Go through these with me, one at a time, and do what I decide:", "", lessons, *parts])
