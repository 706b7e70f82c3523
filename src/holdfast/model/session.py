"""Sessions: bounded pieces of work by an agent, folded from their events; and their raw activity, never the truth."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.ids import parse_instant
from holdfast.model.text import text_or_empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A bounded piece of work. `host`, `pid` and `parent` are those of the process that serves it."""

    id: str
    project: str = ""
    agent: str = ""
    title: str = ""
    issue: str = ""
    host: str = ""
    pid: int = 0
    parent: int = 0
    implicit: bool = False
    private: bool = False  # nothing in it was shared
    started_at: str = ""
    closed_at: str = ""
    close: Mapping[str, Any] = field(default_factory=dict)
    # Ids of the first and last `started`, the last with a title and the last `closed`: events come in any order.
    first: str = ""
    last: str = ""
    titled: str = ""
    end: str = ""

    @property
    def is_open(self) -> bool:
        """True while it has not been closed."""
        return not self.end or self.last > self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine and process that serves a session, and a check whether another process is alive."""

    name: str = ""
    pid: int = 0
    parent: int = 0
    session: str = ""  # what the client calls its session
    is_alive: Callable[[int], bool] = bool


def apply_event(session: Session | None, event: Event) -> Session | None:
    """Apply an event to a session. Total: data of the wrong shape changes nothing."""
    known = session or Session(id=event.about)
    match event.verb:
        case "started":
            if not known.first or event.id < known.first:
                known = replace(known, first=event.id, started_at=event.at)
            if event.id > known.titled and (title := text_or_empty(event.data.get("title"))):
                known = replace(known, title=title, titled=event.id)
            if event.id < known.last:
                return known
            data = event.data  # it describes the session: this is its latest start
            names = [name for name in ("project", "issue", "host") if text_or_empty(data.get(name))]
            names += [name for name in ("pid", "parent") if isinstance(data.get(name), int)]
            said: dict[str, Any] = {name: data[name] for name in names} | {"implicit": data.get("implicit") is True}
            private = known.private or data.get("private") is True
            return replace(known, **said, private=private, agent=event.by.name, last=event.id)
        case "closed" if event.id > known.end:
            issue = known.issue or text_or_empty(event.data.get("issue"))
            project = text_or_empty(event.data.get("project")) or known.project
            close = {name: value for name, value in event.data.items() if name != "project"}
            return replace(known, closed_at=event.at, close=close, end=event.id, issue=issue, project=project)
    return session


MOST = 50_000  # how much activity is kept
DAYS = 14.0
_TOOLS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "SubagentStart", "SubagentStop")
CLIENT_EVENTS = ("SessionStart", "UserPromptSubmit", *_TOOLS, "Stop", "SessionEnd")
# Ours: text that the hook injected, and that a session stopped in the middle of a turn.
EVENTS = (*CLIENT_EVENTS, "Injected", "Idle")
# An observer works in folders with this prefix: activity there is not the user's work.
OBSERVER_FOLDER = "holdfast-observer-"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """An event of a client. `session` is the client's own id, `agent` names the sub-agent, if any."""

    id: str
    at: str
    event: str
    session: str
    cwd: str = ""
    client: str = ""
    agent: str = ""
    text: str = ""  # the prompt, or the last message of the assistant
    between: str = ""  # what the assistant wrote before its last message, between tool calls
    tool: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""  # what the tool answered, its middle cut out where it was long
    failed: bool = False
    source: str = ""  # how a session started (startup, resume, clear, compact), or what triggered a compaction
    transcript: str = ""
    branch: str = ""  # of the checkout, when a prompt began or a turn ended
    took_ms: float = 0.0  # CPU time the hook had used when it wrote this; 0: not measured
    settings: Mapping[str, str] = field(default_factory=dict)  # HOLDFAST_* variables of the session's shell


# Longest names and paths of a client; hooks bound the texts themselves.
_TEXTS = ("text", "between", "result")
LONGEST = {"id": 200, "client": 100, "at": 40, "event": 40, "cwd": 4_096, "transcript": 4_096}
LONGEST |= dict.fromkeys(("session", "agent", "tool", "source", "branch"), 1_000) | dict.fromkeys(_TEXTS, 200_000)


def problem_with(event: HookEvent) -> str:
    """Return why an event from a hook cannot be used; "" if it can."""
    for name, longest in LONGEST.items():
        text = getattr(event, name)
        if len(text) > longest:
            return f"{name} has more than {longest:,} characters"
        if name not in _TEXTS and not text.isprintable():  # no surrogate is printable
            return f"{name} holds characters that no name or path can hold"
    if not event.id:
        return "it has no id"
    try:
        parse_instant(event.at)
    except Invalid as problem:
        return problem.message
    return ""


def hook_event_from_json(value: Any) -> HookEvent | None:
    """Parse an event that a hook wrote; None if it has another shape."""
    if not isinstance(value, dict) or value.get("event") not in EVENTS:
        return None
    others = ("given", "failed", "took_ms", "settings")
    texts = {name: str(value.get(name) or "") for name in HookEvent.__dataclass_fields__ if name not in others}
    texts |= {name: _storable(texts[name]) for name in _TEXTS}
    given, took, settings = value.get("given"), value.get("took_ms"), value.get("settings")
    return HookEvent(
        **texts,
        given=_storable(given) if isinstance(given, dict) else {},
        failed=value.get("failed") is True,
        took_ms=float(took) if isinstance(took, int | float) and math.isfinite(took) else 0.0,
        settings={str(name): str(text) for name, text in settings.items()} if isinstance(settings, dict) else {},
    )


def _storable(value: Any) -> Any:
    """Return a JSON value without what no store can hold: tools print NUL bytes and broken Unicode."""
    match value:
        case str():
            return value.replace("\0", "").encode(errors="replace").decode()
        case dict():
            return {_storable(key): _storable(item) for key, item in value.items()}
        case list():
            return [_storable(item) for item in value]
        case float():
            return value if math.isfinite(value) else 0.0
    return value
