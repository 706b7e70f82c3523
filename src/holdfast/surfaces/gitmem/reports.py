"""What GitMem's users read of analytics, the graph, the health of the store and the commands there are."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from holdfast import __version__
from holdfast.model.text import counted, shorten
from holdfast.policy.sessions.triples import Stats, Triple
from holdfast.surfaces.contract import Contract
from holdfast.verbs.search.graph import Traversal
from holdfast.verbs.sessions.analyze import Activity, BlindSpots, Reply
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.upkeep.doctor import Check, Status

Report = Activity | BlindSpots | Mapping[str, Sequence[Reply]]


def analyzed(lens: str, found: Report, days: float, form: str) -> str | dict[str, Any]:
    """Write what sessions add up to, to be read or for programs."""
    if form == "json":
        return {"lens": lens, "days": days, "data": _plain(found)}
    match found:
        case Activity():
            lines = _activity(found)
        case BlindSpots():
            lines = _blind_spots(found)
        case _:
            lines = _reflections(found)
    return "\n".join([f"{lens} · last {days:g} days", *lines])


def traversed(found: Traversal, node: str) -> str:
    """Write what a look at the graph found."""
    if found.stats:
        return "\n".join(_stats(found.stats))
    if not found.nodes:
        return f"Nothing in the graph is called {shorten(node, 80)}. The lens stats shows what there is."
    named = found.nodes[0] if len(found.nodes) == 1 else f"{len(found.nodes)} nodes like {shorten(node, 60)}"
    steps = [f"{'  ' * (hop.depth - 1)}{hop.depth}. {_arrow(hop.triple)}" for hop in found.hops]
    lines = steps or [_arrow(one) for one in found.triples]
    more = [f"({found.cut} more: raise limit)"] if found.cut else []
    head = f"{found.lens} {named}: {counted(len(lines), 'connection')} of {found.scanned} looked at"
    return "\n".join([head, *lines, *more])


def healthy(found: Status, checks: Sequence[Check], limit: int) -> str:
    """Write how the store is doing: every write is one transaction, so what could lag behind is only its indexes."""
    wrong = [one for one in checks if one.fix]
    lines = [f"{counted(len(checks), 'check')}: {len(checks) - len(wrong)} well, {len(wrong)} with a problem"]
    lines += [f"{one.name}: {one.found}" for one in checks if not one.fix]
    lines += [f"PROBLEM {one.name}: {one.found} → {one.fix}" for one in wrong[:limit]]
    lag = f"; {found.lagging} memories wait for vectors" if found.embedder != "none" else ""
    lines += [f"{found.events} events kept, none waits to be written{lag}."]
    return "\n".join([*lines, *([found.note] if found.note else [])])


def cache_status(found: Status, learnings: int) -> dict[str, Any]:
    """Give what the search index holds."""
    return {
        "search_mode": "words" if found.embedder == "none" or found.note else "hybrid",
        "initialized": True,
        "project": found.project,
        "scar_count": learnings,
        "waiting_for_vectors": found.lagging,
        "is_stale": bool(found.lagging) and found.embedder != "none",
        "embedder": found.embedder,
        "note": found.note,
    }


def cache_health(checks: Sequence[Check]) -> dict[str, Any]:
    """Give whether the search index agrees with the journal."""
    wrong = [one for one in checks if one.fix]
    return {
        "status": "out_of_sync" if wrong else "healthy",
        "details": [f"{one.name}: {one.found}" for one in checks],
        "fixes": [one.fix for one in wrong],
    }


def helped(contract: Contract, found: Status) -> str:
    """Write the commands with their short names."""
    tools = contract.promises
    lines = [f"Holdfast {__version__} with GitMem's tools · {len(tools)} tools · every tier's tools, nothing to unlock"]
    lines += [f"Storage: {found.place} · project {found.project} · {found.here} memories"]
    width = max(len(one.name) for one in tools)
    for one in tools:
        names = f" ({', '.join(one.aliases)})" if one.aliases else ""
        lines.append(f"  {one.name.ljust(width)}  {one.title}{names}")
    return "\n".join(lines)


def _plain(found: Any) -> Any:
    """Give a report as JSON has it; of a scar only what tells which one is meant."""
    match found:
        case Effect(scar=scar, shown=shown, outcomes=outcomes, heeded=heeded):
            told = {"scar_id": scar.id, "title": scar.title, "severity": scar.fields.get("severity")}
            return {**told, "surfaced": shown, "outcomes": dict(outcomes), "application_rate": heeded}
        case Activity(issues=issues):
            told = {spec.name: _plain(getattr(found, spec.name)) for spec in fields(found)}
            return {**told, "issues": dict(issues)}
        case Mapping():
            return {name: _plain(value) for name, value in found.items()}
        case list() | tuple():
            return [_plain(one) for one in found]
        case BlindSpots() | Reply():
            return {spec.name: _plain(getattr(found, spec.name)) for spec in fields(found)}
    return found


def _activity(found: Activity) -> list[str]:
    lines = [
        f"Sessions: {found.sessions} ({found.open} open), {found.recalls} recalls, {found.reflections} reflections"
    ]
    lines += (
        [f"Kept: {', '.join(f'{count} {kind}' for kind, count in found.kinds.most_common())}"] if found.kinds else []
    )
    lines += [f"Agents: {', '.join(f'{name} {count}' for name, count in found.agents.items())}"] if found.agents else []
    lines += [f"Closed: {', '.join(f'{name} {count}' for name, count in found.closes.items())}"] if found.closes else []
    lines += [f"Issues: {', '.join(f'{name} {count}' for name, count in found.issues)}"] if found.issues else []
    return lines


def _reflections(found: Mapping[str, Sequence[Reply]]) -> list[str]:
    lines = []
    for question, replies in found.items():
        lines += [f"## {question}"] if replies else []
        lines += [f"- {one.at[:10]} {one.agent} {one.session[:10]}: {shorten(one.text, 200)}" for one in replies]
    return lines or ["No session closed with a reflection yet."]


def _blind_spots(found: BlindSpots) -> list[str]:
    lines = [f"ignored: {_effect(one)}" for one in found.ignored]
    lines += [f"applied in vain: {_effect(one)}" for one in found.in_vain]
    lines += [f"look at it again: {_effect(one)}" for one in found.review if one not in found.ignored]
    return lines or ["No blind spot: no scar is shown for nothing."]


def _effect(one: Effect) -> str:
    told = ", ".join(f"{name} {count}" for name, count in one.outcomes.most_common()) or "no answer"
    return f"{one.scar.id[:10]} {shorten(one.scar.title, 80)}: shown {one.shown}, {told}"


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
        told = ", ".join(f"{shorten(item, 60)} {count}" for item, count in counts.items())
        lines += [f"{name}: {told}"] if told else []
    return lines


def _arrow(triple: Triple) -> str:
    ends = [shorten(end, 80) for end in (triple.subject, triple.object)]
    return f"{ends[0]} —{triple.predicate}→ {ends[1]}"
