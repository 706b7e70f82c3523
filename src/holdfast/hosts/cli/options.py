"""What several commands share: opening the memory, and reading fields and texts from the command line."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from holdfast.hosts.cli.values import DATE, KIND, SCOPE
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS

if TYPE_CHECKING:
    from holdfast.compose.settings import Settings
    from holdfast.verbs.memory import Memory

LONGEST_STDIN = 1_000_000
ANSWERING = "`holdfast judge APPLYING|N_A|REFUTED ID --evidence …`"


def settings(**flags: Any) -> "Settings":
    """Gather the settings, with those given on the command line on top."""
    from holdfast.compose.settings import load_settings

    return load_settings(flags=click.get_current_context().find_root().obj | flags)


def opened(**flags: Any) -> "Memory":
    """Open the memory of the working directory."""
    from holdfast.compose import open_memory

    chosen = settings(**flags)
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    memory = open_memory(chosen)
    if memory.apart:
        click.echo(memory.apart, err=True)
    return memory


def text_or_stdin(words: tuple[str, ...]) -> str:
    """Return the text of the arguments; `-` alone, or a pipe and no words, reads stdin."""
    if words == ("-",) or (not words and not sys.stdin.isatty()):
        return stdin_text()
    return " ".join(words)


def stdin_text() -> str:
    """Read stdin as UTF-8, bounded."""
    raw = sys.stdin.buffer.read(LONGEST_STDIN + 1)
    if len(raw) > LONGEST_STDIN:
        raise Invalid(
            f"There are more than {LONGEST_STDIN:,} bytes on stdin.",
            hint="Keep the conclusion, or split it; `holdfast seed FILE` takes a document apart.",
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        raise Invalid("The text on stdin is not valid UTF-8.", hint="Check its encoding and try again.") from problem


def fields_of(pairs: tuple[str, ...], kind: str = "") -> dict[str, Any]:
    """Read NAME=VALUE pairs; a value in JSON is taken as such, a repeated name or a list's name makes a list."""
    lists = {spec.name for spec in KINDS[kind].fields if spec.type == "list"} if kind in KINDS else set()
    given: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise Invalid(f"{pair!r} is not NAME=VALUE.", hint='Write it like rationale="one file".')
        value = _value(text)
        if name in given:
            before = given[name] if isinstance(given[name], list) else [given[name]]
            value = [*before, *(value if isinstance(value, list) else [value])]
        given[name] = [value] if name in lists and not isinstance(value, list) else value
    return given


@contextmanager
def teaching_fields(kind: str) -> Iterator[None]:
    """Say how fields are given on the command line wherever those of a kind are refused."""
    try:
        yield
    except Invalid as problem:
        if not problem.problems:
            raise
        raise Invalid(problem.message, hint=_how(kind), problems=problem.problems) from problem


def _how(kind: str) -> str:
    """Return an example with the fields that a kind wants, or else with those it knows."""
    known = KINDS[kind].fields if kind in KINDS else ()
    wanted = [spec for spec in known if spec.required] or known[:2]
    parts = [
        part
        for spec in wanted
        for part in [f"--field {spec.name}={spec.choices[0] if spec.choices else '…'}"] * max(1, spec.least)
    ]
    if not parts:
        return f"A {kind} has no fields: leave --field out."
    return f"Give each with --field NAME=VALUE, a list by repeating its name: {' '.join(parts)}"


def _value(text: str) -> Any:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value if isinstance(value, list | dict | bool | int | float) else text


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command the filters that recall and list share."""
    for option in (
        click.option("--project", help="Another project than the one at hand."),
        click.option("--everywhere", is_flag=True, help="All projects."),
        click.option("--kind", "kinds", type=KIND, multiple=True, help="Only this kind; repeatable."),
        click.option(
            "--scope", "scopes", type=SCOPE, multiple=True, help="Only this scope and those nested in it; repeatable."
        ),
        click.option("--tag", "tags", multiple=True, help="Only this tag; repeatable."),
        click.option("--session", default="", help="Only what this session wrote."),
        click.option("--since", type=DATE, default="", help="Only what was kept on or after this date."),
        click.option("--until", type=DATE, default="", help="Only what was kept before this date."),
    ):
        command = option(command)
    return command
