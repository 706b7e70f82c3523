"""Look through everything the store keeps for credentials, and mask them where they lie."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.engine.database import Database
from holdfast.engine.raw import counters, text_tables, transcripts
from holdfast.engine.views import records
from holdfast.model.event import COUNTED, FOLDING, Event
from holdfast.model.foreign_json import parse_json
from holdfast.model.text import headline
from holdfast.policy.activity.transcript import chunks, said_in
from holdfast.policy.secrets.find import mask_secrets, masked, secret_texts
from holdfast.verbs.memory import Memory

# What hooks and the worker leave beside the database. Settings and our own token are meant to hold credentials.
FILES = ("spool/*", "spool/.*", "prepared/*", "seen/*", "hooks.log*")
SHOWN = 4  # characters of a credential that may be shown
SHORTEST_KNOWN = 8  # characters from which a credential is looked for by itself
LARGEST = 5_000_000  # bytes of a file
_SKIPPED = frozenset((".git", ".hg", ".venv", "node_modules", "__pycache__"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A credential that lies somewhere: what it is, where, and how it begins; never the whole."""

    kind: str
    where: str
    id: str
    title: str
    begins: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What was masked: events of the journal, the memories they are about, rows beside it, files; and whether nothing is left on disk."""

    events: int
    records: tuple[str, ...]
    rows: dict[str, int]
    files: int
    clean: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a look through a folder found, and which files were not read."""

    leaks: tuple[Leak, ...]
    files: int
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    where: str
    id: str
    value: Any
    title: str = ""


def scan(memory: Memory) -> list[Leak]:
    """Give every credential in the journal, beside it, and in what hooks left, once for each place."""
    found = {(place.where, place.id, kind, text): place for place, kind, text in _found(memory)}
    ids = {place.id for place in found.values() if place.where == "memory"}
    titles = {one: mask_secrets(entry.record.title) for one, entry in records.by_ids(memory.store.db, ids).items()}
    return [
        Leak(kind=kind, where=where, id=mask_secrets(one), title=titles.get(one, ""), begins=_begins(text))
        for where, one, kind, text in found
    ]


def redact(memory: Memory) -> Redacted:
    """Mask every credential where it lies, and wherever else its text is found; the journal tells that it was done."""
    known = {text for _, _, text in _found(memory)}
    clean = _cleaner(known)
    store, now = memory.store, memory.clock.now()
    with store.transaction():
        changed = store.rewrite(lambda event: _clean_event(event, clean))
        rows = text_tables.rewrite(store.db, clean) | clean_transcripts(memory.store.db, clean)
        ids = _note(memory, changed, clean)
        for table, number in (rows | ({"journal": len(changed)} if changed else {})).items():
            counters.add(store.db, f"redacted.{table}", now, number)
    files = sum(clean_file(path, clean) for path in _files(memory))
    return Redacted(events=len(changed), records=ids, rows=rows, files=files, clean=store.forget_pages())


def look_through(folder: Path) -> Looked:
    """Give the credentials in the files of a folder; they are only looked at, never changed."""
    leaks: dict[tuple[str, str, str], Leak] = {}
    skipped, files = [], 0
    for path in _walk(folder):
        name = str(path.relative_to(folder)) if path != folder else path.name
        text = _text(path)
        if text is None:
            skipped.append(name)
            continue
        files += 1
        for kind, secret in secret_texts(text):
            line = text[: text.find(secret)].count("\n") + 1
            place = f"{mask_secrets(name)}:{line}"
            leaks[place, kind, secret] = Leak(kind=kind, where="file", id=place, title="", begins=_begins(secret))
    return Looked(leaks=tuple(leaks.values()), files=files, skipped=tuple(skipped))


def _begins(text: str) -> str:
    """Give how a credential begins: at most a quarter of it, so that a short one stays one."""
    said = " ".join(text[: min(SHOWN, len(text) // 4)].split())
    return f"{said}… ({len(text)} characters)"


def _found(memory: Memory) -> Iterator[tuple[_Place, str, str]]:
    for place in _places(memory):
        for kind, text in secret_texts(place.value):
            yield place, kind, text


def _places(memory: Memory) -> Iterator[_Place]:
    """Give everything that is kept, piece by piece, with where it lies."""
    db = memory.store.db
    for _, event in memory.store.journal():
        told = {"about": event.about, "name": event.by.name, "session": event.by.session, "data": dict(event.data)}
        where = "memory" if event.verb in FOLDING else _WHERE.get(event.verb, f"journal: {event.verb}")
        yield _Place(where=where, id=event.about, value=told)
    for row in text_tables.rows(db):
        yield _Place(where=row.table, id=str(row.key), value=[row.texts, row.doc])
    for session in transcripts.sessions(db):
        kept = transcripts.get(db, session)
        yield _Place(where="transcripts", id=session, value=[session, kept.body if kept else ""])
    for path in _files(memory):
        yield _Place(where="file", id=path.name, value=[path.name, _read(path)])


_WHERE = {"started": "session", "closed": "session"}


def _cleaner(known: Iterable[str]) -> Callable[[Any], Any]:
    """Give what masks a value: by the rules, and then whatever is known from elsewhere to be a credential."""
    long = sorted((text for text in known if len(text) >= SHORTEST_KNOWN), key=len, reverse=True)
    literal = re.compile("|".join(map(re.escape, long))) if long else None

    again = in_every_text(lambda text: literal.sub("[redacted]", text) if literal else text)
    return lambda value: again(masked(value))


def in_every_text(change: Callable[[str], str]) -> Callable[[Any], Any]:
    """Return what changes every text in a value, keys included."""

    def changed(value: Any) -> Any:
        match value:
            case str():
                return change(value)
            case dict():
                return {changed(key): changed(item) for key, item in value.items()}
            case list() | tuple():
                return [changed(item) for item in value]
        return value

    return changed


def _clean_event(event: Event, clean: Callable[[Any], Any]) -> Event:
    data = clean(dict(event.data))
    if data != event.data and _is_taken_from(event.data.get("title"), event.data.get("body")):
        data["title"] = headline(str(data["body"]))  # it may end in the middle of one
    by = replace(event.by, name=clean(event.by.name), session=clean(event.by.session))
    about = clean(event.about) if event.verb in COUNTED else event.about
    return (
        event
        if (data, by, about) == (event.data, event.by, event.about)
        else replace(event, about=about, by=by, data=data)
    )


def _is_taken_from(title: Any, body: Any) -> bool:
    return isinstance(title, str) and isinstance(body, str) and body.startswith(title.rstrip("…"))


def _note(memory: Memory, changed: Iterable[Event], clean: Callable[[Any], Any]) -> tuple[str, ...]:
    """Say of each memory whose text was masked that it was."""
    ids = tuple(dict.fromkeys(event.about for event in changed if event.verb in FOLDING))
    heads = {one: entry.record.head for one, entry in records.by_ids(memory.store.db, ids).items()}
    why = {"reason": "credentials were masked"}
    memory.actor = replace(memory.actor, session=clean(memory.actor.session))
    memory.commit([memory.event("redacted", one, data=why, after=heads[one]) for one in ids if one in heads])
    return ids


def clean_transcripts(db: Database, clean: Callable[[Any], Any]) -> dict[str, int]:
    """Cut transcripts that change into their pieces anew: one may end in the middle of a credential."""
    changed = 0
    for session in transcripts.sessions(db):
        name = clean(session)
        if name != session:
            transcripts.rename(db, session, name)
        kept = transcripts.get(db, name)
        if kept and (body := clean(kept.body)) != kept.body:
            transcripts.save(db, replace(kept, body=body), chunks(said_in(body, kept.format)))
            changed += 1
        else:
            changed += name != session
    return {"transcripts": changed} if changed else {}


def _files(memory: Memory) -> list[Path]:
    home = memory.store.folder
    return [path for pattern in FILES for path in sorted(home.glob(pattern)) if path.is_file()] if home else []


def _read(path: Path) -> Any:
    """Give a file of ours as JSON where it is, else as text; one that is gone meanwhile holds nothing."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    try:
        return parse_json(text)
    except ValueError:
        return text


def clean_file(path: Path, clean: Callable[[Any], Any]) -> bool:
    """Put a file in place of itself as `clean` gives it, its name too; tell whether that changed anything."""
    value, name = _read(path), str(clean(path.name))
    kept = clean(value)
    if kept != value:
        aside = path.with_name(f".{os.getpid()}.redacted")
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(kept if isinstance(kept, str) else json.dumps(kept))
        aside.replace(path)
    if name != path.name:
        path.replace(path.with_name(name))
    return kept != value or name != path.name


def _walk(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (Path(root) / name for name in sorted(names))


def _text(path: Path) -> str | None:
    """Give a file's text; nothing if it is no text, too large, or not to be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    return None if b"\0" in raw[:8_000] else raw.decode("utf-8", "replace")
