"""Follow the links of a record, and query the graph of a project's records and sessions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.engine.views import links, records, sessions
from holdfast.engine.views.links import Arrow
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.record import RELATIONS, Record
from holdfast.model.session import Session
from holdfast.model.text import filled, text_or_empty, texts_of
from holdfast.verbs.memory import Memory, Report, check_choice, find, is_reference
from holdfast.verbs.search.brief import LESSONS

LENSES = ("connected_to", "produced_by", "provenance", "stats")
# Derived from fields and sessions, plus the relations of links.
_DERIVED = "created_in influenced_by affects_doc created_thread resolves_thread relates_to_thread"
PREDICATES = (*_DERIVED.split(), *RELATIONS)
_ISSUE = re.compile(r"[A-Za-z][A-Za-z0-9]*-\d+")
_ROLE = re.compile(r"\s*\([^)]*\)\s*$|\s+-\s.*$|:\s.*$")
TOP, TOP_ISSUES = 10, 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """One connection; both ends are labels such as "Scar: title" or "Issue: SHOP-12"."""

    subject: str
    predicate: str
    object: str
    at: str = ""
    source: str = ""


def label(record: Record) -> str:
    """Return a record's label in the graph."""
    return f"{record.kind.replace('_', ' ').title()}: {record.title}"


def of_record(record: Record, known: Mapping[str, Record], resolved_in: str = "") -> Iterator[Triple]:
    """Yield the triples of one record; `known` maps ids to the records its links may lead to."""
    own, by = label(record), record.by
    issues, people, documents = (
        filled(*texts_of(record.fields.get(name))) for name in ("related_issues", "people", "documents")
    )
    if record.kind == "thread":
        worked = {"created_thread": by.session, "resolves_thread": resolved_in}
        ends = [(_session(session), predicate, own) for predicate, session in worked.items() if session]
        ends += [(own, "relates_to_thread", f"Issue: {issue.upper()}") for issue in issues]
    else:
        issue, agent = text_or_empty(record.fields.get("issue")), "Agent" if by.kind == "agent" else "Persona"
        targets = {
            "created_in": filled(issue and f"Issue: {issue.upper()}", by.session and _session(by.session)),
            "influenced_by": [
                *filled(by.name and by.kind != "rule" and f"{agent}: {by.name}"),
                *(f"Persona: {_ROLE.sub('', person).strip() or person}" for person in people),
            ],
            "affects_doc": [f"Doc: {document}" for document in documents],
        }
        ends = [(own, predicate, target) for predicate, each in targets.items() for target in each]
    ends += [(own, link.relation, label(known[link.target])) for link in record.links if link.target in known]
    for subject, predicate, target in dict.fromkeys(ends):
        yield Triple(subject=subject, predicate=predicate, object=target, at=record.created_at, source=record.id)


def of_session(session: Session) -> Iterator[Triple]:
    """Yield the triples of a session: its issue and its agent."""
    ends = [("created_in", f"Issue: {session.issue.upper()}")] if session.issue else []
    ends += [("influenced_by", f"Agent: {session.agent}")] if session.agent else []
    own, at = _session(session.id), session.started_at
    for predicate, target in ends:
        yield Triple(subject=own, predicate=predicate, object=target, at=at, source=session.id)


def nodes_called(triples: Sequence[Triple], name: str) -> list[str]:
    """Return the labels that match a name: a label, an issue, a person or agent, else every label containing it."""
    wanted = name.strip().lower()
    labels = list(dict.fromkeys(end for triple in triples for end in (triple.subject, triple.object)))
    exact = [node for node in labels if node.lower() == wanted]
    if _ISSUE.fullmatch(name.strip()):
        exact = exact or [node for node in labels if node.lower() == f"issue: {wanted}"]
    people = [node for node in labels if node.lower() in (f"agent: {wanted}", f"persona: {wanted}")]
    return exact or people or [node for node in labels if wanted and wanted in node.lower()]


def provenance(triples: Sequence[Triple], nodes: Sequence[str], depth: int, predicate: str = "") -> list[Report]:
    """Return where nodes came from, step by step from subject to object: each triple and its `depth`."""
    leaving: dict[str, list[Triple]] = {}
    for triple in triples:
        if predicate in ("", triple.predicate):
            leaving.setdefault(triple.subject, []).append(triple)
    hops, seen, frontier = list[Report](), set[Triple](), list(nodes)
    for step in range(1, depth + 1):
        fresh = [triple for node in frontier for triple in leaving.get(node, ()) if triple not in seen]
        seen |= set(fresh)
        hops += [{"depth": step, "triple": triple} for triple in dict.fromkeys(fresh)]
        frontier = list(dict.fromkeys(triple.object for triple in fresh))
    return hops


def stats_of(triples: Sequence[Triple]) -> Report:
    """Count what is in a graph."""
    objects = Counter(triple.object for triple in triples)
    issues, agents = (
        Counter({name: count for name, count in objects.items() if name.startswith(sort)})
        for sort in ("Issue: ", "Agent: ")
    )
    return {
        "triples": len(triples),
        "predicates": dict(Counter(triple.predicate for triple in triples).most_common()),
        "subjects": dict(Counter(triple.subject for triple in triples).most_common(TOP)),
        "objects": dict(objects.most_common(TOP)),
        "issues": dict(issues.most_common(TOP_ISSUES)),
        "agents": dict(agents.most_common(TOP)),
    }


def _session(session_id: str) -> str:
    return f"Session: {short(session_id)}"


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


def connected(memory: Memory, reference: str, *, depth: int = 2) -> Report:
    """Return the arrows and records within `depth` steps of a record, in either direction."""
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
    return {"center": center, "arrows": tuple(arrows)[:MOST], "records": tuple(found.values())}


def traverse(
    memory: Memory, lens: str, node: str = "", *, predicate: str = "", depth: int = 3, limit: int = 50
) -> Report:
    """Query the graph of this project through one of four lenses; a node is a label, an id, an issue or a name.

    `cut` counts the triples or hops that the limit leaves out.
    """
    check_choice(lens, LENSES, "a lens")
    if predicate != "demonstrates":
        check_choice(predicate or PREDICATES[0], PREDICATES, "a predicate")
    store, here = memory.store, memory.here
    kept = records.page(store, records.Filter(projects=(here,), kinds=(*LESSONS, "thread")), limit=MOST_RECORDS)
    done = records.page(
        store, records.Filter(projects=(here,), kinds=("thread",), states=("retired",)), limit=MOST_RECORDS
    )
    known = {entry.record.id: entry.record for entry in (*kept, *done)}
    # Links also lead to retired records of this project, such as those a newer one supersedes.
    named = {link.target for record in known.values() for link in record.links} - known.keys()
    ends = memory.known(named).items()
    linked = known | {id_: end for id_, end in ends if (end.state, end.project) == ("retired", memory.project)}
    triples = list[Triple]()
    for record in known.values():
        resolved_in = ""  # the session that resolved a thread
        if record.kind == "thread" and record.state == "retired":
            retired = [event for event in store.events_about(record.id) if event.verb == "retired"]
            resolved_in = retired[-1].by.session if retired else ""
        triples += of_record(record, linked, resolved_in)
    worked = sessions.page(store, memory.project, limit=MOST_SESSIONS)
    triples = [*triples, *(triple for session in worked for triple in of_session(session))]
    found: Report = {"lens": lens, "nodes": (), "triples": (), "hops": (), "stats": None}
    found |= {"scanned": len(triples), "cut": 0}
    if lens == "stats":
        return found | {"stats": stats_of(triples)}
    if not node.strip():
        raise Invalid("Which node?", hint="Name an issue, an agent, a title or an id; only stats needs none.")
    nodes = nodes_called(triples, label(find(memory, node).record) if is_reference(memory, node) else node)
    found["nodes"] = nodes
    if lens == "provenance":
        hops = provenance(triples, nodes, min(depth, DEEPEST), predicate)
        return found | {"hops": hops[:limit], "cut": len(hops[limit:])}
    if lens == "connected_to":
        reached = [
            each for each in triples if predicate in ("", each.predicate) and {each.subject, each.object} & {*nodes}
        ]
    else:  # what people or agents took part in
        relation = predicate or "influenced_by"
        reached = [each for each in triples if each.predicate == relation and each.object in nodes]
    reached.sort(key=lambda triple: triple.at, reverse=True)
    return found | {"triples": reached[:limit], "cut": len(reached[limit:])}


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
