"""Measure when records are read whether they may be stale: last check, cited paths, commits since."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.model.ports import RemoteCheckout
from holdfast.model.record import Record
from holdfast.surfaces.bettermemory.drift import Checked, Verdict, checked, cited_paths, verdict, verified_parts
from holdfast.verbs.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness:
    """How stale a record may be. `commits` is None if git could not be asked."""

    checked: Checked
    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    attested: tuple[str, ...] = ()
    commits: int | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the record has to be checked before use."""
        return verdict(self.checked.status, missing=len(self.missing), commits=self.commits)


def staleness_of(memory: Memory, record: Record) -> Staleness:
    """Measure one record; counts only commits that touch its verified paths, if it has any."""
    inside = _inside(memory, record)
    commits = memory.checkout.commits_since(record.verified_at, inside) if _is_here(memory, record) else None
    return _measured(memory, record, None if commits is None else len(commits))


def staleness_of_many(memory: Memory, records: Sequence[Record]) -> dict[str, Staleness]:
    """Measure several records with one git call, counting all commits."""
    local = [record for record in records if _is_here(memory, record)]
    oldest = min((record.verified_at for record in local), default="")
    commits = memory.checkout.commits_since(oldest) if oldest else None
    times = None if commits is None else sorted(commits)
    counts = (
        {record.id: len(times) - bisect_right(times, record.verified_at) for record in local}
        if times is not None
        else {}
    )
    return {record.id: _measured(memory, record, counts.get(record.id)) for record in records}


def _measured(memory: Memory, record: Record, commits: int | None) -> Staleness:
    attested = verified_parts(record.anchors)["verified_paths"]
    paths = tuple(dict.fromkeys((*cited_paths(record.body), *attested)))
    can_look = not isinstance(memory.checkout, RemoteCheckout)
    missing = tuple(path for path in paths if not _is_there(memory, path)) if can_look else ()
    return Staleness(
        checked=checked(record, memory.clock.now()),
        paths=paths,
        missing=missing,
        attested=tuple(attested),
        commits=commits,
    )


def _is_here(memory: Memory, record: Record) -> bool:
    """True if commits of the current checkout concern a record."""
    return bool(record.verified_at and record.project) and record.project == memory.project


def _is_there(memory: Memory, path: str) -> bool:
    try:
        return (memory.checkout.top() / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False  # a path that cannot be read counts as missing


def _inside(memory: Memory, record: Record) -> list[str]:
    """Return the verified paths inside the current checkout."""
    top = memory.checkout.top().resolve()
    places = (top / Path(path) for path in verified_parts(record.anchors)["verified_paths"])
    return [str(place) for place in places if place.is_relative_to(top)]
