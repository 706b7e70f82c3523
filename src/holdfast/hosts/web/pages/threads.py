"""Threads on a board by stage, and their actions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.render import MOST_ROWS
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.policy.admission.admit import explain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import act
from holdfast.verbs.sessions import thread

LANES = (
    ("emerging", "not a day old"),
    ("active", "worked on recently"),
    ("cooling", "worked on less and less"),
    ("dormant", "no recent work"),
    ("archived", "dormant for a month"),
)
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
    what, id_ = ask.parts["what"], ask.parts["id"]
    if what not in ACTS:
        raise Invalid(f"There is no action {what[:40]!r}.", hint=f"Use {', '.join(ACTS)}.")
    return render.moved(ask, "/threads", act(ask.memory, lambda acting: (ACTS[what](acting, id_, ask), None)))


def _dismissed(memory: Memory, id_: str, _: Ask) -> str:
    record, left = thread.dismiss(memory, id_)
    return f"Dismissed: {record.title}" + ("" if left > 0 else ". It will not come back.")


ACTS: Mapping[str, Callable[[Memory, str, Ask], str]] = {
    "touch": lambda memory, id_, _: f"Noted as worked on: {thread.touch(memory, id_).record.title}",
    "resolve": lambda memory, id_, ask: f"Resolved: {thread.resolve(memory, id_, ask.field('note')).record.title}",
    "reopen": lambda memory, id_, _: f"Reopened: {thread.reopen(memory, id_).record.title}",
    "promote": lambda memory, id_, _: f"Opened as a thread: {thread.promote(memory, id_).title}",
    "dismiss": _dismissed,
}
