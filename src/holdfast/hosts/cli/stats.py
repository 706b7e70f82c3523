"""Commands of `holdfast stats`: the health of the memory, what it costs and what sessions did with it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import ago, console, json_option, local, print_json, show, working
from holdfast.hosts.cli.values import KIND, MEMORY
from holdfast.hosts.to_json import plain
from holdfast.model.event import event_to_json
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.text import counted
from holdfast.surfaces.core import reports, session_text
from holdfast.surfaces.core import text as shown
from holdfast.verbs.capture.observer import ObserverStatus, observer_status
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.graph import traverse
from holdfast.verbs.search.predict import predict, warm
from holdfast.verbs.sessions.analyze import activity, blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import audit, metrics, quality


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
    text = reports.health_of(replace(report, queue=report.queue[:limit]), PERSON)
    more = len(report.queue) - limit
    show(report, f"{text}\n({more} more: --limit)" if more > 0 else text, as_json=as_json)


@click.command("quality")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@json_option
def quality_command(days: int, as_json: bool) -> None:
    """Show the cost and success of recent recalls."""
    with opened() as memory:
        report = quality(memory, days=days)
    show(report, reports.quality_of(report, days), as_json=as_json)


@click.command("receipts")
@click.option("--days", default=7, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 500), help="Maximum number to show.")
@json_option
def receipts_command(days: int, limit: int, as_json: bool) -> None:
    """Show what was injected into sessions, why, at what cost, and whether it helped."""
    from holdfast.verbs.sessions.receipts import receipts

    with opened() as memory:
        injected = receipts(memory, days=days, limit=limit)
    lines = [
        f"{ago(receipt.at)}  {receipt.why}: {counted(len(receipt.ids), 'memory')}, {receipt.tokens} tokens, session {short(receipt.session)}"
        + (f" → {', '.join(receipt.outcomes)}" if receipt.outcomes else "")
        + (f" (observed: {_tallied(receipt.observed)})" if receipt.observed else "")
        for receipt in injected
    ]
    show(injected, "\n".join(lines) or "Nothing was injected.", as_json=as_json)


def _tallied(outcomes: Iterable[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).most_common())


@click.command("analyze")
@click.argument(
    "lens",
    type=click.Choice(["summary", "reflections", "scars", "blind-spots", "wordings"]),
    default="summary",
    metavar="[LENS]",
)
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--agent", default="", help="Only this agent.")
@json_option
def analyze_command(lens: str, days: int, agent: str, as_json: bool) -> None:
    """Report on recent sessions: activity, reflections, the effect of scars and their wordings.

    LENS is summary (the default), reflections, scars, blind-spots or wordings.
    """
    with opened() as memory, working("reading sessions"):
        spots = blind_spots(memory, days=days)
        if lens == "summary":
            report = activity(memory, days=days, agent=agent)
            compared = wordings(memory, days=days)
            value = {"activity": report, "blind_spots": spots, "wordings": compared}
            show(value, session_text.activity_of(report, spots, compared, days, PERSON), as_json=as_json)
        elif lens == "reflections":
            replies = reflections(memory, days=days, agent=agent)
            show(replies, session_text.replies_of(replies, PERSON), as_json=as_json)
        elif lens == "scars":
            seen = effects(memory, days=days)
            show(seen, session_text.effects_of(seen, PERSON), as_json=as_json)
        elif lens == "blind-spots":
            scars = [*spots.ignored, *spots.in_vain, *spots.review]
            show(
                spots,
                "\n".join(dict.fromkeys(map(session_text.effect_line, scars))) or "No blind spots.",
                as_json=as_json,
            )
        else:
            compared = wordings(memory, days=days)
            show(
                compared,
                "\n".join(map(session_text.wording_line, compared)) or "No scar was shown yet.",
                as_json=as_json,
            )


@click.command("learnings")
@click.option("--kind", "kinds", type=KIND, multiple=True, help="Only this kind; repeatable.")
@click.option("--severity", default="", help="Only this severity.")
@click.option("--days", type=click.IntRange(1), help="Only of the last N days.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
def learnings_command(kinds: tuple[str, ...], severity: str, days: int | None, limit: int, as_json: bool) -> None:
    """List learnings and decisions, latest first."""
    from holdfast.model.ids import days_before

    with opened() as memory:
        since = days_before(memory.clock.now(), days) if days else ""
        query = Query(text="", kinds=kinds or (*LEARNINGS, "decision"), since=since, limit=1000)
        page = list_records(memory, query)
    own = [record for record in page.records if severity in ("", record.fields.get("severity"))]
    lines = [shown.line(record, PERSON) for record in own[:limit]]
    show(own[:limit], "\n".join(lines) or "No learnings or decisions yet.", as_json=as_json)


@click.command("audit")
@click.option("--days", default=90, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--verb", default="", help="Only this: retired, erased, redacted, unlinked, restored.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="Maximum number to show.")
@json_option
def audit_command(days: int, verb: str, limit: int, as_json: bool) -> None:
    """Show what was retired, erased or restored, by whom and why."""
    with opened() as memory:
        events = audit(memory, days=days, verb=verb, limit=limit)
    show([event_to_json(event) for event in events], reports.audit_of(events, PERSON), as_json=as_json)


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
    show(traversal, reports.traversal_of(traversal, PERSON), as_json=as_json)


@click.command("metrics")
@json_option
def metrics_command(as_json: bool) -> None:
    """Show counters: the hot set, background work and its failures."""
    with opened() as memory:
        counters = metrics(memory)
    show(counters, reports.metrics_of(counters, PERSON), as_json=as_json)


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
    show(predictions, reports.predictions_of(predictions, PERSON), as_json=as_json)


@click.command("observer")
@json_option
def observer_command(as_json: bool) -> None:
    """Show which observer is configured, its daily budget and what it has spent."""
    with opened() as memory:
        state = observer_status(memory)
    if as_json:
        print_json(plain(state))
        return
    for name, line in _observer_lines(state):
        console().print(Text.assemble((f"{name:<9}", "dim"), line))


def _observer_lines(state: ObserverStatus) -> list[tuple[str, str]]:
    if state.observer == "none" or state.daily_tokens <= 0:
        why = "none is set" if state.observer == "none" else "observer_daily_tokens is 0"
        return [("observer", f"off ({why}): rules write observations, at no cost")]
    lines = [
        ("observer", f"{state.observer} {state.model}, mode {state.mode}"),
        (
            "today",
            f"{state.spent:,} of {state.daily_tokens:,} tokens in {counted(state.calls, 'call')}, {state.left:,} left",
        ),
    ]
    lines += [("problem", state.problem)] if state.problem else []
    lines += [("paused", f"until {local(state.waiting_until)}")] if state.waiting_until else []
    return lines + [("failed", f"{ago(failure.at)}  {failure.said}") for failure in state.failures[:3]]
