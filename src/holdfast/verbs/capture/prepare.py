"""Prepare the file that hooks answer from: the brief, and the notes for commands and files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.engine import changes
from holdfast.engine.locks import turn
from holdfast.engine.views import records
from holdfast.model.config import preset_of
from holdfast.model.files import changes_file, read_regular, write_whole
from holdfast.model.ids import short
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import defused, inline, shorten, texts_of
from holdfast.policy.activity.patterns import compiled, names_in
from holdfast.policy.language.overlap import words
from holdfast.policy.sessions.outcomes import distinctive
from holdfast.policy.sessions.plan_brief import is_blocking, severity_of
from holdfast.policy.sessions.triggers import SPEAKING, Places, places_of, warning_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.sessions.opening_brief import SessionBrief, brief_parts, newest_records, without_crowding
from holdfast.verbs.truth.contradictions import recent_conflicts

MOST_TRIGGERS, MOST_FILES = 300, 500
MOST_PATTERNS = 600  # commands and paths together: a hook compares each at every tool call
MOST_HINTS, MOST_WORDS = 100, 30
MOST_TOPICS, MOST_NOTES = 1_000, 3
# Words of paths that say nothing about the topic of a file.
STRUCTURE = frozenset(
    "src lib app apps bin test tests spec specs docs doc main index init core common shared utils helpers package packages "
    "module modules public static assets build dist scripts tools config file files code project python".split()
)


def prepare(
    memory: Memory, file: Path, place: Mapping[str, Any] | None = None, watched: Mapping[str, str] | None = None
) -> SessionBrief:
    """Write the file that the hooks of a checkout answer from; return the brief in it.

    It identifies its checkout by project, `place` (path, a digest of the remotes, settings of the session) and worktree,
    and lists what it was made from: its place in the changes of the store, and the state of files: those `watched` (git's
    and settings), as they were before the memory was opened, and cited ones. Hooks compare all of it.
    """
    with turn(memory.store.folder, shared=True):  # so that an erasure in between is not undone
        home, names, config = file.parent.parent, dict.fromkeys((memory.project, GLOBAL)), memory.config
        with memory.store.transaction():  # no other process writes: what is listed so far is in the store
            listed = {changes_file(str(home), name): changes.place(home, name) for name in names}
        brief, tools = brief_parts(memory), preset_of(config.preset)
        value: dict[str, Any] = {
            "project": memory.project,
            **({"path": "", "remotes": "", "settings": {}} | dict(place or {})),
            "worktree": memory.checkout.origin().worktree,
            "made_from": {
                "changes": listed,
                "files": {**(watched or {}), **{path: state for path, (state, _) in brief.cited.items()}},
                "cited": {path: ids for path, (_, ids) in brief.cited.items()},
                "shared": not memory.store.is_embedded,  # other machines write to it, and no list here shows it
            },
            "brief": {"text": brief.memories.text, "ids": list(brief.memories.ids), "tokens": brief.memories.tokens},
            "left_off": list(brief.left_off),
            "triggers": _triggers(memory),
            "conflicts": [_conflict(older, newer) for older, newer in recent_conflicts(memory) if newer.by.session],
            "files": _files(memory) if config.inject == "full" else {},
            "topics": _topics(memory) if config.inject == "full" else {},
            "read": tools.read,
            "preset": config.preset,
        }
        if config.remind:
            value["remind"] = {"search": tools.search, "close": tools.close}
        if config.prompt_hints:
            kinds = ("decision", "learning", "pattern", "fact")
            known = (record for kind in kinds for record in newest_records(memory, kind, MOST_HINTS))
            value["hints"] = []
            for record in (*_scars(memory)[:MOST_HINTS], *known):
                if own := sorted(distinctive(record, common=lambda _: False))[:MOST_WORDS]:
                    text = f"{short(record.id)} {inline(shorten(record.title, 80))}"
                    value["hints"].append({"id": record.id, "text": text, "words": own})
        if config.guard_secrets:
            value["guard"] = "block" if config.block_actions else "warn"
        text = json.dumps(value, ensure_ascii=False)
        if not file.is_file() or read_regular(file).decode() != text:
            _replace(file, text)
    return brief


def write_handover(file: Path, text: str) -> None:
    """Write what a session was doing, for the same session after a compaction."""
    fenced = f"<holdfast-handover>\n{defused(text)}\n</holdfast-handover>" if text else ""
    _replace(file, fenced)


def _conflict(older: Record, newer: Record) -> dict[str, Any]:
    """Return what the session that wrote a memory gets, if a comparison found that it contradicts another."""
    said, known = (f"{short(record.id)} “{inline(shorten(record.title, 120))}”" for record in (newer, older))
    text = f"Holdfast: {said}, saved in this session, contradicts {known} of {older.created_at[:10]}. Ask the user which holds, then revise or forget the other."
    return {"id": newer.id, "ids": [older.id], "session": newer.by.session, "text": text}


def _triggers(memory: Memory) -> list[dict[str, Any]]:
    if memory.config.inject in ("off", "hot"):
        return []
    # Scars and anti-patterns of the project and of every project, and records with triggers of their own.
    everywhere = memory.store.project_number(GLOBAL)
    projects = {memory.store.project_number(memory.project or GLOBAL), everywhere}
    found = [
        *_scars(memory),
        *(entry.record for kind in SPEAKING for entry in records.newest(memory.store, kind, everywhere, limit=500)),
        *(entry.record for project in projects for entry in records.with_triggers(memory.store, project, limit=500)),
    ]
    warnings = sorted({record.id: record for record in found}.values(), key=_severity)
    places = {record.id: places_of(record) for record in warnings}
    candidates = without_crowding(memory, [record for record in warnings if places[record.id]], MOST_TRIGGERS)
    share, blocks = max(2, MOST_PATTERNS // max(1, len(candidates))), memory.config.block_actions
    marked = {record.id: {"block": True} for record in candidates if blocks and is_blocking(record)}
    return [trigger_of(record, places[record.id], share) | marked.get(record.id, {}) for record in candidates]


def trigger_of(record: Record, places: Places, share: int = MOST_PATTERNS) -> dict[str, Any]:
    """Return what a hook compares with commands and files, and the warning it then injects."""
    patterns = [pattern for pattern in map(compiled, places.commands[:share]) if pattern]
    return {
        "id": record.id,
        "text": warning_of(record),
        "patterns": [{**pattern, "names": names_in(pattern)} for pattern in patterns],
        "paths": list(places.paths[:share]),
    }


def _files(memory: Memory) -> dict[str, list[dict[str, str]]]:
    """Return notes about single files, newest first, at most three each."""
    notes_by_path: dict[str, list[dict[str, str]]] = {}
    for kind in ("decision", "learning", "fact", "observation"):
        # Those whose code changed come last.
        candidates = newest_records(memory, kind, 500)
        states = freshness(memory, [record for record in candidates if record.seen])
        for record in sorted(candidates, key=lambda record: bool(record.id in states and states[record.id].problems)):
            cited = (anchor.partition("::")[0] for anchor in record.anchors)
            for path in (*cited, *texts_of(record.fields.get("files_modified"))):
                notes = notes_by_path.setdefault(path, [])
                if len(notes) < 3 and len(notes_by_path) <= MOST_FILES:
                    title = inline(shorten(record.title, 160))
                    text = f"Holdfast: {kind} {short(record.id)} about {inline(path)}: {title}"
                    notes.append({"id": record.id, "text": text})
    return notes_by_path


def _topics(memory: Memory) -> dict[str, list[dict[str, str]]]:
    """Return notes by the words of their titles that few memories share, for files whose path has such a word."""
    notes_by_word: dict[str, list[dict[str, str]]] = {}
    for kind in ("decision", "learning", "pattern", "blocker"):
        for record in newest_records(memory, kind, 200):
            text = f"Holdfast: {kind} {short(record.id)}: {inline(shorten(record.title, 160))}"
            for word in sorted(words(f"{record.title} {' '.join(record.tags)}") - STRUCTURE):
                notes_by_word.setdefault(word, []).append({"id": record.id, "text": text, "topic": "topic"})
    few = {word: notes for word, notes in notes_by_word.items() if len(word) > 2 and len(notes) <= MOST_NOTES}
    return dict(list(few.items())[:MOST_TOPICS])


def _scars(memory: Memory) -> list[Record]:
    return sorted([*newest_records(memory, "scar", 500), *newest_records(memory, "anti_pattern", 200)], key=_severity)


def _severity(record: Record) -> tuple[bool, int, str]:
    return not is_blocking(record), severity_of(record), record.id


def _replace(file: Path, text: str) -> None:
    """Replace a file atomically, so that a hook reads either version whole."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(file, text)
