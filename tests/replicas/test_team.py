"""What leaves for a team and what may come from it: on every replica a team shares."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.replicas.record_file import file_text
from holdfast.model.event import Event
from holdfast.model.replica import parts_of
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import passed
from holdfast.verbs.exchange.replicas import is_on, share, turn, unshare
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, revise
from tests.conftest import Time, keep, make_memory, recorded
from tests.replicas.seats import Seat, git, synced

TOKEN = "npm_" + "aB1" * 12
team = pytest.mark.parametrize("seats", ["notes", "repository"], indirect=True)


def carried(seat: Seat) -> str:
    """Give everything the replica holds, as text."""
    if seat.replica.name == "notes":
        names = git(seat.folder, "for-each-ref", "--format=%(refname)", "refs/notes/holdfast").splitlines()
        blobs = [
            line.split()[0] for name in names for line in git(seat.folder, "notes", "--ref", name, "list").splitlines()
        ]
        return "\n".join(git(seat.folder, "cat-file", "blob", blob) for blob in blobs)
    return "\n".join(path.read_text() for path in seat.folder.glob("*.md"))


@team
def test_only_records_of_the_team_and_the_project_leave(ada: Seat, bob: Seat) -> None:
    keep(ada.memory, "For nobody else: the alpha matter.")
    keep(ada.memory, "Of another project: the beta matter.", visibility="team", project="example.org/other/thing")
    keep(ada.memory, "Holds everywhere: the gamma matter.", visibility="team", project="")
    shared = keep(ada.memory, "For the team: the delta matter.", visibility="team")
    synced(ada, bob)
    assert list(bob.records()) == [shared.id]
    assert bob.memory.store.folded(shared.id).project == bob.memory.project  # type: ignore[union-attr]
    text = carried(ada)
    assert "delta" in text
    assert not any(word in text for word in ("alpha", "beta", "gamma", ada.memory.project))


@team
def test_a_record_that_becomes_shared_leaves_with_its_history(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "First wording of the matter.")
    revise(ada.memory, record.id, Revision(body="Second wording of the matter."))
    ada.sync()
    assert not ada.last[-1].remarks
    share(ada.memory, [record.id])
    synced(ada, bob)
    assert bob.records()[record.id].body == "Second wording of the matter."
    assert ada.memory.store.folded(record.id).revision == 3  # type: ignore[union-attr]


@team
def test_what_was_shared_stays_shared_and_that_is_said(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "Shared for a while.", visibility="team")
    synced(ada, bob)
    unshare(ada.memory, [record.id])
    done = ada.sync()
    assert any("private now" in remark.why for remark in done.remarks)
    revise(ada.memory, record.id, Revision(body="Only mine from here on."))
    synced(ada, bob)
    assert bob.records()[record.id].body == "Shared for a while."
    revise(bob.memory, record.id, Revision(body="Bob goes on with it."))
    synced(bob, ada)
    assert ada.records()[record.id].body == "Only mine from here on."


@team
def test_a_record_with_a_secret_does_not_leave(ada: Seat, bob: Seat) -> None:
    fine = keep(ada.memory, "A harmless thing.", visibility="team")
    event = recorded(ada.memory.clock, f"The token is {TOKEN}.", visibility="team", project=ada.memory.project)
    ada.memory.store.commit([event])  # as an older version, which knew fewer secrets, may have kept it
    done = ada.sync()
    bob.sync()
    assert [remark.where for remark in done.remarks] == [event.about]
    assert "npm token" in done.remarks[0].why
    assert TOKEN not in carried(ada)
    assert list(bob.records()) == [fine.id]


def test_turning_on_is_for_this_project_and_machine(memory: Memory) -> None:
    assert not is_on(memory, "notes")
    turn(memory, "notes", on=True)
    turn(memory, "folder", on=True)
    elsewhere = memory.acting_on("example.org/other/thing")
    assert (is_on(memory, "notes"), is_on(elsewhere, "notes"), is_on(elsewhere, "folder")) == (True, False, True)
    turn(memory, "notes", on=False)
    assert not is_on(memory, "notes")


def arriving(memory: Memory, *events: Event) -> tuple[list[str], list[str]]:
    """Give what passes the border, and why the rest does not."""
    found = passed(memory, events, with_team(memory.project))
    return [event.id for event in found.events], [remark.why for remark in found.remarks]


def test_the_border_keeps_private_records_and_other_projects_as_they_are(
    memory: Memory, tmp_path: Path, time: Time
) -> None:
    with make_memory(tmp_path / "other", time) as other:
        mine = keep(memory, "A private matter of this machine.")
        foreign = keep(memory, "Another project's matter.", project="example.org/other/thing", visibility="team")
        ours = keep(memory, "The team's matter.", visibility="team")
        for record, why in ((mine, "private"), (foreign, "another project")):
            for verb in ("revised", "retired", "erased"):
                event = replace(other.event("revised", record.id, data={"body": "taken over"}), verb=verb)
                assert arriving(memory, event)[0] == []
                assert why in arriving(memory, event)[1][0]
        fine = other.event("revised", ours.id, data={"body": "The team's matter, said better."})
        assert arriving(memory, fine) == ([fine.id], [])
        hidden = other.event("revised", ours.id, data={"visibility": "private"})
        assert "not shared with the team" in arriving(memory, hidden)[1][0]
        orphan = other.event("revised", other.clock.tick(), data={"body": "no beginning"})
        assert "not arrived yet" in arriving(memory, orphan)[1][0]
        private = recorded(other.clock, "never shared", visibility="private")
        assert "not shared with the team" in arriving(memory, private)[1][0]


def test_the_border_masks_secrets_and_names_the_project_as_it_is_here(memory: Memory, time: Time) -> None:
    from holdfast.model.ids import Clock

    event = recorded(Clock(time), f"The token is {TOKEN}.", visibility="team", project="example.org/evil/other")
    (kept,) = passed(memory, [event], with_team(memory.project)).events
    assert TOKEN not in json.dumps(dict(kept.data))
    assert kept.data["project"] == memory.project


def test_a_file_cannot_reach_a_private_record(tmp_path: Path) -> None:
    from tests.replicas.seats import seating

    with seating("repository", tmp_path) as seats:
        ada = seats("ada")
        mine = keep(ada.memory, "A private matter of this machine.")
        ada.sync()
        ada.folder.mkdir(exist_ok=True)
        taken = parts_of(mine, frozenset(ada.sharing.implied)) | {"body": "Taken over by a pull request."}
        (ada.folder / "x.md").write_text(file_text(taken))
        done = ada.sync()
        assert "private here" in done.remarks[0].why
        assert ada.records()[mine.id].body == "A private matter of this machine."
