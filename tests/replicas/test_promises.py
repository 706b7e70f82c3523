"""What every replica promises, proved on each of them."""

from typing import Any

import pytest

from holdfast.model.replica import parts_of
from holdfast.verbs.exchange import sync
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import keep
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import Seat, synced

globals().update(scripts_in(__file__))

SCAR = {"severity": "high", "counter_arguments": ["it is slow", "it is rare"]}


def test_a_record_arrives_as_it_is(ada: Seat, bob: Seat) -> None:
    record = keep(
        ada.memory,
        "Never push before `make check`.\n\nIt broke main twice: “naïve” — 日本語.\n\n---\n\n- one\n- two",
        title="Check before pushing: yes",
        kind="scar",
        fields=SCAR,
        scopes=("tools", "projects:shop"),
        tags=("ci", "2026-01-01", "yes"),
        anchors=("src/a.py",),
        triggers=("git push",),
        visibility="team",
        confidence="high",
        extra={"ticket": {"key": "A-1", "points": 3}},
    )
    verify(ada.memory, record.id)
    synced(ada, bob)
    theirs, ours = bob.records()[record.id], ada.records()[record.id]
    assert parts_of(theirs) == parts_of(ours)
    assert theirs.by.name == "ada"
    assert theirs.verified_at == ours.verified_at != ""


def test_what_is_written_while_a_sync_runs_is_told_by_the_next(
    ada: Seat, bob: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ada.memory, "The queue holds ten thousand jobs.", visibility="team")
    looked = sync._outgoing

    def and_meanwhile(*given: Any) -> Any:
        found = looked(*given)
        monkeypatch.undo()
        keep(ada.memory, "Somebody wrote this in another process.", visibility="team")
        return found

    monkeypatch.setattr(sync, "_outgoing", and_meanwhile)
    synced(ada, ada, bob)
    assert bob.records().keys() == ada.records().keys()


def test_an_erased_record_is_gone_everywhere(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "The zanzibar clause must never be read again.", visibility="team")
    keep(ada.memory, "Another thing that stays.", visibility="team")
    synced(ada, bob)
    erase(ada.memory, record.id)
    synced(ada, bob)
    theirs = bob.records()[record.id]
    assert theirs.state in ("erased", "retired")  # a file that is gone cannot say why
    ada.sync()
    for held in bob.folder.rglob("*"):
        if held.suffix in (".md", ".json", ".db") and held.is_file():
            assert b"zanzibar" not in held.read_bytes()
