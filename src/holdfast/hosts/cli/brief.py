"""`holdfast brief`: what a session, or a plan, should know first."""

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, show, working, wrapped
from holdfast.verbs.search.brief import brief


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
