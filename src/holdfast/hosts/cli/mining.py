"""Commands that mine logged output for recurring patterns."""

import click

from holdfast.hosts.cli.options import opened, text_or_stdin
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show, working
from holdfast.model.text import counted
from holdfast.surfaces.core import knowledge
from holdfast.verbs.capture.mining import drop_outputs, log_output, mine_outputs, output_status


@click.group("mine")
def mine_command() -> None:
    """Find recurring patterns in logged output.

    Output is stored for some days with credentials masked. Each line counts once. Plain statements, and lines that
    recur three times, are offered; nothing is used before it is approved.

    \b
    holdfast ingest mine log < session.log
    holdfast ingest mine run
    holdfast review list --sort mined
    """


@mine_command.command("log")
@click.argument("text", nargs=-1)
@click.option("--session", default="", help="Session that wrote it.")
@json_option
def log_command(text: tuple[str, ...], session: str, as_json: bool) -> None:
    """Store output for mining; without words, or with -, it is read from stdin."""
    with opened() as memory:
        stored = log_output(memory, text_or_stdin(text), session)
    show({"characters": stored}, f"Stored {stored:,} characters." if stored else "Too short to store.", as_json=as_json)


@mine_command.command("run")
@json_option
def run_command(as_json: bool) -> None:
    """Mine what was logged since the last run."""
    with opened() as memory, working("mining"):
        run = mine_outputs(memory)
    show(run, knowledge.run_of(run, PERSON), as_json=as_json)


@mine_command.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Show how much output is stored, its limits, and how much was mined."""
    with opened() as memory:
        status = output_status(memory)
    show(status, knowledge.outputs_of(status, PERSON), as_json=as_json)


@mine_command.command("drop")
@click.option("--session", default="", help="Only what this session wrote.")
@json_option
def drop_command(session: str, as_json: bool) -> None:
    """Delete logged output of this project permanently."""
    with opened() as memory:
        dropped = drop_outputs(memory, session=session)
    show({"dropped": dropped}, f"Dropped {counted(dropped, 'output')}.", as_json=as_json)
