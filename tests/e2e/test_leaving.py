"""Uninstalling leaves a home as it was."""

from tests.e2e.clients import Client
from tests.e2e.day import MORNING, session
from tests.e2e.dialects import Say
from tests.e2e.seat import Seat


def test_a_home_is_byte_by_byte_what_it_was(client: Client, seat: Seat) -> None:
    files, folders = seat.files(), seat.folders()
    seat.holdfast("init", "--yes", "--client", client.name, "--instructions")
    assert seat.files() != files
    seat.holdfast("uninstall", "--yes")
    assert (seat.files(), seat.folders()) == (files, folders)


def test_after_a_session_nothing_of_ours_is_left(client: Client, seat: Seat) -> None:
    before = seat.files()
    seat.holdfast("init", "--yes", "--client", client.name)
    placed = seat.files()
    touched = [name for name in placed if placed[name] != before.get(name)]
    session(seat, client, {MORNING: [Say("The shop is open.")]})
    seat.work()
    worked = seat.files()
    seat.holdfast("uninstall", "--yes")
    left = seat.files()
    for name in touched:
        if worked[name] == placed[name]:
            assert left.get(name) == before.get(name), name
        else:  # the client wrote into it as well: its own stays, ours is gone
            assert b"holdfast" not in left[name], name
