"""A `.gitmem` folder: learnings, decisions, threads, suggestions, sessions and the use of scars."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.adapters.importers.gitmem_records import decision, learning, suggestion, thread, usage
from holdfast.adapters.importers.gitmem_sessions import payloads, running, sessions
from holdfast.adapters.importers.json_file import Entry, entries, one_object
from holdfast.adapters.importers.values import text
from holdfast.model.errors import Invalid
from holdfast.model.foreign import Foreign, Item, Remark

Notes = dict[str, Remark]
_MEMORIES = ("learnings", "decisions", "sessions", "threads", "suggested-threads", "scar_usage", "scar-usage")
# Settings, locks and templates: nothing in them is a memory.
_SETTINGS = frozenset(
    "active-sessions config telemetry license-cache docs-index closing-payload closing-payload-template".split()
)


def read(path: Path) -> Iterator[Item]:
    """Return everything a folder holds; `path` is the folder or the project it lies in."""
    folder = path / ".gitmem" if (path / ".gitmem").is_dir() else path
    if not any((folder / f"{name}.json").is_file() for name in (*_MEMORIES, "cache/hook-scars")):
        raise Invalid(f"{folder} is no .gitmem folder.", hint="Give the folder with learnings.json in it.")
    here, notes = _own_project(folder), Notes()
    yield from _records(folder, here, notes)
    for name in ("scar_usage.json", "scar-usage.json"):
        for where, row in _read(folder / name, notes):
            yield from usage(row, where)
    yield from notes.values()
    yield from _left_out(folder)


def _own_project(folder: Path) -> frozenset[str]:
    """Return the names by which records say that they belong to the project the folder lies in."""
    config = one_object(folder / "config.json")
    own = text(config.get("project")) if isinstance(config, Mapping) else ""
    return frozenset({"", "default", own})


def _records(folder: Path, here: frozenset[str], notes: Notes) -> Iterator[Item]:
    # Where a server holds the learnings, the copy that hooks read is all there is.
    own = folder / "learnings.json"
    for where, row in _read(own if own.is_file() else folder / "cache" / "hook-scars.json", notes):
        yield learning(row, where, here)
    for where, row in _read(folder / "decisions.json", notes):
        yield decision(row, where, here)
    known = set[str]()
    for where, row in _read(folder / "threads.json", notes):
        known.add(f"thread:{text(row.get('id'))}")
        yield from thread(row, where, here)
    for where, row in _read(folder / "suggested-threads.json", notes):
        yield from suggestion(row, where)
    for left in (sessions(folder, here), running(folder, here), payloads(folder, here)):
        yield from (one for one in left if _is_news(one, known))


def _read(path: Path, notes: Notes) -> Iterator[Entry]:
    """Return the entries of a file that can be read; what cannot, and vectors, are noted."""
    for entry in entries(path):
        if isinstance(entry, Remark):
            notes[entry.where] = entry
            continue
        if entry[1].get("embedding"):
            notes[path.name] = Remark(where=path.name, why="its vectors are left out: they are made anew here")
        yield entry


def _is_news(item: Item, known: set[str]) -> bool:
    """Return whether an item is anything but a thread that was given before: sessions repeat them."""
    if not isinstance(item, Foreign) or not item.key.startswith("thread:"):
        return True
    is_new = item.key not in known
    known.add(item.key)
    return is_new


def _left_out(folder: Path) -> Iterator[Remark]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix == ".json" and path.stem not in (*_MEMORIES, *_SETTINGS):
            yield Remark(where=path.name, why="it is left out: no file of memories has this name")
        elif path.is_dir() and path.name == "feedback":
            yield Remark(where=path.name, why="it is left out: feedback about GitMem is no memory of the project")
