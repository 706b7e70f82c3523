"""Prepare the file that hooks answer from: the brief, and the notes for commands and files."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.engine.locks import turn
from holdfast.engine.views import records
from holdfast.model.errors import InvalidConfig
from holdfast.model.fence import defused, inline
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import shorten
from holdfast.policy.freshness import details
from holdfast.policy.ranking.diversity import shared_out
from holdfast.policy.sessions.outcomes import distinctive
from holdfast.policy.sessions.plan_brief import is_blocking
from holdfast.policy.sessions.session_brief import POLICIES, Prepared, Section, budget_for, written
from holdfast.policy.sessions.triggers import Places, places_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.branches import outside
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.quarantine import provenance
from holdfast.verbs.sessions.session import context

MOST_TRIGGERS, MOST_FILES = 300, 500
MOST_PATTERNS = 600  # commands and paths together: a hook compares each at every tool call
MOST_HINTS, MOST_WORDS = 100, 30
LOOKED_AT = 4  # times as many as are shown, so that one source cannot fill the selection
SCARS, THREADS, DECISIONS, LEARNINGS = 8, 8, 6, 6
_SEVERITY = {"critical": 0, "high": 1, "medium": 2, "low": 3}


def prepare(memory: Memory, file: Path, *, path: str = "", remotes: str = "") -> Prepared:
    """Write the file that the hooks of a checkout answer from; return the brief in it.

    It identifies its checkout by project, path, worktree and a digest of the remotes. Hooks compare these.
    """
    with turn(memory.store.folder):  # so that an erasure in between is not undone
        return _prepare(memory, file, path, remotes)


def _prepare(memory: Memory, file: Path, path: str, remotes: str) -> Prepared:
    brief = brief_of(memory)
    scars = _scars(memory)
    value: dict[str, Any] = {
        "project": memory.project,
        "path": path,
        "worktree": memory.checkout.origin().worktree,
        "remotes": remotes,
        "brief": {"text": brief.text, "ids": list(brief.ids), "tokens": brief.tokens},
        "triggers": _triggers(memory, scars),
        "files": _files(memory) if memory.config.inject == "full" else {},
    }
    if memory.config.prompt_hints:
        value["hints"] = _hints(memory, scars)
    if memory.config.guard_secrets:
        value["guard"] = "block" if memory.config.block_actions else "warn"
    text = json.dumps(value, ensure_ascii=False)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        _replace(file, text)
    return brief


def hand_over(file: Path, text: str) -> None:
    """Write what a session was doing, for the same session after a compaction."""
    fenced = f"<holdfast-handover>\n{defused(text)}\n</holdfast-handover>" if text else ""
    _replace(file, fenced)


def brief_of(memory: Memory) -> Prepared:
    """Return what a session of this project should know when it begins, as the inject policy allows."""
    policy = memory.config.inject
    if policy not in POLICIES:
        raise InvalidConfig(f"Unknown inject policy {policy!r}.", hint=f"Use one of {', '.join(POLICIES)}.")
    if policy == "off":
        return Prepared(text="")
    budget = budget_for(memory.store.size((_project_number(memory),)), fixed=memory.config.brief_budget)
    hot = Section(title="In use", records=tuple(entry.record for entry in hot_set(memory)))
    if policy == "hot":
        return written(memory.project, (), [hot], budget)
    known = context(memory)
    summary = known.summary.fields if known.summary else {}
    state = [f"State: {known.state.body}" if known.state else ""]
    state += [
        f"Last session, {name.replace('_', ' ')}: {summary[name]}"
        for name in ("completed", "next_steps")
        if summary.get(name)
    ]
    sections = [
        Section(title="Mistakes not to repeat", records=tuple(_shared_out(memory, _scars(memory), SCARS))),
        Section(title="Open threads", records=tuple(thread.record for thread in known.threads[:THREADS])),
        Section(title="Recent decisions", records=_newest(memory, "decision", DECISIONS)),
        hot,
        Section(
            title="Lessons", records=(*_newest(memory, "learning", LEARNINGS), *_newest(memory, "pattern", LEARNINGS))
        ),
        Section(title="How people like to work", records=_newest(memory, "preference", LEARNINGS)),
    ]
    return written(memory.project, state, sections, budget, _doubts(memory, sections))


def _doubts(memory: Memory, sections: Sequence[Section]) -> dict[str, str]:
    """Return why records of a brief should be checked first: an unmerged branch, or changed code."""
    shown = list({record.id: record for section in sections for record in section.records}.values())
    unmerged = outside(memory, shown)
    stale = {id_: "; ".join(details(state)) for id_, state in freshness(memory, shown).items() if state.troubles}
    return {id_: f"from branch {branch}, not merged here" for id_, branch in unmerged.items()} | stale


def _triggers(memory: Memory, scars: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the warnings for commands and files, most severe first."""
    if memory.config.inject in ("off", "hot"):
        return []
    candidates = [(record, places) for record in scars if (places := places_of(record))]
    chosen = {record.id for record in _shared_out(memory, [record for record, _ in candidates], MOST_TRIGGERS)}
    share = max(2, MOST_PATTERNS // max(1, len(chosen)))
    return [
        _trigger(memory, record, Places(commands=places.commands[:share], paths=places.paths[:share]))
        for record, places in candidates
        if record.id in chosen
    ]


def _trigger(memory: Memory, record: Record, places: Places) -> dict[str, Any]:
    severity = record.fields.get("severity")
    steps = record.fields.get("action_protocol")
    kind = inline(f"{severity} {record.kind}" if severity else record.kind)
    parts = [f"Holdfast: {kind} {record.id[:10]}: {inline(shorten(record.title, 200))}"]
    parts += [inline(shorten(record.body, 300))] if record.body != record.title else []
    parts += (
        [f"Before: {inline(shorten('; '.join(map(str, steps[:3])), 300))}"] if isinstance(steps, list) and steps else []
    )
    value = {"id": record.id, "text": "\n".join(parts), "commands": list(places.commands), "paths": list(places.paths)}
    return {**value, "block": True} if is_blocking(record) and memory.config.block_actions else value


def _hints(memory: Memory, scars: Sequence[Record]) -> list[dict[str, Any]]:
    """Return what a prompt may be pointed at, each with the words that trigger it."""
    known = (
        record for kind in ("decision", "learning", "pattern", "fact") for record in _newest(memory, kind, MOST_HINTS)
    )
    candidates = [(record, distinctive(record, common=lambda _: False)) for record in (*scars[:MOST_HINTS], *known)]
    return [
        {
            "id": record.id,
            "text": f"{record.id[:10]} {inline(shorten(record.title, 80))}",
            "words": sorted(words)[:MOST_WORDS],
        }
        for record, words in candidates
        if words
    ]


def _files(memory: Memory) -> dict[str, list[dict[str, str]]]:
    """Return notes about single files, newest first, at most three each."""
    notes_by_path: dict[str, list[dict[str, str]]] = {}
    for kind in ("decision", "learning", "fact", "observation"):
        for record in _fresh_first(memory, _newest(memory, kind, 500)):
            modified = record.fields.get("files_modified")
            for path in (
                *(anchor.partition("::")[0] for anchor in record.anchors),
                *(modified if isinstance(modified, list) else ()),
            ):
                notes = notes_by_path.setdefault(path, [])
                if len(notes) < 3 and len(notes_by_path) <= MOST_FILES:
                    notes.append(
                        {
                            "id": record.id,
                            "text": f"Holdfast: {kind} {record.id[:10]} about {inline(path)}: {inline(shorten(record.title, 160))}",
                        }
                    )
    return notes_by_path


def _fresh_first(memory: Memory, candidates: Sequence[Record]) -> list[Record]:
    """Return records with those whose code changed at the end."""
    states = freshness(memory, [record for record in candidates if record.seen])
    return sorted(candidates, key=lambda record: bool(record.id in states and states[record.id].troubles))


def _scars(memory: Memory) -> list[Record]:
    """Return the project's scars and anti-patterns, blocking and severe ones first, in a stable order."""
    warnings = [*_newest(memory, "scar", 500), *_newest(memory, "anti_pattern", 200)]
    return sorted(
        warnings,
        key=lambda record: (not is_blocking(record), _SEVERITY.get(str(record.fields.get("severity")), 4), record.id),
    )


def _newest(memory: Memory, kind: str, limit: int) -> tuple[Record, ...]:
    entries = records.newest(memory.store.db, kind, _project_number(memory), limit=LOOKED_AT * limit)
    if len(entries) == LOOKED_AT * limit:  # there are more: imported records may hide local ones
        own = records.newest_of_here(memory.store.db, kind, _project_number(memory), limit=limit)
        entries = list({entry.number: entry for entry in (*entries, *own)}.values())
    return tuple(_shared_out(memory, [entry.record for entry in entries], limit))


def _shared_out(memory: Memory, candidates: Sequence[Record], most: int) -> list[Record]:
    """Return the first records of a list, without one source taking all places."""
    return shared_out(candidates, most, provenance(memory, candidates)) if len(candidates) > most else list(candidates)


def _project_number(memory: Memory) -> int:
    return memory.store.project_number(memory.project or GLOBAL)


def _replace(file: Path, text: str) -> None:
    """Replace a file atomically, so that a hook reads either version whole."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    temporary.replace(file)
