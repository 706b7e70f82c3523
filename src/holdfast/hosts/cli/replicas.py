"""Commands that bring the memory and its replicas together, and say what may leave."""

import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.compose import refresh_copy
from holdfast.compose.adapters import open_notes, open_replica
from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import SHORT, console, icon, json_option, print_json
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.foreign import Remark
from holdfast.model.text import counted
from holdfast.verbs.exchange.replicas import REPLICAS, check_place, is_on, share, turn, unshare
from holdfast.verbs.exchange.sync import Synced, sync, sync_afar
from holdfast.verbs.records.quarantine import address

if TYPE_CHECKING:
    from holdfast.model.record import Record
    from holdfast.verbs.memory import Memory

SHOWN = 10
which = click.argument("name", type=click.Choice(list(REPLICAS)))


@click.command("sync")
@click.option("--remote", default="", help="Remote the notes go to; origin, or the only one, unless given.")
@click.option("--offline", is_flag=True, help="Ask no remote: unite what is on this machine.")
@click.option("--no-push", is_flag=True, help="Fetch, but send nothing.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Retire memories whose files were removed, however many, without asking.")
@click.option("--put-back", is_flag=True, help="Write removed files anew instead.")
@click.option(
    "--rewrite", is_flag=True, help="Begin the history of the notes anew, so that nothing erased is left in it."
)
@json_option
def sync_command(
    remote: str, offline: bool, no_push: bool, dry_run: bool, yes: bool, put_back: bool, rewrite: bool, as_json: bool
) -> None:
    """Bring the memory and every replica that is turned on together, both ways.

    Nothing leaves but memories of the team. Git's settings are not touched: notes are fetched and pushed by name.
    """
    with opened() as memory:
        chosen = [name for name in REPLICAS if is_on(memory, name)]
        came = refresh_copy(memory)
        if memory.config.database and not chosen:
            print(memory.apart or f"{counted(came, 'event')} came to this machine's copy of the team's database.")
            return
        if not chosen:
            raise Invalid("No replica is turned on here.", hint="`holdfast replica` shows which there are.")
        notes = open_notes(memory) if "notes" in chosen else None
        target = "" if offline or notes is None else _remote(notes.remotes(), remote)
        for name in chosen:
            check_place(memory, name, notes.addresses(target) if notes and target and name == "notes" else ())
        if rewrite:
            _rewrite(memory, remote, yes=yes)
        done = []
        for name in chosen:
            if name == "notes" and notes:
                sharing = open_replica(name, memory)[1]
                done.append(sync_afar(memory, notes, sharing, target, push=not no_push, dry_run=dry_run))
            else:
                replica, sharing = open_replica(name, memory)
                agree = (lambda _question: True) if yes else _ask
                with closing(replica):
                    done.append(sync(memory, replica, sharing, agree=agree, put_back=put_back, dry_run=dry_run))
    if as_json:
        print_json([asdict(one) for one in done])
        return
    for one in done:
        _tell(one, dry_run=dry_run)


@click.group("replica", invoke_without_command=True)
@click.pass_context
def replica_command(ctx: click.Context) -> None:
    """Turn replicas on or off; without a command, show how they stand. All are off at first."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(status_command)


@replica_command.command("status")
@json_option
def status_command(as_json: bool = False) -> None:
    """Show which replicas there are, which are turned on, and what waits to be told."""
    with opened() as memory:
        rows = [{"name": name, "on": is_on(memory, name), "what": what} for name, what in REPLICAS.items()]
        for row in rows:
            if row["on"]:
                row["waiting"] = _waiting(memory, str(row["name"]))
    if as_json:
        print_json(rows)
        return
    for row in rows:
        state = f"on, {row['waiting']}" if row["on"] else f"off: holdfast replica on {row['name']}"
        console().print(f"[cyan]{row['name']:<11}[/]{row['what']}\n{'':<11}[dim]{state}[/]")


@replica_command.command("on")
@which
@click.option(
    "--remote", default="", help="With notes: the remote they may go to; origin, or the only one, unless given."
)
@click.option(
    "--git-config/--no-git-config", default=None, help="With notes: let git keep them on amended and rebased commits."
)
@json_option
def on_command(name: str, remote: str, git_config: bool | None, as_json: bool) -> None:
    """Turn a replica on for this repository and its remote. Nothing is written before the next `holdfast sync`."""
    said = []
    with opened() as memory:
        with closing(open_replica(name, memory)[0]) as replica:
            replica.cursor  # noqa: B018  what cannot be used here is said now, not at the next sync
        addresses = list[str]()
        if name == "notes":
            notes = open_notes(memory)
            target = _remote(notes.remotes(), remote)
            addresses = notes.addresses(target) if target else []
        turn(memory, name, on=True, addresses=addresses)
        if name == "notes":
            said = _offer_rewrites(memory, git_config)
    if as_json:
        print_json({"replica": name, "on": True, "notes": said})
        return
    for line in (f"{name} is on: {REPLICAS[name]}. `holdfast sync` brings it up to date.", *said):
        print(line)


@replica_command.command("off")
@which
@json_option
def off_command(name: str, as_json: bool) -> None:
    """Turn a replica off. What it holds stays where it is."""
    with opened() as memory:
        turn(memory, name, on=False)
    print_json({"replica": name, "on": False}) if as_json else print(f"{name} is off; what it holds stays where it is.")


@click.command("share")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@json_option
def share_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Let memories of this project go to its team, with their whole history, at the next sync."""
    with opened() as memory:
        _shown("shared", share(memory, ids), as_json=as_json)


@click.command("unshare")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@json_option
def unshare_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Keep memories here from now on. What was shared of them stays shared."""
    with opened() as memory:
        _shown("private", unshare(memory, ids), as_json=as_json)


def _shown(what: str, found: "list[Record]", *, as_json: bool) -> None:
    if as_json:
        print_json({what: [record.id for record in found]})
        return
    for record in found:
        console().print(f"[cyan]{record.id[:SHORT]}[/]  {icon(record)} {what}: ", end="")
        console().print(record.title, markup=False, style="bold")


def _offer_rewrites(memory: "Memory", wanted: bool | None) -> list[str]:
    """Ask before git is told to copy notes; without a yes they stay on the commits they were written for."""
    notes = open_notes(memory)
    if notes.follows_rewrites():
        return []
    question = "Amended and rebased commits lose sight of their notes unless git copies them.\nSet notes.rewriteRef in this repository's settings?"
    if wanted is None and sys.stdin.isatty():
        wanted = click.confirm(question, err=True)
    if wanted:
        notes.follow_rewrites()
        return ["Set notes.rewriteRef to refs/notes/holdfast/*: notes follow amended and rebased commits."]
    return [
        "Git's settings were not touched. `holdfast replica on notes --git-config` lets notes follow amended commits."
    ]


def _rewrite(memory: "Memory", remote: str, *, yes: bool) -> None:
    notes = open_notes(memory)
    target = _remote(notes.remotes(), remote)
    where = f"here and at {target}" if target else "here"
    question = (
        f"Begin the history of the notes anew, {where}? What they hold now stays; how it came about is forgotten."
    )
    if not yes and not (sys.stdin.isatty() and click.confirm(question, err=True)):
        raise Invalid("Nothing was rewritten.", hint="--yes does it without asking.")
    if target and (problem := notes.fetch(target).problem):
        raise Invalid(f"{target} cannot be asked: {problem}", hint="Nothing was rewritten.")
    if problem := notes.rewrite(target).problem:
        raise Invalid(f"{target} did not take it: {problem}", hint="It is rewritten here; sync and try again.")
    click.echo(
        "Rewritten. `git gc --prune=now` removes the old objects here; other clones follow at their next sync.",
        err=True,
    )


def _remote(known: list[str], wanted: str) -> str:
    if wanted and wanted not in known:
        raise Invalid(f"There is no remote {wanted}.", hint=f"There is {', '.join(known) or 'none'}.")
    return wanted or (known[0] if "origin" in known or len(known) == 1 else "")


def _waiting(memory: "Memory", name: str) -> str:
    try:
        replica, sharing = open_replica(name, memory)
        with closing(replica):
            found = sync(memory, replica, sharing, dry_run=True)
    except HoldfastError as problem:
        return str(problem)
    return f"{counted(found.put.records, 'memory')} to tell, {found.came} to take in"


def _ask(question: str) -> bool:
    return sys.stdin.isatty() and click.confirm(question, err=True)


def _tell(one: Synced, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    parts = [f"{counted(one.came, 'memory')} {would}taken in", f"{one.put.records} {would}told"]
    parts += [f"{one.retired} {would}retired, their files were removed"] if one.retired else []
    parts += [f"{counted(one.put.removed, 'file')} removed"] if one.put.removed else []
    parts += [f"{counted(one.pushed, 'ref')} pushed"] if one.pushed else []
    out = console()
    out.print(f"[cyan]{one.replica:<11}[/]{', '.join(parts)}")
    for who, count in one.held.items():
        waits = f"{counted(count, 'memory')} of {who} {'waits' if count == 1 else 'wait'} to be accepted"
        how = f"holdfast accept {address(who)}" if "@" in who else "holdfast accept --all"
        out.print(
            f"{'':<11}{waits}: `holdfast quarantine` shows what, `{how}` takes it in.", markup=False, style="yellow"
        )
    if one.offline:
        out.print(
            f"{'':<11}not pushed: {one.offline}. What is here is kept; sync again later.", markup=False, style="yellow"
        )
    if one.put.scrubbed:
        out.print(
            f"{'':<11}What was erased is out of the notes; their older commits hold it until `holdfast sync --rewrite`.",
            style="yellow",
        )
    if one.missing:
        out.print(
            f"{'':<11}{counted(one.missing, 'file')} are gone: --yes retires their memories, --put-back writes them anew.",
            style="yellow",
        )
    _tell_remarks(one.remarks)


def _tell_remarks(remarks: tuple[Remark, ...]) -> None:
    out = console()
    for remark in remarks[:SHOWN]:
        out.print(f"{'':<11}left alone: {remark.where}: {remark.why}", markup=False, style="yellow")
    if len(remarks) > SHOWN:
        out.print(f"{'':<11}and {len(remarks) - SHOWN} more: --json lists them all", style="yellow")
