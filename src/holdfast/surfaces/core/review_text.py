"""Format contradictions, near-duplicates and mined candidates as text for models, with how to decide on each."""

from collections.abc import Sequence

from holdfast.model.event import VERB_WORDS
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import counted, filled, shorten
from holdfast.surfaces.core.text import line, within
from holdfast.surfaces.reader import MODEL, Reader
from holdfast.verbs.capture.mining import Mined, OutputStatus, Run
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.truth.consolidate import Proposal, Proposals
from holdfast.verbs.truth.contradictions import Dispute, Disputes, Resolved

DECIDE = "judge([{id, verdict: confirmed or cancelled}]); cancelled ones never come back."


def disputes_of(disputes: Disputes, reader: Reader = MODEL) -> str:
    """Format open contradictions and their history."""
    coverage = _looked_at(disputes.looked_at, disputes.not_looked_at, disputes.not_compared)
    if not disputes.found:
        return f"No contradiction is open. {coverage}"
    head = [f"{counted(len(disputes.found), 'contradiction')} may be open. {coverage}", reader.settle]
    return within(
        reader.budget, head, (dispute_lines(dispute, reader) for dispute in disputes.found), "settle some first"
    )


def dispute_lines(dispute: Dispute, reader: Reader = MODEL) -> str:
    """Format one contradiction: both sides, the reason, and its history."""
    moments = (
        f"{reader.day(one.at)} {short(one.record)} {VERB_WORDS.get(one.verb, one.verb)} by {one.by}"
        for one in dispute.timeline
    )
    return "\n  ".join(
        filled(
            _side(dispute.newer, reader),
            f"against {_side(dispute.older, reader)}",
            dispute.why and dispute.why.explain,
            dispute.marked_at and f"marked {reader.day(dispute.marked_at)} by {dispute.marked_by}",
            len(dispute.timeline) > 2 and " · ".join(moments),
        )
    )


def likely_conflicts_of(record: Record, clashes: Sequence[LikelyConflict], reader: Reader = MODEL) -> str:
    """Format what one record seems to contradict."""
    if not clashes:
        return f"Nothing near {short(record.id)} contradicts it."
    items = [f"{_side(clash.record, reader)}\n  {clash.found.explain}" for clash in clashes]
    return within(
        reader.budget, [f"{short(record.id)} may contradict {len(clashes)}:", reader.settle], items, "settle some first"
    )


def resolved_of(done: Resolved, reader: Reader = MODEL) -> str:
    """Format how a contradiction was resolved."""
    words = {"supersede": "supersedes", "weaken": "weakens", "remove": "removes", "both": "is kept along with"}
    return f"{_side(done.kept, reader)}\n  {words[done.how]} {_side(done.other, reader)}"


def proposals_of(proposals: Proposals, reader: Reader = MODEL) -> str:
    """Format merge proposals, and where every sentence would go."""
    coverage = _looked_at(proposals.looked_at, proposals.not_looked_at, proposals.not_compared)
    if not proposals.found:
        return f"No near-duplicates. {coverage}"
    more = f" and {proposals.more} more" if proposals.more else ""
    head = [
        f"{counted(len(proposals.found), 'group')}{more} of near-duplicates; nothing was changed. {coverage}",
        reader.merge,
    ]
    return within(reader.budget, head, map(proposal_lines, proposals.found), "merge some first")


def proposal_lines(proposal: Proposal) -> str:
    """Format one proposal: the sources, the merged text, what it adds and what it leaves out."""
    named = ", ".join(
        f"{short(source.id)}{' (base)' if source.id == proposal.base else ''}" for source in proposal.sources
    )
    lines = [named, f"  → {shorten(proposal.text, 600)}"]
    lines += [f"  added from {short(part.id)}: {shorten(part.sentence, 160)}" for part in proposal.added]
    lines += [
        f"  left out as outdated, from {short(sentence.part.id)}: {shorten(sentence.part.sentence, 120)} ({sentence.by.explain})"
        for sentence in proposal.outdated
    ]
    return "\n".join(lines)


def mined_of(candidates: Sequence[Mined]) -> str:
    """Format mined candidates that are pending, one line each."""
    if not candidates:
        return "No mined candidate is pending."
    lines = [
        f"{short(one.record.id)} [{one.record.kind}, score {one.score:.2f}, {one.occurrences}× in {counted(one.sessions, 'session')}, "
        f"last {one.last_at[:10]}, confidence {one.confidence:.2f}] {shorten(one.record.body, 200)}"
        for one in candidates
    ]
    head = [f"{counted(len(candidates), 'mined candidate')}:", DECIDE]
    return within(MODEL.budget, head, lines, "decide on some first")


def run_of(run: Run, reader: Reader = MODEL) -> str:
    """Format what a mining run did."""
    if not run.outputs:
        return "No output was logged since the last run."
    lines = [f"Read {counted(run.outputs, 'output')}: {counted(run.found, 'pattern')} found, {run.counted} counted."]
    lines += [f"offered: {line(record, reader)}" for record in run.offered]
    lines += [f"kept: {line(record, reader)}" for record in run.approved]
    return "\n".join(lines)


def outputs_of(status: OutputStatus, reader: Reader = MODEL) -> str:
    """Format what is stored of logged output, and its limits."""
    stored = status.held
    since = f" since {reader.day(stored.oldest_at)}" if stored.oldest_at else ""
    kept = f"{counted(stored.outputs, 'output')}{since}, {stored.characters:,} characters"
    caps = f"kept {status.most_days} days, {status.most_characters:,} characters at most"
    mined = f"{stored.unmined} not mined yet, last mined {reader.minute(stored.ran_at) if stored.ran_at else 'never'}"
    patterns = f"{counted(stored.patterns, 'pattern')} counted, {status.waiting} pending"
    return f"{kept} ({caps}).\n{mined}; {patterns}."


def _side(record: Record, reader: Reader) -> str:
    return f"{short(record.id)} ({reader.day(record.created_at)}, confidence {record.confidence}) {shorten(record.title, 120)}"


def _looked_at(looked_at: int, not_looked_at: int, not_compared: int) -> str:
    return " ".join(
        filled(
            f"Looked at {looked_at:,} memories.",
            not_looked_at and f"{not_looked_at:,} older memories only as matches of these.",
            not_compared and f"{counted(not_compared, 'less similar pair')} not compared.",
        )
    )
