"""Print things for people; programs use --json."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from textwrap import fill
from threading import Timer
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from holdfast.hosts.cli.command import wants_json
from holdfast.hosts.to_json import plain
from holdfast.model import ids
from holdfast.model.ids import ULID, short
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.model.text import escaped, shorten, visible
from holdfast.policy.admission.admit import how_near
from holdfast.policy.freshness import details, freshness_text
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.phrases import WORDS_OF_PERSON, Reader, steps_of

# Readable on a dark and on a light background: at least 4:1 on black and on white. A terminal's own yellow is not.
COLOURS = {"red": 196, "yellow": 130, "green": 28, "cyan": 30, "blue": 27, "magenta": 163}
_THEME = Theme({f"{bold}{name}": f"{bold}color({code})" for name, code in COLOURS.items() for bold in ("", "bold ")})
FIELD_START = 24
SPINNER_AFTER = 0.7  # seconds until a spinner appears


class _Console(Console):
    """A console that leaves a closed pipe to `main` and prints stored text without control characters."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Yield segments without control characters of stored text: only rich itself moves the cursor."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(visible(part.text), part.style)

    def on_broken_pipe(self) -> None:
        """Leave it to `main`; rich itself would exit with code 1."""
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """Return a console that prints plain text to a pipe or on request."""
    stream = sys.stderr if error else sys.stdout
    whole: dict[str, Any] = {} if stream.isatty() else {"soft_wrap": True, "width": 120}
    return _Console(file=stream, theme=_THEME, highlight=False, color_system=None if is_plain() else "auto", **whole)


def is_plain() -> bool:
    """True if escape codes are unwanted, for bold and dim text too."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def print_error(message: str, hint: str) -> None:
    """Print an error and a hint on stderr."""
    out = console(error=True)
    text, more = (re.sub(rf"\b{ULID.pattern}\b", lambda match: short(match[0]), part) for part in (message, hint))
    hanging(out, Text.assemble(("error: ", "bold red"), text), len("error: "))
    indented(out, more, len("error: "), style="dim")


def json_text(value: Any) -> str:
    """Return a value as JSON, for programs."""
    return escaped(json.dumps(plain(value), ensure_ascii=False, indent=2))


def say(text: str, *, err: bool = False) -> None:
    """Print a text for a person, with lines that fit the terminal."""
    click.echo(visible(wrapped(text)), err=err)


def agreed(question: str) -> bool:
    """Ask the user, with lines that fit the terminal; True for yes."""
    return click.confirm(wrapped(f"{question} [y/N]:"), show_default=False, prompt_suffix=" ", err=True)


def wrapped(text: str) -> str:
    """Return a text with lines that fit the terminal, broken between words; unchanged if it goes to a file or pipe."""
    if not sys.stdout.isatty():
        return text
    width = console().width

    def fitted(line: str) -> str:
        if len(line) <= width or line.lstrip().startswith(("holdfast ", "export ", "claude ")):  # copied whole
            return line
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        return fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(fitted, text.split("\n")))


def ago(at: str) -> str:
    """Return how long ago an instant was."""
    return ids.ago(at, datetime.now(UTC).isoformat())


def local(at: str, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return an instant as local date and time, to the minute, or in another form."""
    return f"{datetime.fromisoformat(at).astimezone():{form}}" if at else ""


def icon(record: Record) -> str:
    """Return the icon of a record's kind."""
    return KINDS[record.kind].icon if record.kind in KINDS else "•"


def _below_title(record: Record, snippet: str) -> str:
    """Return what a snippet adds to the title above it; a title that was cut continues here."""
    start = record.title.removesuffix("…")
    text = labelled(record, snippet)
    if text[:1] == "…" and record.body.startswith(text[1 : FIELD_START + 1]):
        return text[1:]  # nothing but the title, which stands above, was left out before it
    rest = text.removeprefix(start).lstrip(" .\n").rstrip()
    return f"…{rest}" if rest and text.startswith(start) and start != record.title else rest


def hanging(out: Console, text: Text, by: int) -> None:
    """Print a text whose further lines are indented on a terminal."""
    first, *rest = text.wrap(out, out.width) if out.is_terminal else [text]
    for line in (first, *rest):
        line.rstrip()
    out.print(first)
    indented(out, Text(" ").join(rest), by)


def indented(out: Console, text: str | Text, by: int, style: str = "") -> None:
    """Print an indented text, if there is any; it is never cut, only wrapped between words on a terminal."""
    whole = Text(text, style=style) if isinstance(text, str) else text
    lines = whole.wrap(out, max(out.width - by, 20)) if out.is_terminal else whole.split("\n")
    for line in lines if whole else ():
        if out.is_terminal:
            line.rstrip()
        out.print(Text(" " * by).append_text(line) if line else "")


def about(record: Record) -> str:
    """Return the kind, project, date and labels of a record on a line."""
    place = record.project or "everywhere"
    labels = [*record.scopes, *(f"#{tag}" for tag in record.tags)]
    kind = f"starter {record.kind}" if record.source == "starter" else record.kind
    return " · ".join([kind, place, ago(record.created_at), *labels])


def labelled(record: Record, snippet: str) -> str:
    """Return a snippet in which the values of fields begin a line with the field's name, so that none passes for the text."""
    shown = snippet.removeprefix("…").removesuffix("…")
    at = " ".join(record.text.split()).find(shown)
    starts, start = list[tuple[int, str]](), snippet.find(shown) - at
    for name, text in record.parts if at >= 0 else ():
        starts += [(start, name)] if name and 0 < start < len(snippet) else []
        start += len(" ".join(text.split())) + 1
    for place, name in reversed(starts):
        label = field_label(name, single=isinstance(record.fields[name], list))
        snippet = f"{snippet[:place].rstrip()}\n{label}: {snippet[place:]}"
    return snippet


def field_label(name: str, *, single: bool = False) -> str:
    """Return a field's name for people; the name of one value, if it has several."""
    words = name.replace("counter_", "counter-").replace("_", " ")
    return words.removesuffix("s") if single else words


def legend(records: Iterable[Record]) -> str:
    """Return what the signs of records mean, a sign and its kind on one line: `fill` does not break at a no-break space."""
    kinds = dict.fromkeys(f"{icon(record)}\xa0{record.kind.replace('_', ' ')}" for record in records)
    return fill("  ".join(kinds), console().width).replace("\xa0", " ") if console().is_terminal else ""


def fitting(out: Console, title: str, taken: int) -> str:
    """Return a title cut to what is left of a line of the terminal; whole for a pipe, where people grep."""
    if not out.is_terminal:
        return title
    wide = cell_len(title) - len(title)  # emoji and ideographs take two columns
    return shorten(title, max(20, out.width - taken - wide))


PERSON = Reader(budget=0, figures=False, day=ago, minute=ago, session=short, words=WORDS_OF_PERSON)


HERE = Path(__file__).parent


@cache
def _pages() -> Callable[..., str]:
    """Return the function that renders pages of pages.txt: imported with the first page, many commands print none."""
    from holdfast.surfaces.pages import BLANK, pages_of

    filters: dict[str, Callable[..., Any]] = {
        "about": about,
        "ago": ago,
        "below_title": lambda hit: _below_title(hit.record, hit.snippet),
        "by_reason": lambda remarks: [
            (why, [remark.where for remark in remarks if remark.why == why])
            for why in dict.fromkeys(remark.why for remark in remarks)
        ],
        "block": lambda text, by: "\n".join(" " * by + line if line else BLANK for line in text.split("\n")),
        "details": details,
        "fit": lambda title, taken: fitting(console(), title, taken),
        "how_near": how_near,
        "freshness": freshness_text,
        "icon": icon,
        "label": field_label,
        "legend": legend,
        "local": local,
        "steps": steps_of,
        "tallied": lambda values: Counter(values).most_common(),
        "many": lambda value: value if isinstance(value, list) else [value],
        "warns_at": warns_at,
    }
    return pages_of(HERE, filters, styled=True)


def page(name: str, /, *value: Any, error: bool = False, **values: Any) -> Callable[[], None]:
    """Return the function that prints a page: one of pages.txt here, or one that the native tools have as well."""

    def show_page() -> None:
        from holdfast.surfaces.pages import macros_in

        if name in macros_in(HERE):
            draw(_pages()(name, *value, reader=PERSON, **values), error=error)
            return
        from holdfast.surfaces.core.text import page as shared  # it imports most verbs

        say(shared(name, *value, reader=PERSON, **values))

    return show_page


def draw(text: str, *, error: bool = False) -> None:
    """Print a page with its styles; wrapped lines continue in the column of their beginning, or in column N after `⇥N `."""
    from html import unescape

    from holdfast.surfaces.pages import HANG

    if "<" not in text and HANG not in text:
        if text:
            say(unescape(text), err=error)
        return
    out, style = console(error=error), ""
    for line in text.split("\n"):
        hang = re.match(rf"{HANG}(\d+) ", line)
        styled = Text()
        for place, part in enumerate(re.split(r"<(/?[a-z ]*)>", line[hang.end() if hang else 0 :])):
            if place % 2:
                style = "" if part.startswith("/") else part
            else:
                styled.append(unescape(part), style)
        indent = len(styled.plain) - len(styled.plain.lstrip(" "))
        if not styled and "<" in line:  # only a tag
            continue
        if indent and not hang and out.is_terminal:
            indented(out, styled[indent:], indent)
        else:
            hanging(out, styled, int(hang[1]) if hang else 0)


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Yield a function that updates a progress bar on stderr: what is done, the total if it was not known, and another label.

    Nothing is drawn for programs.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    off = wants_json() or is_plain() or not sys.stderr.isatty()
    with Progress(*columns, console=console(error=True), disable=off, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done, of=None, what=label: bar.update(task, completed=done, total=of or total, description=what)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on stderr if the work takes noticeable time; nothing is drawn for programs."""
    if is_plain() or not sys.stderr.isatty():
        yield
        return
    status = console(error=True).status(f"{label} …")
    timer = Timer(SPINNER_AFTER, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
