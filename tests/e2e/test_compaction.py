"""When a client makes room in a full conversation, the model is told where the work stands."""

from dataclasses import replace

from tests.e2e.clients import Client
from tests.e2e.day import AFTERNOON, DONE, FAILING, MORNING, session
from tests.e2e.dialects import Call, Say
from tests.e2e.model import Request
from tests.e2e.seat import Seat, plant
from tests.rows import missing


def test_the_hand_over_reaches_the_model_after_a_compaction(client: Client, seat: Seat) -> None:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    after = "\n".join(request.text for request in _after_compaction(client, seat))
    assert "<holdfast-handover>" in after
    handed = after.partition("<holdfast-handover>")[2].partition("</holdfast-handover>")[0]
    assert missing(handed, MORNING, "unittest", "oven.py") == []


def _after_compaction(client: Client, seat: Seat) -> list[Request]:
    """Work until the conversation is full; give what the model is asked once it was cut, however soon that is."""
    write, failing = client.write(str(seat.repository / "oven.py"), "HEAT = 220\n"), client.shell(FAILING)
    work: list[Say | Call] = [write, replace(failing, full=not client.compacts), Say("The oven does not work yet.")]
    morning = session(seat, client, {MORNING: work})
    if not client.compacts:
        full = next(at for at, request in enumerate(morning.requests) if request.answer.full)
        return morning.requests[full + 1 :]
    session(seat, client, {client.compacts: [Say("An oven was built.")]}, again=True)
    return session(seat, client, {AFTERNOON: [Say(DONE)]}, again=True).told(AFTERNOON)
