"""What is known about each file of a repository, and whether it still holds: for the map and for single files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.engine.views import health_queries, records
from holdfast.engine.views.records import Filter
from holdfast.model.anchor import parse_anchor
from holdfast.model.fold import as_of
from holdfast.model.freshness import STATES, Finding, State
from holdfast.model.record import Record
from holdfast.policy.freshness import places_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, is_here

MOST_CHECKED = 500
# From good to bad: the state of a file is the worst of what cites it.
ORDER: tuple[State, ...] = STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A record that cites a file: its state there, and the lines, 0 if it cites the whole file."""

    record: Record
    anchor: str
    state: State
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The files of a repository and what cites them; `files` is None if they cannot be listed."""

    cited: Mapping[str, tuple[Citation, ...]] = field(default_factory=dict)
    files: tuple[str, ...] | None = None
    not_checked: int = 0  # records that cite code and were left out, the oldest


def knowledge(memory: Memory, at: str = "") -> Knowledge:
    """Return what is known about each file of the project, as far as the newest records that cite code go.

    With an instant, what was known then, compared with the code of today.
    """
    known, left_out = _citing_at(memory, at) if at else _citing(memory)
    files = memory.checkout.files() if is_here(memory, memory.project) else None
    return Knowledge(
        cited=_by_file(memory, known),
        files=None if files is None else tuple(files),
        not_checked=left_out,
    )


def _citing(memory: Memory) -> tuple[list[Record], int]:
    citing = health_queries.citing(memory.store, memory.store.project_number(memory.project), MOST_CHECKED)
    known = records.by_ids(memory.store, citing.ids)
    return [entry.record for entry in known.values()], citing.total - len(citing.ids)


def _citing_at(memory: Memory, at: str) -> tuple[list[Record], int]:
    """Return the records that were in use at an instant, as they were then, and how many older ones were left out."""
    project = memory.store.project_number(memory.project)
    chosen = Filter(projects=(project,), states=("active", "retired"), until=at, cites=True)
    entries = records.page(memory.store, chosen, limit=MOST_CHECKED)
    then = [as_of(memory.store.events_about(entry.record.id), at) for entry in entries]
    known = [record for record in then if record and record.state == "active"]
    return known, records.counted(memory.store, chosen) - len(entries)


def citations_of(memory: Memory, path: str) -> list[Citation]:
    """Return what cites a file or a folder, by line."""
    found = knowledge(memory).cited
    inside = [one for name, ones in found.items() if name == path or name.startswith(f"{path}/") for one in ones]
    return sorted(inside, key=lambda one: (one.first, one.record.id))


def worst(citations: Iterable[Citation]) -> State:
    """Return the worst state of several citations."""
    return max((one.state for one in citations), key=ORDER.index)


def _by_file(memory: Memory, known: list[Record]) -> dict[str, tuple[Citation, ...]]:
    judged = freshness(memory, known)
    cited: dict[str, list[Citation]] = {}
    for record in known:
        findings = {one.anchor: one for one in judged[record.id].findings} if record.id in judged else {}
        for anchor in places_of(record):
            if path := parse_anchor(anchor).path:
                cited.setdefault(path, []).append(_citation(record, anchor, findings.get(anchor)))
    return {path: tuple(citations) for path, citations in sorted(cited.items())}


def _citation(record: Record, anchor: str, finding: Finding | None) -> Citation:
    now = finding.now if finding else None
    lines = (now.first, now.last) if now and parse_anchor(anchor).kind != "path" else (0, 0)
    state = finding.state if finding else "unknown"
    return Citation(record=record, anchor=anchor, state=state, first=lines[0], last=lines[1])
