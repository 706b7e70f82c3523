"""The stream merges what hooks told with what the journal kept; a cursor neither skips nor repeats."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.raw import trail
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.trail import HookEvent
from holdfast.verbs.capture.trail import drain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use, retire
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.receipts import deliveries_in, deliveries_of
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.upkeep.erasing import erase
from holdfast.verbs.upkeep.health import timings
from holdfast.verbs.upkeep.stream import Item, Place, Wanted, head, newer, older, place_of
from tests.conftest import Time, keep
from tests.rows import refused


def told(folder: Path, number: int, at: str, event: str, **given: object) -> None:
    """Drop what a hook would."""
    folder.mkdir(exist_ok=True)
    common = {"session": "s1", "cwd": "/code/shop", "client": "claude-code"}
    value = {"id": f"{number:020d}-1", "at": at, "event": event, **common, **given}
    (folder / f"{number:020d}.json").write_text(json.dumps(value))


def everything(memory: Memory, wanted: Wanted, limit: int) -> list[Item]:
    found: list[Item] = []
    page = older(memory, wanted, limit=limit)
    while True:
        found += page.items
        if page.place is None:
            return found
        page = older(memory, wanted, before=page.place, limit=limit)


def busy(memory: Memory, time: Time, spool: Path) -> None:
    """Let records, recalls and prompts happen in turns."""
    memory = begin(memory, title="Refund totals")
    for number in range(30):
        time.now += 60
        record = keep(memory, f"Shelf {number} holds ledger w{number}x.")
        time.now += 1
        told(spool, 2 * number, memory.clock.now(), "UserPromptSubmit", text=f"Please look at shelf {number}.")
        time.now += 1
        ran = {"tool": "Bash", "given": {"command": f"ls {number}"}, "result": "ok", "took_ms": 12.5}
        told(spool, 2 * number + 1, memory.clock.now(), "PostToolUse", **ran)
        if number % 5 == 0:
            recall(memory, Query(text=f"w{number}x"))
            record_use(memory, [record.id], "applied")
    drain(memory, spool)


def test_pages_of_any_size_tell_everything_once_and_latest_first(memory: Memory, time: Time, tmp_path: Path) -> None:
    busy(memory, time, tmp_path / "spool")
    for limit in (1, 7, 200):
        found = everything(memory, Wanted(), limit)
        assert len(found) == len({(one.at, one.what, one.text, one.verb) for one in found})
        assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)
        counts = {"record": 30, "prompt": 30, "tool": 30, "asked": 6, "use": 6, "session": 1}
        assert {what: sum(one.what == what for one in found) for what in counts} == counts
    assert {one.what for one in everything(memory, Wanted(whats=("prompt",)), 7)} == {"prompt"}
    assert len(everything(memory, Wanted(project=memory.project, whats=("record",)), 7)) == 30
    assert {one.client for one in everything(memory, Wanted(client="claude-code"), 40)} == {"claude-code"}
    assert {one.session for one in everything(memory, Wanted(session="s1"), 40)} == {"s1"}
    for nothing in (Wanted(project="example.org/other"), Wanted(session="nobody")):
        assert everything(memory, nothing, 40) == []


def test_what_arrives_while_somebody_reads_is_neither_skipped_nor_repeated(
    memory: Memory, time: Time, tmp_path: Path
) -> None:
    busy(memory, time, tmp_path / "spool")
    before = head(memory)
    first = older(memory, Wanted(), limit=20)
    time.now += 60
    fresh = keep(memory, "Something new about the ledger of the ninth shelf.")
    told(tmp_path / "spool", 99, memory.clock.now(), "UserPromptSubmit", text="And now?")
    drain(memory, tmp_path / "spool")
    second = older(memory, Wanted(), before=first.place, limit=20)
    assert not {(one.at, one.text) for one in first.items} & {(one.at, one.text) for one in second.items}
    came = newer(memory, Wanted(), after=before)
    assert {one.text for one in came.items} == {fresh.title, "And now?"}
    assert came.place == head(memory)
    assert newer(memory, Wanted(), after=head(memory)).items == ()


def test_each_item_says_what_it_is_about(memory: Memory, tmp_path: Path) -> None:
    memory = begin(memory, title="Refund totals")
    record = keep(memory, "Refunds go through the ledger.")
    retire(memory, record.id, "it moved")
    memory.commit([memory.event("injected", "s1", data={"ids": [record.id], "why": "action site", "tokens": 40})])
    memory.commit([memory.event("injected", "s1", data={"ids": [record.id], "why": "brief", "tokens": 90})])
    gone = keep(memory, "The secret recipe has nutmeg.")
    erase(memory, gone.id)
    ran = {"tool": "Bash", "given": {"command": "make"}, "result": "boom", "failed": True}
    told(tmp_path / "spool", 1, memory.clock.now(), "PostToolUseFailure", **ran)
    drain(memory, tmp_path / "spool")
    found = {one.what: one for one in older(memory, Wanted()).items}
    assert (found["change"].verb, found["change"].detail) == ("retired", "it moved")
    assert (found["warning"].text, found["warning"].tokens) == ("Refunds go through the ledger.", 40)
    assert (found["receipt"].text, found["receipt"].tokens) == ("brief: 1 memory", 90)
    assert (found["tool"].text, found["tool"].detail, found["tool"].failed) == ("Bash make", "boom", True)
    assert found["session"].text == "Refund totals"
    assert not [one for one in older(memory, Wanted()).items if "nutmeg" in one.text + one.detail]
    assert found["record"].records == (found["change"].records[0],)


def test_a_place_is_read_as_it_was_written() -> None:
    assert place_of(str(Place(seq=12, trail_id="00-1"))) == Place(seq=12, trail_id="00-1")
    for wrong in ("", "x", "1e3", "9" * 30, f"1.{'x' * 200}"):
        refused(Invalid, place_of, wrong)


def test_two_who_drain_the_same_spool_do_not_stumble(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(tmp_path / "spool", 1, memory.clock.now(), "UserPromptSubmit", text="Hello.")
    file = next((tmp_path / "spool").glob("*.json"))
    opened = os.open

    def gone(path: "os.PathLike[str] | str", *how: int, **more: Any) -> int:
        if Path(path) == file:
            file.unlink()  # another process was faster
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", gone)
    assert drain(memory, tmp_path / "spool") == 0
    assert not list((tmp_path / "spool").iterdir())


def test_hooks_tell_what_they_cost(memory: Memory, tmp_path: Path) -> None:
    for number in range(10):
        told(tmp_path / "spool", number, memory.clock.now(), "PostToolUse", tool="Bash", took_ms=10.0 + number)
    told(tmp_path / "spool", 99, memory.clock.now(), "Stop")
    drain(memory, tmp_path / "spool")
    assert [tuple(one.values()) for one in timings(memory)] == [("PostToolUse", 10, 15.0, 19.0)]


def test_what_a_session_got_is_listed_with_its_occasion_its_words_and_what_followed(memory: Memory) -> None:
    fields = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}
    scar = keep(memory, "`git push --force` lost two commits.", kind="scar", fields=fields)
    fact = keep(memory, "Refunds go through the ledger.")
    common: dict[str, Any] = {"session": "s1", "client": "claude-code"}
    text = f"Holdfast: scar {short(scar.id)}: never force."
    given = {"ids": [scar.id], "why": "action site", "tokens": 9}
    push = {"event": "PreToolUse", "tool": "Bash", "given": {"command": "git push --force"}}
    told = {"event": "Injected", "text": f"x\n{text}", "given": given}
    at = "2026-09-21T09:00:0{}.000Z"
    events = [HookEvent(id=str(n), at=at.format(n), **common, **each) for n, each in enumerate((push, told))]  # type: ignore[arg-type]
    trail.add(memory.store, events)
    event = memory.event("injected", "s1", data=given)
    memory.commit([replace(event, at="2026-09-21T09:00:01.000Z", by=replace(event.by, session="s1"))])
    recall(memory, Query(text="refunds ledger"))
    record_use(memory, [scar.id], "applied")
    seen = [
        (one.record.id, one.channel, one.occasion, one.match, one.text, one.outcome)
        for one in deliveries_in(memory, "s1")
    ]
    assert seen == [
        (scar.id, "action site", "git push --force", "git push --force", text, "applied"),
        (fact.id, "recall", "refunds ledger", "1 of 1", "", ""),
    ]
    assert [one.channel for one in deliveries_of(memory, scar)] == ["action site"]
    assert deliveries_in(memory, "s2") == []
    usage = get(memory, scar.id).usage
    assert (usage.surfaced, usage.injected, usage.shown) == (0, 1, 1)
