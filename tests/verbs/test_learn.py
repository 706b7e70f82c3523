"""What a real repository's history teaches, once."""

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from holdfast.adapters.git import GitHistory
from holdfast.model.errors import Invalid
from holdfast.model.ports import Commit
from holdfast.policy.activity.commits import learnable
from holdfast.verbs.capture.learn import learn
from holdfast.verbs.memory import Memory, Report
from tests.conftest import ran
from tests.rows import examples, of_type, refused
from tests.verbs.scripts import Script, scripts_in


class Repository:
    """A real git repository in which a day passes with each commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir()
        self.git("init", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        own = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": f"2026-03-{1 + self.day:02d}T12:00:00Z"}
        env = os.environ | {f"GIT_{role}_{part}": own[part] for role in ("AUTHOR", "COMMITTER") for part in own}
        return ran(["git", *arguments], self.folder, env=env, check=True).stdout.strip()

    def commit(self, message: str, *files: str, days: int = 1) -> str:
        self.day += days
        for name in files or ("other.txt",):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text() if path.exists() else ''}{message}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


repository = pytest.fixture(lambda tmp_path: Repository(tmp_path / "repo"))


def of(script: Script) -> Repository:
    return of_type(Repository, script.request.getfixturevalue("repository"))


def committed(script: Script, message: str, files: Sequence[str] = ()) -> str:
    return of(script).commit(message, *files)


def learned(script: Script, message: str = "", files: Sequence[str] = (), **given: Any) -> Report:
    """Learn, after a commit if there is a message."""
    if message:
        committed(script, message, files)
    return learn(script.memory, GitHistory(of(script).folder), **given)


def a_day_later(script: Script, words: Sequence[str]) -> str:
    of(script).day += 1
    return of(script).git(*words)


scripts_in(
    globals(),
    learn=learned,
    commit=committed,
    git=a_day_later,
    learned_up_to=lambda memory: memory.store.setting(f"learned {memory.project}"),
)


@examples  # messages with their file, one a day; {0} is the hash of the first, and {-1} of the one before
def test_what_commits_teach(commits: list[str], titles: list[str]) -> None:
    made = list[Commit]()
    for day, (message, file) in enumerate((commit.rsplit("|", 1) for commit in commits), start=1):
        hashes = {name: made[place].hash[:12] for name, place in (("{0}", 0), ("{-1}", -1)) if made}
        for name, hash_ in hashes.items():
            message = message.replace(name, hash_)
        subject, _, body = message.partition("\n\n")
        hash_ = blake2b(f"{day} {message}".encode(), digest_size=20).hexdigest()
        at = f"2026-03-{day:02}T12:00:00.000Z"
        made.append(Commit(hash=hash_, author="Ada", at=at, subject=subject, body=body, files=(file,)))
    found = [
        draft.title + (f" / Why: {why.partition(chr(10))[0]}" if (why := draft.body.partition("Why: ")[2]) else "")
        for draft in learnable(made)
    ]
    assert found == [title.replace("{0}", made[0].hash[:12]) for title in titles]


def test_a_commit_with_an_impossible_time_zone_is_read(repository: Repository) -> None:
    first = repository.commit("Add a footer")
    raw = repository.git("cat-file", "commit", first).replace("+0000", "+51800") + "\n"
    command = ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    made = ran(command, repository.folder, input=raw, check=True)
    repository.git("update-ref", "refs/heads/main", made.stdout.strip())
    assert [commit.at[:10] for commit in GitHistory(repository.folder).commits()] == ["2026-03-02"]


def test_outside_a_repository_it_says_so(memory: Memory, tmp_path: Path) -> None:
    refused(Invalid, learn, memory, GitHistory(tmp_path), limit=0)
    refused(Invalid, learn, memory, GitHistory(tmp_path), says="no git repository")
