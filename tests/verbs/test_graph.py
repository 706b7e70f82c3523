"""The graph of a project through four lenses, and the store from above: projects, days, pictures of links."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.engine.raw import trail
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.trail import HookEvent
from holdfast.verbs.capture.trail import drain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.receipts import deliveries_in, deliveries_of
from holdfast.verbs.upkeep.health import timings
from tests.conftest import keep
from tests.verbs.scripts import scripts_in
from tests.verbs.test_stream import told

globals().update(scripts_in(__file__))


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
