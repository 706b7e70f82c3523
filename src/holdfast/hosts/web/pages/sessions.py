"""Sessions: a list by day with what each left, and the replay of one from its first prompt to its end."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import MOST_ROWS, download, is_wanted
from holdfast.hosts.web.pages.activity import WORDS, outcome_of
from holdfast.hosts.web.viewer import Ask
from holdfast.model.ids import short
from holdfast.model.session import Session
from holdfast.verbs.sessions.receipts import injections_into
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import contents_of, find_session, list_sessions, saved_in, session_agents
from holdfast.verbs.upkeep.stream import MOST_LOOKED_AT, Item, Wanted, older

LIMIT = 50
LANES = {
    "Prompts": ("prompt", "answer"),
    "Tools": ("tool",),
    "Injected": ("receipt", "warning", "asked"),
    "Saved": ("record", "observation", "change"),
    "Outcomes": ("use",),
}
LANE = 24.0  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One entry of a session in its lane: which one, where, and what it was."""

    number: int
    x: float  # per cent of the width
    y: float  # pixels
    item: Item


def page(ask: Ask) -> Response:
    """List sessions, latest first."""
    offset = ask.number("offset", 0, 0, 10_000_000)
    on = ask.text("on")[:10]
    since, until = (render.start_of_date(ask, on), render.end_of_day(ask, on)) if on else ("", "~")
    client = ask.text("client")
    limit = MOST_ROWS if is_wanted(ask) else LIMIT
    sessions = list_sessions(
        ask.memory,
        limit=limit + 1,
        offset=offset,
        everywhere=ask.everywhere,
        since=since,
        until=until,
        agent=client,
    )
    if is_wanted(ask):
        return download(ask, "sessions", _rows(ask, sessions))
    more = render.address(ask, "/sessions", offset=offset + LIMIT, client=client, on=on)
    shown = sessions[:LIMIT]
    return render.page(
        ask,
        "sessions.html",
        title="Sessions",
        sessions=shown,
        clients=session_agents(ask.memory, everywhere=ask.everywhere),
        client=client,
        on=on,
        saved=saved_in(ask.memory, [one.id for one in shown]),
        lasted=lasted,
        more=more if len(sessions) > LIMIT else "",
        offset=offset,
    )


def _rows(ask: Ask, sessions: list[Session]) -> list[dict[str, object]]:
    saved = saved_in(ask.memory, [one.id for one in sessions])
    return [
        {
            "id": one.id,
            "project": one.project,
            "agent": one.agent,
            "title": one.title,
            "issue": one.issue,
            "started_at": one.started_at,
            "closed_at": one.closed_at,
            "memories": saved.get(one.id, 0),
        }
        for one in sessions
    ]


def one(ask: Ask) -> Response:
    """Show one session: prompts, actions, injected memories, saved records and its end."""
    session = find_session(ask.memory, ask.parts["id"])
    left = contents_of(ask.memory, session.id)
    activity = older(ask.memory, Wanted(session=session.id), limit=MOST_LOOKED_AT // 2)
    items = list(reversed(activity.items))
    summary = next((record for record in left.records if record.kind == "summary"), None)
    return render.page(
        ask,
        "session.html",
        title=session.title or f"Session {short(session.id)}",
        session=session,
        left=left,
        items=items,
        cut=activity.place is not None,
        summary=summary,
        lasted=lasted(session),
        receipts=injections_into(ask.memory, session.id),
        unanswered=unanswered(ask.memory, session.id),
        words=WORDS,
        outcome=outcome_of,
        **_lanes(items),
    )


def lasted(session: Session) -> str:
    """Return how long a session took, in words; "" while it is open."""
    if session.is_open or not session.closed_at or not session.started_at:
        return ""
    took = datetime.fromisoformat(session.closed_at) - datetime.fromisoformat(session.started_at)
    minutes = int(took.total_seconds() // 60)
    if minutes >= 48 * 60:
        return f"{minutes // (24 * 60)} days"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def _lanes(items: list[Item]) -> dict[str, Any]:
    """Return the entries of a session on a time axis, in a lane for each sort."""
    times = [datetime.fromisoformat(item.at).timestamp() for item in items]
    start, took = (times[0], max(times) - times[0]) if times else (0.0, 0.0)
    used = {name: whats for name, whats in LANES.items() if any(item.what in whats for item in items)}
    marks = []
    for number, (item, at) in enumerate(zip(items, times, strict=True)):
        lane = next((place for place, whats in enumerate(used.values()) if item.what in whats), None)
        if lane is not None:
            share = (at - start) / took if took else number / max(1, len(items) - 1)
            marks.append(Mark(number=number, x=100 * share, y=(lane + 0.5) * LANE, item=item))
    return {"lanes": list(used), "marks": marks, "lane_height": LANE}
