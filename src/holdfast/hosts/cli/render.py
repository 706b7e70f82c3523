"""How the command line shows things to people; programs ask for --json."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import click
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from holdfast.hosts.plain import plain
from holdfast.model.event import Event
from holdfast.model.fence import escaped, visible
from holdfast.model.fold import set_aside
from holdfast.model.kinds import KINDS
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record, record_to_json
from holdfast.model.text import counted, shorten
from holdfast.policy.freshness import details, told
from holdfast.verbs.records.read import Shown
from holdfast.verbs.truth.hydrate import Hydrated

SHORT = 10  # characters of an id: time and a little chance, enough to tell memories apart
FRESHNESS_STYLE = {"fresh": "green", "changed": "red", "missing": "red", "unverified": "dim", "unknown": "dim"}
_CONFIDENCE_STYLE = {"strong": "green", "fair": "yellow", "weak": "dim"}


class _Console(Console):
    """A console whose reader may leave: that is seen where everything ends, and is no error."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Return what is printed without control characters of stored text: only rich itself moves the cursor."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(visible(part.text), part.style)

    def on_broken_pipe(self) -> None:
        """Leave it to `main`; rich itself would end with exit code 1."""
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """Return a console that keeps to plain text when nobody is looking, or when somebody wants it so."""
    stream = sys.stderr if error else sys.stdout
    seen = stream.isatty()
    colours: Literal["auto"] | None = None if is_plain() else "auto"
    return _Console(file=stream, highlight=False, soft_wrap=not seen, width=None if seen else 120, color_system=colours)


def is_plain() -> bool:
    """Return whether escape codes are unwanted, for bold and dim text too."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def say_error(message: str, hint: str) -> None:
    """Print a failure and what to do about it, on stderr."""
    out = console(error=True)
    out.print(Text.assemble(("error: ", "bold red"), message))
    if hint:
        _indented(out, hint, len("error: "), style="dim")


def print_json(value: Any) -> None:
    """Print one JSON value."""
    print(escaped(json.dumps(value, ensure_ascii=False, indent=2)))


def show(value: Any, text: str, *, as_json: bool) -> None:
    """Print a value for a program, or what it says for a person."""
    if as_json:
        print_json(plain(value))
    else:
        print(visible(text))


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command its --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def icon(record: Record) -> str:
    """Return the sign of a record's kind."""
    return KINDS[record.kind].icon if record.kind in KINDS else "•"


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """Write a hit as JSON."""
    why = {name: round(value, 4) for name, value in hit.why.items()}
    return {
        "score": round(hit.score, 4),
        "confidence": hit.confidence,
        "why": why,
        "snippet": hit.snippet,
        "freshness": plain(hit.freshness),
        **({"branch": hit.branch} if hit.branch else {}),
        **({"came": hit.came} if hit.came else {}),
        **({"alike": hit.alike} if hit.alike else {}),
        "record": record_to_json(hit.record),
    }


def recalled_to_json(found: Recalled) -> dict[str, Any]:
    """Write the answer to a question as JSON."""
    return {
        "hits": [hit_to_json(hit) for hit in found.hits],
        "search": found.search,
        "gated": found.gated,
        "cut": found.cut,
        "lagging": found.lagging,
        "confidence": found.confidence,
        "related": plain(found.related),
        **({"held": [hit_to_json(hit) for hit in found.held]} if found.held else {}),
        "notes": list(found.notes),
    }


def show_recalled(found: Recalled) -> None:
    """Print hits for a person: id, title, the part that fits, and why."""
    out = console()
    for hit in found.hits:
        record = hit.record
        style = _CONFIDENCE_STYLE[hit.confidence]
        head = Text.assemble(
            (record.id[:SHORT], "cyan"), f"  {icon(record)} ", (record.title, "bold"), "  ", (hit.confidence, style)
        )
        if hit.freshness:
            head.append(f"  {told(hit.freshness)}", style=FRESHNESS_STYLE[hit.freshness.state])
        out.print(head)
        for doubt in _doubts(hit):
            _indented(out, doubt, SHORT + 4, style="yellow")
        if more := hit.snippet.removeprefix(record.title).strip():
            _indented(out, more, SHORT + 4)
        came = f"{hit.came} · " if hit.came else ""
        alike = f"{hit.alike} more say nearly the same · " if hit.alike else ""
        _indented(out, f"{about(record)} · {came}{alike}{why_line(hit)}", SHORT + 4, style="dim")
    for one in found.related:
        out.print(Text(f"{one.record.id[:SHORT]}  related ({one.relation}): {one.record.title}", style="dim"))
    if not found.hits:
        out.print(
            "Nothing fits." + (f" Weak matches left out: {found.gated} (--weak shows them)." if found.gated else "")
        )
    elif found.gated:
        out.print(f"[dim]Weaker matches left out: {found.gated} (--weak shows them).[/]")
    _show_held(out, found)
    if found.cut:
        out.print(f"[dim]{found.cut} more fit but not the token budget; --budget or --limit lets them in.[/]")
    for note in found.notes:
        out.print(Text(note, style="yellow"))


def _show_held(out: Console, found: Recalled) -> None:
    for hit in found.held:
        said = f"{hit.record.id[:SHORT]}  not accepted, {hit.came}: {hit.record.title}"
        out.print(Text(f"{said} (holdfast quarantine)", style="yellow"))


def _doubts(hit: Hit) -> list[str]:
    branch = [f"from branch {hit.branch}, not merged here"] if hit.branch else []
    return [*branch, *(details(hit.freshness) if hit.freshness else ())]


def _indented(out: Console, text: str, by: int, style: str = "") -> None:
    """Print a text moved to the right; it is never cut, only wrapped where somebody looks at a screen."""
    if out.is_terminal:
        out.print(Padding(Text(text, style=style), (0, 0, 0, by)))
    else:
        out.print(Text("\n".join(" " * by + line if line else "" for line in text.split("\n")), style=style))


def about(record: Record) -> str:
    """Say in a few words what a record is and where it belongs."""
    place = record.project or "everywhere"
    labels = [*record.scopes, *(f"#{tag}" for tag in record.tags)]
    return " · ".join([record.kind, place, record.created_at[:10], *labels])


def why_line(hit: Hit) -> str:
    """Say which signals made the score."""
    return " ".join(f"{name} {value:.2f}" for name, value in hit.why.items())


def show_list(records: Iterable[Record], *, total: int) -> None:
    """Print records as a table, one line each."""
    rows = list(records)
    out = console()
    if not rows:
        out.print('Nothing here yet. Keep something: [cyan]holdfast remember "…"[/]')
        return
    for record in rows:
        state = "" if record.state == "active" else f" ({record.state})"
        title = Text(f"{shorten(record.title, max(20, out.width - 30))}{state}")
        out.print(
            Text.assemble(
                (record.id[:SHORT], "cyan"), f"  {icon(record)} ", title, (f"  {record.created_at[:10]}", "dim")
            )
        )
    if total > len(rows):
        out.print(f"[dim]{len(rows)} of {total}; --limit and --offset show more.[/]")


def show_record(found: Hydrated) -> None:
    """Print one memory in full, with whether it holds, where it comes from and the files that were asked for."""
    shown = found.shown
    out, record = console(), shown.record
    out.print(Text.assemble((record.id, "cyan"), f"  {icon(record)} ", (record.title, "bold")))
    if record.body != record.title:
        _indented(out, f"\n{record.body}\n", 2)
    for name, value in record.fields.items():
        lines = value if isinstance(value, list) else [value]
        out.print(Text.assemble((f"{name.replace('_', ' ')}: ", "dim"), "; ".join(str(line) for line in lines)))
    out.print(Text(about(record), style="dim"))
    for line in _facts(shown):
        out.print(Text(line, style="dim"))
    _show_around(out, found)


def _show_around(out: Console, found: Hydrated) -> None:
    if found.freshness:
        out.print(Text(told(found.freshness), style=FRESHNESS_STYLE[found.freshness.state]))
        for line in details(found.freshness):
            out.print(Text(f"  {line}", style="yellow"))
    if found.commit:
        author, at, subject = found.commit
        out.print(Text(f"commit of {at[:10]} by {author}: {subject}", style="dim"))
    for file in found.files:
        out.print(Text(f"\n{file.path} at {file.commit[:10] or 'the files as they are'}", style="bold"))
        out.print(Text(file.text + (f"\n[{file.cut:,} bytes cut]" if file.cut else "")))
    if found.left_out:
        out.print(Text(f"left out: {', '.join(found.left_out)}", style="yellow"))


def _facts(shown: Shown) -> Iterator[str]:
    record, usage = shown.record, shown.usage
    yield f"{record.state} · {record.visibility} · confidence {record.confidence} · source {record.source}"
    if record.reason:
        yield f"reason: {record.reason}"
    if record.waiting:
        yield f"{counted(len(record.waiting), 'event')} of people nobody accepted about it: `holdfast quarantine`"
    origin = record.origin
    if origin.branch or origin.commit:
        yield f"born on {origin.branch or 'a detached head'} at {origin.commit[:10]}"
    yield f"by {record.by.name or record.by.kind} · updated {record.updated_at[:16]} · verified {record.verified_at[:16] or 'never'}"
    if shown.came:
        yield shown.came
    for arrow in shown.links:
        out = arrow.source == record.id
        yield f"{arrow.relation} → {arrow.target}" if out else f"← {arrow.relation} {arrow.source}"
    if shown.superseded_by:
        yield f"superseded by {shown.superseded_by}"
    if usage.surfaced or usage.applied or usage.ignored or usage.contradicted or usage.corrected:
        yield f"shown {usage.surfaced}× · applied {usage.applied} · ignored {usage.ignored} · contradicted {usage.contradicted} · corrected {usage.corrected}"


def show_history(events: Iterable[Event]) -> None:
    """Print what happened, oldest first."""
    out, happened = console(), list(events)
    aside = set_aside(happened)
    for event in happened:
        said = ", ".join(f"{name}: {shorten(str(value), 80)}" for name, value in event.data.items() if value)
        said += {"waits": "  (waits to be accepted)", "rejected": "  (rejected)"}.get(aside.get(event.id, ""), "")
        who = event.by.name or event.by.kind
        out.print(Text.assemble((event.at[:19], "dim"), f"  {event.verb:<9} ", (who, "cyan"), f"  {said}"))


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Return a function that moves a progress bar on stderr; nothing is drawn for programs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    out = console(error=True)
    with Progress(*columns, console=out, disable=quiet or is_plain() or not out.is_terminal, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)
