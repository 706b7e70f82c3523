"""Threads on a board by stage, and their actions."""

from collections.abc import Callable, Mapping

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import MOST_ROWS, download, is_wanted
from holdfast.hosts.web.flash import Done, Undo, going_back, together
from holdfast.hosts.web.pages.review import dismiss_suggestion, open_suggestion
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.policy.admission.refusals import explain
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.sessions.thread import (
    Known,
    Opened,
    Thread,
    open_thread,
    reopen,
    resolve,
    resolved_threads,
    touch,
    triage,
    untouch,
)

LANES = (
    ("emerging", "not a day old"),
    ("active", "worked on recently"),
    ("cooling", "worked on less and less"),
    ("dormant", "no recent work"),
    ("archived", "dormant for a month"),
)
MOST_SHOWN = 6  # in a lane; the others are folded


def page(ask: Ask) -> Response:
    """Return the board."""
    stages = triage(ask.memory)
    if is_wanted(ask):
        resolved = resolved_threads(ask.memory, limit=MOST_ROWS)
        opened = (thread for name, _ in LANES for thread in stages[name])
        return download(ask, "threads", [_row(thread) for thread in (*opened, *resolved)])
    return render.page(
        ask,
        "threads.html",
        title="Threads",
        lanes=LANES,
        stages=stages,
        most=MOST_SHOWN,
        resolved=resolved_threads(ask.memory, limit=20),
        suggested=suggestions(ask.memory),
    )


def _row(thread: Thread) -> dict[str, object]:
    record = thread.record
    return {
        "id": record.id,
        "title": record.title,
        "stage": thread.stage,
        "touches": thread.touches,
        "touched_at": thread.touched_at,
        "created_at": record.created_at,
        "note": record.reason,
    }


def open_one(ask: Ask) -> Response:
    """Open a thread by hand."""
    outcome = open_thread(ask.memory, ask.field("text"))
    match outcome:
        case Opened(thread=thread):
            return render.moved(ask, "/threads", Done(message="Opened.", undo=_closing(thread)))
        case Known(thread=thread):
            message = f"That thread is already open, and noted as worked on: {thread.record.title}"
            return render.moved(ask, "/threads", Done(message=message, undo=_untouching(thread)))
    return render.moved(ask, "/threads", str(explain(outcome)))


def act(ask: Ask) -> Response:
    """Run one action on a thread or a suggested thread."""
    what = ask.parts["what"]
    if what not in ACTS:
        raise Invalid(f"Nothing here is called {what[:40]!r}.", hint=f"There are {', '.join(ACTS)}.")
    return render.moved(ask, "/threads", ACTS[what](ask.memory, ask.parts["id"], ask))


def _touch(memory: Memory, thread: str, _: Ask) -> Done:
    touched = touch(memory, thread)
    return Done(message=f"Noted as worked on: {touched.record.title}", undo=_untouching(touched))


def _untouching(thread: Thread) -> Undo:
    def undo(memory: Memory) -> str:
        return f"No longer noted as worked on: {untouch(memory, thread.record.id, thread.touched_at).record.title}"

    return undo


def _closing(thread: Thread) -> Undo:
    def undo(memory: Memory) -> str:
        return f"Retired: {retire(memory, thread.record.id, 'taken back right after it was opened').title}"

    return undo


def _resolve(memory: Memory, thread: str, ask: Ask) -> Done:
    before = find(memory, thread).record
    resolved = resolve(memory, thread, ask.field("note"))
    return Done(message=f"Resolved: {resolved.record.title}", undo=going_back(memory, before))


def _reopen(memory: Memory, thread: str, _: Ask) -> Done:
    before = find(memory, thread).record
    reopened = reopen(memory, thread)
    undo = together(_untouching(reopened), going_back(memory, before))
    return Done(message=f"Reopened: {reopened.record.title}", undo=undo)


ACTS: Mapping[str, Callable[[Memory, str, Ask], Done]] = {
    "touch": _touch,
    "resolve": _resolve,
    "reopen": _reopen,
    "promote": open_suggestion,
    "dismiss": dismiss_suggestion,
}
