"""Follow the links of a record, and query the graph of a project's records and sessions."""

from dataclasses import dataclass, replace

from holdfast.engine.views import links, records, sessions
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter
from holdfast.model.errors import Invalid
from holdfast.model.record import Record
from holdfast.policy.sessions import graph
from holdfast.verbs.memory import Memory, check_choice, find, is_reference
from holdfast.verbs.search.brief import LESSONS

MOST = 200
MOST_RECORDS, MOST_SESSIONS = 5_000, 1_000  # of a project: its graph is built from these, newest first
DEEPEST = 10
MOST_LINKS, MOST_SIBLINGS = 1_000, 200  # links of a project, and records of a session
REVERSE = {  # relations that have another name from the other end
    "depends_on": "needed by",
    "supersedes": "superseded by",
    "refines": "refined by",
    "elaborates": "elaborated by",
    "mentions": "mentioned by",
}


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
    triples: tuple[graph.Triple, ...] = ()
    hops: tuple[graph.Hop, ...] = ()
    stats: graph.Stats | None = None
    scanned: int = 0
    cut: int = 0


def connected(memory: Memory, reference: str, *, depth: int = 2) -> Neighbourhood:
    """Return the records and links within `depth` steps of a record, in either direction."""
    center = find(memory, reference).record
    arrows, reached, edge = dict[Arrow, None](), {center.id: None}, [center.id]
    for _ in range(depth):
        fresh = [arrow for node in edge for arrow in links.around(memory.store, node) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        ends = dict.fromkeys(end for arrow in fresh for end in (arrow.source, arrow.target))
        edge = [node for node in ends if node not in reached]
        reached |= dict.fromkeys(edge)
        if not edge or len(reached) >= MOST:
            break
    found = memory.known(id_ for id_ in reached if id_ != center.id)
    return Neighbourhood(center=center, arrows=tuple(arrows)[:MOST], records=tuple(found.values()))


def traverse(
    memory: Memory, lens: str, node: str = "", *, predicate: str = "", depth: int = 3, limit: int = 50
) -> Traversal:
    """Query the graph of this project through one of four lenses; a node is a label, an id, an issue or a name."""
    check_choice(lens, graph.LENSES, "a lens")
    if predicate != "demonstrates":
        check_choice(predicate or graph.PREDICATES[0], graph.PREDICATES, "a predicate")
    store, here = memory.store, memory.here
    kept = records.page(store, Filter(projects=(here,), kinds=(*LESSONS, "thread")), limit=MOST_RECORDS)
    done = records.page(store, Filter(projects=(here,), kinds=("thread",), states=("retired",)), limit=MOST_RECORDS)
    known = {entry.record.id: entry.record for entry in (*kept, *done)}
    # Links also lead to retired records of this project, such as those a newer one supersedes.
    named = {link.target for record in known.values() for link in record.links} - known.keys()
    ends = memory.known(named).items()
    linked = known | {id_: end for id_, end in ends if (end.state, end.project) == ("retired", memory.project)}
    triples = list[graph.Triple]()
    for record in known.values():
        resolved_in = ""  # the session that resolved a thread
        if record.kind == "thread" and record.state == "retired":
            retired = [event for event in store.events_about(record.id) if event.verb == "retired"]
            resolved_in = retired[-1].by.session if retired else ""
        triples += graph.of_record(record, linked, resolved_in)
    worked = sessions.page(store, memory.project, limit=MOST_SESSIONS)
    triples = [*triples, *(triple for session in worked for triple in graph.of_session(session))]
    if lens == "stats":
        return Traversal(lens=lens, stats=graph.stats_of(triples), scanned=len(triples))
    if not node.strip():
        raise Invalid("Which node?", hint="Name an issue, an agent, a title or an id; only stats needs none.")
    nodes = graph.nodes_called(triples, graph.label(find(memory, node).record) if is_reference(memory, node) else node)
    found = Traversal(lens=lens, nodes=tuple(nodes), scanned=len(triples))
    if lens == "provenance":
        hops = graph.provenance(triples, nodes, min(depth, DEEPEST), predicate)
        return replace(found, hops=tuple(hops[:limit]), cut=len(hops[limit:]))
    look = graph.connected_to if lens == "connected_to" else graph.produced_by
    reached = look(triples, nodes, predicate)
    return replace(found, triples=tuple(reached[:limit]), cut=len(reached[limit:]))


def neighbours(memory: Memory, record: Record) -> dict[str, list[Record]]:
    """Return the records that a record is linked to, by the relation as read from it, and those of its session."""
    found = dict[str, list[Record]]()
    for arrow, other in links.others(memory.store, [record.id])[record.id]:
        words = arrow.relation.replace("_", " ")
        label = words if arrow.source == record.id else REVERSE.get(arrow.relation, words)
        found.setdefault(label, []).extend([other] if other and other.state != "erased" else [])
    session = records.of_session(memory.store, record.by.session, limit=MOST_SIBLINGS) if record.by.session else []
    siblings = [one.record for one in session if one.record.id != record.id and one.record.state == "active"]
    return found | {"from the same session": siblings}


def links_here(memory: Memory) -> list[Arrow]:
    """Return the links of the project's records, those of the latest first."""
    return links.of_project(memory.store, memory.here, MOST_LINKS)
