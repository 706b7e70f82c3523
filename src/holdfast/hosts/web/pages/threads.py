"""Threads on a board by stage, and their actions."""

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.render import MOST_ROWS
from holdfast.hosts.web.viewer import WORDS, Ask
from holdfast.policy.admission.admit import explain
from holdfast.verbs.records.actions import Action, act_on
from holdfast.verbs.records.lifecycle import act
from holdfast.verbs.sessions import thread
from holdfast.verbs.upkeep.inbox import dismissed

LANES = tuple(WORDS["stages"].items())
MOST_SHOWN = 6  # in a lane; the others are folded


def _rows(ask: Ask) -> list[render.Row]:
    stages = thread.triage(ask.memory)
    every = [
        *(each for name, _ in LANES for each in stages[name]),
        *thread.resolved_threads(ask.memory, limit=MOST_ROWS),
    ]
    columns = "id=record.id title=record.title stage touches touched_at created_at=record.created_at note=record.reason"
    return render.table(every, columns)


@render.page_at("/threads", "threads.html", "Threads", rows=_rows)
def _board(ask: Ask) -> dict[str, Any]:
    return {
        "lanes": LANES,
        "stages": thread.triage(ask.memory),
        "most": MOST_SHOWN,
        "resolved": thread.resolved_threads(ask.memory, limit=20),
        "suggested": thread.suggestions(ask.memory),
    }


@render.answer_at("/threads/open", render.ACTS)
def open_one(ask: Ask) -> Response:
    """Open a thread by hand."""
    done = act(ask.memory, lambda acting: ("Opened.", thread.open_thread(acting, ask.field("text"))))
    if isinstance(known := done.result, thread.Known):
        message = f"That thread is already open, and noted as worked on: {known.thread.record.title}"
        return render.moved(ask, "/threads", replace(done, message=message))
    return render.moved(ask, "/threads", done if isinstance(done.result, thread.Opened) else str(explain(done.result)))


@render.answer_at("/threads/{id}/{what}", render.ACTS)
def act_on_one(ask: Ask) -> Response:
    """Run one action on a thread or a suggested thread."""
    done = act_on(ask.memory, ask.parts["id"], ask.parts["what"], ask.fields, ACTS)
    return render.moved(ask, "/threads", done)


ACTS = {
    "touch": Action("Noted as worked on: {result.record.title}", thread.touch),
    "resolve": Action("Resolved: {result.record.title}", thread.resolve, ("note",)),
    "reopen": Action("Reopened: {result.record.title}", thread.reopen),
    "promote": Action("Opened as a thread: {result.title}", thread.promote),
    "dismiss": Action("Dismissed: {result}", dismissed),
}
