"""Commands of `holdfast stats`: the health of the memory, what it costs and what sessions did with it."""

from collections import Counter
from dataclasses import replace
from typing import Annotated, Literal

from holdfast.hosts.cli.command import Result, command
from holdfast.hosts.cli.render import PERSON, ago, local
from holdfast.hosts.cli.values import Days, Id, Limit
from holdfast.model.event import event_to_json
from holdfast.model.ids import days_before, short
from holdfast.model.query import Query
from holdfast.model.request import Asked, Fields
from holdfast.model.text import counted
from holdfast.surfaces.core import reports, session_text
from holdfast.surfaces.core import text as texts
from holdfast.verbs.capture.observer import observer_status
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.graph import traverse
from holdfast.verbs.search.predict import predict, warm
from holdfast.verbs.sessions.analyze import activity, blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS
from holdfast.verbs.sessions.receipts import receipts
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import audit, metrics, quality

UpTo500 = Annotated[int, Asked("Maximum number to show.", least=1, most=500)]


@command(working="looking at every memory")
def health_command(
    memory: Memory,
    *,
    days: Annotated[int, Asked("Age from which a memory counts as old.", least=1)] = 30,
    limit: Annotated[int, Asked("Tasks to list; --json has all.", least=1)] = 10,
) -> Result:
    """Show the health of this project's memory, and what to do first."""
    report = health(memory, days=days)
    text = reports.health_of(replace(report, queue=report.queue[:limit]), PERSON)
    more = len(report.queue) - limit
    return report, f"{text}\n({more} more: --limit)" if more > 0 else text


@command()
def quality_command(memory: Memory, *, days: Days = 30) -> Result:
    """Show the cost and success of recent recalls."""
    report = quality(memory, days=days)
    return report, reports.quality_of(report, days)


@command()
def receipts_command(memory: Memory, *, days: Days = 7, limit: UpTo500 = 20) -> Result:
    """Show what was injected into sessions, why, at what cost, and whether it helped."""
    injected, lines = receipts(memory, days=days, limit=limit), list[str]()
    for receipt in injected:
        cost = f"{counted(len(receipt.ids), 'memory')}, {receipt.tokens} tokens"
        helped = f" → {', '.join(receipt.outcomes)}" if receipt.outcomes else ""
        seen = ", ".join(f"{count} {outcome}" for outcome, count in Counter(receipt.observed).most_common())
        observed = f" (observed: {seen})" if seen else ""
        lines.append(f"{ago(receipt.at)}  {receipt.why}: {cost}, session {short(receipt.session)}{helped}{observed}")
    return injected, "\n".join(lines) or "Nothing was injected."


@command(working="reading sessions")
def analyze_command(
    memory: Memory,
    lens: Annotated[
        Literal["summary", "reflections", "scars", "blind-spots", "wordings"], Asked("", metavar="[LENS]")
    ] = "summary",
    *,
    days: Days = 30,
    agent: Annotated[str, Asked("Only this agent.")] = "",
) -> Result:
    """Report on recent sessions: activity, reflections, the effect of scars and their wordings.

    LENS is summary (the default), reflections, scars, blind-spots or wordings.
    """
    match lens:
        case "reflections":
            replies = reflections(memory, days=days, agent=agent)
            return replies, session_text.replies_of(replies, PERSON)
        case "scars":
            seen = effects(memory, days=days)
            return seen, session_text.effects_of(seen, PERSON)
        case "wordings":
            compared = wordings(memory, days=days)
            return compared, "\n".join(map(session_text.wording_line, compared)) or "No scar was shown yet."
    spots = blind_spots(memory, days=days)
    if lens == "blind-spots":
        lines = map(session_text.effect_line, [*spots.ignored, *spots.in_vain, *spots.review])
        return spots, "\n".join(dict.fromkeys(lines)) or "No blind spots."
    report, compared = activity(memory, days=days, agent=agent), wordings(memory, days=days)
    value = {"activity": report, "blind_spots": spots, "wordings": compared}
    return value, session_text.activity_of(report, spots, compared, days, PERSON)


@command()
def learnings_command(
    memory: Memory,
    *,
    severity: Annotated[str, Asked("Only this severity.")] = "",
    days: Annotated[int | None, Asked("Only of the last N days.", least=1)] = None,
    limit: Limit = 20,
    **asked: Annotated[tuple[str, ...], Fields(Query, "kinds")],
) -> Result:
    """List learnings and decisions, latest first."""
    since = days_before(memory.clock.now(), days) if days else ""
    query = Query.of(kinds=asked["kinds"] or (*LEARNINGS, "decision"), since=since, limit=1000)
    records = list_records(memory, query).records
    own = [record for record in records if severity in ("", record.fields.get("severity"))][:limit]
    lines = [texts.line(record, PERSON) for record in own]
    return own, "\n".join(lines) or "No learnings or decisions yet."


@command()
def audit_command(
    memory: Memory,
    *,
    days: Days = 90,
    verb: Annotated[str, Asked("Only this: retired, erased, redacted, unlinked, restored.")] = "",
    limit: UpTo500 = 50,
) -> Result:
    """Show what was retired, erased or restored, by whom and why."""
    events = audit(memory, days=days, verb=verb, limit=limit)
    return [event_to_json(event) for event in events], reports.audit_of(events, PERSON)


@command()
def graph_command(
    memory: Memory,
    node: str = "",
    *,
    lens: Annotated[
        Literal["connected_to", "produced_by", "provenance", "stats"], Asked("What to show.")
    ] = "connected_to",
    predicate: Annotated[str, Asked("Only this relation.")] = "",
    depth: Annotated[int, Asked("How many steps away.", least=1, most=10)] = 3,
    limit: UpTo500 = 50,
) -> Result:
    """Show how memories, sessions, issues, people and documents of this project are connected.

    NODE is an id, an issue, a name or a label such as "Issue: SHOP-12"; default: a summary of the whole graph.

    \b
    holdfast stats graph SHOP-12
    holdfast stats graph claude-code --lens produced_by
    """
    traversal = traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)
    return traversal, reports.traversal_of(traversal, PERSON)


@command()
def metrics_command(memory: Memory) -> Result:
    """Show counters: the hot set, background work and its failures."""
    counters = metrics(memory)
    return counters, reports.metrics_of(counters, PERSON)


@command("next")
def next_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    warming: Annotated[bool, Asked("Add them to the hot set.", flag="--warm")] = False,
) -> Result:
    """Show what sessions used after a memory."""
    predictions = predict(memory, id)
    if warming:
        warm(memory, id)
    return predictions, reports.predictions_of(predictions, PERSON)


@command()
def observer_command(memory: Memory) -> Result:
    """Show which observer is configured, its daily budget and what it has spent."""
    state = observer_status(memory)
    if state.observer == "none" or state.daily_tokens <= 0:
        why = "none is set" if state.observer == "none" else "observer_daily_tokens is 0"
        return state, f"observer off ({why}): rules write observations, at no cost"
    spent = f"{state.spent:,} of {state.daily_tokens:,} tokens in {counted(state.calls, 'call')}, {state.left:,} left"
    lines = (
        ("observer", f"{state.observer} {state.model}, mode {state.mode}"),
        ("today", spent),
        ("problem", state.problem),
        ("paused", state.waiting_until and f"until {local(state.waiting_until)}"),
        *(("failed", f"{ago(failure.at)}  {failure.said}") for failure in state.failures[:3]),
    )
    return state, "\n".join(f"{name:<9}{line}" for name, line in lines if line)
