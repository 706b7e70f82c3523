"""Promises about a client, each tried on a home and a repository of its own."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

import pytest

from tests.e2e.clients import CLIENTS, Client
from tests.e2e.day import AFTERNOON, COMMAND, DONE, FAILING, LEARNED, MORNING, SIGN, after_call, opening, session
from tests.e2e.dialects import Call, Say
from tests.e2e.model import Model
from tests.e2e.seat import BARE, DECISION, THREAD, Seat, plant, python, take_seat
from tests.engines import release
from tests.rows import missing

OPEN = Say("The shop is open.")


@pytest.fixture
def placed(client: Client, seat: Seat) -> Seat:
    seat.holdfast("init", "--yes", "--client", client.name)
    plant(seat)
    return seat


def test_a_home_is_set_up_so_that_the_doctor_is_content_and_is_byte_by_byte_what_it_was_afterwards(
    client: Client, seat: Seat
) -> None:
    files, folders = seat.files(), seat.folders()
    seat.holdfast("init", "--yes", "--client", client.name, "--instructions")
    assert {name for name in client.files if files[name] != seat.files()[name]}
    checks = {check["name"]: check for check in seat.told("doctor")}
    assert "starts it" in checks[client.name]["found"]
    assert [check for check in checks.values() if check["fix"]] == []
    seat.holdfast("uninstall", "--yes")
    assert (seat.files(), seat.folders()) == (files, folders)


@pytest.mark.whole
def test_after_a_session_nothing_of_ours_is_left(client: Client, seat: Seat) -> None:
    before = seat.files()
    seat.holdfast("init", "--yes", "--client", client.name)
    placed = seat.files()
    session(seat, client, {MORNING: [OPEN]})
    seat.work()
    worked = seat.files()
    seat.holdfast("uninstall", "--yes")
    left = seat.files()
    for name in (name for name in placed if placed[name] != before.get(name)):
        if worked[name] == placed[name]:
            assert left.get(name) == before.get(name), name
        else:  # the client wrote into it as well: its own stays, ours is gone
            assert b"holdfast" not in left[name], name


@pytest.mark.whole
def test_a_resumed_session_is_the_same_and_is_told_what_is_new(client: Client, placed: Seat) -> None:
    session(placed, client, {MORNING: [OPEN]})
    placed.holdfast("remember", "--kind", "learning", LEARNED)
    placed.work()
    resumed = session(placed, client, {AFTERNOON: [Say(DONE)]}, again=True).told(AFTERNOON)[0].text
    placed.work()
    assert missing(resumed, OPEN.text, THREAD, LEARNED) == []
    assert placed.sessions() == [f"{MORNING}, please."]


@pytest.mark.whole
def test_the_hand_over_reaches_the_model_after_a_compaction(client: Client, placed: Seat) -> None:
    """Whatever the model is asked once the conversation was full and cut, however soon that is."""
    write, failing = client.write(str(placed.repository / "oven.py"), "HEAT = 220\n"), client.shell(FAILING)
    work: list[Say | Call] = [write, replace(failing, full=not client.compacts), Say("The oven does not work yet.")]
    morning = session(placed, client, {MORNING: work})
    if client.compacts:
        session(placed, client, {client.compacts: [Say("An oven was built.")]}, again=True)
        asked = session(placed, client, {AFTERNOON: [Say(DONE)]}, again=True).told(AFTERNOON)
    else:
        full = next(at for at, request in enumerate(morning.requests) if request.answer.full)
        asked = morning.requests[full + 1 :]
    after = "\n".join(request.text for request in asked)
    handed = after.partition("<holdfast-handover>")[2].partition("</holdfast-handover>")[0]
    assert missing(handed, MORNING, "unittest", "oven.py") == []


@pytest.mark.whole
def test_the_work_of_a_sub_agent_belongs_to_the_session_that_sent_it(client: Client, placed: Seat) -> None:
    errand, almonds = "Fetch almonds from the cellar", str(placed.repository / "almonds.py")
    work: list[Say | Call] = [
        client.shell(COMMAND),
        client.write(almonds, "WEIGHT = 7\n"),
        Say("The almonds are here."),
    ]
    model = session(placed, client, {MORNING: [*client.delegate(errand), Say("All is ready.")], errand: work})
    placed.work()
    assert SIGN in model.told(errand)[1].text
    assert placed.sessions() == [f"{MORNING}, please."]
    (found,) = [one for one in placed.records("observation") if one["fields"].get("files_modified") == ["almonds.py"]]
    assert "sub-agent" in found["body"]


BEFORE, AFTER = "Almonds come on Mondays from the miller.", "The till is emptied at six by Ruth."


@pytest.mark.whole
def test_two_clients_at_once_are_both_told_and_both_remembered(client: Client, tmp_path: Path) -> None:
    other = CLIENTS[(CLIENTS.index(client) + 1) % len(CLIENTS)] if client in CLIENTS else client
    seat = take_seat(tmp_path, {**client.files, **other.files})
    seat.holdfast("init", "--yes", *(word for name in {client.name, other.name} for word in ("--client", name)))
    plant(seat)

    def work(client: Client, cue: str, fact: str) -> Model:
        keeping = Call("remember", {"text": fact, "kind": "fact"})
        return session(seat, client, {cue: [*client.before, keeping, Say(DONE)]})

    with ThreadPoolExecutor(2) as both:
        models = both.map(work, (client, other), (MORNING, AFTERNOON), (BEFORE, AFTER))
        firsts = [model.told(cue)[0].text for cue, model in zip((MORNING, AFTERNOON), models, strict=True)]
    seat.work()
    assert [first for first in firsts if DECISION not in first] == []
    facts = seat.records("fact")
    assert {record["body"] for record in facts} == {BEFORE, AFTER}
    assert sorted(seat.sessions()) == [f"{AFTERNOON}, please.", f"{MORNING}, please."]
    assert len({record["by"]["session"] for record in facts}) == 2


@pytest.mark.whole
def test_a_session_is_told_that_a_newer_release_took_over_and_nothing_is_lost(client: Client, placed: Seat) -> None:
    """It makes the views anew, and no older one may open the store again."""
    command = [python(), "-P", "-c", release(1)]

    def newer(*words: str) -> Any:
        done = placed.run([*command, *words, "--json"])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    upgrade = client.shell(join([*command, "doctor"]))
    steps: list[Say | Call] = [
        *client.before,
        Call("remember", {"text": BEFORE, "kind": "fact"}),
        upgrade,
        Call("recall", {"query": "when do almonds come"}),
        Call("remember", {"text": AFTER, "kind": "fact"}),
        client.write(str(placed.repository / "oven.py"), "HEAT = 220\n"),
        OPEN,
    ]
    model = session(placed, client, {MORNING: steps})
    assert "is intact" in after_call(model, MORNING, upgrade.tool)
    refusal = "newer than this Holdfast knows. Upgrade Holdfast. Nothing was changed."
    assert model.told(MORNING)[-1].text.count(refusal) == 2  # of recall and of the second remember
    refused = placed.run([python(), "-P", "-m", "holdfast", "work"])
    assert (refused.returncode, "newer than this Holdfast" in refused.stderr) == (5, True), refused
    assert any((placed.store / "spool").glob("*.json"))
    assert newer("work")["problems"] == []
    assert {record["body"] for record in newer("list", "--kind", "fact")["records"]} == {BEFORE}
    seen = newer("list", "--kind", "observation")["records"]
    assert [one["fields"]["files_modified"] for one in seen] == [["oven.py"]]
    assert [check for check in newer("doctor") if check["fix"]] == []


@pytest.mark.whole
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
    assert seat.sessions() == [f"{MORNING}, please."]


def test_every_limit_stands_in_the_readme_with_its_reason_and_is_about_a_promise_there_is() -> None:
    lines = Path(__file__).with_name("README.md").read_text(encoding="utf-8").partition("## What clients cannot")[2]
    listed = [line for line in lines.splitlines() if line.startswith("| ")][2:]
    limits = [(one.title, promise, why) for one in CLIENTS for promise, why in one.cannot.items()]
    assert sorted(listed) == sorted(f"| {' | '.join(limit)} |" for limit in limits)
    promises = "".join(name.replace("_", "") for name in globals())
    assert [promise for _, promise, _ in limits if promise not in promises] == []
