"""Write the wanted edits into the files of clients: planned as values first, then applied."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from holdfast.hosts.setup import tomltext
from holdfast.hosts.setup.edits import (
    Approval,
    Block,
    Edit,
    Element,
    Member,
    Table,
    Whole,
    depth_of,
    noun_of,
    put,
    standing,
)
from holdfast.hosts.setup.files import check_writable, mark_of, missing_folders, replace_file, text_of
from holdfast.hosts.setup.manifest import Manifest, Placed, Splice, Touched, write_manifest
from holdfast.hosts.setup.plan import Choices, Wanted
from holdfast.model.errors import InvalidFile

How = Literal["added", "updated", "removed"]
Change = tuple[str, How, str]  # the client, and what is done to what
LONGEST_LINE = 200  # characters of a line in a diff: some files are one line


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """Something that was not done, why, and what to insert by hand."""

    path: Path
    why: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The text of a file before and after; None: no file. `touched` is its entry in the manifest."""

    path: Path
    before: str | None
    after: str | None
    touched: Touched | None
    entries: tuple[Change, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()

    @property
    def changes(self) -> bool:
        """True if the file will change."""
        return self.before != self.after


def planned(wants: Iterable[Wanted], choices: Choices, manifest: Manifest, project: Path) -> list[Planned]:
    """Return the plan, file by file."""
    plan = [plan_file(path, needs, manifest) for path, needs in by_file(wants).items()]
    if choices.gitignore and choices.level == "project" and (needs := _ignored(plan, choices, project)):
        plan.append(plan_file(needs[0].path, needs, manifest))
    return plan


def by_file(wants: Iterable[Wanted]) -> dict[Path, list[Wanted]]:
    """Return the needs of each file, in order."""
    needs: dict[Path, list[Wanted]] = {}
    for want in wants:
        needs.setdefault(want.path, []).append(want)
    return needs


def plan_file(path: Path, needs: list[Wanted], manifest: Manifest) -> Planned:
    """Return the plan for one file; one that cannot be parsed or written is left alone."""
    was = manifest.files.get(str(path))
    try:
        before = text_of(path)
        plan = _with_edits(path, before, needs, was)
        if plan.changes:
            check_writable(path, needs[0].within)
    except InvalidFile as problem:
        edits = [edit for need in needs for edit in need.edits]
        left = LeftAlone(path=path, why=problem.message, snippet=snippet(edits))
        return Planned(path=path, before=None, after=None, touched=was, left_alone=(left,))
    return plan


def carry_out(
    plan: Iterable[Planned], wants: Iterable[Wanted], manifest: Manifest, store: Path, *, private: bool
) -> Manifest:
    """Apply the plan. Each file is read again: a client may have written it in the meantime.

    The manifest is written before the file: what is noted but not there does no harm.
    """
    needs = by_file(wants)
    for one in plan:
        fresh = plan_file(one.path, needs[one.path], manifest) if one.path in needs else one
        manifest = write_manifest(store, manifest.with_file(one.path, fresh.touched))
        if fresh.changes and fresh.after is not None:
            replace_file(one.path, fresh.after, private=private)
    return manifest


def diff_of(one: Planned) -> str:
    """Return the change of a file as a unified diff with little context: such files contain secrets too."""
    before, after = ((text or "").splitlines(keepends=True) for text in (one.before, one.after))
    old, new = (str(one.path) if text is not None else os.devnull for text in (one.before, one.after))
    return "".join(_cut(line) for line in unified_diff(before, after, old, new, n=1))


def snippet(edits: Iterable[Edit]) -> str:
    """Return edits as a user would insert them by hand, without approvals."""
    pieces: list[str] = []
    joined: dict[str, Any] = {}
    for edit in edits:
        match edit:
            case Member(path=path, value=value):
                _deep(joined, path, value)
            case Element(path=path, value=value):
                _deep(joined, path, [value])
            case Table(path=path, value=value):
                pieces.append(tomltext.table_text(path, value).rstrip("\n"))
            case Block(text=text) | Whole(text=text):
                pieces.append(text.rstrip("\n"))
    return "\n\n".join([*([json.dumps(joined, indent=2, ensure_ascii=False)] if joined else []), *pieces])


def _with_edits(path: Path, before: str | None, needs: list[Wanted], was: Touched | None) -> Planned:
    text, splices, left, entries = before or "", list[Splice](), list[LeftAlone](), list[Change]()
    skeleton = next((need.skeleton for need in needs if need.skeleton), {})
    placed = {_place(one.edit): one for one in (was.placed if was else ())}
    if skeleton and not text.strip():
        text, old = text + json.dumps(skeleton, indent=2) + "\n", text
        splices.append(_splice(old, text))
    for need, edit in _each(needs):
        match standing(text, edit):
            case "foreign":
                left.append(
                    LeftAlone(path=path, why="An entry of that name is there already.", snippet=snippet([edit]))
                )
            case "held":
                if known := placed.get(_place(edit)):
                    placed[_place(edit)] = replace(known, clients=_both(known.clients, need.client))
            case found:
                known = placed.get(_place(edit))
                kept = known.kept if known else depth_of(text, edit)
                clients = _both(known.clients if known else (), need.client)
                placed[_place(edit)] = Placed(edit=edit, clients=clients, kept=kept)
                text, old = put(text, edit), text
                splices.append(_splice(old, text))
                taken_back = isinstance(edit, Approval) and not edit.given
                how: How = "removed" if taken_back else "added" if found == "missing" else "updated"
                entries.append((need.client, how, noun_of(edit)))
    after = text if splices else before
    touched = _account(path, before, after, splices, was, skeleton, tuple(placed.values())) if placed else None
    return Planned(
        path=path, before=before, after=after, touched=touched, entries=tuple(entries), left_alone=tuple(left)
    )


def _account(
    path: Path,
    before: str | None,
    after: str | None,
    splices: list[Splice],
    was: Touched | None,
    skeleton: dict[str, Any],
    placed: tuple[Placed, ...],
) -> Touched:
    """Return everything that was done to a file since it was first touched."""
    after_mark = mark_of(after or "")
    if was is None:
        return Touched(
            before=None if before is None else mark_of(before),
            after=after_mark,
            folders=tuple(str(folder) for folder in missing_folders(path)),
            skeleton=skeleton,
            splices=tuple(splices),
            placed=placed,
        )
    unbroken = was.splices is not None and before is not None and mark_of(before) == was.after
    chain = (*(was.splices or ()), *splices) if unbroken else None
    if not splices and not unbroken:
        return replace(was, placed=placed)
    return replace(was, after=after_mark, splices=chain, placed=placed)


def _ignored(plan: list[Planned], choices: Choices, project: Path) -> list[Wanted]:
    """Return the lines that keep new files with paths of this machine out of the repository."""
    made = [one.path for one in plan if one.touched and one.touched.before is None and _names_paths(one.touched)]
    lines = sorted("/" + path.relative_to(project).as_posix() for path in made if path.is_relative_to(project))
    edits = (Block(text="\n".join(lines), marks="shell"),)
    names = [client.name for client in choices.clients] if lines else []
    return [Wanted(client=name, path=project / ".gitignore", edits=edits, within=project) for name in names]


def _names_paths(touched: Touched) -> bool:
    return any(not isinstance(placed.edit, Block) for placed in touched.placed)


def _each(needs: list[Wanted]) -> Iterator[tuple[Wanted, Edit]]:
    for need in needs:
        for edit in need.edits:
            yield need, edit


def _place(edit: Edit) -> tuple[object, ...]:
    """Return the identity of an edit, whatever its value."""
    match edit:
        case Member(path=path) | Table(path=path) | Element(path=path) | Approval(path=path):
            return (type(edit), path)
        case Block(marks=marks):
            return (Block, marks)
    return (Whole,)


def _both(clients: tuple[str, ...], client: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*clients, client)))


def _splice(before: str, after: str) -> Splice:
    """Return the one replacement that turns a text into another."""
    at = _shared(before, after)
    rest = _shared(before[at:][::-1], after[at:][::-1])
    return Splice(at=at, removed=before[at : len(before) - rest], inserted=after[at : len(after) - rest])


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _deep(value: dict[str, Any], path: tuple[str, ...], item: Any) -> None:
    for step in path[:-1]:
        value = value.setdefault(step, {})
    value[path[-1]] = [*value.get(path[-1], []), *item] if isinstance(item, list) else item


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…\n"
