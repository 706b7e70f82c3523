"""Put together what a session gets when it begins: the memories that matter, and where work was left off."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from holdfast.engine.search.lexical import holding
from holdfast.engine.views import links, records, sessions, usage
from holdfast.model.anchor import Freshness, parse_anchor
from holdfast.model.config import preset_of
from holdfast.model.files import state_of
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, NOTES, SEPARATE
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import attribute, filled, tokens_of
from holdfast.policy.freshness import doubts_of, is_about_code, places_of
from holdfast.policy.language.documents import is_document
from holdfast.policy.manifests import HOW_TO
from holdfast.policy.ranking.brief_order import USES, standing
from holdfast.policy.ranking.diversity import shared_out
from holdfast.policy.sessions import session_brief as briefs
from holdfast.policy.sessions.left_off import fenced
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.conflicts import in_order
from holdfast.verbs.records.freshness import freshness, is_here, outside
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.project import saved_elsewhere
from holdfast.verbs.records.quarantine import provenance
from holdfast.verbs.sessions.left_off import current, left_by_branch
from holdfast.verbs.sessions.session import STATE_TAG, project_state
from holdfast.verbs.sessions.thread import open_threads

FIRST = """<holdfast-brief project="{project}">
Holdfast keeps what users and agents decide and learn in a project for later sessions; nothing is known about this one yet.
`holdfast ingest bootstrap --dry-run` shows what its documents would add; offer that to the user.
</holdfast-brief>"""
LEFT_OFF = 500  # tokens, at most half of the budget
LOOKED_AT = 4  # times as many as are shown, so that one source cannot fill the selection
MOST_CITED = 1_000  # files whose state a prepared brief depends on
LATEST, MOST_TOUCHED = 3, 100  # sessions whose files count as touched, and how many files
MOST_OF_A_KIND, MOST_EVERYWHERE, MOST_THREADS, COMPARED = 100, 10, 8, 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBrief:
    """What a session gets: the memories, and where work was left off, this branch first; and the files they cite, by path."""

    memories: briefs.Prepared
    left_off: tuple[Report, ...] = ()  # for each branch: the branch, session, text and ids
    cited: Mapping[str, tuple[str, list[str]]] = field(default_factory=dict)  # state before they were compared, ids


def brief_of(memory: Memory, *, budget: int = 0) -> briefs.Prepared:
    """Return both parts as one text; what changes with every session comes last. `budget` replaces the setting's."""
    parts = brief_parts(replace(memory, config=replace(memory.config, brief_budget=budget)) if budget else memory)
    left = parts.left_off[:1]
    text = "\n".join(text for text in (parts.memories.text, *(each["text"] for each in left)) if text)
    ids = dict.fromkeys((*parts.memories.ids, *(id_ for each in left for id_ in each["ids"])))
    return briefs.Prepared(text=text, ids=tuple(ids), tokens=tokens_of(text))


def brief_parts(memory: Memory) -> SessionBrief:
    """Return what a session of this project should know when it begins, as the inject policy allows."""
    policy = memory.config.inject
    if policy == "off":
        return SessionBrief(memories=briefs.Prepared(text=""))
    size = memory.store.size((memory.here,))
    budget = briefs.budget_for(size, fixed=memory.config.brief_budget)
    project, finder = memory.project, preset_of(memory.config.preset).search
    if policy == "hot":
        hot = [briefs.Line(record=each.record) for each in hot_set(memory)]
        return SessionBrief(memories=briefs.written(hot, project=project, size=len(hot), budget=budget, finder=finder))
    works = left_by_branch(memory)
    share = min(LEFT_OFF, budget // 2) if works else 0
    state = f"State: {last.body}" if (last := project_state(memory)) else ""
    moved = " ".join(saved_elsewhere(memory, for_agent=True)) if not size else ""
    kinds = tuple(kind for kind in KINDS if kind not in (*NOTES, *SEPARATE))
    known = records.counted(memory.store, records.Filter(projects=(memory.here,), kinds=kinds))
    # The files that the work at hand touches: those changed on this branch, and by the last sessions.
    lists = (work.summary.fields.get("files_modified") for work in works[:LATEST])
    by_sessions = [str(path) for paths in lists if isinstance(paths, list) for path in paths]
    touched = frozenset([*memory.checkout.changed(), *by_sessions][:MOST_TOUCHED])
    candidates = _candidates(memory, touched)
    # The files of the checkout that records cite, with their states now and the ids of those records.
    top, citing, judged = memory.checkout.top(), defaultdict[str, list[str]](list), freshness(memory, candidates)
    for record in candidates:
        if is_here(memory, record.project) and is_about_code(record.kind):
            places = (*places_of(record), *(finding.moved_to for finding in judged[record.id].moved))
            for path in filter(None, dict.fromkeys(parse_anchor(anchor).path for anchor in places)):
                citing[str(top / path)].append(record.id)
    cited = {path: (state_of(path), ids) for path, ids in list(citing.items())[:MOST_CITED]}
    lines = _lines(memory, candidates, judged, touched)
    memories = briefs.written(
        lines, project=project, size=known, budget=budget - share, finder=finder, state=state or moved
    )
    if not size and not memories.text and not sessions.page(memory.store, memory.project, limit=1):
        text = FIRST.format(project=attribute(memory.project))
        memories = briefs.Prepared(text=text, tokens=tokens_of(text))
    left = [
        {"branch": work.branch, "session": work.session}
        | {"text": fenced(work, share - 1), "ids": filled(*(each.summary.id for each in (work, *work.beside)))}
        for work in (current(memory, work, memories.ids) for work in works)
    ]
    return SessionBrief(memories=memories, left_off=tuple(left), cited=cited)


def _is_at_hand(memory: Memory, record: Record, touched: frozenset[str]) -> bool:
    """True if a record cites a file that the work at hand touches, or was written on this branch."""
    here, branch = memory.checkout, record.origin.branch
    on_branch = bool(branch) and branch == here.origin().branch != here.default_branch
    return on_branch or any(parse_anchor(anchor).path in touched for anchor in places_of(record))


def _is_section(record: Record) -> bool:
    """True if a record is a section of a document in the repository; how to build and run the project is none."""
    document = record.extra.get("document")
    return isinstance(document, str) and is_document(document) and HOW_TO not in record.title


def _lines(
    memory: Memory, candidates: Sequence[Record], judged: Mapping[str, Freshness], touched: frozenset[str]
) -> list[briefs.Line]:
    """Return everything that may be in a brief, ranked, without repetitions.

    Sections of documents, which can be read in the repository, are in it only if they are at hand, hot or were used, or
    nothing else is known.
    """
    # An unmerged branch, changed code, or a newer record that contradicts.
    unmerged = outside(memory, candidates)
    by_branch = {id_: f"from branch {branch}, not merged here" for id_, branch in unmerged.items()}
    doubts = by_branch | doubts_of(judged) | dict(_marked(memory, candidates))
    hot = {each.record.id: each.pinned for each in hot_set(memory)}
    uses, came = _outcomes(memory, candidates), provenance(memory, candidates)
    newest = max((record.created_at for record in candidates), default="")
    at_hand = {record.id for record in candidates if _is_at_hand(memory, record, touched)}
    marked: dict[str, Container[str]] = {
        "hot": hot,
        "pinned": [id_ for id_, pinned in hot.items() if pinned],
        "doubted": doubts,
        "elsewhere": [record.id for record in candidates if record.project == GLOBAL != memory.project],
        "at_hand": at_hand,
    }
    lines = list[briefs.Line]()
    for record in candidates:
        marks = [mark for mark, ids in marked.items() if record.id in ids]
        points, doubt = standing(record, newest, uses.get(record.id, ()), marks), doubts.get(record.id, "")
        lines.append(briefs.Line(record=record, standing=points, doubt=doubt, came=came.get(record.id, "")))
    ranked = briefs.ranked(lines)
    kept = [*briefs.collapsed(ranked[:COMPARED]), *ranked[COMPARED:]]
    wanted = at_hand | set(hot) | {id_ for id_, seen in uses.items() if set(seen) & set(USES)}
    return [line for line in kept if line.record.id in wanted or not _is_section(line.record)] or kept


def _candidates(memory: Memory, touched: frozenset[str]) -> list[Record]:
    kinds = [kind for kind in briefs.HEADING if kind != "thread"]
    own = [record for kind in kinds for record in newest_records(memory, kind, MOST_OF_A_KIND)]
    own += [thread.record for thread in open_threads(memory)[:MOST_THREADS]]
    about = holding(memory.store, memory.project, sorted({PurePath(path).name for path in touched}), MOST_OF_A_KIND)
    own += [record for record in about if _is_at_hand(memory, record, touched)]
    everywhere = memory.store.project_number(GLOBAL)
    for kind in kinds if everywhere != memory.here else ():
        own += [entry.record for entry in records.newest(memory.store, kind, everywhere, limit=MOST_EVERYWHERE)]
    own += [each.record for each in hot_set(memory)]
    wanted = dict[str, Record]()
    for record in own:
        is_routine = record.kind in NOTES and (record.by.kind == "rule" or record.source == "observed")
        is_fit = record.source != "starter" and record.kind in briefs.HEADING and STATE_TAG not in record.tags
        wanted |= {record.id: record} if is_fit and not is_routine else {}
    replaced = links.superseded(memory.store, list(wanted))
    return [record for record in wanted.values() if record.id not in replaced]


def newest_records(memory: Memory, kind: str, limit: int) -> tuple[Record, ...]:
    """Return the newest records of a kind, without one source taking all places."""
    entries = records.newest(memory.store, kind, memory.here, limit=LOOKED_AT * limit)
    if len(entries) == LOOKED_AT * limit:  # there are more: imported records may hide local ones
        own = records.newest(memory.store, kind, memory.here, limit=limit, own=True)
        entries = list({entry.number: entry for entry in (*entries, *own)}.values())
    return tuple(without_crowding(memory, [entry.record for entry in entries], limit))


def without_crowding(memory: Memory, candidates: Sequence[Record], most: int) -> list[Record]:
    """Return the first records of a list, without one source taking all places."""
    return shared_out(candidates, most, provenance(memory, candidates)) if len(candidates) > most else list(candidates)


def _outcomes(memory: Memory, candidates: Sequence[Record]) -> dict[str, list[str]]:
    """Return the outcomes of each record, declared and observed, one per session, earliest first."""
    outcomes = defaultdict[str, dict[str, str]](dict)
    for use in usage.uses(memory.store, [record.id for record in candidates]):
        if not use.observed or use.session not in outcomes[use.id]:
            outcomes[use.id][use.session] = use.outcome
    return {record_id: list(by_session.values()) for record_id, by_session in outcomes.items()}


def _marked(memory: Memory, candidates: Sequence[Record]) -> Iterable[tuple[str, str]]:
    """Yield each record that is linked to a newer one as contradicting it, with a mark."""
    own = {record.id: record for record in candidates}
    for record_id, arrows in links.others(memory.store, own).items():
        for arrow, other in arrows:
            is_active = arrow.relation == "contradicts" and other is not None and other.state == "active"
            if is_active and other and in_order(own[record_id], other)[0].id == record_id:
                yield record_id, f"contradicted by {short(other.id)} of {other.created_at[:10]}"
