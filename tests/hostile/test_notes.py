"""Notes that somebody pushed to do harm: trees with odd names, huge blobs, bytes that are no text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.adapters.replicas import git_notes
from holdfast.adapters.replicas.git_notes import line_of
from holdfast.model.errors import ReplicaError
from holdfast.model.event import Actor, Event
from holdfast.model.ids import Clock
from tests.conftest import keep
from tests.replicas.seats import Seat, Seats, git, seating, synced

REF = "refs/notes/holdfast/learnings"


@pytest.fixture
def seats(tmp_path: Path) -> Iterator[Seats]:
    with seating("notes", tmp_path) as made:
        yield made


def pushed(seat: Seat, path: str, content: bytes, *, mode: str = "100644") -> None:
    """Put a blob at any path of the notes, as no `git notes` would, and push it."""
    blob = _blob(seat.folder, content)
    if mode == "160000":
        blob = git(seat.folder, "rev-parse", "HEAD")
    kind = "commit" if mode == "160000" else "blob"
    for name in reversed(path.split("/")):
        blob = git(seat.folder, "mktree", "-z", given=f"{mode} {kind} {blob}\t{name}\0")
        mode, kind = "040000", "tree"
    made = git(seat.folder, "commit-tree", blob, "-p", REF, "-m", "hostile")
    git(seat.folder, "update-ref", REF, made)
    git(seat.folder, "push", "-q", "-f", "origin", f"{REF}:{REF}")


def _blob(folder: Path, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    try:
        return git(folder, "hash-object", "-w", "content")
    finally:
        (folder / "content").unlink()


def erasing() -> bytes:
    """Give a line about a record and one that erases it: the first is rewritten when notes are written."""
    clock, eve = Clock(), Actor(kind="user", name="eve")
    first, second = clock.tick(), clock.tick()
    said = {"body": "x", "title": "x", "kind": "fact", "visibility": "team"}
    told = Event(id=first, about=first, verb="recorded", at=clock.now(), by=eve, data=said)
    gone = Event(id=second, about=first, verb="erased", at=clock.now(), by=eve, data={})
    return f"{line_of(told)}\n{line_of(gone)}\n".encode()


def refs(seat: Seat) -> str:
    return git(seat.folder, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes")


NAMES = (
    "zz\nreset refs/heads/owned\nfrom {head}\n\ncommit refs/heads/other\ncommitter x <x> now\ndata 0\n",
    "zz\n\nreset refs/heads/owned\nfrom {head}\n\ncommit refs/heads/other\ncommitter x <x> now\ndata 0\n",
    *('ab/"quoted', "ab/ with spaces", "ab/\x1b[2J", "deep/" * 9 + "er", "ab/cd", "-"),
)


def test_the_name_of_a_note_is_never_taken_for_a_command(seats: Seats) -> None:
    ada, eve = seats("ada"), seats("eve")
    record = keep(ada.memory, "Refunds go through the ledger.", visibility="team")
    synced(ada, eve)
    head, before = git(eve.folder, "rev-parse", "HEAD"), refs(ada)
    for place, path in enumerate(NAMES):
        pushed(eve, path.format(head=head), erasing())
        keep(ada.memory, f"Something else to tell: {place}.", visibility="team")
        ada.sync()
        assert refs(ada) == before, path
    ada.sync()
    assert refs(ada) == before
    assert ada.records()[record.id].body == "Refunds go through the ledger."
    bob = seats("bob")
    bob.sync()
    told = {one.body for one in bob.records().values()}
    assert told >= {f"Something else to tell: {place}." for place in range(len(NAMES))}


def test_what_is_no_text_and_no_note_is_left_alone(seats: Seats) -> None:
    ada, eve = seats("ada"), seats("eve")
    keep(ada.memory, "Refunds go through the ledger.", visibility="team")
    synced(ada, eve)
    head = git(eve.folder, "rev-parse", "HEAD")
    pushed(eve, f"{head[:2]}/{head[2:]}", b"\xff\xfe\x00\n\x1b[2J\n" + b"x" * 500_000)
    done = ada.sync()
    assert len(done.remarks) == 3
    assert all(remark.where.isprintable() for remark in done.remarks)
    pushed(eve, f"{head[:2]}/{head[2:]}", b"", mode="160000")
    ada.sync()


def test_a_note_that_unpacks_to_more_than_fits_is_refused(seats: Seats, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_notes, "LARGEST", 5_000_000)
    ada, eve = seats("ada"), seats("eve")
    keep(ada.memory, "Refunds go through the ledger.", visibility="team")
    synced(ada, eve)
    head = git(eve.folder, "rev-parse", "HEAD")
    pushed(eve, f"{head[:2]}/{head[2:]}", b"x" * 6_000_000)
    with pytest.raises(ReplicaError, match="6,000,000 bytes"):
        ada.sync()
