"""What a model reads of contradictions, near-duplicates and what was mined: a question each, with how to answer it."""

from collections.abc import Iterator, Sequence

from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.surfaces.core.text import SHORT, line, within
from holdfast.surfaces.core.work import BUDGET
from holdfast.verbs.capture.mining import Mined, OutputStatus, Run
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.truth.consolidate import Proposal, Proposals
from holdfast.verbs.truth.contradictions import Dispute, Disputes, Moment, Resolved

SETTLE = "revise(newer, links=[supersedes:older]) if one replaces the other, links=[relates_to:id] if both hold, forget(id, reason) if one is wrong."
MERGE = "revise(base, text=…, links=[supersedes:id of each other]) does what is proposed; links=[relates_to:id] if both should stay."
DECIDE = "judge([{id, verdict: confirmed or cancelled}]); cancelled ones never come back."


def disputes_of(found: Disputes, how: str = SETTLE) -> str:
    """Write what contradicts what, and how that came about."""
    looked = _looked_at(found.looked_at, found.not_looked_at, found.not_compared)
    if not found.found:
        return f"No contradiction is open. {looked}"
    head = [f"{counted(len(found.found), 'contradiction')} may be open. {looked}", how]
    return within(BUDGET, head, map(dispute_lines, found.found), "settle some first")


def dispute_lines(dispute: Dispute) -> str:
    """Write one contradiction: both sides, why, and what happened to them."""
    lines = [f"{_side(dispute.newer)}", f"  against {_side(dispute.older)}"]
    lines += [f"  {dispute.why.explain}"] if dispute.why else []
    lines += [f"  marked {dispute.marked_at[:10]} by {dispute.marked_by}"] if dispute.marked_at else []
    lines += [f"  {' · '.join(map(_moment, dispute.timeline))}"] if len(dispute.timeline) > 2 else []
    return "\n".join(lines)


def clashes_of(record: Record, found: Sequence[Clash], how: str = SETTLE) -> str:
    """Write what one record seems to contradict."""
    if not found:
        return f"Nothing near {record.id[:SHORT]} contradicts it."
    items = [f"{_side(one.record)}\n  {one.found.explain}" for one in found]
    return within(BUDGET, [f"{record.id[:SHORT]} may contradict {len(found)}:", how], items, "settle some first")


def resolved_of(done: Resolved) -> str:
    """Write how a contradiction ended."""
    words = {"supersede": "supersedes", "weaken": "weakens", "remove": "removes", "both": "stands beside"}
    return f"{_side(done.kept)}\n  {words[done.how]} {_side(done.other)}"


def proposals_of(found: Proposals, how: str = MERGE) -> str:
    """Write what could be merged, and what would become of every sentence."""
    looked = _looked_at(found.looked_at, found.not_looked_at, found.not_compared)
    if not found.found:
        return f"No near-duplicates. {looked}"
    more = f" and {found.more} more" if found.more else ""
    head = [f"{counted(len(found.found), 'group')}{more} of near-duplicates; nothing was changed. {looked}", how]
    return within(BUDGET, head, map(proposal_lines, found.found), "merge some first")


def proposal_lines(proposal: Proposal) -> str:
    """Write one proposal: the sources, the text, what it adds and what it leaves out."""
    named = ", ".join(f"{one.id[:SHORT]}{' (base)' if one.id == proposal.base else ''}" for one in proposal.sources)
    lines = [named, f"  → {shorten(proposal.text, 600)}"]
    lines += [f"  added from {part.id[:SHORT]}: {shorten(part.sentence, 160)}" for part in proposal.added]
    lines += [
        f"  left out as outdated, from {one.part.id[:SHORT]}: {shorten(one.part.sentence, 120)} ({one.by.explain})"
        for one in proposal.outdated
    ]
    return "\n".join(lines)


def mined_of(found: Sequence[Mined], how: str = DECIDE) -> str:
    """Write what was mined and waits for a yes."""
    if not found:
        return "Nothing that was mined waits for a yes."
    head = [f"{counted(len(found), 'find')} of mining:", how]
    return within(BUDGET, head, map(mined_line, found), "decide on some first")


def mined_line(one: Mined) -> str:
    """Write something mined as one line."""
    seen = f"{one.occurrences}× in {counted(one.sessions, 'session')}, last {one.last_at[:10]}"
    return (
        f"{one.record.id[:SHORT]} [{one.record.kind}, score {one.score:.2f}, {seen}, confidence {one.confidence:.2f}] "
        f"{shorten(one.record.body, 200)}"
    )


def run_of(run: Run) -> str:
    """Write what mining did."""
    head = f"Read {counted(run.outputs, 'output')}: {run.found} found, {run.counted} counted."
    lines = [head]
    lines += [f"offered: {line(record)}" for record in run.offered]
    lines += [f"kept: {line(record)}" for record in run.approved]
    return "\n".join(lines)


def outputs_of(status: OutputStatus) -> str:
    """Write what is kept of logged output, and within which caps."""
    held = status.held
    since = f" since {held.oldest_at[:10]}" if held.oldest_at else ""
    kept = f"{counted(held.outputs, 'output')}{since}, {held.characters:,} characters"
    caps = f"kept {status.most_days} days, {status.most_characters:,} characters at most"
    mined = f"{held.unmined} not mined yet, last mined {held.ran_at[:16] or 'never'}"
    found = f"{counted(held.patterns, 'pattern')} counted, {status.waiting} wait for a yes"
    return f"{kept} ({caps}).\n{mined}; {found}."


def _side(record: Record) -> str:
    return (
        f"{record.id[:SHORT]} ({record.created_at[:10]}, confidence {record.confidence}) {shorten(record.title, 120)}"
    )


def _moment(moment: Moment) -> str:
    return f"{moment.at[:10]} {moment.record[:SHORT]} {moment.verb} by {moment.by}"


def _looked_at(looked_at: int, not_looked_at: int, not_compared: int) -> str:
    return " ".join(_told(looked_at, not_looked_at, not_compared))


def _told(looked_at: int, not_looked_at: int, not_compared: int) -> Iterator[str]:
    yield f"Looked at {looked_at:,} memories."
    if not_looked_at:
        yield f"{not_looked_at:,} older ones only where they are near."
    if not_compared:
        yield f"{counted(not_compared, 'pair')} that are less alike were not compared."
