"""GitMem's tools. Names and parameters follow its contract; each calls one verb."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.ids import days_between
from holdfast.model.query import Query
from holdfast.model.text import shorten
from holdfast.policy.activity.transcript import form_of
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.gitmem import arguments, display, reports, shapes
from holdfast.surfaces.gitmem.lessons import archive, recent_lessons, search_lessons
from holdfast.surfaces.gitmem.uses import note_use, note_uses, reflect
from holdfast.surfaces.phrases import kind_of
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import in_project, project_called
from holdfast.verbs.records.read import list_records
from holdfast.verbs.records.write import write
from holdfast.verbs.search import graph
from holdfast.verbs.search.brief import LESSONS, LONGEST_PLAN, brief
from holdfast.verbs.search.recall import recall as find_lessons
from holdfast.verbs.sessions import analyze as sums
from holdfast.verbs.sessions import suggest, thread, transcript
from holdfast.verbs.sessions.absorb import absorb
from holdfast.verbs.sessions.close import LEARNINGS, PAYLOAD_FILES, close, payload_file
from holdfast.verbs.sessions.scars import answer, effects
from holdfast.verbs.sessions.session import refresh, start
from holdfast.verbs.upkeep import doctor

CONTRACT = read_contract(Path(__file__).parent)
PAYLOAD = PAYLOAD_FILES[1]
MS_PER_DAY = 86_400_000
ANALYSES: dict[str, Callable[..., reports.Report]] = {
    "summary": sums.activity,
    "reflections": sums.reflections,
    "blindspots": sums.blind_spots,
}


def session_start(
    call: Call,
    force: bool,
    agent_identity: str = "",
    linear_issue: str = "",
    issue_title: str = "",
    issue_description: str = "",
    issue_labels: tuple[str, ...] = (),
    project: str = "",
) -> str:
    """Start a session and return what it should know, also about its issue."""
    memory = call.memory
    memory, opened = start(
        memory,
        title=shorten(issue_title, 200),
        issue=linear_issue,
        project=project_called(memory, project),
        agent=agent_identity,
        force=force,
    )
    call.acting.context = memory.context
    about = " ".join((issue_title, *issue_labels, issue_description)).strip()
    known = brief(memory, shorten(about, LONGEST_PLAN)) if about else None
    payload = payload_file(memory, opened.session.id, PAYLOAD)
    word = "resumed" if opened.resumed else "started"
    return display.opening(opened, word, memory.clock.now(), payload=payload, known=known)


def session_refresh(call: Call, project: str = "") -> str:
    """Return what the session should know again."""
    memory = in_project(call.memory, project)
    return display.opening(refresh(memory), "refreshed", memory.clock.now())


def session_close(call: Call, close_type: str, ceremony_duration_ms: int, session_id: str = "", **payload: Any) -> str:
    """Close a session with what it leaves."""
    memory = call.memory
    session = arguments.session_id(memory, session_id)
    outcome = close(memory, session=session, close_type=close_type, payload=payload, took_ms=ceremony_duration_ms)
    return display.closing(outcome)


def recall(
    call: Call, plan: str, match_count: int, project: str = "", similarity_threshold: float | None = None, **_: Any
) -> str:
    """Find the lessons relevant to a plan, and record that they were shown."""
    memory = in_project(call.memory, project)
    recalled = find_lessons(memory, Query(text=plan, kinds=LEARNINGS, limit=match_count, least=similarity_threshold))
    history = effects(memory, ids=[hit.record.id for hit in recalled.hits])
    return display.recalled(recalled, plan, memory.actor.name, history)


def confirm_scars(call: Call, confirmations: list[dict[str, Any]]) -> str:
    """Record the answers to all recalled scars, or none."""
    return shapes.confirmed(answer(call.memory, arguments.answers(confirmations, "decision"), every=True))


def reflect_scars(call: Call, reflections: list[dict[str, Any]]) -> str:
    """Record how scars turned out."""
    return shapes.reflected(reflect(call.memory, arguments.answers(reflections, "outcome")))


def create_learning(call: Call, allow_duplicate: bool, project: str = "", **learning: Any) -> str:
    """Save a scar, a win or a pattern."""
    memory = in_project(call.memory, project)
    outcome = write(memory, arguments.learning(learning), waivers=arguments.waivers(duplicate=allow_duplicate))
    return shapes.advised(memory, shapes.kept(outcome, "learning_id"))


def create_decision(call: Call, allow_duplicate: bool, project: str = "", session_id: str = "", **decision: Any) -> str:
    """Save a decision, in the session it was made in."""
    memory = in_project(call.memory, project)
    in_session = memory.acting_in(arguments.session_id(memory, session_id) or memory.actor.session)
    outcome = write(in_session, arguments.decision(decision), waivers=arguments.waivers(duplicate=allow_duplicate))
    return shapes.advised(memory, shapes.kept(outcome, "decision_id"))


def record_scar_usage(call: Call, **use: Any) -> dict[str, Any]:
    """Record the use of a scar."""
    return {"success": True, "usage_id": note_use(call.memory, arguments.use(use))}


def record_scar_usage_batch(call: Call, scars: list[dict[str, Any]], project: str = "") -> dict[str, Any]:
    """Record the use of several scars."""
    return shapes.noted(note_uses(in_project(call.memory, project), [arguments.use(use) for use in scars]))


def search(
    call: Call, query: str, match_count: int, project: str = "", severity: str = "", learning_type: str = ""
) -> str:
    """Search lessons without recording an impression."""
    kinds = (learning_type,) if learning_type else (*LESSONS, "observation")
    results = search_lessons(in_project(call.memory, project), query, kinds=kinds, severity=severity, limit=match_count)
    return display.searched(results, query)


def log(
    call: Call, limit: int, project: str = "", learning_type: str = "", severity: str = "", since: float = 0
) -> str:
    """List recent lessons."""
    memory, kinds = in_project(call.memory, project), (learning_type,) if learning_type else (*LEARNINGS, "decision")
    records = recent_lessons(memory, kinds=kinds, severity=severity, days=since, limit=limit)
    return display.logged(records, memory.clock.now())


def archive_learning(call: Call, id_: str, reason: str = "") -> str:
    """Take a learning out of use."""
    record = archive(call.memory, id_, reason or "archived")
    return f"Archived {kind_of(record)}: {record.title}\nid: {record.id}\nreason: {record.reason}"


def prepare_context(
    call: Call, plan: str, format_: str, max_tokens: int = 0, agent_role: str = "", project: str = ""
) -> str:
    """Return what a sub-agent should know about its plan."""
    about = shorten(f"{plan} ({agent_role})", LONGEST_PLAN) if agent_role else plan
    return brief(in_project(call.memory, project), about, form=format_, budget=max_tokens).text


def absorb_observations(call: Call, observations: list[dict[str, Any]], task_id: str = "") -> str:
    """Save what sub-agents observed."""
    return shapes.absorbed(absorb(call.memory, observations, task=task_id))


def list_threads(call: Call, status: str, include_resolved: bool, project: str = "") -> str:
    """List threads, oldest first."""
    memory = in_project(call.memory, project)
    resolved = thread.resolved_threads(memory)
    wanted = resolved if include_resolved or status == "resolved" else []
    places = thread.numbered_threads(memory)
    return display.threads(places if status == "open" else {}, wanted, opened=len(places), resolved_=len(resolved))


def create_thread(call: Call, text: str, allow_duplicate: bool, linear_issue: str = "", project: str = "") -> str:
    """Open a thread for unfinished work."""
    memory, issues = in_project(call.memory, project), (linear_issue,) if linear_issue else ()
    outcome = thread.open_thread(memory, text, issues=issues, force=allow_duplicate)
    return display.created_thread(outcome, memory.clock.now())


def resolve_thread(
    call: Call, thread_id: str = "", text_match: str = "", resolution_note: str = "", project: str = ""
) -> str:
    """Mark a thread as resolved."""
    if not thread_id and not text_match:
        raise Invalid("Either thread_id or text_match is needed.", hint="list_threads lists the threads.")
    memory = in_project(call.memory, project)
    resolved = thread.resolve(memory, thread_id or text_match, resolution_note)
    return f"Resolved {display.thread_line(resolved, memory.clock.now())}"


def promote_suggestion(call: Call, suggestion_id: str, project: str = "") -> str:
    """Turn a suggestion into a thread."""
    record = suggest.promote(in_project(call.memory, project), suggestion_id)
    return f"Created {shapes.tagged(record)}: {record.title}\nthread_id: {shapes.tagged(record)}"


def dismiss_suggestion(call: Call, suggestion_id: str) -> str:
    """Dismiss a suggestion."""
    record, left = suggest.dismiss(call.memory, suggestion_id)
    again = (
        f"It is suggested again only if its topic recurs, {left} more times at most."
        if left > 0
        else "It will not be suggested again."
    )
    return f"Dismissed {shapes.tagged(record)}: {record.title}\n{again}"


def cleanup_threads(call: Call, auto_archive: bool, project: str = "") -> str:
    """Return threads by stage, and archive dormant ones on request."""
    memory = in_project(call.memory, project)
    archived = thread.archive_dormant(memory) if auto_archive else []
    return display.triaged(thread.triage(memory), archived, memory.clock.now())


def health(call: Call, failure_limit: int) -> str:
    """Check the store and its indexes."""
    return reports.healthy(doctor.status(call.memory), list(doctor.examine(call.memory)), failure_limit)


def analyze(
    call: Call, lens: str, days: float, format_: str, project: str = "", agent: str = ""
) -> str | dict[str, Any]:
    """Return the statistics of sessions."""
    analysis = ANALYSES[lens]
    return reports.analyzed(lens, analysis(in_project(call.memory, project), days=days, agent=agent), days, format_)


def graph_traverse(
    call: Call, lens: str, depth: int, limit: int, node: str = "", predicate: str = "", project: str = ""
) -> str:
    """Traverse the graph of the project."""
    memory = in_project(call.memory, project)
    traversal = graph.traverse(memory, lens, node, predicate=predicate, depth=depth, limit=limit)
    return reports.traversed(traversal, node)


def save_transcript(call: Call, session_id: str, **conversation: Any) -> dict[str, Any]:
    """Save the transcript of a session."""
    memory, text = call.memory, conversation["transcript"]
    form = conversation["format_"] if form_of(text) == "json" else "markdown"
    return shapes.saved(
        transcript.save_transcript(memory, text, session=arguments.session_id(memory, session_id), form=form)
    )


def get_transcript(call: Call, session_id: str) -> dict[str, Any]:
    """Return the transcript of a session."""
    return shapes.transcript(transcript.get_transcript(call.memory, arguments.session_id(call.memory, session_id)))


def search_transcripts(call: Call, query: str, match_count: int, similarity_threshold: float, project: str = "") -> str:
    """Find passages of transcripts."""
    memory = in_project(call.memory, project)
    pieces = transcript.search_transcripts(memory, query, limit=match_count, least=similarity_threshold)
    return shapes.passages(pieces, query)


def gitmem_cache_status(call: Call, project: str = "") -> dict[str, Any]:
    """Return the state of the search index."""
    memory = in_project(call.memory, project)
    return reports.cache_status(doctor.status(memory), _learnings(memory))


def gitmem_cache_health(call: Call, project: str = "") -> dict[str, Any]:
    """Compare the search index with the journal."""
    return reports.cache_health(list(doctor.examine(in_project(call.memory, project))))


def gitmem_cache_flush(call: Call, project: str = "") -> dict[str, Any]:
    """Rebuild the search index."""
    memory = in_project(call.memory, project)
    before, began = _learnings(memory), memory.clock.now()
    doctor.rebuild_views(memory, call.progress)
    took = round(days_between(began, memory.clock.now()) * MS_PER_DAY)
    return {
        "success": True,
        "previous_scar_count": before,
        "new_scar_count": _learnings(memory),
        "elapsed_ms": took,
    }


def gitmem_help(call: Call) -> str:
    """List the tools."""
    return reports.helped(CONTRACT, doctor.status(call.memory))


def _learnings(memory: Memory) -> int:
    return list_records(memory, Query(text="", kinds=LEARNINGS, limit=1)).total
