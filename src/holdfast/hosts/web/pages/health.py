"""The curation queue: pending memories, contradictions, drifted and unused ones, with buttons for each."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.model.errors import Invalid
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.ranking.health import word_for
from holdfast.verbs.capture.mining import approve, mined, reject
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import rename_scope, retire
from holdfast.verbs.records.quarantine import UNKNOWN, Decided, accept, waiting
from holdfast.verbs.records.quarantine import reject as turn_away
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, cancel, confirm
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals
from holdfast.verbs.truth.contradictions import marked, open_contradictions, resolve
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.health import Health, health

DAYS, SHOWN = 30, 15
SECTIONS = (
    ("contradicted", "Called wrong", "Reported since it was last revised or verified."),
    ("drifted", "Stale", "The cited code changed or is gone."),
    ("stale", "Verified long ago", "More than a month ago."),
    ("unverified", "Never verified", "Older than a month and never verified."),
    ("dead", "Unhelpful", "Shown, but it never helped."),
    ("cold", "Never shown", "Older than a month, and no recall returned it."),
)


def page(ask: Ask) -> Response:
    """Return what needs a decision, and the queue unless the project is so large that it loads later."""
    offered = mined(ask.memory, limit=SHOWN)
    held = {one.record.id for one in offered}
    later = is_large(ask)
    return render.page(
        ask,
        "health.html",
        title="Health",
        mined=offered,
        waiting=[one for one in waiting_records(ask.memory) if one.id not in held],
        arrived=waiting(ask.memory),
        unknown=UNKNOWN,
        marked=marked(ask.memory),
        later=later,
        **({"shown": SHOWN} if later else _queue(ask)),
    )


def queue_part(ask: Ask) -> Response:
    """Return the score and the queue, as a part of the page."""
    return render.page(ask, "health_queue.html", **_queue(ask))


def _queue(ask: Ask) -> dict[str, Any]:
    report: Health = cached_until_event(ask, "health", lambda: health(ask.memory, days=DAYS))
    return {
        "health": report,
        "word": word_for(report.score),
        "sections": [(name, title, why, getattr(report, name)) for name, title, why in SECTIONS],
        "shown": SHOWN,
    }


def disputes_part(ask: Ask) -> Response:
    """Return unmarked contradictions, as a part of the page: this reads many texts."""
    found = cached_until_event(ask, "disputes", lambda: open_contradictions(ask.memory, limit=SHOWN))
    return render.page(ask, "health_disputes.html", disputes=found, shown=SHOWN)


def duplicates_part(ask: Ask) -> Response:
    """Return near-duplicates, as a part of the page."""
    found = cached_until_event(ask, "duplicates", lambda: proposals(ask.memory, limit=SHOWN))
    return render.page(ask, "health_duplicates.html", proposals=found)


def resolve_one(ask: Ask) -> Response:
    """Resolve a contradiction."""
    done = resolve(
        ask.memory,
        ask.field("one"),
        ask.field("other"),
        ask.field("how"),
        keep=ask.field("keep"),
        note=ask.field("note"),
    )
    words = {
        "supersede": "now replaces",
        "weaken": "now weighs more than",
        "remove": "replaces the retired",
        "both": "holds, and so does",
    }
    return _done(ask, f"“{done.kept.title}” {words[done.how]} “{done.other.title}”.")


def act(ask: Ask) -> Response:
    """Run one action of the queue."""
    what = ask.parts["what"]
    if what not in ACTS:
        raise Invalid(f"Nothing here is called {what[:40]!r}.", hint=f"There are {', '.join(ACTS)}.")
    return _done(ask, ACTS[what](ask.memory, ask.parts["id"], ask))


def _done(ask: Ask, message: str) -> Response:
    if ask.fragment:
        return render.page(ask, "health_done.html", word=message)
    return render.moved(ask, "/health", message)


def _confirm(memory: Memory, record_id: str, _: Ask) -> str:
    outcome = confirm(memory, record_id, waivers=Waivers(duplicate=True))
    return _kept(outcome)


def _cancel(memory: Memory, record_id: str, _: Ask) -> str:
    return f"Rejected: {cancel(memory, record_id).title}"


def _approve(memory: Memory, record_id: str, _: Ask) -> str:
    return _kept(approve(memory, record_id, waivers=Waivers(duplicate=True)))


def _reject(memory: Memory, record_id: str, _: Ask) -> str:
    return f"Rejected for good: {reject(memory, [record_id])[0].title}"


def _accept(memory: Memory, record_id: str, ask: Ask) -> str:
    return f"Accepted: {_named(memory, accept(memory, [ask.field('author') or record_id]))}"


def _turn_away(memory: Memory, record_id: str, ask: Ask) -> str:
    return f"Rejected: {_named(memory, turn_away(memory, [ask.field('author') or record_id]))}"


def _named(memory: Memory, done: Decided) -> str:
    return ", ".join(done.authors) or find(memory, done.records[0]).record.title


def _verify(memory: Memory, record_id: str, _: Ask) -> str:
    return f"Still true: {verify(memory, record_id).title}"


def _retire(memory: Memory, record_id: str, ask: Ask) -> str:
    return f"Retired: {retire(memory, record_id, ask.field('reason') or 'retired while curating').title}"


def _merge(memory: Memory, record_id: str, ask: Ask) -> str:
    merged = consolidate(memory, proposal_of(memory, [record_id, *ask.form.get("with", [])]))
    return f"Merged: {merged.title}"


def _rename(memory: Memory, scope: str, ask: Ask) -> str:
    return f"{len(rename_scope(memory, scope, ask.field('meant')))} memories are in {ask.field('meant')} now."


def _kept(outcome: Outcome) -> str:
    return f"Saved: {outcome.record.title}" if isinstance(outcome, Written | WrittenPending) else str(explain(outcome))


ACTS: Mapping[str, Callable[[Memory, str, Ask], str]] = {
    "confirm": _confirm,
    "cancel": _cancel,
    "approve": _approve,
    "reject": _reject,
    "accept": _accept,
    "turn-away": _turn_away,
    "verify": _verify,
    "retire": _retire,
    "merge": _merge,
    "rename": _rename,
}
