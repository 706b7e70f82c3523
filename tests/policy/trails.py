"""Recorded sessions of several clients, one file each, with the observations a reader would write."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from holdfast.model.record import Draft
from holdfast.model.session import HookEvent, hook_event_from_json
from holdfast.policy.activity.observe import observations_of
from holdfast.policy.activity.turns import turns
from holdfast.policy.language.reading import SentenceReader

FOLDER = Path(__file__).parent / "sessions"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def session(name: str) -> list[HookEvent]:
    """Read one recorded session."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [one for line in lines if (one := hook_event_from_json(json.loads(line)))]


def used(tool: str, result: str = "ok", *, failed: bool = False, agent: str = "", **given: Any) -> dict[str, Any]:
    """Return the use of a tool as a hook tells it."""
    event = "PostToolUseFailure" if failed else "PostToolUse"
    return {"event": event, "tool": tool, "given": given, "result": result, "failed": failed, "agent": agent}


def events_of(
    trail: str | list[Any], more: Iterable[Any] = (), name: str = "s1", client: str = "claude-code"
) -> list[HookEvent]:
    """Return a recorded session, or prompts and answers in turn, with other events between them, one second apart."""
    recorded = session(trail) if isinstance(trail, str) else []
    base = {"session": recorded[0].session if recorded else name, "client": client, "cwd": "/repo"}
    told, said = list[HookEvent](), 0
    for place, item in enumerate((*(() if recorded else trail), *more), start=1):
        if isinstance(item, str):
            item = {"event": "Stop" if said % 2 else "UserPromptSubmit", "text": item}
            said += 1
        event = item if "event" in item else used(**item)
        at = f"2026-03-02T10:00:{place:02d}.000Z"
        told.append(HookEvent(**(base | {"id": f"h{place:03d}", "at": at} | event)))
    return [*recorded, *told]


def observations(
    activity: Sequence[HookEvent], *, include_open: bool = False, reader: SentenceReader | None = None
) -> list[Draft]:
    done = (turn for turn in turns(activity, reader) if turn.done or include_open)
    return [draft for turn in done for draft in observations_of(turn)]
