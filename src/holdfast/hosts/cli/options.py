"""Shared by several commands: opening the memory, and reading fields and texts from the command line."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from holdfast.hosts.cli.values import DATE, KIND, SCOPE
from holdfast.model.anchor import parse_anchor
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS

if TYPE_CHECKING:
    from holdfast.compose.settings import Settings
    from holdfast.model.event import Event
    from holdfast.verbs.memory import Memory

LONGEST_STDIN = 1_000_000
AT_ONCE = 2_000  # memories of the first step of a rebuild, about half a second


def settings(**flags: Any) -> "Settings":
    """Load the settings, overridden by those of the command line."""
    from holdfast.compose.settings import load_settings

    return load_settings(flags=click.get_current_context().find_root().obj | flags)


@contextmanager
def opened(**flags: Any) -> "Iterator[Memory]":
    """Open the memory of the working directory; what a command changes in it is kept as the last thing to undo."""
    from holdfast.compose import open_memory

    chosen = settings(**flags)
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    memory = open_memory(chosen, progress=_report_rebuild)
    for notice in memory.notices:
        click.echo(notice, err=True)
    with memory:
        events = list["Event"]()
        try:
            yield replace(memory, appended=events)
        finally:
            if events:
                from holdfast.verbs.records.undo import keep_action

                keep_action(memory, events)


def _report_rebuild(done: int, total: int) -> None:
    """Report that an older store is being brought up to date; a small one takes no noticeable time."""
    if total > AT_ONCE >= done:
        click.echo(f"Updating the index of {total:,} memories for this version; this happens once.", err=True)


def declined() -> NoReturn:
    """Report that the user said no, and exit with the code of a refusal."""
    click.echo("Nothing was done.", err=True)
    raise click.exceptions.Exit(Conflict.exit_code)


def text_or_stdin(words: tuple[str, ...]) -> str:
    """Return the text of the arguments; `-` alone, or a pipe and no words, reads stdin."""
    if words == ("-",) or (not words and not sys.stdin.isatty()):
        if sys.stdin.isatty():
            click.echo("Type the text, then Ctrl-D on a line of its own.", err=True)
        return stdin_text()
    return " ".join(words)


def stdin_text() -> str:
    """Read stdin as UTF-8, bounded."""
    raw = sys.stdin.buffer.read(LONGEST_STDIN + 1)
    if len(raw) > LONGEST_STDIN:
        raise Invalid(
            f"There are more than {LONGEST_STDIN:,} bytes on stdin.",
            hint="Save the conclusion, or split it; `holdfast ingest seed FILE` imports a document.",
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        raise Invalid("The text on stdin is not valid UTF-8.", hint="Check its encoding and try again.") from problem


def from_top(memory: "Memory", anchors: tuple[str, ...]) -> tuple[str, ...]:
    """Return anchors with paths from the root of the checkout; a file of the subfolder one works in may be typed as it is there."""
    here, top = Path.cwd(), memory.checkout.top()

    def typed(anchor: str) -> str:
        path = parse_anchor(anchor).path
        if not path or (top / path).exists() or not (here / path).exists() or not here.is_relative_to(top):
            return anchor
        return anchor.replace(path, (here.relative_to(top) / path).as_posix(), 1)

    return tuple(map(typed, anchors))


def fields_of(pairs: tuple[str, ...], kind: str = "") -> dict[str, Any]:
    """Parse NAME=VALUE pairs; values may be JSON, and a repeated name or a list field makes a list."""
    lists = {spec.name for spec in KINDS[kind].fields if spec.type == "list"} if kind in KINDS else set()
    fields: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise Invalid(f"{pair!r} is not NAME=VALUE.", hint='Write it like rationale="one file".')
        value = _value(text)
        if name in fields:
            before = fields[name] if isinstance(fields[name], list) else [fields[name]]
            value = [*before, *(value if isinstance(value, list) else [value])]
        fields[name] = [value] if name in lists and not isinstance(value, list) else value
    return fields


@contextmanager
def teaching_fields(kind: str) -> Iterator[None]:
    """Add a hint on how to pass fields to errors about a kind's fields."""
    try:
        yield
    except Invalid as problem:
        if not problem.problems:
            raise
        raise Invalid(problem.message, hint=_fields_hint(kind), problems=problem.problems) from problem


def _fields_hint(kind: str) -> str:
    """Return an example with the required fields of a kind, or with its first ones."""
    known = KINDS[kind].fields if kind in KINDS else ()
    shown = [spec for spec in known if spec.required] or known[:2]
    parts = [
        part
        for spec in shown
        for part in [f"--field {spec.name}={spec.choices[0] if spec.choices else '…'}"] * max(1, spec.least)
    ]
    if not parts:
        return f"A {kind} has no fields: omit --field."
    return f"Pass each as --field NAME=VALUE, and repeat the name for a list: {' '.join(parts)}"


def _value(text: str) -> Any:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value if isinstance(value, list | dict | bool | int | float) else text


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the filters that recall and list share."""
    for option in (
        click.option("--project", help="Another project than the current one."),
        click.option("--everywhere", is_flag=True, help="All projects."),
        click.option("--kind", "kinds", type=KIND, multiple=True, help="Only this kind; repeatable."),
        click.option(
            "--scope", "scopes", type=SCOPE, multiple=True, help="Only this scope and those nested in it; repeatable."
        ),
        click.option("--tag", "tags", multiple=True, help="Only this tag; repeatable."),
        click.option("--session", default="", help="Only what this session wrote."),
        click.option("--starters", is_flag=True, help="Also lessons that ship with Holdfast (setting `starters`)."),
        click.option(
            "--since",
            type=DATE,
            default="",
            help="Only what was saved since: 2026-11-15, 2026-11, yesterday, monday, 7d.",
        ),
        click.option("--until", type=DATE, default="", help="Only what was saved before this."),
    ):
        command = option(command)
    return command
