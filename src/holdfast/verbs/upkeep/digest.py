"""The digest of a range of time: what was learned, changed, confirmed, retired and contradicted, by whom, and what agents got."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from holdfast.engine.views import records, usage
from holdfast.model.event import Event
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.verbs.memory import Memory

MOST_READ = 20_000  # events of a range, the latest
MOST_IN_TEXT = 40  # memories of a section
PASSING = ("observation", "summary")  # kinds that describe one moment
SECTIONS = {
    "Learned": "saved and in use",
    "Changed": "the text or its parts",
    "Confirmed": "checked and still true",
    "Retired": "no longer used",
    "Contradicted": "reported as wrong",
}
_VERBS = {"recorded": "Learned", "revised": "Changed", "verified": "Confirmed", "retired": "Retired"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A memory in a section: when it was last noted there, and by whom."""

    record: Record
    at: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What happened in a range of time, the latest first in each section; counts of what agents got and what followed."""

    since: str
    until: str
    sections: Mapping[str, tuple[Note, ...]]
    by: Counter[str]  # changes by person or agent
    injections: int = 0
    delivered: int = 0  # memories injected, each once for a session
    outcomes: Counter[str] | None = None  # of what was injected, reported or seen by rules

    @property
    def text(self) -> str:
        """The digest to paste into a message."""
        lines = [f"{self.since[:10]} to {self.until[:10]}"]
        for name, notes in self.sections.items():
            lines += [f"\n{name} ({len(notes)})"] if notes else []
            shown = notes[:MOST_IN_TEXT]
            lines += [f"- {shorten(note.record.title, 120)} ({short(note.record.id)}, {note.by})" for note in shown]
            lines += [f"- and {len(notes) - len(shown):,} more"] if len(notes) > len(shown) else []
        followed = ", ".join(f"{number} {name}" for name, number in (self.outcomes or {}).items())
        got = f"Injected {counted(self.injections, 'time')}, {counted(self.delivered, 'memory')}"
        return "\n".join([*lines, f"\n{got}{': ' + followed if followed else ''}"])


def digest(memory: Memory, since: str, until: str, *, everywhere: bool = False) -> Digest:
    """Return the digest of a project, or of all, from an instant to another."""
    verbs = (*_VERBS, "used", "injected")
    events = [event for event in memory.store.happened(verbs, since, MOST_READ) if event.at < until]
    known = records.by_ids(memory.store, {id_ for event in events for id_ in _ids(event)})
    ours = {
        id_: entry.record
        for id_, entry in known.items()
        if (everywhere or entry.record.project in (memory.project, "")) and entry.record.state != "erased"
    }
    sections: dict[str, dict[str, Note]] = {name: {} for name in SECTIONS}
    by: Counter[str] = Counter()
    pairs, injections = set[tuple[str, str]](), 0
    for event in events:
        if event.verb == "injected":
            own = {(event.about, id_) for id_ in _ids(event) if id_ in ours}
            pairs, injections = pairs | own, injections + bool(own)
        elif event.about in ours and (section := _section(event, ours[event.about])):
            author = event.by.name or event.by.kind
            sections[section].setdefault(event.about, Note(record=ours[event.about], at=event.at, by=author))
            by[author] += 1
    uses = [use for use in usage.all_since(memory.store, since) if (use.session, use.id) in pairs and use.at < until]
    latest = {key: list(same)[-1].outcome for key, same in groupby(sorted(uses, key=_pair), key=_pair)}
    return Digest(
        since=since,
        until=until,
        sections={name: tuple(notes.values()) for name, notes in sections.items()},
        by=by,
        injections=injections,
        delivered=len(pairs),
        outcomes=Counter(latest.values()),
    )


def _pair(use: usage.Use) -> tuple[str, str]:
    return use.session, use.id


def _section(event: Event, record: Record) -> str:
    """Return the section that an event belongs to; "" for what describes one moment, and uses that confirm."""
    if record.kind in PASSING:
        return ""
    if event.verb == "used":
        return "Contradicted" if event.data.get("outcome") in ("contradicted", "refuted") else ""
    return _VERBS[event.verb]


def _ids(event: Event) -> list[str]:
    ids = event.data.get("ids") if event.verb == "injected" else [event.about]
    return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []
