"""Review: one inbox for everything that waits for a person, with the reason, the changed code, buttons and keys."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import MOST_ROWS, download, is_wanted
from holdfast.hosts.web.flash import (
    Done,
    Undo,
    forgetting_use,
    going_back,
    keep_undo,
    run_undo,
    together,
    trusting_again,
)
from holdfast.hosts.web.freshness import Cited, cited_by
from holdfast.hosts.web.pages.record import home_of
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.ranking.health import word_for
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.browse import browse
from holdfast.verbs.records.lifecycle import Revision, link, rename_scope, retire, revise
from holdfast.verbs.records.quarantine import Decided, accept, reject, withdraw
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.sessions.suggest import dismiss, offer_again, promote
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, split
from holdfast.verbs.truth.contradictions import resolve
from holdfast.verbs.truth.verify import update_value, verify
from holdfast.verbs.upkeep.health import Health, health
from holdfast.verbs.upkeep.inbox import URGENT, Sort, Waiting, WaitingItem, compared, waiting, waiting_counts

PAGE, FEW, MOST_MARKED, MOST_RENAMED = 20, 3, 200, 1_000
LABELS: Mapping[Sort, tuple[str, str]] = {
    "stale": ("Stale", "Cited code changed or is gone."),
    "doubted": ("Reported wrong", "An agent or a person reported it wrong."),
    "contradiction": ("Contradictions", "Two memories that cannot both be true."),
    "pending": ("Needs approval", "An agent concluded it; it is used once you approve it."),
    "quarantined": ("From others", "From an author you have not accepted yet; not used until you do."),
    "mined": ("Suggested memories", "Found by rules in what sessions wrote."),
    "suggestion": ("Suggested threads", "Sessions keep coming back to it."),
    "overwritten": ("Edited twice", "Edited in two places at once; one text replaced the other."),
    "scope": ("Misspelled scopes", "A scope that looks like another one."),
    "duplicate": ("Near-duplicates", "Memories that say the same."),
    "unchecked": ("Not verified", "Never verified, or more than a month ago."),
    "unused": ("Never helped", "Shown without effect, or never shown, for a month."),
}
RARE: tuple[Sort, ...] = ("mined", "suggestion", "overwritten", "scope")  # no chip unless something waits
SLOW: tuple[Sort, ...] = ("contradiction", "duplicate")  # found by comparing many texts: loaded after the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One item as it is displayed: with the cited code that changed."""

    item: WaitingItem
    cited: tuple[Cited, ...] = ()


def page(ask: Ask) -> Response:
    """Return the inbox; in a large project its list and counts load after the page."""
    show = _show(ask)
    if is_wanted(ask):
        return download(ask, "review", _export(ask, show))
    later = is_large(ask)
    shown: dict[str, Any] = {"show": show, "labels": LABELS, "rare": RARE, "later": later, "slow": SLOW}
    if not later:
        shown |= {"counts": _counts(ask), **_rows(ask, show)}
    return render.page(ask, "review.html", title="Review", **shown)


def _export(ask: Ask, show: Sort | None) -> list[dict[str, object]]:
    """Return a row for each item that waits for one reason, or for all urgent ones."""
    sorts = [show] if show else [sort for sort in LABELS if sort in URGENT]
    return [
        {
            "reason": LABELS[item.sort][0],
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
    shown = {"show": show, "labels": LABELS, "continues": ask.number("from", 0, 0, 10**6), **_rows(ask, show)}
    return render.part(ask, "review_items.html", "Review", "/review", **shown)


def chips_part(ask: Ask) -> Response:
    """Return the counts of the inbox."""
    shown = {"show": _show(ask), "labels": LABELS, "rare": RARE, "counts": _counts(ask)}
    return render.part(ask, "review_chips.html", "Review", "/review", **shown)


def count_part(ask: Ask) -> Response:
    """Return how many things wait, for the badge of the navigation."""
    return render.part(ask, "review_count.html", "Review", "/review", waiting=urgent(_counts(ask)))


def score_part(ask: Ask) -> Response:
    """Return the health score and what it is made of."""
    report: Health = cached_until_event(ask, "health", lambda: health(ask.memory))
    shown = {"health": report, "word": word_for(report.score)}
    return render.part(ask, "review_score.html", "The health score", "/review", **shown)


def urgent(counts: Mapping[Sort, int | None]) -> int:
    """Return how many things wait for a decision; what is merely unused or unverified does not count."""
    return sum(counts.get(sort) or 0 for sort in URGENT)


def _show(ask: Ask) -> Sort | None:
    show = ask.text("show")
    if show and show not in LABELS:
        raise Invalid(f"Nothing waits for the reason {show[:40]!r}.", hint=f"There are {', '.join(LABELS)}.")
    return next((sort for sort in LABELS if sort == show), None)


def _counts(ask: Ask) -> dict[Sort, int | None]:
    counts: dict[Sort, int | None] = cached_until_event(ask, "waiting", lambda: waiting_counts(ask.memory))
    return counts


def _rows(ask: Ask, show: Sort | None) -> dict[str, Any]:
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


def _urgent(ask: Ask, counts: Mapping[Sort, int | None], start: int) -> tuple[WaitingItem, ...]:
    """Return a page of everything urgent, sort by sort."""
    items, before = list[WaitingItem](), 0
    for sort in (sort for sort in LABELS if sort in URGENT):
        total = counts[sort] or 0
        low, high = max(0, start - before), min(total, start + PAGE - before)
        if high > low:
            items += waiting(ask.memory, sort, limit=high - low, offset=low).items
        before += total
    return tuple(items)


def _row(ask: Ask, item: WaitingItem) -> Row:
    if item.judged is None or not item.judged.problems:
        return Row(item=item)
    cited = cited_by(home_of(ask, item.record), item.record)
    return Row(item=item, cited=tuple(one for one in cited if one.state in ("changed", "missing")))


def _by_rule(ask: Ask, show: Sort) -> Response:
    """Return what comparing texts found: contradictions that no one marked, or near-duplicates."""
    found: Waiting = cached_until_event(ask, show, lambda: compared(ask.memory, show, limit=PAGE))
    items = found.items[:FEW] if ask.text("few") else found.items
    shown = {"rows": [Row(item=item) for item in items], "found": found, "labels": LABELS, "show": show}
    return render.part(ask, "review_compared.html", LABELS[show][0], "/review", **shown)


def resolve_one(ask: Ask) -> Response:
    """Resolve a contradiction."""
    pair = [find(ask.memory, ask.field(name)).record for name in ("one", "other")]
    done = resolve(
        ask.memory,
        pair[0].id,
        pair[1].id,
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
    message = f"“{done.kept.title}” {words[done.how]} “{done.other.title}”."
    undo = going_back(ask.memory, *pair)
    if done.how == "weaken":
        weak = done.other.id
        undo = together(trusting_again(ask.memory, weak), forgetting_use(ask.memory, weak), undo) or undo
    return _finished(ask, Done(message=message, undo=undo))


def act(ask: Ask) -> Response:
    """Run one action of the inbox."""
    what = ask.parts["what"]
    if what not in ACTS:
        raise Invalid(f"Nothing here is called {what[:40]!r}.", hint=f"There are {', '.join(ACTS)}.")
    return _finished(ask, ACTS[what](ask.memory, ask.parts["id"], ask))


def act_on_many(ask: Ask) -> Response:
    """Run an action on everything that is selected; what refuses it stays, with the reason."""
    what, ids = ask.field("what"), list(dict.fromkeys(ask.form.get("id", [])))
    if what not in ("keep", "retire"):
        raise Invalid(f"Nothing here is called {what[:40]!r}.", hint="There are keep and retire.")
    if not 0 < len(ids) <= MOST_MARKED:
        raise Invalid(f"Select between 1 and {MOST_MARKED} memories first.")
    done, refused = list[Done](), list[str]()
    for record_id in ids:
        try:
            done.append((_keep if what == "keep" else _drop)(ask.memory, record_id, ask))
        except Conflict as problem:
            refused.append(problem.message)
    verb = "kept" if what == "keep" else "retired or rejected"
    message = f"{len(done)} {verb}." + (f" {len(refused)} refused: {refused[0]}" if refused else "")
    undo = together(*(one.undo for one in done)) if done else None
    return _finished(ask, Done(message=message, undo=undo), everything=True)


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
    undo = keep_undo(ask.viewer.undos, done.undo)
    counts = _counts(ask)
    show = back.partition("show=")[2].partition("&")[0]
    shown: dict[str, Any] = {
        "text": done.message,
        "undo": undo,
        "next": back,
        "counts": counts,
        "labels": LABELS,
        "rare": RARE,
        "show": show,
    }
    answer = render.page(ask, "review_done.html", waiting=urgent(counts), **shown)
    if everything:
        answer.headers["hx-trigger"] = "inbox"
    return answer


def _keep(memory: Memory, record_id: str, ask: Ask) -> Done:
    """Decide for a record, whatever it waits for: approve it, accept it, or note that it still holds."""
    record = find(memory, record_id).record
    if record.waiting:
        return _accept(memory, record_id, ask)
    if record.state != "pending":
        return Done(message=f"Still true: {verify(memory, record_id).title}", undo=going_back(memory, record))
    if record.kind == "thread":
        return open_suggestion(memory, record_id, ask)
    approve = mining.approve if mining.is_mined(record) else confirm
    outcome = approve(memory, record_id, waivers=Waivers(duplicate=True))
    if not isinstance(outcome, Written | WrittenPending):
        raise Conflict(str(explain(outcome)))
    return Done(message=f"Approved: {outcome.record.title}", undo=going_back(memory, record))


def _drop(memory: Memory, record_id: str, ask: Ask) -> Done:
    """Decide against a record, whatever it waits for: reject or retire it."""
    record = find(memory, record_id).record
    if record.waiting:
        return _reject(memory, record_id, ask)
    if record.state != "pending":
        retired = retire(memory, record_id, ask.field("reason") or "retired while reviewing")
        return Done(message=f"Retired: {retired.title}", undo=going_back(memory, record))
    if record.kind == "thread":
        return dismiss_suggestion(memory, record_id, ask)
    if mining.is_mined(record):
        mining.reject(memory, [record_id])
        return Done(message=f"Rejected for good: {record.title}", undo=going_back(memory, record))
    cancel(memory, record_id)
    return Done(message=f"Rejected: {record.title}", undo=going_back(memory, record))


def open_suggestion(memory: Memory, record_id: str, _: Ask) -> Done:
    """Open a suggested thread."""
    before = find(memory, record_id).record
    return Done(message=f"A thread now: {promote(memory, record_id).title}", undo=going_back(memory, before))


def dismiss_suggestion(memory: Memory, record_id: str, _: Ask) -> Done:
    """Dismiss a suggested thread."""
    record, left = dismiss(memory, record_id)

    def undo(memory: Memory) -> str:
        return f"Suggested again: {offer_again(memory, record.id).title}"

    return Done(message=f"Dismissed: {record.title}" + ("" if left > 0 else ". It will not come back."), undo=undo)


def _accept(memory: Memory, record_id: str, ask: Ask) -> Done:
    decided = accept(memory, [ask.field("author") or record_id])
    return Done(message=f"Accepted: {_named(memory, decided)}", undo=_undecided(decided))


def _reject(memory: Memory, record_id: str, ask: Ask) -> Done:
    decided = reject(memory, [ask.field("author") or record_id])
    return Done(message=f"Rejected: {_named(memory, decided)}", undo=_undecided(decided))


def _undecided(decided: Decided) -> Undo:
    def undo(memory: Memory) -> str:
        withdraw(memory, decided)
        return f"In quarantine again: {_named(memory, decided)}"

    return undo


def _named(memory: Memory, done: Decided) -> str:
    return ", ".join(done.authors) or find(memory, done.records[0]).record.title


def _update(memory: Memory, record_id: str, _: Ask) -> Done:
    before = find(memory, record_id).record
    return Done(message=f"Updated: {update_value(memory, record_id).title}", undo=going_back(memory, before))


def _merge(memory: Memory, record_id: str, ask: Ask) -> Done:
    merged = consolidate(memory, proposal_of(memory, [record_id, *ask.form.get("with", [])]))

    def undo(memory: Memory) -> str:
        return f"{len(split(memory, merged.id))} memories are separate again."

    return Done(message=f"Merged: {merged.title}", undo=undo)


def _apart(memory: Memory, record_id: str, ask: Ask) -> Done:
    before = find(memory, record_id).record
    for other in ask.form.get("with", []):
        link(memory, record_id, "relates_to", other)
    return Done(message=f"Kept apart: {before.title}", undo=going_back(memory, before))


def _reword(memory: Memory, record_id: str, ask: Ask) -> Done:
    before = find(memory, record_id).record
    outcome = revise(memory, record_id, Revision(body=ask.field("text")))
    if not isinstance(outcome, Record):
        raise Conflict(f"Not saved: {explain(outcome).reason}")
    return Done(message=f"Brought back: {outcome.title}", undo=going_back(memory, before))


def _rename(memory: Memory, scope: str, ask: Ask) -> Done:
    meant = ask.field("meant")
    states = ("active", "pending", "retired")
    before = browse(memory, Query(text="", everywhere=True, scopes=(scope,), limit=MOST_RENAMED), states=states).entries
    renamed = rename_scope(memory, scope, meant)
    message = f"{len(renamed)} {'memory is' if len(renamed) == 1 else 'memories are'} in {meant} now."
    undo = going_back(memory, *(entry.record for entry in before)) if len(before) == len(renamed) else None
    return Done(message=message, undo=undo)


ACTS: Mapping[str, Callable[[Memory, str, Ask], Done]] = {
    "keep": _keep,
    "drop": _drop,
    "accept": _accept,
    "reject": _reject,
    "update": _update,
    "merge": _merge,
    "apart": _apart,
    "reword": _reword,
    "rename": _rename,
}
