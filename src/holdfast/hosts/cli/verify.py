"""`holdfast verify` and `holdfast check`: compare memories with the code."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.text import Text

from holdfast.compose.adapters import committed_memories
from holdfast.compose.settings import store_folder
from holdfast.hosts.cli.options import from_top, opened, settings
from holdfast.hosts.cli.render import (
    FRESHNESS_STYLE,
    console,
    fitting,
    icon,
    indented,
    json_option,
    print_json,
    show,
    working,
)
from holdfast.hosts.cli.values import MEMORY
from holdfast.hosts.to_json import plain
from holdfast.model.errors import Invalid
from holdfast.model.ids import SHORT, short
from holdfast.model.places import FILE
from holdfast.model.record import record_to_json
from holdfast.model.text import counted
from holdfast.verbs.memory import Memory
from holdfast.verbs.truth.check_change import CheckedChange, check_change
from holdfast.verbs.truth.verify import Checked, check_all, verify

FOUND = 1  # the exit code of a check that found something


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
    holdfast verify QD7Q2M4X --note "read the retry loop"
    holdfast verify QD7Q2M4X --anchor src/settings.py::LIMIT=5
    holdfast verify --all
    """
    if everything == bool(id):
        raise Invalid("Which memory?", hint="Pass its id, or --all to check every memory.")
    with opened() as memory:
        if id:
            record = verify(memory, id, note=note, anchors=from_top(memory, anchors) or None)
            message = f"{short(record.id)} verified: {record.title}"
            show({"status": "verified", "record": record_to_json(record)}, message, as_json=as_json)
            return
        with working("comparing memories with the code"):
            checked = check_all(memory)
    outdated = [item for item in checked if item.action in ("forget", "revise")]
    if as_json:
        print_json([plain(item) for item in checked])
    else:
        _show(checked, quiet=quiet)
    if outdated:
        raise click.exceptions.Exit(FOUND)


@click.command("check")
@click.option(
    "--base",
    default="",
    envvar=["GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"],
    help="Commit or branch to compare with. Default: what a pull request is merged into, as GitHub and GitLab name it; else the default branch.",
)
@click.option("--all", "everything", is_flag=True, help="Also private memories, not only those of the team.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif", "junit", "gitlab"]),
    default="text",
    show_default=True,
    help="github: annotations; sarif: code scanning; junit: test report; gitlab: code quality.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to this file; the text is printed as well.",
)
@json_option
def check_command(base: str, everything: bool, form: str, output: Path | None, as_json: bool) -> None:
    """Fail if the current changes make a team memory untrue: for pull requests.

    Reads the memories in .holdfast/memories at the base, so it needs no set-up, and those of the store, quarantined ones
    included. A memory counts if its anchors matched at the base and no longer do. Revise, verify or forget it in the
    same change. Exit code 1 if there is such a memory.
    """
    form = "json" if as_json else form
    if output and form == "text":
        raise Invalid("--output needs a --format.", hint="Pass --format sarif, junit, gitlab, github or json.")
    with _opened_or_empty() as memory:
        if not memory.checkout.in_git():
            raise Invalid(
                "This folder is in no git repository, or git does not trust its owner.",
                hint='Run it in a checkout. In a container: git config --global --add safe.directory "$PWD"',
            )
        if not memory.checkout.commit_of("HEAD"):
            click.echo("There is no commit yet, so there is nothing to compare with.", err=True)
            return
        compared = base or memory.checkout.default_branch
        commit = _base_commit(memory, compared)
        with working("comparing memories with the code"):
            change = check_change(memory, commit, committed_memories(memory, commit), everything=everything)
    _report_change(change, compared, form, output)
    if change.broken:
        raise click.exceptions.Exit(FOUND)


@contextmanager
def _opened_or_empty() -> Iterator[Memory]:
    """Open the memory, or an empty one in a temporary folder if there is none: a check leaves no store behind."""
    config = settings().config
    if config.database or (store_folder(config, Path.cwd()) / FILE).exists():
        with opened() as memory:
            yield memory
        return
    with TemporaryDirectory() as folder, opened(home=folder) as memory:
        yield memory


def _base_commit(memory: Memory, name: str) -> str:
    """Return the commit where a change began; in a shallow clone, which does not have it, the base itself."""
    checkout = memory.checkout
    if name and not name.startswith("-"):
        if commit := checkout.merge_base(name):
            return commit
        if commit := checkout.commit_of(name):
            click.echo(f"This clone has no common commit with {name}: comparing with {name} itself.", err=True)
            return commit
    raise Invalid(
        f"There is no commit to compare with{f': {name}' if name else ''}.",
        hint="Pass --base COMMIT. In CI, fetch it first (with actions/checkout: fetch-depth: 0).",
    )


def _report_change(change: CheckedChange, base: str, form: str, output: Path | None) -> None:
    """Print a report, or write it to a file and print the text."""
    if form == "text" or output:
        _show_change(change, base)
    if form != "text":
        from holdfast.hosts.cli.check_reports import FORMATS

        report = FORMATS[form](change, base)
        if output is None:
            print(report)
            return
        try:
            output.write_text(report + "\n", encoding="utf-8")
        except OSError as problem:
            raise Invalid(f"{output} cannot be written: {problem.strerror}.") from problem


def _show(checked: list[Checked], *, quiet: bool) -> None:
    out = console()
    width = max((len(short(item.record.id)) for item in checked), default=0)
    for item in checked:
        if quiet and item.action == "keep":
            continue
        head = Text.assemble(
            (f"{short(item.record.id):<{width}}", "cyan"),
            f"  {icon(item.record)} ",
            (f"{item.freshness.state:<10}", FRESHNESS_STYLE[item.freshness.state]),
            f" {item.action:<9} ",
            fitting(out, item.record.title, width + 25),
        )
        out.print(head)
        if item.why:
            indented(out, item.why, SHORT + 4, style="yellow")
        if item.command:
            out.print(Text(f"            {item.command}", style="dim"))
    states = Counter(item.freshness.state for item in checked)
    summary = ", ".join(f"{count} {state}" for state, count in states.most_common())
    out.print(f"{counted(len(checked), 'memory')} checked{f': {summary}' if summary else ''}.")


def _show_change(change: CheckedChange, base: str) -> None:
    from holdfast.hosts.cli.check_reports import summary

    out = console()
    for item in change.broken:
        title = " ".join(
            item.record.title.split()
        )  # a file may have any title; a log must not take it for a line of its own
        out.print(Text.assemble((short(item.record.id), "cyan"), f"  {icon(item.record)} ", (title, "bold")))
        for why in item.why:
            indented(out, " ".join(why.split()), SHORT + 4, style="red")
        if item.held:
            held = "It is quarantined here; `holdfast review list --sort quarantined` shows it."
            indented(out, held, SHORT + 4, style="dim")
        if item.file:
            out.print(Text(f"            {item.file}", style="dim"))
    for note in change.notes:
        out.print(Text(f"warning: {note}", style="yellow"))
    out.print(summary(change, base))
