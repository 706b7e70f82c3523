"""Erase memories for good: from the journal, and from every copy of them on this machine.

Their texts are noted in the store's folder before the journal deletes them, and the note is removed last: an interrupted
erasure is finished by the next erasure, by the worker, or by the same command again.
"""

import json
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.engine.locks import turn
from holdfast.engine.opening import open_store
from holdfast.engine.raw import outputs, text_tables
from holdfast.engine.recovery import backup
from holdfast.engine.sqlite import SQLite, is_store
from holdfast.engine.store import Store
from holdfast.engine.views import Entry, records
from holdfast.model.errors import StoreError
from holdfast.model.event import FOLDING, SHARED, Event, Json
from holdfast.model.files import read_regular, write_whole
from holdfast.model.fold import fold_all, scrub
from holdfast.model.ids import check_part, is_part, short
from holdfast.model.record import record_to_json
from holdfast.model.replica import ReplicaUpdate
from holdfast.policy.erasing import Eraser, resembles, sentences_in, signs_in
from holdfast.verbs.memory import Memory, find, untagged
from holdfast.verbs.upkeep.scan import clean_file, clean_transcripts, in_every_text

FOLDER = "erasing"  # texts of erased memories, until every copy is gone
PATIENCE = 30.0  # seconds to wait for the worker to finish
PIECES = 40  # pieces of the erased texts to search for in the journal
ERASING = ("erased", "accepted")  # accepting may be accepting an erasure
# Files of hooks and the worker beside the database that may contain memory texts.
_PREPARED = ("prepared/*", "prepared/.*")
_NOTED = ("spool/*", "spool/.*", "seen/*", "sessions/*/*", "hooks.log*")
_STRUCTURE = ("settings", "projects")  # names and switches, no raw material
_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_LEFT_BY = re.compile(r"\.(?:.*\.)?(\d+)\.(?:part|redacted|tmp)(?:-\w+)?|\.restoring-(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasableData:
    """The event data of a memory that is being erased."""

    about: str
    said: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Where memories were erased, which other memories contain the same text, and what was not reached."""

    ids: tuple[str, ...] = ()
    # Rows or files of each kind that were cleaned, besides the journal and its views.
    reached: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # removed files in markdown replicas
    said_by: tuple[str, ...] = ()  # other memories with the same text, written by a user or agent
    not_reached: tuple[str, ...] = ()
    finished: bool = True
    texts: tuple[str, ...] = field(default=(), repr=False)  # to search for in backups; never displayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What was masked in one database (rows by table, records made by rules) and which records were left."""

    rows: Mapping[str, int]
    masked: tuple[str, ...]
    said_by: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """Return how much of each kind was masked."""
        named = {_ROWS.get(table, f"row of {table}"): count for table, count in self.rows.items()}
        return named | {"memory that quoted it": len(self.masked)}


_ROWS = {"trail": "entry of the trail", "outputs": "logged output", "transcripts": "transcript"}


def erase(memory: Memory, reference: str) -> Erased:
    """Erase a memory from the journal and from every copy on this machine; repeat to finish an interrupted erasure."""
    if erased_id := _erased_before(memory, reference):
        return finish(memory, [ErasableData(about=erased_id)])
    record = find(memory, reference).record
    return commit(memory, [memory.signed(memory.event("erased", record.id, after=record.head))])[1]


def commit(memory: Memory, events: Sequence[Event]) -> tuple[list[Entry], Erased]:
    """Commit events that erase something, wherever they come from, and clean every copy on this machine."""
    remains = note_remains(memory.store, events)
    entries = memory.store.commit(events)
    return entries, finish(memory, remains)


def note_remains(store: Store, events: Iterable[Event]) -> list[ErasableData]:
    """Note the texts of records that events will erase, before the store deletes them."""
    noted = []
    verbs = {event.about: event.verb for event in sorted(events, key=lambda event: event.verb) if event.verb in ERASING}
    for about, verb in verbs.items():
        known = store.all_about(about)
        if verb != "erased" and all(event.verb != "erased" for event in known):
            continue
        remains = ErasableData(about=about, said=tuple(_unscrubbed(known)))
        if remains.said and store.folder and store.folder.is_dir():
            _write(store.folder, remains)
        noted.append(remains)
    return noted


def finish(memory: Memory, remains: Iterable[ErasableData] = ()) -> Erased:
    """Clean every copy of erased memories: those passed in, and those that earlier erasures did not finish."""
    todo = {remain.about: remain for remain in (*remains, *unfinished(memory.store.folder))}
    if not todo:
        return Erased()
    with turn(memory.store.folder, PATIENCE) as alone:
        erased = [remain for remain in todo.values() if _is_erased(memory.store, remain.about)]
        done = _sweep(memory, erased) if erased else Erased()
        for remain in todo.values() if alone else ():
            _file(memory.store.folder, remain.about).unlink(missing_ok=True) if memory.store.folder else None
    if alone:
        return done
    busy = "what the worker is writing at this moment: it removes that itself when it is done"
    return replace(done, not_reached=(*done.not_reached, busy), finished=False)


def unfinished(folder: Path | None) -> list[ErasableData]:
    """Return the notes of interrupted erasures."""
    notes = []
    for path in sorted((folder / FOLDER).glob("*.json")) if folder else ():
        try:
            data = json.loads(read_regular(path))
        except FileNotFoundError:
            continue  # finished by another process
        except ValueError:
            data = []  # interrupted while writing the note: the journal still has the text
        notes.append(ErasableData(about=path.stem, said=tuple(data)))
    return notes


def forget_prepared(memory: Memory) -> int:
    """Remove prepared files that mention a record erased elsewhere; return how many."""
    folder = memory.store.folder
    removed = 0
    with turn(folder):
        for path in _files(folder, _PREPARED):
            named = set(_ID.findall(_content(path)))
            known = records.by_ids(memory.store, named) if named else {}
            if any(entry.record.state == "erased" for entry in known.values()):
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def sweep_store(store: Store, erasures: Sequence[Event], eraser: Eraser) -> Swept:
    """Remove erased memories and quotes of them from one database; `erasures` are the events that erased them."""
    ids = {event.about for event in erasures}
    unknown = [event for event in erasures if not _is_erased(store, event.about) and store.all_about(event.about)]
    if unknown:
        store.commit(unknown)
    clean = in_every_text(eraser.masked)
    with store.transaction():
        outputs.forget(store, ids)
        rows = text_tables.rewrite(store, clean, _STRUCTURE) | clean_transcripts(store, clean)
        changed, others = _quoting(store, ids, eraser)
        store.put_again(changed)
    quoted = tuple(dict.fromkeys(event.about for _, event in changed if event.verb in FOLDING))
    return Swept(rows=rows, masked=quoted, said_by=others)


def _sweep(memory: Memory, gone: Sequence[ErasableData]) -> Erased:
    """Remove erased memories from everything; safe to repeat after an interruption."""
    folder, ids = memory.store.folder, tuple(remain.about for remain in gone)
    erasures = erasures_of(memory, ids)
    with ExitStack() as opened:
        siblings, unopened = _siblings(memory.store)
        stores = [memory.store, *(opened.enter_context(closing(store)) for store in siblings)]
        said = [data for remain in gone for data in remain.said]
        said += [data for store in stores[1:] for about in ids for data in erasable_data(store, about)]
        eraser = Eraser(texts := sentences_in(said))
        clean = in_every_text(eraser.masked)
        reached = {
            "prepared file": _drop_prepared(folder, ids, signs_in(said)),
            "file of hooks": sum(clean_file(path, clean) for path in _files(folder, _NOTED)),
            "unfinished file": _drop_leftovers(memory),
        }
        with memory.store.transaction():
            swept = [sweep_store(memory.store, erasures, eraser)]
            _note_masked(memory, swept[0].masked)
        swept += [sweep_store(store, erasures, eraser) for store in stores[1:]]
        emptied = [store.forget_words() for store in stores]
    copies = memory.copies(_updates(memory, ids), lambda about, text: _is_outdated(memory, about, text, ids, eraser))
    for name, count in (*copies.reached.items(), *(item for sweep in swept for item in sweep.counts().items())):
        reached[name] = reached.get(name, 0) + count
    return Erased(
        ids=ids,
        reached={name: count for name, count in reached.items() if count},
        files=copies.files,
        said_by=tuple(dict.fromkeys(about for sweep in swept for about in sweep.said_by)),
        not_reached=(*unopened, *copies.not_reached, *_out_of_reach(memory, emptied=all(emptied))),
        texts=texts,
    )


def erasures_of(memory: Memory, ids: Iterable[str]) -> list[Event]:
    """Return the events that erased memories."""
    return [event for about in ids for event in memory.store.events_about(about) if event.verb == "erased"]


def erasable_data(store: Store, about: str) -> list[Json]:
    """Return the event data about a record that erasure would still remove."""
    return _unscrubbed(store.all_about(about))


def _unscrubbed(events: Iterable[Event]) -> list[Json]:
    return [dict(event.data) for event in events if scrub(event) != event]


def _quoting(store: Store, ids: Collection[str], eraser: Eraser) -> tuple[list[tuple[int, Event]], tuple[str, ...]]:
    """Return events made by rules that quote the text, masked; and the records of users and agents with the same text."""
    if store.is_guarded:
        return [], ()  # on a team server a user sees only their own raw data
    clean, changed, others = in_every_text(eraser.masked), [], []
    for seq, event in store.holding(eraser.samples(PIECES)):
        kept = replace(event, data=clean(dict(event.data)))
        if event.about in ids or kept.data == event.data:
            continue
        if event.by.kind == "rule" or event.verb in ("started", "closed"):
            changed.append((seq, kept))
        else:
            others.append(event.about)
    return changed, tuple(dict.fromkeys(others))


def _note_masked(memory: Memory, ids: Collection[str]) -> None:
    """Note in the history of records made by rules that text in them was masked."""
    heads = {about: entry.record.head for about, entry in records.by_ids(memory.store, ids).items()}
    why = {"reason": "it quoted an erased memory"}
    memory.store.commit(
        [memory.signed(memory.event("redacted", about, data=why, after=heads[about])) for about in heads]
    )


def _is_outdated(memory: Memory, about: str, text: str, ids: Collection[str], eraser: Eraser) -> bool:
    """True if a file must be removed: its record is erased, or it still contains masked text. The next sync writes it again."""
    if about in ids:
        return True
    if not eraser.is_in(text):
        return False
    record = memory.store.folded(about)
    return record is not None and not eraser.is_in(record_to_json(record))


def _updates(memory: Memory, ids: Iterable[str]) -> list[ReplicaUpdate]:
    histories = [memory.store.events_about(about) for about in ids]
    return [
        ReplicaUpdate(record=record, events=tuple(event for event in events if event.verb in SHARED))
        for events in histories
        if (record := fold_all(events))
    ]


def _siblings(store: Store) -> tuple[list[Store], list[str]]:
    """Return the other stores in the same folder (a copy of the team database, an older store), and those that cannot be opened."""
    stores, problems = [], []
    for path in sorted(store.folder.glob("*.db")) if store.folder else ():
        if path == store.path or not is_store(path):
            continue
        try:
            stores.append(open_store(SQLite(path)))
        except StoreError as problem:
            problems.append(f"{path}: {problem}")
    return stores, problems


def _drop_prepared(folder: Path | None, ids: Collection[str], signs: Collection[str]) -> int:
    """Remove prepared files that mention the records or contain their text; the worker makes them again."""
    names = [name for about in ids for name in (about, short(about))]
    removed = 0
    for path in _files(folder, _PREPARED):
        content = _content(path)
        if any(name in content for name in names) or resembles(content, signs):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _drop_leftovers(memory: Memory) -> int:
    """Remove temporary files and folders of a backup, restore or erasure that was killed."""
    removed, folder = 0, memory.store.folder
    paths = _files(folder, (".restoring-*", "backups/.*", f"{FOLDER}/.*"), folders=True)
    paths += [
        path for file in (backup.known(folder) if folder else ()) for path in file.parent.glob(f".*{file.name}.*.part*")
    ]
    for path in dict.fromkeys(paths):
        leftover = _LEFT_BY.fullmatch(path.name)
        if leftover and not memory.host.is_alive(int(leftover[1] or leftover[2])):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            removed += 1
    return removed


def _out_of_reach(memory: Memory, *, emptied: bool) -> list[str]:
    places = ["exports and other copies you made"]
    if not memory.store.is_embedded:
        places += [
            "old row versions in PostgreSQL until its next vacuum, its backups and archived WAL",
            "files of other machines that use this database, until their worker runs",
        ]
    if memory.store.is_guarded:
        places.append("trails, transcripts and logged output of other users")
    if not emptied:
        places.append(
            "old pages in the write-ahead log, which another process is reading: run this again when that process has ended"
        )
    return places


def _erased_before(memory: Memory, reference: str) -> str:
    """Return the id of an already erased record, if the reference matches nothing else."""
    own = untagged(reference)
    entries = records.with_part(memory.store, check_part(own), 2) if is_part(own) else []
    exact = [entry for entry in entries if entry.record.id == own.upper()] or entries
    return exact[0].record.id if len(exact) == 1 and exact[0].record.state == "erased" else ""


def _is_erased(store: Store, about: str) -> bool:
    record = store.folded(about)
    return record is not None and record.state == "erased"


def _files(folder: Path | None, patterns: Iterable[str], *, folders: bool = False) -> list[Path]:
    paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))] if folder else []
    return [path for path in dict.fromkeys(paths) if folders or path.is_file()]


def _content(path: Path) -> str:
    """Return the content of a file as text; empty if the file was removed meanwhile."""
    try:
        return read_regular(path).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _file(folder: Path, about: str) -> Path:
    return folder / FOLDER / f"{about}.json"


def _write(folder: Path, remains: ErasableData) -> None:
    """Store the texts of a record being erased; synced to disk before the journal deletes them."""
    (folder / FOLDER).mkdir(mode=0o700, exist_ok=True)
    write_whole(_file(folder, remains.about), json.dumps(remains.said), sync=True)
