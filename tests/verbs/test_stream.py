"""The stream merges what hooks told with what the journal kept; a cursor neither skips nor repeats."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from holdfast.engine.raw import trail
from holdfast.model.query import Query
from holdfast.model.session import HookEvent
from holdfast.verbs.capture.trail import drain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.search.recall import recall
from holdfast.verbs.upkeep.stream import Item, Wanted, older
from tests.conftest import keep, new_file
from tests.verbs.scripts import Script, scripts_in


def told(script: Script, number: int, event: str, **given: object) -> None:
    """Drop what a hook would, and drain it."""
    common = {"session": "s1", "cwd": "/code/shop", "client": "claude-code", "at": script.memory.clock.now()}
    value = {"id": f"{number:020d}-1", "event": event, **common, **given}
    new_file(script.folder / "spool" / f"{number:020d}.json", json.dumps(value))
    drain(script.memory, script.folder / "spool")


def add(memory: Memory, at: str, events: Iterable[dict[str, Any]]) -> None:
    trail.add(memory.store, [HookEvent(id=str(n), at=at, session="s1", **event) for n, event in enumerate(events)])


def pages(memory: Memory, limit: int, **wanted: Any) -> list[Item]:
    """Return all pages of so many items: none comes twice, and the latest comes first."""
    page = older(memory, Wanted(**wanted), limit=limit)
    found = [*page.items]
    while page.place is not None:
        page = older(memory, Wanted(**wanted), before=page.place, limit=limit)
        found += page.items
    assert len(found) == len({(one.at, one.what, one.text, one.verb) for one in found})
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)
    return found


def tally(memory: Memory, by: str, limit: int, **wanted: Any) -> Counter[str]:
    return Counter(getattr(item, by) for item in pages(memory, limit, **wanted))


def busy(script: Script, turns: int) -> None:
    """Let records, prompts, commands, and now and then a recall happen."""
    for number in range(turns):
        script.time.now += 60
        record = keep(script.memory, f"Shelf {number} holds ledger w{number}x.")
        script.time.now += 1
        told(script, 2 * number, "UserPromptSubmit", text=f"Please look at shelf {number}.")
        script.time.now += 1
        ran = {"tool": "Bash", "given": {"command": f"ls {number}"}, "result": "ok", "took_ms": 12.5}
        told(script, 2 * number + 1, "PostToolUse", **ran)
        if number % 5 == 0:
            recall(script.memory, Query(text=f"w{number}x"))
            record_use(script.memory, [record.id], "applied")


def ran(script: Script, number: str) -> None:
    told(script, int(number), "PostToolUse", tool="Bash", took_ms=10.0 + int(number))


scripts_in(globals(), told, busy, ran, pages, tally, trail=add)


def test_two_who_drain_the_same_spool_do_not_stumble(memory: Memory, tmp_path: Path) -> None:
    file = new_file(tmp_path / "spool" / "1.json", "{}")
    opened = os.open

    def gone(path: "os.PathLike[str] | str", *how: int, **more: Any) -> int:
        if Path(path) == file:
            file.unlink()  # another process was faster
        return opened(path, *how, **more)

    with patch.object(os, "open", gone):
        assert drain(memory, tmp_path / "spool") == 0
    assert not list((tmp_path / "spool").iterdir())
