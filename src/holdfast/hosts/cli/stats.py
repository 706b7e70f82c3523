"""Commands of `holdfast stats`: the health of the memory, what it costs and what sessions did with it."""

from dataclasses import replace
from typing import Annotated, Literal

from holdfast.hosts.cli.command import Result, command
from holdfast.hosts.cli.render import page
from holdfast.hosts.cli.values import Days, Id, Limit
from holdfast.model.event import event_to_json
from holdfast.model.ids import days_before
from holdfast.model.query import Query
from holdfast.model.request import Asked, Fields
from holdfast.surfaces.core.actions import analytics
from holdfast.verbs.capture.observer import ObserverStatus, observer_status
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.graph import Traversal, traverse
from holdfast.verbs.search.predict import Prediction, predict, warm
from holdfast.verbs.sessions.analyze import blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS
from holdfast.verbs.sessions.receipts import Receipt, receipts
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.upkeep.doctor import audit
from holdfast.verbs.upkeep.health import Metrics, health, metrics, quality

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
    first = replace(report, queue=report.queue[:limit])
    return report, page("health", first, left=max(0, len(report.queue) - limit))


@command()
def quality_command(memory: Memory, *, days: Days = 30) -> Result:
    """Show the cost and success of recent recalls."""
    report = quality(memory, days=days)
    return report, page("quality", report, days)


@command(page="receipts")
def receipts_command(memory: Memory, *, days: Days = 7, limit: UpTo500 = 20) -> list[Receipt]:
    """Show what was injected into sessions, why, at what cost, and whether it helped."""
    return receipts(memory, days=days, limit=limit)


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
            return replies, page("replies", replies)
        case "scars":
            seen = effects(memory, days=days)
            return seen, page("effects", seen)
        case "wordings":
            compared = wordings(memory, days=days)
            return compared, page("wordings", compared, "No scar was shown yet.")
        case "blind-spots":
            spots = blind_spots(memory, days=days)
            blind = {effect.scar.id: effect for effect in (*spots.ignored, *spots.in_vain, *spots.review)}
            return spots, page("blind_spots", blind.values())
    done = analytics(memory, days=days, agent=agent)
    value = {"activity": done["activity"], "blind_spots": done["spots"], "wordings": done["compared"]}
    return value, page("activity", **done, days=days)


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
    return own, page("records", own, nothing="No learnings or decisions yet.")


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
    return [event_to_json(event) for event in events], page("audit", events)


@command(page="traversal")
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
) -> Traversal:
    """Show how memories, sessions, issues, people and documents of this project are connected.

    NODE is an id, an issue, a name or a label such as "Issue: SHOP-12"; default: a summary of the whole graph.

    \b
    holdfast stats graph SHOP-12
    holdfast stats graph claude-code --lens produced_by
    """
    return traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)


@command(page="metrics")
def metrics_command(memory: Memory) -> Metrics:
    """Show counters: the hot set, background work and its failures."""
    return metrics(memory)


@command("next", page="predictions")
def next_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    warming: Annotated[bool, Asked("Add them to the hot set.", flag="--warm")] = False,
) -> list[Prediction]:
    """Show what sessions used after a memory."""
    predictions = predict(memory, id)
    if warming:
        warm(memory, id)
    return predictions


@command(page="observer")
def observer_command(memory: Memory) -> ObserverStatus:
    """Show which observer is configured, its daily budget and what it has spent."""
    return observer_status(memory)
