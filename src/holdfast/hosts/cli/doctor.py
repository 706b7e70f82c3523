"""`holdfast doctor`, `status` and `config`: what works, what is stored and what is set."""

import re
from dataclasses import fields
from typing import Annotated

from rich.text import Text

from holdfast.compose.settings import user_file
from holdfast.hosts.cli.command import Result, command, opened, present, settings
from holdfast.hosts.cli.render import console, hanging, indented, working
from holdfast.model.config import Config
from holdfast.model.errors import HoldfastError, Invalid, InvalidConfig
from holdfast.model.request import Asked
from holdfast.model.text import counted
from holdfast.model.trail import DAYS, MOST
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.doctor import Check, examine, status

BROKEN = 5  # the exit code if something does not work


@command()
def status_command(memory: Memory) -> Result:
    """Show what is in the store, and its state."""
    now = status(memory)
    became = ", ".join(f"{count} {outcome}" for outcome, count in now.became.items())
    quarantine = f", {now.arrived} in quarantine (holdfast review list --sort quarantined)" if now.arrived else ""
    lines = {
        "store": f"{now.place}  {now.bytes / 1_000_000:.1f} MB",
        "project": now.project,
        "memories": f"{now.here:,} in this project, {now.everywhere:,} in {counted(now.projects, 'project')}, "
        f"{now.pending} pending, {now.retired:,} retired{quarantine}",
        "journal": counted(now.events, "event"),
        "search": now.note or f"words and meaning ({now.embedder}), {now.lagging} without vectors yet",
        "hooks": f"{now.trail_events:,} events stored (at most {MOST:,} or {DAYS:.0f} days), {now.waiting} to process, {now.spooled} in the spool",
        "injected": f"{counted(now.receipts, 'time')} in the last week, {now.injected:,} tokens"
        + (f"; {became}" if became else ""),
    }

    def draw() -> None:
        for name, line in (*lines.items(), *(("", sentence) for sentence in now.elsewhere)):
            hanging(console(), Text.assemble((f"{name:<9}", "dim"), line), 9)

    return now, draw


@command()
def doctor_command(*, as_json: bool = False) -> Result:
    """Check that everything works, and show how to fix what does not. Exit code 5 if something is broken."""
    problem: HoldfastError | None = None
    try:
        with opened() as memory, working("checking the store"):
            checks = list(examine(memory))
    except HoldfastError as store_problem:
        problem = store_problem
        checks = [Check(name="store", found=problem.message, fix=problem.hint)]
    if not isinstance(problem, InvalidConfig):
        from holdfast.hosts.cli.setup import look_around
        from holdfast.hosts.setup.checks import client_checks

        try:
            here = look_around()
            checks += client_checks(here.machine, here.manifest)
        except HoldfastError as wrong:
            checks.append(Check(name="clients", found=wrong.message, fix=wrong.hint))
    fixes = [check.fix for check in checks if check.fix]

    def draw() -> None:
        out = console()
        for check in checks:
            mark, style = ("✗", "red") if check.fix else ("✓", "green")
            hanging(out, Text.assemble((f"{mark} ", style), (f"{check.name:<15}", "bold"), check.found), 17)
            indented(out, check.fix and f"→ {check.fix}", 2, style="yellow")
        out.print(Text(f"\nNext: {fixes[0]}" if fixes else "\nEverything works."))

    if problem is None:
        return checks, draw, BROKEN if fixes else 0
    present((checks, draw), as_json=as_json)
    raise problem


@command()
def config_command(words: Annotated[tuple[str, ...], Asked("", metavar="")] = ()) -> Result:
    """Show every setting, its meaning and the source of its value; how to change one is printed at the end."""
    how = f"a line such as recall_limit = 5 in {user_file()}, or the variable HOLDFAST_RECALL_LIMIT=5"
    if words:
        raise Invalid("`holdfast config` only shows settings.", hint=f"To change one: {how}.")
    current = settings()
    values = {spec.name: _printable(spec.name, getattr(current.config, spec.name)) for spec in fields(Config)}

    def draw() -> None:
        out = console()
        for spec in fields(Config):
            source, value = current.sources[spec.name], values[spec.name]
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            text = text.lower() if isinstance(value, bool) else text or "(empty)"
            style = "bold" if source != "default" else ""
            out.print(Text.assemble((spec.name, "cyan"), "  ", (text, style), (f"  ({source})", "dim")))
            indented(out, spec.metadata["help"], 4, "dim")
        hanging(out, Text(f"To change one: {how}."), 2)

    return {name: {"value": value, "source": current.sources[name]} for name, value in values.items()}, draw


def _printable(name: str, value: object) -> object:
    """Return a value as it may be printed, without credentials."""
    if name in ("embedder_key", "observer_key", "http_token") and value:
        return "(set)"
    if name == "database":
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", str(value))
    return list(value) if isinstance(value, tuple) else value
