"""Raw activity as hooks tell it: what a client was asked, which tools it used, what came of them. Never the truth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CLIENT_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
)
EVENTS = (*CLIENT_EVENTS, "Injected")  # the last is not a client's: what a hook put into its context
# Folders whose names begin so are where an observer works: what happens there is nobody's work.
OBSERVER_FOLDER = "holdfast-observer-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened in a client. `session` is the client's own, `agent` names a sub-agent, if it was one."""

    id: str
    at: str
    event: str
    session: str
    cwd: str = ""
    client: str = ""
    agent: str = ""
    text: str = ""  # the prompt, or the last message of the assistant
    tool: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""  # what the tool answered, its middle cut out where it was long
    failed: bool = False
    source: str = ""  # how a session started (startup, resume, clear, compact), or what triggered a compaction
    transcript: str = ""
    took_ms: float = 0.0  # CPU the hook had spent when it told this; 0: it did not say


def happening_from_json(value: Any) -> Happening | None:
    """Read what a hook wrote; a line of another shape is nothing."""
    if not isinstance(value, dict) or value.get("event") not in EVENTS:
        return None
    others = ("given", "failed", "took_ms")
    texts = {name: str(value.get(name) or "") for name in Happening.__dataclass_fields__ if name not in others}
    given, took = value.get("given"), value.get("took_ms")
    return Happening(
        **texts,
        given=given if isinstance(given, dict) else {},
        failed=value.get("failed") is True,
        took_ms=float(took) if isinstance(took, int | float) else 0.0,
    )
