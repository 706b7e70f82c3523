"""Sessions: bounded pieces of work by an agent, folded from their events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.model.event import Event
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
