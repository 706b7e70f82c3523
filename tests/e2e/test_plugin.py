"""The plugin does what `init` does: brief, tools, warning and capture, and one session of it all."""

from pathlib import Path

import pytest

from tests.e2e.clients import Client
from tests.e2e.day import LEARNED, MORNING, after_call, opening, session
from tests.e2e.seat import BARE, DECISION, Seat, plant, python
from tests.e2e.test_warning import SIGN

pytestmark = pytest.mark.whole


def test_a_session_with_the_plugin_is_told_warned_and_captured(client: Client, seat: Seat) -> None:
    assert client.plugging, f"{client.title} takes no plugin"
    path = f"{Path(python()).parent}:{BARE['PATH']}"  # the plugin finds `holdfast` by its name
    for words in client.plugging:
        done = seat.run([*client.program(), *words], {"PATH": path})
        assert done.returncode == 0, done.stderr + done.stdout
    plant(seat)
    model = session(seat, client, {MORNING: opening(client, seat)}, path=path)
    seat.work()
    assert DECISION in model.told(MORNING)[0].text
    assert [record["body"] for record in seat.records("learning")] == [LEARNED]
    assert SIGN in after_call(model, MORNING, client.shell("").tool)
    assert [one["fields"].get("files_modified") for one in seat.records("observation")] == [["oven.py"]]
    assert [one["title"].strip('"') for one in seat.told("session", "list")] == [f"{MORNING}, please."]
