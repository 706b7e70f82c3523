"""Commands of `holdfast store` that tidy it: maintain, rebuild, rename scopes, list and move projects."""

import tempfile
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.compose.adapters import markdown_folder
from holdfast.compose.settings import make_store
from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import console, json_option, print_json, progress, say, show, working
from holdfast.hosts.cli.values import SCOPE
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.fence import visible
from holdfast.model.places import list_store, listed_stores
from holdfast.model.text import counted
from holdfast.surfaces.core import reports
from holdfast.verbs.exchange.sync import take_from
from holdfast.verbs.records.lifecycle import rename_scope
from holdfast.verbs.records.project import move
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.upkeep.doctor import rebuild_vectors, rebuild_views, status
from holdfast.verbs.upkeep.maintain import maintain
from holdfast.verbs.upkeep.overview import projects

SHOWN = 10


@click.command("maintain")
@click.option("--dry-run", is_flag=True, help="Preview what would be done.")
@json_option
def maintain_command(dry_run: bool, as_json: bool) -> None:
    """Retire expired memories, trim the hot set and free space. Nothing is deleted."""
    with opened() as memory, working("maintaining the store"):
        report = maintain(memory, dry_run=dry_run)
    show(report, reports.upkeep_of(report, PERSON), as_json=as_json)


@click.command("rebuild")
@click.argument("what", type=click.Choice(["views", "vectors"]), default="views")
@click.option("--missing", is_flag=True, help="With vectors: only those that are missing.")
@click.option(
    "--from-markdown",
    "markdown",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Fill an empty store from a replica's markdown folder.",
)
@json_option
def rebuild_command(what: str, missing: bool, markdown: Path | None, as_json: bool) -> None:
    """Rebuild views from the journal (the default), or vectors with the current embedder.

    --from-markdown fills an empty store from markdown files alone. For a `holdfast store export` use `holdfast store import`.
    """
    if markdown:
        _fill_from_markdown(markdown, as_json=as_json)
        return
    with opened() as memory:
        if what == "views":
            with progress("replaying the journal", None, quiet=as_json) as moved:
                done = rebuild_views(memory, moved)
        else:
            if memory.embedder is None:
                raise Invalid("No embedder is set.", hint='Set embedder to "local" or "http".')
            now = status(memory)
            total = now.lagging if missing else now.everywhere + now.retired + now.pending
            with progress("embedding", total, quiet=as_json) as moved:
                done = catch_up(memory, progress=moved) if missing else rebuild_vectors(memory, moved)
    if as_json:
        print_json({"rebuilt": what, "records": done})
    else:
        say(f"Rebuilt the {what} of {counted(done, 'memory')}.")


def _fill_from_markdown(folder: Path, *, as_json: bool) -> None:
    """Fill an empty store from a folder of markdown files."""
    with opened() as memory, tempfile.TemporaryDirectory() as states, working("reading the files"):
        if memory.store.last_seq():
            hint = "Use an empty one: holdfast --home FOLDER store rebuild --from-markdown …; or merge with `holdfast sync`."
            raise Conflict("This store is not empty.", hint=hint)
        replica, sharing = markdown_folder(folder, Path(states), memory)
        with closing(replica):
            done = take_from(memory, replica, sharing)
    if as_json:
        print_json({"records": done.came, "left_alone": [asdict(remark) for remark in done.remarks]})
        return
    say(f"{counted(done.came, 'memory')} imported from {folder}.")
    for remark in done.remarks[:SHOWN]:
        console().print(f"left alone: {remark.where}: {remark.why}", markup=False, style="yellow")
    if len(done.remarks) > SHOWN:
        say(f"and {len(done.remarks) - SHOWN} more: --json lists them all")


@click.command("rename-scope")
@click.argument("old", type=SCOPE)
@click.argument("new")
@json_option
def rename_scope_command(old: str, new: str, as_json: bool) -> None:
    """Rename a scope, and scopes nested in it, in all memories."""
    with opened() as memory:
        renamed = rename_scope(memory, old, new)
    print_json({"renamed": [record.id for record in renamed]}) if as_json else print(
        f"{counted(len(renamed), 'memory')} moved from {old} to {new}."
    )


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


@click.command("separate")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--at", type=click.Path(file_okay=False, path_type=Path), help="Folder of the store, new or existing.")
@json_option
def separate_command(folder: Path, at: Path | None, as_json: bool) -> None:
    """Use a separate store for a folder and everything in it.

    The store is made in your data folder, unless --at names another one. It must be yours, and no one else may write it.
    Stores that lie in a checkout without being on your list are never used: they may have come with it.
    """
    store = make_store(folder, at)
    if as_json:
        print_json({"folder": str(folder.resolve()), "store": str(store)})
    else:
        say(f"{folder.resolve()} and everything in it uses the store in {store} from now on.")


@click.command("detach")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@json_option
def detach_command(folder: Path, as_json: bool) -> None:
    """Use the usual store for a folder again. Its separate store stays where it is."""
    store = listed_stores().get(str(folder.resolve()))
    if store is None:
        raise NotFound(f"{folder} has no store of its own.", hint="`holdfast status` shows which one is used.")
    list_store(str(folder), "")
    print_json({"folder": str(folder.resolve()), "store": store}) if as_json else say(
        f"{folder} uses the usual store again; its own stays in {store}."
    )
