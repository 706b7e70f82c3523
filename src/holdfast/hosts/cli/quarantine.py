"""Commands that decide about what arrived from people nobody here has accepted yet."""

from collections import Counter

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import SHORT, console, icon, json_option, print_json
from holdfast.model.record import record_to_json
from holdfast.model.text import counted, shorten
from holdfast.verbs.records.quarantine import UNKNOWN, Decided, accept, authors, reject, waiting

SHOWN = 20
whom = click.argument("references", nargs=-1, metavar="[AUTHOR|ID]...")
everybody = click.option("--all", "everything", is_flag=True, help="Everybody and everything that waits here.")


@click.command("quarantine")
@json_option
def quarantine_command(as_json: bool) -> None:
    """Show what arrived and waits to be accepted, who brought it, and whom somebody decided about."""
    with opened() as memory:
        found, known = waiting(memory), authors(memory)
    if as_json:
        items = [
            {
                "from": one.author,
                "claims": one.claimed,
                "way": one.way,
                "would": one.would,
                "record": record_to_json(one.record),
            }
            for one in found
        ]
        print_json({"waiting": items, "authors": known})
        return
    out = console()
    for who, count in Counter(one.author or UNKNOWN for one in found).items():
        out.print(Text.assemble((who, "bold"), f"  {counted(count, 'memory')} waiting"))
        theirs = [one for one in found if (one.author or UNKNOWN) == who]
        for their in theirs[:SHOWN]:
            says = f"  says it is from {their.claimed}" if their.claimed and their.claimed not in who else ""
            title = shorten(their.record.title, 80)
            line = Text.assemble(
                "  ", (their.record.id[:SHORT], "cyan"), f"  {icon(their.record)} {their.would}: ", title
            )
            out.print(line.append(f"  by {their.way}{says}", style="dim"))
        if len(theirs) > SHOWN:
            out.print(Text(f"  and {len(theirs) - SHOWN} more: --json lists them all", style="dim"))
    if not found:
        out.print("Nothing waits to be accepted.")
    else:
        out.print(
            Text("`holdfast accept ADDRESS` takes in all of somebody's, now and in future; ID one memory.", "dim")
        )
    for who, verdict in sorted(known.items()):
        out.print(Text(f"{verdict}: {who}", style="dim"))


@click.command("accept")
@whom
@everybody
@json_option
def accept_command(references: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Let what arrived count: of an author (by address, now and in future) or single memories.

    It holds for this project, in this store. Whoever may push to the repository can write under an accepted address.
    """
    with opened() as memory:
        _tell("accepted", accept(memory, references, everything=everything), as_json=as_json)


@click.command("reject")
@whom
@everybody
@json_option
def reject_command(references: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Keep what arrived out for good; what a rejected author sends from now on stays outside."""
    with opened() as memory:
        _tell("rejected", reject(memory, references, everything=everything), as_json=as_json)


def _tell(verdict: str, done: Decided, *, as_json: bool) -> None:
    if as_json:
        print_json({verdict: {"authors": list(done.authors), "records": list(done.records)}})
        return
    parts = [*done.authors, counted(len(done.records), "memory") + (" of what waited" if done.authors else "")]
    console().print(Text(f"{verdict}: {', '.join(parts)}"))
