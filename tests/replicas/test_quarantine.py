"""What comes from people nobody accepted waits; who brought it is known; and nothing of it takes anything else away."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from holdfast.adapters.git import Repository
from holdfast.adapters.replicas.authors import committed_files
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.query import Query
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.records.quarantine import accept, reject, standing, waiting
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from tests.conftest import Time, keep, make_memory, new_folder
from tests.replicas.seats import Seat, git, seating, synced
from tests.rows import refused

DECIDED = "Orders live in PostgreSQL: the ledger needs transactions."


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Seat, Seat]]:
    """Give ada, and bob who never heard of her; git knows both."""
    with seating("notes", tmp_path) as seats:
        ada, bob = seats("ada"), seats("bob")
        for seat, name in ((ada, "ada"), (bob, "bob")):
            git(seat.folder, "config", "user.name", name)
            git(seat.folder, "config", "user.email", f"{name}@example.org")
            seat.memory = replace(seat.memory, config=replace(seat.memory.config, quarantine="show"))
        yield ada, bob


def hits(seat: Seat) -> list[str]:
    return [hit.record.id for hit in recall(seat.memory, Query(text="where do orders live"), surface=False).hits]


def test_what_a_stranger_sends_waits_and_is_named_apart_from_the_answers(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    record = keep(ada.memory, DECIDED, kind="decision", visibility="team")
    ada.sync()
    done = bob.sync()
    assert (done.came, done.held) == (0, {"ada <ada@example.org>": 1})
    found = recall(bob.memory, Query(text="where do orders live"), surface=False)
    assert ([hit.record.id for hit in found.hits], [hit.record.id for hit in found.held]) == ([], [record.id])
    assert "ada <ada@example.org>" in found.held[0].came
    assert DECIDED[:20] not in brief_of(bob.memory).text
    assert bob.sync().held == {}  # told once
    refused(Conflict, retire, bob.memory, record.id, "no", says="is quarantined")


def test_an_accepted_author_is_accepted_for_good_and_in_this_project_alone(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    record = keep(ada.memory, DECIDED, kind="decision", visibility="team")
    synced(ada, bob)
    assert accept(bob.memory, ["ada@example.org"]).records == (record.id,)
    assert hits(bob) == [record.id]
    assert DECIDED[:20] in brief_of(bob.memory).text
    assert "ada@example.org" in get(bob.memory, record.id).came
    second = keep(ada.memory, "Orders live long: seven years of them are kept.", visibility="team")
    ada.sync()
    assert bob.sync().came == 1
    assert second.id in hits(bob)
    assert standing(bob.memory.acting_on("example.org/other/thing"), "ada@example.org") == ""


def test_a_rejected_author_stays_outside_until_somebody_thinks_again(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    record = keep(ada.memory, DECIDED, visibility="team")
    synced(ada, bob)
    reject(bob.memory, ["ada"])
    assert bob.records()[record.id].state == "retired"
    later = keep(ada.memory, "Orders live elsewhere from now on.", visibility="team")
    ada.sync()
    assert "rejected" in bob.sync().remarks[0].why
    assert later.id not in bob.records()
    accept(bob.memory, ["ada@example.org", record.id])
    bob.sync()
    assert sorted(hits(bob)) == sorted([record.id, later.id])


def test_a_strangers_change_of_a_known_memory_waits_and_the_memory_stays(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    record = keep(bob.memory, DECIDED, visibility="team")
    synced(bob, ada)
    accept(ada.memory, ["bob@example.org"])
    ada.sync()
    revise(ada.memory, record.id, Revision(body="Orders live nowhere."))
    ada.sync()
    assert bob.sync().held == {"ada <ada@example.org>": 1}
    assert bob.records()[record.id].body == DECIDED
    (one,) = waiting(bob.memory)
    assert (one.would, one.record.body) == ("revised", "Orders live nowhere.")
    accept(bob.memory, [record.id])
    assert bob.records()[record.id].body == "Orders live nowhere."
    assert "changed by ada" in get(bob.memory, record.id).came


def test_names_are_not_enough_to_accept_somebody(pair: tuple[Seat, Seat]) -> None:
    refused(NotFound, accept, pair[1].memory, ["ada"])


def test_views_are_the_same_after_a_rebuild(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    keep(ada.memory, DECIDED, visibility="team", tags=("storage",))
    synced(ada, bob)
    accept(bob.memory, ["ada@example.org"])
    before = (hits(bob), bob.story())
    bob.memory.store.rebuild()
    assert (hits(bob), bob.story()) == before


def test_files_tell_who_committed_them_and_a_removal_by_a_stranger_waits(tmp_path: Path) -> None:
    top = new_folder(tmp_path / "clone")
    git(top, "init", "-q", "-b", "main")
    place, repository = top / ".holdfast" / "memories", Repository(top)
    with make_memory(tmp_path / "bob", Time()) as memory:
        sharing = with_team(memory.project)

        def synced() -> dict[str, int]:
            folder = MarkdownFolder(
                place,
                tmp_path / "states",
                name="repository",
                implied=sharing.implied,
                head=repository.head,
                follows=repository.holds,
                commits=partial(committed_files, repository, place),
            )
            done = sync(memory, folder, sharing)
            folder.close()
            return dict(done.held)

        mine = keep(memory, DECIDED, visibility="team")
        assert synced() == {}
        git(top, "add", ".")
        git(top, "commit", "-q", "-m", "memories")
        (place / "theirs.md").write_text("Orders live in a spreadsheet now.\n")
        next(place.glob("2*.md")).unlink()
        git(top, "add", ".")
        git(top, "commit", "-q", "-m", "poison")
        assert synced() == {"Ada <ada@example.org>": 2}
        assert synced() == {}
        assert memory.store.folded(mine.id).state == "active"  # type: ignore[union-attr]
        assert sorted(one.would for one in waiting(memory)) == ["add", "retired"]
        (place / "own.md").write_text("Written here by hand: orders live in the ledger.\n")
        assert synced() == {}


def test_a_password_in_an_address_is_not_kept(pair: tuple[Seat, Seat], tmp_path: Path) -> None:
    _, bob = pair
    password, token = "Xk9!mQ2#" + "vLw7", "ghp_" + "q7R2" * 9
    for decide in (accept, reject):
        with pytest.raises(NotFound) as refused:
            decide(bob.memory, [f"https://ada:{password}@git.example.org/acme/shop"])
        assert password not in str(refused.value)
        assert decide(bob.memory, [f"{token}@example.org"]).authors == ("[redacted GitHub token]@example.org",)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert (password.encode() in kept, token.lower().encode() in kept.lower()) == (False, False)


def test_a_note_that_names_an_accepted_author_is_its_committers(pair: tuple[Seat, Seat]) -> None:
    ada, bob = pair
    accept(bob.memory, ["ada@example.org"])
    record = keep(ada.memory, DECIDED, kind="decision", visibility="team")
    for name, value in (("user.name", "ada"), ("user.email", "eve@example.org")):
        git(ada.folder, "config", name, value)  # the event still says that ada wrote it
    ada.sync()
    done = bob.sync()
    assert (done.came, done.held) == (0, {"ada <eve@example.org>": 1})
    assert record.id not in hits(bob)
    bob.memory.store.rebuild()
    assert record.id not in hits(bob)
