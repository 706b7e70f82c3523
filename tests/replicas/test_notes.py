"""Git notes: real repositories, real remotes, everything that happens to commits and refs."""

import json
import multiprocessing
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.adapters.importers.git_notes import NAMESPACES, namespace_of
from holdfast.adapters.replicas.git_notes import BASE, GitNotes, event_of, line_of
from holdfast.model.event import Actor, Event
from holdfast.model.ids import Clock
from holdfast.model.record import Record
from holdfast.model.replica import ReadOutcome, ReplicaUpdate
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.sync import sync, sync_afar
from holdfast.verbs.records.lifecycle import Revision, revise
from tests.conftest import keep, make_memory, recorded
from tests.hosts.running import script_command
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import Seat, commit, git, synced
from tests.rows import WHOLE, refused

KIND = "notes"
globals().update(scripts_in(__file__, KIND))


def test_every_kind_has_one_of_the_ten_namespaces() -> None:
    from holdfast.model.kinds import KINDS

    found = {kind: namespace_of(Record(id="x", kind=kind)) for kind in (*KINDS, "something of a later version")}
    assert set(found.values()) <= set(NAMESPACES)
    assert len(NAMESPACES) == 10
    assert found["decision"] == "decisions"


def test_a_line_gives_back_the_event_it_was_written_from() -> None:
    event = recorded(Clock(lambda: 1_790_000_000.0), 'a\nb\tc \u2028 d {"x": 1}', kind="fact", title="t\t{")
    assert event_of(line_of(event)) == event
    assert "\n" not in line_of(event)
    assert line_of(event).count("\t") == 1


def test_a_rejected_push_is_united_and_sent_again(ada: Seat, bob: Seat) -> None:
    mine = keep(ada.memory, "What ada says.", visibility="team")
    theirs = keep(bob.memory, "What bob says.", visibility="team")

    class Slow:
        """Bob is faster between ada's fetch and her push, twice."""

        def __init__(self) -> None:
            self.left = 2

        def __getattr__(self, name: str) -> Any:
            if name == "push" and self.left:
                self.left -= 1
                keep(bob.memory, f"One more thing of bob's, number {self.left}.", visibility="team")
                bob.sync()
            return getattr(ada.replica, name)

    done = sync_afar(ada.memory, Slow(), ada.sharing, "origin")
    assert (done.offline, done.pushed) == ("", 1)
    bob.sync()
    assert {mine.id, theirs.id} <= set(ada.records()) == set(bob.records())
    assert len(ada.records()) == 4


def test_a_repository_without_commits_waits_for_the_first_one(tmp_path: Path) -> None:
    from tests.conftest import Time

    git(tmp_path, "init", "-q", "-b", "main", "empty")
    memory = make_memory(tmp_path, Time())
    notes = GitNotes(tmp_path / "empty", tmp_path / "states")
    record = keep(memory, "Before any commit.", visibility="team")
    done = sync(memory, notes, with_team(memory.project))
    assert "no commit yet" in done.remarks[0].why
    commit(tmp_path / "empty")
    assert sync(memory, notes, with_team(memory.project)).put.records == 1
    assert git(tmp_path / "empty", "notes", "--ref", "holdfast/learnings", "show", "HEAD").startswith(record.id)
    memory.close()


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
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + n} +0000\ndata 1\nx\n"
        + ("from refs/heads/main^0\n" if n == 0 else "")
        for n in range(many)
    )
    git(ada.folder, "fast-import", "--quiet", "--force", given=stream)
    commits = git(ada.folder, "rev-list", "main").split()[:many]
    clock = Clock(lambda: 1_790_000_000.0)
    events = {one: recorded(clock, f"Said of {one}.", visibility="team") for one in commits}
    # Written by git itself, which decides on its own how to spread them.
    for name in ("first", "second"):
        half = commits[: many // 2] if name == "first" else commits[many // 2 :]
        notes = "commit refs/notes/holdfast/learnings\ncommitter A <a@b> 1700000000 +0000\ndata 0\n"
        notes += "from refs/notes/holdfast/learnings^0\n" if name == "second" else ""
        for one in half:
            line = line_of(events[one]) + "\n"
            notes += f"N inline {one}\ndata {len(line.encode())}\n{line}\n"
        git(ada.folder, "fast-import", "--quiet", "--date-format=raw", given=notes)
    assert any(
        "/" in path for path in git(ada.folder, "ls-tree", "-r", "--name-only", "refs/notes/holdfast/learnings").split()
    )
    assert ada.sync().came == many
    extra = keep(ada.memory, "One more.", visibility="team")
    synced(ada, bob)
    assert len(bob.records()) == many + 1
    assert len(git(ada.folder, "notes", "--ref", "holdfast/learnings", "list").splitlines()) == many
    assert extra.id in bob.records()


def test_torn_and_foreign_lines_are_reported_and_left(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "A thing that is fine.", visibility="team")
    ada.sync()
    later = {**json.loads(ada.note()[0].split("\t")[1]), "verb": "transmuted"}
    odd = [ada.note()[0][:60], "somebody's own remark", f"{Clock().tick()} x\t{json.dumps(later)}", "01\t[1]"]
    git(ada.folder, "notes", "--ref", "holdfast/learnings", "append", "-m", "\n".join(odd), "HEAD")
    done = ada.sync()
    assert len(done.remarks) == 4
    revise(ada.memory, record.id, Revision(tags=("more",)))
    synced(ada, bob)
    assert set(odd) <= set(bob.note())
    assert bob.records()[record.id].tags == ("more",)


def test_shared_counts_are_turned_away(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "A thing.", visibility="team")
    event = Event(id=Clock().tick(), about=record.id, verb="surfaced", at="2026-09-21T00:00:00.000Z", by=Actor())
    ada.sync()
    git(ada.folder, "notes", "--ref", "holdfast/learnings", "append", "-m", line_of(event), "HEAD")
    ada.sync()
    done = bob.sync()
    assert "not a shared event" in done.remarks[0].why
    assert {event.verb for _, event in bob.memory.store.journal()} <= {"recorded", "arrived"}


def test_a_store_that_was_lost_is_filled_again(ada: Seat, tmp_path: Path) -> None:
    record = keep(ada.memory, "Still in the notes.", visibility="team")
    ada.sync()
    ada.memory.close()
    shutil.copytree(ada.replica._states, tmp_path / "kept")
    shutil.rmtree(tmp_path / "ada" / "store")
    with make_memory(tmp_path / "ada", ada.time) as memory:
        notes = GitNotes(ada.folder, tmp_path / "kept")  # it remembers having told everything
        sync(memory, notes, with_team(memory.project))
        assert memory.store.folded(record.id) is not None


def test_from_inside_a_hook_of_git_the_right_repository_is_used(
    ada: Seat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    keep(ada.memory, "Told from a hook.", visibility="team")
    ada.sync()
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert ada.note()
    assert not git(other, "for-each-ref", BASE)


def test_what_somebody_else_appends_while_we_sync_is_read_the_next_time(ada: Seat) -> None:
    other = recorded(Clock(), "Of another process.", visibility="team")
    told = ReplicaUpdate(record=Record(id=other.about, kind="fact", visibility="team"), events=(other,))
    mine, read = keep(ada.memory, "Of this one.", visibility="team"), ada.replica.read

    def slow(**options: Any) -> Any:
        arrived = read(**options)
        GitNotes(ada.folder, ada.folder.parent / "elsewhere").write([told], ReadOutcome(), cursor=1)
        return arrived

    ada.replica.read = slow
    ada.sync()
    del ada.replica.read
    ada.sync()
    assert set(ada.records()) == {mine.id, other.about}


def test_an_event_that_came_before_its_beginning_waits_for_it(ada: Seat) -> None:
    clock = ada.memory.clock
    first = recorded(clock, "The beginning.", visibility="team")
    later = Event(id=clock.tick(first.id), about=first.id, verb="revised", at=first.at, data={"tags": ["later"]})
    head = git(ada.folder, "rev-parse", "HEAD")
    newer = commit(ada.folder, "b.txt")
    git(ada.folder, "notes", "--ref", "holdfast/learnings", "append", "-m", line_of(later), head)
    assert "not arrived yet" in ada.sync().remarks[0].why
    git(ada.folder, "notes", "--ref", "holdfast/learnings", "append", "-m", line_of(first), newer)
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
        assert one.exitcode == 0
    assert ada.sync().came == processes * each
    assert not git(ada.folder, "for-each-ref", "refs/holdfast/aside")


def test_no_repository_is_said_in_one_line(tmp_path: Path) -> None:
    from holdfast.model.errors import ReplicaError

    refused(ReplicaError, GitNotes(tmp_path, tmp_path / "states").read, says="no git repository")


def test_the_demo_of_two_clones_runs(tmp_path: Path) -> None:
    command, inherited = script_command(tmp_path)
    script = Path(__file__).parents[2] / "docs" / "demo" / "two_clones.sh"
    environment = {**os.environ, "COMMAND": str(command), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["sh", str(script)], capture_output=True, env=environment, check=False, timeout=300, pass_fds=[inherited]
    )
    said = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    waits, shared = said.split("# bob syncs", 1)[1].split("ada@example.org  Accepted: ada@example.org", 1)
    shared, stale = shared.split("# bob moves orders elsewhere")
    assert "1 memory of ada <ada@example.org> in quarantine" in waits
    assert "Orders live in PostgreSQL" in shared
    assert "invoice numbers" not in waits + shared.split("# ada pulls")[0]
    assert "revised by bob\n                  tags: storage, ledger" in shared
    stopped, pulled, mended = stale.split("\n\x1b[1m# ada")
    assert "(exit code 1)" in stopped
    assert "changed (it is sqlite now; 1 commit since; last" in pulled
    assert "cannot be verified" in done.stderr.decode()
    assert "Orders live in SQLite  strong  fresh" in mended
