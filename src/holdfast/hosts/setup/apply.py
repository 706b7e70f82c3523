"""Write edits into the files of clients and take exactly them out again: planned as values first, then applied.

What was written where is kept in the store's folder (the manifest). A removal is the inverse of what it lists.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from holdfast.hosts.setup import edits, jsontext
from holdfast.hosts.setup.clients import Choices, Wanted
from holdfast.hosts.setup.machine import check_writable, mark_of, missing_folders, remove_file, replace_file, text_of
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

    def clients(self) -> set[str]:
        """Return the clients that were set up."""
        return {name for touched in self.files.values() for placed in touched.placed for name in placed.clients}


class LeftAlone(NamedTuple):
    """Something that was not done, why, and what to insert by hand."""

    path: Path
    why: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The text of a file before and after; None: no file. `touched` is its entry in the manifest."""

    path: Path
    before: str | None = None
    after: str | None = None
    touched: Touched | None
    entries: tuple[Change, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    again: "Callable[[Manifest], Planned]" = field(repr=False, compare=False)  # plans the same for what is there now

    @property
    def changes(self) -> bool:
        """True if the file will change."""
        return self.before != self.after


# From the text of a file and its entry in the manifest: both after a change, what is done, and what is left alone and why.
Worked = tuple[str | None, Touched | None, Iterable[Change], Iterable[LeftAlone]]
Work = Callable[[str | None, Touched | None], Worked]


def planned(wants: Iterable[Wanted], choices: Choices, manifest: Manifest, project: Path) -> list[Planned]:
    """Return the plan for what clients need, file by file."""

    def insertions(wants: Iterable[Wanted]) -> list[Planned]:
        needs: dict[Path, list[Wanted]] = {}
        for want in wants:
            needs.setdefault(want.path, []).append(want)
        return [
            _plan(path, partial(_with_edits, path, own), own[0].within, snippet(one.edit for one in own), manifest)
            for path, own in needs.items()
        ]

    plan = insertions(wants)
    if choices.gitignore and choices.level == "project":  # new files with paths of this machine
        made = [(one.path, one.touched.placed) for one in plan if one.touched and one.touched.before is None]
        new = [path for path, placed in made if any(not isinstance(each.edit, edits.Block) for each in placed)]
        lines = sorted("/" + path.relative_to(project).as_posix() for path in new if path.is_relative_to(project))
        ignoring = edits.Block(value="\n".join(lines), form="shell", noun="ignore list")
        ignored: dict[str, Any] = {"path": project / ".gitignore", "edit": ignoring, "within": project}
        plan += insertions(Wanted(client=one.name, **ignored) for one in choices.clients if lines)
    return plan


def removals(manifest: Manifest, leaving: Iterable[str], *, only_hooks: bool = False) -> list[Planned]:
    """Return the plan for removing clients or their hooks, file by file, the last touched first."""
    gone = set(leaving)

    def leaves(placed: Placed) -> bool:
        return bool(gone & set(placed.clients)) and (placed.edit.noun in ("hook", "plugin") or not only_hooks)

    return [
        _plan(Path(path), partial(_without_edits, gone, leaves), None, "", manifest)
        for path, touched in reversed(list(manifest.files.items()))
        if any(map(leaves, touched.placed))
    ]


def apply(plan: Iterable[Planned], manifest: Manifest, store: Path, *, private: bool = True) -> Manifest:
    """Apply a plan. Each file is read again: a client may have written it in the meantime.

    The manifest is written before what is inserted and after what is removed: an entry without its edit does no harm.
    """
    for one in plan:
        fresh, was = one.again(manifest), manifest.files.get(str(one.path))
        others = {name: touched for name, touched in manifest.files.items() if name != str(one.path)}
        manifest = replace(manifest, files=others | ({str(one.path): fresh.touched} if fresh.touched else {}))
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
    pieces = {"json": "", "toml": ""}
    for edit in wanted:
        match edit:
            case edits.Entry(form=form) | edits.Element(form=form):
                pieces[form] = edits.placing(pieces[form], edit)[1]()
            case edits.Block(form=form, value=text) | edits.Whole(form=form, value=text):
                pieces[form] = text
            case edits.Removed(noun=noun):
                pieces[noun] = f"Remove the {noun}."
    return "\n\n".join(piece.rstrip("\n") for piece in pieces.values() if piece)


def _plan(path: Path, work: Work, within: Path | None, by_hand: str, manifest: Manifest) -> Planned:
    """Return the plan for a file by what `work` does to it; one that cannot be parsed or written is left alone."""
    was, again = manifest.files.get(str(path)), partial(_plan, path, work, within, by_hand)
    try:
        before = text_of(path)
        after, touched, entries, left = work(before, was)
        if before != after:
            check_writable(path, within)
    except InvalidFile as problem:
        alone = LeftAlone(path, problem.message, by_hand)
        return Planned(path=path, touched=was, left_alone=(alone,), again=again)
    done: dict[str, Any] = {"entries": tuple(entries), "left_alone": tuple(left)}
    return Planned(path=path, before=before, after=after, touched=touched, again=again, **done)


def _with_edits(path: Path, needs: list[Wanted], before: str | None, was: Touched | None) -> Worked:
    """Insert what clients need into a file."""
    text, splices, left, entries = before or "", list[tuple[int, str, str]](), list[LeftAlone](), list[Change]()
    skeleton = next((need.skeleton for need in needs if need.skeleton), {})
    if was is None:
        folders = tuple(map(str, missing_folders(path)))
        mark = mark_of(text)
        was = Touched(before=None if before is None else mark, after=mark, folders=folders, skeleton=skeleton)
    placed = {_place(one.edit): one for one in was.placed}
    if skeleton and not text.strip():
        text, old = text + json.dumps(skeleton, indent=2) + "\n", text
        splices.append(_splice(old, text))
    for client, edit in ((need.client, need.edit) for need in needs):
        known = placed.get(_place(edit))
        clients = tuple(dict.fromkeys((*(known.clients if known else ()), client)))
        found, put = edits.placing(text, edit)
        if found == "foreign":
            left.append(LeftAlone(path, "An entry of that name is there already.", snippet([edit])))
        elif found == "held":
            placed |= {_place(edit): replace(known, clients=clients)} if known else {}
        else:
            kept = known.kept if known else edits.depth_of(text, edit)
            placed[_place(edit)] = Placed(edit=edit, clients=clients, kept=kept)
            text, old = put(), text
            splices.append(_splice(old, text))
            taken_back = isinstance(edit, edits.Removed) or (isinstance(edit, edits.Approval) and not edit.given)
            how: How = "removed" if taken_back else "added" if found == "missing" else "updated"
            entries.append((client, how, edit.noun))
    after = text if splices else before
    unbroken = was.splices is not None and mark_of(before or "") == was.after
    touched = replace(was, placed=tuple(placed.values()))
    if splices or unbroken:
        chain = (*(was.splices or ()), *splices) if unbroken else None
        touched = replace(touched, after=mark_of(after or ""), splices=chain)
    return after, touched if placed else None, entries, left


def _without_edits(gone: set[str], leaves: Callable[[Placed], bool], text: str | None, touched: Any) -> Worked:
    """Take the edits of clients out of a file that was touched; nothing is left of one that was ours."""
    leaving = [placed for placed in touched.placed if leaves(placed) and set(placed.clients) <= gone]
    stays = tuple(
        replace(placed, clients=tuple(name for name in placed.clients if name not in gone or not leaves(placed)))
        for placed in touched.placed
        if placed not in leaving
    )
    if text is not None and mark_of(text) != touched.before:
        text = _without(text, touched, leaving, whole=not stays)
    rest = replace(touched, placed=stays, after=mark_of(text or ""), splices=None) if stays else None
    entries: list[Change] = [
        (name, "put back" if isinstance(one.edit, edits.Removed) else "removed", one.edit.noun)
        for one in leaving
        if not isinstance(one.edit, edits.Approval) or one.edit.given
        for name in one.clients
    ]
    return text, rest, entries, ()


def _without(text: str, touched: Touched, leaving: list[Placed], *, whole: bool) -> str | None:
    """Return a changed file without edits: restored byte by byte if only we changed it, else edit by edit."""
    if whole and touched.splices is not None and mark_of(text) == touched.after:
        for at, removed, inserted in reversed(touched.splices):
            text = text[:at] + removed + text[at + len(inserted) :]
        return text if touched.before is not None or text else None
    for placed in reversed(leaving):
        text = edits.taken_out(text, placed.edit, placed.kept)
    bare = text.strip() in ("", "{}")
    if not bare and touched.skeleton:
        with suppress(InvalidFile):
            bare = jsontext.value_of(text) in ({}, dict(touched.skeleton))
    return None if touched.before is None and bare else text


def _place(edit: edits.Edit) -> tuple[object, ...]:
    """Return the identity of an edit, whatever its value; of what another system had there may be several at one place."""
    several = json.dumps(edit.value) if isinstance(edit, edits.Removed) else ""
    return (type(edit), edit.path, edit.form, several)


def _splice(before: str, after: str) -> tuple[int, str, str]:
    """Return the one replacement that turns a text into another."""
    at = len(os.path.commonprefix((before, after)))  # noqa: RUF071  of texts, by character
    rest = len(os.path.commonprefix((before[at:][::-1], after[at:][::-1])))  # noqa: RUF071
    return at, before[at : len(before) - rest], after[at : len(after) - rest]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest in a store's folder; without one it is empty."""

    def touched_of(given: dict[str, Any]) -> Touched:
        placed = list[Placed]()
        for one in given["placed"]:
            parts = {**one, "path": tuple(one["path"])}
            kind, clients, kept = (parts.pop(name) for name in ("kind", "clients", "kept"))
            if kind == "element" and isinstance(one["value"], str):  # as earlier versions noted a rule
                kind, parts = "approval", {**parts, "form": "rule"}
            placed.append(Placed(edit=edits.KINDS[kind](**parts), clients=tuple(clients), kept=kept))
        splices = None if given["splices"] is None else tuple(map(tuple, given["splices"]))
        return Touched(**{**given, "folders": tuple(given["folders"]), "splices": splices, "placed": tuple(placed)})

    path = folder / FILE
    try:
        text = text_of(path)
        given: Any = parse_json(text) if text else {"version": VERSION, "files": {}, "surfaces": {}, "folders": ()}
        given = given if given["version"] == VERSION else {}  # of another version nothing is understood
        return Manifest(
            files={name: touched_of(one) for name, one in given["files"].items()},
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
        manifest = replace(manifest, folders=tuple(map(str, missing_folders(path))))
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
