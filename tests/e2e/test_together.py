"""Two clients at work at once in one repository, on one store: neither disturbs the other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.clients import CLIENTS, Client
from tests.e2e.day import AFTERNOON, MORNING, session
from tests.e2e.dialects import Call, Say
from tests.e2e.model import Model
from tests.e2e.seat import DECISION, Seat, plant, take_seat

pytestmark = pytest.mark.whole

KEPT = {MORNING: "Almonds come on Mondays from the miller.", AFTERNOON: "The till is emptied at six by Ruth."}


def test_two_clients_at_once_are_both_told_and_both_remembered(client: Client, tmp_path: Path) -> None:
    other = CLIENTS[(CLIENTS.index(client) + 1) % len(CLIENTS)] if client in CLIENTS else client
    seat = take_seat(tmp_path, {**client.files, **other.files})
    seat.holdfast("init", "--yes", *(word for name in {client.name, other.name} for word in ("--client", name)))
    plant(seat)
    with ThreadPoolExecutor(2) as both:
        one, two = both.submit(_session, seat, client, MORNING), both.submit(_session, seat, other, AFTERNOON)
        models = {MORNING: one.result(), AFTERNOON: two.result()}
    seat.work()
    assert [cue for cue, model in models.items() if DECISION not in model.told(cue)[0].text] == []
    assert {record["body"] for record in seat.records("fact")} == set(KEPT.values())
    listed = seat.told("session", "list")
    assert {one["title"].strip('"') for one in listed} == {f"{MORNING}, please.", f"{AFTERNOON}, please."}
    assert len(listed) == 2
    assert len({record["by"]["session"] for record in seat.records("fact")}) == 2


def _session(seat: Seat, client: Client, cue: str) -> Model:
    keeping = Call("remember", {"text": KEPT[cue], "kind": "fact"})
    return session(seat, client, {cue: [*client.before, keeping, Say("Done.")]})
