"""People at their machines: each with a store, a clock and a copy of the same replica, in real git and real files."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.adapters.git import Repository
from holdfast.adapters.replicas.git_notes import GitNotes
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.event import Actor
from holdfast.model.record import Record, record_to_json
from holdfast.policy.admission.sharing import OWN, Sharing, with_team
from holdfast.verbs.exchange.sync import Synced, sync, sync_afar
from holdfast.verbs.memory import Memory
from tests.conftest import Time, make_memory, ran

WHO = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
WHO |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
WHO |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}


def git(folder: Path, *command: str, given: str | None = None) -> str:
    """Run git and give what it prints."""
    return ran(["git", *command], folder, check=True, input=given, env={**os.environ, **WHO}).stdout.strip()


def commit(folder: Path, name: str = "a.txt", content: str = "") -> str:
    """Commit a file and give the commit."""
    (folder / name).write_text(content or f"{name} of {os.urandom(4).hex()}\n")
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", f"add {name}")
    return git(folder, "rev-parse", "HEAD")


def remote_with_commit(folder: Path) -> Path:
    """Give a bare repository that holds one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    bare, first = folder / "remote.git", folder / "first"
    git(folder, "init", "-q", "--bare", "-b", "main", str(bare))
    git(folder, "init", "-q", "-b", "main", str(first))
    commit(first)
    git(first, "push", "-q", str(bare), "main")
    return bare


@dataclass
class Seat:
    """One person: a memory, the replica as they have it, and how they sync."""

    memory: Memory
    replica: Any
    sharing: Sharing
    folder: Path
    time: Time
    remote: str = ""
    asked: list[str] = field(default_factory=list)

    def sync(self, **options: Any) -> Synced:
        """Bring this seat and the replica together; `agree` is an answer to every question."""
        answer = options.get("agree")

        def agreed(question: str) -> bool:
            self.asked.append(question)
            return bool(answer)

        if isinstance(answer, bool):
            options["agree"] = agreed
        if not self.remote:
            return self.sync_here(**options)
        return sync_afar(self.memory, self.replica, self.sharing, self.remote, **options)

    def sync_here(self, **options: Any) -> Synced:
        """Bring the store and the replica together without its remote."""
        return sync(self.memory, self.replica, self.sharing, **options)

    def records(self) -> dict[str, Record]:
        """Give every record there is, by id, erased ones too; each seat calls the project by its own name."""
        found = records.page(self.memory.store, Filter(states=()), limit=100_000)
        return {entry.record.id: replace(entry.record, project="") for entry in found}

    def note(self, space: str = "learnings", at: str = "HEAD") -> list[str]:
        """Give the lines of a note, as git shows them."""
        return git(self.folder, "notes", "--ref", f"holdfast/{space}", "show", at).splitlines()

    def file(self, name: str = "") -> Path:
        """Give a file of the replica, or the only one there is."""
        if name:
            return self.folder / name
        (found,) = self.folder.glob("*.md")
        return found

    def story(self) -> dict[str, Any]:
        """Give what the records say, for whole-value comparison."""
        return {key: record_to_json(record) for key, record in sorted(self.records().items())}


Seats = Callable[[str], Seat]


def synced(*seats: Seat) -> None:
    """Sync seats one after the other; one that comes again gets what those between sent."""
    for seat in seats:
        seat.sync()


@contextmanager
def seating(kind: str, folder: Path) -> Iterator[Seats]:
    """Give a function that seats people around one replica of a kind."""
    bare = remote_with_commit(folder) if kind == "notes" else None
    seated: list[Seat] = []

    def seat(name: str) -> Seat:
        made = _seat(kind, folder, name, bare)
        seated.append(made)
        return made

    yield seat
    for one in seated:
        one.memory.close()
        one.replica.close()


def in_checkout(seat: Seat, repo: Path) -> Seat:
    """Give somebody whose files lie in a real repository."""
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    commit(repo)
    seat.folder, states, implied = repo / ".holdfast" / "memories", seat.replica._states, seat.sharing.implied
    seat.replica = MarkdownFolder(seat.folder, states, name="repository", implied=implied, repository=Repository(repo))
    return seat


def _seat(kind: str, folder: Path, name: str, bare: Path | None) -> Seat:
    here, time = folder / name, Time()
    here.mkdir(exist_ok=True)
    actor = Actor(kind="user", name=name, session=f"{name}-1")
    # People who know each other: `test_quarantine.py` is about those who do not.
    memory = make_memory(here, time, actor=actor, config={"quarantine": "off"})
    states, shared, clone = here / "store" / "replicas", folder / "memories", here / "clone"
    if kind == "folder":
        return Seat(memory, MarkdownFolder(shared, states), OWN, shared, time)
    memory = memory.acting_on(f"example.org/{name}/shop")
    sharing = with_team(memory.project)
    if bare:
        git(folder, "clone", "-q", str(bare), str(clone))
        return Seat(memory, GitNotes(clone, states), sharing, clone, time, remote="origin")
    replica = MarkdownFolder(shared, states, name="repository", implied=sharing.implied)
    return Seat(memory, replica, sharing, shared, time)
