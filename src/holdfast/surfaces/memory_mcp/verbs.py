"""What Memory MCP's tools need beyond the verbs: saving that joins duplicates, links by number, mined candidates, session digests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.engine.views import Entry, links, records, usage
from holdfast.model.errors import NotFound
from holdfast.model.ids import epoch_ms
from holdfast.model.query import Query, Recalled
from holdfast.model.record import GLOBAL, Draft, Record
from holdfast.model.session import Session
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.ranking.hot_set import importance, uses_of
from holdfast.surfaces.memory_mcp import memory_types as types
from holdfast.surfaces.phrases import stored
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.hot import Vitals, trust_of, vitals_by_id, vitals_of
from holdfast.verbs.records.lifecycle import Revision, link, revise, unlink
from holdfast.verbs.records.project import in_project, project_at
from holdfast.verbs.records.read import browse, called, census
from holdfast.verbs.records.write import Outcome, WrittenPending, write
from holdfast.verbs.search import recall as searching
from holdfast.verbs.sessions.analyze import patterns, sessions_shown
from holdfast.verbs.sessions.session import contents_of, current_session, find_session, in_session, list_sessions
from holdfast.verbs.truth import consolidate, contradictions
from holdfast.verbs.upkeep import doctor
from holdfast.verbs.upkeep.health import metrics

LIMITS: Mapping[str, int] = {"precision": 3, "balanced": 5, "exploratory": 10}
FALLBACK = (types.kinds_of("pattern"), types.kinds_of("project"), ())
FARTHER = 0.8  # factor on the score of a linked memory
HOW = {"supersedes": "supersede", "delete": "remove", "weaken": "weaken"}
DONE = {"supersedes": "is superseded by it", "delete": "is removed", "weaken": "has less trust"}
MOST_CANDIDATES, ENOUGH = 1_000, 3
LASTED_DAYS = 7.0
MOST_SHOWN = 20
PROMOTED, WORTH = 3, 0.6
GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("lesson", "antipattern", "landmine", "constraint"), "insights"),
    **dict.fromkeys(("todo", "bug"), "action_items"),
    "decision": "decisions",
}
OPERATIONS = {"erased": "delete_memory", "retired": "cleanup_memories", "unlinked": "unlink_memories"}
OPERATIONS |= {"restored": "restore_memory", "heated": "demote_memory"}
Plain = dict[str, Any]


def remember(
    memory: Memory, content: str, memory_type: str, tags: Sequence[str] = (), category: str = "", session_id: str = ""
) -> Plain:
    """Save a memory; a duplicate gives its tags to the existing one. Transient wording is allowed here."""
    memory, draft = in_session(memory, session_id), types.draft_of(content, memory_type, category=category, tags=tags)
    outcome = write(memory, draft, waivers=Waivers(transient=True, scope=True))
    record = stored(outcome, types.SYSTEM)
    return saved(memory, _revised(memory, record, draft) if isinstance(outcome, Duplicate) else record, outcome)


def saved(memory: Memory, record: Record, outcome: Outcome) -> Plain:
    """Return the outcome of saving a memory."""
    number = types.numbers_of(memory, [record.id])[record.id]
    if isinstance(outcome, Duplicate):
        message = f"Already known as memory #{number}; its tags were added."
        return {"success": True, "message": message, "memory_id": number, "was_duplicate": True}
    message = f"Stored as memory #{number}.{' It is pending approval.' * isinstance(outcome, WrittenPending)}"
    return {"success": True, "message": message, "memory_id": number, "project_id": record.project or None}


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
    return _recalled(memory, searching.recall(memory, request), expand=expand_relations, related_=include_related)


def recall_with_fallback(memory: Memory, query: str, min_results: int, mode: str = "") -> Plain:
    """Search patterns, then facts, then everything in the project."""
    return _recalled(memory, searching.recall_with_fallback(memory, _query(query, mode), FALLBACK, least=min_results))


def list_memories(
    memory: Memory, limit: int, offset: int = 0, memory_type: str = "", tags: Sequence[str] = ()
) -> list[Vitals]:
    """List memories, newest first."""
    request = Query(text="", kinds=types.kinds_of(memory_type), tags=(*tags, *types.tags_of(memory_type)), limit=limit)
    return vitals_of(memory, browse(memory, request, offset=offset).entries)


def stats(memory: Memory) -> Plain:
    """Count memories by type and source."""
    (kinds, origins), by_type = census(memory, Query(text="")), Counter[str]()
    for kind, count in kinds.items():
        by_type[types.type_of_kind(kind)] += count
    mined, total = origins["mined"], kinds.total()
    if origins["imported"]:
        mined = sum(is_mined(entry.record) for entry in browse(memory, Query(text="", limit=total)).entries)
    sources = {"manual": total - mined, "mined": mined}
    totals = {"total_memories": total, "hot_cache_count": len(hot.hot_ids(memory))}
    return totals | {"by_type": dict(by_type), "by_source": {name: count for name, count in sources.items() if count}}


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
    items, counts = hot.hot_set(memory), usage.heat_counts(memory.store)
    ranked = sorted(items, key=heat)
    lookups = counts["hits"] + counts["misses"]
    rate = 100 * counts["hits"] / lookups if lookups else 0.0
    average = sum(map(heat, items)) / len(items) if items else 0.0
    least, most = (ranked[0].number, ranked[-1].number) if ranked else (None, None)
    shown = {"items": items, "counts": counts, "pinned": sum(item.pinned for item in items), "average": average}
    return shown | {"accesses": sum(map(accesses, items)), "rate": rate, "most": most, "least": least}


def link_memories(memory: Memory, source: str, relation: str, target: str) -> Plain:
    """Link one memory to another."""
    link(memory, source, relation, target)
    return _made(memory, links.Arrow(source=source, relation=relation, target=target))


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


def related(memory: Memory, reference: str, relation: str = "", direction: str = "both") -> list[tuple[Vitals, Plain]]:
    """Return the active records a record is linked to, in one direction or both."""
    center = find(memory, reference).record.id
    arrows = [arrow for arrow in links.around(memory.store, center) if relation in ("", arrow.relation)]
    if direction != "both":
        arrows = [arrow for arrow in arrows if (arrow.source == center) == (direction == "outgoing")]
    ends = {arrow: arrow.target if arrow.source == center else arrow.source for arrow in arrows}
    found = vitals_by_id(memory, ends.values())
    active = {end for end, vitals in found.items() if vitals.record.state == "active"}
    return [(found[end], _made(memory, arrow)) for arrow, end in ends.items() if end in active]


def relation_counts(memory: Memory) -> Plain:
    """Count the links of this project and of global memories."""
    homes = {memory.here, memory.store.project_number(GLOBAL)}
    counts = sum((Counter(links.counts(memory.store, home)) for home in homes), Counter[str]())
    linked = sum(links.linked(memory.store, home) for home in homes)
    return {"total": counts.total(), "by_relation": dict(counts), "linked": linked}


def trust_steps(memory: Memory, reference: str, limit: int) -> Plain:
    """Return every change of trust with the value before it, latest first."""
    trust = trust_of(memory, reference)
    history = trust["history"]
    before = [trust["base"], *(step["value"] for step in history)]
    steps = [{"place": place, "before": before[place - 1], "step": step} for place, step in enumerate(history, 1)]
    return {"trust": trust, "steps": steps[::-1][:limit], "total": len(steps)}


def likely_conflicts(memory: Memory, reference: str, least: float, limit: int) -> list[tuple[Any, ...]]:
    """Return what a memory seems to contradict, each with both memories and whether the two are marked."""
    clashes = [clash for clash in contradictions.conflicts(memory, reference) if clash["strength"] >= least][:limit]
    ids = [clash["record"].id for clash in clashes]
    known = vitals_by_id(memory, [reference, *ids])
    marked = {other.record.id for other, _ in related(memory, reference, "contradicts")}
    rows = [{"one": known[reference], "other": known[id_], "marked": id_ in marked} for id_ in ids]
    return list(zip(rows, clashes, strict=True))


def marked(memory: Memory, disputes: Sequence[contradictions.Dispute] | None = None) -> list[Plain]:
    """Return the pairs of memories marked as contradicting each other."""
    pairs = contradictions.open_contradictions(memory)["found"] if disputes is None else disputes
    known = vitals_by_id(memory, [record.id for dispute in pairs for record in (dispute.older, dispute.newer)])
    rows = list[Plain]()
    for dispute in pairs:
        newer, older = dispute.newer.id, dispute.older.id
        arrow = links.Arrow(source=newer, relation="contradicts", target=older)
        rows.append({"newer": known[newer], "older": known[older], "arrow": arrow, "at": dispute.marked_at})
    return rows


def mark(memory: Memory, first: str, second: str) -> Plain:
    """Mark two memories as contradicting each other."""
    return marked(memory, [contradictions.mark(memory, first, second)])[0]


def resolve(memory: Memory, memory_id_a: int, memory_id_b: int, keep_id: int, resolution: str) -> Plain:
    """Resolve a contradiction in favour of one memory."""
    first, second, kept = (types.id_of(memory, number) for number in (memory_id_a, memory_id_b, keep_id))
    contradictions.resolve(memory, first, second, HOW[resolution], keep=kept)
    return {"other": memory_id_b if keep_id == memory_id_a else memory_id_a, "done": DONE[resolution]}


def sessions(memory: Memory, limit: int, project_path: str = "") -> list[Plain]:
    """List sessions, latest first."""
    memory = in_project(memory, project_at(memory, project_path))
    return [session_of(memory, session.id) for session in list_sessions(memory, limit=limit)]


def session_of(memory: Memory, reference: str) -> Plain:
    """Return a session with what it left."""
    left = contents_of(memory, reference)
    session, last = left["session"], max(left["last_at"], left["session"].started_at)
    logs = mining.outputs_logged(memory, session=session.id)
    return {"session": session, "memories": len(left["records"]), "logs": logs, "last": last}


def session_memories(memory: Memory, session_id: str, limit: int) -> list[Vitals]:
    """Return what a session saved."""
    return vitals_of(memory, _saved(memory, find_session(memory, session_id))[:limit])


def recurring(memory: Memory, least: int) -> list[tuple[Any, ...]]:
    """Return the memories that recur in several sessions."""
    found = patterns(memory, days=LASTED_DAYS, least=least, most=50)["memories"]
    times = {pattern["record"].id: pattern["sessions"] for pattern in found}
    known, shown = vitals_by_id(memory, times), sessions_shown(memory, times, days=LASTED_DAYS)
    return [(known[id_], {"times": count, "in": shown[id_]}) for id_, count in times.items()]


def digest(memory: Memory, session_id: str) -> Plain:
    """Group what a session saved into decisions, insights, action items and context, most important first."""
    session = find_session(memory, session_id)
    ranked = sorted(_saved(memory, session), key=lambda entry: -importance(entry.record.text))
    groups: dict[str, list[Entry]] = {name: [] for name in ("decisions", "insights", "action_items", "context")}
    for entry in ranked:
        is_action = entry.record.kind in ("thread", "blocker")
        groups["action_items" if is_action else GROUPS.get(types.category_of(entry.record), "context")].append(entry)
    shown = {name: called(memory, entries[:MOST_SHOWN]) for name, entries in groups.items()}
    return {"session": session, "total": len(ranked)} | shown


def end_session(memory: Memory, session_id: str, promote_top: bool, promote_type: str) -> Plain:
    """Close a session; the best of its episodic memories become lasting and hot."""
    session = find_session(memory, session_id)
    episodes = [entry for entry in _saved(memory, session) if types.type_of(entry.record) == types.EPISODIC]
    ranked = sorted(vitals_of(memory, episodes), key=lambda vitals: (-vitals.salience, vitals.record.id))
    chosen = [vitals for vitals in ranked[:PROMOTED] if vitals.salience >= WORTH] if promote_top else []
    with memory.store.transaction():
        for record in (vitals.record for vitals in chosen):
            tags = tuple(tag for tag in record.tags if tag != types.EPISODIC)
            kind = types.draft_of(record.body, promote_type).kind
            revise(memory, record.id, Revision(kind=kind, tags=tags, fields={}))
            hot.promote(memory, record.id, why="session_end")
        if session.is_open:
            event = memory.event("closed", session.id, data={"type": "ended"}, after=max(session.last, session.end))
            memory.commit([replace(event, by=replace(event.by, session=session.id))])
    promoted = [vitals.number for vitals in chosen]
    return {"session": session, "episodes": ranked, "best": ranked[:5], "promoted": promoted}


def log_output(memory: Memory, content: str, session_id: str = "") -> Plain:
    """Store a session's output for mining."""
    memory = in_session(memory, session_id)
    return {"characters": mining.log_output(memory, content), "session": memory.actor.session}


def run_mining(memory: Memory) -> Plain:
    """Mine the output logged since the last run."""
    run = mining.mine_outputs(memory)
    return {"run": run, "updated": run["counted"] - run["new"], "approved": len(run["approved"])}


def mining_status(memory: Memory) -> Plain:
    """Return the state of mining."""
    candidates, recent = mining.mined(memory), mining.outputs_logged(memory, days=1)
    enough = memory.config.mined_occurrences or ENOUGH
    ready = sum(candidate["occurrences"] >= enough for candidate in candidates)
    shown = {"enough": enough, "ready": ready, "recent": recent, "first": candidates[:10]}
    return {"status": mining.output_status(memory), **shown}


def approve_as(memory: Memory, reference: str, memory_type: str, tags: Sequence[str] = ()) -> Plain:
    """Approve a mined candidate as a memory of that type and make it hot; a duplicate takes its place."""
    outcome = mining.approve(memory, reference)
    record = stored(outcome, types.SYSTEM)
    if isinstance(outcome, Duplicate):
        mining.reject(memory, [reference], reason=f"duplicate of {record.id}")
    else:
        draft = types.draft_of(record.body, memory_type, tags=tags)
        record = _revised(memory, record, draft, kind=draft.kind, fields=draft.fields)
    hot.promote(memory, record.id, why="mined_approved")
    return saved(memory, record, outcome)


def bulk_reject(memory: Memory, references: Sequence[str] = (), prefix: str = "") -> list[Record]:
    """Reject the mined candidates that are listed, and those whose sort has the prefix."""
    offered = [candidate["record"] for candidate in mining.mined(memory, limit=MOST_CANDIDATES)] if prefix else []
    alike = [record.id for record in offered if sort_of(record).startswith(prefix)]
    return mining.reject(memory, [*references, *alike])


def sort_of(record: Record) -> str:
    """Return what sort of pattern a mined candidate is."""
    return str(record.extra["pattern"].get("kind", ""))


def consolidation(memory: Memory, memory_type: str = "", dry_run: bool = True) -> Plain:
    """Return which near-duplicates could be merged; without `dry_run` merge them. The originals stay, retired."""
    proposals = consolidate.duplicates(memory)
    chosen = [proposal for proposal in proposals["found"] if memory_type in ("", *map(types.type_of, proposal.sources))]
    merged = [] if dry_run else [consolidate.consolidate(memory, proposal) for proposal in chosen]
    inside = sum(len(proposal.sources) for proposal in chosen)
    gone, total = inside - len(chosen), memory.store.size((memory.here,))
    share = 100 * gone / total if total else 0.0
    return {"chosen": chosen, "merged": merged, "inside": inside, "gone": gone, "share": share}


def db_maintenance(memory: Memory) -> Plain:
    """Free disk space and cool the hot cache."""
    done, now = doctor.maintain(memory, retiring=False), doctor.status(memory)
    vectors = max(0, now["everywhere"] - now["lagging"]) if now["embedder"] != "none" else 0
    return {"done": done, "now": now, "freed": max(0, done["bytes_before"] - done["bytes_after"]), "vectors": vectors}


def cleanup(memory: Memory) -> Plain:
    """Retire memories whose retention ended; they can be restored."""
    before = mining.output_status(memory)["waiting"]
    done = doctor.maintain(memory)
    expired = max(0, before - mining.output_status(memory)["waiting"])
    return {"done": done, "expired": expired, "types": dict(Counter(map(types.type_of, done["retired"])))}


def embeddings(memory: Memory) -> Plain:
    """Return whether the stored vectors match the embedder."""
    now, stored = doctor.status(memory), memory.store.setting("embedder")
    name, _, size = stored.rpartition("/")
    valid = not now["note"] or now["embedder"] == "none"
    dimension, warning = int(size) if size.isdecimal() else None, "" if valid else now["note"]
    model = name or now["embedder"]
    return {"now": now, "name": name, "model": model, "dimension": dimension, "valid": valid, "warning": warning}


def rebuild(memory: Memory, progress: Any) -> Plain:
    """Rebuild all vectors."""
    before, done = doctor.status(memory), doctor.rebuild_vectors(memory, progress)
    after = embeddings(memory)
    total = sum(after["now"][name] for name in ("everywhere", "pending", "retired"))
    return {**after, "done": done, "total": total, "cleared": max(0, total - before["lagging"])}


def audited(memory: Memory, limit: int, operation: str = "") -> list[Plain]:
    """Return what was removed or restored, latest first."""
    rows: list[Plain] = []
    for event in doctor.removals(memory):
        is_stale = event.verb == "heated" and event.data.get("why") == "stale"
        name = "demote_stale" if is_stale else OPERATIONS.get(event.verb, event.verb)
        if operation in ("", name) and len(rows) < limit:
            details = event.data.get("reason") or event.data.get("why") or event.data.get("relation") or ""
            rows.append({"place": len(rows) + 1, "operation": name, "event": event, "details": str(details)})
    numbers = types.numbers_of(memory, [row["event"].about for row in rows])
    return [{**row, "number": numbers.get(row["event"].about)} for row in rows]


def metrics_status(memory: Memory) -> Plain:
    """Return the counters, and how full the hot cache is."""
    counted, members, session = metrics(memory), hot.hot_set(memory), current_session(memory)
    capacity = memory.config.hot_capacity
    counters = {f"hot_cache.{name}": value for name, value in counted["hot"].items()}
    counters |= {"recall.total": counted["recalls"], "store.total": counted["writes"]}
    counters |= {"mining.outputs": counted["outputs"]}
    uptime = max(0, epoch_ms(memory.clock.now()) - epoch_ms(session.started_at)) / 1_000 if session else 0
    pinned, used = sum(member.pinned for member in members), round(len(members) / capacity, 3) if capacity else 0.0
    sizes = {"size": len(members), "max_size": capacity, "pinned": pinned, "utilization": used}
    gauges = {f"hot_cache.{name}": value for name, value in sizes.items()}
    failures = [f"{failure.at} {failure.name}: {failure.said}" for failure in counted["failures"]]
    shown = {"counters": counters | counted["tallies"], "gauges": gauges, "failures": failures}
    return {"uptime_seconds": round(uptime)} | shown


def _query(text: str, mode: str, limit: int = 0, memory_type: str = "") -> Query:
    asked: Plain = {"mode": mode or "balanced", "limit": limit or LIMITS[mode or "balanced"]}
    return Query.of(text, kinds=types.kinds_of(memory_type), tags=types.tags_of(memory_type), **asked)


def _recalled(memory: Memory, results: Recalled, *, expand: bool = False, related_: bool = False) -> Plain:
    hits = {hit.record.id: hit for hit in results.hits}
    if often := memory.config.promote_after:
        hot.admit_used(memory, hits, recalled=often)
    known = vitals_by_id(memory, [*hits, *(linked.record.id for linked in results.related)])
    listed = [(known[id_], hit) for id_, hit in hits.items()]
    farther, neighbours = list[tuple[Vitals, Plain]](), list[tuple[Vitals, Plain]]()
    for linked in results.related:
        other, source = known[linked.record.id], hits[linked.source]
        arrow = links.Arrow(source=linked.source, relation=linked.relation, target=linked.record.id)
        farther.append((other, {"fit": source.fit * FARTHER, "score": source.score * FARTHER}))
        neighbours.append((other, {"at": linked.record.created_at, "arrow": arrow}))
    earned = [known[id_] for id_ in hits if not known[id_].hot and not known[id_].why_not]
    shown = {"results": results, "best": next(iter(results.hits), None), "hits": listed, "earned": earned}
    return shown | {"listed": [*listed, *(farther if expand else ())], "neighbours": neighbours if related_ else None}


def _revised(memory: Memory, record: Record, draft: Draft, **changes: Any) -> Record:
    """Add the tags of a draft to a record, and change it."""
    tags = tuple(dict.fromkeys((*record.tags, *draft.tags)))
    if tags == record.tags and not changes:
        return record
    revised = revise(memory, record.id, Revision(tags=tags, **changes))
    return revised if isinstance(revised, Record) else record


def _made(memory: Memory, arrow: links.Arrow) -> Plain:
    """Return a link and when it was made, on its own or with its record."""
    events = memory.store.events_about(arrow.source)
    wanted = {"relation": arrow.relation, "target": arrow.target}
    times = [event.at for event in events if event.verb == "linked" and wanted.items() <= dict(event.data).items()]
    return {"arrow": arrow, "at": times[-1] if times else events[0].at}


def _saved(memory: Memory, session: Session) -> list[Entry]:
    return [entry for entry in records.of_session(memory.store, session.id) if entry.record.state == "active"]
