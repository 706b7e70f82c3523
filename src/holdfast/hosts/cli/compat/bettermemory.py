"""The commands of bettermemory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from holdfast.compose.adapters import bettermemory_document
from holdfast.hosts.cli.command import Printed, Result, Words, wants_json
from holdfast.hosts.cli.compat import run
from holdfast.hosts.cli.render import json_text, page
from holdfast.hosts.cli.setup import look_around
from holdfast.hosts.cli.values import new_file
from holdfast.hosts.setup.apply import snippet
from holdfast.hosts.setup.clients import CLIENTS, file_of, instructions, stdio
from holdfast.hosts.setup.edits import Entry
from holdfast.model.errors import HoldfastError, Invalid, NotFound
from holdfast.model.ids import days_between
from holdfast.model.record import check_scopes, project_of_remote
from holdfast.model.text import counted
from holdfast.surfaces.bettermemory.tools import KNOWN, ROWS, TERMS, tombstones
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import move
from holdfast.verbs.upkeep.erasing import erase

NAME = "bettermemory"
WARNED, FAILED = 1, 2  # exit codes of `doctor`


def bettermemory_command() -> None:
    run("mcp", "--surface", NAME)


def init_command(*, client: str | None = None, print_only: bool = False, with_addendum: bool = False) -> Result:
    if client and not print_only and not wants_json():
        run("init", "--client", client, "--surface", NAME, "--yes")
        return None
    here = look_around()
    entry = Entry(path=("mcpServers", NAME), value=stdio(replace(here.made, surfaces=(NAME,))))
    files = {one.name: str(file) for one in CLIENTS if (file := file_of(one.server, "user", here.machine))}
    there = {name: "✓" if Path(path).exists() else " " for name, path in files.items() if client in (None, name)}
    lines = [snippet([entry]), *(f"[{sign}] {name}: {files[name]}" for name, sign in there.items())]
    lines += [instructions((NAME,))] if with_addendum else []
    value = {"snippet": {"mcpServers": {NAME: dict(entry.value)}}, "clients": files}
    return value, lambda: click.echo("\n".join(lines))


def doctor_command() -> Printed:
    try:
        run("doctor", json=wants_json())
    except HoldfastError:  # `doctor` printed it
        raise click.exceptions.Exit(FAILED) from None
    except click.exceptions.Exit as end:
        raise click.exceptions.Exit(WARNED if end.exit_code else 0) from None


def health_command(memory: Memory, *, days: int = 30, top_k: int = 10, min_applied: int = 3) -> Result:
    asked = {"window_days": days, "heavily_used_top_k": top_k, "min_applied": min_applied}
    report = ROWS["memory_health"].run(memory, asked, TERMS)
    return report, page("bettermemory_health", report, days)


def export_command(
    memory: Memory, *, output: Path | None = None, no_tombstones: bool = False, scopes: Words = ()
) -> None:
    wanted = set(check_scopes(scopes))
    known = [record for record in records_of(memory) if record.kind in KNOWN]
    records = [record for record in known if not wanted or wanted.intersection(record.scopes)]
    document: dict[str, Any] = {
        "format_version": 1,
        "exported_at": memory.clock.now(),
        "source_directory": str(memory.store.folder),
        "active_memories": bettermemory_document(record for record in records if record.state == "active"),
    }
    if not no_tombstones:
        document["tombstoned_memories"] = bettermemory_document(one for one in records if one.state == "retired")
    if output is None:
        print(json_text(document))
        return
    with new_file(output) as file:
        file.write(json_text(document))
    click.echo(f"{counted(len(records), 'memory')} written to {output}.", err=True)


def tombstones_list_command(memory: Memory, *, scopes: Words = ()) -> Result:
    rows = ROWS["memory_list_tombstones"].run(memory, {"auto_scope": False, "scopes": check_scopes(scopes)}, TERMS)
    lines = [f"{row['id']} removed {row['removed'][:10]}: {row['removed_reason']} | {row['summary']}" for row in rows]
    return rows, "\n".join(lines) or "No tombstones."


def prune_command(memory: Memory, *, days: float, dry_run: bool = False) -> Result:
    now = memory.clock.now()
    old = [record.id for record, gone in tombstones(memory, False) if days_between(gone["at"], now) >= days]
    for id_ in [] if dry_run else old:
        erase(memory, id_)
    value = {"would_delete" if dry_run else "deleted": old, "cutoff_days": days}
    return value, page("bettermemory_pruned", old, days, dry_run)


def origin_command(memory: Memory, *, repo: str | None = None, routes: Words = (), dry_run: bool = False) -> None:
    def remote(url: str) -> str:
        if project := project_of_remote(url):
            return project
        raise Invalid(f"{url!r} is not the address of a repository.")

    if wrong := [route for route in routes if "=" not in route]:
        raise Invalid(f"{wrong[0]!r} is not SCOPE=URL.")
    pairs = [(check_scopes((scope,))[0], remote(url)) for scope, _, url in (route.partition("=") for route in routes)]
    pairs += [("", remote(repo))] if repo else []
    for scope, project in pairs:
        try:
            count = len(move(memory, "", project, scope=scope, dry_run=dry_run)["records"])
        except NotFound:
            count = 0
        verb, of = "Would move" if dry_run else "Moved", f" of {scope}" if scope else ""
        click.echo(f"{verb} {counted(count, 'memory')}{of} to {project}.")
    if not pairs:
        click.echo("Nothing was moved: global memories come from many projects. Name one with --repo or --scope-repo.")
