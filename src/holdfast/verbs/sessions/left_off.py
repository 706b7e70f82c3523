"""Find where work was left off: the last real piece of work of a project, by branch and worktree."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.engine.views import records, sessions
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import shorten
from holdfast.policy.sessions.left_off import LeftOff
from holdfast.verbs.memory import Memory

LOOKED_AT, MOST_BRANCHES, MOST_SINCE, MOST_WROTE = 60, 5, 3, 5
PASSING = 200  # characters of an answer given in passing


def left_off(memory: Memory, *, without: str = "") -> LeftOff | None:
    """Return the last work on this branch in this worktree, else on this branch, else anywhere in the project.

    `without` is a session that is not looked at: the one that asks.
    """
    works = left_by_branch(memory, without=without)
    return works[0] if works else None


def left_by_branch(memory: Memory, *, without: str = "") -> list[LeftOff]:
    """Return the last work on each branch: that of this branch first, then the latest."""
    here = memory.checkout.origin()
    works = _works(memory, without)
    own = [work for work in works if work.branch == here.branch and work.worktree == here.worktree]
    ordered = [*own, *(work for work in works if work.branch == here.branch), *works]
    latest = {work.branch: work for work in reversed(ordered)}
    return [latest[branch] for branch in dict.fromkeys(work.branch for work in ordered)][:MOST_BRANCHES]


def _works(memory: Memory, without: str) -> list[LeftOff]:
    """Return the sessions that did something, latest first; what was only asked in passing since goes to the one before."""
    project = memory.store.project_number(memory.project)
    summaries = [entry.record for entry in records.newest(memory.store, "summary", project, limit=LOOKED_AT)]
    by_session = {session: _merged(own) for session, own in _grouped(summaries).items() if session != without}
    known = sessions.page(memory.store, memory.project, limit=LOOKED_AT)
    titled = (_of_title(memory, session) for session in known if session.id not in by_session and session.id != without)
    found = sorted([*by_session.values(), *(summary for summary in titled if summary)], key=_ended, reverse=True)
    works, passing = list[LeftOff](), list[str]()
    for summary in found:
        if works or _is_work(summary):
            works.append(_left(summary, passing))
            passing = []
        else:
            passing.append(_in_one_line(summary))
    return works or [_left(summary, ()) for summary in found[:1]]


def _grouped(summaries: Sequence[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for summary in summaries:
        groups.setdefault(str(summary.extra.get("session") or summary.by.session), []).append(summary)
    return groups


def _merged(summaries: Sequence[Record]) -> Record:
    """Return one summary of a session: what its agent wrote when it closed, completed by what hooks saw."""
    written, *others = sorted(summaries, key=lambda summary: (summary.by.kind == "rule", summary.id))
    for other in others:
        fields = {**other.fields, **{name: value for name, value in written.fields.items() if value}}
        written = replace(written, fields=fields, extra={**other.extra, **written.extra})
    return written


def _of_title(memory: Memory, session: Session) -> Record | None:
    """Return what is known of a session without a summary that was never closed: its title and what it wrote."""
    if session.implicit or not session.title or not session.is_open:
        return None
    wrote = [entry.record.title for entry in records.of_session(memory.store, session.id, limit=MOST_WROTE)]
    extra = {"session": session.id, "at": session.started_at, "interrupted": True}
    fields = {"state": f"It wrote: {'; '.join(wrote)}"} if wrote else {}
    return Record(id="", kind="summary", title=session.title, fields=fields, extra=extra, project=session.project)


def _left(summary: Record, passing: Iterable[str]) -> LeftOff:
    extra = summary.extra
    return LeftOff(
        session=str(extra.get("session") or summary.by.session),
        summary=summary,
        branch=str(extra.get("branch") or summary.origin.branch),
        worktree=str(extra.get("worktree") or summary.origin.worktree),
        at=_ended(summary),
        since=tuple(list(passing)[:MOST_SINCE]),
    )


def _in_one_line(summary: Record) -> str:
    state = summary.fields.get("state")
    return f"{summary.title}: {shorten(state, PASSING)}" if isinstance(state, str) else summary.title


def _ended(summary: Record) -> str:
    return str(summary.extra.get("at") or summary.created_at)


def _is_work(summary: Record) -> bool:
    """True if something was changed, run, planned or left open, or the agent closed the session itself."""
    fields = summary.fields
    wrote = any(fields.get(name) for name in ("files_modified", "completed", "next_steps", "notes", "constraints"))
    return wrote or summary.by.kind != "rule" or summary.extra.get("interrupted") is True
