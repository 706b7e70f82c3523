"""Git notes: real repositories, real remotes, everything that happens to commits and refs."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from holdfast.adapters.replicas.git_notes import BASE, GitNotes, line_of
from holdfast.model.event import Actor, Event
from holdfast.model.ids import Clock
from holdfast.model.record import Record
from holdfast.model.replica import ReadOutcome, ReplicaUpdate
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.sync import sync, sync_afar
from holdfast.verbs.records.lifecycle import Revision, revise
from tests.conftest import Time, keep, make_memory, ran, recorded
from tests.hosts.running import script_command
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import Seat, commit, git, synced
from tests.rows import WHOLE

KIND = "notes"
scripts_in(globals(), KIND)


def test_a_rejected_push_is_united_and_sent_again(ada: Seat, bob: Seat) -> None:
    mine = keep(ada.memory, "What ada says.", visibility="team")
    theirs = keep(bob.memory, "What bob says.", visibility="team")

    more, push = [f"One more thing of bob's, number {number}." for number in range(2)], ada.replica.push

    def slow(*given: Any, **options: Any) -> Any:
        """Let Bob be faster between ada's fetch and her push, twice."""
        if more:
            keep(bob.memory, more.pop(), visibility="team")
            bob.sync()
        return push(*given, **options)

    with patch.object(ada.replica, "push", slow):
        done = ada.sync()
    assert (done.offline, done.pushed) == ("", 1)
    bob.sync()
    assert {mine.id, theirs.id} <= set(ada.records()) == set(bob.records())
    assert len(ada.records()) == 4


def test_a_repository_without_commits_waits_for_the_first_one(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", "-b", "main", "empty")
    notes = GitNotes(empty, tmp_path / "states")
    with make_memory(tmp_path, Time()) as memory:
        record = keep(memory, "Before any commit.", visibility="team")
        assert "no commit yet" in sync(memory, notes, with_team(memory.project)).remarks[0].why
        commit(empty)
        assert sync(memory, notes, with_team(memory.project)).put.records == 1
    assert git(empty, "notes", "--ref", "holdfast/learnings", "show", "HEAD").startswith(record.id)


def test_worktrees_share_notes_and_submodules_have_their_own(ada: Seat, bob: Seat, tmp_path: Path) -> None:
    git(ada.folder, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    linked = GitNotes(tmp_path / "linked", ada.replica._states)
    record = keep(ada.memory, "Said in the linked worktree.", visibility="team")
    sync_afar(ada.memory, linked, ada.sharing, "origin")
    assert ada.note()[0].startswith(record.id)
    assert ada.sync().put.records == 0  # the same repository, so it was told already

    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", "-b", "main", str(outer))
    git(outer, "submodule", "--quiet", "add", str(tmp_path / "remote.git"), "sub")
    sub = GitNotes(outer / "sub", tmp_path / "states")
    with make_memory(tmp_path / "carol", bob.time) as carol:
        sync_afar(carol, sub, with_team(carol.project), "origin")
        assert carol.store.folded(record.id) is not None
    assert not git(outer, "for-each-ref", "refs/notes")


def test_many_notes_fan_out_and_are_all_read(ada: Seat, bob: Seat) -> None:
    many = 600 if WHOLE else 300  # git spreads them from 256 on
    main, notes = "refs/heads/main", "refs/notes/holdfast/learnings"
    begun = "commit {}\ncommitter A <a@b> 1700000000 +0000\ndata 0\n"
    stream = [begun.format(main) + (f"from {main}^0\n" if n == 0 else "") for n in range(many)]
    git(ada.folder, "fast-import", "--quiet", "--force", given="".join(stream))
    clock, commits = Clock(lambda: 1_790_000_000.0), git(ada.folder, "rev-list", "main").split()[:many]
    # Written by git itself, which decides on its own how to spread them.
    for half in (commits[::2], commits[1::2]):
        lines = [f"{line_of(recorded(clock, f'Said of {one}.', visibility='team'))}\n" for one in half]
        said = (f"N inline {one}\ndata {len(line.encode())}\n{line}\n" for one, line in zip(half, lines, strict=True))
        parent = "" if half[0] == commits[0] else f"from {notes}^0\n"
        git(ada.folder, "fast-import", "--quiet", given=begun.format(notes) + parent + "".join(said))
    assert "/" in git(ada.folder, "ls-tree", "-r", "--name-only", notes)
    assert ada.sync().came == many
    extra = keep(ada.memory, "One more.", visibility="team")
    synced(ada, bob)
    assert (len(bob.records()), extra.id in bob.records()) == (many + 1, True)
    assert len(git(ada.folder, "notes", "--ref", notes, "list").splitlines()) == many


def append(seat: Seat, *lines: str, at: str = "HEAD") -> None:
    """Add lines to a note, as git itself does."""
    git(seat.folder, "notes", "--ref", "holdfast/learnings", "append", "-m", "\n".join(lines), at)


def test_torn_and_foreign_lines_are_reported_and_left(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "A thing that is fine.", visibility="team")
    ada.sync()
    later = {**json.loads(ada.note()[0].split("\t")[1]), "verb": "transmuted"}
    counted = Event(id=Clock().tick(), about=record.id, verb="surfaced", at="2026-09-21T00:00:00.000Z", by=Actor())
    odd = [ada.note()[0][:60], "somebody's own remark", f"{Clock().tick()} x\t{json.dumps(later)}", "01\t[1]"]
    append(ada, *odd, line_of(counted))
    done = ada.sync()
    assert (len(done.remarks), "not a shared event" in str(done.remarks)) == (5, True)
    revise(ada.memory, record.id, Revision(tags=("more",)))
    synced(ada, bob)
    assert set(odd) <= set(bob.note())
    assert bob.records()[record.id].tags == ("more",)
    assert {event.verb for _, event in bob.memory.store.journal()} <= {"recorded", "revised", "arrived"}


def test_a_store_that_was_lost_is_filled_again(ada: Seat, tmp_path: Path) -> None:
    record = keep(ada.memory, "Still in the notes.", visibility="team")
    ada.sync()
    ada.memory.close()
    ada.replica.close()
    ada.replica._states.rename(tmp_path / "kept")
    shutil.rmtree(tmp_path / "ada" / "store")
    with make_memory(tmp_path / "ada", ada.time) as memory:
        sync(memory, GitNotes(ada.folder, tmp_path / "kept"), with_team(memory.project))  # it told everything
        assert memory.store.folded(record.id) is not None


def test_from_inside_a_hook_of_git_the_right_repository_is_used(ada: Seat, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    with patch.dict(os.environ, GIT_DIR=str(other / ".git"), GIT_INDEX_FILE=str(other / ".git" / "index")):
        keep(ada.memory, "Told from a hook.", visibility="team")
        ada.sync()
    assert (len(ada.note()), git(other, "for-each-ref", BASE)) == (1, "")


def test_an_event_that_came_before_its_beginning_waits_for_it(ada: Seat) -> None:
    clock = ada.memory.clock
    first = recorded(clock, "The beginning.", visibility="team")
    later = Event(id=clock.tick(first.id), about=first.id, verb="revised", at=first.at, data={"tags": ["later"]})
    head = git(ada.folder, "rev-parse", "HEAD")
    newer = commit(ada.folder, "b.txt")
    append(ada, line_of(later), at=head)
    assert "not arrived yet" in ada.sync().remarks[0].why
    append(ada, line_of(first), at=newer)
    assert ada.sync().remarks == ()
    assert ada.records()[first.id].tags == ("later",)


def append_many(folder: Path, states: Path, number: int, count: int) -> None:
    notes, clock = GitNotes(folder, states / str(number)), Clock()
    for turn in range(count):
        event = recorded(clock, f"Number {turn} of process {number}.", visibility="team")
        record = Record(id=event.about, kind="fact", body=str(event.data["body"]), visibility="team")
        notes.write([ReplicaUpdate(record=record, events=(event,))], ReadOutcome(), cursor=turn)


def test_processes_that_append_at_once_lose_nothing(ada: Seat, tmp_path: Path) -> None:
    processes, each = 3, 6 if WHOLE else 3
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # else each of them imports it
    given = [(ada.folder, tmp_path / "states", number, each) for number in range(processes)]
    started = [context.Process(target=append_many, args=one) for one in given]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert [one.exitcode for one in started] == [0] * processes
    assert ada.sync().came == processes * each
    assert not git(ada.folder, "for-each-ref", "refs/holdfast/aside")


@pytest.mark.whole
def test_the_demo_of_two_clones_runs(tmp_path: Path) -> None:
    command, inherited = script_command(tmp_path)
    script = Path(__file__).parents[2] / "docs" / "demo" / "two_clones.sh"
    environment = {**os.environ, "COMMAND": str(command), "TMPDIR": str(tmp_path)}
    done = ran(["sh", str(script)], env=environment, timeout=300, pass_fds=[inherited])
    assert done.returncode == 0, done.stderr
    waits, accepted, shared = done.stdout.partition("ada@example.org  Accepted: ada@example.org")
    assert ("in quarantine" in waits, "Orders live in PostgreSQL" in shared, accepted != "") == (True, True, True)
    assert "invoice numbers" not in done.stdout.partition("# bob syncs")[2].partition("# ada pulls")[0]
    assert "changed (it is sqlite now; 1 commit since; last" in done.stdout
    assert "Orders live in SQLite  strong  fresh" in done.stdout
    assert "cannot be verified" in done.stderr
