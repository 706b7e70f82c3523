"""GitMem's tools, as rows.txt maps them to verbs; what is read as text is in pages.txt."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.ids import days_between, short
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten, texts_of
from holdfast.policy.activity.transcript import form_of
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.ranking.scar_wordings import variant_of, wording
from holdfast.policy.sessions.left_off import plain
from holdfast.policy.sessions.plan_brief import is_blocking
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.gitmem import verbs
from holdfast.surfaces.maps import Terms, read_rows, surface_of, text_or_json
from holdfast.surfaces.pages import pages_of
from holdfast.surfaces.phrases import refusal, tallies
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import in_project
from holdfast.verbs.records.read import LEARNINGS, list_records
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, write
from holdfast.verbs.search.brief import LONGEST_PLAN, brief
from holdfast.verbs.search.recall import needs_answer
from holdfast.verbs.search.recall import recall as find_lessons
from holdfast.verbs.sessions import analyze as analyses
from holdfast.verbs.sessions import session as sessions
from holdfast.verbs.sessions import thread, transcript
from holdfast.verbs.sessions.analyze import Activity, BlindSpots, Reply
from holdfast.verbs.sessions.close import PAYLOAD_FILES, NotClosed, close, payload_file
from holdfast.verbs.sessions.scars import Answer, Effect, absorb, answer, effects, unanswered
from holdfast.verbs.upkeep import doctor

HERE = Path(__file__).parent
CONTRACT = read_contract(HERE)
PAYLOAD = PAYLOAD_FILES[1]
MS_PER_DAY = 86_400_000
LEFT_OFF = 300  # tokens
INDEX_CHECKS = ("sqlite", "pages", "server", "views", "embedder", "vectors")  # what the index can be out of sync in
ANALYSES: Mapping[str, Callable[..., Any]] = {
    "summary": analyses.activity,
    "reflections": analyses.reflections,
    "blindspots": analyses.blind_spots,
}


def tagged(record: Record) -> str:
    """Return the short form of an id, prefixed for threads and suggested threads."""
    tag = "" if record.kind != "thread" else "ts-" if record.state == "pending" else "t-"
    return f"{tag}{short(record.id)}"


page = pages_of(
    HERE,
    {
        "ago": lambda at, now: f"{days}d ago" if (days := int(days_between(at, now))) else "today",
        "blocks": is_blocking,
        "cell": lambda text: shorten(text, 55).replace("|", "/"),
        "left_off": lambda work: plain(work, LEFT_OFF),
        "needs_answer": needs_answer,
        "tag": tagged,
        "texts": texts_of,
    },
    blank=True,
)


def memory_for(call: Call, arguments: dict[str, Any]) -> Memory:
    """Return the memory in the project that a call names."""
    return in_project(call.memory, arguments.pop("project", None) or "")


def session_start(
    memory: Memory,
    call: Call,
    force: bool,
    agent_identity: str = "",
    linear_issue: str = "",
    issue_title: str = "",
    issue_description: str = "",
    issue_labels: Sequence[str] = (),
) -> str:
    """Start a session and return what it should know, also about its issue."""
    title, project = shorten(issue_title, 200), memory.project
    memory, opened = sessions.start(
        memory, title=title, issue=linear_issue, project=project, agent=agent_identity, force=force
    )
    call.acting.context = memory.context
    about = " ".join((issue_title, *issue_labels, issue_description)).strip()
    known = brief(memory, shorten(about, LONGEST_PLAN)) if about else None
    payload = payload_file(memory, opened.session.id, PAYLOAD)
    if payload and memory.role != "read":  # agents write to it with any program
        payload.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    word = "resumed" if opened.resumed else "started"
    return page("opening", opened=opened, word=word, now=memory.clock.now(), payload=payload, known=known)


def session_close(
    memory: Memory, close_type: str, ceremony_duration_ms: int, session_id: str = "", **payload: Any
) -> str:
    """Close a session with what it leaves; raise with what has to be done first if it cannot be closed."""
    session = verbs.session_id(memory, session_id)
    closed = close(memory, session=session, close_type=close_type, payload=payload, took_ms=ceremony_duration_ms)
    if isinstance(closed, NotClosed):
        hint = "Nothing was written, the session stays open."
        raise Invalid(f"Session {closed.session.id} is not closed.", hint=hint, problems=closed.problems)
    answers = next((record.fields for record in closed.kept if record.kind == "retrospective"), {})
    return page("closing", closed=closed, kept=Counter(record.kind for record in closed.kept), answers=answers)


def recall(memory: Memory, plan: str, match_count: int, similarity_threshold: float | None = None) -> str:
    """Find the lessons relevant to a plan, and record that they were shown."""
    results = find_lessons(
        memory, Query(text=plan, kinds=LEARNINGS, limit=match_count, least=similarity_threshold, mode="exploratory")
    )
    hits = sorted(results.hits, key=lambda hit: not is_blocking(hit.record))
    ids, who = [hit.record.id for hit in hits], memory.actor.name
    return page(
        "recalled",
        results=results,
        hits=hits,
        plan=plan,
        scars=sum(map(needs_answer, hits)),
        effects={effect.scar.id: effect for effect in effects(memory, ids=ids)},
        advice={hit.record.id: wording(hit.record, variant_of(who, hit.record.id)) for hit in hits},
    )


def confirm_scars(memory: Memory, answers: Sequence[Answer]) -> str:
    """Record the answers to all recalled scars, or none: raise with every problem if any is invalid or missing."""
    result = answer(memory, answers, every=True)
    if result.problems or result.waiting:
        missing = [f"Not confirmed: {tagged(scar)} {scar.title}" for scar in result.waiting]
        hint = "Answer every recalled scar in one call. Nothing was recorded."
        raise Invalid("The confirmations are not valid.", hint=hint, problems=[*result.problems, *missing])
    return page("answered", result=result, head=f"{counted(len(result.taken), 'scar')} confirmed, continue.")


def reflect_scars(memory: Memory, answers: Sequence[Answer]) -> str:
    """Record how scars turned out; raise if no reflection was valid."""
    result = verbs.reflect(memory, answers)
    if not result.taken:
        raise Invalid("No reflection was recorded.", hint="Correct them and call again.", problems=result.problems)
    return page("answered", result=result, head=counted(len(result.taken), "reflection"))


def create_learning(memory: Memory, allow_duplicate: bool, **learning: Any) -> str:
    """Save a scar, a win or a pattern. GitMem has neither transient wordings nor scopes."""
    waivers = Waivers(duplicate=allow_duplicate, transient=True, scope=True)
    return _saved(memory, write(memory, verbs.learning(learning), waivers=waivers), "learning_id")


def create_decision(memory: Memory, allow_duplicate: bool, session_id: str = "", **decision: Any) -> str:
    """Save a decision, in the session it was made in."""
    there = memory.acting_in(verbs.session_id(memory, session_id) or memory.actor.session)
    waivers = Waivers(duplicate=allow_duplicate, transient=True, scope=True)
    return _saved(memory, write(there, verbs.decision(decision), waivers=waivers), "decision_id")


def _saved(memory: Memory, outcome: Outcome, key: str) -> str:
    """Return the outcome of a write, after a note about unconfirmed scars or a missing recall; raise if it was refused."""
    match outcome:
        case Written(record=record, related=related):
            text = page("saved", key=key, record=record, related=related)
        case WrittenPending(record=record, why=why):
            text = page("saved", key=key, record=record, why=why)
        case Duplicate(matches=matches):
            text = page("saved", key=key, record=matches[0].record, known=True)
        case _:
            raise refusal(outcome, "gitmem")
    if waiting := unanswered(memory):
        names = ", ".join(tagged(scar) for scar in waiting[:5])
        return f"Note: {counted(len(waiting), 'recalled scar')} not confirmed yet ({names}): confirm_scars.\n{text}"
    return (
        text if sessions.recalls(memory) else f"Note: nothing was recalled in this session yet: recall(plan).\n{text}"
    )


def absorb_observations(memory: Memory, observations: Sequence[Mapping[str, Any]], task_id: str = "") -> str:
    """Save what sub-agents observed; raise if nothing was valid."""
    result = absorb(memory, observations, task=task_id)
    if not result.kept and not result.known:
        raise Invalid("No observation was saved.", hint="Correct them and call again.", problems=result.problems)
    return page("absorbed", result=result)


def list_threads(memory: Memory, status: str, include_resolved: bool) -> dict[str, Any]:
    """Return threads, oldest first: those to list, and how many there are."""
    resolved, numbered = thread.resolved_threads(memory), thread.numbered_threads(memory)
    places = numbered if status == "open" else {}
    return {
        "places": places,
        "listed": {place: open_ for place, open_ in places.items() if open_.stage != "archived"},
        "resolved": resolved if include_resolved or status == "resolved" else [],
        "opened": len(numbered),
        "resolved_total": len(resolved),
    }


def create_thread(memory: Memory, text: str, allow_duplicate: bool, linear_issue: str = "") -> str:
    """Open a thread for unfinished work."""
    outcome = thread.open_thread(memory, text, issues=(linear_issue,) if linear_issue else (), force=allow_duplicate)
    if not isinstance(outcome, thread.Opened | thread.Known):
        raise refusal(outcome, "gitmem")
    known = isinstance(outcome, thread.Known)
    return page("created_thread", thread=outcome.thread, known=known, now=memory.clock.now())


def resolve_thread(memory: Memory, thread_id: str = "", text_match: str = "", resolution_note: str = "") -> str:
    """Mark a thread as resolved."""
    if not thread_id and not text_match:
        raise Invalid("Either thread_id or text_match is needed.", hint="list_threads lists the threads.")
    resolved = thread.resolve(memory, thread_id or text_match, resolution_note)
    return f"Resolved {page('thread_line', thread=resolved, now=memory.clock.now())}"


def dismiss_suggestion(memory: Memory, suggestion_id: str) -> str:
    """Dismiss a suggestion."""
    record, left = thread.dismiss(memory, suggestion_id)
    again = f"suggested again only if its topic recurs, {left} more times at most"
    return f"Dismissed {tagged(record)}: {record.title}\nIt {f'is {again}' if left > 0 else 'will not be suggested again'}."


def cleanup_threads(memory: Memory, auto_archive: bool) -> dict[str, Any]:
    """Return threads by stage, and archive dormant ones on request."""
    archived = thread.archive_dormant(memory) if auto_archive else []
    return {"stages": thread.triage(memory), "archived": archived}


def checks(memory: Memory, failure_limit: int) -> dict[str, Any]:  # noqa: ARG001  of the page
    """Check the store and its indexes. Every write is one transaction, so only its indexes can lag."""
    examined = list(doctor.examine(memory))
    failed = [check for check in examined if check.fix]
    return {"status": doctor.status(memory), "checks": examined, "failed": failed}


def analyze(memory: Memory, lens: str, days: float, format_: str, agent: str = "") -> str | dict[str, Any]:
    """Return the statistics of sessions as text or JSON."""
    report = ANALYSES[lens](memory, days=days, agent=agent)
    if format_ == "json":
        return {"lens": lens, "days": days, "data": _plain(report)}
    lines = {"tallies": tallies(report)} if isinstance(report, Activity) else {}
    return f"{lens} · last {days:g} days\n{page(lens, report=report, **lines)}"


def _plain(report: Any) -> Any:
    """Convert a report to JSON; a scar is reduced to its id, title and severity."""
    match report:
        case Effect(scar=scar, shown=shown, outcomes=outcomes, heeded=heeded):
            summary = {"scar_id": scar.id, "title": scar.title, "severity": scar.fields.get("severity")}
            return {**summary, "surfaced": shown, "outcomes": dict(outcomes), "application_rate": heeded}
        case Mapping():
            return {name: _plain(value) for name, value in report.items()}
        case list() | tuple():
            return [_plain(item) for item in report]
        case Activity() | BlindSpots() | Reply():
            summary = {spec.name: _plain(getattr(report, spec.name)) for spec in fields(report)}
            return summary | ({"issues": dict(report.issues)} if isinstance(report, Activity) else {})
    return report


def save_transcript(memory: Memory, session: str, text: str, form: str) -> dict[str, Any]:
    """Save the transcript of a session."""
    form = form if form_of(text) == "json" else "markdown"
    stored = transcript.save_transcript(memory, text, session=session, form=form)
    return {"stored": stored, "size": (size := len(stored.body.encode())), "kilobytes": size / 1024}


def cache_status(memory: Memory) -> dict[str, Any]:
    """Return the state of the search index."""
    status = doctor.status(memory)
    has_vectors = status.embedder != "none"
    mode = "hybrid" if has_vectors and not status.note else "words"
    return {
        "status": status,
        "mode": mode,
        "learnings": _learnings(memory),
        "lags": bool(status.lagging) and has_vectors,
    }


def cache_health(memory: Memory) -> dict[str, Any]:
    """Compare the search index with the journal."""
    checks = [check for check in doctor.examine(memory) if check.name in INDEX_CHECKS]
    fixes = [check.fix for check in checks if check.fix]
    details = [f"{check.name}: {check.found}" for check in checks]
    return {"status": "out_of_sync" if fixes else "healthy", "details": details, "fixes": fixes}


def cache_flush(memory: Memory, progress: Any) -> dict[str, Any]:
    """Rebuild the search index."""
    before, began = _learnings(memory), memory.clock.now()
    doctor.rebuild_views(memory, progress)
    took = round(days_between(began, memory.clock.now()) * MS_PER_DAY)
    counts = {"previous_scar_count": before, "new_scar_count": _learnings(memory)}
    return {"success": True, **counts, "elapsed_ms": took}


def _learnings(memory: Memory) -> int:
    return list_records(memory, Query(text="", kinds=LEARNINGS, limit=1)).total


def gitmem_help(memory: Memory) -> dict[str, Any]:
    """List the tools with their short names."""
    tools = CONTRACT.tools.values()
    width = max(len(tool.name) for tool in tools)
    return {"version": __version__, "tools": tools, "status": doctor.status(memory), "width": width}


def _answer(item: Mapping[str, Any]) -> Answer:
    """Return the answer to a scar, or the reflection on it."""
    decision = item.get("decision") or item["outcome"]
    return Answer(
        scar=item["scar_id"], decision=decision, evidence=item["evidence"], relevance=item.get("relevance", "")
    )


TERMS = Terms(
    filters={
        "answers": lambda items: [_answer(item) for item in items],
        "bytes": lambda text: len(text.encode()),
        "kinds": lambda kind: (kind,) if kind else None,
        "now": lambda memory: memory.clock.now(),
        "plan_and_role": lambda given: (
            shorten(f"{given['plan']} ({role})", LONGEST_PLAN) if (role := given["agent_role"]) else given["plan"]
        ),
        "tag": tagged,
        "use": verbs.use_of,
    },
    lookups={"session": lambda memory, reference: verbs.session_id(memory, reference or "")},
)
ROWS = read_rows(HERE, {**vars(verbs), **globals()})


def present_error(problem: HoldfastError) -> str:
    """Format an error as GitMem documents it."""
    message = str(problem) if problem.problems else problem.hint or problem.message
    errors = list(problem.problems) or [problem.message]
    return text_or_json({"success": False, "errors": errors, "message": message})


surface = surface_of(CONTRACT, ROWS, terms=TERMS, memory_for=memory_for, present_error=present_error)
