"""Where this user's stores are. Needs only a little of the standard library: hooks use it at every event."""

from __future__ import annotations

import json
import os
import sys

FOLDER = ".holdfast"  # of what a repository shares: settings and team memories
FILE = "holdfast.db"
_REGISTRY = "stores.json"
_OTHERS_MAY_WRITE = 0o022


def data_folder() -> str:
    """Return the platform's folder for the user's data: that of the usual store."""
    user = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", user), "holdfast")
    usual = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "share")
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(user, *usual), "holdfast")


def home_of(folder: str) -> str:
    """Return the folder of the store for a folder: the one the user made for it or for a folder around it, else the usual one.

    Only the user's own list counts: what lies in a checkout, a package or a shared folder may be someone else's. Raises
    PermissionError for a listed store that others can write, or that another user owns.
    """
    stores, around = listed_stores(), os.path.realpath(folder) if folder else ""
    while stores and around:
        if store := stores.get(around):
            check_own(store)
            return store
        parent = os.path.dirname(around)
        around = parent if parent != around else ""
    return data_folder()


def listed_stores() -> dict[str, str]:
    """Return the stores that the user made for folders, by folder."""
    try:
        with open(os.path.join(data_folder(), _REGISTRY), encoding="utf-8") as file:
            stores = json.load(file)
    except FileNotFoundError:
        return {}
    if not isinstance(stores, dict):
        raise ValueError(f"{file.name} is not a list of stores")  # noqa: TRY004  a damaged file, like any other
    return {str(folder): str(store) for folder, store in stores.items()}


def list_store(folder: str, store: str) -> None:
    """Use a store for a folder and everything in it from now on; with "" the usual one again."""
    stores = {**listed_stores(), os.path.realpath(folder): os.path.realpath(store) if store else ""}
    os.makedirs(data_folder(), 0o700, exist_ok=True)
    place = os.path.join(data_folder(), _REGISTRY)
    with open(
        os.open(f"{place}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        json.dump({name: value for name, value in stores.items() if value}, file, indent=1)
    os.replace(f"{place}.{os.getpid()}", place)


def check_own(store: str) -> None:
    """Raise PermissionError unless a store's folder and database belong to this user, and no one else may write them."""
    if sys.platform == "win32":
        return
    for path in (store, os.path.join(store, FILE)):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if found.st_uid != os.geteuid():
            raise PermissionError(f"{path} belongs to another user")
        if found.st_mode & _OTHERS_MAY_WRITE or found.st_mode & 0o170000 == 0o120000:  # a link
            raise PermissionError(f"other users may write {path}")
