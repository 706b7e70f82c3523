"""Commands that keep knowledge true and small: trust, the hot set, predictions, health, maintenance."""

from collections.abc import Callable

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, show
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
@click.option("--raise", "raises", flag_value=True, default=None, help="It deserves more.")
@click.option("--lower", "raises", flag_value=False, help="It deserves less.")
@click.option("--reason", default="", help=f"One of {', '.join(REASONS)}.")
@click.option("--by", "delta", type=float, help="How much, instead of what the reason is worth.")
@click.option("--note", default="", help="What was seen.")
@json_option
def trust_command(id: str, raises: bool | None, reason: str, delta: float | None, note: str, as_json: bool) -> None:  # noqa: A002
    """Show how far a memory is believed and why; with --raise or --lower, change it."""
    with opened() as memory:
        wanted = REASONS[reason] > 0 if raises is None and reason in REASONS else raises
        found = (
            trust_of(memory, id)
            if wanted is None and not reason
            else change_trust(memory, id, reason, raises=wanted is not False, delta=delta, note=note)
        )
    show(found, care.trust_of(found), as_json=as_json)


@click.group("hot", invoke_without_command=True)
@click.pass_context
@json_option
def hot_command(ctx: click.Context, as_json: bool) -> None:
    """Show the hot set: the few memories that matter most now; or put memories in and out."""
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            found = hot_set(memory)
        show(found, care.hot_of(found), as_json=as_json)


@hot_command.command("suggest")
@json_option
def suggest_command(as_json: bool) -> None:
    """Show what is used but not in the set, and what keeps it out."""
    with opened() as memory:
        found = suggested(memory)
    show(found, care.suggested_of(found), as_json=as_json)


def _hot_action(verb: Callable[[Memory, str], list[Hot]], told: str) -> None:
    """Return `hot` a command that does one thing to a memory and shows the set after it."""

    @hot_command.command(verb.__name__, help=told)
    @click.argument("id", type=MEMORY)
    @json_option
    def act(id: str, as_json: bool) -> None:  # noqa: A002
        with opened() as memory:
            found = verb(memory, id)
        show(found, care.hot_of(found), as_json=as_json)


_hot_action(promote, "Put a memory in.")
_hot_action(demote, "Take a memory out.")
_hot_action(pin, "Keep a memory in, whatever happens.")
_hot_action(unpin, "Let a pinned memory leave again.")


@click.command("next")
@click.argument("id", type=MEMORY)
@click.option("--warm", "warming", is_flag=True, help="Put them into the hot set.")
@json_option
def next_command(id: str, warming: bool, as_json: bool) -> None:  # noqa: A002
    """Show what sessions turned to after a memory."""
    with opened() as memory:
        found = predict(memory, id)
        if warming:
            warm(memory, id)
    show(found, care.predictions_of(found), as_json=as_json)


@click.command("health")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="What counts as old.")
@json_option
def health_command(days: int, as_json: bool) -> None:
    """Show how healthy the memory of this project is, and what to do first."""
    with opened() as memory:
        found = health(memory, days=days)
    show(found, care.health_of(found), as_json=as_json)


@click.command("quality")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@json_option
def quality_command(days: int, as_json: bool) -> None:
    """Show what recall cost lately and whether it helped."""
    with opened() as memory:
        found = quality(memory, days=days)
    show(found, care.quality_of(found, days), as_json=as_json)


@click.command("maintain")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
def maintain_command(dry_run: bool, as_json: bool) -> None:
    """Retire what has served its time, cool the hot set, give space back. Nothing is deleted."""
    with opened() as memory:
        found = maintain(memory, dry_run=dry_run)
    show(found, care.upkeep_of(found), as_json=as_json)


@click.command("audit")
@click.option("--days", default=90, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--verb", default="", help="Only this: retired, erased, redacted, unlinked, restored.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="Most to show.")
@json_option
def audit_command(days: int, verb: str, limit: int, as_json: bool) -> None:
    """Show what was taken away or put back, by whom and why."""
    with opened() as memory:
        found = audit(memory, days=days, verb=verb, limit=limit)
    show([event_to_json(event) for event in found], care.audit_of(found), as_json=as_json)


@click.command("metrics")
@json_option
def metrics_command(as_json: bool) -> None:
    """Show what was counted: the hot set, background work and its failures."""
    with opened() as memory:
        found = metrics(memory)
    show(found, care.metrics_of(found), as_json=as_json)


@click.command("graph")
@click.argument("node", default="")
@click.option(
    "--lens",
    type=click.Choice(["connected_to", "produced_by", "provenance", "stats"]),
    default="connected_to",
    show_default=True,
    help="How to look at it.",
)
@click.option("--predicate", default="", help="Only this relation.")
@click.option("--depth", default=3, show_default=True, type=click.IntRange(1, 10), help="How many steps away.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="Most to show.")
@json_option
def graph_command(node: str, lens: str, predicate: str, depth: int, limit: int, as_json: bool) -> None:
    """Look at how memories, sessions, issues, people and documents of this project hang together.

    NODE is an id, an issue, a name or a label such as "Issue: SHOP-12"; without one the whole graph is summed up.

    \b
    holdfast graph SHOP-12
    holdfast graph claude-code --lens produced_by
    """
    with opened() as memory:
        found = traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)
    show(found, care.traversal_of(found), as_json=as_json)
