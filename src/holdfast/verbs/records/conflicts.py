"""Which records a text seems to contradict. Being alike makes two texts worth comparing; it is never the reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.engine.views import links
from holdfast.model.record import Record
from holdfast.policy.admission.admit import MOMENTARY, Similar
from holdfast.verbs.memory import Memory

if TYPE_CHECKING:
    from holdfast.policy.language.contradict import Contradiction

# Measured on the labelled pairs, each among all the others: every contradiction that can be told is among the four
# nearest by words, and below this share what is told is mostly wrong.
NEAREST, LEAST_SHARE = 4, 0.15
READ = 1_500  # characters of a text that are compared: reading costs about 0.1 ms a sentence
# Somebody said how the two go together, so there is nothing left to ask.
SETTLES = frozenset({"supersedes", "refines", "elaborates", "relates_to", "depends_on"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A record that seems to contradict a text, and why."""

    record: Record
    found: "Contradiction"

    @property
    def replaced(self) -> bool:
        """Whether the newer text says itself that something changed."""
        return self.found.reason == "change"


def clashes(memory: Memory, record: Record, near: Sequence[Similar]) -> tuple[Clash, ...]:
    """Give those of some near records that a record seems to contradict, surest first."""
    known = {link.target for link in record.links}
    nearest = sorted((one for one in near if is_comparable(record, one.record)), key=lambda one: -one.similarity)
    worth = [one for one in nearest[:NEAREST] if one.similarity >= LEAST_SHARE and one.record.id not in known]
    found = [Clash(record=one.record, found=why) for one in worth if (why := why_not_both(record, one))]
    if not found:
        return ()
    replaced = links.superseded(memory.store.db, [one.record.id for one in found])
    open_ones = [one for one in found if one.record.id not in replaced]
    return tuple(sorted(open_ones, key=lambda one: -one.found.strength))


def is_comparable(record: Record, other: Record) -> bool:
    """Tell whether both claim something meant to last, and could be read as speaking of the same place."""
    lasting = record.kind not in MOMENTARY and other.kind not in MOMENTARY
    own = record.source != "starter" and other.source != "starter"
    return lasting and own and (record.project == other.project or not record.project or not other.project)


def why_not_both(record: Record, near: Similar) -> "Contradiction | None":
    """Give why two records cannot both hold; the later one is read as the newer word."""
    from holdfast.policy.language.contradict import contradicts  # noqa: PLC0415  20 ms: only when there is something to compare

    older, newer = in_order(record, near.record)
    return contradicts(said(older), said(newer), similarity=near.similarity)


def in_order(record: Record, other: Record) -> tuple[Record, Record]:
    """Give two records, the one kept first in front."""
    first, second = sorted((record, other), key=lambda one: (one.created_at, one.id))
    return first, second


def said(record: Record) -> str:
    """Give what a record claims. Its fields argue for and against it, so they are no part of that."""
    title = "" if record.body.startswith(record.title.rstrip("…")) else f"{record.title}\n"
    return f"{title}{record.body}"[:READ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What needs no asking: records that were replaced, and pairs somebody connected."""

    replaced: frozenset[str] = frozenset()
    connected: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def covers(self, one: str, other: str) -> bool:
        """Tell whether there is nothing left to ask about two records."""
        pair = (one, other) if one < other else (other, one)
        return one in self.replaced or other in self.replaced or pair in self.connected


def settled_among(memory: Memory, ids: Sequence[str]) -> Settled:
    """Give what is settled about some records."""
    db = memory.store.db
    arrows = [arrow for arrow in links.leaving(db, ids) if arrow.relation in SETTLES]
    ends = (sorted((arrow.source, arrow.target)) for arrow in arrows)
    return Settled(
        replaced=frozenset(links.superseded(db, ids)), connected=frozenset((first, second) for first, second in ends)
    )
