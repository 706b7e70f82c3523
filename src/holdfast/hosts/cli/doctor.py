"""`holdfast doctor`, `status` and `config`: what works, what is stored and what is set."""

import re
from dataclasses import asdict, fields

import click
from rich.text import Text

from holdfast.compose.settings import user_file
from holdfast.hosts.cli.options import opened, settings
from holdfast.hosts.cli.render import console, hanging, indented, json_option, print_json, working
from holdfast.model.config import Config
from holdfast.model.errors import HoldfastError, Invalid, InvalidConfig
from holdfast.model.text import counted
from holdfast.model.trail import DAYS, MOST
from holdfast.verbs.upkeep.doctor import Check, Status, examine, status


@click.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Show what is in the store, and its state."""
    with opened() as memory:
        now = status(memory)
    if as_json:
        print_json(asdict(now))
        return
    lines = {
        "store": f"{now.place}  {now.bytes / 1_000_000:.1f} MB",
        "project": now.project,
        "memories": _memories(now),
        "journal": counted(now.events, "event"),
        "search": f"words and meaning ({now.embedder}), {now.lagging} without vectors yet"
        if not now.note
        else now.note,
        "hooks": f"{now.trail_events:,} events stored (at most {MOST:,} or {DAYS:.0f} days), {now.waiting} to process, {now.spooled} in the spool",
        "injected": f"{counted(now.receipts, 'time')} in the last week, {now.injected:,} tokens"
        + (f"; {', '.join(f'{count} {outcome}' for outcome, count in now.became.items())}" if now.became else ""),
    }
    out = console()
    for name, line in (*lines.items(), *(("", sentence) for sentence in now.elsewhere)):
        hanging(out, Text.assemble((f"{name:<9}", "dim"), line), 9)


def _memories(now: Status) -> str:
    places = counted(now.projects, "project")
    summary = (
        f"{now.here:,} in this project, {now.everywhere:,} in {places}, {now.pending} pending, {now.retired:,} retired"
    )
    return summary + (f", {now.arrived} in quarantine (holdfast review list --sort quarantined)" if now.arrived else "")


@click.command("doctor")
@json_option
def doctor_command(as_json: bool) -> None:
    """Check that everything works, and show how to fix what does not. Exit code 5 if something is broken."""
    problem: HoldfastError | None = None
    try:
        with opened() as memory, working("checking the store"):
            checks = list(examine(memory))
    except HoldfastError as store_problem:
        problem = store_problem
        checks = [Check(name="store", found=problem.message, fix=problem.hint)]
    if not isinstance(problem, InvalidConfig):
        checks += _client_checks()
    _show_checks(checks, as_json=as_json)
    if problem:
        raise problem
    if any(check.fix for check in checks):
        raise click.exceptions.Exit(5)


def _client_checks() -> list[Check]:
    from holdfast.hosts.cli.here import look_around
    from holdfast.hosts.setup.checks import client_checks

    try:
        here = look_around()
    except HoldfastError as problem:
        return [Check(name="clients", found=problem.message, fix=problem.hint)]
    return list(client_checks(here.machine, here.manifest))


def _show_checks(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(check) for check in checks])
    for check in [] if as_json else checks:
        mark, style = ("✗", "red") if check.fix else ("✓", "green")
        hanging(console(), Text.assemble((f"{mark} ", style), (f"{check.name:<15}", "bold"), check.found), 17)
        if check.fix:
            indented(console(), f"→ {check.fix}", 2, style="yellow")
    if not as_json:
        fix = next((check.fix for check in checks if check.fix), "")
        console().print(Text(f"\nNext: {fix}" if fix else "\nEverything works."))


@click.command("config")
@click.argument("words", nargs=-1, metavar="")
@json_option
def config_command(words: tuple[str, ...], as_json: bool) -> None:
    """Show every setting, its meaning and the source of its value; how to change one is printed at the end."""
    how = f"a line such as recall_limit = 5 in {user_file()}, or the variable HOLDFAST_RECALL_LIMIT=5"
    if words:
        raise Invalid("`holdfast config` only shows settings.", hint=f"To change one: {how}.")
    current = settings()
    values = {spec.name: _masked(spec.name, getattr(current.config, spec.name)) for spec in fields(Config)}
    if as_json:
        print_json({name: {"value": value, "source": current.sources[name]} for name, value in values.items()})
        return
    out = console()
    for spec in fields(Config):
        source = current.sources[spec.name]
        value = (_value_text(values[spec.name]), "bold" if source != "default" else "")
        out.print(Text.assemble((spec.name, "cyan"), "  ", value, (f"  ({source})", "dim")))
        indented(out, spec.metadata["help"], 4, "dim")
    hanging(out, Text(f"To change one: {how}."), 2)


def _value_text(value: object) -> str:
    """Return a value as config.toml writes it, without quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text or "(empty)"


def _masked(name: str, value: object) -> object:
    """Return a value as it may be printed, without credentials."""
    if name in ("embedder_key", "observer_key", "http_token") and value:
        return "(set)"
    if name == "database":
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", str(value))
    return list(value) if isinstance(value, tuple) else value
