"""bettermemory's tools, as rows.txt maps them to verbs: feedback in a session, arguments as drafts, and the report for curators.

Every write has a status.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.engine.views import queries, records, usage
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import Actor
from holdfast.model.ids import days_before
from holdfast.model.kinds import KINDS
from holdfast.model.query import Query, Usage
from holdfast.model.record import GLOBAL, Draft, Record, Source, check_scopes
from holdfast.model.text import shorten
from holdfast.policy.admission import admit
from holdfast.policy.language.overlap import words
from holdfast.policy.ranking.gate import APPLIES
from holdfast.policy.sessions.outcomes import SessionFeedback
from holdfast.surfaces.bettermemory import staleness
from holdfast.surfaces.bettermemory.staleness import checked, staleness_of, staleness_of_many, verified_parts
from holdfast.surfaces.maps import Terms, mapped, read_rows, surface_of
from holdfast.surfaces.phrases import REMEDIES, content
from holdfast.surfaces.tool import Call, read_contract
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, amend
from holdfast.verbs.records.read import browse, in_use, list_scopes, note_reading
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, cancel, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.truth import verify as truth
from holdfast.verbs.upkeep.erasing import erase
from holdfast.verbs.upkeep.health import health

HERE = Path(__file__).parent
SYSTEM = "bettermemory"
# Kinds that are memories in bettermemory; threads and summaries belong to sessions.
KNOWN = tuple(kind.name for kind in KINDS.values() if SYSTEM in kind.names)
MOST_RESULTS, MOST_LISTED, MOST, MOST_ROWS = 50, 1_000, 10_000, 20
ASKING = frozenset("how what when where which who whose why me my mine i us there here tell show please".split())
_WORD = re.compile(r"\w[\w-]*")
RULE = Actor(kind="rule", name="unspoken use")
_KINDS = {"fact": "fact", "user-inference": "preference", "ambient": "observation"}
_SOURCES: Mapping[str, Source]
_SOURCES = {"explicit-statement": "explicit", "inferred": "inferred", "user-correction": "correction"}
Plain = dict[str, Any]
SNIPPET, AROUND = 200, 20
# The shape of what each refusal names.
REFUSED = {admit.Duplicate: "SAME", admit.PreviouslyRemoved: "GONE", admit.ScopeMismatch: "MISMATCH"}
TROUBLES: tuple[queries.Trouble, ...] = ("dead", "cold", "contradicted")
LONG_WORDS = 500  # words from which an ambient memory is too long for background


def memory_for(call: Call, arguments: Mapping[str, Any]) -> Memory:
    """Begin a call: results of some calls ago without feedback are recorded as observed use. Return the memory."""
    memory = call.memory
    feedback = feedback_of(memory)
    for id_ in arguments.get("memory_ids") or ():  # what gets its feedback in this call: nothing has to be inferred
        feedback.impressions.pop(find(memory, id_).record.id, None)
    data = {"outcome": "applied", "observed": "shown, and nothing said against it", "session": memory.actor.session}
    if due := feedback.next_turn(memory.clock.now()):
        memory.note([memory.event("used", shown.id, data={**data, "token": shown.token}, by=RULE) for shown in due])
    return memory


def feedback_of(memory: Memory) -> SessionFeedback:
    """Return the feedback state of the session this memory acts in."""
    return memory.feedback.setdefault(memory.actor.session, SessionFeedback())


def mute(memory: Memory, scope: str, on: bool) -> list[str]:
    """Exclude a scope from the results of this session, or include it again; return all excluded scopes."""
    muted, (name,) = feedback_of(memory).muted, check_scopes((scope,))
    if on:
        muted[name] = None
    else:
        muted.pop(name, None)
    return list(muted)


def category_of(record: Record) -> str:
    """Return the bettermemory category of a record."""
    return KINDS[record.kind].names.get(SYSTEM, "fact") if record.kind in KINDS else "fact"


def source_of(record: Record) -> str:
    """Return the bettermemory source of a record."""
    stored = record.extra.get("source")
    if isinstance(stored, str) and stored in _SOURCES:
        return stored
    return next((name for name, source in _SOURCES.items() if source == record.source), "inferred")


def search(
    memory: Memory,
    query: str,
    expand_top: bool,
    auto_scope: bool,
    scopes: Sequence[str] = (),
    max_results: int | None = None,
) -> list[tuple[Any, ...]]:
    """Find memories that answer a question, with their staleness; none for a question of words that every text has."""
    if not words(query) - ASKING:
        return []
    limit = min(MOST_RESULTS, max(1, memory.config.recall_limit if max_results is None else max_results))
    feedback, request = feedback_of(memory), _query(memory, auto_scope, scopes)
    hits = recall(memory, replace(request, text=query, limit=limit, without_scopes=tuple(feedback.muted))).hits
    # A question about something else is answered by nothing: what shares no word with it has to mean the same.
    hits = tuple(hit for hit in hits if hit.fit >= APPLIES or _terms(query, hit.record))
    stale = staleness_of_many(memory, [hit.record for hit in hits])
    rows: list[tuple[Any, ...]] = []
    for hit in hits:
        more: Plain = {}
        if expand_top and not rows and hit.confidence == "strong":
            now = stale[hit.record.id]
            more = {"body": content(hit.record), "path_drift": now.path_drift, "commit_drift": now.commit_drift}
            more["staleness_verdict"] = now.verdict
        token = feedback.show(hit.record.id, memory.clock)
        about = {"hit": hit, "terms": _terms(query, hit.record), "token": token, "more": more}
        rows.append((hit.record, stale[hit.record.id], about))
    return rows


def show(memory: Memory, id_: str) -> tuple[Any, ...]:
    """Return one memory and its staleness."""
    record = in_use(memory, id_)
    note_reading(memory, [record.id])
    return record, staleness_of(memory, record), {"token": feedback_of(memory).show(record.id, memory.clock)}


def save(memory: Memory, **args: Any) -> Plain:
    """Save a memory, or return why it was refused; statements about the user count as inferred, so they need confirmation."""
    about_user, source = args["category"] == "user-inference", _SOURCES[args["source"]]
    stated = {"source": args["source"]} if about_user and source != "inferred" else {}
    draft = Draft(
        body=args["content"],
        kind=_KINDS[args["category"]],
        scopes=tuple(args["scopes"]),
        project=GLOBAL if _is_anywhere(memory) else None,
        confidence=args["confidence"],
        source="inferred" if about_user else source,
        extra={"cwd": str(memory.checkout.top()), **stated},
    )
    return written(memory, write(memory, draft, waivers=_waivers(args)), draft.body)


def update(memory: Memory, id_: str, **args: Any) -> Plain:
    """Change a memory in place, or return why that was refused; its kind changes only if its category does."""
    record, category = find(memory, id_).record, args.get("category", "")
    kept = category == category_of(record)
    kind: Plain = {"kind": record.kind} if kept else {"kind": _KINDS[category], "fields": {}} if category else {}
    scopes = tuple(args["scopes"]) if "scopes" in args else None
    revision = Revision(body=args.get("content"), scopes=scopes, confidence=args.get("confidence"), **kind)
    return written(memory, amend(memory, record.id, revision, waivers=_waivers(args)), args.get("content", ""))


def written(memory: Memory, outcome: Outcome | Record, text: str = "") -> dict[str, Any]:
    """Return the outcome of a write, as a status with what to do next."""

    def shaped(name: str, *values: Any) -> dict[str, Any]:
        return mapped(SHAPES[name], values, memory, TERMS)

    match outcome:
        case Record():
            return shaped("COMMITTED", outcome)
        case Written(record=record):
            return shaped("COMMITTED", record) | shaped("NEIGHBOURS", outcome)
        case WrittenPending(record=record, why=why):
            reason = "config" if "confirm_writes" in why else "user-inference"
            hint = admit.explain_pending(record.id, REMEDIES[SYSTEM])
            return shaped("PENDING", outcome, {"reason": reason, "hint": hint})
    refusal = admit.explain(outcome, REMEDIES[SYSTEM])
    match outcome:
        case admit.Transient(markers=markers):
            around = [{"marker": marker} for marker in markers]
            for each in around if text else ():
                place = max(0, text.lower().find(each["marker"]))
                snippet = text[max(0, place - AROUND) : place + len(each["marker"]) + AROUND]
                each["snippet"] = " ".join(snippet.split())
            return {"status": "transient_warning", "markers": around, "hint": refusal.hint}
        case admit.SecretFound():
            raise Invalid(refusal.reason, hint=refusal.hint)
    return {"status": refusal.code, **shaped(REFUSED[type(outcome)], outcome), "hint": refusal.hint}


def verify(memory: Memory, id_: str, note: str = "", **verified: Any) -> Record:
    """Record that a memory was checked and is still true.

    A list that is passed replaces the stored one, an empty list clears it. Stored paths that are missing by now are
    dropped: the caller checked the memory, not where it used to be true.
    """
    record = in_use(memory, id_)
    missing, stored = staleness_of(memory, record).missing, dict(verified_parts(record.anchors))
    stored["verified_paths"] = [path for path in stored["verified_paths"] if path not in missing]
    anchors = staleness.anchors_of({**stored, **verified}) if verified or missing else None
    return truth.verify(memory, record.id, note=note, anchors=anchors)


def listed(memory: Memory, with_bodies: bool, auto_scope: bool, scopes: Sequence[str] = ()) -> list[Plain]:
    """List memories, newest first, in full or as rows; without bodies staleness is judged by age alone."""
    found = browse(memory, _query(memory, auto_scope, scopes)).records
    stale = staleness_of_many(memory, found) if with_bodies else {}
    now, shape = memory.clock.now(), SHAPES["FULL" if with_bodies else "LISTED"]
    rows = [(record, stale.get(record.id) or checked(record, now)) for record in found]
    return [mapped(shape, row, memory, TERMS) for row in rows]


def drop(memory: Memory, reference: str) -> bool:
    """Drop a pending memory, text and all: what a user vetoed is kept nowhere. Return whether it was pending."""
    try:
        erase(memory, cancel(memory, reference).id)
    except (NotFound, Conflict):
        return False
    return True


def tombstones(memory: Memory, auto_scope: bool, scopes: Sequence[str] = ()) -> list[tuple[Record, Plain]]:
    """Return the retired records, latest first: when and in which session each was retired."""
    rows = []
    for record in browse(memory, _query(memory, auto_scope, scopes), states=("retired",)):
        event = [event for event in memory.store.events_about(record.id) if event.verb == "retired"][-1]
        rows.append((record, {"at": event.at, "session": event.by.session or record.extra.get("removed_session", "")}))
    return sorted(rows, key=lambda row: (row[1]["at"], row[0].id), reverse=True)


def overview(memory: Memory, auto_scope: bool) -> Plain:
    """Count memories by scope, and what there is to curate."""
    request, found = _query(memory, auto_scope), _collected(memory, 30, (memory.project, GLOBAL))
    # `drifted` is None if git could not be asked.
    sizes = {name: None if found[name] is None else len(found[name]) for name in ("cold", "dead", "drifted")}
    counts: Plain = {"scopes": list_scopes(memory, everywhere=request.everywhere), "todo": found["checks"] | sizes}
    total = browse(memory, replace(request, limit=1)).total
    return {**counts, "total": total, "muted": list(feedback_of(memory).muted)}


def curated(memory: Memory, *, days: int = 30, top: int = 10, least: int = 3) -> Plain:
    """Collect everything that makes a memory less useful, of all projects, as rows: record, usage, and disputes."""
    store, found = memory.store, _collected(memory, days, None)
    active, wrong, drifted = found["active"], found["contradicted"], found["drifted"]
    used = usage.of(store, active)
    disputes = [use for use in (usage.uses(store, wrong) if wrong else ()) if use.outcome == "contradicted"]

    def row(id_: str, **more: Any) -> tuple[Any, ...]:
        record = active[id_]
        moments = [("contradicted", use.at) for use in disputes if use.id == id_]
        moments += [("updated", record.updated_at)] if record.updated_at > record.created_at else []
        moments += [("verified", record.verified_at)] if record.verified_at else []
        timeline = [{"kind": kind, "ts": at} for kind, at in sorted(moments, key=lambda moment: moment[1])]
        return record, used.get(id_, Usage()), {"wrong": id_ in wrong, "timeline": timeline, **more}

    sets, scopes = {name: set(found[name]) for name in TROUBLES}, defaultdict[str, Counter[str]](Counter)
    for id_, record in active.items():
        own: Plain = {"active": 1} | {name: int(id_ in chosen) for name, chosen in sets.items()}
        for scope in record.scopes:
            scopes[scope].update(own, applied_total=used.get(id_, Usage()).applied)
    heavy = [id_ for id_, _ in queries.heavy(store, None, least, top) if id_ in active]
    lists = {name: found[name] for name in (*TROUBLES, "unchecked")} | {"heavy": heavy}
    behind = [row(id_, commits=commits) for id_, commits in Counter[str](drifted).most_common(MOST_ROWS)]
    by_scope = [{"scope": scope, **counts} for scope, counts in sorted(scopes.items())]
    sessions = len(usage.costs_since(store, days_before(memory.clock.now(), days)))
    counts = {"total": len(active), "events": store.counted(), "sessions": sessions, "checks": found["checks"]}
    debt = {"drifted": None if drifted is None else {"total": len(drifted), "rows": behind}, "scopes": by_scope}
    rows = {name: [row(id_) for id_ in ids] for name, ids in lists.items()}
    return {"health": health(memory, days=days), **counts, **debt, **rows}


def _collected(memory: Memory, days: int, names: Sequence[str] | None) -> Plain:
    """Return the active records of some projects, or of all of them, and the ids in each category."""
    store, now, drifted = memory.store, memory.clock.now(), None
    filter_ = records.Filter(projects=None if names is None else tuple(store.sizes(names)), kinds=KNOWN)
    active = {entry.record.id: entry.record for entry in records.page(store, filter_, limit=MOST)}
    sets = {name: queries.ids_of(store, name, None, days_before(now, days), MOST) for name in TROUBLES}
    status = {id_: checked(record, now).status for id_, record in active.items()}
    counts = Counter(status.values())
    if memory.checkout.commits_since(now) is not None:
        measured = staleness_of_many(memory, [record for record in active.values() if record.verified_at])
        drifted = {id_: stale.commits for id_, stale in measured.items() if stale.commits}
    found: Plain = {name: [id_ for id_ in ids if id_ in active] for name, ids in sets.items()}
    found |= {"unchecked": [id_ for id_ in active if status[id_] != "fresh"][:MOST_ROWS], "drifted": drifted}
    return found | {"active": active, "checks": {name: counts[name] for name in ("never", "stale", "fresh")}}


def _terms(question: str, record: Record) -> list[str]:
    """Return the words of a question that occur in a memory or its scopes."""
    stored = set(_WORD.findall(f"{record.text} {' '.join(record.scopes)}".lower()))
    parts = stored | {part for word in stored for part in re.split(r"[-_]", word)}
    return [word for word in dict.fromkeys(_WORD.findall(question.lower())) if word in parts & words(question)]


def _is_anywhere(memory: Memory) -> bool:
    """True outside any repository: what is written there is global, and everything is read."""
    return not (memory.context.project or memory.config.project) and not memory.checkout.in_git()


def _query(memory: Memory, auto_scope: bool, scopes: Sequence[str] = ()) -> Query:
    everywhere = not auto_scope or _is_anywhere(memory)
    return Query(text="", kinds=KNOWN, any_scopes=tuple(scopes), everywhere=everywhere, limit=MOST_LISTED)


def _waivers(args: Mapping[str, Any]) -> admit.Waivers:
    transient, scope = args["acknowledge_transient"], args["acknowledge_scope_mismatch"]
    return admit.Waivers(duplicate=args["force"], transient=transient, strict=True, scope=scope)


def _marker(name: str, fired: int, insisted: int) -> dict[str, Any]:
    rate = round(insisted / (fired + insisted), 3) if fired + insisted else 0.0
    return {"marker": name, "fire_count": fired, "override_count": insisted, "override_rate": rate}


TERMS = Terms(
    filters={
        "active": lambda records: [record.id for record in records if record.state != "retired"],
        "category": category_of,
        "cwd": lambda extra: extra.get("cwd") or (extra.get("origin") or {}).get("cwd"),
        "evidence": lambda scope: scope.split(":")[1],
        "folder": lambda memory: str(memory.checkout.top()),
        "likeness": lambda match: "high" if match.similarity >= admit.SAME else "medium",
        "markers": lambda markers: [_marker(name, *counts) for name, counts in markers.items()],
        "pending": lambda pending_id: pending_id.removeprefix("pending_"),
        "removed": lambda records: [record.id for record in records if record.state == "retired"],
        "snippet": lambda hit: shorten(hit.snippet or content(hit.record), SNIPPET),
        "source": source_of,
        "verified": verified_parts,
        "warnings": lambda record: (
            ["ambient_body_long"] * (category_of(record) == "ambient" and len(record.body.split()) > LONG_WORDS)
        ),
        "whole": lambda days: None if days is None else int(days),
    },
    lookups={"written": written},
    constants={"stale_days": staleness.STALE_DAYS},
)

SHAPES, ROWS = read_rows(HERE, globals())
surface = surface_of(read_contract(HERE), ROWS, TERMS, memory_for=memory_for)
