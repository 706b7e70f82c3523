"""A day of work in one client: a session that learns something, and another that should know it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.clients import Client
from tests.e2e.dialects import Call, Say
from tests.e2e.model import Model, Script, playing
from tests.e2e.seat import Seat, plant, take_seat

MORNING, AFTERNOON = "Open the marzipan shop", "Close the marzipan shop"
LEARNED = "The oven called Hilde needs ten minutes before it is hot."
DECIDED = "We decided to peel the almonds before they are ground."
COMMAND = "git clean -fdxq build && echo swept the kiln"
FAILING = "python3 -m unittest test_oven"
DONE = "The doors are locked."
SIGN = "Holdfast: high scar"  # of a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Two sessions of one client and where they took place."""

    client: Client
    seat: Seat
    morning: Model
    afternoon: Model


def work_a_day(client: Client, root: Path) -> Day:
    """Set a client up, plant something to know, and hold two sessions."""
    seat = take_seat(root, client.files)
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    morning = session(seat, client, {MORNING: opening(client, seat)})
    seat.work()
    afternoon = session(seat, client, {AFTERNOON: [Say(DONE)]})
    seat.work()
    return Day(client=client, seat=seat, morning=morning, afternoon=afternoon)


def opening(client: Client, seat: Seat) -> Script:
    """Give what the model does in the morning: asks, keeps, runs a command it is warned of, writes a file, concludes."""
    return [
        *client.before,
        Call("recall", {"query": "how do we price things"}),
        Call("remember", {"text": LEARNED, "kind": "learning"}),
        client.shell(COMMAND),
        client.write(str(seat.repository / "oven.py"), "HEAT = 220\n"),
        client.shell(FAILING),
        Say(f"The shop is open.\n\n[decision] {DECIDED}"),
    ]


def session(
    seat: Seat, client: Client, scripts: Mapping[str, Script], *, again: bool = False, path: str = "", **more: Any
) -> Model:
    """Run a client on the first cue until it ends; the model must have found all it wanted to call."""
    cue = next(iter(scripts))
    with playing(scripts, **more) as model:
        prompt = cue if cue.startswith("/") else f"{cue}, please."
        variables = client.variables(model.url) | ({"PATH": path} if path else {})
        done = seat.run([*client.program(), *client.words(prompt, model.url, again=again)], variables)
    said = f"{client.title} ended with {done.returncode}: {done.stderr[-2000:]}{done.stdout[-2000:]}"
    assert done.returncode == 0, said
    assert model.problems == [], said
    assert model.requests, f"{client.title} never asked the model: {said}"
    return model


def after_call(model: Model, cue: str, tool: str) -> str:
    told = model.told(cue)
    place = next(at for at, one in enumerate(told) if isinstance(one.answer, Call) and one.answer.tool.endswith(tool))
    return told[place + 1].text
