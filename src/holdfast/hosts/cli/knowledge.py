"""Commands for what memories say together: contradictions, near-duplicates, and what can be mined from output."""

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

SETTLE = f"Settle one: holdfast contradictions resolve ID ID --how {'|'.join(HOWS)}"
MERGE = "Merge one: holdfast duplicates merge ID ID; leave it: holdfast link ID relates_to ID"
DECIDE = "Decide: holdfast mine approve ID; holdfast mine reject ID, after which it never comes back"


@click.group("contradictions", invoke_without_command=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Most to show.")
@json_option
@click.pass_context
def contradictions_command(ctx: click.Context, limit: int, as_json: bool) -> None:
    """Show memories of this project that contradict each other, marked or found.

    Texts that are only alike are never shown: one must deny, change or set otherwise what the other says.

    \b
    holdfast contradictions resolve 01HZX3 01HZY9 --how supersede --note "raised in May"
    """
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            found = open_contradictions(memory, limit=limit)
        shown = replace(found, found=found.found[:limit])
        show(shown, knowledge.disputes_of(shown, SETTLE), as_json=as_json)


@contradictions_command.command("of")
@click.argument("id", type=MEMORY)
@json_option
def of_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Show what one memory seems to contradict."""
    with opened() as memory:
        record = find(memory, id).record
        found = conflicts(memory, record.id)
    show(found, knowledge.clashes_of(record, found, SETTLE), as_json=as_json)


@contradictions_command.command("mark")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option("--note", default="", help="Why.")
@json_option
def mark_command(first: str, second: str, note: str, as_json: bool) -> None:
    """Say that two memories contradict each other."""
    with opened() as memory:
        found = mark(memory, first, second, note=note)
    show(found, knowledge.dispute_lines(found), as_json=as_json)


@contradictions_command.command("resolve")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option(
    "--how", type=click.Choice(HOWS), default="supersede", show_default=True, help="What becomes of the other one."
)
@click.option("--keep", default="", metavar="ID", help="The one that holds; the newer unless given.")
@click.option("--note", default="", help="Why.")
@json_option
def resolve_command(first: str, second: str, how: str, keep: str, note: str, as_json: bool) -> None:
    """Say which of two memories holds: it supersedes, weakens or removes the other; or both hold."""
    with opened() as memory:
        done = resolve(memory, first, second, how, keep=keep, note=note)
    show(done, knowledge.resolved_of(done), as_json=as_json)


@click.group("duplicates", invoke_without_command=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Most to show.")
@json_option
@click.pass_context
def duplicates_command(ctx: click.Context, limit: int, as_json: bool) -> None:
    """Show memories of this project that say nearly the same, each group with the text it could become.

    Nothing is changed. A merge is done by `merge` and undone by `split`.
    """
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            found = proposals(memory, limit=limit)
        show(found, knowledge.proposals_of(found, MERGE), as_json=as_json)


@duplicates_command.command("merge")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@click.option("--text", default="", help="The merged text, instead of the proposed one.")
@click.option("--dry-run", is_flag=True, help="Only show what would become of them.")
@json_option
def merge_command(ids: tuple[str, ...], text: str, dry_run: bool, as_json: bool) -> None:
    """Keep one memory in place of several; they are retired, not lost."""
    with opened() as memory:
        proposal = proposal_of(memory, ids)
        if dry_run:
            show(proposal, knowledge.proposal_lines(proposal), as_json=as_json)
            return
        merged = consolidate(memory, proposal, text=text)
    show({"record": merged, "proposal": proposal}, f"Kept {line(merged)}", as_json=as_json)


@duplicates_command.command("split")
@click.argument("id", type=MEMORY)
@json_option
def split_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Undo a merge."""
    with opened() as memory:
        found = split(memory, id)
    show(found, "\n".join(f"Restored {line(one)}" for one in found), as_json=as_json)


@click.group("mine")
def mine_command() -> None:
    """Learn from logged output.

    Output is kept for some days with credentials masked. Each line counts once. What is said plainly, or came back three
    times, is offered; nothing is used before somebody says yes.

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
    """Keep output for mining; without words, or with -, it is read from stdin."""
    with opened() as memory:
        kept = log_output(memory, text_or_stdin(text), session)
    show({"characters": kept}, f"Kept {kept:,} characters." if kept else "Too short to keep.", as_json=as_json)


@mine_command.command("run")
@json_option
def run_command(as_json: bool) -> None:
    """Mine what was logged since the last run."""
    with opened() as memory:
        run = mine_outputs(memory)
    show(run, knowledge.run_of(run), as_json=as_json)


@mine_command.command("list")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000), help="Most to show.")
@json_option
def list_command(limit: int, as_json: bool) -> None:
    """List what was mined and waits for a yes, what counts most first."""
    with opened() as memory:
        found = mined(memory, limit=limit)
    show(found, knowledge.mined_of(found, DECIDE), as_json=as_json)


@mine_command.command("approve")
@click.argument("id", type=MEMORY)
@click.option("--force", is_flag=True, help="Keep it although something says the same.")
@json_option
def approve_command(id: str, force: bool, as_json: bool) -> None:  # noqa: A002
    """Say yes to something mined."""
    with opened() as memory:
        present(approve(memory, id, waivers=Waivers(duplicate=force)), as_json=as_json)


@mine_command.command("reject")
@click.argument("ids", type=MEMORY, nargs=-1)
@click.option("--below", type=float, help="Also everything with a lower score.")
@click.option("--reason", default="", help="Why.")
@json_option
def reject_command(ids: tuple[str, ...], below: float | None, reason: str, as_json: bool) -> None:
    """Say no to what was mined; the same is never offered again."""
    with opened() as memory:
        low = [one.record.id for one in mined(memory, limit=1000) if below is not None and one.score < below]
        gone = reject(memory, [*ids, *low], reason=reason)
    show(gone, "\n".join(f"Rejected {line(one)}" for one in gone) or "Nothing to reject.", as_json=as_json)


@mine_command.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Show what is kept of output, within which caps, and how far it was mined."""
    with opened() as memory:
        found = output_status(memory)
    show(found, knowledge.outputs_of(found), as_json=as_json)


@mine_command.command("drop")
@click.option("--session", default="", help="Only what this session wrote.")
@json_option
def drop_command(session: str, as_json: bool) -> None:
    """Remove logged output of this project for good."""
    with opened() as memory:
        gone = drop_outputs(memory, session=session)
    show({"dropped": gone}, f"Dropped {gone} outputs.", as_json=as_json)
