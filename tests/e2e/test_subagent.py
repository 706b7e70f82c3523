"""What a sub-agent does is part of the session that sent it, under the sub-agent's name."""

import pytest

from tests.e2e.clients import Client
from tests.e2e.day import COMMAND, MORNING, session
from tests.e2e.dialects import Call, Say
from tests.e2e.seat import Seat, plant
from tests.e2e.test_warning import SIGN

pytestmark = pytest.mark.whole

ERRAND = "Fetch almonds from the cellar"


def test_the_work_of_a_sub_agent_is_attributed_to_it(client: Client, seat: Seat) -> None:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    errand: list[Say | Call] = [
        client.shell(COMMAND),
        client.write(str(seat.repository / "almonds.py"), "WEIGHT = 7\n"),
        Say("The almonds are here."),
    ]
    model = session(seat, client, {MORNING: [*client.delegate(ERRAND), Say("All is ready.")], ERRAND: errand})
    seat.work()
    assert SIGN in model.told(ERRAND)[1].text
    assert [one["title"].strip('"') for one in seat.told("session", "list")] == [f"{MORNING}, please."]
    found = [one for one in seat.records("observation") if one["fields"].get("files_modified") == ["almonds.py"]]
    assert len(found) == 1
    assert "sub-agent" in found[0]["body"]
