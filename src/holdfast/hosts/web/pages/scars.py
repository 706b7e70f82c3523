"""Scars by effect: shown, applied, helped; and those without effect."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import download, is_wanted
from holdfast.hosts.web.viewer import Ask, cached_until_event
from holdfast.verbs.records.browse import newest_of_kind
from holdfast.verbs.sessions.analyze import blind_among, wordings
from holdfast.verbs.sessions.scars import Effect, effects

DAYS = (30, 90, 365)
MOST, MOST_LISTED = 100, 500


def page(ask: Ask) -> Response:
    """Return the effects of scars."""
    days = ask.number("days", 90, 1, 3_650)
    shown_scars = cached_until_event(ask, "scars", lambda: effects(ask.memory, days=days))
    if is_wanted(ask):
        return download(ask, "scars", [_row(one) for one in shown_scars])
    seen = {one.scar.id for one in shown_scars}
    kept = newest_of_kind(ask.memory, "scar", limit=MOST_LISTED)
    return render.page(
        ask,
        "scars.html",
        title="Scars",
        days=days,
        choices=DAYS,
        effects=shown_scars[:MOST],
        more=max(0, len(shown_scars) - MOST),
        shown=sum(one.shown for one in shown_scars),
        applied=sum(one.outcomes["applied"] for one in shown_scars),
        succeeded=sum(one.outcomes["succeeded"] for one in shown_scars),
        total=len(kept),
        most_listed=MOST_LISTED,
        never=[record for record in kept if record.id not in seen],
        blind=blind_among(shown_scars),
        wordings=wordings(ask.memory, days=days),
    )


def _row(effect: Effect) -> dict[str, object]:
    return {
        "id": effect.scar.id,
        "title": effect.scar.title,
        "severity": effect.scar.fields.get("severity", ""),
        "shown": effect.shown,
        **{name: effect.outcomes[name] for name in ("applied", "succeeded", "failed", "refuted", "ignored")},
        "weight_left": round(effect.multiplier, 2),
    }
