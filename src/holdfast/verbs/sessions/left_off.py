"""Find where work was left off: the last real piece of work of a project, by branch and worktree."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.engine.search.lexical import similar
from holdfast.engine.views import links, records, sessions
from holdfast.model.record import Record
from holdfast.model.text import shorten, texts_of
from holdfast.policy.sessions.left_off import LeftOff
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import newest_of_kind

LOOKED_AT, MOST_BRANCHES, MOST_SINCE, MOST_WROTE, MOST_BESIDE = 60, 5, 3, 5, 2
SAME = 0.9  # share of common words from which a memory says the same as a sentence
PASSING = 200  # characters of an answer given in passing


def left_by_branch(memory: Memory, *, without: str = "", until: str = "") -> list[LeftOff]:
    """Return the last work on each branch: that of this branch first, in this worktree if there is any, then the latest.

    `without` is a session that is not looked at: the one that asks. Work that ended at `until` or later is left out.
    """
    here = memory.checkout.origin()
    by_session = dict[str, Record]()
    # What the agent wrote when it closed a session is completed by what hooks saw.
    latest = newest_of_kind(memory, "summary", limit=LOOKED_AT)
    for summary in sorted(latest, key=lambda summary: (summary.by.kind == "rule", summary.id)):
        session = _session_of(summary)
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
            by_session[known.id] = Record(
                id="", kind="summary", title=known.title, fields=state, extra=extra, project=known.project
            )
    found = sorted((one for one in by_session.values() if not until or _ended(one) < until), key=_ended, reverse=True)
    works, passing = list[LeftOff](), list[str]()
    for summary in found:
        # It is work if something was changed, run, planned or left open, or the agent closed the session itself.
        filled = any(map(summary.fields.get, ("files_modified", "completed", "next_steps", "notes", "constraints")))
        if works or filled or summary.by.kind != "rule" or summary.extra.get("interrupted") is True:
            works.append(_left(summary, passing))
            passing = []
        else:
            said = summary.fields.get("state")
            passing.append(f"{summary.title}: {shorten(said, PASSING)}" if isinstance(said, str) else summary.title)
    works = works or [_left(summary, ()) for summary in found[:1]]
    own = [work for work in works if work.branch == here.branch and work.worktree == here.worktree]
    ordered = [*own, *(work for work in works if work.branch == here.branch), *works]
    last = {work.branch: work for work in reversed(ordered)}
    began = {known.id: known.started_at for known in page}
    for work in reversed(works):  # other sessions on the branch since it began
        first = last[work.branch]
        if work.session != first.session and work.at > began.get(first.session, "~"):
            last[work.branch] = replace(first, beside=(work, *first.beside)[:MOST_BESIDE])
    branches = dict.fromkeys(work.branch for work in ordered)
    return [current(memory, last[branch]) for branch in [*branches][:MOST_BRANCHES]]


def current(memory: Memory, work: LeftOff, listed: Sequence[str] = ()) -> LeftOff:
    """Return a piece of work without what its user said that was retired or superseded since, or is a memory that is `listed`."""
    said = list[str]()
    for line in texts_of(work.summary.fields.get("constraints")):
        asked = Record(id="", body=line, project=memory.project)
        near = (one for gone in (False, True) for one in similar(memory.store, asked, retired=gone))
        same = {record.id: record.state for record, share in near if share >= SAME}
        known = {id_ for id_ in same if same[id_] == "active"} - links.superseded(memory.store, same).keys()
        said += [line] if not same or (known and known.isdisjoint(listed)) else []
    summary = replace(work.summary, fields={**work.summary.fields, "constraints": said})
    return replace(work, summary=summary, beside=tuple(current(memory, other, listed) for other in work.beside))


def _left(summary: Record, passing: Sequence[str]) -> LeftOff:
    return LeftOff(
        session=_session_of(summary),
        summary=summary,
        branch=str(summary.extra.get("branch") or summary.origin.branch),
        worktree=str(summary.extra.get("worktree") or summary.origin.worktree),
        at=_ended(summary),
        since=tuple(passing[:MOST_SINCE]),
    )


def _session_of(summary: Record) -> str:
    return str(summary.extra.get("session") or summary.by.session)


def _ended(summary: Record) -> str:
    return str(summary.extra.get("at") or summary.created_at)
