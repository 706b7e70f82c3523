"""The native tools, resources and prompts: names, docstrings and signatures are what agents see.

Each calls one verb. The verbs of the actions of `session`, `thread` and `explore`, and the pages they answer with, are in rows.txt.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS, Asked, Fields
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft, link_of
from holdfast.model.text import filled, tokens_of
from holdfast.policy.activity.transcript import form_of
from holdfast.policy.admission.admit import SecretFound, Waivers
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.policy.sessions.plan_brief import clipped
from holdfast.surfaces.core.text import answered, full, history_of, hydrated, index_of, outcome_of, page, refusal_of
from holdfast.surfaces.maps import Terms, read_rows
from holdfast.surfaces.phrases import line, unanswered
from holdfast.surfaces.tool import Call, Surface
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import lifecycle
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.read import LEARNINGS, get, history, hydrate, note_reading, waiting_records
from holdfast.verbs.records.write import write
from holdfast.verbs.search import brief as briefs
from holdfast.verbs.search.recall import recall as search_for
from holdfast.verbs.sessions import scars
from holdfast.verbs.sessions import thread as threads
from holdfast.verbs.sessions.analyze import MOST_DAYS, activity, blind_spots, topics_of, wordings
from holdfast.verbs.sessions.close import close, payload_file
from holdfast.verbs.sessions.session import contents_of, context, find_session, only_open, start
from holdfast.verbs.truth.contradictions import compare_now, conflicts, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health

HERE = Path(__file__).parent
INSTRUCTIONS = (HERE / "instructions.txt").read_text(encoding="utf-8").strip()
surface = Surface(name="core", instructions=INSTRUCTIONS, fences=True)


def act(tool: str, action: str, call: Call, **arguments: Any) -> str:
    """Run an action of a tool and return what it answers."""
    answer: str = ROWS[f"{tool}.{action}"].run(call.memory, arguments, TERMS, call)
    return answer


def actions_of(tool: str) -> tuple[str, ...]:
    """Return the names of a tool's actions."""
    return tuple(name.partition(".")[2] for name in ROWS if name.startswith(f"{tool}."))


def start_session(memory: Memory, call: Call, session: str, title: str, issue: str, force: bool) -> str:
    """Start or resume a session; later calls act in it."""
    memory, opened = start(memory, session=session, title=title, issue=issue, force=force)
    call.client.context = memory.context
    return page("opening", opened=opened, payload_file=payload_file(memory, opened["session"].id))


def close_session(memory: Memory, session: str, close_type: str, payload: Mapping[str, Any]) -> str:
    """Close a session, and name the scars that it left without an answer."""
    left = scars.unanswered(memory, session and find_session(memory, session).id)
    outcome = close(memory, session=session, close_type=close_type, payload=payload)
    return page("closing", outcome=outcome, scars=left)


def show_session(memory: Memory, session: str) -> str:
    """Return a session with what it left and its topics; default: the active one."""
    session = session or only_open(memory).id
    return page("session", left=contents_of(memory, session), topics=topics_of(memory, session))


def open_thread(memory: Memory, text: str, issue: str, force: bool) -> str:
    """Open a thread, or touch one about the same."""
    outcome = threads.open_thread(memory, text, issues=(issue,) if issue else (), force=force)
    if not isinstance(outcome, threads.Opened | threads.Known):
        return refusal_of(outcome)
    return page("thread_done", word="Opened", thread=outcome.thread, known=isinstance(outcome, threads.Known))


def dismiss_suggestion(memory: Memory, reference: str) -> str:
    """Dismiss a suggested thread, and report whether it may come back."""
    record, left = threads.dismiss(memory, reference)
    again = f"It comes back if its topic does, {left} more times at most." if left > 0 else "It will not come back."
    return f"Dismissed {line(record)}. {again}"


def analytics(memory: Memory, *, days: int, agent: str = "") -> dict[str, Any]:
    """Return what the page `activity` shows: what sessions did, and which scars and wordings fail."""
    done = activity(memory, days=days, agent=agent)
    return {"activity": done, "spots": blind_spots(memory, days=days), "compared": wordings(memory, days=days)}


def contradictions(memory: Memory, reference: str, limit: int) -> str:
    """Return what contradicts a memory, or every contradiction."""
    if reference:
        return page("conflicts", record=find(memory, reference).record, clashes=conflicts(memory, reference))
    compare_now(memory)
    return page("disputes", disputes=open_contradictions(memory, limit=limit))


def state(memory: Memory, days: int) -> str:
    """Return what is stored, and its health."""
    shown = page("state", status=status(memory), scars=scars.unanswered(memory))
    return f"{shown}\n{page('health', health=health(memory, days=days))}"


TERMS = Terms(filters={"form": form_of, "half": lambda limit: max(1, limit // 2), "line": line})
_, ROWS = read_rows(HERE, globals())
Ids = Annotated[list[str], {"minItems": 1}]
Payload = Annotated[dict[str, Any], "close: reflection, summary, decisions, open_threads, learnings; help(closing)."]
Budget = Annotated[int, "Most tokens.", {"minimum": 50, "maximum": 20000}]


@surface.tool("Recall memories", read_only=True)
def recall(
    call: Call,
    query: Annotated[str, "A question, code, a path or an error text."],
    budget: Budget = 1500,
    **asked: Annotated[Any, Fields(Query, "kinds scopes tags since as_of everywhere limit mode")],
) -> str:
    """Find what is known about something, by word and by meaning.

    Returns an index of the best hits and why each matched, or reports that nothing fits. read returns the full text.
    """
    memory = call.memory
    recalled = search_for(memory, Query.of(query, now=memory.clock.now(), budget=budget, related=True, **asked))
    return index_of(recalled, who=memory.actor.name, budget=budget, waiting=scars.unanswered(memory))


@surface.tool("Read memories in full", read_only=True)
def read(
    call: Call,
    ids: Ids,
    start: Annotated[int, "Character to read on at.", {"minimum": 0}] = 0,
    budget: Budget = 4000,
    level: Annotated[Literal["summary", "full", "files", "history"], "files: the code it cites."] = "full",
) -> str:
    """Return memories in full, and whether they are still true and helped."""
    asked = ids if level == "history" else ()
    histories = [f"history of {id_}:\n{history_of(history(call.memory, id_))}" for id_ in asked]
    room = max(50, (budget - sum(map(tokens_of, histories))) // len(ids) - 1)
    records = [hydrate(call.memory, id_, "full" if level == "history" else level) for id_ in ids]
    note_reading(call.memory, [record.record.id for record in records])
    if level == "summary":
        return clipped("\n".join(line(record.record) for record in records), budget)
    shown = (hydrated(record, start=start, room=room) for record in records)
    return clipped("\n\n".join([*shown, *histories]), budget)


@surface.tool("Remember something")
def remember(
    call: Call,
    text: Annotated[str, "Complete in itself."],
    *,
    inferred: Annotated[bool, "You concluded it."] = False,
    everywhere: Annotated[bool, "In every project."] = False,
    force: Annotated[bool, "Save although refused."] = False,
    redact: Annotated[bool, "Mask secrets."] = False,
    **asked: Annotated[Any, Fields(Draft, "kind title fields scopes tags anchors triggers links confidence")],
) -> str:
    """Save one thing for later sessions.

    Refused, with what to do, if it is known, retired, soon untrue or holds a secret.
    """
    asked |= {"source": "inferred" if inferred else "explicit", "project": GLOBAL if everywhere else None}
    draft, waivers = Draft.of(text, **asked), Waivers(duplicate=force, transient=force, scope=force)
    outcome = outcome_of(write(call.memory, draft, waivers=waivers, redact=redact))
    waiting = scars.unanswered(call.memory) if draft.kind in (*LEARNINGS, "decision") else []
    return "\n".join(filled(unanswered(waiting), outcome))


@surface.tool("Revise a memory")
def revise(
    call: Call,
    id: str,  # noqa: A002
    text: str = "",
    links: Annotated[list[str], "relation:id to add."] = [],  # noqa: B006  never changed
    **asked: Annotated[Any, Fields(lifecycle.Revision, "title kind fields scopes tags triggers")],
) -> str:
    """Change a memory; what is passed replaces the old, links are added. The old version stays in its history."""
    for arrow in map(link_of, links):
        record = lifecycle.link(call.memory, id, arrow.relation, arrow.target)
    if links and not (text or any(asked.values())):
        return f"Linked {record.id}."
    outcome = lifecycle.revise(call.memory, id, lifecycle.Revision.of(body=text, **asked))
    if isinstance(outcome, SecretFound):
        return refusal_of(outcome)
    return f"Revised {outcome.id}, revision {outcome.revision}."


def objects(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of objects of texts."""
    texts = {name: {"type": "string", **more} for name, more in properties.items()}
    return {"minItems": 1, "items": {"type": "object", "properties": texts, "required": required.split()}}


VERDICTS = objects("id verdict", id={}, verdict={"enum": list(scars.VERDICTS)}, evidence={})


@surface.tool("Judge memories")
def judge(call: Call, judgements: Annotated[list[dict[str, Any]], VERDICTS]) -> str:
    """Report the outcome of memories: so the memory learns what to trust.

    To a scar that recall showed: APPLYING (evidence: what was done), N_A (why it does not apply) or REFUTED (which risk is
    accepted), in 50 characters or more; later succeeded or failed. To any: applied, ignored, contradicted (it is wrong),
    corrected (and you revised it), verified (you checked it). To a pending one: confirmed or cancelled.
    """
    named = ((one["id"], one["verdict"], one.get("evidence", "")) for one in judgements)
    answers = [scars.Answer(scar=id_, decision=verdict, evidence=said) for id_, verdict, said in named]
    result = scars.judge(call.memory, answers)
    lines = "\n".join(answered(result))
    if not result.taken:
        raise Invalid(lines)
    return lines


@surface.tool("Forget or restore a memory", destructive=True)
def forget(
    call: Call,
    id: str,  # noqa: A002
    reason: Annotated[str, "Why."] = "",
    restore_it: Annotated[bool, "Put it back instead."] = False,
) -> str:
    """Take a memory out of use, with a reason, or put it back. Nothing is lost."""
    if restore_it:
        return f"Restored {lifecycle.restore(call.memory, id).id}."
    return f"Retired {lifecycle.retire(call.memory, id, reason).id}. forget(restore_it=true) restores it."


@surface.tool("Work in sessions")
def session(
    call: Call,
    action: Annotated[str, Asked("", choices=actions_of("session"))],
    id: Annotated[str, "If not the active one."] = "",  # noqa: A002
    title: Annotated[str, "start: what it is about."] = "",
    issue: str = "",
    close_type: Literal["standard", "quick", "autonomous", "retroactive"] = "standard",
    payload: Payload = {},  # noqa: B006
    text: Annotated[str, "A transcript, or what to find in them."] = "",
    force: Annotated[bool, "start: a new one although one is active."] = False,
) -> str:
    """Start, resume, inspect or close a session.

    start returns what the last one left. patterns: what recurs across sessions.
    """
    asked = {"id": id, "title": title, "issue": issue, "close_type": close_type}
    return act("session", action, call, **asked, payload=payload, text=text, force=force)


@surface.tool("Keep track of unfinished work")
def thread(
    call: Call,
    action: Annotated[str, Asked("", choices=actions_of("thread"))],
    id: Annotated[str, "Its id, place (#2, oldest first) or part of its text."] = "",  # noqa: A002
    text: Annotated[str, "open: what is left to do."] = "",
    issue: str = "",
    note: Annotated[str, "resolve: how."] = "",
    force: Annotated[bool, "open: although one is about the same."] = False,
) -> str:
    """Threads are work that outlives a session; untouched ones fade and are archived.

    triage groups them by stage. suggestions are recurring topics: promote or dismiss them.
    """
    return act("thread", action, call, id=id or text, text=text, issue=issue, note=note, force=force)


@surface.tool("Brief a sub-agent", read_only=True)
def brief(
    call: Call,
    plan: Annotated[str, "What the sub-agent will do."],
    form: Annotated[Literal["compact", "gate", "full"], "gate: only what blocks."] = "compact",
    budget: Annotated[int, "Most tokens.", {"minimum": 0, "maximum": 20000}] = 0,
) -> str:
    """Return what is known about a plan, for a sub-agent's prompt: it has no memory of its own."""
    return briefs.brief(call.memory, plan, form=form, budget=budget).text


SEEN = objects("text", text={}, source={}, severity={"enum": ["info", "warning", "scar_candidate"]})


@surface.tool("Absorb what sub-agents saw")
def absorb(call: Call, observations: Annotated[list[dict[str, Any]], SEEN], task: str = "") -> str:
    """Save what sub-agents observed; names what should become a scar."""
    return page("absorbed", absorbed=scars.absorb(call.memory, observations, task=task))


@surface.tool("Explore the memory", read_only=True)
def explore(
    call: Call,
    view: Annotated[str, Asked("", choices=actions_of("explore"))],
    about: Annotated[str, "timeline: an id or a question; graph, next, contradictions: an id; log: a kind."] = "",
    days: int = 30,
    limit: int = 20,
) -> str:
    """Look around: near a memory, what comes next, lessons, sessions, scars by effect, health."""
    return act("explore", view, call, id=about, days=min(MOST_DAYS, max(1, days)), limit=min(100, max(1, limit)))


@surface.tool("Help", read_only=True)
def help(call: Call, topic: Annotated[str, "A tool, a kind, or confirm, closing, writing."] = "") -> str:  # noqa: A001, ARG001
    """Explain a tool, a kind and its fields, or a topic."""
    if topic in KINDS:
        return page("kind", kind=KINDS[topic])
    if topic in surface.tools:
        return f"{topic}: {surface.tools[topic].description}"
    if topic in TOPICS:
        return page(f"{topic}_help", **TOPICS[topic])
    return page("topics", tools=surface.tools.values(), topics=TOPICS, kinds=KINDS)


TOPICS: dict[str, dict[str, Any]] = {"confirm": {}, "closing": {"questions": QUESTIONS}, "writing": {}}


@surface.resource("holdfast://hot", "Hot set")
def hot(call: Call) -> str:
    """The memories of this project that matter most now: used recently and often, trusted, important."""
    return page("hot", members=hot_set(call.memory))


@surface.resource("holdfast://project", "Project context")
def project(call: Call) -> str:
    """The state of the project: last session, threads, decisions, how the human likes to work."""
    return page("project", opened=context(call.memory))


@surface.resource("holdfast://record/{id}", "A memory")
def record(call: Call, id: str) -> str:  # noqa: A002
    """One memory in full, by its id."""
    return full(get(call.memory, id), room=4_000)


@surface.resource("holdfast://session/{id}", "A session")
def one_session(call: Call, id: str) -> str:  # noqa: A002
    """One session with what it left, by its id."""
    return show_session(call.memory, id)


@surface.prompt("Start of work")
def start_work(call: Call, task: Annotated[str, "What you are about to work on."] = "") -> str:
    """Begin with what is known: the state of the project and what recall says about the task."""
    return page("start_work", task=task, opened=context(call.memory))


@surface.prompt("Closing ceremony")
def close_work(call: Call) -> str:
    """Close the session well: nine questions, the human's corrections, what was learned, decided and left open."""
    return page("close_work", questions=QUESTIONS, scars=scars.unanswered(call.memory))


@surface.prompt("Review of candidates")
def review_candidates(call: Call) -> str:
    """Go through what needs a decision: lessons from observations, pending memories, suggested threads."""
    memory = call.memory
    lessons, topics = page("candidates", candidates=scars.candidates(memory)), threads.suggestions(memory)
    return page("review_candidates", lessons=lessons, pending=waiting_records(memory), topics=topics)
