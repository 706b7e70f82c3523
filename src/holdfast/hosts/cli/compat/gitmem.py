"""The commands of GitMem."""

from pathlib import Path
from typing import Annotated

import click

from holdfast.compose.settings import name_project
from holdfast.hosts.cli.command import command
from holdfast.hosts.cli.compat import run, version_option
from holdfast.hosts.cli.values import Yes
from holdfast.hosts.setup.machine import project_root
from holdfast.model.request import Asked

group = click.Group("gitmem", help="The commands of GitMem.", params=[version_option()])
Clients = Annotated[tuple[str, ...], Asked("Only this client.")]
Preview = Annotated[bool, Asked("Preview the changes.")]


@command(under=group, json=False)
def init(
    *,
    yes: Yes = False,
    dry_run: Preview = False,
    project: Annotated[str | None, Asked("Name of this folder's project.")] = None,
    clients: Clients = (),
) -> None:
    """Set up this project: server, hooks, permissions, instructions and .gitignore."""
    if project and not dry_run:
        folder = project_root(Path.cwd())
        click.echo(f"{folder} is the project {project} from now on ({name_project(folder, project)}).")
    wanted = ("init", "--project", "--surface", "gitmem", "--instructions", "--gitignore")
    run(*wanted, client=clients, yes=yes, dry_run=dry_run)


@command(under=group, json=False)
def install_hooks(*, clients: Clients = ()) -> None:
    """Write the hooks of this project, with the server they belong to."""
    run("init", "--project", "--surface", "gitmem", "--yes", client=clients)


@command(under=group, json=False)
def uninstall(
    *,
    yes: Yes = False,
    dry_run: Preview = False,
    all_: Annotated[bool, Asked("Also delete the memories, after a backup.")] = False,
) -> None:
    """Undo init; memories are kept unless --all."""
    run("uninstall", yes=yes, dry_run=dry_run, all=all_)


@command(under=group, json=False)
def check() -> None:
    """Check that everything works."""
    run("doctor")
