"""Remove from the files of clients exactly what was inserted."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.hosts.setup import jsontext
from holdfast.hosts.setup.apply import Change, LeftAlone, Planned
from holdfast.hosts.setup.edits import Approval, noun_of, taken_out
from holdfast.hosts.setup.files import check_writable, mark_of, remove_file, replace_file, text_of
from holdfast.hosts.setup.manifest import Manifest, Placed, Splice, Touched, write_manifest
from holdfast.model.errors import InvalidFile


def removals(manifest: Manifest, leaving: Iterable[str], *, only_hooks: bool = False) -> list[Planned]:
    """Return the plan for removing clients or their hooks, file by file, the last touched first."""
    gone = set(leaving)
    concerned = {
        path: touched
        for path, touched in manifest.files.items()
        if any(gone & set(placed.clients) and (is_hook(placed) or not only_hooks) for placed in touched.placed)
    }
    return [
        plan_removal(Path(path), touched, gone, only_hooks=only_hooks) for path, touched in reversed(concerned.items())
    ]


def is_hook(placed: Placed) -> bool:
    """True if an edit makes a client run our hooks."""
    return noun_of(placed.edit) in ("hook", "plugin")


def plan_removal(path: Path, touched: Touched, gone: set[str], *, only_hooks: bool = False) -> Planned:
    """Return the plan for one file without the edits of those clients."""
    staying = [placed for placed in touched.placed if only_hooks and not is_hook(placed)]
    stays = tuple(
        placed if placed in staying else replace(placed, clients=left)
        for placed in touched.placed
        if (left := tuple(name for name in placed.clients if name not in gone)) or placed in staying
    )
    try:
        before = text_of(path)
        after = _without(before, touched, gone, staying)
        if before != after:
            check_writable(path)
    except InvalidFile as problem:
        left_alone = LeftAlone(path=path, why=problem.message, snippet="")
        return Planned(path=path, before=None, after=None, touched=touched, left_alone=(left_alone,))
    rest = replace(touched, placed=stays, after=mark_of(after or ""), splices=None) if stays else None
    leaving = [one for one in _leaving(touched, gone, staying) if not isinstance(one.edit, Approval) or one.edit.given]
    entries: list[Change] = [(name, "removed", noun_of(placed.edit)) for placed in leaving for name in placed.clients]
    return Planned(path=path, before=before, after=after, touched=rest, entries=tuple(entries))


def take_out(
    plan: Iterable[Planned], leaving: Iterable[str], manifest: Manifest, store: Path, *, only_hooks: bool = False
) -> Manifest:
    """Apply the plan, reading each file again; what was not removed stays in the manifest."""
    gone = set(leaving)
    for one in plan:
        touched = manifest.files[str(one.path)]
        fresh = plan_removal(one.path, touched, gone, only_hooks=only_hooks)
        if fresh.changes and fresh.after is None:
            remove_file(one.path, [Path(folder) for folder in touched.folders])
        elif fresh.changes and fresh.after is not None:
            replace_file(one.path, fresh.after, private=True)
        manifest = write_manifest(store, manifest.with_file(one.path, fresh.touched))
    if only_hooks:
        return manifest
    surfaces = {name: names for name, names in manifest.surfaces.items() if name not in gone}
    return write_manifest(store, replace(manifest, surfaces=surfaces))


def _without(text: str | None, touched: Touched, gone: set[str], staying: Sequence[Placed]) -> str | None:
    """Return a file's text without the edits only those clients needed; None: nothing is left."""
    if text is None or mark_of(text) == touched.before:
        return text
    leaving = _leaving(touched, gone, staying)
    if len(leaving) == len(touched.placed) and touched.splices is not None and mark_of(text) == touched.after:
        former = _undone(text, touched.splices)
        return former if touched.before is not None or former else None
    for placed in reversed(leaving):
        text = taken_out(text, placed.edit, placed.kept)
    return None if touched.before is None and _is_bare(text, touched) else text


def _leaving(touched: Touched, gone: set[str], staying: Sequence[Placed]) -> list[Placed]:
    return [placed for placed in touched.placed if set(placed.clients) <= gone and placed not in staying]


def _undone(text: str, splices: tuple[Splice, ...]) -> str:
    for one in reversed(splices):
        text = text[: one.at] + one.removed + text[one.at + len(one.inserted) :]
    return text


def _is_bare(text: str, touched: Touched) -> bool:
    """True if a file we created has nothing from others."""
    if not text.strip() or not touched.skeleton:
        return text.strip() in ("", "{}")
    try:
        return bool(jsontext.value_of(text) in ({}, json.loads(json.dumps(touched.skeleton))))
    except InvalidFile:
        return False
