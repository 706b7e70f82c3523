"""Setting a client up puts everything in place, and the doctor finds nothing to mend."""

from tests.e2e.clients import Client
from tests.e2e.seat import Seat


def test_init_sets_a_client_up_and_the_doctor_is_content(client: Client, seat: Seat) -> None:
    before = seat.files()
    seat.holdfast("init", "--yes", "--client", client.name)
    assert {name for name in client.files if before[name] != seat.files()[name]}
    checks = {check["name"]: check for check in seat.told("doctor")}
    assert "starts it" in checks[client.name]["found"]
    assert [check for check in checks.values() if check["fix"]] == []
