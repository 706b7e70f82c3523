"""`holdfast store backup`, `restore`, `recover` and `migrate`: copies of a store, and what can be read from a damaged one."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from holdfast.compose import open_memory
from holdfast.compose.locks import worker_lock
from holdfast.compose.settings import keep_out_of_git, store_folder
from holdfast.compose.team import grant, move_store
from holdfast.hosts.cli.command import Result, declined, settings
from holdfast.hosts.cli.render import agreed, local, page, progress, working
from holdfast.model.errors import Invalid, NotFound, StoreBusy
from holdfast.model.files import FILE
from holdfast.model.text import counted
from holdfast.verbs.upkeep import doctor

SHOWN = 10


def backup_command(file: Path | None = None, *, keep: int | None = None) -> Result:
    if file and keep:
        raise Invalid("--keep is for backups next to the store.", hint="Omit FILE.")
    store = _store(exists=True)
    keep_out_of_git(store.parent)
    with working("copying the store"):
        made = doctor.back_up_store(store, file, keep=keep, now=_now())
    text = f"{counted(made.mark.events, 'event')} copied to {made.file}, and checked."
    older = f"\n{counted(len(made.removed), 'older backup')} removed." if made.removed else ""
    value = {"backup": str(made.file), **asdict(made.mark), "removed": [str(path) for path in made.removed]}
    return value, text + older


def restore_command(file: Path, *, yes: bool = False) -> Result:
    store, file = _store(), file.expanduser()
    if file.exists() and store.exists() and file.samefile(store):
        raise Invalid("That file is the store itself.")
    mark = doctor.look_at(file)
    last = f"the last of {local(mark.last_at)}"
    _agree(f"{file} has {counted(mark.events, 'event')}, {last}. Replace {store} by it?", yes=yes)
    with _exclusive(store.parent, "restoring the store"):
        mark, former = doctor.restore(file, store, now=_now())
    before = f"\nWhat was there before is in {former}." if former else ""
    value = {"restored": str(file), "former": str(former) if former else None, **asdict(mark)}
    return value, f"{counted(mark.events, 'event')} restored and checked.{before}"


def recover_command(file: Path | None = None, *, output: Path | None = None, yes: bool = False) -> Result:
    if (file is None) != (output is None):
        raise Invalid("FILE and --output are needed together.", hint="holdfast store recover DAMAGED.db -o NEW.db")
    if file and output:
        with working("reading the damaged store"):
            saved, damaged = doctor.recover_file(file, output), file
    else:
        store = _store(exists=True)
        _agree(f"Create a new store from what can be read of {store}? The damaged one is kept.", yes=yes)
        with _exclusive(store.parent, "reading the damaged store"):
            keep_out_of_git(store.parent)
            saved, damaged = doctor.recover_store(store, now=_now())
    return {"damaged": str(damaged), **asdict(saved)}, page("recovered", saved, damaged, most=SHOWN)


def _store(*, exists: bool = False) -> Path:
    config = settings().config
    if config.database:
        raise Invalid("The store is in PostgreSQL.", hint="Use pg_dump and pg_restore, or `holdfast store export`.")
    store = store_folder(config, Path.cwd()) / FILE
    if exists and not store.exists():
        hint = "Pass its folder with --home, or save a memory first."
        raise NotFound(f"There is no store in {store.parent}.", hint=hint)
    return store


def _now() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


def _agree(question: str, *, yes: bool) -> None:
    if not yes and not sys.stdin.isatty():
        raise Invalid("Nothing was done.", hint="Use --yes to do it without asking.")
    if not yes and not agreed(question):
        declined()


@contextmanager
def _exclusive(home: Path, label: str) -> Iterator[None]:
    """Keep the worker out; afterwards the next sync reads replicas from the beginning: they may contain what the store no longer does."""
    with worker_lock(home) as is_ours, working(label):
        if not is_ours:
            raise StoreBusy("The worker is using the store; nothing was changed.", hint="Try again when it has ended.")
        yield
        shutil.rmtree(home / "replicas", ignore_errors=True)


def migrate_command(
    *, to: str | None = None, from_: str | None = None, grant_: str | None = None, as_json: bool = False
) -> Result:
    if grant_ and not (to or from_):
        with open_memory(settings()) as memory:
            grant(memory, grant_)
        may = "it owns nothing, and sees only what the requesting user may see."
        return {"granted": grant_}, f"{grant_} may run `holdfast server run` now: {may}"
    if bool(to) == bool(from_):
        raise Invalid("Pass either --to or --from.", hint="Each takes a postgresql:// URL or a folder.")
    config = settings().config
    with progress("opening", None, quiet=as_json) as shown:
        home, ends = store_folder(config, Path.cwd()), {"target": to or "", "source": from_ or ""}
        moved = move_store(config, home, **ends, progress=lambda what, done, total: shown(done, total, what))
    amounts = [counted(moved.events, "event"), counted(moved.records, "memory"), counted(moved.vectors, "vector")]
    lines = [f"Moved: {', '.join(amounts)}.", f"Both journals have the hash {moved.hash[:16]}…."]
    if to:
        name = "HOLDFAST_DATABASE" if "://" in to else "HOLDFAST_HOME"
        lines.append(f"Set database to use it from now on: {name}={to}")
    return moved, "\n".join(lines)
