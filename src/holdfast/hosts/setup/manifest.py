"""What `init` wrote where, recorded so that `uninstall` removes exactly that."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.hosts.setup.edits import Approval, Block, Edit, Element, Member, Table, Whole
from holdfast.hosts.setup.files import missing_folders, remove_file, replace_file, text_of
from holdfast.model.errors import InvalidFile, StoreError
from holdfast.model.foreign_json import parse_json

FILE = "setup.json"
VERSION = 1
KINDS = {kind.__name__.lower(): kind for kind in (Member, Element, Table, Approval, Block, Whole)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """One replacement in a text: the text before and after at one position."""

    at: int
    removed: str
    inserted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One edit, the clients that need it, and how many steps of its path existed before."""

    edit: Edit
    clients: tuple[str, ...]
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What was done to one file. Without splices others changed it in between: edits are removed one by one."""

    before: str | None  # the hash; None: there was no file
    after: str
    folders: tuple[str, ...] = ()
    skeleton: Mapping[str, Any] = field(default_factory=dict)
    splices: tuple[Splice, ...] | None = ()
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


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest in a store's folder; without one it is empty."""
    path = folder / FILE
    try:
        text = text_of(path)
        return _manifest(parse_json(text)) if text else Manifest()
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
    written = {
        "version": VERSION,
        "folders": manifest.folders,
        "surfaces": {name: list(names) for name, names in manifest.surfaces.items()},
        "files": {path: _touched_to_json(touched) for path, touched in manifest.files.items()},
    }
    replace_file(path, json.dumps(written, indent=1, ensure_ascii=False) + "\n", private=True)
    return manifest


def _touched_to_json(touched: Touched) -> dict[str, Any]:
    names = {kind: name for name, kind in KINDS.items()}
    placed = [
        {"kind": names[type(one.edit)], **asdict(one.edit), "clients": one.clients, "kept": one.kept}
        for one in touched.placed
    ]
    splices = None if touched.splices is None else [[one.at, one.removed, one.inserted] for one in touched.splices]
    return {
        "before": touched.before,
        "after": touched.after,
        "folders": touched.folders,
        "skeleton": touched.skeleton,
        "splices": splices,
        "placed": placed,
    }


def _manifest(given: dict[str, Any]) -> Manifest:
    if given["version"] != VERSION:
        raise ValueError(given["version"])
    return Manifest(
        files={path: _touched(one) for path, one in given["files"].items()},
        surfaces={name: tuple(names) for name, names in given["surfaces"].items()},
        folders=tuple(given["folders"]),
    )


def _touched(given: dict[str, Any]) -> Touched:
    splices = given["splices"]
    return Touched(
        before=given["before"],
        after=given["after"],
        folders=tuple(given["folders"]),
        skeleton=given["skeleton"],
        splices=None if splices is None else tuple(Splice(at=a, removed=r, inserted=i) for a, r, i in splices),
        placed=tuple(_placed(one) for one in given["placed"]),
    )


def _placed(given: dict[str, Any]) -> Placed:
    parts = {name: value for name, value in given.items() if name not in ("kind", "clients", "kept")}
    if "path" in parts:
        parts["path"] = tuple(parts["path"])
    is_rule = given["kind"] == "element" and isinstance(parts["value"], str)  # as earlier versions noted it
    edit: Edit = Approval(**parts, form="rule") if is_rule else KINDS[given["kind"]](**parts)
    return Placed(edit=edit, clients=tuple(given["clients"]), kept=given["kept"])
