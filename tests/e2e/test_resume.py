"""A session that is taken up again is the same session, and knows what came to be known since."""

import pytest

from tests.e2e.clients import Client
from tests.e2e.day import AFTERNOON, DONE, MORNING, session
from tests.e2e.dialects import Say
from tests.e2e.seat import THREAD, Seat, plant
from tests.rows import missing

pytestmark = pytest.mark.whole

NEW = "The marzipan thermometer lies by four degrees."


def test_a_resumed_session_is_the_same_and_is_told_what_is_new(client: Client, seat: Seat) -> None:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    session(seat, client, {MORNING: [Say("The shop is open.")]})
    seat.holdfast("remember", "--kind", "learning", NEW)
    seat.work()
    resumed = session(seat, client, {AFTERNOON: [Say(DONE)]}, again=True).told(AFTERNOON)[0].text
    seat.work()
    assert missing(resumed, "The shop is open.", THREAD, NEW) == []
    assert [one["title"].strip('"') for one in seat.told("session", "list")] == [f"{MORNING}, please."]
