"""Commands for the day something went wrong: backups, putting one back, saving what a damaged store still holds."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.text import Text

from holdfast.compose.adapters import markdown_folder
from holdfast.compose.locks import alone
from holdfast.compose.settings import FILE, keep_out_of_git, store_folder
from holdfast.hosts.cli.options import opened, settings
from holdfast.hosts.cli.render import console, json_option, print_json
from holdfast.model.errors import Conflict, Invalid, NotFound, StoreBusy
from holdfast.model.text import counted
from holdfast.verbs.exchange.sync import take_from
from holdfast.verbs.upkeep import recovery
from holdfast.verbs.upkeep.recovery import Saved

SHOWN = 10


@click.command("backup")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), help="Keep so many in the store's backups folder, the newest.")
@json_option
def backup_command(file: Path | None, keep: int | None, as_json: bool) -> None:
    """Copy the store to one file for you alone, while others go on reading and writing.

    Without FILE it goes to the folder `backups` beside the store. The copy is checked before it gets its name.

    \b
    holdfast backup
    holdfast backup --keep 7
    holdfast backup /media/usb/holdfast.db
    """
    if file and keep:
        raise Invalid("--keep is for backups beside the store.", hint="Leave FILE away.")
    store = _store()
    if not store.exists():
        raise NotFound(
            f"There is no store in {store.parent}.", hint="Name its folder with --home, or keep something first."
        )
    keep_out_of_git(store.parent)
    made = recovery.back_up_store(store, file, keep=keep, now=_now())
    if as_json:
        removed = [str(path) for path in made.removed]
        print_json({"backup": str(made.file), **asdict(made.mark), "removed": removed})
        return
    print(f"{counted(made.mark.events, 'event')} copied to {made.file}, and checked.")
    if made.removed:
        print(f"{counted(len(made.removed), 'older backup')} removed.")


def restore_store(file: Path, *, yes: bool, as_json: bool) -> None:
    """Put a backup in the place of the store, after asking; what was there goes to the backups."""
    store, file = _store(), file.expanduser()
    if file.exists() and store.exists() and file.samefile(store):
        raise Invalid("That file is the store itself.")
    mark = recovery.look_at(file)
    question = (
        f"{file} has {counted(mark.events, 'event')}, the last of {mark.last_at[:10]}. Put it in the place of {store}?"
    )
    _agree(question, yes=yes)
    with _no_worker(store.parent):
        mark, former = recovery.restore(file, store, now=_now())
        _forget_replica_states(store.parent)
    if as_json:
        print_json({"restored": str(file), "former": str(former) if former else None, **asdict(mark)})
        return
    print(f"{counted(mark.events, 'event')} restored and checked.")
    if former:
        print(f"What was there before is in {former}.")


@click.command("recover")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="With FILE: the new store to write."
)
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@json_option
def recover_command(file: Path | None, output: Path | None, yes: bool, as_json: bool) -> None:
    """Save what can be saved of a damaged store: every event that is still whole, wherever it lies.

    The damaged file and its log are kept in a folder beside the store. With FILE, only that file is read and a new one written.

    \b
    holdfast recover
    holdfast recover damaged.db -o new.db
    """
    if (file is None) != (output is None):
        raise Invalid("FILE and --output go together.", hint="holdfast recover DAMAGED.db -o NEW.db")
    if file and output:
        saved, kept = recovery.recover_file(file, output), file
    else:
        store = _store()
        if not store.exists():
            raise NotFound(
                f"There is no store in {store.parent}.", hint="Name its folder with --home, or keep something first."
            )
        _agree(f"Make a new store of what can be read of {store}? The damaged one is kept.", yes=yes)
        saved, kept = _recover_store(store)
    if as_json:
        print_json({"damaged": str(kept), **asdict(saved)})
        return
    _show(saved, kept)


def fill_from_markdown(folder: Path, *, as_json: bool) -> None:
    """Fill an empty store from a folder of markdown files."""
    with opened() as memory, tempfile.TemporaryDirectory() as states:
        if memory.store.last_seq():
            hint = (
                "Give an empty one: holdfast --home FOLDER rebuild --from-markdown …; `holdfast sync` unites instead."
            )
            raise Conflict("This store holds something already.", hint=hint)
        replica, sharing = markdown_folder(folder, Path(states), memory)
        with closing(replica):
            done = take_from(memory, replica, sharing)
    if as_json:
        print_json({"records": done.came, "left_alone": [asdict(remark) for remark in done.remarks]})
        return
    print(f"{counted(done.came, 'memory')} taken from {folder}.")
    for remark in done.remarks[:SHOWN]:
        console().print(f"left alone: {remark.where}: {remark.why}", markup=False, style="yellow")
    if len(done.remarks) > SHOWN:
        print(f"and {len(done.remarks) - SHOWN} more: --json lists them all")


def _recover_store(store: Path) -> tuple[Saved, Path]:
    with _no_worker(store.parent):
        keep_out_of_git(store.parent)
        saved, kept = recovery.recover_store(store, now=_now())
        _forget_replica_states(store.parent)
    return saved, kept


def _show(saved: Saved, kept: Path) -> None:
    out = console()
    said = f"{counted(saved.events, 'event')} and {counted(saved.memories, 'memory')} saved"
    lost = f"; {counted(saved.lost, 'event')} known to be lost" if saved.lost else "; none known to be lost"
    out.print(Text.assemble((said, "bold"), lost))
    if saved.bad_pages:
        out.print(f"{counted(saved.bad_pages, 'page')} made no sense.")
    if not saved.schema_read:
        out.print("The file's own table of contents is gone: transcripts and what hooks told could not be found.")
    if saved.refused:
        out.print(f"{counted(len(saved.refused), 'event')} refused: not as written. --json lists their ids.")
    for what, ids in (
        ("lost some of its history", saved.hurt),
        ("may have a changed text, look at it", saved.doubtful),
    ):
        for key in ids[:SHOWN]:
            out.print(Text(f"  {key}  {what}", style="yellow"))
        if len(ids) > SHOWN:
            out.print(f"  and {len(ids) - SHOWN} more: --json lists them all")
    out.print(f"The damaged store is in {kept}.", markup=False)
    if saved.lost:
        out.print("`holdfast sync` brings back what replicas hold; `holdfast import` what an export holds.")


def _store() -> Path:
    config = settings().config
    if config.database:
        raise Invalid("The store is in PostgreSQL.", hint="Use pg_dump and pg_restore, or `holdfast export`.")
    return store_folder(config, Path.cwd()) / FILE


def _now() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


def _agree(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Invalid("Nothing was done.", hint="--yes does it without asking.")
    if not click.confirm(question, err=True):
        raise click.Abort


@contextmanager
def _no_worker(home: Path) -> Iterator[None]:
    with alone(home) as is_ours:
        if not is_ours:
            raise StoreBusy(
                "The worker is busy with the store; nothing was changed.", hint="It ends by itself: try again."
            )
        yield


def _forget_replica_states(home: Path) -> None:
    """Let the next sync read replicas from the beginning: they may hold what the store no longer does."""
    shutil.rmtree(home / "replicas", ignore_errors=True)
