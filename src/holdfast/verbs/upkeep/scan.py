"""Search everything in the store for credentials, and mask them."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.engine.raw import counters, text_tables, transcripts
from holdfast.engine.store import Store
from holdfast.model.event import COUNTED, FOLDING, Event
from holdfast.model.files import read_regular, write_whole
from holdfast.model.foreign_json import json_or_none, with_texts
from holdfast.model.text import headline
from holdfast.policy.activity.transcript import chunks, messages_in
from holdfast.policy.secrets.find import mask_secrets, masked, secret_texts
from holdfast.verbs.memory import Memory, Report

# Files of hooks and the worker next to the database. Settings and our own token hold credentials on purpose.
FILES = ("spool/*", "spool/.*", "prepared/*", "seen/*", "hooks.log*")
SHOWN = 4  # characters of a credential that may be printed
SHORTEST_KNOWN = 8  # minimum length to search for a known credential elsewhere
LARGEST = 5_000_000  # bytes of a file
_SKIPPED = frozenset((".git", ".hg", ".venv", "node_modules", "__pycache__"))


def scan(memory: Memory) -> list[Report]:
    """Return every credential in the journal, other tables and files of hooks, once for each place, and never the whole."""
    leaks = dict.fromkeys(_secrets(memory))
    known = memory.known(id_ for where, id_, _, _ in leaks if where == "memory").values()
    titles = {one.id: mask_secrets(_title(one.title, one.body, mask_secrets(one.body))) for one in known}
    return [
        {"kind": kind, "where": where, "id": mask_secrets(id_), "title": titles.get(id_, ""), "begins": _begins(text)}
        for where, id_, kind, text in leaks
    ]


def redact(memory: Memory) -> Report:
    """Mask every credential, and its text wherever else it occurs; the journal records that.

    Returns what was masked: events, the memories they are about, other rows and files; and if nothing is left on disk.
    """
    known = {text for *_, text in _secrets(memory) if len(text) >= SHORTEST_KNOWN}
    literal = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True)))) if known else None

    def clean(value: Any) -> Any:
        return with_texts(masked(value), partial(literal.sub, "[redacted]")) if literal else masked(value)

    store, now = memory.store, memory.clock.now()
    with store.transaction():
        changed = store.rewrite(lambda event: _clean_event(event, clean))
        rows = text_tables.rewrite(store, clean) | clean_transcripts(store, clean)
        ids = tuple(dict.fromkeys(event.about for event in changed if event.verb in FOLDING))
        clean_memory = memory.acting_in(clean(memory.actor.session))
        clean_memory.commit(redactions(clean_memory, ids, "credentials were masked"))
        for table, number in (rows | ({"journal": len(changed)} if changed else {})).items():
            counters.add(store, f"redacted.{table}", now, number)
    files = sum(clean_file(path, clean) for path in files_of(memory.store.folder))
    clean_now = store.forget_deleted(free_pages=True)
    return {"events": len(changed), "records": ids, "rows": rows, "files": files, "clean": clean_now}


def look_through(folder: Path) -> Report:
    """Return the credentials in the files of a folder, which are not changed, and the files that were not read."""
    leaks: dict[tuple[str, str, str], Report] = {}
    skipped, files = [], 0
    for path in _walk(folder):
        name = str(path.relative_to(folder)) if path != folder else path.name
        try:
            raw = read_regular(path, LARGEST)
        except OSError:  # too large, or unreadable
            raw = b"\0"
        if b"\0" in raw[:8_000]:
            skipped.append(name)
            continue
        files, text = files + 1, raw.decode("utf-8", "replace")
        for kind, secret in secret_texts(text):
            line = text[: text.find(secret)].count("\n") + 1
            place = f"{mask_secrets(name)}:{line}"
            leak = {"kind": kind, "where": "file", "id": place, "title": "", "begins": _begins(secret)}
            leaks[place, kind, secret] = leak
    return {"leaks": list(leaks.values()), "files": files, "skipped": skipped}


def _begins(text: str) -> str:
    """Return the beginning of a credential: at most a quarter of it."""
    beginning = " ".join(text[: min(SHOWN, len(text) // 4)].split())
    return f"{beginning}… ({len(text)} characters)"


def _secrets(memory: Memory) -> Iterator[tuple[str, str, str, str]]:
    """Yield every credential in what is stored: where it is, the id there, its kind and its text."""
    for where, id_, value in _places(memory):
        yield from ((where, id_, kind, text) for kind, text in secret_texts(value))


def _places(memory: Memory) -> Iterator[tuple[str, str, Any]]:
    """Yield everything that is stored, piece by piece, with its place."""
    store = memory.store
    for _, event in store.journal():
        value = {"about": event.about, "name": event.by.name, "session": event.by.session, "data": dict(event.data)}
        where = "session" if event.verb in ("started", "closed") else f"journal: {event.verb}"
        yield "memory" if event.verb in FOLDING else where, event.about, value
    for table, key, texts, doc in text_tables.rows(store):
        yield table, str(key), [texts, doc]
    for session in transcripts.sessions(store):
        transcript = transcripts.get(store, session)
        yield "transcripts", session, [session, transcript.body if transcript else ""]
    for path in files_of(memory.store.folder):
        yield "file", path.name, [path.name, _read(path)]


def _clean_event(event: Event, clean: Callable[[Any], Any]) -> Event:
    data, title, body = clean(dict(event.data)), event.data.get("title"), event.data.get("body")
    if data != event.data and isinstance(title, str) and isinstance(body, str):
        data["title"] = clean(_title(title, body, str(data["body"])))
    by = replace(event.by, name=clean(event.by.name), session=clean(event.by.session))
    changed = replace(event, about=clean(event.about) if event.verb in COUNTED else event.about, by=by, data=data)
    return event if changed == event else changed


def _title(title: str, body: str, masked: str) -> str:
    """Return a title, taken from the masked text if it was taken from the text: it may end in the middle of a credential."""
    return headline(masked) if body.startswith(title.rstrip("…")) else title


def redactions(memory: Memory, ids: Iterable[str], reason: str) -> list[Event]:
    """Return a `redacted` event for each memory whose text was masked."""
    known = memory.known(ids).values()
    return [memory.event("redacted", record.id, data={"reason": reason}, after=record.head) for record in known]


def clean_transcripts(store: Store, clean: Callable[[Any], Any]) -> dict[str, int]:
    """Split changed transcripts into pieces again: one may end in the middle of a credential."""
    changed = 0
    for session in transcripts.sessions(store):
        name = clean(session)
        if name != session:
            transcripts.rename(store, session, name)
        kept = transcripts.get(store, name)
        if kept and (body := clean(kept.body)) != kept.body:
            transcripts.save(store, replace(kept, body=body), chunks(messages_in(body, kept.format)))
            changed += 1
        else:
            changed += name != session
    return {"transcripts": changed} if changed else {}


def files_of(folder: Path | None, patterns: Iterable[str] = FILES, *, folders: bool = False) -> list[Path]:
    """Return the files in a store's folder that match patterns, and the folders too if asked."""
    paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))] if folder else []
    return [path for path in dict.fromkeys(paths) if folders or path.is_file()]


def _read(path: Path) -> Any:
    """Return a file of ours as JSON if it is, else as text; "" if it is gone."""
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:
        return ""
    return text if (value := json_or_none(text)) is None else value


def clean_file(path: Path, clean: Callable[[Any], Any]) -> bool:
    """Rewrite a file and its name with `clean`; return whether that changed anything."""
    value, name = _read(path), str(clean(path.name))
    cleaned = clean(value)
    if cleaned != value:
        write_whole(path, cleaned if isinstance(cleaned, str) else json.dumps(cleaned))
    if name != path.name:
        path.replace(path.with_name(name))
    return cleaned != value or name != path.name


def _walk(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (Path(root) / name for name in sorted(names))
