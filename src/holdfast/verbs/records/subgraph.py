"""Build the graph of records and links around one record, or across a project with its clusters, for drawing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from holdfast.engine.views import links, records
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter
from holdfast.model.anchor import parse_anchor
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.policy.freshness import is_about_code, places_of
from holdfast.verbs.memory import Memory, find

MOST_NODES = 400
MOST_CLUSTERS, CLUSTERS_OF_ONE = 18, 2  # of a project, and of one record
MOST_OF_PROJECT = 120  # records that can be told apart in one picture
MANY = 60  # records from which on lone pairs are left out
SIBLINGS = 12  # records of the same session drawn around the center


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Records that are about the same: a file or folder they cite, or a scope they have."""

    name: str
    kind: str  # file, folder or scope
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Records, the links between them and the clusters they form; `more` counts the records left out.

    The relation `together` is derived, not stored: both records come from the same session.
    """

    center: str
    records: tuple[Record, ...]
    arrows: tuple[Arrow, ...]
    clusters: tuple[Cluster, ...] = ()
    more: int = 0


def subgraph(memory: Memory, reference: str = "", *, depth: int = 2, limit: int = MOST_NODES) -> Subgraph:
    """Return the graph around a record up to `depth` steps, or the project's latest records that are linked or clustered."""
    if reference:
        return _around(memory, find(memory, reference).record, depth, limit)
    project, limit = memory.here, min(limit, MOST_OF_PROJECT)
    linked = _drawn(memory, "", links.of_project(memory.store, project, 2 * limit), limit)
    kinds = tuple(kind for kind in KINDS if is_about_code(kind))
    latest = records.latest(memory.store, Filter(projects=(project,), kinds=kinds), limit=limit)
    known = {record.id: record for record in (*linked.records, *(entry.record for entry in latest))}
    clusters = clusters_of(known.values())
    clustered = {member for cluster in clusters for member in cluster.members}
    degree = Counter(end for arrow in linked.arrows for end in (arrow.source, arrow.target))
    # In a graph too large to show them, two records that are linked to each other and nothing else are left out.
    shows_pairs = len(linked.records) < MANY
    joined = set(
        _ends(arrow for arrow in linked.arrows if shows_pairs or max(degree[arrow.source], degree[arrow.target]) > 1)
    )
    drawn = [id_ for id_ in known if len(known) <= MANY or id_ in clustered or id_ in joined][:limit]
    inside = set(drawn)
    return Subgraph(
        center="",
        records=tuple(known[id_] for id_ in drawn),
        arrows=tuple(arrow for arrow in linked.arrows if {arrow.source, arrow.target} <= inside),
        clusters=tuple(
            Cluster(name=one.name, kind=one.kind, members=tuple(member for member in one.members if member in inside))
            for one in clusters
        ),
        more=max(0, memory.store.size((project,)) - len(drawn)),
    )


def clusters_of(found: Iterable[Record]) -> list[Cluster]:
    """Return the files and scopes that several records share, the largest first; each record is in the smallest of its own."""
    members: dict[tuple[str, str], list[str]] = {}
    for record in found:
        for key in _subjects(record):
            members.setdefault(key, []).append(record.id)
    shared = sorted(((key, ids) for key, ids in members.items() if len(ids) > 1), key=lambda pair: len(pair[1]))
    placed: dict[str, int] = {}
    clusters = []
    for (kind, name), ids in shared:
        most = 1 if kind == "folder" else CLUSTERS_OF_ONE
        own = tuple(id_ for id_ in dict.fromkeys(ids) if placed.get(id_, 0) < most)
        if len(own) > 1:
            placed |= {id_: placed.get(id_, 0) + 1 for id_ in own}
            clusters.append(Cluster(name=name, kind=kind, members=own))
    return sorted(clusters, key=lambda one: -len(one.members))[:MOST_CLUSTERS]


def _subjects(record: Record) -> list[tuple[str, str]]:
    """Return what a record is about: the files it cites and their folders, and its scopes."""
    files = [path for path in dict.fromkeys(parse_anchor(anchor).path for anchor in places_of(record)) if path]
    folders = dict.fromkeys(str(folder) for path in files for folder in PurePosixPath(path).parents)
    return [
        *(("file", path) for path in files),
        *(("folder", folder) for folder in folders if folder not in (".", "/")),
        *(("scope", scope) for scope in record.scopes),
    ]


def _around(memory: Memory, center: Record, depth: int, limit: int) -> Subgraph:
    store = memory.store
    arrows: dict[Arrow, None] = {}
    seen, frontier = {center.id: None}, [center.id]
    for _ in range(depth):
        fresh = [arrow for node in frontier for arrow in links.around(store, node) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        frontier = [node for node in _ends(fresh) if node not in seen]
        seen |= dict.fromkeys(frontier)
        if not frontier or len(seen) >= limit:
            break
    # Records of the same session, so that a record without links still has neighbours.
    session = (
        [entry.record for entry in records.of_session(store, center.by.session, limit=200)] if center.by.session else []
    )
    others = [record.id for record in session if record.id != center.id and record.state == "active"][-SIBLINGS:]
    together = [Arrow(source=center.id, relation="together", target=other) for other in others]
    return _drawn(memory, center.id, [*arrows, *together], limit)


def _drawn(memory: Memory, center: str, arrows: Iterable[Arrow], limit: int) -> Subgraph:
    """Load up to `limit` records and keep only the arrows whose two ends were loaded."""
    candidates = list(arrows)
    ids = list(dict.fromkeys(([center] if center else []) + _ends(candidates)))
    known = records.by_ids(memory.store, ids[:limit])
    drawn = {id_: entry.record for id_, entry in known.items() if entry.record.state != "erased"}
    return Subgraph(
        center=center,
        records=tuple(drawn[id_] for id_ in ids[:limit] if id_ in drawn),
        arrows=tuple(arrow for arrow in candidates if arrow.source in drawn and arrow.target in drawn),
        more=max(0, len(ids) - limit),
    )


def _ends(arrows: Iterable[Arrow]) -> list[str]:
    return list(dict.fromkeys(end for arrow in arrows for end in (arrow.source, arrow.target)))
