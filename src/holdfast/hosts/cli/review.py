"""`holdfast review`: decide on everything that waits for a person."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from holdfast.model.record import record_to_json
from holdfast.model.text import counted
from holdfast.surfaces.core import review_text
from holdfast.surfaces.core.text import line
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.quarantine import authors
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals, split
from holdfast.verbs.truth.contradictions import HOWS, conflicts, mark, open_contradictions, resolve
from holdfast.verbs.upkeep.inbox import (
    MOST,
    SORTS,
    Choice,
    Given,
    Item,
    choices,
    decide,
    decide_all,
    decide_by_name,
    waiting_items,
)

DECIDABLE = tuple(name for name, sort in SORTS.items() if sort.bulk)  # approved and rejected by id
NOTHING = "Nothing needs a decision."
ESCAPE_WAIT = 0.05  # seconds
Answer = tuple[Item, Choice, Given]
sort_option = click.option(
    "--sort",
    "sorts",
    type=click.Choice(tuple(SORTS)),
    metavar="SORT",
    multiple=True,
    help=f"Only this sort, repeatable: {', '.join(SORTS)}.",
)
references_argument = click.argument("references", type=MEMORY, nargs=-1, metavar="[ID|AUTHOR]...")
all_option = click.option("--all", "everything", is_flag=True, help="Everything pending or quarantined, or of --sort.")


@click.group("review", invoke_without_command=True)
@sort_option
@json_option
@click.pass_context
def review_command(ctx: click.Context, sorts: tuple[str, ...], as_json: bool) -> None:
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
            click.echo(NOTHING)
            return
        if _carry_out(memory, _ask(items)):
            raise click.exceptions.Exit(Conflict.exit_code)


@review_command.command("list")
@sort_option
@click.option("--limit", default=MOST, show_default=True, type=click.IntRange(1, 1000), help="Most of each sort.")
@json_option
def list_command(sorts: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List what waits, and why."""
    _list(sorts or None, limit, as_json=as_json)


@review_command.command("approve")
@references_argument
@all_option
@sort_option
@click.option("--force", is_flag=True, help="Approve it although there is a duplicate.")
@json_option
def approve_command(
    references: tuple[str, ...], everything: bool, sorts: tuple[str, ...], force: bool, as_json: bool
) -> None:
    """Approve pending memories, or accept what others sent.

    An author (by address) is accepted now and in future, for this project, in this store. Anyone who may push to the repository
    can write under an accepted address.

    \b
    holdfast review approve QD7Q2M4X
    holdfast review approve mira@example.org
    holdfast review approve --all --sort mined
    """
    _decide_all("approve", references, sorts, Given(force=force), everything=everything, as_json=as_json)


@review_command.command("reject")
@references_argument
@all_option
@sort_option
@click.option("--reason", default="", help="Why; printed if something similar is written again.")
@json_option
def reject_command(
    references: tuple[str, ...], everything: bool, sorts: tuple[str, ...], reason: str, as_json: bool
) -> None:
    """Reject pending memories, or what others sent; what a rejected author sends later is rejected too.

    \b
    holdfast review reject QD7Q2M4X --reason "no longer planned"
    holdfast review reject stranger@example.org
    """
    _decide_all("reject", references, sorts, Given(reason=reason), everything=everything, as_json=as_json)


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


def _decide_all(
    choice: str, references: Sequence[str], sorts: Sequence[str], given: Given, *, everything: bool, as_json: bool
) -> None:
    """Approve or reject what is named, or everything of some sorts; print what was done."""
    if everything == bool(references):
        hint = "Pass an id or an author's address, or --all; `holdfast review list` lists what waits."
        raise Invalid("--all and single ones exclude each other." if everything else "Nothing was named.", hint=hint)
    if other := [sort for sort in sorts if sort not in DECIDABLE]:
        hint = f"--all is for {', '.join(DECIDABLE)}; decide on the others one by one with `holdfast review`."
        raise Invalid(f"{other[0]} cannot be decided all at once.", hint=hint)
    with opened() as memory:
        if everything:
            made = [
                (item.author or item.record.id, done)
                for item, done in decide_all(memory, sorts or DECIDABLE, choice, given)
            ]
        else:
            decided = [(name, *decide_by_name(memory, name, choice, given)) for name in references]
            made = [(record.id if record else name, done.message) for name, record, done in decided]
    if as_json:
        print_json([{"reference": reference, "done": done} for reference, done in made])
    for reference, done in [] if as_json else made:
        name = reference if "@" in reference else short(reference)
        console().print(Text.assemble((name, "cyan"), f"  {done}"))
    if not made and not as_json:
        click.echo(NOTHING)
    if any(done.startswith("left: ") for _, done in made):
        raise click.exceptions.Exit(Conflict.exit_code)


def _list(sorts: Sequence[str] | None, limit: int, *, as_json: bool) -> None:
    with opened() as memory, working("looking for what waits"):
        items = waiting_items(memory, sorts=sorts, limit=limit)
    if as_json:
        print_json([_item_to_json(item) for item in items])
        return
    out = console()
    for name, sort in SORTS.items():
        own = [item for item in items if item.sort == name]
        out.print(Text(f"{sort.title} ({len(own)})", style="bold")) if own else None
        for item in own:
            _show_item(item)
    out.print(Text("\nTo decide, in a terminal: holdfast review", style="dim") if items else NOTHING)


def _ask(items: Sequence[Item]) -> list[Answer]:
    """Show one item after the other and read a key for each; return the answers that were not undone."""
    answers: list[Answer | None] = []  # None: skipped
    click.echo(f"{counted(len(items), 'item')} to decide. q saves and quits, u undoes, Ctrl-C leaves without saving.")
    while len(answers) < len(items):
        item = items[len(answers)]
        # Accepting or rejecting an author decides on everything they sent.
        if item.author and any(made and "author" in made[1].name and made[0].author == item.author for made in answers):
            answers.append(None)
            continue
        click.echo()
        console().print(Text(f"{len(answers) + 1} of {len(items)} · {SORTS[item.sort].title}", style="bold"))
        _show_item(item, full=True)
        offered = {choice.key: choice for choice in choices(item).values()}
        words = {key: choice.words_for(item) for key, choice in offered.items()}
        words |= {"s": "skip", "u": "undo", "q": "quit"}
        key = _pressed(words)
        if key == "q":
            break
        if key == "s":
            click.echo("→ skipped")
            answers.append(None)
        elif key == "u":
            click.echo("→ undone" if answers else "There is nothing to undo.")
            while answers and answers.pop() is None:  # back to the last item that was decided
                pass
        elif (given := _given(item, offered[key])) is not None:
            click.echo(f"→ {words[key]}")
            answers.append((item, offered[key], given))
    return [answer for answer in answers if answer]


def _pressed(words: Mapping[str, str]) -> str:
    """Show the keys with what each does, and return the one that is pressed."""
    with _single_keys() as read:
        console().print(
            Text.assemble(*(part for key in words for part in ((f" {key}", "bold cyan"), f" {words[key]} ")))
        )
        while (key := read().lower()) not in words:
            if key == "\x03":
                click.echo("Nothing was saved.")
                raise KeyboardInterrupt
            if key in ("\x04", ""):
                return "q"
            if key.isalnum() or key == "?":
                click.echo(f"Press one of {', '.join(words)}.")
    return key


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the next key without waiting for Enter; arrow keys and the like are left out.

    Entered before the keys are shown: what is typed at once must not be lost.
    """
    if sys.platform == "win32":
        yield click.getchar
        return
    import termios

    terminal = sys.stdin.fileno()
    before, single = termios.tcgetattr(terminal), termios.tcgetattr(terminal)
    single[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
    termios.tcsetattr(terminal, termios.TCSADRAIN, single)

    def read() -> str:
        key = os.read(terminal, 1).decode(errors="replace")
        if key == "\x1b" and select.select([terminal], [], [], ESCAPE_WAIT)[0]:
            os.read(terminal, 16)  # the rest of what an arrow or function key sends
        return key

    try:
        yield read
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _given(item: Item, choice: Choice) -> Given | None:
    """Return what the user adds to a decision: the new text of an edit; None if they left it as it is."""
    if choice.name != "edit":
        return Given()
    text = (click.edit(item.record.body) or "").strip()
    if text in ("", item.record.body.strip()):
        click.echo("Unchanged.")
        return None
    return Given(text=text)


def _carry_out(memory: Memory, answers: Sequence[Answer]) -> int:
    """Carry out the decisions, print what could not be done, and return how many of them that were."""
    problems = []
    for item, choice, given in answers:
        try:
            decide(memory, item, choice.name, given)
        except HoldfastError as problem:
            problems.append(f"{short(item.record.id)}  {problem}")
    click.echo(f"\n{counted(len(answers) - len(problems), 'decision')} saved.")
    for problem_line in problems:
        console(error=True).print(Text(f"not done: {problem_line}", style="yellow"))
    return len(problems)


def _show_item(item: Item, *, full: bool = False) -> None:
    out = console()
    between = "against " if item.sort == "contradiction" else "and "
    for record, word in ((item.record, ""), *((other, between) for other in item.others)):
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


def _item_to_json(item: Item) -> dict[str, Any]:
    more = {"others": [record_to_json(other) for other in item.others], "text": item.text, "author": item.author}
    return {
        "sort": item.sort,
        "id": item.record.id,
        "why": item.why,
        **{name: value for name, value in more.items() if value},
        "choices": {name: choice.words_for(item) for name, choice in choices(item).items()},
        "record": record_to_json(item.record),
    }
