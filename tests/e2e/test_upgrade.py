"""A newer release takes over the store in the middle of a session: the old one says so, and nothing acknowledged is lost."""

import json
from shlex import join
from typing import Any

import pytest

from tests.e2e.clients import Client
from tests.e2e.day import MORNING, after_call, session
from tests.e2e.dialects import Call, Say
from tests.e2e.seat import Seat, plant, python

pytestmark = pytest.mark.whole

BEFORE, AFTER = "Almonds come on Mondays from the miller.", "The till is emptied at six by Ruth."
# The command line of a release whose views are newer: it makes them anew, and no older one may open the store again.
NEWER = """
from holdfast.engine.store import ALL_VIEWS
for view in ALL_VIEWS:
    view.version += 1
from holdfast.hosts.cli.entry import main
main()
"""
COMMAND = [python(), "-P", "-c", NEWER]


def test_a_session_is_told_that_a_newer_release_took_over_and_nothing_is_lost(client: Client, seat: Seat) -> None:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    upgrade = client.shell(join([*COMMAND, "doctor"]))
    steps: list[Say | Call] = [
        *client.before,
        Call("remember", {"text": BEFORE, "kind": "fact"}),
        upgrade,
        Call("recall", {"query": "when do almonds come"}),
        Call("remember", {"text": AFTER, "kind": "fact"}),
        client.write(str(seat.repository / "oven.py"), "HEAT = 220\n"),
        Say("All is well."),
    ]
    model = session(seat, client, {MORNING: steps})
    assert "is intact" in after_call(model, MORNING, upgrade.tool)
    refusals = model.told(MORNING)[-1].text.count(
        "newer than this Holdfast knows. Upgrade Holdfast. Nothing was changed."
    )
    assert refusals == 2  # of recall and of the second remember
    refused = seat.run([python(), "-P", "-m", "holdfast", "work"])
    assert (refused.returncode, "newer than this Holdfast" in refused.stderr) == (5, True), refused
    assert any((seat.store / "spool").glob("*.json"))
    assert _newer(seat, "work")["problems"] == []
    assert {record["body"] for record in _newer(seat, "list", "--kind", "fact")["records"]} == {BEFORE}
    seen = _newer(seat, "list", "--kind", "observation")["records"]
    assert [one["fields"]["files_modified"] for one in seen] == [["oven.py"]]
    assert [check for check in _newer(seat, "doctor") if check["fix"]] == []


def _newer(seat: Seat, *words: str) -> Any:
    done = seat.run([*COMMAND, *words, "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
