"""What people read on a terminal of 80 columns, and what they type there."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.text import Text

from holdfast.hosts.cli.render import COLOURS, hanging, indented, labelled
from holdfast.hosts.cli.values import DATE
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.record import Record
from tests import engines
from tests.hosts.running import Run, answer, kept
from tests.hosts.test_help import seen_on_a_terminal
from tests.rows import each, refused

LONG = "🚀 The launch checklist of the shop, which every new colleague reads first, is in Notion under Day 0."


def test_a_line_of_a_list_fits_the_terminal_and_is_whole_in_a_pipe(run: Run, tmp_path: Path, own_home: Path) -> None:
    kept(run, LONG, "--kind", "reference")
    kept(run, "Mira prefers short answers first, with the reasons below, and the command she can type herself.")
    run("forget", short(answer(run("list", "--json"))["records"][0]["id"]), "--reason", "she left")
    shown = ["list", "--state", "active", "--state", "retired"]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    terminal = {**quiet, "HOME": str(own_home), "HOLDFAST_EMBEDDER": "none", "TERM": "dumb", "COLUMNS": "80"}
    terminal |= engines.setting(str(own_home))
    lines = seen_on_a_terminal(shown, tmp_path / "work", terminal).splitlines()
    assert [cell_len(line) <= 80 for line in lines] == [True] * 3
    assert lines[2] == "• fact  ↗ reference"
    assert LONG in run(*shown).stdout


def test_wrapped_lines_are_indented_and_have_no_spaces_at_their_end() -> None:
    written = io.StringIO()
    out = Console(file=written, width=40, force_terminal=True, color_system=None)
    indented(out, "A line that is too long for the terminal is wrapped between words.", 4)
    hanging(out, Text("name  A line that is too long for the terminal is wrapped between words."), 6)
    lines = written.getvalue().splitlines()
    assert lines == [
        "    A line that is too long for the",
        "    terminal is wrapped between words.",
        "name  A line that is too long for the",
        "      terminal is wrapped between words.",
    ]


@each("text", ["monday", "last Monday", "mon", "last week", "yesterday"])
def test_a_named_day_is_the_last_one_before_today(text: str) -> None:
    now = datetime.now(UTC).astimezone()
    meant = datetime.fromisoformat(DATE.convert(text, None, None)).astimezone()
    assert (meant.hour, meant.minute) == (0, 0)
    assert timedelta(0) < now - meant <= timedelta(days=8)
    if "mon" in text.lower():
        assert meant.weekday() == 0


def test_a_date_that_is_none_is_named_as_it_was_typed() -> None:
    refused(Invalid, DATE.convert, "next Easter", None, None, says="'next Easter' is not a date")


def test_a_field_is_labelled_where_it_stands_and_not_where_the_text_mentions_it() -> None:
    record = Record(
        id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
        kind="progress",
        title="Reproduced the report. Part of SHOP-481.",
        body="Reproduced the report. Part of SHOP-481.",
        fields={"issue": "SHOP-481"},
    )
    assert labelled(record, "Reproduced the report. Part of SHOP-481. SHOP-481") == (
        "Reproduced the report. Part of SHOP-481.\nissue: SHOP-481"
    )


@each("name", COLOURS)
def test_colours_are_readable_on_a_dark_and_on_a_light_background(name: str) -> None:
    parts = [part / 255 for part in Color.from_ansi(COLOURS[name]).get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    assert (1.05 / light > 3.9, light / 0.05 > 3.9) == (True, True)
