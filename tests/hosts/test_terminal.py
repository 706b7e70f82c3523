"""What people read on a terminal of 80 columns, and what they type there."""

import io
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.text import Text

from holdfast.hosts.cli.render import COLOURS, hanging, indented, labelled
from holdfast.hosts.cli.values import date
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.record import Record
from tests import engines
from tests.hosts.running import Run, Terminal, answer, kept
from tests.rows import each, refused, sampled

NOBODY = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
LONG = "🚀 The launch checklist of the shop, which every new colleague reads first, is in Notion under Day 0."


def on_a_terminal(arguments: list[str], work: Path, home: Path, **changed: str) -> Terminal:
    """Run the command on a terminal of its own."""
    left_out = ("NO_COLOR", "FORCE_COLOR", "COLORTERM")
    quiet = {name: value for name, value in os.environ.items() if name not in left_out} | engines.setting(str(home))
    return Terminal(arguments, work, {**quiet, "HOME": str(home), "HOLDFAST_EMBEDDER": "none", **changed})


def seen_on_a_terminal(arguments: list[str], work: Path, home: Path, **changed: str) -> str:
    """Give every character that the command wrote on a terminal."""
    terminal = on_a_terminal(arguments, work, home, **changed)
    terminal.ended()
    return terminal.seen


LOOKS = [text.split() for text in ("recall staging database", f"show {NOBODY}", "remember we currently use redis")]


@pytest.mark.embedded
def test_output_is_coloured_on_a_terminal_only_and_never_against_somebodys_will(
    run: Run, tmp_path: Path, own_home: Path
) -> None:
    kept(run, "The staging database is reset every night.")
    work, usual = tmp_path / "work", {"TERM": "xterm-256color", "COLUMNS": "100"}
    for look in sampled(LOOKS, 2):
        assert "\x1b[" in seen_on_a_terminal(look, work, own_home, **usual), look
        done = run(*look, TERM="xterm-256color")
        assert "\x1b" not in done.stdout + done.stderr, look
    # One way to say no for each kind of output; all ways for each when tests run whole.
    ways: list[tuple[list[str], dict[str, str]]] = [([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), (["--plain"], {})]
    for (words, manner), look in sampled(product(ways, LOOKS), 4):
        seen = seen_on_a_terminal([*words, *look], work, own_home, **usual | manner)
        assert "\x1b" not in seen, (words, manner, look)


def test_a_line_of_a_list_fits_the_terminal_and_is_whole_in_a_pipe(run: Run, tmp_path: Path, own_home: Path) -> None:
    kept(run, LONG, "--kind", "reference")
    kept(run, "Mira prefers short answers first, with the reasons below, and the command she can type herself.")
    run("forget", short(answer(run("list", "--json"))["records"][0]["id"]), "--reason", "she left")
    shown = ["list", "--state", "active", "--state", "retired"]
    lines = seen_on_a_terminal(shown, tmp_path / "work", own_home, TERM="dumb", COLUMNS="80").splitlines()
    assert [cell_len(line) <= 80 for line in lines] == [True] * 3
    assert lines[2] == "• fact  ↗ reference"
    assert LONG in run(*shown).stdout


def test_wrapped_lines_are_indented_and_have_no_spaces_at_their_end() -> None:
    written, text = io.StringIO(), "A line that is too long for the terminal is wrapped between words."
    out = Console(file=written, width=40, force_terminal=True, color_system=None)
    indented(out, text, 4)
    hanging(out, Text(f"name  {text}"), 6)
    first, second = "A line that is too long for the", "terminal is wrapped between words."
    assert written.getvalue() == f"    {first}\n    {second}\nname  {first}\n      {second}\n"


def test_a_named_day_is_the_last_one_before_today_and_a_date_that_is_none_is_named_as_it_was_typed() -> None:
    for text in ("monday", "last Monday", "mon", "last week", "yesterday"):
        now = datetime.now(UTC).astimezone()
        meant = datetime.fromisoformat(date(text)).astimezone()
        assert (meant.hour, meant.minute) == (0, 0), text
        assert timedelta(0) < now - meant <= timedelta(days=8), text
        assert meant.weekday() == 0 or "mon" not in text.lower(), text
    refused(Invalid, date, "next Easter", says="'next Easter' is not a date")


def test_a_field_is_labelled_where_it_stands_and_not_where_the_text_mentions_it() -> None:
    text = "Reproduced the report. Part of SHOP-481."
    record = Record(id=NOBODY, kind="progress", title=text, body=text, fields={"issue": "SHOP-481"})
    assert labelled(record, f"{text} SHOP-481") == f"{text}\nissue: SHOP-481"


@each("name", COLOURS)
def test_colours_are_readable_on_a_dark_and_on_a_light_background(name: str) -> None:
    parts = [part / 255 for part in Color.from_ansi(COLOURS[name]).get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    assert (1.05 / light > 3.9, light / 0.05 > 3.9) == (True, True)


# `holdfast review` on a terminal: keys, undo, and nothing saved by Ctrl-C.
Reviewing = Callable[..., tuple[Terminal, Callable[[], list[str]]]]


@pytest.fixture
def reviewing(run: Run, tmp_path: Path, own_home: Path) -> Reviewing:
    """Return a function that lets texts wait and opens the review; it returns the terminal, and what reads their states."""

    def opened(*texts: str, **more: str) -> tuple[Terminal, Callable[[], list[str]]]:
        ids = [kept(run, "--kind", "preference", "--source", "inferred", text) for text in texts]
        terminal = on_a_terminal(["review"], tmp_path / "work", own_home, NO_COLOR="1", COLUMNS="100", **more)
        return terminal, lambda: [answer(run("show", id_, "--json"))["state"] for id_ in ids]

    return opened


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("keys", "code", "told", "left"),
    [
        # u: back to the second; n is no key
        (["y", "x", "u", "n", "y", "q"], 0, "2 decisions saved.", ["active", "active", "pending"]),
        (["y", "\x03"], 130, "Nothing was saved.", ["pending"] * 3),
    ],
    ids=["undo", "Ctrl-C"],
)
def test_keys_decide_undo_takes_a_decision_back_and_ctrl_c_leaves_without_saving(
    reviewing: Reviewing, keys: list[str], code: int, told: str, left: list[str]
) -> None:
    terminal, states = reviewing("Ada likes short answers.", "Ada reads mail at noon.", "Ada reviews on Fridays.")
    for before, key in zip(["", *keys], keys, strict=False):
        terminal.press("Press one of y, x, e, s, u, q." if before == "n" else "q quit", key)
    assert (terminal.ended(), told in terminal.seen, sorted(states())) == (code, True, left)


@pytest.mark.embedded
def test_an_edit_is_saved_and_approved(reviewing: Reviewing, run: Run, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'Ada likes answers of one line.' > \"$1\"\n")
    editor.chmod(0o755)
    terminal, states = reviewing("Ada likes short answers.", EDITOR=str(editor))
    terminal.press("q quit", "e")
    assert terminal.ended() == 0
    assert states() == ["active"]
    assert "Ada likes answers of one line." in run("list").stdout
