"""Commands for trust, the hot set, predictions, health and maintenance."""

from collections.abc import Callable
from dataclasses import replace

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show, working
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.event import event_to_json
from holdfast.policy.ranking.trust import REASONS
from holdfast.surfaces.core import care
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import Hot, demote, hot_set, pin, promote, suggested, unpin
from holdfast.verbs.search.graph import traverse
from holdfast.verbs.search.predict import predict, warm
from holdfast.verbs.truth.trust import change_trust, trust_of
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import audit, maintain, metrics, quality


@click.command("trust")
@click.argument("id", type=MEMORY)
@click.option("--raise", "raises", flag_value=True, default=None, help="Raise the trust.")
@click.option("--lower", "raises", flag_value=False, help="Lower the trust.")
@click.option("--reason", default="", help=f"One of {', '.join(REASONS)}.")
@click.option("--by", "delta", type=float, help="By how much; default: by the reason.")
@click.option("--note", default="", help="What was observed.")
@json_option
def trust_command(id: str, raises: bool | None, reason: str, delta: float | None, note: str, as_json: bool) -> None:  # noqa: A002
    """Show the trust in a memory and its reasons; with --raise or --lower, change it."""
    with opened() as memory:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises
        trust = (
            trust_of(memory, id)
            if direction is None and not reason
            else change_trust(memory, id, reason, raises=direction is not False, delta=delta, note=note)
        )
    show(trust, care.trust_of(trust, PERSON), as_json=as_json)


@click.group("hot", invoke_without_command=True)
@click.pass_context
@json_option
def hot_command(ctx: click.Context, as_json: bool) -> None:
    """Show the hot set: the few memories that matter most; or add and remove memories."""
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            hot = hot_set(memory)
        show(hot, care.hot_of(hot, PERSON), as_json=as_json)


@hot_command.command("suggest")
@json_option
def suggest_command(as_json: bool) -> None:
    """Show memories that are used but not in the set, and why."""
    with opened() as memory:
        candidates = suggested(memory)
    show(candidates, care.suggested_of(candidates, PERSON), as_json=as_json)


def _hot_action(verb: Callable[[Memory, str], list[Hot]], help_text: str) -> None:
    """Add a subcommand to `hot` that applies a verb to a memory and prints the set."""

    @hot_command.command(verb.__name__, help=help_text)
    @click.argument("id", type=MEMORY)
    @json_option
    def act(id: str, as_json: bool) -> None:  # noqa: A002
        with opened() as memory:
            hot = verb(memory, id)
        show(hot, care.hot_of(hot, PERSON), as_json=as_json)


_hot_action(promote, "Add a memory.")
_hot_action(demote, "Remove a memory.")
_hot_action(pin, "Keep a memory in the set always.")
_hot_action(unpin, "Unpin a memory.")


@click.command("next")
@click.argument("id", type=MEMORY)
@click.option("--warm", "warming", is_flag=True, help="Add them to the hot set.")
@json_option
def next_command(id: str, warming: bool, as_json: bool) -> None:  # noqa: A002
    """Show what sessions used after a memory."""
    with opened() as memory:
        predictions = predict(memory, id)
        if warming:
            warm(memory, id)
    show(predictions, care.predictions_of(predictions, PERSON), as_json=as_json)


@click.command("health")
@click.option(
    "--days", default=30, show_default=True, type=click.IntRange(1), help="Age from which a memory counts as old."
)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="Tasks to list; --json has all.")
@json_option
def health_command(days: int, limit: int, as_json: bool) -> None:
    """Show the health of this project's memory, and what to do first."""
    with opened() as memory, working("looking at every memory"):
        report = health(memory, days=days)
    text = care.health_of(replace(report, queue=report.queue[:limit]), PERSON)
    more = len(report.queue) - limit
    show(report, f"{text}\n({more} more: --limit)" if more > 0 else text, as_json=as_json)


@click.command("quality")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@json_option
def quality_command(days: int, as_json: bool) -> None:
    """Show the cost and success of recent recalls."""
    with opened() as memory:
        report = quality(memory, days=days)
    show(report, care.quality_of(report, days), as_json=as_json)


@click.command("maintain")
@click.option("--dry-run", is_flag=True, help="Preview what would be done.")
@json_option
def maintain_command(dry_run: bool, as_json: bool) -> None:
    """Retire expired memories, trim the hot set and free space. Nothing is deleted."""
    with opened() as memory, working("maintaining the store"):
        report = maintain(memory, dry_run=dry_run)
    show(report, care.upkeep_of(report, PERSON), as_json=as_json)


@click.command("audit")
@click.option("--days", default=90, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--verb", default="", help="Only this: retired, erased, redacted, unlinked, restored.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="Maximum number to show.")
@json_option
def audit_command(days: int, verb: str, limit: int, as_json: bool) -> None:
    """Show what was retired, erased or restored, by whom and why."""
    with opened() as memory:
        events = audit(memory, days=days, verb=verb, limit=limit)
    show([event_to_json(event) for event in events], care.audit_of(events, PERSON), as_json=as_json)


@click.command("metrics")
@json_option
def metrics_command(as_json: bool) -> None:
    """Show counters: the hot set, background work and its failures."""
    with opened() as memory:
        counters = metrics(memory)
    show(counters, care.metrics_of(counters, PERSON), as_json=as_json)


@click.command("graph")
@click.argument("node", default="")
@click.option(
    "--lens",
    type=click.Choice(["connected_to", "produced_by", "provenance", "stats"]),
    default="connected_to",
    show_default=True,
    help="What to show.",
)
@click.option("--predicate", default="", help="Only this relation.")
@click.option("--depth", default=3, show_default=True, type=click.IntRange(1, 10), help="How many steps away.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="Maximum number to show.")
@json_option
def graph_command(node: str, lens: str, predicate: str, depth: int, limit: int, as_json: bool) -> None:
    """Show how memories, sessions, issues, people and documents of this project are connected.

    NODE is an id, an issue, a name or a label such as "Issue: SHOP-12"; default: a summary of the whole graph.

    \b
    holdfast stats graph SHOP-12
    holdfast stats graph claude-code --lens produced_by
    """
    with opened() as memory:
        traversal = traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)
    show(traversal, care.traversal_of(traversal, PERSON), as_json=as_json)
