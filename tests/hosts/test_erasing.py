"""Erasing reaches every copy on this machine: looked for byte by byte in a store where everything is turned on."""

import json
import os
import shutil
import signal
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from holdfast.compose import worker_lock
from holdfast.engine.recovery.backup import look_at
from tests.conftest import new_folder
from tests.hosts.running import Run, answer, hooked, kept, killed_at, processes, runner, wait_for
from tests.replicas.seats import git, remote_with_commit
from tests.rows import sampled

TOKEN = "quokkazephyr"
TEXT = (
    f'Never run `make deploy` for the {TOKEN} gateway on a Friday, because "its" certificates rotate at noon\n'
    f"and the {TOKEN} pager is with a person who cannot restart it, as we learned the hard way in März."
)
ARGUMENTS = 'counter_arguments=["only once", "a rollback is easy"]'
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", ARGUMENTS)
pytestmark = pytest.mark.embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A store, two worktrees of one repository, and a backup somewhere else."""

    home: Path
    shop: Path
    other: Path
    elsewhere: Path
    run: Run

    @property
    def folders(self) -> tuple[Path, ...]:
        return self.home, self.shop, self.other, self.elsewhere

    def hook(self, event: str, folder: Path, **given: Any) -> str:
        with worker_lock(self.home):  # so that hooks start no worker of their own
            return json.dumps(hooked(self.home, folder, event, **{"session_id": "abc-1", **given}))

    def said_by_hooks(self) -> str:
        """Give everything hooks would print at the start, at a command and after a compaction, in both worktrees, to new sessions."""
        said = []
        beginnings = product((self.shop, self.other), ("startup", "compact"))
        for folder, source in sampled(beginnings, 3):  # the first and the last: each folder, each source
            session = f"new-{folder.name}-{source}-{os.urandom(3).hex()}"
            given: dict[str, Any] = {"source": source, "prompt": "What now?", "session_id": session}
            given |= {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}
            said += [self.hook(event, folder, **given) for event in ("SessionStart", "UserPromptSubmit", "PreToolUse")]
        said.append(self.hook("SessionStart", self.shop, session_id="abc-1", source="compact"))
        return "\n".join(said)

    def holding(self) -> set[str]:
        """Give the files that hold the token, names included, outside of git's own folders."""
        found = set()
        for folder in self.folders:
            for path in (path for path in folder.rglob("*") if path.is_file()):
                inside = path.relative_to(folder).parts
                raw = b"/".join(map(os.fsencode, inside)) + path.read_bytes()
                if ".git" not in inside and TOKEN.encode() in raw.lower():
                    found.add(str(path))
        return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, str]:
    """Turn everything on and let a memory go everywhere; give its id."""
    tmp_path = tmp_path_factory.mktemp("erasing")
    bare = remote_with_commit(tmp_path)
    shop, other, home = tmp_path / "shop", tmp_path / "other", tmp_path / "store"
    git(tmp_path, "clone", "-q", str(bare), str(shop))
    git(shop, "worktree", "add", "-q", "-b", "topic", str(other))
    run = runner(shop, tmp_path, HOLDFAST_HOME=str(home), HOLDFAST_STARTERS="false")
    stage = Stage(home=home, shop=shop, other=other, elsewhere=new_folder(tmp_path / "elsewhere"), run=run)
    record = kept(run, TEXT, *SCAR, "--team")
    kept(run, "Orders live in PostgreSQL, since the beginning of time.", "--kind", "decision", "--team")
    prompt = f"Please keep this in mind: {TEXT} And now fix the tests."
    stage.hook("SessionStart", stage.shop)
    stage.hook("UserPromptSubmit", stage.shop, prompt=prompt)
    given: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": TEXT}}
    stage.hook("PostToolUse", stage.shop, **given)
    stage.hook("Stop", stage.shop, last_assistant_message=f"I know: {TEXT} Done.")
    stage.hook("PreCompact", stage.shop)
    assert run("store", "recover", "--yes").returncode == 0
    for name in ("notes", "repository", "folder"):
        run("replica", "on", name)
    for folder, command in product((stage.shop, stage.other), ("sync --yes", "work", "sync --yes")):
        assert run(*command.split(), cwd=folder).returncode == 0
    transcript = stage.elsewhere.parent / "said.jsonl"
    transcript.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n")
    session = answer(run("session", "list", "--json"))[0]["id"]
    assert run("session", "transcript", "save", str(transcript), "--session", session).returncode == 0
    assert run("store", "backup").returncode == 0
    assert run("store", "backup", str(stage.elsewhere / "mine.db")).returncode == 0
    stage.hook("UserPromptSubmit", stage.other, session_id="waiting", prompt=prompt)
    (stage.home / "spool" / "1-broken.unreadable").write_text(json.dumps({"text": prompt})[:-9])
    (stage.home / "hooks.log").write_text(f"ValueError: {TEXT}\n")
    for folder in stage.folders:
        shutil.copytree(folder, folder.parent / "before" / folder.name, symlinks=True)
    return stage, record


@pytest.fixture
def full(filled: tuple[Stage, str]) -> tuple[Stage, str]:
    """Give the stage as it was when it was filled."""
    as_before(filled[0])
    return filled


def as_before(stage: Stage) -> None:
    wait_for(lambda: not processes(str(stage.home)))  # on a busy machine a hook does not wait for what it started
    for folder in stage.folders:
        shutil.rmtree(folder)
        shutil.copytree(folder.parent / "before" / folder.name, folder, symlinks=True)


def places(stage: Stage) -> set[str]:
    """Return where the text stands: a folder of the stage, and what in it."""
    names = {"store": stage.home, "shop": stage.shop, "other": stage.other}
    found = [(name, Path(file), root) for file in stage.holding() for name, root in names.items()]
    return {f"{name}/{file.relative_to(root).parts[0]}" for name, file, root in found if file.is_relative_to(root)}


def test_erasing_leaves_nothing_in_any_copy_and_hooks_say_nothing_of_it(full: tuple[Stage, str]) -> None:
    stage, record = full
    before = places(stage)
    assert {"store/prepared", "store/markdown", "store/replicas", "store/holdfast.db", "store/spool"} <= before
    assert {"store/backups", "store/hooks.log", "shop/.holdfast", "other/.holdfast"} <= before
    assert any(place.startswith("store/damaged-") for place in before)
    assert stage.said_by_hooks().count(TOKEN) >= 4

    done = answer(stage.run("forget", record, "--erase", "--yes", "--json"))
    assert TOKEN not in stage.said_by_hooks()
    listed = {one["path"] for one in done["backups"] if one["holds"]}
    assert stage.holding() == listed
    assert {Path(path).parent.name for path in listed} >= {"backups", "elsewhere"}
    assert done["status"] == "erased"
    assert {"prepared file", "entry of the trail", "transcript", "markdown file", "git note"} <= done["reached"].keys()
    assert any("commits of" in one for one in done["not_reached"])
    assert any("sync --rewrite" in one for one in done["not_reached"])

    stage.run("work", cwd=stage.other)
    stage.run("work")
    said = stage.said_by_hooks()
    assert (TOKEN in said, "Orders live in PostgreSQL" in said) == (False, True)
    assert answer(stage.run("check", "--json")) is not None

    again = answer(stage.run("forget", record, "--erase", "--yes", "--backups", "--json"))
    assert [one for one in again["backups"] if one["holds"]] == []
    assert stage.holding() == set()
    mine = stage.elsewhere / "mine.db"
    assert look_at(mine).events > 0
    assert stage.run("store", "restore", str(mine), "--yes").returncode == 0
    bodies = {one["body"] for one in answer(stage.run("list", "--json"))["records"]}
    assert "Orders live in PostgreSQL, since the beginning of time." in bodies
    assert stage.run("show", record).returncode != 0


def test_an_erasure_that_was_killed_is_finished_when_it_is_run_again(full: tuple[Stage, str]) -> None:
    stage, record = full
    command = ("forget", record, "--erase", "--yes", "--backups")
    whole = stage.run(*command, program=killed_at(0, STEPS))
    steps = int(whole.stdout.split()[-1])
    assert (whole.returncode, steps > 40) == (0, True), whole.stderr
    for step in sampled(sorted({*range(1, 10, 4), *range(10, steps, steps // 8)}), 4):
        as_before(stage)
        assert stage.run(*command, program=killed_at(step, STEPS)).returncode == -signal.SIGKILL
        assert (step, answer(stage.run(*command, "--json"))["status"], stage.holding()) == (step, "erased", set())
    assert TOKEN not in stage.said_by_hooks()


# Functions between which something was done, and something was not: SQL, files, git.
STEPS = (
    "execute", "_write", "_scrub", "commit", "finish", "_drop_prepared", "clean_file", "_outdated", "change", "update",
    "sweep_store", "put_again", "forget_deleted", "checkpoint", "rewrite", "leave_one_file", "run",
)  # fmt: skip
