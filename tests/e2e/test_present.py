"""A session begins with what holds at this very moment, whoever changed it a moment ago in another terminal."""

import pytest

from tests.e2e.clients import Client
from tests.e2e.day import DONE, MORNING, session
from tests.e2e.dialects import Say
from tests.e2e.seat import DECISION, Seat, plant

pytestmark = pytest.mark.whole  # tests/hosts/test_present.py shows the same with hooks alone
NEW, CITED = "Write prices with a comma.", "The shop is described in its first line."


def test_a_session_knows_what_another_terminal_changed_just_before(client: Client, seat: Seat) -> None:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    seat.holdfast("remember", "--anchor", "shop.py", CITED)
    seat.work()
    (decided,) = seat.records("decision")
    seat.holdfast("remember", "--kind", "preference", NEW)
    seat.holdfast("forget", decided["id"], "--reason", "prices are rounded now")
    (seat.repository / "shop.py").write_text('"""A bakery."""\n', encoding="utf-8")
    first = session(seat, client, {MORNING: [Say(DONE)]}).told(MORNING)[0].text
    assert (NEW in first, DECISION in first) == (True, False)
    assert "[check first" in first.partition(CITED)[2].partition("\\n- ")[0].partition("\n")[0]
