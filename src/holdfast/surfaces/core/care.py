"""What a model reads of how the memory is doing: trust, the hot set, predictions, health, quality."""

from collections import Counter
from collections.abc import Sequence

from holdfast.model.event import Event
from holdfast.model.query import Recalled
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.health import word_for
from holdfast.surfaces.core.text import SHORT, line, within
from holdfast.surfaces.core.work import BUDGET
from holdfast.verbs.records.hot import Hot, Suggested
from holdfast.verbs.search.graph import Traversal
from holdfast.verbs.search.predict import Prediction
from holdfast.verbs.truth.trust import Trust
from holdfast.verbs.upkeep.health import Chore, Health
from holdfast.verbs.upkeep.maintain import Metrics, Quality, Upkeep

ENOUGH_TO_CLUSTER = 4


def guidance_of(found: Recalled) -> str:
    """Say how far an answer can be relied on."""
    match found.confidence:
        case "high":
            return "confidence high"
        case "medium":
            return "confidence medium: check before you rely on it"
    return "confidence low: these only may be about it"


def hot_of(found: Sequence[Hot]) -> str:
    """Write the hot set."""
    if not found:
        return "The hot set is empty: memories get in by being used, or with `hot promote`."
    return within(BUDGET, [f"Hot set ({len(found)}):"], _clustered(found), "recall")


def _clustered(found: Sequence[Hot]) -> list[str]:
    """Write memories under the label they share, where at least two do and there are enough to get lost in."""
    if len(found) < ENOUGH_TO_CLUSTER:
        return [hot_line(one) for one in found]
    shared = Counter(label for one in found for label in {*one.record.scopes, *one.record.tags})
    under: dict[str, list[str]] = {}
    for one in found:
        labels = [label for label in (*one.record.scopes, *one.record.tags) if shared[label] > 1]
        best = max(labels, key=shared.__getitem__, default="")
        under.setdefault(best, []).append(hot_line(one))
    grouped = {label: lines for label, lines in under.items() if label and len(lines) > 1}
    if not grouped:
        return [hot_line(one) for one in found]
    rest = [line for label, lines in under.items() if label not in grouped for line in lines]
    listed = [line for label, lines in grouped.items() for line in (f"{label}:", *lines)]
    return [*listed, "other:", *rest] if rest else listed


def suggested_of(found: Sequence[Suggested]) -> str:
    """Write what could be hot, and what keeps it out."""
    items = [
        f"{line(one.record)} (used {one.uses}, salience {one.salience:.2f}; kept out by {one.why_not})" for one in found
    ]
    return (
        within(BUDGET, ["Used, but not in the hot set:"], items, "promote some") if items else "Nothing else is in use."
    )


def hot_line(one: Hot) -> str:
    """Write a memory of the hot set as one line."""
    pinned = "pinned, " if one.pinned else ""
    return (
        f"{line(one.record)} ({pinned}{one.why} since {one.since[:10]}, used {one.uses}, salience {one.salience:.2f})"
    )


def predictions_of(found: Sequence[Prediction]) -> str:
    """Write what may be wanted next."""
    items = [f"{one.probability:.0%} {line(one.record)} ({counted(one.times, 'time')})" for one in found]
    return within(BUDGET, ["Sessions then turned to:"], items, "a smaller limit") if items else "No habit is known yet."


def trust_of(found: Trust) -> str:
    """Write how far a memory is believed, and why."""
    head = f"{line(found.record)}\ntrust {found.now:.2f} now ({found.value:.2f} earned, {found.base:.2f} at first)"
    items = [
        f"{one.at[:16]} {one.delta:+.2f} → {one.value:.2f} {one.reason} by {one.by}"
        + (f": {one.note}" if one.note else "")
        for one in found.history
    ]
    return within(BUDGET, [head], items, "fewer")


def health_of(found: Health) -> str:
    """Write how healthy a memory is, what it is made of, and what to do first."""
    lines = [
        f"Health {found.score}/100, {word_for(found.score)}: {counted(found.total, 'memory')} meant to be used again."
    ]
    lines += [f"  −{one.cost:g} {one.name}: {one.meaning}" for one in found.measures if one.cost >= 0.5]
    if found.heavy:
        lines.append(
            "Most used: "
            + "; ".join(f"{one.id[:SHORT]} {shorten(one.title, 50)} ({times})" for one, times in found.heavy[:3])
        )
    if found.markers:
        told = [f"{word} {fired}/{insisted}" for word, (fired, insisted) in found.markers.items()]
        lines.append(f"Transient wordings refused/insisted on: {', '.join(told)}")
    lines += [f"{counted(len(found.strangers), 'use')} of memories that are not here"] if found.strangers else []
    if found.unlooked:
        way = "other code is at hand" if found.drifted is None else "`holdfast verify --all` does"
        lines.append(f"{counted(found.unlooked, 'memory')} citing code not compared with it: {way}.")
    lines += ["To do, most pressing first:"] if found.queue else ["Nothing to do."]
    return within(BUDGET, lines, map(chore_line, found.queue), "do these first")


def chore_line(one: Chore) -> str:
    """Write one thing to do as one line."""
    about = f"{one.record.id[:SHORT]} {shorten(one.record.title, 60)}: " if one.record else ""
    return f"- {one.what}: {about}{one.why}. `{one.command}`"


def quality_of(found: Quality, days: float) -> str:
    """Write what recall cost and whether it helped."""
    lines = [
        f"Last {days:.0f} days: {counted(found.recalls, 'recall')} in {counted(found.sessions, 'session')}, {found.empty} found nothing, {found.tokens} tokens shown.",
        f"{found.shown} showings, {found.helped:.0%} said to have helped.",
    ]
    lines += [f"Declared: {_told(found.declared)}"] if found.declared else []
    lines += [f"Observed: {_told(found.observed)}"] if found.observed else []
    return "\n".join(lines)


def metrics_of(found: Metrics) -> str:
    """Write what was counted."""
    lines = [
        f"Hot set: {_told(found.hot)}",
        f"Steps between memories: {found.steps} kinds, taken {found.steps_taken} times",
    ]
    lines += [f"Counted: {_told(found.tallies)}"] if found.tallies else []
    return within(BUDGET, lines, [f"{one.at[:16]} {one.name} failed: {one.said}" for one in found.failures], "fewer")


def upkeep_of(found: Upkeep) -> str:
    """Write what maintenance did."""
    would = "would be" if found.dry_run else "were"
    lines = [f"{counted(len(found.retired), 'memory')} {would} retired, having served their time."]
    lines += [f"{counted(len(found.cooled), 'memory')} left the hot set."] if found.cooled else []
    lines.append(f"{found.bytes_before / 1e6:.1f} MB before, {found.bytes_after / 1e6:.1f} MB after.")
    return within(BUDGET, lines, map(line, found.retired), "`--json` lists all")


def audit_of(events: Sequence[Event]) -> str:
    """Write what was taken away or put back."""
    items = [
        f"{one.at[:16]} {one.verb} {one.about[:SHORT]} by {one.by.name or one.by.kind}"
        + (f": {one.data['reason']}" if one.data.get("reason") else "")
        for one in events
    ]
    return within(BUDGET, [], items, "a smaller limit") if items else "Nothing was taken away."


def traversal_of(found: Traversal) -> str:
    """Write what a look at the graph found."""
    if found.stats is not None:
        stats = found.stats
        lines = [f"{counted(stats.triples, 'connection')}: {_told(dict(stats.predicates))}"]
        lines += [
            f"{name}: {_told(dict(counts))}"
            for name, counts in (("issues", stats.issues), ("agents", stats.agents))
            if counts
        ]
        return within(BUDGET, lines, [f"{count} {name}" for name, count in stats.subjects.items()], "a node")
    items = [f"{one.subject} —{one.predicate}→ {one.object}" for one in found.triples]
    items += [
        f"{'  ' * (hop.depth - 1)}{hop.triple.subject} —{hop.triple.predicate}→ {hop.triple.object}"
        for hop in found.hops
    ]
    if not items:
        return f"Nothing is connected so; {counted(found.scanned, 'connection')} looked at."
    left = [f"({found.cut} more: raise limit)"] if found.cut else []
    return within(BUDGET, [f"{', '.join(found.nodes)}:"], items, "a smaller limit", left)


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
