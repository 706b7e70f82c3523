"""Review: one inbox for everything that waits for a person, with the reason, the changed code, buttons and keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import MOST_ROWS, download, is_wanted
from holdfast.hosts.web.flash import keep_undo, run_undo, undo_of
from holdfast.hosts.web.freshness import Cited, cited_by
from holdfast.hosts.web.pages.record import home_of
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Event
from holdfast.model.record import Record
from holdfast.policy.ranking.health import word_for
from holdfast.verbs.memory import find
from holdfast.verbs.records.undo import Done
from holdfast.verbs.upkeep.health import Health, health
from holdfast.verbs.upkeep.inbox import (
    SORTS,
    Given,
    Item,
    Waiting,
    awaited,
    compared,
    decide,
    waiting,
    waiting_counts,
)

PAGE, FEW, MOST_MARKED = 20, 3, 200
BULK = {"approve": "kept or approved", "reject": "retired or rejected"}
SLOW = tuple(
    name for name, sort in SORTS.items() if sort.compare
)  # found by comparing many texts: loaded after the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One item as it is displayed: with the cited code that changed."""

    item: Item
    cited: tuple[Cited, ...] = ()


def page(ask: Ask) -> Response:
    """Return the inbox; in a large project its list and counts load after the page."""
    show = _show(ask)
    if is_wanted(ask):
        return download(ask, "review", _export(ask, show))
    later = is_large(ask)
    shown: dict[str, Any] = {"show": show, "sorts": SORTS, "later": later, "slow": SLOW}
    if not later:
        shown |= {"counts": _counts(ask), **_rows(ask, show)}
    return render.page(ask, "review.html", title="Review", **shown)


def _export(ask: Ask, show: str | None) -> list[dict[str, object]]:
    """Return a row for each item that waits for one reason, or for all urgent ones."""
    sorts = [show] if show else [name for name, sort in SORTS.items() if sort.urgent]
    return [
        {
            "reason": SORTS[item.sort].title,
            "why": item.why,
            "id": item.record.id,
            "kind": item.record.kind,
            "title": item.record.title,
            "others": tuple(other.id for other in item.others),
        }
        for sort in sorts
        for item in waiting(ask.memory, sort, limit=MOST_ROWS).items
    ]


def items_part(ask: Ask) -> Response:
    """Return items of the inbox; without scripts as a page."""
    show = _show(ask)
    if show in SLOW and ask.text("by") == "rule":
        return _by_rule(ask, show)
    shown = {"show": show, "sorts": SORTS, "continues": ask.number("from", 0, 0, 10**6), **_rows(ask, show)}
    return render.part(ask, "review_items.html", "Review", "/review", **shown)


def chips_part(ask: Ask) -> Response:
    """Return the counts of the inbox."""
    shown = {"show": _show(ask), "sorts": SORTS, "counts": _counts(ask)}
    return render.part(ask, "review_chips.html", "Review", "/review", **shown)


def count_part(ask: Ask) -> Response:
    """Return how many things wait, for the badge of the navigation."""
    return render.part(ask, "review_count.html", "Review", "/review", waiting=urgent(_counts(ask)))


def score_part(ask: Ask) -> Response:
    """Return the health score and what it is made of."""
    report: Health = cached_until_event(ask, "health", lambda: health(ask.memory))
    shown = {"health": report, "word": word_for(report.score)}
    return render.part(ask, "review_score.html", "The health score", "/review", **shown)


def urgent(counts: Mapping[str, int | None]) -> int:
    """Return how many things wait for a decision; what is merely unused or unverified does not count."""
    return sum(counts.get(name) or 0 for name, sort in SORTS.items() if sort.urgent)


def _show(ask: Ask, name: str = "") -> str | None:
    show = name or ask.text("show")
    if show and show not in SORTS:
        raise Invalid(f"Nothing waits for the reason {show[:40]!r}.", hint=f"Use {', '.join(SORTS)}.")
    return show or None


def _counts(ask: Ask) -> dict[str, int | None]:
    counts: dict[str, int | None] = cached_until_event(ask, "waiting", lambda: waiting_counts(ask.memory))
    return counts


def _rows(ask: Ask, show: str | None) -> dict[str, Any]:
    """Return a page of the inbox, the address of the next one, and how many older memories were not checked."""
    start, left_out = ask.number("from", 0, 0, 10**6), 0
    if show:
        found = waiting(ask.memory, show, limit=PAGE, offset=start)
        items, total, left_out = found.items, found.total or 0, found.not_looked_at
    else:
        counts = _counts(ask)
        total, items = urgent(counts), _urgent(ask, counts, start)
    after = start + PAGE
    more = render.address(ask, "/review/items", show=show, **{"from": after}) if total > after else ""
    return {"rows": [_row(ask, item) for item in items], "more": more, "left_out": left_out}


def _urgent(ask: Ask, counts: Mapping[str, int | None], start: int) -> tuple[Item, ...]:
    """Return a page of everything urgent, sort by sort."""
    items, before = list[Item](), 0
    for sort in (name for name, sort in SORTS.items() if sort.urgent):
        total = counts[sort] or 0
        low, high = max(0, start - before), min(total, start + PAGE - before)
        if high > low:
            items += waiting(ask.memory, sort, limit=high - low, offset=low).items
        before += total
    return tuple(items)


def _row(ask: Ask, item: Item) -> Row:
    if item.judged is None or not item.judged.problems:
        return Row(item=item)
    cited = cited_by(home_of(ask, item.record), item.record)
    return Row(item=item, cited=tuple(one for one in cited if one.state in ("changed", "missing")))


def _by_rule(ask: Ask, show: str) -> Response:
    """Return what comparing texts found: contradictions that no one marked, or near-duplicates."""
    found: Waiting = cached_until_event(ask, show, lambda: compared(ask.memory, show, limit=PAGE))
    items = found.items[:FEW] if ask.text("few") else found.items
    shown = {"rows": [Row(item=item) for item in items], "found": found, "sorts": SORTS, "show": show}
    return render.part(ask, "review_compared.html", SORTS[show].title, "/review", **shown)


def act_on_one(ask: Ask) -> Response:
    """Carry out one decision of the inbox."""
    memory, record = ask.memory, find(ask.memory, ask.parts["id"]).record
    item = Item(
        sort=_show(ask, ask.field("sort")) or _reason(record),
        record=record,
        others=tuple(find(memory, other).record for other in ask.form.get("with", [])),
        text=ask.field("text"),
        author=ask.field("author"),
    )
    return _finished(ask, decide(memory, item, ask.parts["what"], Given(reason=ask.field("reason"))))


def act_on_many(ask: Ask) -> Response:
    """Approve or reject everything that is selected; what refuses it stays, with the reason."""
    what, ids = ask.field("what"), list(dict.fromkeys(ask.form.get("id", [])))
    if what not in BULK:
        raise Invalid(f"There is no decision {what[:40]!r}.", hint=f"Use {', '.join(BULK)}.")
    if not 0 < len(ids) <= MOST_MARKED:
        raise Invalid(f"Select between 1 and {MOST_MARKED} memories first.")
    events, done, refused = list[Event](), 0, list[str]()
    for record in (find(ask.memory, id_).record for id_ in ids):
        try:
            item = Item(sort=_reason(record), record=record)
            events += decide(ask.memory, item, what, Given(reason="retired while reviewing")).events
            done += 1
        except Conflict as problem:
            refused.append(problem.message)
    message = f"{done} {BULK[what]}." + (f" {len(refused)} refused: {refused[0]}" if refused else "")
    return _finished(ask, Done(message=message, events=tuple(events)), everything=True)


def _reason(record: Record) -> str:
    """Return why a record waits where the form does not say it; one in use waits to be checked."""
    return "stale" if record.state == "active" and not record.waiting else awaited(record)


def undo_one(ask: Ask) -> Response:
    """Take the last action back; the message says what stands again."""
    message = run_undo(ask.viewer.undos, ask.field("undo"), ask.memory)
    path = ask.field("next")
    if not ask.fragment or not path.startswith("/review"):
        return render.moved(ask, path if path.startswith("/") and path[1:2] not in ("/", "\\") else "/", message)
    return _finished(ask, Done(message=message), everything=True)


def _finished(ask: Ask, done: Done, *, everything: bool = False) -> Response:
    """Answer a request of the inbox with the message and the new counts; without scripts, lead back to it."""
    back = ask.field("next") or "/review"
    if not ask.fragment:
        return render.moved(ask, back if back.startswith("/review") else "/review", done)
    undo = keep_undo(ask.viewer.undos, undo_of(done))
    counts = _counts(ask)
    show = back.partition("show=")[2].partition("&")[0]
    shown: dict[str, Any] = {
        "text": done.message,
        "undo": undo,
        "next": back,
        "counts": counts,
        "sorts": SORTS,
        "show": show,
    }
    answer = render.page(ask, "review_done.html", waiting=urgent(counts), **shown)
    if everything:
        answer.headers["hx-trigger"] = "inbox"
    return answer
