"""Erase memories for good: from the journal, and from every copy that was made of them on this machine.

What they said is noted in the store's folder before the journal forgets it, and that note is removed last: an erasure that is cut
short is finished by the next one, by the worker, or by the same command again.
"""

import json
import os
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
from holdfast.model.fold import fold_all, scrub
from holdfast.model.ids import check_prefix, is_prefix
from holdfast.model.record import record_to_json
from holdfast.model.replica import Telling
from holdfast.policy.erasing import Eraser, resembles, sentences_in, signs_in
from holdfast.verbs.memory import Memory, find, untagged
from holdfast.verbs.upkeep.scan import clean_file, clean_transcripts, in_every_text

FOLDER = "erasing"  # what erased memories said, until it is gone everywhere else
PATIENCE = 30.0  # seconds for the worker to finish what it is making
PIECES = 40  # of the erased texts that are looked for in the journal
ERASING = ("erased", "accepted")  # accepting may be accepting an erasure
# What hooks and the worker leave beside the database, and may hold texts.
_PREPARED = ("prepared/*", "prepared/.*")
_NOTED = ("spool/*", "spool/.*", "seen/*", "sessions/*/*", "hooks.log*")
_STRUCTURE = ("settings", "projects")  # names and switches, no raw material
_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_LEFT_BY = re.compile(r"\.(?:.*\.)?(\d+)\.(?:part|redacted|tmp)(?:-\w+)?|\.restoring-(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What events said about a memory that is being erased."""

    about: str
    said: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Where memories were erased, who else says the same, and what was out of reach."""

    ids: tuple[str, ...] = ()
    # Beyond the journal and its views: how many rows or files of each kind.
    reached: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # files in folders of markdown that were removed
    said_by: tuple[str, ...] = ()  # other memories that hold the same text, written by a person or agent
    not_reached: tuple[str, ...] = ()
    finished: bool = True
    texts: tuple[str, ...] = field(default=(), repr=False)  # what is looked for in backups; never shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What was masked in one database: rows by table, and memories that rules made; and which memories were left."""

    rows: Mapping[str, int]
    masked: tuple[str, ...]
    said_by: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """Return how much of each kind was masked."""
        named = {_ROWS.get(table, f"row of {table}"): count for table, count in self.rows.items()}
        return named | {"memory that quoted it": len(self.masked)}


_ROWS = {"trail": "entry of the trail", "outputs": "logged output", "transcripts": "transcript"}


def erase(memory: Memory, reference: str) -> Erased:
    """Erase a memory from the journal and from every copy on this machine; done again it finishes what was cut short."""
    if gone := _erased_before(memory, reference):
        return _again(memory, gone)
    record = find(memory, reference).record
    return commit(memory, [memory.signed(memory.event("erased", record.id, after=record.head))])[1]


def commit(memory: Memory, events: Sequence[Event]) -> tuple[list[Entry], Erased]:
    """Keep events that erase something, wherever they come from, and reach every copy here before anything else happens."""
    remains = note_remains(memory.store, events)
    entries = memory.store.commit(events)
    return entries, finish(memory, remains)


def note_remains(store: Store, events: Iterable[Event]) -> list[Remains]:
    """Note what events said about the records that others erase, before the store forgets it."""
    noted = []
    verbs = {event.about: event.verb for event in sorted(events, key=lambda one: one.verb) if event.verb in ERASING}
    for about, verb in verbs.items():
        known = store.all_about(about)
        if verb != "erased" and all(event.verb != "erased" for event in known):
            continue
        remains = Remains(about=about, said=tuple(_unscrubbed(known)))
        if remains.said and store.folder and store.folder.is_dir():
            _write(store.folder, remains)
        noted.append(remains)
    return noted


def finish(memory: Memory, remains: Iterable[Remains] = ()) -> Erased:
    """Reach every copy of what was erased: what is handed over, and what earlier erasures noted and did not finish."""
    todo = {one.about: one for one in (*remains, *unfinished(memory.store.folder))}
    if not todo:
        return Erased()
    with turn(memory.store.folder, PATIENCE) as alone:
        gone = [one for one in todo.values() if _is_erased(memory.store, one.about)]
        done = _sweep(memory, gone) if gone else Erased()
        for one in todo.values() if alone else ():
            _file(memory.store.folder, one.about).unlink(missing_ok=True) if memory.store.folder else None
    if alone:
        return done
    busy = "what the worker is making at this moment: it removes that itself when it is done"
    return replace(done, not_reached=(*done.not_reached, busy), finished=False)


def unfinished(folder: Path | None) -> list[Remains]:
    """Return what is noted of erasures that were cut short."""
    found = []
    for path in sorted((folder / FOLDER).glob("*.json")) if folder else ():
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue  # another process finished it
        except ValueError:
            said = []  # cut short while it was written: the journal still has it, or forgot nothing
        found.append(Remains(about=path.stem, said=tuple(said)))
    return found


def forget_prepared(memory: Memory) -> int:
    """Remove prepared files that name a memory which was erased elsewhere; return how many."""
    folder = memory.store.folder
    removed = 0
    with turn(folder):
        for path in _found(folder, _PREPARED):
            named = set(_ID.findall(_content(path)))
            known = records.by_ids(memory.store.db, named) if named else {}
            if any(entry.record.state == "erased" for entry in known.values()):
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def sweep_store(store: Store, erasures: Sequence[Event], eraser: Eraser) -> Swept:
    """Take erased memories and what quotes them out of one database; `erasures` are the events that erased them."""
    ids = {event.about for event in erasures}
    unknown = [event for event in erasures if not _is_erased(store, event.about) and store.all_about(event.about)]
    if unknown:
        store.commit(unknown)
    clean = in_every_text(eraser.masked)
    with store.transaction():
        outputs.forget(store.db, ids)
        rows = text_tables.rewrite(store.db, clean, _STRUCTURE) | clean_transcripts(store.db, clean)
        changed, others = _quoting(store, ids, eraser)
        store.put_again(changed)
    quoted = tuple(dict.fromkeys(event.about for _, event in changed if event.verb in FOLDING))
    return Swept(rows=rows, masked=quoted, said_by=others)


def _sweep(memory: Memory, gone: Sequence[Remains]) -> Erased:
    """Take erased memories out of everything; whatever is cut short is done again, and finds less to do."""
    folder, ids = memory.store.folder, tuple(one.about for one in gone)
    erasures = erasures_of(memory, ids)
    with ExitStack() as opened:
        siblings, unopened = _siblings(memory.store)
        stores = [memory.store, *(opened.enter_context(closing(store)) for store in siblings)]
        said = [data for one in gone for data in one.said]
        said += [data for store in stores[1:] for one in ids for data in said_about(store, one)]
        eraser = Eraser(texts := sentences_in(said))
        clean = in_every_text(eraser.masked)
        reached = {
            "prepared file": _drop_prepared(folder, ids, signs_in(said)),
            "file of hooks": sum(clean_file(path, clean) for path in _found(folder, _NOTED)),
            "unfinished file": _drop_leftovers(memory),
        }
        with memory.store.transaction():
            swept = [sweep_store(memory.store, erasures, eraser)]
            _note_masked(memory, swept[0].masked)
        swept += [sweep_store(store, erasures, eraser) for store in stores[1:]]
        emptied = [store.forget_words() for store in stores]
    copies = memory.copies(_tellings(memory, ids), lambda about, text: _is_outdated(memory, about, text, ids, eraser))
    for name, count in (*copies.reached.items(), *(item for one in swept for item in one.counts().items())):
        reached[name] = reached.get(name, 0) + count
    return Erased(
        ids=ids,
        reached={name: count for name, count in reached.items() if count},
        files=copies.files,
        said_by=tuple(dict.fromkeys(one for part in swept for one in part.said_by)),
        not_reached=(*unopened, *copies.not_reached, *_out_of_reach(memory, emptied=all(emptied))),
        texts=texts,
    )


def erasures_of(memory: Memory, ids: Iterable[str]) -> list[Event]:
    """Return the events that erased memories."""
    return [event for one in ids for event in memory.store.events_about(one) if event.verb == "erased"]


def said_about(store: Store, about: str) -> list[Json]:
    """Return what events still say about a record, beyond what erasure leaves."""
    return _unscrubbed(store.all_about(about))


def _unscrubbed(events: Iterable[Event]) -> list[Json]:
    return [dict(event.data) for event in events if scrub(event) != event]


def _quoting(store: Store, ids: Collection[str], eraser: Eraser) -> tuple[list[tuple[int, Event]], tuple[str, ...]]:
    """Return the events that rules made of the same words, without these; and the memories of people and agents that say the same."""
    if store.db.guarded:
        return [], ()  # whoever asks a server sees their own raw material, not everybody's
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
    """Note in the history of memories that rules made that something in them was masked."""
    heads = {one: entry.record.head for one, entry in records.by_ids(memory.store.db, ids).items()}
    why = {"reason": "it quoted an erased memory"}
    memory.store.commit([memory.signed(memory.event("redacted", one, data=why, after=heads[one])) for one in heads])


def _is_outdated(memory: Memory, about: str, text: str, ids: Collection[str], eraser: Eraser) -> bool:
    """Tell whether a file must go: its memory is erased, or it still says what was masked in its memory. The next sync writes that again."""
    if about in ids:
        return True
    if not eraser.is_in(text):
        return False
    record = memory.store.folded(about)
    return record is not None and not eraser.is_in(record_to_json(record))


def _tellings(memory: Memory, ids: Iterable[str]) -> list[Telling]:
    found = {one: memory.store.events_about(one) for one in ids}
    told = {one: tuple(event for event in events if event.verb in SHARED) for one, events in found.items()}
    records_now = {one: fold_all(events) for one, events in found.items()}
    return [Telling(record=record, events=told[one]) for one, record in records_now.items() if record]


def _siblings(store: Store) -> tuple[list[Store], list[str]]:
    """Return the other stores in the same folder (the copy of a team's database, a store from before there was one), and what cannot be opened."""
    found, problems = [], []
    for path in sorted(store.folder.glob("*.db")) if store.folder else ():
        if path == store.db.path or not is_store(path):
            continue
        try:
            found.append(open_store(SQLite(path)))
        except StoreError as problem:
            problems.append(f"{path}: {problem}")
    return found, problems


def _drop_prepared(folder: Path | None, ids: Collection[str], signs: Collection[str]) -> int:
    """Remove every file that hooks answer from and that names a memory or says what it said; the worker makes them again."""
    names = [name for one in ids for name in (one, one[:10])]
    removed = 0
    for path in _found(folder, _PREPARED):
        said = _content(path)
        if any(name in said for name in names) or resembles(said, signs):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _drop_leftovers(memory: Memory) -> int:
    """Remove files and folders that a backup, a restore or an erasure left when it was killed."""
    removed, folder = 0, memory.store.folder
    found = _found(folder, (".restoring-*", "backups/.*", f"{FOLDER}/.*"), folders=True)
    found += [
        path for file in (backup.known(folder) if folder else ()) for path in file.parent.glob(f".*{file.name}.*.part*")
    ]
    for path in dict.fromkeys(found):
        left = _LEFT_BY.fullmatch(path.name)
        if left and not memory.host.is_alive(int(left[1] or left[2])):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            removed += 1
    return removed


def _out_of_reach(memory: Memory, *, emptied: bool) -> list[str]:
    found = ["exports and other copies you made"]
    if not memory.store.is_embedded:
        found += [
            "old row versions in PostgreSQL until its next vacuum, its backups and archived WAL",
            "files of other machines that use this database, until their worker runs",
        ]
    if memory.store.db.guarded:
        found.append("trails, transcripts and logged output of other users")
    if not emptied:
        found.append("old pages in the write-ahead log, which another process is reading: run this again when it ended")
    return found


def _again(memory: Memory, about: str) -> Erased:
    return finish(memory, [Remains(about=about)])


def _erased_before(memory: Memory, reference: str) -> str:
    """Return the id of a memory that is erased already, if nothing else is meant."""
    own = untagged(reference)
    found = records.by_prefix(memory.store.db, check_prefix(own), 2) if is_prefix(own) else []
    exact = [entry for entry in found if entry.record.id == own.upper()] or found
    return exact[0].record.id if len(exact) == 1 and exact[0].record.state == "erased" else ""


def _is_erased(store: Store, about: str) -> bool:
    record = store.folded(about)
    return record is not None and record.state == "erased"


def _found(folder: Path | None, patterns: Iterable[str], *, folders: bool = False) -> list[Path]:
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))] if folder else []
    return [path for path in dict.fromkeys(found) if folders or path.is_file()]


def _content(path: Path) -> str:
    """Return what a file says, as text; nothing if it is gone meanwhile."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _file(folder: Path, about: str) -> Path:
    return folder / FOLDER / f"{about}.json"


def _write(folder: Path, remains: Remains) -> None:
    """Keep what is being erased until it is gone everywhere else; on disk before the journal forgets it."""
    (folder / FOLDER).mkdir(mode=0o700, exist_ok=True)
    aside = folder / FOLDER / f".{remains.about}.{os.getpid()}.part"
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump(remains.said, out)
        out.flush()
        os.fsync(out.fileno())
    aside.replace(_file(folder, remains.about))
