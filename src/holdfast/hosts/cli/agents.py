"""Commands around agents at work: briefs, observations, feedback and reports on sessions."""

from pathlib import Path
from typing import Any

import click

from holdfast.hosts.cli.options import opened, stdin_text
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show, working, wrapped
from holdfast.hosts.cli.values import KIND, MEMORY
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.query import Query
from holdfast.surfaces.core import text as shown
from holdfast.surfaces.core import work
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.brief import brief
from holdfast.verbs.sessions.absorb import absorb, candidates
from holdfast.verbs.sessions.analyze import activity, blind_spots, reflections, wordings
from holdfast.verbs.sessions.close import LEARNINGS
from holdfast.verbs.sessions.judge import VERDICTS, judge
from holdfast.verbs.sessions.scars import Answer, effects, unanswered


@click.command("brief")
@click.argument("plan", nargs=-1)
@click.option(
    "--form",
    type=click.Choice(["compact", "gate", "full"]),
    default="compact",
    show_default=True,
    help="With a plan: compact; gate (only what must not be repeated); or full (with texts).",
)
@click.option(
    "--budget", type=click.IntRange(20), help="With a plan: maximum tokens; default 500, 100 or 4000 by form."
)
@json_option
def brief_command(plan: tuple[str, ...], form: str, budget: int | None, as_json: bool) -> None:
    """Print the brief that a session of this project starts with; with a PLAN, what is known about it.

    A plan's brief is for a sub-agent's prompt.
    """
    if not plan:
        _print_session_brief(as_json=as_json)
        return
    with opened() as memory, working("searching"):
        plan_brief = brief(memory, " ".join(plan), form=form, budget=budget or 0)
    show(plan_brief, plan_brief.text, as_json=as_json)


@click.command("opening")
@json_option
def opening_command(as_json: bool) -> None:
    """Print the brief that a session of this project starts with: another name of `holdfast brief`."""
    _print_session_brief(as_json=as_json)


def _print_session_brief(*, as_json: bool) -> None:
    from holdfast.verbs.sessions.opening_brief import brief_of

    with opened() as memory:
        session_brief = brief_of(memory)
    if session_brief.text and not as_json:
        print(wrapped(session_brief.text))  # as an agent gets it: stored text was fenced when the brief was made
        return
    empty = 'The brief is empty: nothing is stored for this project yet (holdfast remember "…"), or `inject` is off.'
    show(session_brief, empty, as_json=as_json)


@click.command("absorb")
@click.argument("text", nargs=-1)
@click.option("--source", default="", help="Who observed it.")
@click.option(
    "--severity",
    type=click.Choice(["info", "warning", "scar_candidate"]),
    default="info",
    show_default=True,
    help="How important it is; a candidate may become a scar.",
)
@click.option("--task", default="", help="What it was part of.")
@click.option(
    "--file", type=click.Path(path_type=Path, allow_dash=True), help="JSON list of observations; - reads stdin."
)
@click.option("--candidates", "only_candidates", is_flag=True, help="List possible lessons instead.")
@json_option
def absorb_command(
    text: tuple[str, ...],
    source: str,
    severity: str,
    task: str,
    file: Path | None,
    only_candidates: bool,
    as_json: bool,
) -> None:
    """Save what a sub-agent observed, and point out possible lessons."""
    with opened() as memory:
        if only_candidates:
            possible = candidates(memory)
            show(possible, work.candidates_of(possible, PERSON), as_json=as_json)
            return
        if not file and not text:
            raise Invalid("The observation is empty.", hint="Pass what was observed, or --file with a JSON list.")
        observations = (
            _observations(file) if file else [{"text": " ".join(text), "source": source, "severity": severity}]
        )
        absorbed = absorb(memory, observations, task=task)
    show(absorbed, work.absorbed_of(absorbed, PERSON), as_json=as_json)


@click.command("judge")
@click.argument("verdict", type=click.Choice(VERDICTS, case_sensitive=False), metavar="VERDICT")
@click.argument("ids", type=MEMORY, nargs=-1)
@click.option("--evidence", "--note", default="", help="What was observed, done or checked.")
@click.option("--session", help="Session in which the scars were surfaced.")
@json_option
def judge_command(verdict: str, ids: tuple[str, ...], evidence: str, session: str | None, as_json: bool) -> None:
    """Report whether memories helped, or answer a scar.

    A scar is answered with APPLYING, N_A or REFUTED. applied, ignored, contradicted and corrected report the outcome of any memory
    that was shown; verified marks it as checked; confirmed and cancelled approve and reject a pending one.
    """
    with opened(session=session) as memory:
        judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
        open_scars = unanswered(memory)
    lines = [line for line in shown.answered(judged, PERSON) if open_scars or not line.startswith("Every scar")]
    show(judged, "\n".join(lines), as_json=as_json)
    if judged.problems:
        raise click.exceptions.Exit(Conflict.exit_code)


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
            show(value, work.activity_of(report, spots, compared, days, PERSON), as_json=as_json)
        elif lens == "reflections":
            replies = reflections(memory, days=days, agent=agent)
            show(replies, work.replies_of(replies, PERSON), as_json=as_json)
        elif lens == "scars":
            seen = effects(memory, days=days)
            show(seen, work.effects_of(seen, PERSON), as_json=as_json)
        elif lens == "blind-spots":
            scars = [*spots.ignored, *spots.in_vain, *spots.review]
            show(spots, "\n".join(dict.fromkeys(map(work.effect_line, scars))) or "No blind spots.", as_json=as_json)
        else:
            compared = wordings(memory, days=days)
            show(compared, "\n".join(map(work.wording_line, compared)) or "No scar was shown yet.", as_json=as_json)


def _observations(file: Path) -> list[Any]:
    try:
        content = parse_json(stdin_text() if str(file) == "-" else file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Invalid(
            f"{file} cannot be read as JSON: {problem}.", hint="Fix it and try again; nothing was written."
        ) from problem
    observations = content.get("observations") if isinstance(content, dict) else content
    if not isinstance(observations, list) or not all(isinstance(item, dict) for item in observations):
        raise Invalid(
            f"{file} must contain a list of observations, each with a text.",
            hint='Such as [{"text": "…", "source": "reviewer"}].',
        )
    return observations
