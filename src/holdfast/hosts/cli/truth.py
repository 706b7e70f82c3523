"""Commands that check whether memories are still true."""

import sys
from collections import Counter

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import FRESHNESS_STYLE, console, icon, json_option, print_json, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.hosts.plain import plain
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.record import record_to_json
from holdfast.model.text import counted, shorten
from holdfast.verbs.truth.verify import Checked, Falsified, check_all, falsified, verify


@click.command("verify")
@click.argument("id", type=MEMORY, required=False, default="")
@click.option("--note", default="", help="What was checked.")
@click.option("--anchor", "anchors", multiple=True, help="A place to cite instead of the current ones; repeatable.")
@click.option("--all", "everything", is_flag=True, help="Check every memory of the project.")
@click.option("--quiet", is_flag=True, help="With --all: list only memories that need action.")
@json_option
def verify_command(id: str, note: str, anchors: tuple[str, ...], everything: bool, quiet: bool, as_json: bool) -> None:  # noqa: A002
    """Mark a memory as checked, or check all of them against the code.

    The current content of its anchors is recorded, and moved code is followed. If an anchor is not true, nothing is
    recorded. With --all a table shows the state of each memory and what to do; the exit code is 1 if one is no
    longer true.

    \b
    holdfast verify 01JD7Q2M --note "read the retry loop"
    holdfast verify 01JD7Q2M --anchor src/pay.py::retry --anchor src/settings.py::LIMIT=5
    holdfast verify --all
    """
    if everything == bool(id):
        raise Invalid("Which memory?", hint="Pass its id, or --all to check every memory.")
    with opened() as memory:
        if id:
            record = verify(memory, id, note=note, anchors=anchors or None)
            message = f"{short(record.id)} verified: {record.title}"
            show({"status": "verified", "record": record_to_json(record)}, message, as_json=as_json)
            return
        checked = check_all(memory)
    outdated = [item for item in checked if item.action in ("forget", "revise")]
    if as_json:
        print_json([plain(item) for item in checked])
    else:
        _show(checked, quiet=quiet)
    sys.exit(1 if outdated else 0)


@click.command("check")
@click.option(
    "--base", default="", help="Commit or branch to compare with. Default: the branch others are merged into."
)
@click.option("--all", "everything", is_flag=True, help="Also private memories, not only those of the team.")
@json_option
def check_command(base: str, everything: bool, as_json: bool) -> None:
    """Fail if the current changes make a team memory untrue: for pull requests.

    A memory counts if its anchors matched at the base and no longer do. Revise, verify or forget it in
    the same change.
    """
    with opened() as memory:
        compared = base or memory.checkout.default_branch
        commit = memory.checkout.merge_base(compared) if compared else ""
        if not commit:
            raise Invalid(
                f"There is no commit to compare with{f': {compared}' if compared else ''}.", hint="Pass --base COMMIT."
            )
        broken = falsified(memory, commit, everything=everything)
    if as_json:
        print_json([plain(item) for item in broken])
    else:
        _show_falsified(broken, compared)
    sys.exit(1 if broken else 0)


def _show(checked: list[Checked], *, quiet: bool) -> None:
    out = console()
    for item in checked:
        if quiet and item.action == "keep":
            continue
        head = Text.assemble(
            (short(item.record.id), "cyan"),
            f"  {icon(item.record)} ",
            (f"{item.freshness.state:<10}", FRESHNESS_STYLE[item.freshness.state]),
            f" {item.action:<9} ",
            shorten(item.record.title, max(20, out.width - 40)),
        )
        out.print(head)
        if item.why:
            out.print(Text(f"            {item.why}", style="yellow"))
        if item.command:
            out.print(Text(f"            {item.command}", style="dim"))
    states = Counter(item.freshness.state for item in checked)
    summary = ", ".join(f"{count} {state}" for state, count in states.most_common())
    out.print(f"{counted(len(checked), 'memory')} checked{f': {summary}' if summary else ''}.")


def _show_falsified(broken: list[Falsified], base: str) -> None:
    out = console()
    for item in broken:
        out.print(
            Text.assemble((short(item.record.id), "cyan"), f"  {icon(item.record)} ", (item.record.title, "bold"))
        )
        for why in item.why:
            out.print(Text(f"            {why}", style="red"))
    if broken:
        out.print(f"{counted(len(broken), 'memory')} of the team matched at {base} and no longer.")
    else:
        out.print(f"No team memory is made untrue by the changes since {base}.")
