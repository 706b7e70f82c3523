"""The actions of the tools `session`, `thread` and `explore`: rows.txt has the verb of each and the page it answers with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.surfaces.core.text import page, refusal_of
from holdfast.surfaces.maps import Terms, read_rows
from holdfast.surfaces.phrases import line
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.sessions.analyze import activity, blind_spots, topics_of, wordings
from holdfast.verbs.sessions.close import close, payload_file
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import contents_of, only_open
from holdfast.verbs.sessions.session import start as start_session
from holdfast.verbs.sessions.thread import Known, Opened, dismiss
from holdfast.verbs.sessions.thread import open_thread as open_one
from holdfast.verbs.sessions.transcript import save_transcript
from holdfast.verbs.truth.compare import compare_now
from holdfast.verbs.truth.contradictions import conflicts, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health


def act(tool: str, action: str, call: Call, **arguments: Any) -> str:
    """Run an action of a tool and return what it answers."""
    answer: str = ROWS[f"{tool}.{action}"].run(call.memory, arguments, TERMS, call)
    return answer


def actions_of(tool: str) -> tuple[str, ...]:
    """Return the names of a tool's actions."""
    return tuple(name.partition(".")[2] for name in ROWS if name.startswith(f"{tool}."))


def start(memory: Memory, call: Call, session: str, title: str, issue: str, force: bool) -> str:
    """Start or resume a session; later calls act in it."""
    memory, opened = start_session(memory, session=session, title=title, issue=issue, force=force)
    call.acting.context = memory.context
    return page("opening", opened=opened, payload_file=payload_file(memory, opened.session.id))


def close_session(memory: Memory, session: str, close_type: str, payload: Mapping[str, Any]) -> str:
    """Close a session, and name the scars that it left without an answer."""
    scars = unanswered(memory, session and contents_of(memory, session).session.id)
    return page("closing", outcome=close(memory, session=session, close_type=close_type, payload=payload), scars=scars)


def show_session(memory: Memory, session: str) -> str:
    """Return a session with what it left and its topics; default: the active one."""
    session = session or only_open(memory).id
    return page("session", left=contents_of(memory, session), topics=topics_of(memory, session))


def save(memory: Memory, session: str, text: str) -> Any:
    """Save a transcript, in the form that its beginning shows."""
    form = "json" if text.lstrip().startswith("{") else "markdown"
    return save_transcript(memory, text, session=session, form=form)


def open_thread(memory: Memory, text: str, issue: str, force: bool) -> str:
    """Open a thread, or touch one about the same."""
    outcome = open_one(memory, text, issues=(issue,) if issue else (), force=force)
    if not isinstance(outcome, Opened | Known):
        return refusal_of(outcome)
    return page("thread_done", word="Opened", thread=outcome.thread, known=isinstance(outcome, Known))


def dismiss_suggestion(memory: Memory, reference: str) -> str:
    """Dismiss a suggested thread, and report whether it may come back."""
    record, left = dismiss(memory, reference)
    again = f"It comes back if its topic does, {left} more times at most." if left > 0 else "It will not come back."
    return f"Dismissed {line(record)}. {again}"


def analytics(memory: Memory, *, days: int, agent: str = "") -> dict[str, Any]:
    """Return what the page `activity` shows: what sessions did, and which scars and wordings fail."""
    done = activity(memory, days=days, agent=agent)
    return {"activity": done, "spots": blind_spots(memory, days=days), "compared": wordings(memory, days=days)}


def contradictions(memory: Memory, reference: str, limit: int) -> str:
    """Return what contradicts a memory, or every contradiction."""
    if reference:
        return page("conflicts", record=find(memory, reference).record, clashes=conflicts(memory, reference))
    compare_now(memory)
    return page("disputes", disputes=open_contradictions(memory, limit=limit))


def state(memory: Memory, days: int) -> str:
    """Return what is stored, and its health."""
    shown = page("state", status=status(memory), scars=unanswered(memory))
    return f"{shown}\n{page('health', health=health(memory, days=days))}"


TERMS = Terms(
    filters={"half": lambda limit: max(1, limit // 2), "line": line, "some": lambda name: (name,) if name else None}
)
ROWS = read_rows(Path(__file__).parent, globals())
