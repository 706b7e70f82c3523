"""The brief: what a session would get now, what sessions got on two dates, and what changed between them."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask
from holdfast.model.ids import days_before
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.past_briefs import brief_given, compare


def page(ask: Ask) -> Response:
    """Return today's brief, and the difference of two dates."""
    now = ask.memory.clock.now()
    made = brief_of(ask.memory)
    dates = {
        "from": ask.text("from") or render.local(ask, days_before(now, 7)).date().isoformat(),
        "to": ask.text("to"),
    }
    earlier = brief_given(ask.memory, render.end_of_day(ask, dates["from"]))
    later = brief_given(ask.memory, render.end_of_day(ask, dates["to"])) if dates["to"] else None
    known = vitals_by_id(ask.memory, made.ids)
    now_in_it = tuple(known[one].record for one in made.ids if one in known)
    current = now_in_it if not dates["to"] else later.records if later else ()
    return render.page(
        ask,
        "brief.html",
        title="Brief",
        made=made,
        dates=dates,
        earlier=earlier,
        later=later,
        change=compare(earlier.records, current) if earlier else None,
    )
