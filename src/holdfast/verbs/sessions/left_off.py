"""Find where work was left off: the last real piece of work of a project, by branch and worktree."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.engine.views import links, records, sessions
from holdfast.model.record import Record
from holdfast.model.text import shorten, texts_of
from holdfast.policy.sessions.left_off import LeftOff
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import status_of
from holdfast.verbs.records.read import newest_of_kind

LOOKED_AT, MOST_BRANCHES, MOST_SINCE, MOST_WROTE, MOST_BESIDE = 60, 5, 3, 5, 2
WORKED = ("files_modified", "completed", "next_steps", "notes")  # parts of a summary that only work fills
PASSING, SAME = 200, 0.7  # characters of an answer given in passing; share of a sentence that a memory repeats


def left_by_branch(memory: Memory, *, without: str = "", until: str = "") -> list[LeftOff]:
    """Return the last work on each branch: that of this branch first, in this worktree if there is any, then the latest.

    `without` is a session that is not looked at: the one that asks. Work that ended at `until` or later is left out.
    """
    here = memory.checkout.origin()
    by_session = dict[str, Record]()
    # What the agent wrote when it closed a session is completed by what hooks saw.
    latest = newest_of_kind(memory, "summary", limit=LOOKED_AT)
    for summary in sorted(latest, key=lambda summary: (summary.by.kind == "rule", summary.id)):
        session = str(summary.extra.get("session") or summary.by.session)
        if written := by_session.get(session):
            fields = {**summary.fields, **{name: value for name, value in written.fields.items() if value}}
            by_session[session] = replace(written, fields=fields, extra={**summary.extra, **written.extra})
        elif session != without:
            by_session[session] = summary
    # Of a session without a summary that was never closed, its title and what it wrote are known.
    page = sessions.page(memory.store, memory.project, limit=LOOKED_AT)
    for known in page:
        if known.is_open and known.title and not known.implicit and known.id not in (*by_session, without):
            entries = records.of_session(memory.store, known.id, limit=MOST_WROTE)
            wrote = dict.fromkeys(entry.record.title.rstrip(".") for entry in entries)
            extra = {"session": known.id, "at": known.started_at, "interrupted": True}
            state = {"state": f"It wrote: {'; '.join(wrote)}"} if wrote else {}
            by_session[known.id] = Record(id="", kind="summary", title=known.title, fields=state, extra=extra)
    found, works, passing = list[LeftOff](), list[LeftOff](), list[str]()
    for session, summary in by_session.items():
        at, own, origin = str(summary.extra.get("at") or summary.created_at), summary.extra, summary.origin
        branch, worktree = (str(own.get(name) or getattr(origin, name)) for name in ("branch", "worktree"))
        work = LeftOff(session=session, summary=summary, branch=branch, worktree=worktree, at=at)
        # What was only stated is a memory of its own.
        is_told = any(map(summary.fields.get, ("request", *WORKED))) or summary.by.kind != "rule"
        found += [work] if is_told and (not until or at < until) else []
    # What was merged into the default branch is work on it.
    tips = {work.branch: work.summary.origin.commit for work in found if here.branch == memory.checkout.default_branch}
    merged = [name for name, status in status_of(memory, tips).items() if status == "merged"]
    found = [replace(work, branch=here.branch) if work.branch in merged else work for work in found]
    found.sort(key=lambda work: work.at, reverse=True)
    for work in found:
        # It is work if something was changed, run, planned or left open, or the agent closed the session itself.
        summary = work.summary
        filled = any(map(summary.fields.get, (*WORKED, "constraints")))
        if works or filled or summary.by.kind != "rule" or summary.extra.get("interrupted") is True:
            works.append(replace(work, since=tuple(passing[:MOST_SINCE])))
            passing = []
        else:
            said = summary.fields.get("state")
            passing.append(f"{summary.title}: {shorten(said, PASSING)}" if isinstance(said, str) else summary.title)
    works = works or found[:1]
    ordered = sorted(works, key=lambda one: -(one.branch == here.branch) * (1 + (one.worktree == here.worktree)))
    began, last = {known.id: known.started_at for known in page}, dict[str, LeftOff]()
    for work in ordered:
        first = last.setdefault(work.branch, work)
        parallel = [work] if work is not first and work.at > began.get(first.session, "~") else []
        last[work.branch] = replace(first, beside=(*first.beside, *parallel)[:MOST_BESIDE])
    return [current(memory, work) for work in [*last.values()][:MOST_BRANCHES]]


def current(memory: Memory, work: LeftOff, listed: Sequence[str] = ()) -> LeftOff:
    """Return a piece of work without statements of the user that were retired or superseded, or are memories that are `listed`."""
    wrote = [entry.record for entry in records.of_session(memory.store, work.session)]
    over = {*links.superseded(memory.store, [record.id for record in wrote]), *listed}
    texts = [(one.body or one.title).rstrip(".") for one in wrote if one.id in over or one.state == "retired"]
    lines = texts_of(work.summary.fields.get("constraints"))
    said = [line for line in lines if not any(text in line and len(text) >= SAME * len(line) for text in texts)]
    summary = replace(work.summary, fields={**work.summary.fields, "constraints": said})
    return replace(work, summary=summary, beside=tuple(current(memory, other, listed) for other in work.beside))
