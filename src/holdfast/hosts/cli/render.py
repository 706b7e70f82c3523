"""Print things for people; programs use --json."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from textwrap import fill
from threading import Timer
from typing import Any, Literal

import click
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from holdfast.hosts.to_json import plain
from holdfast.model import times
from holdfast.model.event import Event, in_words
from holdfast.model.fence import escaped, visible
from holdfast.model.fold import fold, set_aside
from holdfast.model.ids import SHORT, ULID, short
from holdfast.model.kinds import CODED, KINDS
from holdfast.model.query import Recalled
from holdfast.model.record import Link, Record
from holdfast.model.text import counted, filled, shorten
from holdfast.policy.freshness import details, freshness_text
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.reader import Reader
from holdfast.verbs.truth.hydrate import Hydrated

# Readable on a dark and on a light background: at least 4:1 on black and on white. A terminal's own yellow is not.
COLOURS = {"red": 196, "yellow": 130, "green": 28, "cyan": 30, "blue": 27, "magenta": 163}
_THEME = Theme(
    {f"{bold}{name}": f"{bold}color({number})" for name, number in COLOURS.items() for bold in ("", "bold ")}
)
# The style of each state of freshness, and what it means.
FRESHNESS = {
    "fresh": ("green", "the code it cites is unchanged"),
    "exists": ("dim", "the files it names are there"),
    "changed": ("red", "the code it cites is different now"),
    "missing": ("red", "the code it cites is gone"),
    "unverified": ("dim", "there is no code to compare it with"),
    "unknown": ("dim", "it could not be compared with the code"),
}
FIELD_START, HISTORY_INDENT = 24, 18
BELOW = SHORT + 4  # where text below the line of a memory begins
PATIENCE = 0.7  # seconds until a spinner appears
_CONFIDENCE_STYLE = {"strong": "green", "fair": "yellow", "weak": "dim"}


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
    is_terminal = stream.isatty()
    colours: Literal["auto"] | None = None if is_plain() else "auto"
    return _Console(
        file=stream,
        highlight=False,
        soft_wrap=not is_terminal,
        width=None if is_terminal else 120,
        color_system=colours,
        theme=_THEME,
    )


def is_plain() -> bool:
    """True if escape codes are unwanted, for bold and dim text too."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def print_error(message: str, hint: str) -> None:
    """Print an error and a hint on stderr."""
    out = console(error=True)
    text, more = (re.sub(rf"\b{ULID.pattern}\b", lambda match: short(match[0]), part) for part in (message, hint))
    hanging(out, Text.assemble(("error: ", "bold red"), text), len("error: "))
    indented(out, more, len("error: "), style="dim")


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(escaped(json.dumps(value, ensure_ascii=False, indent=2)))


def show(value: Any, text: str, *, as_json: bool) -> None:
    """Print a value as JSON for a program, or a text for a person."""
    if as_json:
        print_json(plain(value))
    else:
        print(visible(wrapped(text)))


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
    width, lines = console().width, list[str]()
    for line in text.split("\n"):
        if len(line) > width and not line.lstrip().startswith(("holdfast ", "export ", "claude ")):  # copied whole
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            line = fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def ago(at: str) -> str:
    """Return how long ago an instant was."""
    return times.ago(at, datetime.now(UTC).isoformat())


def local(at: str) -> str:
    """Return an instant as local date and time, to the minute."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}" if at else ""


def clock(at: str) -> str:
    """Return the local time of day of an instant, to the second."""
    return f"{datetime.fromisoformat(at).astimezone():%H:%M:%S}"


def icon(record: Record) -> str:
    """Return the icon of a record's kind."""
    return KINDS[record.kind].icon if record.kind in KINDS else "•"


def show_recalled(recalled: Recalled, *, why: bool = False) -> None:
    """Print hits for a person: id, title, the matching part, and why; then what was left out."""
    out, styles = console(), {"strong": "green", "fair": "yellow", "weak": "dim"}
    for hit in recalled.hits:
        record, judged = hit.record, hit.freshness
        head = headed(record).append("  ").append(hit.confidence, styles[hit.confidence])
        if judged:
            head.append(f"  {freshness_text(judged)}", FRESHNESS[judged.state][0])
        hanging(out, head, BELOW)
        for doubt in (
            hit.contradicted_by and f"contradicted by the newer {short(hit.contradicted_by)}",
            hit.branch and f"from branch {hit.branch}, not merged into this checkout",
            *(details(judged) if judged else ()),
        ):
            indented(out, doubt, BELOW, style="yellow")
        indented(out, _below_title(record, hit.snippet), BELOW)
        alike = hit.alike and f"{counted(hit.alike, 'near-duplicate')} left out"
        indented(out, " · ".join(filled(hit.came, about(record), alike)), BELOW, style="dim")
        if why:
            indented(out, f"why: {' '.join(f'{name} {value:.2f}' for name, value in hit.why.items())}", BELOW, "dim")
    _show_rest(out, recalled)


def _show_rest(out: Console, recalled: Recalled) -> None:
    for near in recalled.related:
        out.print(Text(f"{short(near.record.id)}  related ({near.relation}): {near.record.title}", style="dim"))
    if recalled.hits and recalled.gated:
        out.print(f"[dim]Weaker matches left out: {recalled.gated}. Use --weak to list them.[/]")
    elif not recalled.hits and (recalled.gated or recalled.closest):
        weak = f" Use --weak to list the weak ones ({recalled.gated})." if recalled.gated else ""
        out.print(f"No good match.{weak}")
        if recalled.closest:
            out.print(Text(f"Closest: {short(recalled.closest.id)}  {recalled.closest.title}", style="dim"))
    elif not recalled.hits:
        out.print('Nothing matches. `holdfast list` shows what is stored; save more: [cyan]holdfast remember "…"[/]')
    for hit in recalled.held:
        line = f"{short(hit.record.id)}  not accepted, {hit.came}: {hit.record.title}"
        out.print(Text(f"{line} (holdfast review list --sort quarantined)", style="yellow"))
    if recalled.cut:
        out.print(f"[dim]{recalled.cut} more match; raise --limit or --budget to list them.[/]")
    for note in recalled.notes:
        out.print(Text(note, style="yellow"))


def headed(record: Record, before: str = "") -> Text:
    """Return a record's id, icon and title, with what was done with it before the title."""
    return Text.assemble((short(record.id), "cyan"), f"  {icon(record)} {before}", (record.title, "bold"))


def _below_title(record: Record, snippet: str) -> str:
    """Return what a snippet adds to the title above it; a title that was cut continues here."""
    start = record.title.removesuffix("…")
    text = labelled(record, snippet)
    if text[:1] == "…" and record.body.startswith(text[1 : FIELD_START + 1]):
        return text[1:]  # nothing but the title, which stands above, was left out before it
    rest = text.removeprefix(start).strip()
    return f"…{rest}" if rest and text.startswith(start) and start != record.title else rest


def hanging(out: Console, text: Text, by: int) -> None:
    """Print a text whose further lines are indented on a terminal."""
    first, *rest = text.wrap(out, out.width) if out.is_terminal else [text]
    first.rstrip()
    out.print(first)
    if rest:
        for line in rest:
            line.rstrip()
        print_wrapped(out, Text(" ").join(rest), by)


def print_wrapped(out: Console, text: Text, by: int) -> None:
    """Print a text wrapped between words, every line indented and without spaces at its end."""
    for line in text.wrap(out, max(out.width - by, 20)):
        line.rstrip()
        out.print(Text(" " * by).append_text(line) if line else "")


def indented(out: Console, text: str, by: int, style: str = "") -> None:
    """Print an indented text, if there is any; it is never cut, only wrapped on a terminal."""
    if not text:
        return
    if out.is_terminal:
        print_wrapped(out, Text(text, style=style), by)
    else:
        out.print(Text("\n".join(" " * by + line if line else "" for line in text.split("\n")), style=style))


def about(record: Record) -> str:
    """Return the kind, project, date and labels of a record on a line."""
    place = record.project or "everywhere"
    labels = [*record.scopes, *(f"#{tag}" for tag in record.tags)]
    kind = f"starter {record.kind}" if record.source == "starter" else record.kind
    return " · ".join([kind, place, ago(record.created_at), *labels])


def labelled(record: Record, snippet: str) -> str:
    """Return a snippet in which the values of fields begin a line with the field's name, so that none passes for the text."""
    body = " ".join(record.body.split())
    if snippet.strip("…") in body:
        return snippet
    # Fields follow the text; one that the text mentions as well is not meant.
    position = snippet.find(body[-FIELD_START:]) + len(body[-FIELD_START:]) if body[-FIELD_START:] in snippet else 1
    for name, value in record.fields.items():
        if name in CODED:
            continue
        many = isinstance(value, list)
        for text in value if many else [value]:
            joined = " ".join(str(text).split())
            start = snippet.find(joined[:FIELD_START], position) if joined else -1
            if start > 0:
                label = f"{snippet[:start].rstrip()}\n{field_label(name, single=many)}: "
                snippet, position = f"{label}{snippet[start:]}", len(label) + 1
    return snippet


def field_label(name: str, *, single: bool = False) -> str:
    """Return a field's name for people; the name of one value, if it has several."""
    words = name.replace("counter_", "counter-").replace("_", " ")
    return words.removesuffix("s") if single else words


def show_list(records: Iterable[Record], *, total: int, filtered: bool = False, notes: Sequence[str] = ()) -> None:
    """Print records as a table, a line each."""
    rows = list(records)
    out = console()
    if not rows:
        nothing = (
            "No memory matches." if filtered else "" if notes else 'No memories yet. Save one: holdfast remember "…"'
        )
        for line in filter(None, (nothing, *notes)):
            out.print(Text(line))
        return
    width = max(len(short(record.id)) for record in rows)
    for record in rows:
        state = "" if record.state == "active" else f" ({record.state})"
        age = f"  {ago(record.created_at)}"
        title = fitting(out, record.title, width + 4 + len(state) + len(age))
        name = (f"{short(record.id):<{width}}", "cyan")
        out.print(Text.assemble(name, f"  {icon(record)} {title}{state}", (age, "dim")))
    if out.is_terminal:
        kinds = dict.fromkeys((icon(record), record.kind) for record in rows)
        # A sign and its kind stay on one line: `fill` does not break at a no-break space.
        legend = fill("  ".join(f"{sign}\xa0{kind.replace('_', ' ')}" for sign, kind in kinds), out.width)
        out.print(Text(legend.replace("\xa0", " "), style="dim"))
    if total > len(rows):
        out.print(f"[dim]{len(rows)} of {total:,}; --limit and --offset show more.[/]")


def fitting(out: Console, title: str, taken: int) -> str:
    """Return a title cut to what is left of a line of the terminal; whole for a pipe, where people grep."""
    if not out.is_terminal:
        return title
    wide = cell_len(title) - len(title)  # emoji and ideographs take two columns
    return shorten(title, max(20, out.width - taken - wide))


def show_record(hydrated: Hydrated) -> None:
    """Print a memory in full, with its freshness, its origin and the cited files."""
    shown, out, judged = hydrated.shown, console(), hydrated.freshness
    record, usage, origin = shown.record, shown.usage, shown.record.origin
    hanging(out, Text.assemble((record.id, "cyan"), f"  {icon(record)} ", (record.title, "bold")), 2)
    if record.body != record.title:
        indented(out, f"\n{record.body}\n", 2)
    for name, value in record.fields.items():
        many = isinstance(value, list)
        for item in value if many else [value]:
            hanging(out, Text.assemble((f"{field_label(name, single=many)}: ", "dim"), str(item)), 2)
    links = [(arrow.source == record.id, arrow, arrow.relation.replace("_", " ")) for arrow in shown.links]
    outcomes = [f"{name} {getattr(usage, name)}" for name in ("applied", "ignored", "contradicted", "corrected")]
    facts = (
        about(record),
        f"{record.state} · {record.visibility} · confidence {record.confidence} · source {record.source}",
        record.reason and f"reason: {record.reason}",
        record.waiting
        and f"{counted(len(record.waiting), 'event')} about it in quarantine: `holdfast review list --sort quarantined`",
        (origin.branch or origin.commit)
        and f"created {f'on {origin.branch} ' if origin.branch else ''}at {origin.commit[:10]}",
        f"by {record.by.name or record.by.kind} · updated {local(record.updated_at)} · verified {local(record.verified_at) or 'never'}",
        shown.came,
        *(
            f"{relation} → {short(arrow.target)}" if outward else f"← {relation} {short(arrow.source)}"
            for outward, arrow, relation in links
        ),
        warns_at(record) and f"warns at {warns_at(record)}",
        shown.superseded_by and f"superseded by {short(shown.superseded_by)}",
        (usage.surfaced or usage.applied or usage.ignored or usage.contradicted or usage.corrected)
        and f"shown {usage.surfaced}× · {' · '.join(outcomes)}",
    )
    for fact in filled(*facts):
        out.print(Text(fact, style="dim"))
    if judged:
        style, meaning = FRESHNESS[judged.state]
        out.print(Text(f"{freshness_text(judged)}: {meaning}", style=style))
        for doubt in details(judged):
            indented(out, doubt, 2, style="yellow")
    if hydrated.commit:
        author, at, subject = hydrated.commit
        out.print(Text(f"commit of {local(at)} by {author}: {subject}", style="dim"))
    for file in hydrated.files:
        out.print(Text(f"\n{file.path} at {file.commit[:10] or 'the working files'}", style="bold"))
        out.print(Text(file.text + (f"\n[{file.cut:,} bytes cut]" if file.cut else "")))
    if hydrated.left_out:
        out.print(Text(f"left out: {', '.join(hydrated.left_out)}", style="yellow"))


def show_history(events: Iterable[Event]) -> None:
    """Print the events of a memory, oldest first, with what each of them changed."""
    out, all_events = console(), list(events)
    aside = set_aside(all_events)
    record: Record | None = None
    for event in all_events:
        note = {"waits": "  (quarantined)", "rejected": "  (rejected)"}.get(aside.get(event.id, ""), "")
        verb, who = in_words(event)
        said = event.data.get("reason") or event.data.get("note") or event.data.get("outcome") or ""
        head = Text.assemble((local(event.at), "dim"), f"  {verb} ", (who, "cyan"))
        out.print(head.append(f": {said}" if said else "").append(note))
        after = fold(record, event)
        if after and event.id not in aside:
            for line, style in _changes(record, after):
                indented(out, line, HISTORY_INDENT, style=style)
            record = after


_COMPARED = "title body kind fields scopes tags project visibility confidence anchors triggers links".split()


def _changes(before: Record | None, after: Record) -> Iterator[tuple[str, str]]:
    """Yield what an event changed, a line each: the new value, and the old one before it."""
    for name in _COMPARED:
        now = _value_text(getattr(after, name))
        old = _value_text(getattr(before, name)) if before else ""
        derived = name == "title" and after.body.startswith(after.title.removesuffix("…"))
        if now == old or derived or (before is None and name in ("visibility", "confidence", "project")):
            continue
        label = "text" if name == "body" else name
        if old:
            yield f"{label}: - {old}", "red"
        yield f"{label}: {'+ ' if old else ''}{now or 'none'}", "green" if old else ""


def _value_text(value: Any) -> str:
    """Return a part of a record in words."""
    match value:
        case Link(relation=relation, target=target):
            return f"{relation} {short(target)}"
        case tuple() | list():
            return ", ".join(map(_value_text, value))
        case dict():
            return "; ".join(f"{field_label(name)}: {_value_text(item)}" for name, item in value.items())
    return " ".join(str(value).split())


PERSON = Reader(
    budget=0,
    figures=False,
    day=ago,
    minute=ago,
    session=short,
    answer="`holdfast judge APPLYING|N_A|REFUTED ID --evidence …`",
    closing="`holdfast session close`",
    to_close='Answer each with --answer what_broke="…"; --quick closes without, --autonomous if no human took part.',
    unclosed="`holdfast session start --session ID` resumes it, `holdfast session close --session ID` closes it.",
    promote="decide with `holdfast review`",
    another="--force opens another one.",
    lesson="save one with `holdfast remember --kind scar --link elaborates:ID …`, retire others with `holdfast forget ID`.",
    settle="Resolve one: holdfast review resolve ID ID --how supersede|weaken|remove|both",
    merge="Merge one: holdfast review merge ID ID; keep them apart: holdfast link ID relates_to ID",
)


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Yield a function that updates a progress bar on stderr (done, and the total if it was not known); nothing is drawn for programs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    out = console(error=True)
    with Progress(*columns, console=out, disable=quiet or is_plain() or not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done, of=None: bar.update(task, completed=done, total=of or total)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on stderr if the work takes noticeable time; nothing is drawn for programs."""
    out = console(error=True)
    if is_plain() or not sys.stderr.isatty():
        yield
        return
    status = out.status(f"{label} …")
    timer = Timer(PATIENCE, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
