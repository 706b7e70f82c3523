"""`holdfast review`: decide what needs a decision."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated

import click
from rich.text import Text

from holdfast.hosts.cli.command import Result, Words, opened, wants_json
from holdfast.hosts.cli.render import PERSON, console, page, working
from holdfast.model.errors import Conflict, HoldfastError, Invalid
from holdfast.model.ids import short
from holdfast.model.kinds import Asked
from holdfast.model.text import counted
from holdfast.surfaces.maps import Terms, mapped
from holdfast.surfaces.phrases import line
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.truth.consolidate import consolidate, proposal_of
from holdfast.verbs.truth.contradictions import compare_now, conflicts, open_contradictions
from holdfast.verbs.upkeep import inbox
from holdfast.verbs.upkeep.inbox import Choice, Given, Item

DECIDABLE = tuple(name for name, sort in inbox.SORTS.items() if sort.bulk)  # approved and rejected by id
NOTHING = "Nothing needs a decision."
ESCAPE_WAIT = 0.05  # seconds
Answer = tuple[Item, Choice, Given]
Sorts = Annotated[Words, Asked("Only this sort.", flag="--sort", choices=tuple(inbox.SORTS))]


def review_command(*, sorts: Sorts = ()) -> Result:
    with opened() as memory:
        with working("looking for what needs a decision"):
            left = compare_now(memory)
            items = inbox.waiting_items(memory, sorts=sorts or None)
        if wants_json() or not items or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return _listed(items, left, sorts)
        answers, problems = _ask(items), list[str]()
        for item, choice, given in answers:
            try:
                inbox.decide(memory, item, choice.name, given)
            except HoldfastError as problem:
                problems.append(f"{short(item.record.id)}  {problem}")
    click.echo(f"\n{counted(len(answers) - len(problems), 'decision')} saved.")
    for unsaved in problems:
        console(error=True).print(Text(f"not done: {unsaved}", style="yellow"))
    if problems:
        raise click.exceptions.Exit(Conflict.exit_code)
    return None


def review_list_command(memory: Memory, *, sorts: Sorts = (), limit: int = inbox.MOST) -> Result:
    left = compare_now(memory)
    return _listed(inbox.waiting_items(memory, sorts=sorts or None, limit=limit), left, sorts, limit)


def approve_command(
    memory: Memory, references: Words = (), *, everything: bool = False, sorts: Sorts = (), force: bool = False
) -> Result:
    return _decide_all(memory, "approve", references, everything, sorts, Given(force=force))


def reject_command(
    memory: Memory, references: Words = (), *, everything: bool = False, sorts: Sorts = (), reason: str = ""
) -> Result:
    return _decide_all(memory, "reject", references, everything, sorts, Given(reason=reason))


def contradictions_command(memory: Memory, id: str = "", *, limit: int = 20) -> Result:
    if id:
        record = find(memory, id).record
        clashes = conflicts(memory, record.id)
        return clashes, page("conflicts", record, clashes)
    compare_now(memory)
    found = open_contradictions(memory, limit=limit)
    shown = found | {"found": found["found"][:limit]}
    return shown, page("disputes", shown)


def merge_command(memory: Memory, ids: Words, *, text: str = "", dry_run: bool = False) -> Result:
    proposal = proposal_of(memory, ids)
    if dry_run:
        return proposal, page("proposal", proposal)
    merged = consolidate(memory, proposal, text=text)
    return {"record": merged, "proposal": proposal}, f"Saved {line(merged, PERSON)}"


def _decide_all(
    memory: Memory, choice: str, references: Sequence[str], everything: bool, sorts: Sequence[str], given: Given
) -> Result:
    """Approve or reject what is named, or everything of some sorts."""
    if everything == bool(references):
        hint = "Pass an id or an author's address, or --all; `holdfast review list` lists what needs a decision."
        raise Invalid("--all and ids exclude each other." if everything else "Nothing was named.", hint=hint)
    if other := [sort for sort in sorts if sort not in DECIDABLE]:
        hint = f"--all is for {', '.join(DECIDABLE)}; decide on the others one by one with `holdfast review`."
        raise Invalid(f"{other[0]} cannot be decided all at once.", hint=hint)
    if everything:
        decided = inbox.decide_all(memory, sorts or DECIDABLE, choice, given)
        made = [(item.author or item.record.id, done) for item, done in decided]
    else:
        named = [(name, *inbox.decide_by_name(memory, name, choice, given)) for name in references]
        made = [(record.id if record else name, done.message) for name, record, done in named]
    value = [{"reference": reference, "done": done} for reference, done in made]
    left = any(done.startswith("left: ") for _, done in made)
    return value, page("decided", value, NOTHING), Conflict.exit_code if left else 0


def _listed(items: Sequence[Item], uncompared: int, sorts: Sequence[str], most: int = inbox.MOST) -> Result:
    def words(item: Item) -> dict[str, str]:
        return {name: choice.words.format(item=item) for name, choice in inbox.choices(item).items()}

    shape = "sort, id=record.id, why, others?=others|list, text?, author?, choices=.|choices, record"
    value = [mapped(shape, item, None, Terms(filters={"choices": words})) for item in items]
    nothing = f"Nothing of the sort {' or '.join(sorts)} needs a decision." if sorts else NOTHING
    return value, page("inbox", items, sorts=inbox.SORTS, nothing=nothing, uncompared=uncompared, most=most)


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
        console().print(Text(f"{len(answers) + 1} of {len(items)} · {inbox.SORTS[item.sort].title}", style="bold"))
        page("item", item, full=True)()
        offered = {choice.key: choice for choice in inbox.choices(item).values()}
        words = {key: choice.words.format(item=item) for key, choice in offered.items()}
        key = _pressed(words | {"s": "skip", "u": "undo", "q": "quit"})
        if key == "q":
            break
        if key == "u":
            click.echo("→ undone" if answers else "There is nothing to undo.")
            while answers and answers.pop() is None:  # back to the last item that was decided
                pass
            continue
        is_edit = key in offered and offered[key].name == "edit"
        text = (click.edit(item.record.body) or "").strip() if is_edit else ""
        if is_edit and text in ("", item.record.body.strip()):
            click.echo("Unchanged.")
        else:
            click.echo(f"→ {words.get(key, 'skipped')}")
            answers.append((item, offered[key], Given(text=text)) if key in offered else None)
    return [answer for answer in answers if answer]


def _pressed(words: Mapping[str, str]) -> str:
    """Show the keys with what each does, and return the one that is pressed."""
    with _single_keys() as read:
        parts = [part for key in words for part in ((f" {key}", "bold cyan"), f" {words[key]} ")]
        console().print(Text.assemble(*parts))
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
