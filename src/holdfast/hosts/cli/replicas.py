"""Commands that sync with replicas, and choose what is shared."""

import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.text import Text

from holdfast.compose import refresh_copy
from holdfast.compose.adapters import open_notes, open_replica
from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.outcome import show_done
from holdfast.hosts.cli.render import agreed, console, hanging, indented, json_option, print_json, say, working
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.foreign import Remark
from holdfast.model.ids import short
from holdfast.model.text import counted
from holdfast.verbs.exchange.replicas import REPLICAS, check_place, is_on, share, turn, unshare
from holdfast.verbs.exchange.sync import Agree, Synced, sync, sync_afar
from holdfast.verbs.records.quarantine import address

if TYPE_CHECKING:
    from holdfast.model.record import Record
    from holdfast.verbs.memory import Memory

SHOWN, INDENT = 10, 11
which = click.argument("name", type=click.Choice(list(REPLICAS)))


@click.command("sync")
@click.option("--remote", default="", help="Remote of the notes; default: origin, or the only one.")
@click.option("--offline", is_flag=True, help="Contact no remote: sync only on this machine.")
@click.option("--no-push", is_flag=True, help="Fetch, but push nothing.")
@click.option("--dry-run", is_flag=True, help="Preview the sync; change nothing.")
@click.option("--yes", is_flag=True, help="Retire memories whose files were deleted, without asking.")
@click.option("--put-back", is_flag=True, help="Write deleted files again instead.")
@click.option("--rewrite", is_flag=True, help="Remove the history of the notes, so that nothing erased is left in it.")
@json_option
def sync_command(
    remote: str, offline: bool, no_push: bool, dry_run: bool, yes: bool, put_back: bool, rewrite: bool, as_json: bool
) -> None:
    """Sync with every replica that is turned on, both ways.

    Only team memories leave this machine. Git's settings are not changed: notes are fetched and pushed by name.
    """
    with opened() as memory:
        chosen = [name for name in REPLICAS if is_on(memory, name)]
        copied = refresh_copy(memory)
        if memory.config.database and not chosen:
            say(memory.apart or f"{counted(copied, 'event')} copied from the team's database to this machine.")
            return
        if not chosen:
            raise Invalid(
                "No replica is turned on.",
                hint="`holdfast replica` lists them, `holdfast replica on notes` turns git notes on.",
            )
        notes = open_notes(memory) if "notes" in chosen else None
        target = "" if offline or notes is None else _remote(notes.remotes(), remote)
        for name in chosen:
            check_place(memory, name, notes.addresses(target) if notes and target and name == "notes" else ())
        if rewrite:
            _rewrite(memory, remote, yes=yes)
        files = [name for name in chosen if name != "notes"]
        agree = (lambda _question: True) if yes else _ask
        # Files first, so that what was edited in them leaves with the notes; again if the notes brought something.
        done = [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
        if notes:
            sharing = open_replica("notes", memory)[1]
            with working(f"exchanging notes{f' with {target}' if target else ''}"):
                done.append(sync_afar(memory, notes, sharing, target, push=not no_push, dry_run=dry_run))
            if done[-1].came and not dry_run:
                done += [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
    if as_json:
        print_json([asdict(result) for result in done])
        return
    for result in done:
        _show_synced(result, dry_run=dry_run)


def _sync_files(memory: "Memory", name: str, agree: Agree, put_back: bool, dry_run: bool) -> Synced:
    replica, sharing = open_replica(name, memory)
    with closing(replica):
        return sync(memory, replica, sharing, agree=agree, put_back=put_back, dry_run=dry_run)


@click.group("replica", invoke_without_command=True)
@click.pass_context
def replica_command(ctx: click.Context) -> None:
    """Turn replicas on or off; without a command, show their state. All are off at first."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(status_command)


@replica_command.command("status")
@json_option
def status_command(as_json: bool = False) -> None:
    """Show the replicas, which are on, and what is not synced yet."""
    with opened() as memory:
        rows = [{"name": name, "on": is_on(memory, name), "what": what} for name, what in REPLICAS.items()]
        for row in rows:
            if row["on"]:
                row["waiting"] = _unsynced(memory, str(row["name"]))
    if as_json:
        print_json(rows)
        return
    for row in rows:
        state = f"on, {row['waiting']}" if row["on"] else f"off: holdfast replica on {row['name']}"
        hanging(console(), Text.assemble((f"{row['name']:<{INDENT}}", "cyan"), str(row["what"])), INDENT)
        indented(console(), state, INDENT, style="dim")


@replica_command.command("on")
@which
@click.option("--remote", default="", help="With notes: the remote to sync with; default: origin, or the only one.")
@click.option(
    "--git-config/--no-git-config", default=None, help="With notes: let git copy them to amended and rebased commits."
)
@json_option
def on_command(name: str, remote: str, git_config: bool | None, as_json: bool) -> None:
    """Turn a replica on for this repository and its remote. Nothing is written before the next `holdfast sync`."""
    remarks = []
    with opened() as memory:
        with closing(open_replica(name, memory)[0]) as replica:
            replica.cursor  # noqa: B018  an unusable replica is reported now, not at the next sync
        addresses = list[str]()
        if name == "notes":
            notes = open_notes(memory)
            target = _remote(notes.remotes(), remote)
            addresses = notes.addresses(target) if target else []
        turn(memory, name, on=True, addresses=addresses)
        if name == "notes":
            remarks = _offer_rewrites(memory, git_config)
    if as_json:
        print_json({"replica": name, "on": True, "notes": remarks})
        return
    for line in (f"{name} is on: {REPLICAS[name]}. `holdfast sync` brings it up to date.", *remarks):
        say(line)


@replica_command.command("off")
@which
@json_option
def off_command(name: str, as_json: bool) -> None:
    """Turn a replica off. Its content stays where it is."""
    with opened() as memory:
        turn(memory, name, on=False)
    print_json({"replica": name, "on": False}) if as_json else print(f"{name} is off; its content stays where it is.")


@click.command("share")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@json_option
def share_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Share memories of this project with its team, with their whole history, at the next sync."""
    with opened() as memory:
        _show_changed("shared", share(memory, ids), as_json=as_json)


@click.command("unshare")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@json_option
def unshare_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Stop sharing memories. What was shared already stays shared."""
    with opened() as memory:
        _show_changed("private", unshare(memory, ids), as_json=as_json)


def _show_changed(what: str, records: "list[Record]", *, as_json: bool) -> None:
    if as_json:
        print_json({what: [record.id for record in records]})
        return
    for record in records:
        show_done(what, record)


def _offer_rewrites(memory: "Memory", wanted: bool | None) -> list[str]:
    """Ask before configuring git to copy notes; otherwise they stay on their original commits."""
    notes = open_notes(memory)
    if notes.follows_rewrites():
        return []
    question = "Amended and rebased commits lose their notes unless git copies them.\nSet notes.rewriteRef in this repository's settings?"
    if wanted is None and sys.stdin.isatty():
        wanted = agreed(question)
    if wanted:
        notes.follow_rewrites()
        return ["Set notes.rewriteRef to refs/notes/holdfast/*: notes follow amended and rebased commits."]
    return [
        "Git's settings were not changed. `holdfast replica on notes --git-config` lets notes follow amended commits."
    ]


def _rewrite(memory: "Memory", remote: str, *, yes: bool) -> None:
    notes = open_notes(memory)
    target = _remote(notes.remotes(), remote)
    where = f"here and at {target}" if target else "here"
    question = f"Remove the history of the notes, {where}? Their current content stays."
    if not yes and not (sys.stdin.isatty() and agreed(question)):
        raise Invalid("Nothing was rewritten.", hint="Use --yes to do it without asking.")
    if target and (problem := notes.fetch(target).problem):
        raise Invalid(f"{target} cannot be reached: {problem}", hint="Nothing was rewritten.")
    if problem := notes.rewrite(target).problem:
        raise Invalid(
            f"{target} rejected the push: {problem}", hint="The local notes are rewritten; sync and try again."
        )
    say(
        "Rewritten. `git gc --prune=now` removes the old objects here; other clones are updated at their next sync.",
        err=True,
    )


def _remote(known: list[str], wanted: str) -> str:
    if wanted and wanted not in known:
        raise Invalid(f"There is no remote {wanted}.", hint=f"There is {', '.join(known) or 'none'}.")
    return wanted or (known[0] if "origin" in known or len(known) == 1 else "")


def _unsynced(memory: "Memory", name: str) -> str:
    try:
        replica, sharing = open_replica(name, memory)
        with closing(replica):
            preview = sync(memory, replica, sharing, dry_run=True)
    except HoldfastError as problem:
        return str(problem)
    return f"{counted(preview.put.records, 'memory')} to export, {preview.came} to import"


def _ask(question: str) -> bool:
    return sys.stdin.isatty() and agreed(question)


def _show_synced(result: Synced, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    parts = [f"{counted(result.came, 'memory')} {would}imported", f"{result.put.records} {would}exported"]
    parts += [f"{result.retired} {would}retired, their files were deleted"] if result.retired else []
    parts += [f"{counted(result.put.removed, 'file')} removed"] if result.put.removed else []
    parts += [f"{counted(result.pushed, 'ref')} pushed"] if result.pushed else []
    out = console()
    out.print(f"[cyan]{result.replica:<{INDENT}}[/]{', '.join(parts)}")
    for who, count in result.held.items():
        waits = f"{counted(count, 'memory')} of {who} in quarantine"
        how = f"holdfast review approve {address(who)}" if "@" in who else "holdfast review approve --all"
        listed = "list with `holdfast review list --sort quarantined`"
        indented(out, f"{waits}: {listed}, accept with `{how}`.", INDENT, style="yellow")
    if result.offline:
        indented(out, f"not pushed: {result.offline}. Nothing is lost; sync again later.", INDENT, style="yellow")
    if result.put.scrubbed:
        older = "their older commits contain it until `holdfast sync --rewrite`"
        indented(out, f"Erased text was removed from the notes; {older}.", INDENT, style="yellow")
    if result.missing:
        ways = "use --yes to retire their memories, --put-back to write the files again"
        indented(out, f"{counted(result.missing, 'file')} deleted: {ways}.", INDENT, style="yellow")
    _show_remarks(result.remarks)


def _show_remarks(remarks: tuple[Remark, ...]) -> None:
    out = console()
    for remark in remarks[:SHOWN]:
        indented(out, f"left alone: {short(remark.where)}: {remark.why}", INDENT, style="yellow")
    if len(remarks) > SHOWN:
        indented(out, f"and {len(remarks) - SHOWN} more: --json lists them all", INDENT, style="yellow")
