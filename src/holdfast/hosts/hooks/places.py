"""Paths shared by hooks and the worker that prepares their answers. Reads no settings, which would take longer than everything else."""

from __future__ import annotations

import json
import os

from holdfast.model import files
from holdfast.model.files import LARGEST, digest, read_regular

MYPY = False
if MYPY:
    from collections.abc import Mapping  # noqa: TC003
    from typing import Any

LARGEST_SETTINGS = 1_000_000  # bytes of git's settings that are read
# Settings of the shell that a session runs in: stored with its activity, and valid for its folder alone.
OF_A_SESSION = (
    "project preset inject brief_budget starters hot_capacity prompt_hints guard_secrets block_actions confirm_writes allowed_scopes"
).split()

# Variables of other systems that name the folder of their store, or a file in it; `model/config.py` has them all.
FOREIGN_HOMES = {"gitmem": "GITMEM_DIR", "memory-mcp": "MEMORY_MCP_DB_PATH", "bettermemory": "BETTERMEMORY_DIR"}


def session_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a session from HOLDFAST_* variables, by name."""
    values = {name: environment.get(f"HOLDFAST_{name.upper()}") for name in OF_A_SESSION}
    return {name: value for name, value in values.items() if value is not None}


def home_of(cwd: str, preset: str = "") -> str:
    """Return the folder of the store without reading settings; with the preset of another system, its variable counts too."""
    if named := os.environ.get("HOLDFAST_HOME"):
        return os.path.expanduser(named)
    if named := os.environ.get(FOREIGN_HOMES.get(preset, ""), "").strip():
        return os.path.expanduser(os.path.dirname(named) if named.endswith(".db") else named)
    return files.home_of(cwd)


def prepared_file(home: str, root: str, project: str = "") -> str:
    """Return the file with the prepared answers for a checkout, and for a project if a variable names one.

    Worktrees have separate files. The name is a digest, so that no two folders share a file.
    """
    return os.path.join(home, "prepared", f"{digest(f'{root}/{chr(0)}{project}')}.json")


def read_prepared(home: str, root: str, project: str = "") -> dict[str, Any]:
    """Return the prepared answers for a checkout; empty if there are none, or another folder's are in the file."""
    try:
        prepared = json.loads(read_regular(prepared_file(home, root, project)))
    except (OSError, ValueError, RecursionError):
        return {}
    return prepared if isinstance(prepared, dict) and prepared.get("path") == root else {}


def remotes_of(root: str) -> str:
    """Return a digest of the remotes that git's settings name for a checkout; "" outside git.

    Another repository may replace the first at the same path: answers prepared for the first are not for the second.
    """
    text = text_in(os.path.join(_git_folders(root)[1], "config"), LARGEST_SETTINGS)
    lines = (line.strip() for line in text.splitlines() if "remote" in line or "url" in line.lower())
    return digest("\n".join(lines)) if text else ""


def branch_of(root: str) -> str:
    """Return the branch that is checked out; "" outside git and on a detached head."""
    head = text_in(os.path.join(_git_folders(root)[0], "HEAD"), LARGEST_SETTINGS)
    return head.partition("ref: refs/heads/")[2].strip()


def head_files(root: str) -> list[str]:
    """Return the files of git that change when another commit or branch is checked out; outside git there are none."""
    git, common = _git_folders(root)
    own = [os.path.join(git, name) for name in ("HEAD", "logs/HEAD")]
    return own + [os.path.join(common, name) for name in (f"refs/heads/{branch_of(root)}", "packed-refs")]


def _git_folders(root: str) -> tuple[str, str]:
    """Return the folder of git's files about a checkout, which a file names for a linked worktree or a submodule, and the shared one."""
    git = os.path.join(root, ".git")
    if linked := text_in(git, LARGEST_SETTINGS):
        git = os.path.join(root, linked.partition("gitdir:")[2].strip())
    return git, os.path.join(git, text_in(os.path.join(git, "commondir"), LARGEST_SETTINGS).strip())


def text_in(path: str, most: int = LARGEST) -> str:
    """Return the text of a file; "" if it cannot be read."""
    try:
        return read_regular(path, most).decode(errors="replace")
    except OSError:
        return ""


def checkout_root(cwd: str) -> str:
    """Return the root folder of the checkout, or the folder itself outside git."""
    folder = start = os.path.realpath(cwd)
    while os.path.dirname(folder) != folder:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return start


def handover_file(home: str, session: str) -> str:
    """Return the file in which a session keeps its state across a compaction."""
    return os.path.join(home, "prepared", f"handover-{plain_name(session)}.txt")


def plain_name(session: str) -> str:
    """Return a session's id as a file name; two sessions never share one."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in session)[:60]
    return session if session and plain == session else f"{plain}-{digest(session)[:12]}"
