"""The commands of GitMem."""

from pathlib import Path

import click

from holdfast.compose.settings import name_project
from holdfast.hosts.cli.command import command
from holdfast.hosts.cli.compat import run
from holdfast.hosts.setup.machine import project_root


@command(json=False)
def init_command(
    *, yes: bool = False, dry_run: bool = False, project: str | None = None, clients: tuple[str, ...] = ()
) -> None:
    """Set up this project: server, hooks, permissions, instructions and .gitignore."""
    if project and not dry_run:
        folder = project_root(Path.cwd())
        click.echo(f"{folder} is the project {project} from now on ({name_project(folder, project)}).")
    wanted = ("init", "--project", "--surface", "gitmem", "--instructions", "--gitignore")
    run(*wanted, client=clients, yes=yes, dry_run=dry_run)
