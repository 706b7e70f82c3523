"""Import a `.gitmem` folder: learnings, decisions, threads, suggestions, sessions and scar usage."""

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
# Settings, locks and templates, which contain no memories.
_SETTINGS = frozenset(
    "active-sessions config telemetry license-cache docs-index closing-payload closing-payload-template".split()
)


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a folder; `path` is the folder or its project."""
    folder = path / ".gitmem" if (path / ".gitmem").is_dir() else path
    if not any((folder / f"{name}.json").is_file() for name in (*_MEMORIES, "cache/hook-scars")):
        raise Invalid(f"{folder} is not a .gitmem folder.", hint="Pass the folder that contains learnings.json.")
    own_names, notes = _own_project(folder), Notes()
    yield from _records(folder, own_names, notes)
    for name in ("scar_usage.json", "scar-usage.json"):
        for where, row in _read(folder / name, notes):
            yield from usage(row, where)
    yield from notes.values()
    yield from _left_out(folder)


def _own_project(folder: Path) -> frozenset[str]:
    """Return the names that records use for the project of the folder."""
    config = one_object(folder / "config.json")
    own = text(config.get("project")) if isinstance(config, Mapping) else ""
    return frozenset({"", "default", own})


def _records(folder: Path, own_names: frozenset[str], notes: Notes) -> Iterator[Item]:
    # If a server stores the learnings, the copy for hooks is the only local one.
    own = folder / "learnings.json"
    for where, row in _read(own if own.is_file() else folder / "cache" / "hook-scars.json", notes):
        yield learning(row, where, own_names)
    for where, row in _read(folder / "decisions.json", notes):
        yield decision(row, where, own_names)
    known = set[str]()
    for where, row in _read(folder / "threads.json", notes):
        known.add(f"thread:{text(row.get('id'))}")
        yield from thread(row, where, own_names)
    for where, row in _read(folder / "suggested-threads.json", notes):
        yield from suggestion(row, where)
    for items in (sessions(folder, own_names), running(folder, own_names), payloads(folder, own_names)):
        yield from (item for item in items if _is_news(item, known))


def _read(path: Path, notes: Notes) -> Iterator[Entry]:
    """Yield the readable entries of a file; note unreadable ones and vectors."""
    for entry in entries(path):
        if isinstance(entry, Remark):
            notes[entry.where] = entry
            continue
        if entry[1].get("embedding"):
            notes[path.name] = Remark(
                where=path.name, why="its vectors are left out: they are computed again on import"
            )
        yield entry


def _is_news(item: Item, known: set[str]) -> bool:
    """True unless an item is a thread that was yielded before: sessions repeat them."""
    if not isinstance(item, Foreign) or not item.key.startswith("thread:"):
        return True
    is_new = item.key not in known
    known.add(item.key)
    return is_new


def _left_out(folder: Path) -> Iterator[Remark]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix == ".json" and path.stem not in (*_MEMORIES, *_SETTINGS):
            yield Remark(where=path.name, why="it is left out: not a known memory file")
        elif path.is_dir() and path.name == "feedback":
            yield Remark(where=path.name, why="it is left out: feedback about GitMem, not about the project")
