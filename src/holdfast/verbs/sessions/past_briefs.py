"""Briefs that sessions were given in the past: which memories were in them on a date, and what came and went between two."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engine.views import records, sessions
from holdfast.model.event import Event
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory

MOST_LOOKED_AT = 5_000
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
