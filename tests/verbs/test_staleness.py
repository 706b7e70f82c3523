"""Staleness measured on a real checkout, feedback of sessions, and changes that pass the gates."""

import subprocess
from pathlib import Path

import pytest

from holdfast.engine.views import usage
from holdfast.model.errors import Conflict
from holdfast.model.ids import instant
from holdfast.model.record import Record
from holdfast.policy.admission.admit import Duplicate, Transient, Waivers
from holdfast.surfaces.bettermemory import tools as verbs
from holdfast.surfaces.bettermemory.staleness import staleness_of, staleness_of_many
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, amend, retire
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.health import quality
from tests.conftest import START, Time, keep, new_file
from tests.rows import of_type, refused

FACTS = ("fact",)


def commit(folder: Path, time: Time, file: str) -> None:
    new_file(folder / file, str(time.now))
    at = instant(time.now)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "add", file], cwd=folder, check=True)
    subprocess.run(
        ["git", *author, "commit", "-qm", file],
        cwd=folder,
        check=True,
        env={"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )


@pytest.fixture
def repository(tmp_path: Path, time: Time) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, time, "app.py")
    return tmp_path


def test_commits_since_a_check_are_counted(memory: Memory, repository: Path, time: Time) -> None:
    time.pass_days(1)
    record = verify(memory, keep(memory, "The app listens on port 80.").id, anchors=("app.py",))
    assert staleness_of(memory, record).commits == 0
    time.pass_days(40)
    stale = staleness_of(memory, record)
    assert (stale.checked.status, stale.commits, stale.verdict) == ("stale", 0, "fresh")
    commit(repository, time, "other.py")
    time.pass_days(1)
    assert staleness_of(memory, record).commits == 0  # nothing of what was checked
    assert staleness_of_many(memory, [record])[record.id].commits == 1
    commit(repository, time, "app.py")
    time.pass_days(1)
    assert (staleness_of(memory, record).commits, staleness_of(memory, record).verdict) == (1, "spot_check_required")


def test_nobody_could_ask_is_not_zero(memory: Memory) -> None:
    record = verify(memory, keep(memory, "The app listens on port 80.").id)
    assert staleness_of(memory, record).commits is None
    assert staleness_of_many(memory, [record])[record.id].commits is None
    assert verbs.chores(memory, FACTS)["drifted"] is None
    assert verbs.curated(memory, FACTS)["drifted"] is None


def test_paths_that_are_gone_are_told(memory: Memory, tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("x")
    record = keep(memory, f"It is in {there} and in `{tmp_path}/gone.txt`.")
    found = staleness_of(memory, record)
    assert (found.paths, found.missing) == ((f"{tmp_path}/gone.txt", str(there)), (f"{tmp_path}/gone.txt",))


def test_use_nobody_spoke_of_is_observed_and_earns_nothing(memory: Memory) -> None:
    record = keep(memory, "The app listens on port 80.")
    verbs.next_turn(memory)
    verbs.shown(memory, record.id)
    verbs.next_turn(memory)
    assert quality(memory).observed == {}
    verbs.next_turn(memory)
    assert (quality(memory).declared, quality(memory).observed) == ({}, {"applied": 1})
    assert usage.of(memory.store, [record.id]) == {}
    verbs.next_turn(memory)
    assert quality(memory).observed == {"applied": 1}


def test_a_word_or_time_settles_a_showing(memory: Memory, time: Time) -> None:
    record = keep(memory, "The app listens on port 80.")
    verbs.shown(memory, record.id)
    verbs.feedback_of(memory).impressions.pop(record.id)
    first = verbs.shown(memory, record.id)
    assert verbs.shown(memory, record.id) != first
    assert len(verbs.feedback_of(memory).impressions) == 1
    time.now += 1_801
    for _ in range(3):
        verbs.next_turn(memory)
    assert (quality(memory).observed, verbs.feedback_of(memory).impressions) == ({}, {})


def test_each_session_has_feedback_of_its_own(memory: Memory) -> None:
    assert verbs.mute(memory, "tools") == ["tools"]
    assert verbs.mute(memory, "learning-style") == ["tools", "learning-style"]
    assert list(verbs.feedback_of(memory.acting_in("s2")).muted) == []
    assert verbs.unmute(memory, "tools") == ["learning-style"]


def test_a_new_text_passes_the_gates_of_a_new_memory(memory: Memory) -> None:
    record = keep(memory, "The worker reads its jobs from Redis.")
    other = keep(memory, "Backups run every night at two o'clock.")
    assert isinstance(amend(memory, record.id, Revision(body="Currently the worker is broken.")), Transient)
    duplicate = of_type(Duplicate, amend(memory, record.id, Revision(body="Backups run every night at two o'clock!")))
    assert [one.record.id for one in duplicate.matches] == [other.id]
    mended = of_type(Record, amend(memory, record.id, Revision(body="The worker reads all its jobs from Redis.")))
    assert (mended.id, mended.revision) == (record.id, 2)
    waived = amend(memory, record.id, Revision(body="It is currently broken."), waivers=Waivers(transient=True))
    assert isinstance(waived, Record)
    retire(memory, record.id, "gone")
    refused(Conflict, amend, memory, record.id, Revision(body="It is back."), says="was removed: gone")


def test_a_curator_sees_what_is_of_no_use(memory: Memory, time: Time) -> None:
    assert time.now == START
    record = keep(memory, "The worker reads its jobs from Redis.", scopes=("tools",))
    time.pass_days(31)
    found = verbs.curated(memory, FACTS)
    assert [record.id for record, *_ in found["cold"]] == [record.id]
    expected = (1, {"never": 1, "stale": 0, "fresh": 0}, ["tools"])
    assert (found["total"], found["checks"], [one["scope"] for one in found["scopes"]]) == expected
    assert verbs.chores(memory, FACTS)["cold"] == 1
