"""Erase memories for good: from the journal, and from every copy of them on this machine.

Their texts are noted in the store's folder before the journal deletes them, and the note is removed last: an interrupted
erasure is finished by the next erasure, by the worker, or by the same command again.
"""

import json
import mmap
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from holdfast.engine.locks import turn
from holdfast.engine.raw import outputs, text_tables
from holdfast.engine.recovery import backup
from holdfast.engine.sqlite import SQLite, is_store
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import Entry, records
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.event import FOLDING, SHARED, Event, Json
from holdfast.model.files import open_regular, read_regular, write_whole
from holdfast.model.foreign_json import json_or_none, with_texts
from holdfast.model.ids import check_part, is_part, short
from holdfast.model.patterns import tables
from holdfast.model.record import fold_all, record_to_json, scrub
from holdfast.model.replica import ReplicaUpdate, Scrubbed
from holdfast.policy.erasing import Eraser, resembles, sentences_in, signs_in
from holdfast.verbs.memory import Memory, Report, find, untagged
from holdfast.verbs.upkeep.scan import clean_file, clean_transcripts, files_of, redactions

FOLDER = "erasing"  # texts of erased memories, until every copy is gone
PATIENCE = 30.0  # seconds to wait for the worker to finish
PIECES = 40  # pieces of the erased texts to search for in the journal
# Files of hooks and the worker beside the database that may contain memory texts.
_PREPARED = ("prepared/*", "prepared/.*")
_NOTED = ("spool/*", "spool/.*", "seen/*", "sessions/*/*", "hooks.log*")
_STRUCTURE = ("settings", "projects")  # names and switches, no raw material
_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_ROWS = {"trail": "entry of the trail", "outputs": "logged output", "transcripts": "transcript"}
_LEFT_BY = re.compile(r"\.(?:.*\.)?(\d+)\.(?:part|redacted|tmp)(?:-\w+)?|\.restoring-(\d+)")
Remains = Mapping[str, Sequence[Json]]  # the event data of memories that are being erased, by id


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


def erase(memory: Memory, reference: str) -> Erased:
    """Erase a memory from the journal and from every copy on this machine; repeat to finish an interrupted erasure."""
    own = untagged(reference)
    entries = records.with_part(memory.store, check_part(own), 2) if is_part(own) else []
    exact = [entry for entry in entries if entry.record.id == own.upper()] or entries
    if len(exact) == 1 and exact[0].record.state == "erased":
        return finish(memory, {exact[0].record.id: ()})
    record = find(memory, reference).record
    event = memory.signed(memory.event("erased", record.id, after=record.head))
    if memory.appended is not None:
        memory.appended.append(event)
    return commit(memory, [event])[1]


def commit(memory: Memory, events: Sequence[Event]) -> tuple[list[Entry], Erased]:
    """Commit events that erase something, wherever they come from, and clean every copy on this machine."""
    remains = note_remains(memory.store, events)
    entries = memory.store.commit(events)
    return entries, finish(memory, remains)


def note_remains(store: Store, events: Iterable[Event]) -> Remains:
    """Note the texts of records that events will erase, before the store deletes them. Accepting may accept an erasure."""
    remains = dict[str, list[Json]]()
    for event in events:
        known = store.all_about(event.about) if event.verb in ("erased", "accepted") else []
        if event.verb == "erased" or any(each.verb == "erased" for each in known):
            remains[event.about] = _unscrubbed(known)
    for about, said in remains.items():
        if said and store.folder and store.folder.is_dir():
            note = store.folder / FOLDER / f"{about}.json"
            note.parent.mkdir(mode=0o700, exist_ok=True)
            write_whole(note, json.dumps(said), sync=True)  # on disk before the journal deletes them
    return remains


def finish(memory: Memory, remains: Remains | None = None) -> Erased:
    """Clean every copy of erased memories: those passed in, and those that earlier erasures did not finish."""
    folder = memory.store.folder
    todo = {**(remains or {}), **unfinished(folder)}
    if not todo:
        return Erased()
    with turn(folder, PATIENCE) as alone:
        erased = {about: said for about, said in todo.items() if _is_erased(memory.store, about)}
        done = _sweep(memory, erased) if erased else Erased()
        if alone and folder:
            for about in todo:
                (folder / FOLDER / f"{about}.json").unlink(missing_ok=True)
    if alone:
        return done
    busy = "what the worker is writing at this moment: it removes that itself when it is done"
    return replace(done, not_reached=(*done.not_reached, busy), finished=False)


def unfinished(folder: Path | None) -> Remains:
    """Return the notes of interrupted erasures."""
    notes = dict[str, list[Json]]()
    for path in sorted((folder / FOLDER).glob("*.json")) if folder else ():
        with suppress(FileNotFoundError):  # finished by another process
            said = json_or_none(read_regular(path).decode("utf-8", "replace"))
            notes[path.stem] = said or []  # interrupted while writing the note: the journal still has the text
    return notes


def forget_prepared(memory: Memory) -> int:
    """Remove prepared files that mention a record erased elsewhere; return how many."""

    def is_outdated(content: str) -> bool:
        return any(record.state == "erased" for record in memory.known(_ID.findall(content)).values())

    with turn(memory.store.folder):
        return _drop_prepared(memory.store.folder, is_outdated)


def sweep_store(
    store: Store, erasures: Sequence[Event], eraser: Eraser
) -> tuple[Mapping[str, int], list[str], list[str]]:
    """Remove erased memories and quotes of them from one database; `erasures` are the events that erased them.

    Returns what was masked (rows by table, records made by rules), and which records were left.
    """
    ids = {event.about for event in erasures}
    unknown = [event for event in erasures if not _is_erased(store, event.about) and store.all_about(event.about)]
    if unknown:
        store.commit(unknown)
    clean = partial(with_texts, change=eraser.masked)
    changed, others = list[tuple[int, Event]](), list[str]()
    with store.transaction():
        outputs.forget(store, ids)
        rows = text_tables.rewrite(store, clean, _STRUCTURE) | clean_transcripts(store, clean)
        # On a team server a user sees only their own raw data.
        for seq, event in () if store.is_guarded else store.holding(eraser.samples(PIECES)):
            kept = replace(event, data=clean(dict(event.data)))
            if event.about in ids or kept.data == event.data:
                continue
            if event.by.kind == "rule" or event.verb in ("started", "closed"):
                changed.append((seq, kept))
            else:
                others.append(event.about)
        store.put_again(changed)
    return rows, list(dict.fromkeys(event.about for _, event in changed if event.verb in FOLDING)), others


def _sweep(memory: Memory, gone: Remains) -> Erased:
    """Remove erased memories from everything; safe to repeat after an interruption."""
    folder, ids = memory.store.folder, tuple(gone)
    erasures = _erasures_of(memory, ids)
    with ExitStack() as opened:
        # The other stores in the same folder: a copy of the team database, an older store.
        siblings, unopened = list[Store](), list[str]()
        for path in sorted(folder.glob("*.db")) if folder else ():
            try:
                if path != memory.store.path and is_store(path):
                    siblings.append(opened.enter_context(closing(open_store(SQLite(path)))))
            except StoreError as problem:
                unopened.append(f"{path}: {problem}")
        said = [data for each in gone.values() for data in each]
        said += [data for store in siblings for about in ids for data in _unscrubbed(store.all_about(about))]
        eraser = Eraser(texts := sentences_in(said))
        clean = partial(with_texts, change=eraser.masked)
        names, signs = [name for about in ids for name in (about, short(about))], signs_in(said)
        reached = Counter[str]()
        reached["prepared file"] = _drop_prepared(
            folder, lambda content: any(name in content for name in names) or resembles(content, signs)
        )
        reached["file of hooks"] = sum(clean_file(path, clean) for path in files_of(folder, _NOTED))
        reached["unfinished file"] = _drop_leftovers(memory)
        with memory.store.transaction():
            swept = [sweep_store(memory.store, erasures, eraser)]
            redacted = redactions(memory, swept[0][1], "it quoted an erased memory")
            memory.store.commit([memory.signed(event) for event in redacted])
        swept += [sweep_store(store, erasures, eraser) for store in siblings]
        emptied = [store.forget_deleted() for store in (memory.store, *siblings)]

    def is_outdated(about: str, text: str) -> bool:
        """True if a file must be removed: its record is erased, or it still contains masked text. The next sync writes it again."""
        if about in gone or not eraser.is_in(text):
            return about in gone
        record = memory.store.folded(about)
        return record is not None and not eraser.is_in(record_to_json(record))

    updates = [
        ReplicaUpdate(record=record, events=tuple(event for event in events if event.verb in SHARED))
        for events in map(memory.store.events_about, ids)
        if (record := fold_all(events))
    ]
    copies = memory.copies(updates, is_outdated) if memory.copies else Scrubbed()
    reached.update(copies.reached)
    for rows, masked, _ in swept:
        reached.update({_ROWS.get(table, f"row of {table}"): count for table, count in rows.items()})
        reached["memory that quoted it"] += len(masked)
    return Erased(
        ids=ids,
        reached={name: count for name, count in reached.items() if count},
        files=copies.files,
        said_by=tuple(dict.fromkeys(about for _, _, left in swept for about in left)),
        not_reached=(*unopened, *copies.not_reached, *_out_of_reach(memory, emptied=all(emptied))),
        texts=texts,
    )


def _erasures_of(memory: Memory, ids: Iterable[str]) -> list[Event]:
    return [event for about in ids for event in memory.store.events_about(about) if event.verb == "erased"]


def _unscrubbed(events: Iterable[Event]) -> list[Json]:
    """Return the data of events that erasure would still remove."""
    return [dict(event.data) for event in events if scrub(event) != event]


def _is_erased(store: Store, about: str) -> bool:
    record = store.folded(about)
    return record is not None and record.state == "erased"


def _drop_prepared(folder: Path | None, is_outdated: Callable[[str], bool]) -> int:
    """Remove prepared files whose content is outdated; the worker makes them again."""
    removed = 0
    for path in files_of(folder, _PREPARED):
        with suppress(FileNotFoundError):  # removed meanwhile
            if is_outdated(read_regular(path).decode("utf-8", "replace")):
                path.unlink()
                removed += 1
    return removed


def _drop_leftovers(memory: Memory) -> int:
    """Remove temporary files and folders of a backup, restore or erasure that was killed."""
    removed, folder = 0, memory.store.folder
    paths = files_of(folder, (".restoring-*", "backups/.*", f"{FOLDER}/.*"), folders=True)
    for file in backup.known(folder) if folder else ():
        paths += file.parent.glob(f".*{file.name}.*.part*")
    for path in dict.fromkeys(paths):
        leftover = _LEFT_BY.fullmatch(path.name)
        if leftover and not memory.host.is_alive(int(leftover[1] or leftover[2])):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            removed += 1
    return removed


def _out_of_reach(memory: Memory, *, emptied: bool) -> list[str]:
    is_server, is_guarded = not memory.store.is_embedded, memory.store.is_guarded
    applies = {"always": True, "server": is_server, "guarded": is_guarded, "log in use": not emptied}
    return [place for when, place in tables(__file__)["out of reach"] if applies[when]]


def backups_of(memory: Memory, erased: Erased, *, rewrite: bool = False) -> list[Report]:
    """Return every known backup, and whether it still contains (`holds`) what was erased.

    With `rewrite` those that do are rewritten without it, checked and replaced; a damaged one that cannot be is removed.
    """
    files = [file for file in backup.known(memory.store.folder) if file.exists()] if memory.store.folder else []
    only_there = sentences_in([data for file in files for data in _erased_data(file, erased)])
    eraser, erasures = Eraser((*erased.texts, *only_there)), _erasures_of(memory, erased.ids)
    backups = list[Report]()
    for file in files:
        found: Report = {"path": str(file), "holds": _holds(file, erased, eraser)}
        found |= {"rewritten": False, "removed": False, "problem": ""}
        if rewrite and found["holds"]:
            try:
                backup.rewrite(file, lambda store: sweep_store(store, erasures, eraser))
                found |= {"holds": _holds(file, erased, eraser), "rewritten": True}
            except (HoldfastError, OSError) as problem:
                if isinstance(problem, StoreError) and file.parent.name != backup.FOLDER:
                    file.unlink()  # the rest of a damaged store: what was readable is recovered
                    found |= {"holds": False, "removed": True}
                else:
                    found["problem"] = str(problem)
        backups.append(found)
    return backups


def _erased_data(file: Path, erased: Erased) -> list[Json]:
    try:
        return _unscrubbed(backup.events_in(file, erased.ids))
    except StoreError:
        return []  # damaged, or a log: its bytes are searched instead


def _holds(file: Path, erased: Erased, eraser: Eraser) -> bool:
    if _erased_data(file, erased):
        return True
    if not file.stat().st_size:
        return False
    with open_regular(file) as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        return eraser.is_in_bytes(raw)
