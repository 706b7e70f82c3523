"""The token that an HTTP client must send: from the settings, else created once and stored next to the store, for its owner only."""

import os
import secrets
from pathlib import Path

from holdfast.compose.settings import keep_out_of_git
from holdfast.model.errors import StoreError, StoreUnwritable
from holdfast.model.files import read_regular

FILE = "http-token"


def kept_token(folder: Path) -> str:
    """Return the token in a store's folder; the first time it is created."""
    path = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        keep_out_of_git(folder)
        _make(path)
        token = read_regular(path).decode().strip()
    except OSError as problem:
        raise StoreUnwritable(f"{path} cannot be used ({problem.strerror}).", hint="Or set http_token.") from problem
    if not token:
        raise StoreError(f"{path} holds no token.", hint="Remove that file; the next start makes another.")
    return token


def _make(path: Path) -> None:
    """Write a new token atomically and privately, unless one exists: another process may be starting too."""
    if path.exists():
        return
    fresh = path.with_name(f"{FILE}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass  # the other process was faster
    finally:
        fresh.unlink()
