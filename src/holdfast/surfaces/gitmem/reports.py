"""Format GitMem's analytics, graph, store health and list of commands."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from holdfast import __version__
from holdfast.model.ids import short
from holdfast.model.text import counted, shorten
from holdfast.policy.sessions.graph import Stats, Triple
from holdfast.surfaces.contract import Contract
from holdfast.surfaces.phrases import tallies
from holdfast.verbs.search.graph import Traversal
from holdfast.verbs.sessions.analyze import Activity, BlindSpots, Reply
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.upkeep.doctor import Check, Status

INDEX_CHECKS = ("sqlite", "pages", "server", "views", "embedder", "vectors")  # what the index can be out of sync in
Report = Activity | BlindSpots | Mapping[str, Sequence[Reply]]


def analyzed(lens: str, report: Report, days: float, form: str) -> str | dict[str, Any]:
    """Return the statistics of sessions as text or JSON."""
    if form == "json":
        return {"lens": lens, "days": days, "data": _plain(report)}
    match report:
        case Activity():
            lines = _activity(report)
        case BlindSpots():
            lines = _blind_spots(report)
        case _:
            lines = _reflections(report)
    return "\n".join([f"{lens} · last {days:g} days", *lines])


def traversed(traversal: Traversal, node: str) -> str:
    """Format a traversal of the graph."""
    if traversal.stats:
        return "\n".join(_stats(traversal.stats))
    if not traversal.nodes:
        return f"No node of the graph matches {shorten(node, 80)}. The lens stats lists the nodes."
    named = (
        traversal.nodes[0] if len(traversal.nodes) == 1 else f"{len(traversal.nodes)} nodes like {shorten(node, 60)}"
    )
    steps = [f"{'  ' * (hop.depth - 1)}{hop.depth}. {_arrow(hop.triple)}" for hop in traversal.hops]
    lines = steps or [_arrow(triple) for triple in traversal.triples]
    more = [f"({traversal.cut} more: raise limit)"] if traversal.cut else []
    head = f"{traversal.lens} {named}: {counted(len(lines), 'connection')} of {traversal.scanned} scanned"
    return "\n".join([head, *lines, *more])


def healthy(status: Status, checks: Sequence[Check], limit: int) -> str:
    """Format the state of the store. Every write is one transaction, so only its indexes can lag."""
    failed = [check for check in checks if check.fix]
    lines = [f"{counted(len(checks), 'check')}: {len(checks) - len(failed)} ok, {len(failed)} with a problem"]
    lines += [f"{check.name}: {check.found}" for check in checks if not check.fix]
    lines += [f"PROBLEM {check.name}: {check.found} → {check.fix}" for check in failed[:limit]]
    lag = f"; {status.lagging} memories not embedded yet" if status.embedder != "none" else ""
    lines += [f"{status.events} events stored, none pending{lag}."]
    return "\n".join([*lines, *([status.note] if status.note else [])])


def cache_status(status: Status, learnings: int) -> dict[str, Any]:
    """Return the state of the search index."""
    return {
        "search_mode": "words" if status.embedder == "none" or status.note else "hybrid",
        "initialized": True,
        "project": status.project,
        "scar_count": learnings,
        "waiting_for_vectors": status.lagging,
        "is_stale": bool(status.lagging) and status.embedder != "none",
        "embedder": status.embedder,
        "note": status.note,
    }


def cache_health(checks: Sequence[Check]) -> dict[str, Any]:
    """Return whether the search index agrees with the journal."""
    about_index = [check for check in checks if check.name in INDEX_CHECKS]
    failed = [check for check in about_index if check.fix]
    return {
        "status": "out_of_sync" if failed else "healthy",
        "details": [f"{check.name}: {check.found}" for check in about_index],
        "fixes": [check.fix for check in failed],
    }


def helped(contract: Contract, status: Status) -> str:
    """Format the tools with their short names."""
    tools = contract.promises
    lines = [f"Holdfast {__version__} with GitMem's tools · {len(tools)} tools · every tier's tools, nothing to unlock"]
    lines += [f"Storage: {status.place} · project {status.project} · {status.here} memories"]
    width = max(len(tool.name) for tool in tools)
    for tool in tools:
        names = f" ({', '.join(tool.aliases)})" if tool.aliases else ""
        lines.append(f"  {tool.name.ljust(width)}  {tool.title}{names}")
    return "\n".join(lines)


def _plain(report: Any) -> Any:
    """Convert a report to JSON; a scar is reduced to its id, title and severity."""
    match report:
        case Effect(scar=scar, shown=shown, outcomes=outcomes, heeded=heeded):
            summary = {"scar_id": scar.id, "title": scar.title, "severity": scar.fields.get("severity")}
            return {**summary, "surfaced": shown, "outcomes": dict(outcomes), "application_rate": heeded}
        case Activity(issues=issues):
            summary = {spec.name: _plain(getattr(report, spec.name)) for spec in fields(report)}
            return {**summary, "issues": dict(issues)}
        case Mapping():
            return {name: _plain(value) for name, value in report.items()}
        case list() | tuple():
            return [_plain(item) for item in report]
        case BlindSpots() | Reply():
            return {spec.name: _plain(getattr(report, spec.name)) for spec in fields(report)}
    return report


def _activity(activity: Activity) -> list[str]:
    sessions = f"Sessions: {activity.sessions} ({activity.open} open)"
    asked = f"{counted(activity.recalls, 'recall')}, {counted(activity.reflections, 'reflection')}"
    return [f"{sessions}, {asked}", *tallies(activity)]


def _reflections(reflections: Mapping[str, Sequence[Reply]]) -> list[str]:
    lines = []
    for question, replies in reflections.items():
        lines += [f"## {question}"] if replies else []
        lines += [
            f"- {reply.at[:10]} {reply.agent} {short(reply.session)}: {shorten(reply.text, 200)}" for reply in replies
        ]
    return lines or ["No session closed with a reflection yet."]


def _blind_spots(spots: BlindSpots) -> list[str]:
    lines = [f"ignored: {_effect(effect)}" for effect in spots.ignored]
    lines += [f"applied without success: {_effect(effect)}" for effect in spots.in_vain]
    lines += [f"needs review: {_effect(effect)}" for effect in spots.review if effect not in spots.ignored]
    return lines or ["No blind spot: no shown scar is ignored or fails."]


def _effect(effect: Effect) -> str:
    outcomes = ", ".join(f"{name} {count}" for name, count in effect.outcomes.most_common()) or "no answer"
    return f"{short(effect.scar.id)} {shorten(effect.scar.title, 80)}: shown {effect.shown}, {outcomes}"


def _stats(stats: Stats) -> list[str]:
    parts = {
        "Predicates": stats.predicates,
        "Subjects": stats.subjects,
        "Objects": stats.objects,
        "Issues": stats.issues,
        "Agents": stats.agents,
    }
    lines = [f"stats: {counted(stats.triples, 'connection')}"]
    for name, counts in parts.items():
        listed = ", ".join(f"{shorten(item, 60)} {count}" for item, count in counts.items())
        lines += [f"{name}: {listed}"] if listed else []
    return lines


def _arrow(triple: Triple) -> str:
    ends = [shorten(end, 80) for end in (triple.subject, triple.object)]
    return f"{ends[0]} —{triple.predicate}→ {ends[1]}"
