"""Follow the links of a record, and query the graph of a project's records and sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.engine.views import links, records, sessions
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter
from holdfast.model.errors import Invalid
from holdfast.model.record import Record
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
    center, store = find(memory, reference).record, memory.store
    arrows: dict[Arrow, None] = {}
    reached, edge = {center.id}, [center.id]
    for _ in range(depth):
        fresh = [arrow for one in edge for arrow in links.around(store, one) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        edge = [
            one
            for one in dict.fromkeys(end for arrow in fresh for end in (arrow.source, arrow.target))
            if one not in reached
        ]
        reached |= set(edge)
        if not edge or len(arrows) >= MOST:
            break
    found = records.by_ids(store, reached - {center.id})
    return Neighbourhood(
        center=center, arrows=tuple(arrows)[:MOST], records=tuple(entry.record for entry in found.values())
    )


def traverse(
    memory: Memory, lens: str, node: str = "", *, predicate: str = "", depth: int = 3, limit: int = 50
) -> Traversal:
    """Query the graph of this project through one of four lenses; a node is a label, an id, an issue or a name."""
    _check(lens, predicate)
    triples = _graph(memory)
    if lens == "stats":
        return Traversal(lens=lens, stats=stats_of(triples), scanned=len(triples))
    nodes = _nodes(memory, triples, node)
    if lens == "provenance":
        hops = provenance(triples, nodes, min(depth, DEEPEST), predicate)
        return Traversal(
            lens=lens, nodes=tuple(nodes), hops=tuple(hops[:limit]), scanned=len(triples), cut=len(hops[limit:])
        )
    look = connected_to if lens == "connected_to" else produced_by
    found = look(triples, nodes, predicate)
    return Traversal(
        lens=lens, nodes=tuple(nodes), triples=tuple(found[:limit]), scanned=len(triples), cut=len(found[limit:])
    )


def _check(lens: str, predicate: str) -> None:
    if lens not in LENSES:
        raise Invalid(f"There is no lens {lens!r}.", hint=f"Use one of {', '.join(LENSES)}.")
    if predicate and predicate not in (*PREDICATES, "demonstrates"):
        raise Invalid(f"There is no predicate {predicate!r}.", hint=f"Use one of {', '.join(PREDICATES)}.")


def _graph(memory: Memory) -> list[Triple]:
    """Compute the triples of this project from its records and sessions; none are stored."""
    store, here = memory.store, memory.store.project_number(memory.project)
    kept = records.page(store, Filter(projects=(here,), kinds=(*LESSONS, "thread")), limit=MOST_RECORDS)
    done = records.page(store, Filter(projects=(here,), kinds=("thread",), states=("retired",)), limit=MOST_RECORDS)
    known = {entry.record.id: entry.record for entry in (*kept, *done)}
    linked = known | _retired_ends(memory, known)
    found = [triple for record in known.values() for triple in of_record(record, linked, _resolved_in(memory, record))]
    worked = sessions.page(store, memory.project, limit=MOST_SESSIONS)
    return [*found, *(triple for session in worked for triple in of_session(session))]


def _retired_ends(memory: Memory, known: Mapping[str, Record]) -> dict[str, Record]:
    """Return the retired records of this project that links lead to, such as those a newer one supersedes."""
    named = {link.target for record in known.values() for link in record.links} - known.keys()
    found = [entry.record for entry in records.by_ids(memory.store, named).values()]
    return {record.id: record for record in found if (record.state, record.project) == ("retired", memory.project)}


def _resolved_in(memory: Memory, record: Record) -> str:
    """Return the session that resolved a thread, or an empty string."""
    if record.kind != "thread" or record.state != "retired":
        return ""
    ends = [event for event in memory.store.events_about(record.id) if event.verb == "retired"]
    return ends[-1].by.session if ends else ""


def _nodes(memory: Memory, triples: Sequence[Triple], node: str) -> list[str]:
    if not node.strip():
        raise Invalid("Which node?", hint="Name an issue, an agent, a title or an id; only stats needs none.")
    return nodes_called(triples, label(find(memory, node).record) if is_reference(memory, node) else node)
