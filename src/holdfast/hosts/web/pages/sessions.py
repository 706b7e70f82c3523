"""Sessions: a list, and one session from its first prompt to its end."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.pages.stream import WORDS, outcome_of
from holdfast.hosts.web.viewer import Ask
from holdfast.model.ids import short
from holdfast.verbs.sessions.receipts import injections_into
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import contents_of, find_session, list_sessions
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, Wanted, older

LIMIT = 50


def page(ask: Ask) -> Response:
    """List sessions, latest first."""
    offset = ask.number("offset", 0, 0, 10_000_000)
    sessions = list_sessions(ask.memory, limit=LIMIT + 1, offset=offset, everywhere=ask.everywhere)
    more = render.address(ask, "/sessions", offset=offset + LIMIT) if len(sessions) > LIMIT else ""
    return render.page(ask, "sessions.html", title="Sessions", sessions=sessions[:LIMIT], more=more, offset=offset)


def one(ask: Ask) -> Response:
    """Show one session: prompts, actions, injected memories, saved records and its end."""
    session = find_session(ask.memory, ask.parts["id"])
    left = contents_of(ask.memory, session.id)
    activity = older(ask.memory, Wanted(session=session.id), limit=MOST_LOOKED_AT // 2)
    summary = next((record for record in left.records if record.kind == "summary"), None)
    return render.page(
        ask,
        "session.html",
        title=session.title or f"Session {short(session.id)}",
        session=session,
        left=left,
        items=list(reversed(activity.items)),
        cut=activity.place is not None,
        summary=summary,
        receipts=injections_into(ask.memory, session.id),
        unanswered=unanswered(ask.memory, session.id),
        words=WORDS,
        outcome=outcome_of,
    )
