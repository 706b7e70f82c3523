"""Commands that sync with replicas, and choose what is shared."""

import sys
from contextlib import closing
from typing import Annotated

from holdfast.compose import refresh_copy
from holdfast.compose.adapters import open_notes, open_replica
from holdfast.hosts.cli.command import Result
from holdfast.hosts.cli.render import agreed, page, say, working
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.request import Asked
from holdfast.model.text import counted
from holdfast.verbs.exchange.replicas import REPLICAS, check_place, is_on, turn
from holdfast.verbs.exchange.sync import Agree, Synced, sync, sync_afar
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.quarantine import address

SHOWN = 10
Name = Annotated[str, Asked("", choices=tuple(REPLICAS))]


def sync_command(
    memory: Memory,
    *,
    remote: str = "",
    offline: bool = False,
    no_push: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    put_back: bool = False,
    rewrite: bool = False,
) -> Result:
    chosen, copied = [name for name in REPLICAS if is_on(memory, name)], refresh_copy(memory)
    if memory.config.database and not chosen:
        text = memory.apart or f"{counted(copied, 'event')} copied from the team's database to this machine."
        return {"copied": copied}, text
    if not chosen:
        hint = "`holdfast replica` lists them, `holdfast replica on notes` turns git notes on."
        raise Invalid("No replica is turned on.", hint=hint)
    notes = open_notes(memory) if "notes" in chosen else None
    target = "" if offline or notes is None else _remote(notes.remotes(), remote)
    for name in chosen:
        check_place(memory, name, notes.addresses(target) if notes and target and name == "notes" else ())
    if rewrite:
        _rewrite(memory, remote, yes=yes)
    files = [name for name in chosen if name != "notes"]

    def agree(question: str) -> bool:
        return yes or (sys.stdin.isatty() and agreed(question))

    # Files first, so that what was edited in them leaves with the notes; again if the notes brought something.
    results = [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
    if notes:
        sharing = open_replica("notes", memory)[1]
        with working(f"exchanging notes{f' with {target}' if target else ''}"):
            results.append(sync_afar(memory, notes, sharing, target, push=not no_push, dry_run=dry_run))
        if results[-1].came and not dry_run:
            results += [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
    return results, page("synced", results, dry_run=dry_run, most=SHOWN, address=address)


def _sync_files(memory: Memory, name: str, agree: Agree, put_back: bool, dry_run: bool) -> Synced:
    replica, sharing = open_replica(name, memory)
    with closing(replica):
        return sync(memory, replica, sharing, agree=agree, put_back=put_back, dry_run=dry_run)


def replica_command(memory: Memory) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, what in REPLICAS.items():
        row: dict[str, object] = {"name": name, "on": is_on(memory, name), "what": what}
        rows.append(row | {"waiting": _unsynced(memory, name)} if row["on"] else row)
    return rows


def on_command(memory: Memory, name: Name, *, remote: str = "", git_config: bool | None = None) -> Result:
    with closing(open_replica(name, memory)[0]) as replica:
        replica.cursor  # noqa: B018  an unusable replica is reported now, not at the next sync
    notes = open_notes(memory) if name == "notes" else None
    target = _remote(notes.remotes(), remote) if notes else ""
    turn(memory, name, on=True, addresses=notes.addresses(target) if notes and target else [])
    remarks = []
    if notes and not notes.follows_rewrites():
        question = "Amended and rebased commits lose their notes unless git copies them.\nSet notes.rewriteRef in this repository's settings?"
        if git_config is None and sys.stdin.isatty():
            git_config = agreed(question)
        if git_config:
            notes.follow_rewrites()
        remarks = [
            "Set notes.rewriteRef to refs/notes/holdfast/*: notes follow amended and rebased commits."
            if git_config
            else "Git's settings were not changed. `holdfast replica on notes --git-config` lets notes follow amended commits."
        ]
    head = f"{name} is on: {REPLICAS[name]}. `holdfast sync` brings it up to date."
    return {"replica": name, "on": True, "notes": remarks}, "\n".join([head, *remarks])


def off_command(memory: Memory, name: Name) -> Result:
    turn(memory, name, on=False)
    return {"replica": name, "on": False}, f"{name} is off; its content stays where it is."


def _rewrite(memory: Memory, remote: str, *, yes: bool) -> None:
    notes = open_notes(memory)
    target = _remote(notes.remotes(), remote)
    where = f"here and at {target}" if target else "here"
    question = f"Remove the history of the notes, {where}? Their current content stays."
    if not yes and not (sys.stdin.isatty() and agreed(question)):
        raise Invalid("Nothing was rewritten.", hint="Use --yes to do it without asking.")
    if target and (problem := notes.fetch(target).problem):
        raise Invalid(f"{target} cannot be reached: {problem}", hint="Nothing was rewritten.")
    if problem := notes.rewrite(target).problem:
        hint = "The local notes are rewritten; sync and try again."
        raise Invalid(f"{target} rejected the push: {problem}", hint=hint)
    after = "`git gc --prune=now` removes the old objects here; other clones are updated at their next sync."
    say(f"Rewritten. {after}", err=True)


def _remote(known: list[str], wanted: str) -> str:
    if wanted and wanted not in known:
        raise Invalid(f"There is no remote {wanted}.", hint=f"There is {', '.join(known) or 'none'}.")
    return wanted or (known[0] if "origin" in known or len(known) == 1 else "")


def _unsynced(memory: Memory, name: str) -> str:
    try:
        preview = _sync_files(memory, name, lambda _: False, False, True)
    except HoldfastError as problem:
        return str(problem)
    return f"{counted(preview.put.records, 'memory')} to export, {preview.came} to import"
