"""The commands of bettermemory."""

import json
from pathlib import Path
from typing import Any

import click

from holdfast.compose.adapters import bettermemory_document
from holdfast.hosts.cli.compat.running import run, version_option
from holdfast.hosts.cli.here import look_around
from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, print_json
from holdfast.hosts.setup.apply import snippet
from holdfast.hosts.setup.clients import CLIENTS
from holdfast.hosts.setup.edits import Member
from holdfast.hosts.setup.plan import file_of
from holdfast.hosts.setup.shapes import instructions, stdio
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.fence import visible
from holdfast.model.ids import days_between
from holdfast.model.record import Record
from holdfast.model.scope import check_scopes, project_of_remote
from holdfast.model.text import counted
from holdfast.surfaces.bettermemory.tools import ROWS, TERMS
from holdfast.surfaces.bettermemory.verbs import KNOWN, tombstones
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import Moved, move
from holdfast.verbs.upkeep.erasing import erase

NAME = "bettermemory"
WARNED, FAILED = 1, 2  # exit codes of `doctor`


@click.group("bettermemory", invoke_without_command=True, params=[version_option()])
@click.pass_context
def group(ctx: click.Context) -> None:
    """Run the commands of bettermemory; without one, the server over stdio."""
    if ctx.invoked_subcommand is None:
        run("mcp", "--surface", NAME)


@group.command("init")
@click.option("--client", help="Set up this client; default: print what to add by hand.")
@click.option("--print-only", is_flag=True, help="Print the entry; write nothing.")
@click.option("--with-addendum", is_flag=True, help="Also print the policy for agents.")
@json_option
def init(client: str | None, print_only: bool, with_addendum: bool, as_json: bool) -> None:
    """Set up a client, or print what to add to one by hand."""
    if client and not print_only and not as_json:
        run("init", "--client", client, "--surface", NAME, "--yes")
        return
    from dataclasses import replace

    here = look_around()
    entry = Member(path=("mcpServers", NAME), value=stdio(replace(here.made, surfaces=(NAME,))))
    files = {one.name: str(file) for one in CLIENTS if (file := file_of(one.server, "user", here.machine))}
    if as_json:
        print_json({"snippet": {"mcpServers": {NAME: dict(entry.value)}}, "clients": files})
        return
    click.echo(snippet([entry]))
    for name, path in files.items():
        if client in (None, name):
            click.echo(f"[{'✓' if Path(path).exists() else ' '}] {name}: {path}")
    if with_addendum:
        click.echo(instructions((NAME,)))


@group.command("doctor")
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation. Exit code 0: fine, 1: warnings, 2: broken."""
    try:
        run("doctor", *(["--json"] if as_json else []))
    except HoldfastError:  # `doctor` printed it
        raise click.exceptions.Exit(FAILED) from None
    except click.exceptions.Exit as end:
        raise click.exceptions.Exit(WARNED if end.exit_code else 0) from None


@group.command("health")
@click.option("--days", default=30, show_default=True, help="Days to look back.")
@click.option("--top-k", default=10, show_default=True, help="How many of the most used.")
@click.option("--min-applied", default=3, show_default=True, help="Uses from which a memory is heavily used.")
@json_option
def health(days: int, top_k: int, min_applied: int, as_json: bool) -> None:
    """Report what makes the memory less useful: the data of memory_health."""
    with opened() as memory:
        asked = {"window_days": days, "heavily_used_top_k": top_k, "min_applied": min_applied}
        report = ROWS["memory_health"].run(memory, asked, TERMS)
    if as_json:
        print_json(report)
        return
    debt = report["verification_debt"]
    click.echo(f"Active memories: {report['total_active_memories']}, window {days} days")
    click.echo(
        f"Verification: {debt['never_verified_total']} never, {debt['stale_total']} stale, {debt['fresh_count']} fresh"
    )
    for title in ("contradicted", "dead_weight", "cold_memories", "heavily_used"):
        click.echo(f"{title.replace('_', ' ').capitalize()} ({len(report[title])})")
        for row in report[title]:
            click.echo(visible(f"  {row['id'][:10]} {row['summary']} (applied {row['applied_count']})"))
    for row in report["marker_stats"]:
        click.echo(visible(f"Marker {row['marker']}: {row['fire_count']} fired, {row['override_count']} overridden"))


@group.command("export")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; default: stdout.")
@click.option("--no-tombstones", is_flag=True, help="Only active memories.")
@click.option("--scope", "scopes", multiple=True, help="Only this scope; repeatable.")
def export(output: Path | None, no_tombstones: bool, scopes: tuple[str, ...]) -> None:
    """Write memories and tombstones as one JSON document."""
    wanted = set(check_scopes(scopes))
    with opened() as memory:
        records = [record for record in records_of(memory) if _is_wanted(record, wanted)]
        document: dict[str, Any] = {
            "format_version": 1,
            "exported_at": memory.clock.now(),
            "source_directory": str(memory.store.folder),
            "active_memories": bettermemory_document(record for record in records if record.state == "active"),
        }
    if not no_tombstones:
        document["tombstoned_memories"] = bettermemory_document(one for one in records if one.state == "retired")
    if output is None:
        print_json(document)
        return
    output.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")
    output.chmod(0o600)
    click.echo(f"{counted(len(records), 'memory')} written to {output}.", err=True)


def _is_wanted(record: Record, scopes: set[str]) -> bool:
    return record.kind in KNOWN and (not scopes or bool(scopes.intersection(record.scopes)))


@group.group("tombstones")
def removed() -> None:
    """List removed memories, or delete them for good."""


@removed.command("list")
@click.option("--scope", "scopes", multiple=True, help="Only this scope; repeatable.")
@json_option
def list_removed(scopes: tuple[str, ...], as_json: bool) -> None:
    """List removed memories, and why they were removed."""
    with opened() as memory:
        asked = {"auto_scope": False, "scopes": check_scopes(scopes)}
        rows = ROWS["memory_list_tombstones"].run(memory, asked, TERMS)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(visible(f"{row['id']} removed {row['removed'][:10]}: {row['removed_reason']} | {row['summary']}"))
    if not rows:
        click.echo("No tombstones.")


@removed.command("prune")
@click.option("--older-than", "days", type=float, required=True, help="Days since the removal.")
@click.option("--dry-run", is_flag=True, help="Preview; delete nothing.")
@json_option
def prune(days: float, dry_run: bool, as_json: bool) -> None:
    """Delete removed memories for good, history included."""
    with opened() as memory:
        now = memory.clock.now()
        old = [record.id for record, gone in tombstones(memory, False) if days_between(gone["at"], now) >= days]
        for id_ in [] if dry_run else old:
            erase(memory, id_)
    if as_json:
        print_json({"would_delete" if dry_run else "deleted": old, "cutoff_days": days})
        return
    click.echo(f"{'Would delete' if dry_run else 'Deleted'} {counted(len(old), 'tombstone')} older than {days:g} days.")
    for id_ in old:
        click.echo(f"  {id_}")


@group.group("migrate")
def migrate() -> None:
    """Say which repository memories without one belong to."""


@migrate.command("origin")
@click.option("--repo", help="Remote of all memories that have none.")
@click.option("--scope-repo", "routes", multiple=True, metavar="SCOPE=URL", help="Remote for one scope; repeatable.")
@click.option("--dry-run", is_flag=True, help="Preview; change nothing.")
def origin(repo: str | None, routes: tuple[str, ...], dry_run: bool) -> None:
    """Move memories without a repository to one: by scope, else all of them with --repo."""
    pairs = [(*_route(route),) for route in routes] + ([("", _remote(repo))] if repo else [])
    with opened() as memory:
        if not pairs and memory.checkout.in_git():
            pairs = [("", memory.project)]
        for scope, project in pairs:
            _show(_moved(memory, scope, project, dry_run=dry_run), scope, project, dry_run=dry_run)
    if not pairs:
        click.echo("Nothing to do outside a repository: name one with --repo or --scope-repo.")


def _moved(memory: Memory, scope: str, project: str, *, dry_run: bool) -> Moved | None:
    from holdfast.model.errors import NotFound

    try:
        return move(memory, "", project, scope=scope, dry_run=dry_run)
    except NotFound:
        return None


def _show(moved: Moved | None, scope: str, project: str, *, dry_run: bool) -> None:
    count = len(moved.records) if moved else 0
    verb = "Would move" if dry_run else "Moved"
    click.echo(f"{verb} {counted(count, 'memory')}{f' of {scope}' if scope else ''} to {project}.")


def _route(text: str) -> tuple[str, str]:
    scope, sign, url = text.partition("=")
    if not sign:
        raise Invalid(f"{text!r} is not SCOPE=URL.")
    return check_scopes((scope,))[0], _remote(url)


def _remote(url: str) -> str:
    project = project_of_remote(url)
    if project is None:
        raise Invalid(f"{url!r} is not the address of a repository.")
    return project
