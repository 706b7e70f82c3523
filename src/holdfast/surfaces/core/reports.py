"""Format trust, the hot set, predictions, health and quality as text for models."""

from collections import Counter
from collections.abc import Sequence

from holdfast.model.event import Event, in_words
from holdfast.model.ids import short
from holdfast.model.text import counted, filled, shorten
from holdfast.policy.ranking.health import word_for
from holdfast.policy.sessions.graph import Triple
from holdfast.surfaces.core.text import line, listed, within
from holdfast.surfaces.reader import MODEL, Reader
from holdfast.verbs.records.hot import Hot, Suggested
from holdfast.verbs.search.graph import Traversal
from holdfast.verbs.search.predict import Prediction
from holdfast.verbs.truth.trust import Trust
from holdfast.verbs.upkeep.health import Chore, Health
from holdfast.verbs.upkeep.maintain import Metrics, Quality, Upkeep

ENOUGH_TO_CLUSTER = 4


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
        f"{line(suggestion.record, reader)} ({_used(suggestion, reader)}; kept out by {suggestion.why_not})"
        for suggestion in suggestions
    ]
    nothing = "No memory outside the hot set has been used."
    return listed(reader, "Used, but not in the hot set:", items, "promote some", nothing=nothing)


def hot_line(hot: Hot, reader: Reader = MODEL) -> str:
    """Format a memory of the hot set as one line."""
    pinned = "pinned, " if hot.pinned else ""
    since = f"{hot.why} since" if reader.figures else "hot since"
    return f"{line(hot.record, reader)} ({pinned}{since} {reader.day(hot.since)}, {_used(hot, reader)})"


def _used(memory: Hot | Suggested, reader: Reader) -> str:
    salience = f", salience {memory.salience:.2f}" if reader.figures else ""
    return f"used {memory.uses if reader.figures else counted(memory.uses, 'time')}{salience}"


def predictions_of(predictions: Sequence[Prediction], reader: Reader = MODEL) -> str:
    """Format the memories that may be needed next."""
    items = [
        f"{prediction.probability:.0%} {line(prediction.record, reader)} ({counted(prediction.times, 'time')})"
        for prediction in predictions
    ]
    nothing = "No session used another memory after this one yet."
    return listed(reader, "Sessions then turned to:", items, "a smaller limit", nothing=nothing)


def trust_of(trust: Trust, reader: Reader = MODEL) -> str:
    """Format the trust in a memory and its history."""
    earned = f"trust {trust.now:.2f} now ({trust.value:.2f} earned, {trust.base:.2f} at first)"
    head = f"{line(trust.record, reader)}\n{earned}"
    items = [
        f"{reader.minute(change.at)} {change.delta:+.2f} → {change.value:.2f} {change.reason} by {change.by}"
        + (f": {change.note}" if change.note else "")
        for change in trust.history
    ]
    return within(reader.budget, [head], items, "fewer")


def health_of(health: Health, reader: Reader = MODEL) -> str:
    """Format the health score, what it consists of, and what to do first."""
    used = [f"{short(record.id)} {shorten(record.title, 50)} ({times})" for record, times in health.heavy[:3]]
    refused = [
        f"“{word}” {counted(fired, 'time')} ({insisted} saved anyway)"
        for word, (fired, insisted) in health.markers.items()
    ]
    why = "another project is checked out" if health.drifted is None else "`holdfast verify --all` checks them"
    lines = filled(
        f"Health {health.score}/100, {word_for(health.score)}: {counted(health.total, 'memory')} meant for reuse.",
        *(f"  −{one.cost:g} {one.name}: {one.meaning}" for one in health.measures if one.cost >= 0.5),
        used and f"Most used: {'; '.join(used)}",
        refused and f"Refused because the wording suggests change: {', '.join(refused)}",
        health.strangers and f"{counted(len(health.strangers), 'use')} of memories that do not exist here",
        health.unlooked and f"{counted(health.unlooked, 'memory')} citing code not verified: {why}.",
        "To do, most pressing first:" if health.queue else "Nothing to do.",
    )
    return within(reader.budget, lines, (chore_line(chore, reader) for chore in health.queue), "do these first")


def chore_line(chore: Chore, reader: Reader = MODEL) -> str:
    """Format a maintenance task as one line; for a person, with the command on a line of its own."""
    title = f"{short(chore.record.id)} {shorten(chore.record.title, 60)}" if chore.record else ""
    if not reader.figures:
        return f"- {chore.what}, {chore.why}{f': {title}' if title else ''}\n    {chore.command}"
    return f"- {chore.what}: {f'{title}: ' if title else ''}{chore.why}. `{chore.command}`"


def quality_of(quality: Quality, days: float) -> str:
    """Format what recall cost and how often it helped."""
    lines = [
        f"Last {days:.0f} days: {counted(quality.recalls, 'recall')} by agents in {counted(quality.sessions, 'session')}, {quality.empty} found nothing, {quality.tokens:,} tokens shown.",
        f"{quality.shown} results shown, {quality.helped:.0%} reported helpful.",
    ]
    counts = {"Declared": quality.declared, "Observed": quality.observed}
    return "\n".join([*lines, *(f"{name}: {_counts(tallies)}" for name, tallies in counts.items() if tallies)])


def metrics_of(metrics: Metrics, reader: Reader = MODEL) -> str:
    """Format the counters."""
    lines = [
        f"{counted(metrics.recalls, 'recall')}, {counted(metrics.writes, 'write')}, {counted(metrics.outputs, 'output')} logged for mining",
        f"Hot set: {_counts(metrics.hot)}",
        f"Pairs of memories used one after the other: {metrics.steps:,}, {counted(metrics.steps_taken, 'time')} in all",
    ]
    tallies = {_tally(name, reader): count for name, count in metrics.tallies.items()}
    lines += [f"Counted: {_counts(tallies)}"] if tallies else []
    return within(
        reader.budget,
        lines,
        [f"{reader.minute(failure.at)} {failure.name} failed: {failure.said}" for failure in metrics.failures],
        "fewer",
    )


def _tally(name: str, reader: Reader) -> str:
    group, _, marker = name.removeprefix("transient.").partition(".")
    words = {"fired": "refused", "insisted": "saved anyway"}.get(group)
    return name if reader.figures or not words else f"{words} “{marker}”"


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
        if not stats.triples:
            return "No connections yet: they come from links, sessions, issues and agents."
        kinds = {_relation(name, reader): count for name, count in stats.predicates.items()}
        lines = [f"{counted(stats.triples, 'connection')}: {_counts(kinds)}"]
        lines += [
            f"{name}: {_counts({node.partition(': ')[2]: count for node, count in counts.items()})}"
            for name, counts in (("issues", stats.issues), ("agents", stats.agents))
            if counts
        ]
        lines += ["Most connected:"] if stats.subjects else []
        return within(reader.budget, lines, [f"{count} {name}" for name, count in stats.subjects.items()], "a node")
    items = [_triple(triple, reader) for triple in traversal.triples]
    items += [f"{'  ' * (hop.depth - 1)}{_triple(hop.triple, reader)}" for hop in traversal.hops]
    if not items:
        return f"No connection matches; {counted(traversal.scanned, 'connection')} scanned."
    left = [f"({traversal.cut} more: raise limit)"] if traversal.cut else []
    return within(reader.budget, [f"{', '.join(traversal.nodes).rstrip('.')}:"], items, "a smaller limit", left)


def _triple(triple: Triple, reader: Reader) -> str:
    return f"{triple.subject} —{_relation(triple.predicate, reader)}→ {triple.object}"


def _relation(name: str, reader: Reader) -> str:
    return name if reader.figures else name.replace("_", " ")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
