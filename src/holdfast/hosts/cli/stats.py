"""Commands of `holdfast stats`: the health of the memory, what it costs and what sessions did with it."""

from dataclasses import replace
from typing import Annotated, Literal

from holdfast.hosts.cli.command import Result
from holdfast.hosts.cli.render import page
from holdfast.model.query import Query
from holdfast.model.request import Fields
from holdfast.surfaces.core.actions import analytics
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import recent_lessons
from holdfast.verbs.search.graph import Traversal, traverse
from holdfast.verbs.search.predict import Prediction, predict, warm
from holdfast.verbs.sessions.analyze import blind_spots, reflections, wordings
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.upkeep.health import health


def health_command(memory: Memory, *, days: int = 30, limit: int = 10) -> Result:
    report = health(memory, days=days)
    first = replace(report, queue=report.queue[:limit])
    return report, page("health", first, left=max(0, len(report.queue) - limit))


def analyze_command(
    memory: Memory,
    lens: Literal["summary", "reflections", "scars", "blind-spots", "wordings"] = "summary",
    *,
    days: int = 30,
    agent: str = "",
) -> Result:
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


def learnings_command(
    memory: Memory,
    *,
    severity: str = "",
    days: int | None = None,
    limit: int = 20,
    **asked: Annotated[tuple[str, ...], Fields(Query, "kinds")],
) -> Result:
    own = recent_lessons(memory, kinds=asked["kinds"], severity=severity, days=days or 0, limit=limit)
    return own, page("records", own, nothing="No learnings or decisions yet.")


def graph_command(
    memory: Memory,
    node: str = "",
    *,
    lens: Literal["connected_to", "produced_by", "provenance", "stats"] = "connected_to",
    predicate: str = "",
    depth: int = 3,
    limit: int = 50,
) -> Traversal:
    return traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)


def next_command(memory: Memory, id: str, *, warming: bool = False) -> list[Prediction]:
    predictions = predict(memory, id)
    if warming:
        warm(memory, id)
    return predictions
