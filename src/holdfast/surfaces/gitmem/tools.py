"""GitMem's tools, as rows.txt maps them to verbs: outcomes of scars, lessons by kind and severity, arguments as drafts.

What is read as text is in pages.txt.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.engine.views import usage
from holdfast.model.errors import Ambiguous, HoldfastError, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.ids import days_between, epoch_ms, parse_instant, short
from holdfast.model.kinds import SEVERITIES
from holdfast.model.query import Hit, Query, Recalled
from holdfast.model.record import Draft, Record
from holdfast.model.text import counted, filled, shorten, texts_of
from holdfast.policy.activity.transcript import form_of
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import USE_OF, VARIANTS, problem_with_reflection, variant_of, wording
from holdfast.policy.sessions.plan_brief import is_blocking
from holdfast.surfaces.maps import Terms, read_rows, surface_of
from holdfast.surfaces.pages import pages_of
from holdfast.surfaces.phrases import refusal, stored
from holdfast.surfaces.tool import Call, read_contract
from holdfast.verbs.memory import Memory, check_choice, find, is_reference
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.project import in_project
from holdfast.verbs.records.read import LEARNINGS, list_records, newest_of_kind
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search import recall as recalling
from holdfast.verbs.search.brief import LESSONS, LONGEST_PLAN, brief
from holdfast.verbs.sessions import analyze as analyses
from holdfast.verbs.sessions import session as sessions
from holdfast.verbs.sessions import thread
from holdfast.verbs.sessions.close import PAYLOAD_FILES, NotClosed, close, payload_file
from holdfast.verbs.sessions.scars import Answer, Answered, Effect, absorb, answer, each, effects, unanswered
from holdfast.verbs.upkeep import doctor

HERE = Path(__file__).parent
CONTRACT = read_contract(HERE)
INDEX_CHECKS = ("sqlite", "pages", "server", "views", "embedder", "vectors")  # what the index can be out of sync in
ANALYSES: Mapping[str, Callable[..., Any]]
ANALYSES = {"summary": analyses.activity, "reflections": analyses.reflections, "blindspots": analyses.blind_spots}
MOST_SCARS, LONGEST_NOTE = 1_000, 1_000
COUNTER_ARGUMENTS = 2
MORE = 3  # times as many hits are requested when some will be filtered out
_SUCCESSOR = re.compile(r"\bsuperseded by ([\w-]+)", re.IGNORECASE)
# Their names for our fields of learnings and decisions, where they differ.
_OURS = {"source_linear_issue": "issue", "why_this_matters": "why", "self_check_criteria": "self_check"}
_OURS |= {"alternatives_considered": "alternatives", "personas_involved": "people", "docs_affected": "documents"}
_OURS |= {"linear_issue": "issue"}


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
        "needs_answer": recalling.needs_answer,
        "tag": tagged,
        "texts": texts_of,
    },
    blank=True,
)


def memory_for(call: Call, arguments: dict[str, Any]) -> Memory:
    """Return the memory in the project that a call names."""
    return in_project(call.memory, arguments.pop("project", None) or "")


def session_start(memory: Memory, call: Call, about: str, issue_title: str = "", **asked: Any) -> str:
    """Start a session and return what it should know, also about its issue."""
    memory, opened = sessions.start(memory, title=shorten(issue_title, 200), project=memory.project, **asked)
    call.client.context = memory.context
    known = brief(memory, shorten(about, LONGEST_PLAN)) if about else None
    payload = payload_file(memory, opened["session"].id, PAYLOAD_FILES[1])
    if payload and memory.role != "read":  # agents write to it with any program
        payload.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    word = "resumed" if opened["resumed"] else "started"
    return page("opening", opened=opened, word=word, now=memory.clock.now(), payload=payload, known=known)


def session_close(
    memory: Memory, close_type: str, ceremony_duration_ms: int, session_id: str = "", **payload: Any
) -> str:
    """Close a session with what it leaves; raise with what has to be done first if it cannot be closed."""
    if session_id:  # of whichever project
        memory = memory.acting_on(sessions.find_session(memory, session_id).project)
    closed = close(memory, session=session_id, close_type=close_type, payload=payload, took_ms=ceremony_duration_ms)
    if isinstance(closed, NotClosed):
        hint = "Nothing was written, the session stays open."
        raise Invalid(f"Session {closed.session.id} is not closed.", hint=hint, problems=closed.problems)
    answers = next((record.fields for record in closed.kept if record.kind == "retrospective"), {})
    return page("closing", closed=closed, kept=Counter(record.kind for record in closed.kept), answers=answers)


def recall(memory: Memory, plan: str, match_count: int, similarity_threshold: float | None = None) -> str:
    """Find the lessons relevant to a plan, and record that they were shown."""
    query = Query(text=plan, kinds=LEARNINGS, limit=match_count, least=similarity_threshold, mode="exploratory")
    results = recalling.recall(memory, query)
    hits = sorted(results.hits, key=lambda hit: not is_blocking(hit.record))
    found, who = {hit.record.id: hit.record for hit in hits}, memory.actor.name
    known = {effect.scar.id: effect for effect in effects(memory, ids=[*found])}
    advice = {id_: wording(record, variant_of(who, id_)) for id_, record in found.items()}
    shown = {"results": results, "hits": hits, "plan": plan, "scars": sum(map(recalling.needs_answer, hits))}
    return page("recalled", **shown, effects=known, advice=advice)


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
    result = reflect(memory, answers)
    if not result.taken:
        raise Invalid("No reflection was recorded.", hint="Correct them and call again.", problems=result.problems)
    return page("answered", result=result, head=counted(len(result.taken), "reflection"))


def create_learning(
    memory: Memory, allow_duplicate: bool, learning_type: str, title: str, description: str, **given: Any
) -> str:
    """Save a scar, a win or a pattern; raise with everything that a scar lacks."""
    fields = {_OURS.get(name, name): value for name, value in given.items() if value}
    if learning_type == "scar":
        fields, (*others, last) = {"scar_type": "process", **fields}, SEVERITIES
        against = sum(bool(argument.strip()) for argument in fields.get("counter_arguments", ()))
        problems = filled(
            "severity" not in fields and f"Missing required field: severity (must be {', '.join(others)}, or {last})",
            against < COUNTER_ARGUMENTS and f"Scars require at least {COUNTER_ARGUMENTS} counter_arguments",
        )
        if problems:
            hint = "Add what is missing and call again; counter-arguments state when it is reasonable to ignore it."
            raise Invalid("Validation failed: nothing was saved.", hint=hint, problems=problems)
    else:  # fields that only a scar has
        fields = {name: value for name, value in fields.items() if name not in ("counter_arguments", "scar_type")}
    draft = Draft(kind=learning_type, title=title, body=description, fields=fields)
    return _saved(memory, draft, "learning_id", allow_duplicate)


def create_decision(
    memory: Memory, allow_duplicate: bool, title: str, decision: str, session_id: str = "", **given: Any
) -> str:
    """Save a decision, in the session it was made in."""
    there = memory.acting_in(sessions.find_session(memory, session_id).id) if session_id else memory
    fields = {_OURS.get(name, name): value for name, value in given.items() if value}
    draft = Draft(kind="decision", title=title, body=decision, fields=fields)
    return _saved(there, draft, "decision_id", allow_duplicate)


def _saved(memory: Memory, draft: Draft, key: str, allow_duplicate: bool) -> str:
    """Save a draft; return the outcome after a note about unconfirmed scars or a missing recall, or raise if it was refused.

    GitMem has neither transient wordings nor scopes.
    """
    outcome = write(memory, draft, waivers=Waivers(duplicate=allow_duplicate, transient=True, scope=True))
    record, known = stored(outcome, "gitmem"), isinstance(outcome, Duplicate)
    why = outcome.why if isinstance(outcome, WrittenPending) else ""
    related = outcome.related if isinstance(outcome, Written) else ()
    text = page("saved", key=key, record=record, why=why, known=known, related=related)
    if waiting := unanswered(memory):
        names = ", ".join(tagged(scar) for scar in waiting[:5])
        return f"Note: {counted(len(waiting), 'recalled scar')} not confirmed yet ({names}): confirm_scars.\n{text}"
    is_informed = memory.actor.session and memory.store.counted(memory.actor.session, "surfaced")
    note = "" if is_informed else "Note: nothing was recalled in this session yet: recall(plan).\n"
    return f"{note}{text}"


def absorb_observations(memory: Memory, observations: Sequence[Mapping[str, Any]], task_id: str = "") -> str:
    """Save what sub-agents observed; raise if nothing was valid."""
    result = absorb(memory, observations, task=task_id)
    if not result["kept"] and not result["known"]:
        raise Invalid("No observation was saved.", hint="Correct them and call again.", problems=result["problems"])
    return page("absorbed", result=result)


def list_threads(memory: Memory, status: str, include_resolved: bool) -> dict[str, Any]:
    """Return threads, oldest first: those to list, and how many there are."""
    resolved, numbered = thread.resolved_threads(memory), thread.numbered_threads(memory)
    places = numbered if status == "open" else {}
    listed = {place: open_ for place, open_ in places.items() if open_.stage != "archived"}
    shown = {"places": places, "listed": listed, "opened": len(numbered), "resolved_total": len(resolved)}
    return shown | {"resolved": resolved if include_resolved or status == "resolved" else []}


def create_thread(memory: Memory, text: str, allow_duplicate: bool, linear_issue: str = "") -> str:
    """Open a thread for unfinished work."""
    outcome = thread.open_thread(memory, text, issues=(linear_issue,) if linear_issue else (), force=allow_duplicate)
    if not isinstance(outcome, thread.Opened | thread.Known):
        raise refusal(outcome, "gitmem")
    known = isinstance(outcome, thread.Known)
    return page("created_thread", thread=outcome.thread, known=known, now=memory.clock.now())


def resolve_thread(memory: Memory, thread_id: str = "", text_match: str = "", resolution_note: str = "") -> str:
    """Mark a thread as resolved."""
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


def checks(memory: Memory) -> dict[str, Any]:
    """Check the store and its indexes. Every write is one transaction, so only its indexes can lag."""
    examined = list(doctor.examine(memory))
    return {"status": doctor.status(memory), "checks": examined, "failed": [check for check in examined if check.fix]}


def analyze(memory: Memory, lens: str, days: float, format_: str, agent: str = "") -> str | dict[str, Any]:
    """Return the statistics of sessions as text or JSON."""
    report = ANALYSES[lens](memory, days=days, agent=agent)
    if format_ != "json":
        return f"{lens} · last {days:g} days\n{page(lens, report=report)}"
    if lens == "summary":
        report["issues"] = dict(report["issues"])
    elif lens == "blindspots":
        report = {name: [_effect(effect) for effect in shown] for name, shown in report.items()}
    return {"lens": lens, "days": days, "data": report}


def _effect(effect: Effect) -> dict[str, Any]:
    scar, counts = effect.scar, {"surfaced": effect.shown, "outcomes": effect.outcomes}
    named = {"scar_id": scar.id, "title": scar.title, "severity": scar.fields.get("severity")}
    return {**named, **counts, "application_rate": effect.heeded}


def cache_status(memory: Memory) -> dict[str, Any]:
    """Return the state of the search index."""
    status = doctor.status(memory)
    has_vectors = status["embedder"] != "none"
    mode = "hybrid" if has_vectors and not status["note"] else "words"
    lags = bool(status["lagging"]) and has_vectors
    return {"status": status, "mode": mode, "learnings": _learnings(memory), "lags": lags}


def _learnings(memory: Memory) -> int:
    return list_records(memory, Query(text="", kinds=LEARNINGS, limit=1)).total


def cache_health(memory: Memory) -> dict[str, Any]:
    """Compare the search index with the journal."""
    checks = [check for check in doctor.examine(memory) if check.name in INDEX_CHECKS]
    fixes = [check.fix for check in checks if check.fix]
    details = [f"{check.name}: {check.found}" for check in checks]
    return {"status": "out_of_sync" if fixes else "healthy", "details": details, "fixes": fixes}


def cache_flush(memory: Memory, progress: Any) -> dict[str, Any]:
    """Rebuild the search index."""
    before, began = _learnings(memory), memory.clock.now()
    memory.store.rebuild(progress=progress)
    took = max(0, epoch_ms(memory.clock.now()) - epoch_ms(began))
    return {"success": True, "previous_scar_count": before, "new_scar_count": _learnings(memory), "elapsed_ms": took}


def reflect(memory: Memory, reflections: Sequence[Answer]) -> Answered:
    """Record how scars turned out, OBEYED or REFUTED; this also answers a scar that was not answered before."""
    store, session = memory.store, memory.actor.session
    shown = {impression.id for impression in usage.shown(store, session)}
    answered = {use.id for use in usage.uses(store, session=session) if not use.observed}
    events = list[Event]()

    def use(reflection: Answer) -> Record:
        if problem := problem_with_reflection(reflection.decision, reflection.evidence):
            raise Invalid(f"{problem}.")
        scar = find(memory, reflection.scar).record
        if scar.id not in shown:
            raise Invalid(f"{short(scar.id)} was not shown in this session.", hint="Reflect on what recall showed.")
        first = ("applied", "succeeded") if reflection.decision == "OBEYED" else ("refuted",)
        later = ("succeeded",) if reflection.decision == "OBEYED" else ("failed",)
        details = {"evidence": masked(reflection.evidence.strip()), "decision": reflection.decision}
        outcomes = later if scar.id in answered else first
        events.extend(memory.event("used", scar.id, data={"outcome": name, **details}) for name in outcomes)
        return scar

    taken, problems = each(reflections, use)
    if events:
        memory.commit(events)
    others = memory.known(shown - {scar.id for scar, _ in taken}).values()
    left = [record for record in others if record.kind == "scar" and record.state == "active"]
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=tuple(left))


def note_use(memory: Memory, **use: Any) -> str:
    """Record the use of a scar, and its result if known; return the id of the event.

    A session records the same outcome of a scar only once: a confirmed scar is not counted again.
    """
    shown_at, reference = _instant(use.get("surfaced_at", "")), use["reference_type"]
    check_choice(reference, USE_OF, "a reference_type")
    if session := use.get("session_id"):
        memory = memory.acting_in(sessions.find_session(memory, session).id)
    scar, variant = scar_called(memory, _scar_in(use)), use.get("variant_id", "")
    uses = usage.uses(memory.store, session=memory.actor.session)
    known = {use_.outcome: use_.event for use_ in uses if use_.id == scar.id and not use_.observed}
    shown = {impression.id: impression.variant for impression in usage.shown(memory.store, memory.actor.session)}
    details = {
        "note": masked(use.get("reference_context", "").strip())[:LONGEST_NOTE],
        "issue": use.get("issue_identifier") or use.get("issue_id"),
        "shown_at": shown_at,
        "variant": variant if variant in VARIANTS else shown.get(scar.id, ""),
    }
    details = {name: value for name, value in details.items() if value}
    succeeded = use.get("execution_successful")
    outcomes = [USE_OF[reference]] + ([] if succeeded is None else ["succeeded" if succeeded else "failed"])
    new = [outcome for outcome in outcomes if outcome not in known]
    events = [memory.event("used", scar.id, data={"outcome": outcome, **details}) for outcome in new]
    if events:
        memory.commit(events)
    return known.get(outcomes[0]) or events[0].id


def note_uses(memory: Memory, scars: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Record several uses independently: one that fails is reported and does not affect the others."""
    events, names, errors = [], [], []
    for use in scars:
        _instant(use["surfaced_at"])  # nothing is recorded if a time is wrong
    for use in scars:
        try:
            events.append(note_use(memory, **use))
        except HoldfastError as problem:
            names.append(_scar_in(use))
            errors.append(f"{names[-1]}: {problem}")
    return {"events": events, "names": names, "errors": errors}


def _scar_in(use: Mapping[str, Any]) -> str:
    return str(use.get("scar_identifier") or use["scar_id"])


def _instant(text: str) -> str:
    try:
        return parse_instant(text, None) if text else ""
    except Invalid as problem:
        hint = "Use the ISO time at which recall returned the scar, such as 2026-03-01T09:30:00Z."
        raise Invalid(f"surfaced_at {text[:40]!r} is not an ISO timestamp.", hint=hint) from problem


def scar_called(memory: Memory, name: str) -> Record:
    """Return the scar with this id or title, or the only one whose title or text contains the words."""
    try:
        return find(memory, name).record
    except Ambiguous:
        raise
    except HoldfastError:
        words = name.strip().lower()
    scars = newest_of_kind(memory, "scar", limit=MOST_SCARS)
    if titled := [scar for scar in scars if scar.title.lower() == words]:
        return titled[0]
    matches = [scar for scar in scars if words and words in f"{scar.title}\n{scar.body}".lower()]
    if not matches:
        raise NotFound(f"No scar matches {shorten(name, 80)!r}.", hint="recall returns scars with their ids.")
    if len(matches) > 1:
        shown = "; ".join(f"{short(scar.id)} {shorten(scar.title, 60)}" for scar in matches[:5])
        raise Ambiguous(f"{len(matches)} scars match {shorten(name, 80)!r}: {shown}.", hint="Use the id.")
    return matches[0]


def search_lessons(
    memory: Memory, text: str, *, kinds: Sequence[str] = (*LESSONS, "observation"), severity: str = "", limit: int = 5
) -> Recalled:
    """Find lessons, and what sub-agents reported, by question; an id returns its record."""
    if is_reference(memory, text):
        record = find(memory, text).record
        return Recalled(hits=(Hit(record=record, score=1.0, confidence="strong", why={"id": 1.0}, fit=1.0),))
    recalled = recalling.recall(memory, Query(text=text, kinds=tuple(kinds), limit=limit * MORE), surface=False)
    hits = [hit for hit in recalled.hits if severity in ("", hit.record.fields.get("severity"))]
    hits = [hit for hit in hits if hit.record.kind != "observation" or hit.record.fields.get("type") == "sub-agent"]
    return replace(recalled, hits=tuple(hits[:limit]))


def archive(memory: Memory, reference: str, reason: str = "archived") -> Record:
    """Take a lesson out of use; if the reason is "superseded by" the id of another, that one gets a link to it."""
    record, named = find(memory, reference).record, _SUCCESSOR.search(reason)
    if named and is_reference(memory, named[1]):
        link(memory, named[1], "supersedes", record.id)
    return retire(memory, record.id, reason)


def _answer(item: Mapping[str, Any]) -> Answer:
    named = {name: item[name] for name in ("evidence", "relevance") if name in item}
    return Answer(scar=item["scar_id"], decision=item.get("decision") or item["outcome"], **named)


TERMS = Terms(
    filters={
        "about": lambda given: " ".join(
            (given["issue_title"] or "", *(given["issue_labels"] or ()), given["issue_description"] or "")
        ).strip(),
        "answers": lambda items: [_answer(item) for item in items],
        "bytes": lambda text: len(text.encode()),
        "form": lambda given: given["format_"] if form_of(given["transcript"]) == "json" else "markdown",
        "kilobytes": lambda text: len(text.encode()) / 1024,
        "plan_and_role": lambda given: (
            shorten(f"{given['plan']} ({role})", LONGEST_PLAN) if (role := given["agent_role"]) else given["plan"]
        ),
        "tag": tagged,
    },
    constants={"version": __version__, "tools": CONTRACT.tools.values(), "width": max(map(len, CONTRACT.tools))},
)
_, ROWS = read_rows(HERE, globals())


def present_error(problem: HoldfastError) -> dict[str, Any]:
    """Format an error as GitMem documents it."""
    message = str(problem) if problem.problems else problem.hint or problem.message
    return {"success": False, "errors": list(problem.problems) or [problem.message], "message": message}


surface = surface_of(CONTRACT, ROWS, TERMS, memory_for=memory_for, present_error=present_error)
