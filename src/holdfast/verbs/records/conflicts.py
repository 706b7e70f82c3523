"""Find records that seem to contradict a text. Similarity only selects what is compared; it is never the reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.engine.search.similar import holding
from holdfast.engine.views import links
from holdfast.model.record import Record
from holdfast.policy.admission.admit import MOMENTARY, Similar
from holdfast.policy.language.technologies import rivals
from holdfast.verbs.memory import Memory

if TYPE_CHECKING:
    from holdfast.policy.language.contradict import Contradiction

# Measured on the labelled pairs, each among all the others: every detectable contradiction is among the four nearest by
# words, and below this share most reported contradictions are wrong.
NEAREST, LEAST_SHARE = 4, 0.15
SURE = 0.65  # strength from which a contradiction is marked when it is written
READ = 1_500  # characters of a text that are compared: reading costs about 0.1 ms a sentence
# Links that already state how two records relate, so there is no open conflict.
SETTLES = frozenset({"supersedes", "refines", "elaborates", "relates_to", "depends_on"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyConflict:
    """A record that seems to contradict a text, and the contradiction found."""

    record: Record
    found: "Contradiction"

    @property
    def replaced(self) -> bool:
        """True if the newer text itself says that something changed."""
        return self.found.reason == "change"


def likely_conflicts(memory: Memory, record: Record, near: Sequence[Similar]) -> tuple[LikelyConflict, ...]:
    """Return those of the `near` records that a record seems to contradict, surest first."""
    linked = {link.target for link in record.links}
    comparable = [match for match in near if is_comparable(record, match.record) and match.similarity >= LEAST_SHARE]
    nearest = sorted(comparable, key=lambda match: -match.similarity)[:NEAREST]
    nearest += [
        match for match in rivalling(memory, record) if match.record.id not in {one.record.id for one in nearest}
    ]
    matches = [match for match in nearest if match.record.id not in linked]
    clashing = [
        LikelyConflict(record=match.record, found=why) for match in matches if (why := why_not_both(record, match))
    ]
    if not clashing:
        return ()
    replaced = links.superseded(memory.store, [clash.record.id for clash in clashing])
    unsettled = [clash for clash in clashing if clash.record.id not in replaced]
    return tuple(sorted(unsettled, key=lambda clash: -clash.found.strength))


def rivalling(memory: Memory, record: Record) -> list[Similar]:
    """Return records that name another technology of the same class, such as GCP for AWS, whatever other words they share."""
    names = rivals(claim_of(record))
    found = holding(memory.store, record.project, names) if names else []
    return [Similar(record=other, similarity=LEAST_SHARE) for other in found if is_comparable(record, other)]


def is_comparable(record: Record, other: Record) -> bool:
    """True if both records make lasting claims and may be about the same project."""
    lasting = not {record.kind, other.kind} & MOMENTARY
    own = record.source != "starter" and other.source != "starter"
    return lasting and own and (record.project == other.project or not record.project or not other.project)


def why_not_both(record: Record, near: Similar) -> "Contradiction | None":
    """Return the contradiction between two records, if any; the later record counts as the newer statement."""
    from holdfast.policy.language.contradict import contradicts  # noqa: PLC0415  20 ms: only when there is something to compare

    older, newer = in_order(record, near.record)
    return contradicts(claim_of(older), claim_of(newer), similarity=near.similarity)


def in_order(record: Record, other: Record) -> tuple[Record, Record]:
    """Return two records, oldest first."""
    first, second = sorted((record, other), key=lambda each: (each.created_at, each.id))
    return first, second


def claim_of(record: Record) -> str:
    """Return the text of a record's claim. Its fields argue for and against it, so they are left out."""
    title = "" if record.body.startswith(record.title.rstrip("…")) else f"{record.title}\n"
    return f"{title}{record.body}"[:READ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPairs:
    """Pairs that need no decision: records that were superseded, and pairs that are linked."""

    replaced: frozenset[str] = frozenset()
    connected: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def covers(self, first: str, second: str) -> bool:
        """True if nothing is left to decide about two records."""
        pair = (first, second) if first < second else (second, first)
        return first in self.replaced or second in self.replaced or pair in self.connected


def settled_among(memory: Memory, ids: Sequence[str]) -> ResolvedPairs:
    """Return what is settled about these records."""
    store = memory.store
    arrows = [arrow for arrow in links.leaving(store, ids) if arrow.relation in SETTLES]
    ends = (sorted((arrow.source, arrow.target)) for arrow in arrows)
    return ResolvedPairs(
        replaced=frozenset(links.superseded(store, ids)), connected=frozenset((first, second) for first, second in ends)
    )
