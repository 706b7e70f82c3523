"""Find where work was left off: the last real piece of work of a project, by branch and worktree."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.engine.views import records, sessions
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.sessions.left_off import LeftOff
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import newest_of_kind

LOOKED_AT, MOST_BRANCHES, MOST_SINCE, MOST_WROTE = 60, 5, 3, 5
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
    for known in sessions.page(memory.store, memory.project, limit=LOOKED_AT):
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
    return [last[branch] for branch in dict.fromkeys(work.branch for work in ordered)][:MOST_BRANCHES]


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
