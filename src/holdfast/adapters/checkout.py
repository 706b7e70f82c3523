"""Read-only questions to git about the code a session works on."""

import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from holdfast.model.ids import parse_instant
from holdfast.model.record import Origin
from holdfast.model.scope import project_of_remote

GIT_SECONDS = 5.0
QUICK_SECONDS = 1.0  # for what is asked with every answer


class GitCheckout:
    """A folder, asked once for each answer; outside git the path is the identity."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asked_at: tuple[int, ...] = ()
        self._origin = Origin()

    def project(self) -> str:
        """Give host/owner/name of the remote, else the path of the main worktree or folder."""
        return self._remote or str(self._root)

    def origin(self) -> Origin:
        """Give branch, worktree (only when it is a linked one) and commit."""
        if not self._facts:
            return Origin()
        moved = self._head_moved_at()
        if not moved or moved != self._asked_at:
            self._asked_at, self._origin = moved, self._ask_origin(*self._facts)
        return self._origin

    def top(self) -> Path:
        """Give the top folder of this worktree; outside git the folder itself."""
        return self._facts[0] if self._facts else self._folder

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        """Give when each commit since an instant was made, of these paths or of all; None if nobody can tell."""
        narrowed = ["--", *paths] if paths else []
        said = self._try("log", "--format=%aI", f"--since={at}", "HEAD", *narrowed, seconds=QUICK_SECONDS)
        if said is None:
            return None
        return [made for line in said.splitlines() if (made := parse_instant(line)) > at]

    def _ask_origin(self, top: Path, common: Path) -> Origin:
        linked = common.name == ".git" and common.parent != top
        branch = self._ask("symbolic-ref", "--quiet", "--short", "HEAD")
        commit = self._ask("rev-parse", "--quiet", "--verify", "HEAD")
        return Origin(branch=branch, worktree=top.name if linked else "", commit=commit)

    def _head_moved_at(self) -> tuple[int, ...]:
        """Give when HEAD last moved, by git's own log of it; nothing if there is no such log."""
        try:
            return tuple((self._git_folder / name).stat().st_mtime_ns for name in ("HEAD", "logs/HEAD"))
        except OSError:
            return ()

    @cached_property
    def _facts(self) -> tuple[Path, Path] | None:
        """Give the top folder of this worktree and the git folder all worktrees share."""
        lines = self._ask("rev-parse", "--show-toplevel", "--git-common-dir").splitlines()
        if len(lines) != 2:
            return None
        top = Path(lines[0])
        return top, (self._folder / lines[1]).resolve()

    @cached_property
    def _git_folder(self) -> Path:
        return self._folder / self._ask("rev-parse", "--git-dir")

    @cached_property
    def _root(self) -> Path:
        if not self._facts:
            return self._folder.resolve()
        top, common = self._facts
        return common.parent if common.name == ".git" else top

    @cached_property
    def _remote(self) -> str | None:
        if not self._facts:
            return None
        lines = self._ask("config", "--get-regexp", r"^remote\..*\.url$").splitlines()
        urls = {name: url for name, _, url in (line.partition(" ") for line in lines)}
        chosen = urls.get("remote.origin.url") or next(iter(urls.values()), "")
        return project_of_remote(chosen)

    def _ask(self, *question: str) -> str:
        return self._try(*question) or ""  # no git here: the folder itself is the identity

    def _try(self, *question: str, seconds: float = GIT_SECONDS) -> str | None:
        """Give what git answers; None where it does not."""
        try:
            answer = subprocess.run(  # noqa: S603
                ["git", "-C", str(self._folder), *question],  # noqa: S607
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return answer.stdout.strip() if answer.returncode == 0 else None
