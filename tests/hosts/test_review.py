"""`holdfast review` on a terminal: keys, undo, and nothing saved by Ctrl-C."""

import os
from pathlib import Path

import pytest

from tests.hosts.running import Run, Terminal, answer
from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))

pytestmark = pytest.mark.embedded


def reviewing(folder: Path, home: Path, **more: str) -> Terminal:
    own = {"HOME": str(home), "HOLDFAST_EMBEDDER": "none", "NO_COLOR": "1", "COLUMNS": "100"}
    return Terminal(["review"], folder, {**os.environ, **own, **more})


def waiting(run: Run, *texts: str) -> list[str]:
    inferred = ("remember", "--json", "--kind", "preference", "--source", "inferred")
    return [answer(run(*inferred, text))["record"]["id"] for text in texts]


def states(run: Run, ids: list[str]) -> list[str]:
    return [answer(run("show", id_, "--json"))["state"] for id_ in ids]


def test_keys_decide_and_undo_takes_a_decision_back(run: Run, tmp_path: Path, own_home: Path) -> None:
    ids = waiting(run, "Ada likes short answers.", "Ada reads mail at noon.", "Ada reviews on Fridays.")
    terminal = reviewing(tmp_path / "work", own_home)
    terminal.press("q quit", "y")
    terminal.press("q quit", "x")
    terminal.press("q quit", "u")  # back to the second
    terminal.press("q quit", "n")
    terminal.press("Press one of y, x, e, s, u, q.", "y")
    terminal.press("q quit", "q")
    assert terminal.ended() == 0
    assert "2 decisions saved." in terminal.seen
    assert sorted(states(run, ids)) == ["active", "active", "pending"]


def test_ctrl_c_leaves_without_saving(run: Run, tmp_path: Path, own_home: Path) -> None:
    ids = waiting(run, "Ada likes short answers.", "Ada reads mail at noon.")
    terminal = reviewing(tmp_path / "work", own_home)
    terminal.press("q quit", "y")
    terminal.press("q quit", "\x03")
    assert terminal.ended() == 130
    assert "Nothing was saved." in terminal.seen
    assert states(run, ids) == ["pending", "pending"]


def test_an_edit_is_saved_and_approved(run: Run, tmp_path: Path, own_home: Path) -> None:
    ids = waiting(run, "Ada likes short answers.")
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'Ada likes answers of one line.' > \"$1\"\n")
    editor.chmod(0o755)
    terminal = reviewing(tmp_path / "work", own_home, EDITOR=str(editor))
    terminal.press("q quit", "e")
    assert terminal.ended() == 0
    record = answer(run("show", ids[0], "--json"))
    assert (record["state"], record["body"]) == ("active", "Ada likes answers of one line.")
