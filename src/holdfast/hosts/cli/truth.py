"""Commands that ask whether memories are still true, and say so."""

import sys
from collections import Counter

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import FRESHNESS_STYLE, SHORT, console, icon, json_option, print_json, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.hosts.plain import plain
from holdfast.model.errors import Invalid
from holdfast.model.record import record_to_json
from holdfast.model.text import counted, shorten
from holdfast.verbs.truth.verify import Checked, Falsified, check_all, falsified, verify


@click.command("verify")
@click.argument("id", type=MEMORY, required=False, default="")
@click.option("--note", default="", help="What was checked.")
@click.option("--anchor", "anchors", multiple=True, help="A place it is about instead of those it cites; repeatable.")
@click.option("--all", "everything", is_flag=True, help="Ask of every memory of the project whether it still holds.")
@click.option("--quiet", is_flag=True, help="With --all: only what needs something done.")
@json_option
def verify_command(id: str, note: str, anchors: tuple[str, ...], everything: bool, quiet: bool, as_json: bool) -> None:  # noqa: A002
    """Say that a memory was checked and still holds, or ask which do.

    What stands at the places it cites is noted anew, and moved code is followed. If an anchor says something that is
    not so, nothing is noted. With --all a table says of each memory what is still true and what to do; the exit
    code is 1 if something is no longer so.

    \b
    holdfast verify 01JD7Q2M --note "read the retry loop"
    holdfast verify 01JD7Q2M --anchor src/pay.py::retry --anchor src/settings.py::LIMIT=5
    holdfast verify --all
    """
    if everything == bool(id):
        raise Invalid("Which memory?", hint="Give its id, or --all to ask of every one.")
    with opened() as memory:
        if id:
            record = verify(memory, id, note=note, anchors=anchors or None)
            told = f"{record.id[:SHORT]} verified: {record.title}"
            show({"status": "verified", "record": record_to_json(record)}, told, as_json=as_json)
            return
        found = check_all(memory)
    wrong = [one for one in found if one.action in ("forget", "revise")]
    if as_json:
        print_json([plain(one) for one in found])
    else:
        _show(found, quiet=quiet)
    sys.exit(1 if wrong else 0)


@click.command("check")
@click.option(
    "--base", default="", help="Commit or branch to compare with. Default: the branch others are merged into."
)
@click.option("--all", "everything", is_flag=True, help="Private memories too, not only those of the team.")
@json_option
def check_command(base: str, everything: bool, as_json: bool) -> None:
    """Fail if the changes at hand make a memory of the team untrue: for pull requests.

    A memory counts if what it cites stood as noted at the base and does not any more. Revise, verify or forget it in
    the same change.
    """
    with opened() as memory:
        compared = base or memory.checkout.default_branch
        commit = memory.checkout.merge_base(compared) if compared else ""
        if not commit:
            raise Invalid(
                f"There is nothing to compare with{f': {compared}' if compared else ''}.", hint="Name a --base."
            )
        found = falsified(memory, commit, everything=everything)
    if as_json:
        print_json([plain(one) for one in found])
    else:
        _show_falsified(found, compared)
    sys.exit(1 if found else 0)


def _show(found: list[Checked], *, quiet: bool) -> None:
    out = console()
    for one in found:
        if quiet and one.action == "keep":
            continue
        head = Text.assemble(
            (one.record.id[:SHORT], "cyan"),
            f"  {icon(one.record)} ",
            (f"{one.freshness.state:<10}", FRESHNESS_STYLE[one.freshness.state]),
            f" {one.action:<9} ",
            shorten(one.record.title, max(20, out.width - 40)),
        )
        out.print(head)
        if one.why:
            out.print(Text(f"            {one.why}", style="yellow"))
        if one.command:
            out.print(Text(f"            {one.command}", style="dim"))
    states = Counter(one.freshness.state for one in found)
    told = ", ".join(f"{count} {state}" for state, count in states.most_common())
    out.print(f"{counted(len(found), 'memory')} checked{f': {told}' if told else ''}.")


def _show_falsified(found: list[Falsified], base: str) -> None:
    out = console()
    for one in found:
        out.print(Text.assemble((one.record.id[:SHORT], "cyan"), f"  {icon(one.record)} ", (one.record.title, "bold")))
        for why in one.why:
            out.print(Text(f"            {why}", style="red"))
    if found:
        out.print(f"{counted(len(found), 'memory')} of the team held at {base} and no longer.")
    else:
        out.print(f"No memory of the team is made untrue by what changed since {base}.")
