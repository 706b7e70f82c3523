"""`holdfast review`: decide on everything that waits for a person."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import (
    ago,
    console,
    field_label,
    fitting,
    hanging,
    icon,
    indented,
    json_option,
    print_json,
    show,
    working,
)
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.errors import Conflict, HoldfastError, Invalid
from holdfast.model.ids import SHORT, short
from holdfast.model.record import Record, record_to_json
from holdfast.model.text import counted
from holdfast.surfaces.core import review_text
from holdfast.surfaces.core.text import line
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.quarantine import authors
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals, split
from holdfast.verbs.truth.contradictions import HOWS, conflicts, mark, open_contradictions, resolve
from holdfast.verbs.upkeep import review
from holdfast.verbs.upkeep.inbox import MOST, SORTS, Sort, WaitingItem, waiting_items
from holdfast.verbs.upkeep.review import Choice, Decision, choices, decide

ESCAPE_WAIT = 0.05  # seconds
KEYS: dict[str, Choice] = {"y": "approve", "x": "reject", "b": "both", "a": "author", "e": "edit"}
DECIDABLE: tuple[Sort, ...] = ("quarantined", "pending", "mined", "suggestion")  # approved and rejected by id
HEADS: dict[Sort, str] = {
    "quarantined": "from someone you have not accepted",
    "pending": "pending approval",
    "mined": "recurring in your sessions",
    "suggestion": "suggested thread",
    "overwritten": "edited in two places",
    "doubted": "reported wrong",
    "contradiction": "contradiction",
    "duplicate": "near-duplicates",
    "stale": "the cited code has changed",
    "scope": "scope that looks misspelled",
    "unchecked": "not verified for a month",
    "unused": "never helped",
}
sort_option = click.option(
    "--sort",
    "sorts",
    type=click.Choice(SORTS),
    metavar="SORT",
    multiple=True,
    help=f"Only this sort, repeatable: {', '.join(SORTS)}.",
)
references_argument = click.argument("references", type=MEMORY, nargs=-1, metavar="[ID|AUTHOR]...")
all_option = click.option("--all", "everything", is_flag=True, help="Everything pending or quarantined, or of --sort.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A decision that is made and not carried out yet."""

    item: WaitingItem
    choice: Choice
    text: str = ""


@click.group("review", invoke_without_command=True)
@sort_option
@json_option
@click.pass_context
def review_command(ctx: click.Context, sorts: tuple[Sort, ...], as_json: bool) -> None:
    """Decide on everything that waits for you.

    Pending and quarantined memories, patterns found in your work, suggested threads, memories that contradict or repeat each other,
    were reported wrong, or whose code has changed. In a terminal you decide with single keys: y yes, x no, e edit, s skip, u undo,
    q save and quit; Ctrl-C leaves without saving. Elsewhere, and with --json, it lists what waits.

    \b
    holdfast review
    holdfast review --sort contradiction
    holdfast review list --json
    holdfast review approve QD7Q2M4X
    """
    if ctx.invoked_subcommand:
        return
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _list(sorts or None, MOST, as_json=as_json)
        return
    with opened() as memory:
        with working("looking for what waits"):
            items = waiting_items(memory, sorts=sorts or None)
        if not items:
            click.echo("Nothing waits for you.")
            return
        problems = _carry_out(memory, _ask(items))
    if problems:
        raise click.exceptions.Exit(Conflict.exit_code)


@review_command.command("list")
@sort_option
@click.option("--limit", default=MOST, show_default=True, type=click.IntRange(1, 1000), help="Most of each sort.")
@json_option
def list_command(sorts: tuple[Sort, ...], limit: int, as_json: bool) -> None:
    """List what waits, and why."""
    _list(sorts or None, limit, as_json=as_json)


@review_command.command("approve")
@references_argument
@all_option
@sort_option
@click.option("--force", is_flag=True, help="Approve it although there is a duplicate.")
@json_option
def approve_command(
    references: tuple[str, ...], everything: bool, sorts: tuple[Sort, ...], force: bool, as_json: bool
) -> None:
    """Approve pending memories, or accept what others sent.

    An author (by address) is accepted now and in future, for this project, in this store. Anyone who may push to the repository
    can write under an accepted address.

    \b
    holdfast review approve QD7Q2M4X
    holdfast review approve mira@example.org
    holdfast review approve --all --sort mined
    """
    with opened() as memory:
        done = (
            review.decide_all(memory, _decidable(sorts), "approve")
            if _is_all(references, everything=everything)
            else review.approve(memory, references, force=force)
        )
    _show_decisions(done, as_json=as_json)


@review_command.command("reject")
@references_argument
@all_option
@sort_option
@click.option("--reason", default="", help="Why; printed if something similar is written again.")
@json_option
def reject_command(
    references: tuple[str, ...], everything: bool, sorts: tuple[Sort, ...], reason: str, as_json: bool
) -> None:
    """Reject pending memories, or what others sent; what a rejected author sends later is rejected too.

    \b
    holdfast review reject QD7Q2M4X --reason "no longer planned"
    holdfast review reject stranger@example.org
    """
    with opened() as memory:
        done = (
            review.decide_all(memory, _decidable(sorts), "reject", reason=reason)
            if _is_all(references, everything=everything)
            else review.reject(memory, references, reason=reason)
        )
    _show_decisions(done, as_json=as_json)


@review_command.command("authors")
@json_option
def authors_command(as_json: bool) -> None:
    """List the authors you have accepted or rejected in this project."""
    with opened() as memory:
        known = authors(memory)
    lines = [f"{verdict:<9} {who}" for who, verdict in sorted(known.items())]
    show(known, "\n".join(lines) or "No author was accepted or rejected yet.", as_json=as_json)


@review_command.command("contradictions")
@click.argument("id", type=MEMORY, default="")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
def contradictions_command(id: str, limit: int, as_json: bool) -> None:  # noqa: A002
    """Show memories that contradict each other, marked or detected, with their history; or only those of one memory.

    Similar texts alone do not count: one must deny or change what the other says, or set another value.
    """
    with opened() as memory:
        if id:
            record = find(memory, id).record
            clashes = conflicts(memory, record.id)
            show(clashes, review_text.likely_conflicts_of(record, clashes, PERSON), as_json=as_json)
            return
        with working("comparing memories"):
            found = open_contradictions(memory, limit=limit)
    shown = replace(found, found=found.found[:limit])
    show(shown, review_text.disputes_of(shown, PERSON), as_json=as_json)


@review_command.command("mark")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option("--note", default="", help="Why.")
@json_option
def mark_command(first: str, second: str, note: str, as_json: bool) -> None:
    """Mark two memories as contradicting each other."""
    with opened() as memory:
        marked = mark(memory, first, second, note=note)
    show(marked, review_text.dispute_lines(marked, PERSON), as_json=as_json)


@review_command.command("resolve")
@click.argument("first", type=MEMORY)
@click.argument("second", type=MEMORY)
@click.option(
    "--how", type=click.Choice(HOWS), default="supersede", show_default=True, help="What to do with the other one."
)
@click.option("--keep", default="", metavar="ID", help="The memory to keep; default: the newer one.")
@click.option("--note", default="", help="Why.")
@json_option
def resolve_command(first: str, second: str, how: str, keep: str, note: str, as_json: bool) -> None:
    """Decide between two memories: one supersedes, weakens or retires the other, or both are true.

    \b
    holdfast review resolve QD7Q2M4X 8HX9K4TN --how supersede --note "raised"
    """
    with opened() as memory:
        done = resolve(memory, first, second, how, keep=keep, note=note)
    show(done, review_text.resolved_of(done, PERSON), as_json=as_json)


@review_command.command("duplicates")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@json_option
def duplicates_command(limit: int, as_json: bool) -> None:
    """Show near-duplicates, each group with a proposed merged text. Changes nothing."""
    with opened() as memory, working("comparing memories"):
        groups = proposals(memory, limit=limit)
    show(groups, review_text.proposals_of(groups, PERSON), as_json=as_json)


@review_command.command("merge")
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@click.option("--text", default="", help="The merged text, instead of the proposed one.")
@click.option("--dry-run", is_flag=True, help="Preview the result.")
@json_option
def merge_command(ids: tuple[str, ...], text: str, dry_run: bool, as_json: bool) -> None:
    """Replace several memories by a merged one; they are retired, not lost."""
    with opened() as memory:
        proposal = proposal_of(memory, ids)
        if dry_run:
            show(proposal, review_text.proposal_lines(proposal), as_json=as_json)
            return
        merged = consolidate(memory, proposal, text=text)
    show({"record": merged, "proposal": proposal}, f"Saved {line(merged, PERSON)}", as_json=as_json)


@review_command.command("split")
@click.argument("id", type=MEMORY)
@json_option
def split_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Undo a merge."""
    with opened() as memory:
        restored = split(memory, id)
    show(restored, "\n".join(f"Restored {line(record, PERSON)}" for record in restored), as_json=as_json)


def _is_all(references: Sequence[str], *, everything: bool) -> bool:
    if everything and references:
        raise Invalid("--all and single ones exclude each other.", hint="Use one of them.")
    return everything


def _decidable(sorts: Sequence[Sort]) -> Sequence[Sort]:
    if other := [sort for sort in sorts if sort not in DECIDABLE]:
        hint = f"--all is for {', '.join(DECIDABLE)}; decide on the others one by one with `holdfast review`."
        raise Invalid(f"{other[0]} cannot be decided all at once.", hint=hint)
    return sorts or DECIDABLE


def _list(sorts: Sequence[Sort] | None, limit: int, *, as_json: bool) -> None:
    with opened() as memory, working("looking for what waits"):
        items = waiting_items(memory, sorts=sorts, limit=limit)
    if as_json:
        print_json([_item_to_json(item) for item in items])
        return
    out = console()
    for sort in (sort for sort in SORTS if any(item.sort == sort for item in items)):
        own = [item for item in items if item.sort == sort]
        out.print(Text(f"{HEADS[sort]} ({len(own)})", style="bold"))
        for item in own:
            _show_item(item)
    if items:
        out.print(Text("\nTo decide, in a terminal: holdfast review", style="dim"))
    else:
        out.print("Nothing waits for you.")


def _ask(items: Sequence[WaitingItem]) -> list[Answer]:
    """Show one item after the other and read a key for each; return the answers that were not undone."""
    answers: list[Answer | None] = []  # None: skipped
    click.echo(f"{counted(len(items), 'item')} to decide. q saves and quits, u undoes, Ctrl-C leaves without saving.")
    while len(answers) < len(items):
        item = items[len(answers)]
        if _is_decided(item, answers):
            answers.append(None)
            continue
        click.echo()
        console().print(Text(f"{len(answers) + 1} of {len(items)} · {HEADS[item.sort]}", style="bold"))
        _show_item(item, full=True)
        match _key(item):
            case "q":
                break
            case "s":
                click.echo("→ skipped")
                answers.append(None)
            case "u" if not answers:
                click.echo("There is nothing to undo.")
            case "u":
                click.echo("→ undone")
                _undo(answers)
            case key:
                answers += _answered(item, KEYS[key])
    return [answer for answer in answers if answer]


def _is_decided(item: WaitingItem, answers: Sequence[Answer | None]) -> bool:
    """True if accepting an author has decided on this item too."""
    return any(made and made.choice == "author" and made.item.author == item.author for made in answers)


def _undo(answers: list[Answer | None]) -> None:
    """Go back to the last item that was asked about."""
    answers.pop()
    while answers and answers[-1] is None:
        answers.pop()


def _key(item: WaitingItem) -> str:
    """Return the key that was pressed, one of those offered."""
    offered = choices(item)
    keys = {key: offered[choice] for key, choice in KEYS.items() if choice in offered}
    keys |= {"s": "skip", "u": "undo", "q": "quit"}
    with _single_keys() as read:
        parts = (part for key, what in keys.items() for part in ((f" {key}", "bold cyan"), f" {what} "))
        console().print(Text.assemble(*parts))
        while (key := read().lower()) not in keys:
            if key == "\x03":
                click.echo("Nothing was saved.")
                raise KeyboardInterrupt
            if key in ("\x04", ""):
                return "q"
            if key.isalnum() or key == "?":
                click.echo(f"{key} is none of {', '.join(keys)}.")
    return key


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the next key without waiting for Enter; arrow keys and the like are ignored."""
    if sys.platform == "win32":
        yield click.getchar
        return
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    single = termios.tcgetattr(terminal)
    single[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
    termios.tcsetattr(terminal, termios.TCSADRAIN, single)
    try:
        yield lambda: _typed(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _typed(terminal: int) -> str:
    key = os.read(terminal, 1).decode(errors="replace")
    if key == "\x1b":  # the beginning of what an arrow or function key sends
        if select.select([terminal], [], [], ESCAPE_WAIT)[0]:
            os.read(terminal, 16)
        return "\x1b"
    return key


def _answered(item: WaitingItem, choice: Choice) -> list[Answer | None]:
    """Return the answer, as a list; empty if an edit was left without a change."""
    text = ""
    if choice == "edit":
        edited = click.edit(item.record.body)
        if edited is None or edited.strip() in ("", item.record.body.strip()):
            click.echo("Unchanged.")
            return []
        text = edited.strip()
    click.echo(f"→ {choices(item)[choice]}")
    return [Answer(item=item, choice=choice, text=text)]


def _carry_out(memory: Memory, answers: Sequence[Answer]) -> int:
    """Carry out the decisions, print what could not be done, and return how many of them that were."""
    problems = []
    for answer in answers:
        try:
            decide(memory, answer.item, answer.choice, text=answer.text)
        except HoldfastError as problem:
            problems.append(f"{short(answer.item.record.id)}  {problem}")
    click.echo(f"\n{counted(len(answers) - len(problems), 'decision')} saved.")
    for line_ in problems:
        console(error=True).print(Text(f"not done: {line_}", style="yellow"))
    return len(problems)


def _show_item(item: WaitingItem, *, full: bool = False) -> None:
    out = console()
    for record, word in _sides(item):
        when = f"  {ago(record.created_at)}"
        taken = 6 + len(short(record.id)) + len(word) + len(when)  # two spaces on either side of the id, and the icon
        text = record.body if full else fitting(out, record.title, taken)
        head = Text.assemble("  ", (short(record.id), "cyan"), f"  {icon(record)} {word}{text}")
        hanging(out, head.append(when, style="dim"), SHORT + 4)
        for name, value in record.fields.items() if full else ():
            values = value if isinstance(value, list) else [value]
            indented(out, f"{field_label(name)}: {'; '.join(map(str, values))}", SHORT + 4, style="dim")
    indented(out, item.why, SHORT + 4, style="yellow")
    if full and item.sort == "duplicate":
        indented(out, f"merged: {item.text}", SHORT + 4)


def _sides(item: WaitingItem) -> Iterator[tuple[Record, str]]:
    yield item.record, ""
    yield from ((other, "against " if item.sort == "contradiction" else "and ") for other in item.others)


def _item_to_json(item: WaitingItem) -> dict[str, Any]:
    return {
        "sort": item.sort,
        "id": item.record.id,
        "why": item.why,
        **({"others": [record_to_json(other) for other in item.others]} if item.others else {}),
        **({"text": item.text} if item.text else {}),
        **({"author": item.author} if item.author else {}),
        "choices": dict(choices(item)),
        "record": record_to_json(item.record),
    }


def _show_decisions(decisions: Sequence[Decision], *, as_json: bool) -> None:
    if as_json:
        print_json([{"reference": made.reference, "title": made.title, "done": made.done} for made in decisions])
    for made in [] if as_json else decisions:
        name = short(made.reference) if made.title and "@" not in made.reference else made.reference
        console().print(Text.assemble((name, "cyan"), f"  {made.done}", f": {made.title}" if made.title else ""))
    if not decisions and not as_json:
        click.echo("Nothing waits for you.")
    if any(made.done.startswith("left: ") for made in decisions):
        raise click.exceptions.Exit(Conflict.exit_code)
