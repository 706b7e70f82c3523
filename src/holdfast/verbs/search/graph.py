"""Follow the links of a record, and query the graph of a project's records and sessions."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from holdfast.engine.views import links, records, sessions
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter
from holdfast.model.anchor import parse_anchor
from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.policy.freshness import is_about_code, places_of
from holdfast.policy.sessions.graph import (
    LENSES,
    PREDICATES,
    Hop,
    Stats,
    Triple,
    connected_to,
    label,
    nodes_called,
    of_record,
    of_session,
    produced_by,
    provenance,
    stats_of,
)
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.search.brief import LESSONS

MOST = 200
MOST_RECORDS, MOST_SESSIONS = 5_000, 1_000  # of a project: its graph is built from these, newest first
DEEPEST = 10
MOST_NODES = 400
MOST_CLUSTERS, CLUSTERS_OF_ONE = 18, 2  # of a project, and of one record
MOST_OF_PROJECT = 120  # records that can be told apart in one picture
MANY = 60  # records from which on lone pairs are left out
SIBLINGS = 12  # records of the same session drawn around the center


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A record, the arrows around it, and the records they lead to."""

    center: Record
    arrows: tuple[Arrow, ...] = ()
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversal:
    """The result of a query of a project's graph; `cut` counts the triples or hops left out by the limit."""

    lens: str
    nodes: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    hops: tuple[Hop, ...] = ()
    stats: Stats | None = None
    scanned: int = 0
    cut: int = 0


def connected(memory: Memory, reference: str, *, depth: int = 2) -> Neighbourhood:
    """Return the records and links within `depth` steps of a record, in either direction."""
    center = find(memory, reference).record
    arrows, reached = _reached(memory, center.id, depth, MOST)
    found = records.by_ids(memory.store, reached - {center.id})
    return Neighbourhood(
        center=center, arrows=tuple(arrows)[:MOST], records=tuple(entry.record for entry in found.values())
    )


def _reached(memory: Memory, center: str, depth: int, most: int) -> tuple[list[Arrow], set[str]]:
    """Return the links within `depth` steps of a record and what they lead to, until that are `most` or more."""
    arrows, reached, edge = dict[Arrow, None](), {center}, [center]
    for _ in range(depth):
        fresh = [arrow for node in edge for arrow in links.around(memory.store, node) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        edge = [node for node in _ends(fresh) if node not in reached]
        reached |= set(edge)
        if not edge or len(reached) >= most:
            break
    return list(arrows), reached


def traverse(
    memory: Memory, lens: str, node: str = "", *, predicate: str = "", depth: int = 3, limit: int = 50
) -> Traversal:
    """Query the graph of this project through one of four lenses; a node is a label, an id, an issue or a name."""
    for what, value, known in (("lens", lens, LENSES), ("predicate", predicate, (*PREDICATES, "demonstrates"))):
        if value not in known and (value or what == "lens"):
            listed = LENSES if what == "lens" else PREDICATES
            raise Invalid(f"There is no {what} {value!r}.", hint=f"Use one of {', '.join(listed)}.")
    triples = _graph(memory)
    if lens == "stats":
        return Traversal(lens=lens, stats=stats_of(triples), scanned=len(triples))
    if not node.strip():
        raise Invalid("Which node?", hint="Name an issue, an agent, a title or an id; only stats needs none.")
    nodes = nodes_called(triples, label(find(memory, node).record) if is_reference(memory, node) else node)
    found = Traversal(lens=lens, nodes=tuple(nodes), scanned=len(triples))
    if lens == "provenance":
        hops = provenance(triples, nodes, min(depth, DEEPEST), predicate)
        return replace(found, hops=tuple(hops[:limit]), cut=len(hops[limit:]))
    look = connected_to if lens == "connected_to" else produced_by
    reached = look(triples, nodes, predicate)
    return replace(found, triples=tuple(reached[:limit]), cut=len(reached[limit:]))


def _graph(memory: Memory) -> list[Triple]:
    """Compute the triples of this project from its records and sessions; none are stored."""
    store, here = memory.store, memory.here
    kept = records.page(store, Filter(projects=(here,), kinds=(*LESSONS, "thread")), limit=MOST_RECORDS)
    done = records.page(store, Filter(projects=(here,), kinds=("thread",), states=("retired",)), limit=MOST_RECORDS)
    known = {entry.record.id: entry.record for entry in (*kept, *done)}
    # Links also lead to retired records of this project, such as those a newer one supersedes.
    named = {link.target for record in known.values() for link in record.links} - known.keys()
    ends = [entry.record for entry in records.by_ids(store, named).values()]
    linked = known | {end.id: end for end in ends if (end.state, end.project) == ("retired", memory.project)}
    triples = list[Triple]()
    for record in known.values():
        resolved_in = ""  # the session that resolved a thread
        if record.kind == "thread" and record.state == "retired":
            retired = [event for event in store.events_about(record.id) if event.verb == "retired"]
            resolved_in = retired[-1].by.session if retired else ""
        triples += of_record(record, linked, resolved_in)
    worked = sessions.page(store, memory.project, limit=MOST_SESSIONS)
    return [*triples, *(triple for session in worked for triple in of_session(session))]


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
        center = find(memory, reference).record
        arrows, _ = _reached(memory, center.id, depth, limit)
        # Records of the same session, so that a record without links still has neighbours.
        made_in = center.by.session
        session = [entry.record for entry in records.of_session(memory.store, made_in, limit=200)] if made_in else []
        others = [record.id for record in session if record.id != center.id and record.state == "active"][-SIBLINGS:]
        together = [Arrow(source=center.id, relation="together", target=other) for other in others]
        return _drawn(memory, center.id, [*arrows, *together], limit)
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
        files = [path for path in dict.fromkeys(parse_anchor(anchor).path for anchor in places_of(record)) if path]
        folders = dict.fromkeys(str(folder) for path in files for folder in PurePosixPath(path).parents)
        about = {"file": files, "folder": [name for name in folders if name not in (".", "/")], "scope": record.scopes}
        for key in ((kind, name) for kind, names in about.items() for name in names):
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
