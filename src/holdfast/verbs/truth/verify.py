"""Say that a record still holds, ask which do, and tell which a change would falsify."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.engine.views import records
from holdfast.model.anchor import check_anchors, parse_anchor, sight_to_json
from holdfast.model.errors import Conflict
from holdfast.model.freshness import Freshness
from holdfast.model.record import Record
from holdfast.policy.freshness import details, freshness_of, is_about_code, places_of, wrong_claims
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.branches import lost
from holdfast.verbs.records.freshness import freshness, is_here, sight_of
from holdfast.verbs.records.lifecycle import happened, remark

PAGE = 200
Action = Literal["keep", "verify", "re-anchor", "revise", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A record, how far it still holds, and what to do about it."""

    record: Record
    freshness: Freshness
    action: Action
    why: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsified:
    """A record that held before a change and no longer does, with what the change did to it."""

    record: Record
    why: tuple[str, ...]


def verify(memory: Memory, reference: str, *, note: str = "", anchors: tuple[str, ...] | None = None) -> Record:
    """Say that somebody checked a record and it still holds, and note what stands at its places now.

    What an anchor says must be so, or the check is refused. Anchors whose code moved follow it.
    """
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only a memory in use can be verified.")
    data: dict[str, Any] = {"note": remark(note)} if note else {}
    wanted = record.anchors if anchors is None else check_anchors(anchors)
    if is_here(memory, record.project):
        wanted = _followed(memory, replace(record, anchors=wanted))
        seen = sight_of(memory, replace(record, anchors=wanted))
        if wrong := wrong_claims(wanted, seen):
            hint = "Revise what it says or cites, or forget it if it is no longer true."
            raise Conflict(f"{record.id} does not hold: {'; '.join(wrong)}.", hint=hint)
        data |= {"seen": sight_to_json(seen)} if seen else {}
    if anchors is not None or wanted != record.anchors:
        data["anchors"] = list(wanted)
    return happened(memory, "verified", record, data)


def check_all(memory: Memory, *, stale_days: float = 90) -> list[Checked]:
    """Check every record of the project that says how things are, those in trouble first, each with what to do."""
    gone = {record.id: branch for branch, found in lost(memory).items() for record in found}
    checked = [
        _judged(record, judged[record.id], gone.get(record.id, ""), stale_days)
        for page in _pages(memory)
        for judged in [freshness(memory, page)]
        for record in page
    ]
    order = ("forget", "revise", "re-anchor", "verify", "keep")
    return sorted(checked, key=lambda one: order.index(one.action))


def falsified(memory: Memory, base: str, *, everything: bool = False) -> list[Falsified]:
    """Give the team's records that held at a commit and do not hold in the files as they are now."""
    found = []
    for page in _pages(memory):
        shared = [record for record in page if everything or record.visibility == "team"]
        judged = freshness(memory, shared)
        wrong = [record for record in shared if judged[record.id].troubles]
        found += [Falsified(record=one, why=why) for one in wrong if (why := _since(memory, one, judged[one.id], base))]
    return found


def _since(memory: Memory, record: Record, now: Freshness, base: str) -> tuple[str, ...]:
    """Give what is wrong now and was not at a commit."""
    before = freshness_of(record, memory.checkout.sight(places_of(record), at=base), memory.clock.now())
    wrong_before = {one.anchor for one in before.troubles}
    return tuple(details(replace(now, findings=tuple(one for one in now.troubles if one.anchor not in wrong_before))))


def _judged(record: Record, found: Freshness, branch: str, stale_days: float) -> Checked:
    action, why = _advice(record, found, branch, stale_days)
    commands = {
        "forget": f"holdfast forget {record.id[:10]} --reason …",
        "revise": f"holdfast revise {record.id[:10]} --text …",
        "re-anchor": f"holdfast verify {record.id[:10]}",
        "verify": f"holdfast verify {record.id[:10]}",
        "keep": "",
    }
    return Checked(record=record, freshness=found, action=action, why=why, command=commands[action])


def _advice(record: Record, found: Freshness, branch: str, stale_days: float) -> tuple[Action, str]:
    told = "; ".join(details(found))
    if branch:
        return "forget", f"its branch {branch} is gone and was never merged"
    if found.state == "missing":
        return ("forget" if _all_gone(found) else "revise"), told
    if found.state == "changed":
        return "revise", told
    if found.moved:
        return "re-anchor", told
    if found.state == "fresh":
        return "keep", ""
    if found.state == "unverified" and record.anchors:
        return "verify", "nobody noted what stood there"
    late = found.days is not None and found.days > stale_days
    return ("verify", f"checked {found.days:.0f} days ago") if late else ("keep", "")


def _all_gone(found: Freshness) -> bool:
    return all(one.state == "missing" for one in found.findings)


def _followed(memory: Memory, record: Record) -> tuple[str, ...]:
    moved = {one.anchor: one.moved_to for one in freshness(memory, [record])[record.id].moved} if record.anchors else {}
    return tuple(moved.get(anchor, anchor) for anchor in record.anchors)


def _pages(memory: Memory) -> Iterator[Sequence[Record]]:
    """Give the project's active records that say how things are, page by page."""
    low, high = records.span(memory.store.project_number(memory.project))
    last = low - 1
    while page := [entry for entry in records.after(memory.store.db, last, PAGE) if entry.number <= high]:
        yield [one.record for one in page if one.record.state == "active" and is_about_code(one.record.kind)]
        last = page[-1].number


def cited_files(record: Record) -> list[str]:
    """Give the files a record cites, its anchors first."""
    named = [*record.anchors, *(record.seen.marks if record.seen else ())]
    paths = (
        place.path for anchor in named if (place := parse_anchor(anchor)).kind not in ("version", "commit", "absent")
    )
    return list(dict.fromkeys(path for path in paths if path))
