"""`holdfast store backup`, `restore` and `recover`: copies of a store, and what can be read from a damaged one."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.text import Text

from holdfast.compose.locks import worker_lock
from holdfast.compose.settings import keep_out_of_git, store_folder
from holdfast.hosts.cli.options import declined, settings
from holdfast.hosts.cli.render import agreed, console, json_option, local, print_json, say, working
from holdfast.model.errors import Invalid, NotFound, StoreBusy
from holdfast.model.places import FILE
from holdfast.model.text import counted
from holdfast.verbs.upkeep import recovery
from holdfast.verbs.upkeep.recovery import Saved

SHOWN = 10


@click.command("backup")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), help="Keep only the newest N in the store's backups folder.")
@json_option
def backup_command(file: Path | None, keep: int | None, as_json: bool) -> None:
    """Copy the store to a private file, while others keep reading and writing.

    Default: the folder `backups` next to the store. The copy is checked before it gets its name.

    \b
    holdfast store backup
    holdfast store backup --keep 7
    holdfast store backup /media/usb/holdfast.db
    """
    if file and keep:
        raise Invalid("--keep is for backups next to the store.", hint="Omit FILE.")
    store = _store()
    if not store.exists():
        raise NotFound(
            f"There is no store in {store.parent}.", hint="Pass its folder with --home, or save a memory first."
        )
    keep_out_of_git(store.parent)
    with working("copying the store"):
        made = recovery.back_up_store(store, file, keep=keep, now=_now())
    if as_json:
        removed = [str(path) for path in made.removed]
        print_json({"backup": str(made.file), **asdict(made.mark), "removed": removed})
        return
    say(f"{counted(made.mark.events, 'event')} copied to {made.file}, and checked.")
    if made.removed:
        say(f"{counted(len(made.removed), 'older backup')} removed.")


@click.command("restore")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def restore_command(file: Path, yes: bool, as_json: bool) -> None:
    """Replace the store by a backup. The current store is backed up first.

    `holdfast restore ID` brings back a single memory that was retired.
    """
    store, file = _store(), file.expanduser()
    if file.exists() and store.exists() and file.samefile(store):
        raise Invalid("That file is the store itself.")
    mark = recovery.look_at(file)
    question = f"{file} has {counted(mark.events, 'event')}, the last of {local(mark.last_at)}. Replace {store} by it?"
    _agree(question, yes=yes)
    with _no_worker(store.parent), working("restoring the store"):
        mark, former = recovery.restore(file, store, now=_now())
        _forget_replica_states(store.parent)
    if as_json:
        print_json({"restored": str(file), "former": str(former) if former else None, **asdict(mark)})
        return
    say(f"{counted(mark.events, 'event')} restored and checked.")
    if former:
        say(f"What was there before is in {former}.")


@click.command("recover")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="With FILE: the new store to write."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def recover_command(file: Path | None, output: Path | None, yes: bool, as_json: bool) -> None:
    """Recover every intact event from a damaged store.

    The damaged file and its log are kept in a folder next to the store. With FILE, only that file is read and a new one written.

    \b
    holdfast store recover
    holdfast store recover damaged.db -o new.db
    """
    if (file is None) != (output is None):
        raise Invalid("FILE and --output are needed together.", hint="holdfast store recover DAMAGED.db -o NEW.db")
    if file and output:
        with working("reading the damaged store"):
            saved, damaged = recovery.recover_file(file, output), file
    else:
        store = _store()
        if not store.exists():
            raise NotFound(
                f"There is no store in {store.parent}.", hint="Pass its folder with --home, or save a memory first."
            )
        _agree(f"Create a new store from what can be read of {store}? The damaged one is kept.", yes=yes)
        saved, damaged = _recover_store(store)
    if as_json:
        print_json({"damaged": str(damaged), **asdict(saved)})
        return
    _show(saved, damaged)


def _recover_store(store: Path) -> tuple[Saved, Path]:
    with _no_worker(store.parent), working("reading the damaged store"):
        keep_out_of_git(store.parent)
        saved, damaged = recovery.recover_store(store, now=_now())
        _forget_replica_states(store.parent)
    return saved, damaged


def _show(saved: Saved, damaged: Path) -> None:
    out = console()
    summary = f"{counted(saved.events, 'event')} and {counted(saved.memories, 'memory')} recovered"
    lost = f"; {counted(saved.lost, 'event')} known to be lost" if saved.lost else "; none known to be lost"
    out.print(Text.assemble((summary, "bold"), lost))
    if saved.bad_pages:
        out.print(f"{counted(saved.bad_pages, 'page')} unreadable.")
    if not saved.schema_read:
        out.print("The file's schema is lost: transcripts and activity from hooks could not be recovered.")
    if saved.refused:
        out.print(
            f"{counted(len(saved.refused), 'event')} rejected: altered since they were written. --json lists their ids."
        )
    for what, ids in (
        ("lost some of its history", saved.hurt),
        ("may have a changed text: check it", saved.doubtful),
    ):
        for key in ids[:SHOWN]:
            out.print(Text(f"  {key}  {what}", style="yellow"))
        if len(ids) > SHOWN:
            out.print(f"  and {len(ids) - SHOWN} more: --json lists them all")
    out.print(f"The damaged store is in {damaged}.", markup=False)
    if saved.lost:
        out.print("`holdfast sync` restores what replicas contain; `holdfast store import` what an export contains.")


def _store() -> Path:
    config = settings().config
    if config.database:
        raise Invalid("The store is in PostgreSQL.", hint="Use pg_dump and pg_restore, or `holdfast store export`.")
    return store_folder(config, Path.cwd()) / FILE


def _now() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


def _agree(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Invalid("Nothing was done.", hint="Use --yes to do it without asking.")
    if not agreed(question):
        declined()


@contextmanager
def _no_worker(home: Path) -> Iterator[None]:
    with worker_lock(home) as is_ours:
        if not is_ours:
            raise StoreBusy("The worker is using the store; nothing was changed.", hint="Try again when it has ended.")
        yield


def _forget_replica_states(home: Path) -> None:
    """Make the next sync read replicas from the beginning: they may contain what the store no longer does."""
    shutil.rmtree(home / "replicas", ignore_errors=True)
