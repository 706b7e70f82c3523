"""Write edits into the files of clients and take exactly them out again: planned as values first, then applied.

What was written where is kept in the store's folder (the manifest). A removal is the inverse of what it lists.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any, Literal

from holdfast.hosts.setup import edits, jsontext, tomltext
from holdfast.hosts.setup.files import check_writable, mark_of, missing_folders, remove_file, replace_file, text_of
from holdfast.hosts.setup.plan import Choices, Wanted
from holdfast.model.errors import InvalidFile, StoreError
from holdfast.model.foreign_json import parse_json

FILE, VERSION = "setup.json", 1
How = Literal["added", "updated", "removed", "put back"]
Change = tuple[str, How, str]  # the client, and what is done to what
LONGEST_LINE = 200  # characters of a line in a diff: some files are one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One edit, the clients that need it, and how many steps of its path existed before."""

    edit: edits.Edit
    clients: tuple[str, ...]
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What was done to one file. Without splices others changed it in between: edits are removed one by one."""

    before: str | None  # the hash; None: there was no file
    after: str
    folders: tuple[str, ...] = ()
    skeleton: Mapping[str, Any] = field(default_factory=dict)
    splices: tuple[tuple[int, str, str], ...] | None = ()  # each a position, the text removed and the one inserted
    placed: tuple[Placed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Every file that was touched, the surfaces of each client, and the folders created for the manifest itself."""

    files: Mapping[str, Touched] = field(default_factory=dict)
    surfaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    def with_file(self, path: Path, touched: Touched | None) -> "Manifest":
        """Return the manifest with a new entry for one file, or without it."""
        others = {name: one for name, one in self.files.items() if name != str(path)}
        return replace(self, files=others | ({str(path): touched} if touched else {}))

    def clients(self) -> set[str]:
        """Return the clients that were set up."""
        return {name for touched in self.files.values() for placed in touched.placed for name in placed.clients}


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
    again: "Callable[[Manifest], Planned]" = field(repr=False, compare=False)  # plans the same for what is there now

    @property
    def changes(self) -> bool:
        """True if the file will change."""
        return self.before != self.after


def planned(wants: Iterable[Wanted], choices: Choices, manifest: Manifest, project: Path) -> list[Planned]:
    """Return the plan for what clients need, file by file."""
    needs: dict[Path, list[Wanted]] = {}
    for want in wants:
        needs.setdefault(want.path, []).append(want)
    plan = [_insertion(path, wanted, manifest) for path, wanted in needs.items()]
    if choices.gitignore and choices.level == "project":  # new files with paths of this machine
        made = [(one.path, one.touched.placed) for one in plan if one.touched and one.touched.before is None]
        new = [path for path, placed in made if any(not isinstance(each.edit, edits.Block) for each in placed)]
        lines = sorted("/" + path.relative_to(project).as_posix() for path in new if path.is_relative_to(project))
        ignoring, file = (edits.Block(text="\n".join(lines), marks="shell"),), project / ".gitignore"
        ignored = [Wanted(client=one.name, path=file, edits=ignoring, within=project) for one in choices.clients]
        plan += [_insertion(file, ignored, manifest)] if lines and ignored else []
    return plan


def removals(manifest: Manifest, leaving: Iterable[str], *, only_hooks: bool = False) -> list[Planned]:
    """Return the plan for removing clients or their hooks, file by file, the last touched first."""
    gone = set(leaving)
    return [
        _removal(Path(path), gone, manifest, only_hooks=only_hooks)
        for path, touched in reversed(list(manifest.files.items()))
        if any(gone & set(placed.clients) and (_is_hook(placed) or not only_hooks) for placed in touched.placed)
    ]


def apply(plan: Iterable[Planned], manifest: Manifest, store: Path, *, private: bool = True) -> Manifest:
    """Apply a plan. Each file is read again: a client may have written it in the meantime.

    The manifest is written before what is inserted and after what is removed: an entry without its edit does no harm.
    """
    for one in plan:
        fresh, was = one.again(manifest), manifest.files.get(str(one.path))
        manifest = manifest.with_file(one.path, fresh.touched)
        grows = fresh.touched is not None and len(fresh.touched.placed) >= len(was.placed if was else ())
        if grows:
            manifest = write_manifest(store, manifest)
        if fresh.changes and fresh.after is None:
            remove_file(one.path, [Path(folder) for folder in (was.folders if was else ())])
        elif fresh.changes and fresh.after is not None:
            replace_file(one.path, fresh.after, private=private)
        if not grows:
            manifest = write_manifest(store, manifest)
    return manifest


def diff_of(one: Planned) -> str:
    """Return the change of a file as a unified diff with little context: such files contain secrets too."""
    before, after = ((text or "").splitlines(keepends=True) for text in (one.before, one.after))
    old, new = (str(one.path) if text is not None else os.devnull for text in (one.before, one.after))
    lines = unified_diff(before, after, old, new, n=1)
    return "".join(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…\n" for line in lines)


def snippet(wanted: Iterable[edits.Edit]) -> str:
    """Return edits as a user would insert them by hand, without approvals."""
    pieces, joined = list[str](), dict[str, Any]()
    for edit in wanted:
        match edit:
            case edits.Member(path=path, value=value) | edits.Element(path=path, value=value):
                inner = joined
                for step in path[:-1]:
                    inner = inner.setdefault(step, {})
                inner[path[-1]] = value if isinstance(edit, edits.Member) else [*inner.get(path[-1], []), value]
            case edits.Table(path=path, value=value):
                pieces.append(tomltext.table_text(path, value).rstrip("\n"))
            case edits.Block(text=text) | edits.Whole(text=text):
                pieces.append(text.rstrip("\n"))
            case edits.Removed(noun=noun):
                pieces.append(f"Remove the {noun}.")
    return "\n\n".join([*([json.dumps(joined, indent=2, ensure_ascii=False)] if joined else []), *pieces])


def _insertion(path: Path, needs: list[Wanted], manifest: Manifest) -> Planned:
    """Return the plan for inserting what clients need into a file; one that cannot be parsed or written is left alone."""
    was, again = manifest.files.get(str(path)), partial(_insertion, path, needs)
    try:
        plan = replace(_with_edits(path, text_of(path), needs, was), again=again)
        if plan.changes:
            check_writable(path, needs[0].within)
    except InvalidFile as problem:
        wanted = [edit for need in needs for edit in need.edits]
        left = LeftAlone(path=path, why=problem.message, snippet=snippet(wanted))
        return Planned(path=path, before=None, after=None, touched=was, left_alone=(left,), again=again)
    return plan


def _with_edits(path: Path, before: str | None, needs: list[Wanted], was: Touched | None) -> Planned:
    text, splices, left, entries = before or "", list[tuple[int, str, str]](), list[LeftAlone](), list[Change]()
    skeleton = next((need.skeleton for need in needs if need.skeleton), {})
    placed = {_place(one.edit): one for one in (was.placed if was else ())}
    if skeleton and not text.strip():
        text, old = text + json.dumps(skeleton, indent=2) + "\n", text
        splices.append(_splice(old, text))
    for client, edit in ((need.client, edit) for need in needs for edit in need.edits):
        known = placed.get(_place(edit))
        clients = tuple(dict.fromkeys((*(known.clients if known else ()), client)))
        match edits.standing(text, edit):
            case "foreign":
                why = "An entry of that name is there already."
                left.append(LeftAlone(path=path, why=why, snippet=snippet([edit])))
            case "held":
                if known:
                    placed[_place(edit)] = replace(known, clients=clients)
            case found:
                kept = known.kept if known else edits.depth_of(text, edit)
                placed[_place(edit)] = Placed(edit=edit, clients=clients, kept=kept)
                text, old = edits.put(text, edit), text
                splices.append(_splice(old, text))
                taken_back = isinstance(edit, edits.Removed) or (isinstance(edit, edits.Approval) and not edit.given)
                how: How = "removed" if taken_back else "added" if found == "missing" else "updated"
                entries.append((client, how, edits.noun_of(edit)))
    after = text if splices else before
    if not placed:
        touched = None
    elif was is None:
        touched = Touched(
            before=None if before is None else mark_of(before),
            after=mark_of(after or ""),
            folders=tuple(str(folder) for folder in missing_folders(path)),
            skeleton=skeleton,
            splices=tuple(splices),
            placed=tuple(placed.values()),
        )
    else:
        unbroken = was.splices is not None and before is not None and mark_of(before) == was.after
        chain = (*(was.splices or ()), *splices) if unbroken else None
        touched = replace(was, placed=tuple(placed.values()))
        touched = replace(touched, after=mark_of(after or ""), splices=chain) if splices or unbroken else touched
    return Planned(
        path=path,
        before=before,
        after=after,
        touched=touched,
        entries=tuple(entries),
        left_alone=tuple(left),
        again=lambda _: _with_edits(path, before, needs, was),
    )


def _removal(path: Path, gone: set[str], manifest: Manifest, *, only_hooks: bool) -> Planned:
    """Return the plan for one file without the edits of those clients."""
    touched, again = manifest.files[str(path)], partial(_removal, path, gone, only_hooks=only_hooks)
    staying = [placed for placed in touched.placed if only_hooks and not _is_hook(placed)]
    leaving = [placed for placed in touched.placed if set(placed.clients) <= gone and placed not in staying]
    stays = tuple(
        placed if placed in staying else replace(placed, clients=tuple(n for n in placed.clients if n not in gone))
        for placed in touched.placed
        if placed not in leaving
    )
    try:
        before = text_of(path)
        after = _without(before, touched, leaving)
        if before != after:
            check_writable(path)
    except InvalidFile as problem:
        left = LeftAlone(path=path, why=problem.message, snippet="")
        return Planned(path=path, before=None, after=None, touched=touched, left_alone=(left,), again=again)
    rest = replace(touched, placed=stays, after=mark_of(after or ""), splices=None) if stays else None
    there = [one for one in leaving if not isinstance(one.edit, edits.Approval) or one.edit.given]
    entries: list[Change] = [
        (name, "put back" if isinstance(one.edit, edits.Removed) else "removed", edits.noun_of(one.edit))
        for one in there
        for name in one.clients
    ]
    return Planned(path=path, before=before, after=after, touched=rest, entries=tuple(entries), again=again)


def _without(text: str | None, touched: Touched, leaving: list[Placed]) -> str | None:
    """Return a file's text without edits; None: nothing is left, and the file was ours."""
    if text is None or mark_of(text) == touched.before:
        return text
    if len(leaving) == len(touched.placed) and touched.splices is not None and mark_of(text) == touched.after:
        for at, removed, inserted in reversed(touched.splices):
            text = text[:at] + removed + text[at + len(inserted) :]
        return text if touched.before is not None or text else None
    for placed in reversed(leaving):
        text = edits.taken_out(text, placed.edit, placed.kept)
    bare = text.strip() in ("", "{}")
    if not bare and touched.skeleton:
        try:
            bare = jsontext.value_of(text) in ({}, dict(touched.skeleton))
        except InvalidFile:
            bare = False
    return None if touched.before is None and bare else text


def _is_hook(placed: Placed) -> bool:
    """True if an edit makes a client run our hooks."""
    return edits.noun_of(placed.edit) in ("hook", "plugin")


def _place(edit: edits.Edit) -> tuple[object, ...]:
    """Return the identity of an edit, whatever its value; of what another system had there may be several at one place."""
    several = json.dumps(edit.value) if isinstance(edit, edits.Removed) else ""
    return (type(edit), getattr(edit, "path", getattr(edit, "marks", "")), several)


def _splice(before: str, after: str) -> tuple[int, str, str]:
    """Return the one replacement that turns a text into another."""
    at = len(os.path.commonprefix((before, after)))  # noqa: RUF071  of texts, by character
    rest = len(os.path.commonprefix((before[at:][::-1], after[at:][::-1])))  # noqa: RUF071
    return at, before[at : len(before) - rest], after[at : len(after) - rest]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest in a store's folder; without one it is empty."""
    path = folder / FILE
    try:
        text = text_of(path)
        given: Any = parse_json(text) if text else {"version": VERSION, "files": {}, "surfaces": {}, "folders": ()}
        given = given if given["version"] == VERSION else {}  # of another version nothing is understood
        return Manifest(
            files={name: _touched(one) for name, one in given["files"].items()},
            surfaces={name: tuple(names) for name, names in given["surfaces"].items()},
            folders=tuple(given["folders"]),
        )
    except (InvalidFile, ValueError, KeyError, TypeError) as problem:
        hint = "Move that file away; what was set up is then taken out by hand."
        raise StoreError(f"{path} cannot be read.", hint=hint) from problem


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Write the manifest and return it; when nothing is set up any more, remove it."""
    path = folder / FILE
    if not manifest.files:
        remove_file(path, [Path(made) for made in manifest.folders])
        return Manifest()
    if not folder.exists():
        manifest = replace(manifest, folders=tuple(str(made) for made in missing_folders(path)))
        folder.mkdir(mode=0o700, parents=True)
    written: dict[str, Any] = {"version": VERSION, **asdict(manifest)}
    written["surfaces"] = {name: names for name, names in manifest.surfaces.items() if name in manifest.clients()}
    for name, touched in manifest.files.items():
        written["files"][name]["placed"] = [
            {"kind": type(one.edit).__name__.lower(), **asdict(one.edit), "clients": one.clients, "kept": one.kept}
            for one in touched.placed
        ]
    replace_file(path, json.dumps(written, indent=1, ensure_ascii=False) + "\n", private=True)
    return manifest


def _touched(given: dict[str, Any]) -> Touched:
    placed = list[Placed]()
    for one in given["placed"]:
        parts = {name: value for name, value in one.items() if name not in ("kind", "clients", "kept")}
        if "path" in parts:
            parts["path"] = tuple(parts["path"])
        is_rule = one["kind"] == "element" and isinstance(parts["value"], str)  # as earlier versions noted it
        edit: edits.Edit = edits.Approval(**parts, form="rule") if is_rule else edits.KINDS[one["kind"]](**parts)
        placed.append(Placed(edit=edit, clients=tuple(one["clients"]), kept=one["kept"]))
    splices = None if given["splices"] is None else tuple(map(tuple, given["splices"]))
    return Touched(**{**given, "folders": tuple(given["folders"]), "splices": splices, "placed": tuple(placed)})
