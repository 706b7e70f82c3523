"""What Memory MCP's tools need beyond the verbs: saving that joins duplicates, links by number, mined candidates, session digests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.engine.views import Entry, links, records
from holdfast.engine.views.links import Arrow
from holdfast.model.errors import NotFound
from holdfast.model.ids import days_between
from holdfast.model.query import Query, Recalled
from holdfast.model.record import GLOBAL, Draft, Record
from holdfast.model.session import Session
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.ranking.hot_set import importance, uses_of
from holdfast.surfaces.memory_mcp.memory_types import (
    EPISODIC,
    category_of,
    draft_of,
    id_of,
    kinds_of,
    numbers_of,
    tags_of,
    type_of,
    type_of_kind,
)
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.capture import mining
from holdfast.verbs.exchange.bootstrap import bootstrap
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.hot import Vitals, trust_of, vitals_by_id, vitals_of
from holdfast.verbs.records.lifecycle import Revision, link, revise, unlink
from holdfast.verbs.records.project import in_project, project_at
from holdfast.verbs.records.read import browse, called, census
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search import predict
from holdfast.verbs.search.recall import recall as find_answers
from holdfast.verbs.search.recall import recall_with_fallback as find_in_turn
from holdfast.verbs.sessions.analyze import patterns, sessions_shown
from holdfast.verbs.sessions.session import contents_of, current_session, find_session, in_session, list_sessions
from holdfast.verbs.truth import consolidate, contradictions
from holdfast.verbs.truth.contradictions import Dispute, LikelyConflict
from holdfast.verbs.upkeep import doctor
from holdfast.verbs.upkeep.doctor import maintain, removals
from holdfast.verbs.upkeep.health import metrics

LIMITS: Mapping[str, int] = {"precision": 3, "balanced": 5, "exploratory": 10}
FALLBACK = (kinds_of("pattern"), kinds_of("project"), ())
FARTHER = 0.8  # factor on the score of a linked memory
HOW = {"supersedes": "supersede", "delete": "remove", "weaken": "weaken"}
DONE = {"supersedes": "is superseded by it", "delete": "is removed", "weaken": "has less trust"}
MOST_CANDIDATES, ENOUGH = 1_000, 3
LASTED_DAYS = 7.0
SECONDS_PER_DAY = 86_400
MOST_READ, MOST_SHOWN = 500, 20
PROMOTED, WORTH = 3, 0.6
GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("lesson", "antipattern", "landmine", "constraint"), "insights"),
    **dict.fromkeys(("todo", "bug"), "action_items"),
    "decision": "decisions",
}
OPERATIONS: Mapping[str, str] = {
    "erased": "delete_memory",
    "retired": "cleanup_memories",
    "unlinked": "unlink_memories",
    "restored": "restore_memory",
}
Plain = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The saved or existing memory, whether it existed before, and whether it is pending."""

    record: Record
    known: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A link, when it was made, and the record at its other end."""

    arrow: Arrow
    at: str
    other: Entry


def remember(
    memory: Memory, content: str, memory_type: str, tags: Sequence[str] = (), category: str = "", session_id: str = ""
) -> Joined:
    """Save a memory; a duplicate gives its tags to the existing one. Transient wording is allowed here."""
    memory, draft = in_session(memory, session_id), draft_of(content, memory_type, category=category, tags=tags)
    outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True))
    match outcome:
        case Written(record=record):
            return Joined(record=record)
        case WrittenPending(record=record):
            return Joined(record=record, waits=True)
        case Duplicate(matches=matches):
            record = matches[0].record
            return Joined(record=_revised(memory, record, tags=_joined_tags(record, draft)), known=True)
    raise refusal(outcome, "memory-mcp")


def recall(
    memory: Memory,
    query: str,
    include_related: bool = False,
    mode: str = "",
    limit: int = 0,
    threshold: float | None = None,
    memory_type: str = "",
    expand_relations: bool = False,
) -> Plain:
    """Find memories that answer a question; what is left out follows from the mode."""
    request = _query(query, mode, limit or (0 if mode else memory.config.recall_limit), memory_type)
    request = replace(request, least=threshold, related=include_related or expand_relations)
    return _recalled(memory, find_answers(memory, request), expand=expand_relations, related_=include_related)


def recall_with_fallback(memory: Memory, query: str, min_results: int, mode: str = "") -> Plain:
    """Search patterns, then facts, then everything in the project."""
    return _recalled(memory, find_in_turn(memory, _query(query, mode), FALLBACK, least=min_results))


def list_memories(
    memory: Memory, limit: int, offset: int = 0, memory_type: str = "", tags: Sequence[str] = ()
) -> list[Vitals]:
    """List memories, newest first."""
    request = Query(text="", kinds=kinds_of(memory_type), tags=(*tags, *tags_of(memory_type)), limit=limit)
    return vitals_of(memory, browse(memory, request, offset=offset).entries)


def stats(memory: Memory) -> Plain:
    """Count memories by type and source."""
    counts, by_type = census(memory, Query(text="")), Counter[str]()
    for kind, count in counts.kinds.items():
        by_type[type_of_kind(kind)] += count
    mined = counts.sources.get("mined", 0)
    if counts.sources.get("imported"):
        mined = sum(is_mined(entry.record) for entry in browse(memory, Query(text="", limit=counts.total)).entries)
    sources = {"manual": counts.total - mined, "mined": mined}
    return {
        "total_memories": counts.total,
        "hot_cache_count": len(hot.hot_ids(memory)),
        "by_type": dict(by_type),
        "by_source": {name: count for name, count in sources.items() if count},
    }


def accesses(vitals: Vitals) -> int:
    """Return how often a memory was read or used, here or where it was imported from."""
    counts = vitals.record.extra.get("counts") if vitals.record.source == "imported" else None
    there = counts.get("access_count", 0) if isinstance(counts, dict) else 0
    return max(there, vitals.usage.surfaced + uses_of(vitals.usage))


def is_mined(record: Record) -> bool:
    """True if a memory was mined, here or where it was imported from."""
    return "mined" in (record.source, record.extra.get("source") if record.source == "imported" else "")


def heat(vitals: Vitals) -> float:
    """Return how hot a memory is: how often it was read or used, and how recently it was used."""
    return vitals.heat - vitals.uses + accesses(vitals)


def hot_status(memory: Memory) -> Plain:
    """Return the hot cache and its statistics."""
    items, counts = hot.hot_set(memory), hot.heat_counts(memory)
    ranked = sorted(items, key=heat)
    lookups = counts["hits"] + counts["misses"]
    return {
        "items": items,
        "counts": counts,
        "pinned": sum(item.pinned for item in items),
        "average": sum(map(heat, items)) / len(items) if items else 0.0,
        "accesses": sum(map(accesses, items)),
        "rate": 100 * counts["hits"] / lookups if lookups else 0.0,
        "most": ranked[-1].number if ranked else None,
        "least": ranked[0].number if ranked else None,
    }


def hot_cache(memory: Memory) -> list[Record]:
    """Return the hot cache; an empty one is filled from the project's documents with `auto_bootstrap`."""
    if memory.config.auto_bootstrap and not hot.hot_ids(memory):
        bootstrap(memory, draft_of("", "project", source="imported"), hot=True)
    return [member.record for member in hot.hot_set(memory)]


def link_memories(memory: Memory, source: str, relation: str, target: str) -> Relation:
    """Link one memory to another."""
    link(memory, source, relation, target)
    arrow = Arrow(source=source, relation=relation, target=target)
    return Relation(arrow=arrow, at=_linked_at(memory, arrow), other=find(memory, target))


def unlink_memories(memory: Memory, source: str, target: str, relation: str = "") -> Plain:
    """Remove every link from one record to another, or those of one relation; raise if there is none."""
    start, end = find(memory, source).record, find(memory, target).record.id
    arrows = [link for link in start.links if link.target == end and relation in ("", link.relation)]
    with memory.store.transaction():
        for arrow in arrows:
            unlink(memory, start.id, arrow.relation, end)
    if not arrows:
        raise NotFound("There is no such link between the two.", hint="get_related_memories lists the links.")
    return {"removed": len(arrows)}


def related(
    memory: Memory, reference: str, relation: str = "", direction: str = "both"
) -> list[tuple[Vitals, Relation]]:
    """Return the active records a record is linked to, in one direction or both."""
    center = find(memory, reference).record.id
    arrows = [
        arrow
        for arrow in links.around(memory.store, center)
        if relation in ("", arrow.relation)
        and (direction == "both" or (arrow.source == center) == (direction == "outgoing"))
    ]
    ends = {arrow: arrow.target if arrow.source == center else arrow.source for arrow in arrows}
    known = records.by_ids(memory.store, ends.values())
    vitals = vitals_by_id(memory, [id_ for id_, entry in known.items() if entry.record.state == "active"])
    return [
        (vitals[end], Relation(arrow=arrow, at=_linked_at(memory, arrow), other=known[end]))
        for arrow, end in ends.items()
        if end in vitals
    ]


def relation_counts(memory: Memory) -> Plain:
    """Count the links of this project and of global memories."""
    homes = set(map(memory.store.project_number, (memory.project, GLOBAL)))
    counts = sum((Counter(links.counts(memory.store, home)) for home in homes), Counter[str]())
    linked = sum(links.linked(memory.store, home) for home in homes)
    return {"total": counts.total(), "by_relation": dict(counts), "linked": linked}


def trust_steps(memory: Memory, reference: str, limit: int) -> Plain:
    """Return every change of trust with the value before it, latest first."""
    trust = trust_of(memory, reference)
    before = [trust.base, *(step.value for step in trust.history)]
    steps = [{"place": place, "before": before[place - 1], "step": step} for place, step in enumerate(trust.history, 1)]
    return {"trust": trust, "steps": steps[::-1][:limit], "total": len(steps)}


def likely_conflicts(memory: Memory, reference: str, least: float, limit: int) -> list[tuple[Any, ...]]:
    """Return what a memory seems to contradict, each with both memories and whether the two are marked."""
    clashes = [clash for clash in contradictions.conflicts(memory, reference) if clash.strength >= least][:limit]
    known = vitals_by_id(memory, [reference, *(clash.record.id for clash in clashes)])
    marked = {relation.other.record.id for _, relation in related(memory, reference, "contradicts")}

    def row(clash: LikelyConflict) -> Plain:
        return {"one": known[reference], "other": known[clash.record.id], "marked": clash.record.id in marked}

    return [(row(clash), clash) for clash in clashes]


def marked(memory: Memory, disputes: Sequence[Dispute] | None = None) -> list[Plain]:
    """Return the pairs of memories marked as contradicting each other."""
    pairs = contradictions.open_contradictions(memory).found if disputes is None else disputes
    known = vitals_by_id(memory, [record.id for dispute in pairs for record in (dispute.older, dispute.newer)])
    return [
        {
            "newer": known[dispute.newer.id],
            "older": known[dispute.older.id],
            "arrow": Arrow(source=dispute.newer.id, relation="contradicts", target=dispute.older.id),
            "at": dispute.marked_at,
        }
        for dispute in pairs
    ]


def mark(memory: Memory, first: str, second: str) -> Plain:
    """Mark two memories as contradicting each other."""
    return marked(memory, [contradictions.mark(memory, first, second)])[0]


def resolve(memory: Memory, memory_id_a: int, memory_id_b: int, keep_id: int, resolution: str) -> Plain:
    """Resolve a contradiction in favour of one memory."""
    first, second, kept = (id_of(memory, number) for number in (memory_id_a, memory_id_b, keep_id))
    contradictions.resolve(memory, first, second, HOW[resolution], keep=kept)
    return {"other": memory_id_b if keep_id == memory_id_a else memory_id_a, "done": DONE[resolution]}


def sessions(memory: Memory, limit: int, project_path: str = "") -> list[Plain]:
    """List sessions, latest first."""
    memory = in_project(memory, project_at(memory, project_path))
    return [session_of(memory, session.id) for session in list_sessions(memory, limit=limit)]


def session_of(memory: Memory, reference: str) -> Plain:
    """Return a session with what it left."""
    left = contents_of(memory, reference)
    logs, last = mining.outputs_logged(memory, session=left.session.id), max(left.last_at, left.session.started_at)
    return {"session": left.session, "memories": len(left.records), "logs": logs, "last": last}


def session_memories(memory: Memory, session_id: str, limit: int) -> list[Vitals]:
    """Return what a session saved."""
    ids = [record.id for record in contents_of(memory, session_id).records if record.state == "active"][:limit]
    vitals = vitals_by_id(memory, ids)
    return [vitals[id_] for id_ in ids]


def recurring(memory: Memory, least: int) -> list[tuple[Any, ...]]:
    """Return the memories that recur in several sessions."""
    found = patterns(memory, days=LASTED_DAYS, least=least, most=50).memories
    ids = [pattern.record.id for pattern in found]
    known, shown = vitals_by_id(memory, ids), sessions_shown(memory, ids, days=LASTED_DAYS)
    return [
        (known[pattern.record.id], {"times": pattern.sessions, "in": shown[pattern.record.id]}) for pattern in found
    ]


def digest(memory: Memory, session_id: str) -> Plain:
    """Group what a session saved into decisions, insights, action items and context, most important first."""
    session = find_session(memory, session_id)
    ranked = sorted(_saved(memory, session), key=lambda entry: -importance(entry.record.text))
    groups: dict[str, list[Entry]] = {name: [] for name in ("decisions", "insights", "action_items", "context")}
    for entry in ranked:
        is_action = entry.record.kind in ("thread", "blocker")
        groups["action_items" if is_action else GROUPS.get(category_of(entry.record), "context")].append(entry)
    shown = {name: called(memory, entries[:MOST_SHOWN]) for name, entries in groups.items()}
    return {"session": session, "total": len(ranked), **shown}


def end_session(memory: Memory, session_id: str, promote_top: bool, promote_type: str) -> Plain:
    """Close a session; the best of its episodic memories become lasting and hot."""
    session = find_session(memory, session_id)
    episodes = vitals_of(memory, [entry for entry in _saved(memory, session) if type_of(entry.record) == EPISODIC])
    ranked = sorted(episodes, key=lambda vitals: (-vitals.salience, vitals.record.id))
    chosen = [vitals for vitals in ranked[:PROMOTED] if vitals.salience >= WORTH] if promote_top else []
    with memory.store.transaction():
        for record in (vitals.record for vitals in chosen):
            tags, kind = tuple(tag for tag in record.tags if tag != EPISODIC), draft_of(record.body, promote_type).kind
            revise(memory, record.id, Revision(kind=kind, tags=tags, fields={}))
            hot.promote(memory, record.id, why="session_end")
        if session.is_open:
            event = memory.event("closed", session.id, data={"type": "ended"}, after=max(session.last, session.end))
            memory.commit([replace(event, by=replace(event.by, session=session.id))])
    promoted = [vitals.number for vitals in chosen]
    return {"session": session, "episodes": ranked, "best": ranked[:5], "promoted": promoted}


def warm(memory: Memory, reference: str) -> Plain:
    """Put the memories that are predicted to follow one into the hot cache."""
    guesses = [prediction.record for prediction in predict.predict(memory, reference)]
    predict.warm(memory, reference)
    return {"records": guesses}


def log_output(memory: Memory, content: str, session_id: str = "") -> Plain:
    """Store a session's output for mining."""
    memory = in_session(memory, session_id)
    return {"characters": mining.log_output(memory, content), "session": memory.actor.session}


def run_mining(memory: Memory) -> Plain:
    """Mine the output logged since the last run."""
    run = mining.mine_outputs(memory)
    fresh = sum(record.revision <= 2 for record in (*run.offered, *run.approved))
    return {"run": run, "new": fresh, "updated": max(0, run.counted - fresh), "approved": len(run.approved)}


def mining_status(memory: Memory) -> Plain:
    """Return the state of mining."""
    candidates, recent = mining.mined(memory), mining.outputs_logged(memory, days=1)
    ready = sum(candidate.occurrences >= ENOUGH for candidate in candidates)
    return {"status": mining.output_status(memory), "ready": ready, "recent": recent, "first": candidates[:10]}


def approve_as(memory: Memory, reference: str, memory_type: str, tags: Sequence[str] = ()) -> Joined:
    """Approve a mined candidate as a memory of that type and make it hot; a duplicate takes its place."""
    outcome = mining.approve(memory, reference)
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            known, draft = False, draft_of(record.body, memory_type, tags=tags)
            record = _revised(memory, record, tags=_joined_tags(record, draft), kind=draft.kind, fields=draft.fields)
        case Duplicate(matches=matches):
            known, record = True, matches[0].record
            mining.reject(memory, [reference], reason=f"duplicate of {record.id}")
        case _:
            raise refusal(outcome, "memory-mcp")
    hot.promote(memory, record.id, why="mined_approved")
    return Joined(record=record, known=known)


def bulk_reject(memory: Memory, references: Sequence[str] = (), prefix: str = "") -> list[Record]:
    """Reject the mined candidates that are listed, and those whose sort has the prefix."""
    rejected = mining.reject(memory, references) if references else []
    alike = [
        candidate.record.id
        for candidate in (mining.mined(memory, limit=MOST_CANDIDATES) if prefix else ())
        if str(candidate.record.extra["pattern"].get("kind", "")).startswith(prefix)
    ]
    return rejected + (mining.reject(memory, alike) if alike else [])


def consolidation(memory: Memory, memory_type: str = "", dry_run: bool = True) -> Plain:
    """Return which near-duplicates could be merged; without `dry_run` merge them. The originals stay, retired."""
    proposals = consolidate.duplicates(memory)
    chosen = [proposal for proposal in proposals.found if memory_type in ("", *map(type_of, proposal.sources))]
    merged = [] if dry_run else [consolidate.consolidate(memory, proposal) for proposal in chosen]
    inside = sum(len(proposal.sources) for proposal in chosen)
    gone = inside - len(chosen)
    total = memory.store.size((memory.store.project_number(memory.project),))
    share = 100 * gone / total if total else 0.0
    return {"chosen": chosen, "merged": merged, "inside": inside, "gone": gone, "share": share}


def db_maintenance(memory: Memory) -> Plain:
    """Free disk space and cool the hot cache."""
    done, now = maintain(memory, retiring=False), doctor.status(memory)
    vectors = max(0, now.everywhere - now.lagging) if now.embedder != "none" else 0
    return {"done": done, "now": now, "freed": max(0, done.bytes_before - done.bytes_after), "vectors": vectors}


def cleanup(memory: Memory) -> Plain:
    """Retire memories whose retention ended; they can be restored."""
    before = mining.output_status(memory).waiting
    done = maintain(memory)
    expired = max(0, before - mining.output_status(memory).waiting)
    return {"done": done, "expired": expired, "types": dict(Counter(map(type_of, done.retired)))}


def database(memory: Memory) -> Plain:
    """Return where the store is and what it contains."""
    now = doctor.status(memory)
    return {"now": now, "megabytes": now.bytes / 1_048_576, "stats": stats(memory)}


def embeddings(memory: Memory) -> Plain:
    """Return whether the stored vectors match the embedder."""
    now, stored = doctor.status(memory), memory.store.setting("embedder")
    name, _, size = stored.rpartition("/")
    valid = not now.note or now.embedder == "none"
    dimension, warning = int(size) if size.isdecimal() else None, "" if valid else now.note
    model = name or now.embedder
    return {"now": now, "name": name, "model": model, "dimension": dimension, "valid": valid, "warning": warning}


def rebuild(memory: Memory, progress: Any) -> Plain:
    """Rebuild all vectors."""
    before, done = doctor.status(memory), doctor.rebuild_vectors(memory, progress)
    after = embeddings(memory)
    total = after["now"].everywhere + after["now"].pending + after["now"].retired
    return {**after, "done": done, "total": total, "cleared": max(0, total - before.lagging)}


def audited(memory: Memory, limit: int, operation: str = "") -> list[Plain]:
    """Return what was removed or restored, latest first."""
    rows: list[Plain] = []
    for event in removals(memory):
        name = OPERATIONS.get(event.verb, event.verb)
        if event.verb == "heated":
            name = "demote_stale" if event.data.get("why") == "stale" else "demote_memory"
        if operation in ("", name) and len(rows) < limit:
            details = event.data.get("reason") or event.data.get("why") or event.data.get("relation") or ""
            rows.append({"place": len(rows) + 1, "operation": name, "event": event, "details": str(details)})
    numbers = numbers_of(memory, [row["event"].about for row in rows])
    return [{**row, "number": numbers.get(row["event"].about)} for row in rows]


def metrics_status(memory: Memory) -> Plain:
    """Return the counters, and how full the hot cache is."""
    counted, members, session = metrics(memory), hot.hot_set(memory), current_session(memory)
    capacity = memory.config.hot_capacity
    counters = {f"hot_cache.{name}": value for name, value in counted.hot.items()}
    counters |= {"recall.total": counted.recalls, "store.total": counted.writes, "mining.outputs": counted.outputs}
    uptime = days_between(session.started_at, memory.clock.now()) * SECONDS_PER_DAY if session else 0
    gauges = {
        "hot_cache.size": len(members),
        "hot_cache.max_size": capacity,
        "hot_cache.pinned": sum(member.pinned for member in members),
        "hot_cache.utilization": round(len(members) / capacity, 3) if capacity else 0.0,
    }
    failures = [f"{failure.at} {failure.name}: {failure.said}" for failure in counted.failures]
    return {
        "uptime_seconds": round(uptime),
        "counters": counters | counted.tallies,
        "gauges": gauges,
        "failures": failures,
    }


def _query(text: str, mode: str, limit: int = 0, memory_type: str = "") -> Query:
    mode_: Any = mode or "balanced"
    limit = limit or LIMITS[mode_]
    return Query(text=text, kinds=kinds_of(memory_type), tags=tags_of(memory_type), mode=mode_, limit=limit)


def _recalled(memory: Memory, results: Recalled, *, expand: bool = False, related_: bool = False) -> Plain:
    hot.promote_recalled(memory, [hit.record.id for hit in results.hits])
    hits = {hit.record.id: hit for hit in results.hits}
    known = vitals_by_id(memory, [*hits, *(linked.record.id for linked in results.related)])
    listed = [(known[id_], {"fit": hit.fit, "score": hit.score}, hit) for id_, hit in hits.items()]
    farther = [
        (known[linked.record.id], {"fit": source.fit * FARTHER, "score": source.score * FARTHER})
        for linked in (results.related if expand else ())
        for source in [hits[linked.source]]
    ]
    neighbours = [
        (
            known[linked.record.id],
            {"at": linked.record.created_at},
            {"arrow": Arrow(source=linked.source, relation=linked.relation, target=linked.record.id)},
        )
        for linked in results.related
    ]
    return {
        "results": results,
        "best": results.hits[0] if hits else None,
        "hits": listed,
        "listed": [*listed, *farther],
        "earned": [known[id_] for id_ in hits if known[id_].deserves_heat],
        "neighbours": neighbours if related_ else None,
    }


def _revised(memory: Memory, record: Record, *, tags: tuple[str, ...], **changes: Any) -> Record:
    if tags == record.tags and not changes:
        return record
    revised = revise(memory, record.id, Revision(tags=tags, **changes))
    return revised if isinstance(revised, Record) else record


def _joined_tags(record: Record, draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*record.tags, *draft.tags)))


def _linked_at(memory: Memory, arrow: Arrow) -> str:
    """Return when a link was made, on its own or with its record."""
    events = memory.store.events_about(arrow.source)
    wanted = {"relation": arrow.relation, "target": arrow.target}
    times = [event.at for event in events if event.verb == "linked" and wanted.items() <= dict(event.data).items()]
    return times[-1] if times else events[0].at


def _saved(memory: Memory, session: Session) -> list[Entry]:
    entries = records.of_session(memory.store, session.id, limit=MOST_READ)
    return [entry for entry in entries if entry.record.state == "active"]
