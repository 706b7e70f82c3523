"""Whether memories may have gone stale, measured when they are read: checks, cited paths, commits since."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.model.ports import Elsewhere
from holdfast.model.record import Record
from holdfast.surfaces.bettermemory.drift import Checked, Verdict, checked, cited_paths, verdict, verified_parts
from holdfast.verbs.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness:
    """How far a record can be relied on without a look. `commits` None means that nobody could tell."""

    checked: Checked
    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    attested: tuple[str, ...] = ()
    commits: int | None = None

    @property
    def verdict(self) -> Verdict:
        """How far it has to be checked first."""
        return verdict(self.checked.status, missing=len(self.missing), commits=self.commits)


def staleness_of(memory: Memory, record: Record) -> Staleness:
    """Measure one record; only commits that touch the paths somebody checked are counted, if there are such."""
    inside = _inside(memory, record)
    commits = memory.checkout.commits_since(record.verified_at, inside) if _is_here(memory, record) else None
    return _measured(memory, record, None if commits is None else len(commits))


def staleness_of_many(memory: Memory, found: Sequence[Record]) -> dict[str, Staleness]:
    """Measure several records with one question to git, about all commits."""
    here = [record for record in found if _is_here(memory, record)]
    oldest = min((record.verified_at for record in here), default="")
    made = memory.checkout.commits_since(oldest) if oldest else None
    times = None if made is None else sorted(made)
    counts = {one.id: len(times) - bisect_right(times, one.verified_at) for one in here} if times is not None else {}
    return {record.id: _measured(memory, record, counts.get(record.id)) for record in found}


def _measured(memory: Memory, record: Record, commits: int | None) -> Staleness:
    attested = verified_parts(record.anchors)["verified_paths"]
    paths = tuple(dict.fromkeys((*cited_paths(record.body), *attested)))
    can_look = not isinstance(memory.checkout, Elsewhere)
    missing = tuple(path for path in paths if not _is_there(memory, path)) if can_look else ()
    return Staleness(
        checked=checked(record, memory.clock.now()),
        paths=paths,
        missing=missing,
        attested=tuple(attested),
        commits=commits,
    )


def _is_here(memory: Memory, record: Record) -> bool:
    """Tell whether commits of the code at hand say anything about a record."""
    return bool(record.verified_at and record.project) and record.project == memory.project


def _is_there(memory: Memory, path: str) -> bool:
    try:
        return (memory.checkout.top() / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False  # what cannot be looked at cannot be relied on


def _inside(memory: Memory, record: Record) -> list[str]:
    """Give the checked paths that lie in the code at hand."""
    top = memory.checkout.top().resolve()
    places = (top / Path(path) for path in verified_parts(record.anchors)["verified_paths"])
    return [str(place) for place in places if place.is_relative_to(top)]
