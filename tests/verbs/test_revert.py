"""Undo: a record goes back to how it was, and a memory follows a value that changed in the code."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.record import Draft, Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.lifecycle import Revision, link, retire, revise
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.revert import revert, version_at
from holdfast.verbs.records.write import WrittenPending, cancel, confirm, write
from holdfast.verbs.truth.verify import can_verify, update_value, verify
from tests.conftest import Time, keep, make_memory

OWN = {"revision", "head", "updated_at", "seen"}  # of each version


def plain(record: Record) -> dict[str, object]:
    seen = dict(record.seen.marks) if record.seen else {}
    return {name: getattr(record, name) for name in record.__slots__ if name not in OWN} | {"seen": seen}


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, record, _: retire(memory, record.id, "gone"),
        lambda memory, record, _: verify(memory, record.id),
        lambda memory, record, _: revise(memory, record.id, Revision(body="Quite another text.", tags=("new",))),
        lambda memory, record, _: revise(memory, record.id, Revision(kind="learning", anchors=("b.py",))),
        lambda memory, record, other: link(memory, record.id, "refines", other.id),
    ],
    ids=["retired", "verified", "reworded", "changed", "linked"],
)
def test_a_record_goes_back_to_how_it_was(
    tmp_path: Path, time: Time, change: Callable[[Memory, Record, Record], object]
) -> None:
    with make_memory(tmp_path, time) as memory:
        record = verify(memory, keep(memory, "Refunds go through the ledger.").id)
        other = keep(memory, "The ledger is append-only.")
        time.pass_days(1)
        change(memory, record, other)
        now = get(memory, record.id).record
        assert plain(now) != plain(record)
        assert plain(revert(memory, record, after=now.head)) == plain(record)
        with pytest.raises(Conflict):
            revert(memory, record, after=now.head)  # something followed
        assert plain(revert(memory, now)) == plain(now)  # undo of the undo


@pytest.mark.parametrize("decide", [confirm, cancel])
def test_a_decision_about_a_pending_memory_is_taken_back(
    tmp_path: Path, time: Time, decide: Callable[[Memory, str], object]
) -> None:
    with make_memory(tmp_path, time) as memory:
        held = write(memory, Draft(body="Mira likes small commits.", kind="preference", source="inferred"))
        assert isinstance(held, WrittenPending)
        before = get(memory, held.record.id).record
        decide(memory, before.id)
        assert revert(memory, before).state == "pending"
        decide(memory, before.id)  # and can be made again


def test_an_earlier_version_is_found_by_its_event(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        record = keep(memory, "Staging is reset at two.")
        revise(memory, record.id, Revision(body="Staging is reset at four."))
        first = history(memory, record.id)[0].id
        assert version_at(memory, record.id, first).body == "Staging is reset at two."
        with pytest.raises(NotFound):
            version_at(memory, record.id, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("RETRIES is 3, no more.", "RETRIES is 5, no more."),
        ("We retry three times.", "We retry five times."),
        ("RETRIES is 3 because 3 were enough.", None),
        ("We retry often.", None),
        ("RETRIES is 3, seldom 4.", "RETRIES is 5, seldom 4."),
    ],
)
def test_a_memory_follows_a_value_that_changed(tmp_path: Path, time: Time, text: str, after: str | None) -> None:
    code = tmp_path / "app.py"
    code.write_text("RETRIES = 3\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(tmp_path, memory.project))
        record = keep(memory, text, anchors=("app.py::RETRIES=3",))
        code.write_text("RETRIES = 5\n")
        judged = freshness(memory, [record])[record.id]
        assert (judged.state, can_verify(record, judged)) == ("changed", False)
        if after is None:
            with pytest.raises(Conflict):
                update_value(memory, record.id)
            return
        now = update_value(memory, record.id)
        assert (now.body, now.anchors, bool(now.verified_at)) == (after, ("app.py::RETRIES=5",), True)
        assert freshness(memory, [now])[now.id].state == "fresh"
        assert plain(revert(memory, record, after=now.head)) == plain(record)
