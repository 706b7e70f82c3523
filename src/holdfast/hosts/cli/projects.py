"""`holdfast store project`: list the projects of a store, and move memories between them."""

from dataclasses import asdict

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, print_json, say
from holdfast.hosts.cli.values import SCOPE
from holdfast.model.fence import visible
from holdfast.model.text import counted
from holdfast.verbs.records.project import move
from holdfast.verbs.upkeep.overview import projects


@click.group("project", invoke_without_command=True)
@json_option
@click.pass_context
def project_command(ctx: click.Context, as_json: bool) -> None:
    """List the projects of the store, or move memories to another one."""
    if ctx.invoked_subcommand:
        return
    with opened() as memory:
        known, here = projects(memory), memory.project
    if as_json:
        print_json([asdict(project) for project in known])
        return
    if not known:
        say('No project has memories yet. Save one: holdfast remember "…"')
    for project in known:
        mark = "*" if project.name == here else " "
        say(
            visible(
                f"{mark} {project.name or 'every project'}: {counted(sum(count for _, count in project.kinds), 'memory')}"
            )
        )


@project_command.command("move")
@click.argument("source")
@click.argument("target")
@click.option("--scope", type=SCOPE, default="", help="Only memories with this scope.")
@click.option("--dry-run", is_flag=True, help="Preview; change nothing.")
@json_option
def move_command(source: str, target: str, scope: str, dry_run: bool, as_json: bool) -> None:
    """Move the memories and sessions of a project to another.

    A project is a remote (github.com/me/foo, or its URL), a name of `holdfast store project`, "." for the current one, or "" for
    memories of every project. Ids, history, uses and trust stay.
    """
    with opened() as memory:
        moved = move(memory, source, target, scope=scope, dry_run=dry_run)
    if as_json:
        ids = [record.id for record in moved.records]
        print_json({"from": moved.source, "to": moved.target, "records": ids, "sessions": moved.sessions})
        return
    what = f"{counted(len(moved.records), 'memory')} and {counted(moved.sessions, 'session')}"
    verb = "would move" if dry_run else "moved"
    say(f"{what} {verb} from {moved.source or 'every project'} to {moved.target or 'every project'}.")
