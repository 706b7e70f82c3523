"""Connections between records, sessions, issues and people as triples, and four ways to query them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.model.ids import short
from holdfast.model.record import RELATIONS, Record
from holdfast.model.session import Session

LENSES = ("connected_to", "produced_by", "provenance", "stats")
# Derived from fields and sessions, plus the relations of links.
PREDICATES = (
    "created_in",
    "influenced_by",
    "affects_doc",
    "created_thread",
    "resolves_thread",
    "relates_to_thread",
    *RELATIONS,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step back in the provenance of a node."""

    depth: int
    triple: Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts over a graph."""

    triples: int = 0
    predicates: Mapping[str, int] = field(default_factory=dict)
    subjects: Mapping[str, int] = field(default_factory=dict)
    objects: Mapping[str, int] = field(default_factory=dict)
    issues: Mapping[str, int] = field(default_factory=dict)
    agents: Mapping[str, int] = field(default_factory=dict)


def label(record: Record) -> str:
    """Return a record's label in the graph."""
    return f"{record.kind.replace('_', ' ').title()}: {record.title}"


def of_record(record: Record, known: Mapping[str, Record], resolved_in: str = "") -> Iterator[Triple]:
    """Yield the triples of one record; `known` maps ids to the records its links may lead to."""
    own = label(record)
    ends = list(_thread_ends(record, own, resolved_in) if record.kind == "thread" else _lesson_ends(record, own))
    ends += [(own, link.relation, label(known[link.target])) for link in record.links if link.target in known]
    for subject, predicate, target in dict.fromkeys(ends):
        yield Triple(subject=subject, predicate=predicate, object=target, at=record.created_at, source=record.id)


def of_session(session: Session) -> Iterator[Triple]:
    """Yield the triples of a session: its issue and its agent."""
    ends = [("created_in", f"Issue: {session.issue.upper()}")] if session.issue else []
    ends += [("influenced_by", f"Agent: {session.agent}")] if session.agent else []
    for predicate, target in ends:
        yield Triple(
            subject=_session(session.id), predicate=predicate, object=target, at=session.started_at, source=session.id
        )


def nodes_called(triples: Sequence[Triple], name: str) -> list[str]:
    """Return the labels that match a name: a label, an issue, a person or agent, else every label containing it."""
    wanted = name.strip().lower()
    labels = list(dict.fromkeys(end for triple in triples for end in (triple.subject, triple.object)))
    exact = [node for node in labels if node.lower() == wanted]
    if _ISSUE.fullmatch(name.strip()):
        exact = exact or [node for node in labels if node.lower() == f"issue: {wanted}"]
    people = [node for node in labels if node.lower() in (f"agent: {wanted}", f"persona: {wanted}")]
    return exact or people or [node for node in labels if wanted and wanted in node.lower()]


def connected_to(triples: Sequence[Triple], nodes: Sequence[str], predicate: str = "") -> list[Triple]:
    """Return every triple with one of the nodes at an end, latest first."""
    wanted = set(nodes)
    return _latest(
        triple for triple in triples if predicate in ("", triple.predicate) and wanted & {triple.subject, triple.object}
    )


def produced_by(triples: Sequence[Triple], nodes: Sequence[str], predicate: str = "") -> list[Triple]:
    """Return what people or agents took part in, latest first."""
    relation = predicate or "influenced_by"
    return _latest(triple for triple in triples if triple.predicate == relation and triple.object in nodes)


def provenance(triples: Sequence[Triple], nodes: Sequence[str], depth: int, predicate: str = "") -> list[Hop]:
    """Return where nodes came from, step by step from subject to object."""
    leaving: dict[str, list[Triple]] = {}
    for triple in triples:
        if predicate in ("", triple.predicate):
            leaving.setdefault(triple.subject, []).append(triple)
    hops: list[Hop] = []
    seen, frontier = set[Triple](), list(nodes)
    for step in range(1, depth + 1):
        fresh = [triple for node in frontier for triple in leaving.get(node, ()) if triple not in seen]
        seen |= set(fresh)
        hops += [Hop(depth=step, triple=triple) for triple in dict.fromkeys(fresh)]
        frontier = list(dict.fromkeys(triple.object for triple in fresh))
    return hops


def stats_of(triples: Sequence[Triple]) -> Stats:
    """Count what is in a graph."""
    objects = Counter(triple.object for triple in triples)
    return Stats(
        triples=len(triples),
        predicates=_top(Counter(triple.predicate for triple in triples), len(PREDICATES)),
        subjects=_top(Counter(triple.subject for triple in triples), TOP),
        objects=_top(objects, TOP),
        issues=_top(Counter({name: n for name, n in objects.items() if name.startswith("Issue: ")}), TOP_ISSUES),
        agents=_top(Counter({name: n for name, n in objects.items() if name.startswith("Agent: ")}), TOP),
    )


def _lesson_ends(record: Record, own: str) -> Iterator[tuple[str, str, str]]:
    fields = record.fields
    if isinstance(issue := fields.get("issue"), str) and issue:
        yield own, "created_in", f"Issue: {issue.upper()}"
    if record.by.session:
        yield own, "created_in", _session(record.by.session)
    if record.by.name and record.by.kind != "rule":
        yield own, "influenced_by", f"{'Agent' if record.by.kind == 'agent' else 'Persona'}: {record.by.name}"
    for person in _texts(fields.get("people")):
        yield own, "influenced_by", f"Persona: {_ROLE.sub('', person).strip() or person}"
    for document in _texts(fields.get("documents")):
        yield own, "affects_doc", f"Doc: {document}"


def _thread_ends(record: Record, own: str, resolved_in: str) -> Iterator[tuple[str, str, str]]:
    if record.by.session:
        yield _session(record.by.session), "created_thread", own
    if resolved_in:
        yield _session(resolved_in), "resolves_thread", own
    for issue in _texts(record.fields.get("related_issues")):
        yield own, "relates_to_thread", f"Issue: {issue.upper()}"


def _session(session_id: str) -> str:
    return f"Session: {short(session_id)}"


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, list) else []


def _latest(triples: Iterator[Triple]) -> list[Triple]:
    return sorted(triples, key=lambda triple: triple.at, reverse=True)


def _top(counts: Counter[str], most: int) -> dict[str, int]:
    return dict(counts.most_common(most))
