"""The commands of GitMem."""

from pathlib import Path

import click

from holdfast.compose.settings import name_project
from holdfast.hosts.cli.compat.running import run, version_option
from holdfast.hosts.setup.places import project_root

group = click.Group("gitmem", help="The commands of GitMem.", params=[version_option()])


@group.command("init")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Preview the changes.")
@click.option("--project", help="Name of this folder's project.")
@click.option("--client", "clients", multiple=True, help="Only this client; repeatable.")
def init(yes: bool, dry_run: bool, project: str | None, clients: tuple[str, ...]) -> None:
    """Set up this project: server, hooks, permissions, instructions and .gitignore."""
    if project and not dry_run:
        folder = project_root(Path.cwd())
        click.echo(f"{folder} is the project {project} from now on ({name_project(folder, project)}).")
    chosen = [word for name in clients for word in ("--client", name)]
    manner = [*(["--yes"] if yes else []), *(["--dry-run"] if dry_run else [])]
    run("init", "--project", "--surface", "gitmem", "--instructions", "--gitignore", *chosen, *manner)


@group.command("install-hooks")
@click.option("--client", "clients", multiple=True, help="Only this client; repeatable.")
def install_hooks(clients: tuple[str, ...]) -> None:
    """Write the hooks of this project, with the server they belong to."""
    chosen = [word for name in clients for word in ("--client", name)]
    run("init", "--project", "--surface", "gitmem", *chosen, "--yes")


@group.command("uninstall")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Preview the changes.")
@click.option("--all", "everything", is_flag=True, help="Also delete the memories, after a backup.")
def uninstall(yes: bool, dry_run: bool, everything: bool) -> None:
    """Undo init; memories are kept unless --all."""
    words = (("--yes", yes), ("--dry-run", dry_run), ("--all", everything))
    run("uninstall", *(word for word, wanted in words if wanted))


@group.command("check")
def check() -> None:
    """Check that everything works."""
    run("doctor")
