"""Briefs that sessions were given in the past: which memories were in them on a date, and what came and went between two."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.engine.views import records, sessions
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.files import FILE
from holdfast.model.ids import Clock
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory

MOST_LOOKED_AT = 5_000
MOST_REPLAYED = 100_000  # events: a store with more cannot be taken back to a date while someone waits
WHY = ("brief", "session start", "start")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastBrief:
    """What one session was given when it began."""

    session: str
    at: str
    tokens: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefChange:
    """What is in the later of two briefs and not in the earlier, and the other way round."""

    added: tuple[Record, ...] = ()
    removed: tuple[Record, ...] = ()
    kept: tuple[Record, ...] = ()


def brief_given(memory: Memory, at: str) -> PastBrief | None:
    """Return the last brief that a session of this project got until an instant; None if there was none."""
    for event in memory.store.happened(("injected",), "", MOST_LOOKED_AT):
        if event.at <= at and event.data.get("why") in WHY and _is_of(memory, event):
            ids = [id_ for id_ in event.data.get("ids", ()) if isinstance(id_, str)]
            known = records.by_ids(memory.store, ids)
            tokens = event.data.get("tokens")
            return PastBrief(
                session=event.about,
                at=event.at,
                tokens=tokens if isinstance(tokens, int) else 0,
                records=tuple(known[id_].record for id_ in ids if id_ in known and known[id_].record.state != "erased"),
            )
    return None


def compare(earlier: Sequence[Record], later: Sequence[Record]) -> BriefChange:
    """Return what changed between two briefs."""
    before, after = {one.id for one in earlier}, {one.id for one in later}
    return BriefChange(
        added=tuple(one for one in later if one.id not in before),
        removed=tuple(one for one in earlier if one.id not in after),
        kept=tuple(one for one in later if one.id in before),
    )


def _is_of(memory: Memory, event: Event) -> bool:
    session = sessions.of(memory.store, event.about)
    return session is not None and session.project == memory.project


def known_at(memory: Memory, folder: Path, at: str) -> Memory:
    """Return a memory with what was known at an instant, in a store of its own in a folder; its clock stands there."""
    events = list(islice((event for _, event in memory.store.journal() if event.at <= at), MOST_REPLAYED + 1))
    if len(events) > MOST_REPLAYED:
        raise Invalid(f"More than {MOST_REPLAYED:,} events would have to be replayed.", hint="Leave the date out.")
    store = open_store(SQLite(folder / FILE))
    store.commit(events)
    seconds = datetime.fromisoformat(at).timestamp()
    return replace(memory, store=store, embedder=None, clock=Clock(lambda: seconds))
