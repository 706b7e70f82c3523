"""MCP resources of the native surface: the hot set, the project, a memory, a session."""

from holdfast.surfaces.core import reports, session_text
from holdfast.surfaces.core import text as shown
from holdfast.surfaces.core.table import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import get
from holdfast.verbs.sessions.session import contents_of, context
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
    return shown.full(get(call.memory, id), start=0, room=4_000)


@surface.resource("holdfast://session/{id}", "A session")
def session(call: Call, id: str) -> str:  # noqa: A002
    """One session with what it left, by its id."""
    return session_text.left_of(contents_of(call.memory, id), topics_of(call.memory, id))
