"""Commands that accept or reject what arrived from people you have not accepted."""

from collections import Counter

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import console, icon, json_option, print_json
from holdfast.model.ids import short
from holdfast.model.record import record_to_json
from holdfast.model.text import counted, shorten
from holdfast.verbs.records.quarantine import UNKNOWN, Decided, accept, authors, reject, waiting

SHOWN = 20
author_argument = click.argument("references", nargs=-1, metavar="[AUTHOR|ID]...")
all_option = click.option("--all", "everything", is_flag=True, help="All authors and memories in quarantine.")


@click.command("quarantine")
@json_option
def quarantine_command(as_json: bool) -> None:
    """Show quarantined memories and their authors, and the authors already accepted or rejected."""
    with opened() as memory:
        quarantined, known = waiting(memory), authors(memory)
    if as_json:
        items = [
            {
                "from": item.author,
                "claims": item.claimed,
                "way": item.way,
                "would": item.would,
                "record": record_to_json(item.record),
            }
            for item in quarantined
        ]
        print_json({"waiting": items, "authors": known})
        return
    out = console()
    for who, count in Counter(item.author or UNKNOWN for item in quarantined).items():
        out.print(Text.assemble((who, "bold"), f"  {counted(count, 'memory')} in quarantine"))
        theirs = [item for item in quarantined if (item.author or UNKNOWN) == who]
        for item in theirs[:SHOWN]:
            says = f"  claims to be from {item.claimed}" if item.claimed and item.claimed not in who else ""
            title = shorten(item.record.title, 80)
            line = Text.assemble("  ", (short(item.record.id), "cyan"), f"  {icon(item.record)} {item.would}: ", title)
            out.print(line.append(f"  by {item.way}{says}", style="dim"))
        if len(theirs) > SHOWN:
            out.print(Text(f"  and {len(theirs) - SHOWN} more: --json lists them all", style="dim"))
    if not quarantined:
        out.print("The quarantine is empty.")
    else:
        out.print(
            Text(
                "Accept an author, now and in future: holdfast accept ADDRESS. Accept a memory: holdfast accept ID.",
                "dim",
            )
        )
    for who, verdict in sorted(known.items()):
        out.print(Text(f"{verdict}: {who}", style="dim"))


@click.command("accept")
@author_argument
@all_option
@json_option
def accept_command(references: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Accept an author (by address, now and in future) or single memories.

    Applies to this project, in this store. Anyone who may push to the repository can write under an accepted address.
    """
    with opened() as memory:
        _show_decided("accepted", accept(memory, references, everything=everything), as_json=as_json)


@click.command("reject")
@author_argument
@all_option
@json_option
def reject_command(references: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Reject quarantined memories; what a rejected author sends from now on is rejected too."""
    with opened() as memory:
        _show_decided("rejected", reject(memory, references, everything=everything), as_json=as_json)


def _show_decided(verdict: str, done: Decided, *, as_json: bool) -> None:
    if as_json:
        print_json({verdict: {"authors": list(done.authors), "records": list(done.records)}})
        return
    parts = [*done.authors, counted(len(done.records), "memory") + (" from quarantine" if done.authors else "")]
    console().print(Text(f"{verdict}: {', '.join(parts)}"))
