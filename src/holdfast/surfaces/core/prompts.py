"""MCP prompts a user can pick: start work, close a session, review what needs a decision."""

from typing import Annotated

from holdfast.model.text import counted
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.surfaces.core import session_text
from holdfast.surfaces.core.table import surface
from holdfast.surfaces.core.text import line, waiting_for
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.sessions.absorb import candidates
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import context
from holdfast.verbs.sessions.suggest import suggestions


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
    return "\n".join(
        [
            f"{intro}This is what the project's memory contains:",
            "",
            session_text.context_of(context(call.memory)),
            "",
            *steps,
        ]
    )


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
    parts = [session_text.candidates_of(candidates(memory))]
    pending = waiting_records(memory)
    parts += (
        [
            f"{counted(len(pending), 'memory')} pending: judge(confirmed or cancelled)",
            *map(line, pending),
        ]
        if pending
        else []
    )
    topics = suggestions(memory)
    parts += (
        [f"{counted(len(topics), 'suggested thread')}: thread(promote or dismiss)", *map(line, topics)]
        if topics
        else []
    )
    return "\n".join(["Go through these with me, one at a time, and do what I decide:", "", *parts])
