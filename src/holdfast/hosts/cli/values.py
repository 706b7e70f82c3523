"""What is typed: argument types that complete themselves in a shell, parameters that many commands have, texts and fields."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.files import read_regular

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from holdfast.verbs.memory import Memory

OFFERED = 50  # most words to offer
LONGEST_STDIN = 1_000_000
Offers = Iterable[tuple[str, str | None]]


class Offering(click.types.StringParamType):
    """A text argument with completions; invalid values are left to the verb that uses them."""

    def __init__(self, name: str, offers: Callable[[click.Context], Offers]) -> None:
        self.name, self.offers = name, offers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Return the completions of a beginning, with their meaning."""
        from click.shell_completion import CompletionItem  # only needed for completion

        del param
        begun = ((word, said) for word, said in self.offers(ctx) if word.lower().startswith(incomplete.lower()))
        return [CompletionItem(word, help=said) for word, said in islice(begun, OFFERED)]


def date(text: str) -> str:
    """Return the instant meant by a date or time: 2026-11-15, 2026-11, today, yesterday, monday, last week, 12h, 7d or 2w (ago)."""
    from holdfast.model.ids import moment_of

    return moment_of(text, datetime.now(UTC).isoformat())


def project(name: str) -> str:
    """Return the name of a project; raise Invalid if it is empty, which would mean every project."""
    if not name.strip():
        raise Invalid("--project needs a name.", hint="Without --project it is the current project.")
    return name


def _stored(what: str, ctx: click.Context) -> Offers:
    """Return the latest memories of this project with their titles, or its scopes; completion creates no store and prints no error."""
    from holdfast.compose import open_memory
    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.model.files import FILE
    from holdfast.model.ids import short
    from holdfast.model.query import Query
    from holdfast.verbs.records.read import browse, list_scopes

    try:
        current = load_settings(flags={"home": ctx.find_root().params.get("home")})
        if not current.config.database and not (store_folder(current.config, Path.cwd()) / FILE).exists():
            return ()
        with open_memory(current) as memory:
            if what == "scope":
                return dict.fromkeys(list_scopes(memory)).items()
            listed = browse(memory, Query.of(limit=1000), states=("active", "pending", "retired"))
            return [(short(entry.record.id), entry.record.title) for entry in listed.entries]
    except HoldfastError:
        return ()


FORMS: dict[str, Any] = {
    "memory": Offering("id", partial(_stored, "id")),
    "kind": Offering("kind", lambda _: dict.fromkeys(import_module("holdfast.model.kinds").KINDS).items()),
    "scope": Offering("scope", partial(_stored, "scope")),
    "relation": Offering("relation", lambda _: dict.fromkeys(import_module("holdfast.model.record").RELATIONS).items()),
    "client": Offering(
        "name", lambda _: ((one.name, one.title) for one in import_module("holdfast.hosts.setup.clients").CLIENTS)
    ),
    "date": date,
    "project": project,
    "path": click.Path(path_type=Path, allow_dash=True),
    "file": click.Path(dir_okay=False, path_type=Path),
    "existing": click.Path(exists=True, path_type=Path),
    "existing file": click.Path(exists=True, dir_okay=False, path_type=Path),
    "folder": click.Path(file_okay=False, path_type=Path),
    "existing folder": click.Path(exists=True, file_okay=False, path_type=Path),
}


def new_file(path: Path) -> TextIO:
    """Open a file for its owner only, to write it from its beginning."""
    try:
        return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8")
    except OSError as problem:
        raise Invalid(
            f"{path} cannot be written ({problem.strerror}).", hint="Choose another file with -o."
        ) from problem


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
        hint = "Save the conclusion, or split it; `holdfast ingest seed FILE` imports a document."
        raise Invalid(f"There are more than {LONGEST_STDIN:,} bytes on stdin.", hint=hint)
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        raise Invalid("The text on stdin is not valid UTF-8.", hint="Check its encoding and try again.") from problem


def json_in(file: Path, longest: int) -> Any:
    """Parse a JSON file, bounded; `-` is stdin."""
    from holdfast.model.foreign_json import parse_json

    try:
        return parse_json(text_in(file, longest), longest)
    except ValueError as problem:
        hint = "Fix it and try again; nothing was written."
        raise Invalid(f"{file} cannot be read as JSON: {problem}.", hint=hint) from problem


def text_in(file: Path, longest: int) -> str:
    """Read a file as UTF-8, bounded; `-` is stdin."""
    if str(file) == "-":
        return stdin_text()
    try:
        return read_regular(file, longest).decode()
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise Invalid(f"{file} cannot be read: {why}.") from problem


def from_top(memory: "Memory", anchors: tuple[str, ...]) -> tuple[str, ...]:
    """Return anchors with paths from the root of the checkout; a file of the subfolder one works in may be typed as it is there."""
    from holdfast.model.anchor import parse_anchor

    here, top = Path.cwd(), memory.checkout.top()

    def typed(anchor: str) -> str:
        path = parse_anchor(anchor).path
        if not path or (top / path).exists() or not (here / path).exists() or not here.is_relative_to(top):
            return anchor
        return anchor.replace(path, (here.relative_to(top) / path).as_posix(), 1)

    return tuple(map(typed, anchors))


def fields_of(pairs: tuple[str, ...], kind: str = "") -> dict[str, Any]:
    """Parse NAME=VALUE pairs; values may be JSON, and a repeated name or a list field makes a list."""
    from holdfast.model.foreign_json import json_or_none
    from holdfast.model.kinds import KINDS

    lists = {spec.name for spec in KINDS[kind].fields if spec.type == "list"} if kind in KINDS else set()
    fields: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise Invalid(f"{pair!r} is not NAME=VALUE.", hint='Write it like rationale="one file".')
        parsed = json_or_none(text)
        value = parsed if isinstance(parsed, list | dict | bool | int | float) else text
        if name in fields:
            before = fields[name] if isinstance(fields[name], list) else [fields[name]]
            value = [*before, *(value if isinstance(value, list) else [value])]
        fields[name] = [value] if name in lists and not isinstance(value, list) else value
    return fields


@contextmanager
def teaching_fields(kind: str) -> Iterator[None]:
    """Add a hint on how to pass fields to errors about a kind's fields: its required ones, or its first."""
    from holdfast.model.kinds import KINDS

    try:
        yield
    except Invalid as problem:
        if not problem.problems:
            raise
        known = KINDS[kind].fields if kind in KINDS else ()
        parts = [
            " ".join([f"--field {spec.name}={spec.choices[0] if spec.choices else '…'}"] * max(1, spec.least))
            for spec in [spec for spec in known if spec.required] or known[:2]
        ]
        hint = f"Pass each as --field NAME=VALUE, and repeat the name for a list: {' '.join(parts)}"
        hint = hint if parts else f"A {kind} has no fields: omit --field."
        raise Invalid(problem.message, hint=hint, problems=problem.problems) from problem
