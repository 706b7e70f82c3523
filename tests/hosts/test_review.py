"""`holdfast review` on a terminal: keys, undo, and nothing saved by Ctrl-C."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.running import Run, Terminal, answer, kept
from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))

pytestmark = pytest.mark.embedded
Reviewing = Callable[..., tuple[Terminal, Callable[[], list[str]]]]


@pytest.fixture
def reviewing(run: Run, tmp_path: Path, own_home: Path) -> Reviewing:
    """Return a function that lets texts wait and opens the review; it returns the terminal, and what reads their states."""

    def opened(*texts: str, **more: str) -> tuple[Terminal, Callable[[], list[str]]]:
        ids = [kept(run, "--kind", "preference", "--source", "inferred", text) for text in texts]
        own = {"HOME": str(own_home), "HOLDFAST_EMBEDDER": "none", "NO_COLOR": "1", "COLUMNS": "100"}
        terminal = Terminal(["review"], tmp_path / "work", {**os.environ, **own, **more})
        return terminal, lambda: [answer(run("show", id_, "--json"))["state"] for id_ in ids]

    return opened


def test_keys_decide_and_undo_takes_a_decision_back(reviewing: Reviewing) -> None:
    terminal, states = reviewing("Ada likes short answers.", "Ada reads mail at noon.", "Ada reviews on Fridays.")
    for key in "yxu":  # u: back to the second
        terminal.press("q quit", key)
    terminal.press("q quit", "n")
    terminal.press("Press one of y, x, e, s, u, q.", "y")
    terminal.press("q quit", "q")
    assert terminal.ended() == 0
    assert "2 decisions saved." in terminal.seen
    assert sorted(states()) == ["active", "active", "pending"]


def test_ctrl_c_leaves_without_saving(reviewing: Reviewing) -> None:
    terminal, states = reviewing("Ada likes short answers.", "Ada reads mail at noon.")
    terminal.press("q quit", "y")
    terminal.press("q quit", "\x03")
    assert terminal.ended() == 130
    assert "Nothing was saved." in terminal.seen
    assert states() == ["pending", "pending"]


def test_an_edit_is_saved_and_approved(reviewing: Reviewing, run: Run, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'Ada likes answers of one line.' > \"$1\"\n")
    editor.chmod(0o755)
    terminal, states = reviewing("Ada likes short answers.", EDITOR=str(editor))
    terminal.press("q quit", "e")
    assert terminal.ended() == 0
    assert states() == ["active"]
    assert "Ada likes answers of one line." in run("list").stdout
