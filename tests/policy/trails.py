"""Recorded sessions of several clients, one file each, with the observations a reader would write."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent, hook_event_from_json
from holdfast.policy.activity.observe import observations_of
from holdfast.policy.activity.turns import turns
from holdfast.policy.language.reading import SentenceReader

FOLDER = Path(__file__).parent / "sessions"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def session(name: str) -> list[HookEvent]:
    """Read one recorded session."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [one for line in lines if (one := hook_event_from_json(json.loads(line)))]


class Trail:
    """Writes happenings down, one second apart."""

    def __init__(self, client: str = "claude-code", session: str = "s1") -> None:
        self.client = client
        self.session = session
        self.events: list[HookEvent] = []

    def tell(self, event: str, **given: Any) -> "Trail":
        place = len(self.events) + 1
        at = f"2026-03-02T10:00:{place:02d}.000Z"
        base: dict[str, Any] = {"id": f"h{place:03d}", "at": at, "session": self.session, "client": self.client}
        self.events.append(HookEvent(**(base | {"cwd": "/repo", "event": event} | given)))
        return self

    def ask(self, text: str) -> "Trail":
        return self.tell("UserPromptSubmit", text=text)

    def use(self, tool: str, result: str = "ok", *, failed: bool = False, agent: str = "", **given: Any) -> "Trail":
        event = "PostToolUseFailure" if failed else "PostToolUse"
        return self.tell(event, tool=tool, given=given, result=result, failed=failed, agent=agent)

    def stop(self, text: str = "") -> "Trail":
        return self.tell("Stop", text=text)


def events_of(
    trail: str | list[Any], more: Iterable[Any] = (), name: str = "s1", client: str = "claude-code"
) -> list[HookEvent]:
    """Return a recorded session, or prompts and answers in turn, with other events between them."""
    recorded = session(trail) if isinstance(trail, str) else []
    written, said = Trail(client, recorded[0].session if recorded else name), 0
    for item in (*(() if recorded else trail), *more):
        if isinstance(item, str):
            (written.stop if said % 2 else written.ask)(item)
            said += 1
        else:
            (written.use if "event" not in item else written.tell)(**item)
    return [*recorded, *written.events]


def observations(
    activity: Sequence[HookEvent], *, include_open: bool = False, reader: SentenceReader | None = None
) -> list[Draft]:
    done = (turn for turn in turns(activity, reader) if turn.done or include_open)
    return [draft for turn in done for draft in observations_of(turn)]
