"""MCP resources of the native surface (the hot set, the project, a memory, a session), and prompts a user can pick."""

from typing import Annotated

from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.surfaces.core import actions
from holdfast.surfaces.core.text import full, page
from holdfast.surfaces.core.tools import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.read import get, waiting_records
from holdfast.verbs.sessions.analyze import topics_of
from holdfast.verbs.sessions.scars import candidates, unanswered
from holdfast.verbs.sessions.session import contents_of, context
from holdfast.verbs.sessions.thread import suggestions


@surface.resource("holdfast://hot", "Hot set")
def hot(call: Call) -> str:
    """The memories of this project that matter most now: used recently and often, trusted, important."""
    return page("hot", **actions.hot(call.memory))


@surface.resource("holdfast://project", "Project context")
def project(call: Call) -> str:
    """The state of the project: last session, threads, decisions, how the human likes to work."""
    return page("project", opened=context(call.memory))


@surface.resource("holdfast://record/{id}", "A memory")
def record(call: Call, id: str) -> str:  # noqa: A002
    """One memory in full, by its id."""
    return full(get(call.memory, id), start=0, room=4_000)


@surface.resource("holdfast://session/{id}", "A session")
def session(call: Call, id: str) -> str:  # noqa: A002
    """One session with what it left, by its id."""
    return page("session", left=contents_of(call.memory, id), topics=topics_of(call.memory, id))


@surface.prompt("Start of work")
def start_work(call: Call, task: Annotated[str, "What you are about to work on."] = "") -> str:
    """Begin with what is known: the state of the project and what recall says about the task."""
    return page("start_work", task=task, opened=context(call.memory))


@surface.prompt("Closing ceremony")
def close_work(call: Call) -> str:
    """Close the session well: nine questions, the human's corrections, what was learned, decided and left open."""
    return page("close_work", questions=QUESTIONS, scars=unanswered(call.memory))


@surface.prompt("Review of candidates")
def review_candidates(call: Call) -> str:
    """Go through what needs a decision: lessons from observations, pending memories, suggested threads."""
    memory = call.memory
    lessons = page("candidates", candidates=candidates(memory))
    return page("review_candidates", lessons=lessons, pending=waiting_records(memory), topics=suggestions(memory))
