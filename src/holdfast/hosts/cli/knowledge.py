"""Commands for contradictions, near-duplicates and mined patterns."""

from dataclasses import replace

import click

from holdfast.hosts.cli.options import opened, text_or_stdin
from holdfast.hosts.cli.outcome import present
from holdfast.hosts.cli.render import json_option, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.core import knowledge
from holdfast.surfaces.core.text import line
from holdfast.verbs.capture.mining import (
    approve,
    drop_outputs,
    log_output,
    mine_outputs,
    mined,
    output_status,
    reject,
)
from holdfast.verbs.memory import find
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals, split
from holdfast.verbs.truth.contradictions import HOWS, conflicts, mark, open_contradictions, resolve

SETTLE = f"Resolve one: holdfast contradictions resolve ID ID --how {'|'.join(HOWS)}"
MERGE = "Merge one: holdfast duplicates merge ID ID; leave it: holdfast link ID relates_to ID"
DECIDE = "Decide: holdfast mine approve ID; holdfast mine reject ID (it is not offered again)"


@click.group("contradictions", invoke_without_command=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
@click.pass_context
def contradictions_command(ctx: click.Context, limit: int, as_json: bool) -> None:
    """Show memories of this project that contradict each other, marked or detected.

    Similar texts alone do not count: one must deny or change what the other says, or set another value.

    \b
    holdfast contradictions resolve 01HZX3 01HZY9 --how supersede --note "raised in May"
    """
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            contradictions = open_contradictions(memory, limit=limit)
        shown = replace(contradictions, found=contradictions.found[:limit])
        show(shown, knowledge.disputes_of(shown, SETTLE), as_json=as_json)


@contradictions_command.command("of")
@click.argument("id", type=MEMORY)
@json_option
def of_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Show what a memory seems to contradict."""
    with opened() as memory:
        record = find(memory, id).record
        clashes = conflicts(memory, record.id)
    show(clashes, knowledge.likely_conflicts_of(record, clashes, SETTLE), as_json=as_json)


@contradictions_command.command("mark")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option("--note", default="", help="Why.")
@json_option
def mark_command(first: str, second: str, note: str, as_json: bool) -> None:
    """Mark two memories as contradicting each other."""
    with opened() as memory:
        marked = mark(memory, first, second, note=note)
    show(marked, knowledge.dispute_lines(marked), as_json=as_json)


@contradictions_command.command("resolve")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option(
    "--how", type=click.Choice(HOWS), default="supersede", show_default=True, help="What to do with the other one."
)
@click.option("--keep", default="", metavar="ID", help="The memory to keep; default: the newer one.")
@click.option("--note", default="", help="Why.")
@json_option
def resolve_command(first: str, second: str, how: str, keep: str, note: str, as_json: bool) -> None:
    """Decide between two memories: one supersedes, weakens or retires the other, or both are true."""
    with opened() as memory:
        done = resolve(memory, first, second, how, keep=keep, note=note)
    show(done, knowledge.resolved_of(done), as_json=as_json)


@click.group("duplicates", invoke_without_command=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
@click.pass_context
def duplicates_command(ctx: click.Context, limit: int, as_json: bool) -> None:
    """Show near-duplicates of this project, each group with a proposed merged text.

    Changes nothing. Use `merge` to merge a group, and `split` to undo that.
    """
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            groups = proposals(memory, limit=limit)
        show(groups, knowledge.proposals_of(groups, MERGE), as_json=as_json)


@duplicates_command.command("merge")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@click.option("--text", default="", help="The merged text, instead of the proposed one.")
@click.option("--dry-run", is_flag=True, help="Preview the result.")
@json_option
def merge_command(ids: tuple[str, ...], text: str, dry_run: bool, as_json: bool) -> None:
    """Replace several memories by a merged one; they are retired, not lost."""
    with opened() as memory:
        proposal = proposal_of(memory, ids)
        if dry_run:
            show(proposal, knowledge.proposal_lines(proposal), as_json=as_json)
            return
        merged = consolidate(memory, proposal, text=text)
    show({"record": merged, "proposal": proposal}, f"Saved {line(merged)}", as_json=as_json)


@duplicates_command.command("split")
@click.argument("id", type=MEMORY)
@json_option
def split_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Undo a merge."""
    with opened() as memory:
        restored = split(memory, id)
    show(restored, "\n".join(f"Restored {line(record)}" for record in restored), as_json=as_json)


@click.group("mine")
def mine_command() -> None:
    """Find recurring patterns in logged output.

    Output is stored for some days with credentials masked. Each line counts once. Plain statements, and lines that
    recur three times, are offered; nothing is used before it is approved.

    \b
    holdfast mine log < session.log
    holdfast mine run
    holdfast mine list
    """


@mine_command.command("log")
@click.argument("text", nargs=-1)
@click.option("--session", default="", help="Session that wrote it.")
@json_option
def log_command(text: tuple[str, ...], session: str, as_json: bool) -> None:
    """Store output for mining; without words, or with -, it is read from stdin."""
    with opened() as memory:
        stored = log_output(memory, text_or_stdin(text), session)
    show({"characters": stored}, f"Stored {stored:,} characters." if stored else "Too short to store.", as_json=as_json)


@mine_command.command("run")
@json_option
def run_command(as_json: bool) -> None:
    """Mine what was logged since the last run."""
    with opened() as memory:
        run = mine_outputs(memory)
    show(run, knowledge.run_of(run), as_json=as_json)


@mine_command.command("list")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
def list_command(limit: int, as_json: bool) -> None:
    """List mined patterns that are pending approval, best first."""
    with opened() as memory:
        pending = mined(memory, limit=limit)
    show(pending, knowledge.mined_of(pending, DECIDE), as_json=as_json)


@mine_command.command("approve")
@click.argument("id", type=MEMORY)
@click.option("--force", is_flag=True, help="Save it although there is a duplicate.")
@json_option
def approve_command(id: str, force: bool, as_json: bool) -> None:  # noqa: A002
    """Approve a mined pattern."""
    with opened() as memory:
        present(approve(memory, id, waivers=Waivers(duplicate=force)), as_json=as_json)


@mine_command.command("reject")
@click.argument("ids", type=MEMORY, nargs=-1)
@click.option("--below", type=float, help="Also everything with a lower score.")
@click.option("--reason", default="", help="Why.")
@json_option
def reject_command(ids: tuple[str, ...], below: float | None, reason: str, as_json: bool) -> None:
    """Reject mined patterns; they are not offered again."""
    with opened() as memory:
        low = [item.record.id for item in mined(memory, limit=1000) if below is not None and item.score < below]
        rejected = reject(memory, [*ids, *low], reason=reason)
    show(rejected, "\n".join(f"Rejected {line(item)}" for item in rejected) or "Nothing to reject.", as_json=as_json)


@mine_command.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Show how much output is stored, its limits, and how much was mined."""
    with opened() as memory:
        status = output_status(memory)
    show(status, knowledge.outputs_of(status), as_json=as_json)


@mine_command.command("drop")
@click.option("--session", default="", help="Only what this session wrote.")
@json_option
def drop_command(session: str, as_json: bool) -> None:
    """Delete logged output of this project permanently."""
    with opened() as memory:
        dropped = drop_outputs(memory, session=session)
    show({"dropped": dropped}, f"Dropped {dropped} outputs.", as_json=as_json)
