"""Review: one inbox for everything that needs a decision, with the reason and the changed code; and threads by stage."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.pages.home import health_of
from holdfast.hosts.web.pages.record import cited_by
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Event
from holdfast.model.record import Record
from holdfast.policy.admission.admit import explain
from holdfast.verbs.memory import expires, find
from holdfast.verbs.records.actions import Action, act_on
from holdfast.verbs.records.lifecycle import Done, act
from holdfast.verbs.sessions import thread
from holdfast.verbs.upkeep import inbox

PAGE, MOST_MARKED = 20, 200
LANES = tuple(WORDS["stages"].items())
MOST_SHOWN = 6  # in a lane; the others are folded
BULK = {"approve": "kept or approved", "reject": "retired or rejected"}
_WORD = re.compile(r"\w*\d\w*|\w{4,}")


def _shown(ask: Ask) -> dict[str, Any]:
    return {"show": _show(ask), "sorts": inbox.SORTS}


@render.page_at("/review/items", "review_items.html", "Review", back="/review")
def _items(ask: Ask) -> dict[str, Any]:
    """Return a page of the inbox, the address of the next one, and how many older memories were not checked."""
    show, start, left_out = _show(ask), ask.number("from", 0, 0, 10**6), 0
    if show:
        found = inbox.waiting(ask.memory, show, limit=PAGE, offset=start)
        items, total, left_out = found.items, found.total or 0, found.not_looked_at
    else:
        counts = _counts(ask)
        totals = {name: counts[name] or 0 for name, sort in inbox.SORTS.items() if sort.urgent}
        chosen = inbox.ranges(totals, start, start + PAGE)
        pages = (inbox.waiting(ask.memory, sort, limit=high - low, offset=low) for sort, low, high in chosen)
        total, items = inbox.urgent(counts), tuple(item for page in pages for item in page.items)
    after = start + PAGE
    more = render.address(ask, "/review/items", show=show, **{"from": after}) if total > after else ""
    shown = {"rows": [_row(ask, item) for item in items], "more": more, "left_out": left_out, "continues": start}
    return _shown(ask) | shown


_part = partial(render.page_at, back="/review")
_chips = _part("/review/chips", "review_chips.html", "Review")(lambda ask: _shown(ask) | {"counts": _counts(ask)})
_part("/review/count", "review_count.html", "Review")(lambda ask: {"waiting": inbox.urgent(_counts(ask))})
_part("/review/score", "review_score.html", "The health score")(lambda ask: {"health": health_of(ask)})


def _rows(ask: Ask) -> list[render.Row]:
    show = _show(ask)
    sorts = [show] if show else [name for name, sort in inbox.SORTS.items() if sort.urgent]
    items = [item for sort in sorts for item in inbox.waiting(ask.memory, sort, limit=render.MOST_ROWS).items]
    shown = {"titled": lambda sort: inbox.SORTS[sort].title, "after_first": lambda ids: ids[1:]}
    return render.table(items, "review", **shown)


render.page_at("/review", "review.html", "Review", parts=(_chips, _items), rows=_rows)(_shown)


def _show(ask: Ask, name: str = "") -> str | None:
    show = name or ask.text("show")
    if show and show not in inbox.SORTS:
        raise Invalid(f"There is no sort {show[:40]!r}.", hint=f"Use {', '.join(inbox.SORTS)}.")
    return show or None


def _counts(ask: Ask) -> dict[str, int | None]:
    return cached_until_event(ask, "waiting", lambda: inbox.waiting_counts(ask.memory))


def _row(ask: Ask, item: inbox.Item) -> dict[str, Any]:
    """Return an item, until when it is offered, the cited code that changed, and the words that left it but not the text."""
    if item.judged is None or not item.judged.problems:
        until = expires(ask.memory, item.record) if item.sort in ("pending", "mined") else ""
        return {"item": item, "cited": (), "gone": (), "until": until}
    cited = cited_by(ask.memory.acting_on(item.record.project), item.record, item.judged)
    shown = [one for one in cited if one.state in ("changed", "missing")]
    deleted = [text.partition("</del>")[0] for one in shown for text in (one.difference or Markup()).split("<del>")[1:]]
    gone, stands = dict.fromkeys(_WORD.findall(Markup(" ").join(deleted).striptags())), _WORD.findall(item.record.text)
    return {"item": item, "cited": shown, "gone": [word for word in gone if word in stands], "until": ""}


@render.answer_at("/review/{id}/{what}", render.ACTS)
def act_on_one(ask: Ask) -> Response:
    """Carry out one decision of the inbox."""
    memory, record = ask.memory, find(ask.memory, ask.parts["id"]).record
    others = tuple(find(memory, other).record for other in ask.form.get("with", []))
    sort, text, author = _show(ask, ask.field("sort")) or _reason(record), ask.field("text"), ask.field("author")
    item = inbox.Item(sort=sort, record=record, others=others, text=text, author=author)
    return _finished(ask, inbox.decide(memory, item, ask.parts["what"], inbox.Given(reason=ask.field("reason"))))


@render.answer_at("/review/many", render.ACTS)
def act_on_many(ask: Ask) -> Response:
    """Approve or reject everything that is selected; what refuses it stays, with the reason."""
    what, ids = ask.field("what"), list(dict.fromkeys(ask.form.get("id", [])))
    if what not in BULK:
        raise Invalid(f"There is no decision {what[:40]!r}.", hint=f"Use {', '.join(BULK)}.")
    if not 0 < len(ids) <= MOST_MARKED:
        raise Invalid(f"Select between 1 and {MOST_MARKED} memories first.")
    events, refused = list[Event](), list[str]()
    for record in (find(ask.memory, id_).record for id_ in ids):
        try:
            item = inbox.Item(sort=_reason(record), record=record)
            events += inbox.decide(ask.memory, item, what, inbox.Given(reason="retired while reviewing")).events
        except Conflict as problem:
            refused.append(problem.message)
    message = f"{len(ids) - len(refused)} {BULK[what]}." + (f" {len(refused)} refused: {refused[0]}" if refused else "")
    return _finished(ask, Done(message=message, events=tuple(events)), everything=True)


def _reason(record: Record) -> str:
    """Return why a record waits where the form does not say it; one in use waits to be checked."""
    return "stale" if record.state == "active" and not record.waiting else inbox.awaited(record)


@render.answer_at("/undo", render.ACTS)
def undo_one(ask: Ask) -> Response:
    """Take the last action back; the message says what stands again."""
    message = ask.viewer.run_undo(ask.field("undo"), ask.memory)
    path = ask.field("next")
    if not ask.fragment or not path.startswith("/review"):
        return render.moved(ask, path if path.startswith("/") and path[1:2] not in ("/", "\\") else "/", message)
    return _finished(ask, Done(message=message), everything=True)


def _finished(ask: Ask, done: Done, *, everything: bool = False) -> Response:
    """Answer a request of the inbox with the message and the new counts; without scripts, lead back to it."""
    back = ask.field("next") or "/review"
    if not ask.fragment:
        return render.moved(ask, back if back.startswith("/review") else "/review", done)
    counts = _counts(ask)
    values: dict[str, Any] = {"text": done.message, "undo": ask.viewer.keep_undo(done), "next": back}
    values |= {"counts": counts, "sorts": inbox.SORTS, "show": back.partition("show=")[2].partition("&")[0]}
    headers = {"hx-trigger": "inbox"} if everything else {}
    return render.page(ask, "review_done.html", headers=headers, waiting=inbox.urgent(counts), **values)


def _thread_rows(ask: Ask) -> list[render.Row]:
    every = [each for stage in thread.triage(ask.memory).values() for each in stage]
    every += thread.resolved_threads(ask.memory, limit=render.MOST_ROWS)
    return render.table(every, "threads")


@render.page_at("/threads", "threads.html", "Threads", rows=_thread_rows)
def _board(ask: Ask) -> dict[str, Any]:
    shown = {"lanes": LANES, "stages": thread.triage(ask.memory), "most": MOST_SHOWN}
    resolved = thread.resolved_threads(ask.memory, limit=20)
    return shown | {"resolved": resolved, "suggested": thread.suggestions(ask.memory)}


@render.answer_at("/threads/open", render.ACTS)
def open_one(ask: Ask) -> Response:
    """Open a thread by hand."""
    done = act(ask.memory, lambda acting: ("Opened.", thread.open_thread(acting, ask.field("text"))))
    if isinstance(known := done.result, thread.Known):
        message = f"That thread is already open, and noted as worked on: {known.thread.record.title}"
        return render.moved(ask, "/threads", replace(done, message=message))
    return render.moved(ask, "/threads", done if isinstance(done.result, thread.Opened) else str(explain(done.result)))


@render.answer_at("/threads/{id}/{what}", render.ACTS)
def act_on_thread(ask: Ask) -> Response:
    """Run one action on a thread or a suggested thread."""
    done = act_on(ask.memory, ask.parts["id"], ask.parts["what"], ask.fields, ACTS)
    return render.moved(ask, "/threads", done)


ACTS = {
    "touch": Action("Noted as worked on: {result.record.title}", thread.touch),
    "resolve": Action("Resolved: {result.record.title}", thread.resolve, ("note",)),
    "reopen": Action("Reopened: {result.record.title}", thread.reopen),
    "promote": Action("Opened as a thread: {result.title}", thread.promote),
    "dismiss": Action("Dismissed: {result}", inbox.dismissed),
}
