"""Logged output of sessions and the patterns counted in it: raw data outside the journal, capped and expiring."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from holdfast.engine.database import Queries, as_dict, column, insert, value
from holdfast.engine.journal import Journal, counted_up

_SQL = Queries(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One logged output of a session."""

    number: int
    project: int
    session: str
    at: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern mined from output, with how often and in how many sessions it was found."""

    id: str
    key: str
    kind: str
    body: str
    confidence: float
    occurrences: int = 1
    sessions: int = 1
    first_at: str = ""
    last_at: str = ""


def add(store: Journal, *, project: int, session: str, at: str, body: str) -> int:
    """Store an output and return its number. Writers number outputs one at a time, so a watermark never skips one."""
    with store.db.transaction():
        number = counted_up(store.db, "outputs")
        row = {"number": number, "project": project, "session": session, "at": at, "size": len(body), "body": body}
        insert(store.db, "outputs", [row])
    return number


def prune(store: Journal, *, before: str, characters: int, outputs: int) -> int:
    """Delete outputs older than an instant and the oldest beyond the two limits; return how many were deleted."""
    gone = store.db.execute("delete from outputs where at < :before", {"before": before})
    return gone + store.db.execute(_SQL["beyond"], {"characters": characters, "outputs": outputs})


def drop(store: Journal, project: int, session: str = "") -> int:
    """Delete the output of a project, or of one session in it, permanently; return how many rows were deleted."""
    return store.db.execute(_SQL["drop"], {"project": project, "session": session})


def next_unmined(store: Journal, project: int) -> Output | None:
    """Return the first output of a project after its watermark, None if all are mined."""
    rows = store.db.query(_SQL["next_unmined"], {"project": project})
    return Output(**as_dict(rows[0], Output)) if rows else None


def advance(store: Journal, output: Output, at: str) -> bool:
    """Move the watermark of a project to an output; False if another process already did."""
    insert(store.db, "mining", [{"project": output.project, "watermark": 0, "ran_at": at}], keeping="project")
    return bool(store.db.execute(_SQL["advance"], {"project": output.project, "number": output.number, "at": at}))


def see(store: Journal, output: Output, pattern: Pattern) -> int:
    """Count a pattern found in an output and return its occurrences; 0 if this session said it in the same words before."""
    wording = blake2b(" ".join(pattern.body.casefold().split()).encode(), digest_size=12).hexdigest()
    session = output.session or output.at[:10]  # output without a session counts as one session a day
    if not store.db.execute(_SQL["sight"], {"pattern": pattern.id, "session": session, "wording": wording}):
        return 0
    seen = {name: getattr(pattern, name) for name in ("id", "key", "kind", "body", "confidence")}
    store.db.execute(_SQL["see"], {**seen, "project": output.project, "at": output.at})
    return int(value(store.db, "select occurrences from patterns where id = :id", seen))


def due(store: Journal, project: int, *, confidence: float, occurrences: int) -> list[Pattern]:
    """Return the patterns that are confident or frequent enough and have occurrences their record lacks."""
    given = {"project": project, "confidence": confidence, "occurrences": occurrences}
    return [Pattern(**as_dict(row, Pattern)) for row in store.db.query(_SQL["due"], given)]


def note_counted(store: Journal, pattern: Pattern) -> None:
    """Store that a pattern's record now includes all its occurrences."""
    store.db.execute("update patterns set told = :told where id = :id", {"told": pattern.occurrences, "id": pattern.id})


def forget(store: Journal, ids: Iterable[str]) -> None:
    """Delete patterns and their sightings, for example once they are approved or rejected."""
    given = {"ids": list(ids)}
    store.db.execute("delete from sightings where pattern in (select value from json_each(:ids))", given)
    store.db.execute("delete from patterns where id in (select value from json_each(:ids))", given)


def expire(store: Journal, project: int, *, before: str) -> int:
    """Delete patterns of a project not seen since an instant; return how many."""
    given = {"project": project, "before": before}
    gone = column(store.db, "select id from patterns where project = :project and last_at < :before", given)
    forget(store, gone)
    return len(gone)


def counted(store: Journal, project: int, *, session: str = "", since: str = "") -> int:
    """Return how many stored outputs of a project, or of one session in it, were logged since an instant."""
    return int(value(store.db, _SQL["counted"], {"project": project, "session": session, "since": since}))


def output_counts(store: Journal, project: int) -> dict[str, Any]:
    """Return the amount of stored output of a project, and how much of it is mined."""
    row = store.db.query(_SQL["output_counts"], {"project": project})[0]
    return {name: row[name] for name in ("outputs", "characters", "oldest_at", "unmined", "patterns", "ran_at")}
