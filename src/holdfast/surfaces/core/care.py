"""Format trust, the hot set, predictions, health and quality as text for models."""

from collections import Counter
from collections.abc import Sequence

from holdfast.model.event import Event, in_words
from holdfast.model.ids import short
from holdfast.model.query import Recalled
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.health import word_for
from holdfast.surfaces.core.reader import MODEL, Reader
from holdfast.surfaces.core.text import line, within
from holdfast.verbs.records.hot import Hot, Suggested
from holdfast.verbs.search.graph import Traversal
from holdfast.verbs.search.predict import Prediction
from holdfast.verbs.truth.trust import Trust
from holdfast.verbs.upkeep.health import Chore, Health
from holdfast.verbs.upkeep.maintain import Metrics, Quality, Upkeep

ENOUGH_TO_CLUSTER = 4


def guidance_of(recalled: Recalled) -> str:
    """Describe how reliable a recall's results are."""
    match recalled.confidence:
        case "high":
            return "confidence high"
        case "medium":
            return "confidence medium: check before you rely on it"
    return "confidence low: these only may be about it"


def hot_of(hot: Sequence[Hot], reader: Reader = MODEL) -> str:
    """Format the hot set."""
    if not hot:
        return "The hot set is empty: memories enter it by being used."
    return within(reader.budget, [f"Hot set ({len(hot)}):"], _clustered(hot, reader), "recall")


def _clustered(hot_set: Sequence[Hot], reader: Reader) -> list[str]:
    """Group memories under a label that at least two of them share, if there are enough to group."""
    if len(hot_set) < ENOUGH_TO_CLUSTER:
        return [hot_line(hot, reader) for hot in hot_set]
    shared = Counter(label for hot in hot_set for label in {*hot.record.scopes, *hot.record.tags})
    under: dict[str, list[str]] = {}
    for hot in hot_set:
        labels = [label for label in (*hot.record.scopes, *hot.record.tags) if shared[label] > 1]
        best = max(labels, key=shared.__getitem__, default="")
        under.setdefault(best, []).append(hot_line(hot, reader))
    grouped = {label: lines for label, lines in under.items() if label and len(lines) > 1}
    if not grouped:
        return [hot_line(hot, reader) for hot in hot_set]
    rest = [line for label, lines in under.items() if label not in grouped for line in lines]
    listed = [line for label, lines in grouped.items() for line in (f"{label}:", *lines)]
    return [*listed, "other:", *rest] if rest else listed


def suggested_of(suggestions: Sequence[Suggested], reader: Reader = MODEL) -> str:
    """Format what could be in the hot set, and what keeps it out."""
    items = [
        f"{line(suggestion.record, reader)} (used {suggestion.uses}, salience {suggestion.salience:.2f}; kept out by {suggestion.why_not})"
        for suggestion in suggestions
    ]
    return (
        within(reader.budget, ["Used, but not in the hot set:"], items, "promote some")
        if items
        else "No other memory is used."
    )


def hot_line(hot: Hot, reader: Reader = MODEL) -> str:
    """Format a memory of the hot set as one line."""
    pinned = "pinned, " if hot.pinned else ""
    return f"{line(hot.record, reader)} ({pinned}{hot.why} since {reader.day(hot.since)}, used {hot.uses}, salience {hot.salience:.2f})"


def predictions_of(predictions: Sequence[Prediction], reader: Reader = MODEL) -> str:
    """Format the memories that may be needed next."""
    items = [
        f"{prediction.probability:.0%} {line(prediction.record, reader)} ({counted(prediction.times, 'time')})"
        for prediction in predictions
    ]
    return (
        within(reader.budget, ["Sessions then turned to:"], items, "a smaller limit")
        if items
        else "No access pattern is known yet."
    )


def trust_of(trust: Trust, reader: Reader = MODEL) -> str:
    """Format the trust in a memory and its history."""
    head = (
        f"{line(trust.record, reader)}\ntrust {trust.now:.2f} now ({trust.value:.2f} earned, {trust.base:.2f} at first)"
    )
    items = [
        f"{reader.minute(change.at)} {change.delta:+.2f} → {change.value:.2f} {change.reason} by {change.by}"
        + (f": {change.note}" if change.note else "")
        for change in trust.history
    ]
    return within(reader.budget, [head], items, "fewer")


def health_of(health: Health, reader: Reader = MODEL) -> str:
    """Format the health score, what it consists of, and what to do first."""
    lines = [f"Health {health.score}/100, {word_for(health.score)}: {counted(health.total, 'memory')} meant for reuse."]
    lines += [
        f"  −{measure.cost:g} {measure.name}: {measure.meaning}" for measure in health.measures if measure.cost >= 0.5
    ]
    if health.heavy:
        lines.append(
            "Most used: "
            + "; ".join(
                f"{short(record.id)} {shorten(record.title, 50)} ({times})" for record, times in health.heavy[:3]
            )
        )
    if health.markers:
        stats = [f"{word} {fired}/{insisted}" for word, (fired, insisted) in health.markers.items()]
        lines.append(f"Transient wordings refused/forced: {', '.join(stats)}")
    lines += [f"{counted(len(health.strangers), 'use')} of memories that do not exist here"] if health.strangers else []
    if health.unlooked:
        why = "another project is checked out" if health.drifted is None else "`holdfast verify --all` checks them"
        lines.append(f"{counted(health.unlooked, 'memory')} citing code not verified: {why}.")
    lines += ["To do, most pressing first:"] if health.queue else ["Nothing to do."]
    return within(reader.budget, lines, map(chore_line, health.queue), "do these first")


def chore_line(chore: Chore) -> str:
    """Format a maintenance task as one line."""
    about = f"{short(chore.record.id)} {shorten(chore.record.title, 60)}: " if chore.record else ""
    return f"- {chore.what}: {about}{chore.why}. `{chore.command}`"


def quality_of(quality: Quality, days: float) -> str:
    """Format what recall cost and how often it helped."""
    lines = [
        f"Last {days:.0f} days: {counted(quality.recalls, 'recall')} in {counted(quality.sessions, 'session')}, {quality.empty} found nothing, {quality.tokens} tokens shown.",
        f"{quality.shown} results shown, {quality.helped:.0%} reported helpful.",
    ]
    lines += [f"Declared: {_counts(quality.declared)}"] if quality.declared else []
    lines += [f"Observed: {_counts(quality.observed)}"] if quality.observed else []
    return "\n".join(lines)


def metrics_of(metrics: Metrics, reader: Reader = MODEL) -> str:
    """Format the counters."""
    lines = [
        f"{counted(metrics.recalls, 'recall')}, {counted(metrics.writes, 'write')}, {counted(metrics.outputs, 'output')} logged for mining",
        f"Hot set: {_counts(metrics.hot)}",
        f"Steps between memories: {metrics.steps} kinds, taken {metrics.steps_taken} times",
    ]
    lines += [f"Counted: {_counts(metrics.tallies)}"] if metrics.tallies else []
    return within(
        reader.budget,
        lines,
        [f"{reader.minute(failure.at)} {failure.name} failed: {failure.said}" for failure in metrics.failures],
        "fewer",
    )


def upkeep_of(upkeep: Upkeep, reader: Reader = MODEL) -> str:
    """Format what maintenance did."""
    would = "would be" if upkeep.dry_run else "were"
    lines = [f"{counted(len(upkeep.retired), 'memory')} {would} retired because their retention ended."]
    lines += [f"{counted(len(upkeep.cooled), 'memory')} left the hot set."] if upkeep.cooled else []
    lines.append(f"{upkeep.bytes_before / 1e6:.1f} MB before, {upkeep.bytes_after / 1e6:.1f} MB after.")
    return within(reader.budget, lines, (line(record, reader) for record in upkeep.retired), "`--json` lists all")


def audit_of(events: Sequence[Event], reader: Reader = MODEL) -> str:
    """Format what was removed or restored."""
    items = [
        f"{reader.minute(event.at)} {verb} {short(event.about)} {who}"
        + (f": {event.data['reason']}" if event.data.get("reason") else "")
        for event, (verb, who) in ((event, in_words(event)) for event in events)
    ]
    return within(reader.budget, [], items, "a smaller limit") if items else "Nothing was removed."


def traversal_of(traversal: Traversal, reader: Reader = MODEL) -> str:
    """Format a traversal of the graph."""
    if traversal.stats is not None:
        stats = traversal.stats
        lines = [f"{counted(stats.triples, 'connection')}: {_counts(dict(stats.predicates))}"]
        lines += [
            f"{name}: {_counts({node.partition(': ')[2]: count for node, count in counts.items()})}"
            for name, counts in (("issues", stats.issues), ("agents", stats.agents))
            if counts
        ]
        return within(reader.budget, lines, [f"{count} {name}" for name, count in stats.subjects.items()], "a node")
    items = [f"{triple.subject} —{triple.predicate}→ {triple.object}" for triple in traversal.triples]
    items += [
        f"{'  ' * (hop.depth - 1)}{hop.triple.subject} —{hop.triple.predicate}→ {hop.triple.object}"
        for hop in traversal.hops
    ]
    if not items:
        return f"No connection matches; {counted(traversal.scanned, 'connection')} scanned."
    left = [f"({traversal.cut} more: raise limit)"] if traversal.cut else []
    return within(reader.budget, [f"{', '.join(traversal.nodes)}:"], items, "a smaller limit", left)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
