"""A slice of the soak in every whole run of the tests; `python3 dev.py soak` plays it for ten minutes."""

import os
import sys
from pathlib import Path

import pytest

from tests.rows import WHOLE
from tests.soak.run import report, soak
from tests.soak.worker import WRITERS, stress

SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))
WRITES = 200 if WHOLE else 40  # a worker goes on while others write: on a slow machine, for minutes


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.whole
@pytest.mark.xdist_group("soak")
def test_everything_at_once_while_things_go_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    done, findings = soak(SECONDS)
    told: list[str] = []
    assert report(done, findings, told.append), "\n".join(told) + capsys.readouterr().err
    assert done["kill -9"] >= 5
    assert done["full disk (files limited to 400 kB) said"] > 0


@pytest.mark.xdist_group("soak")
def test_no_worker_fails_while_others_write_revise_and_erase(tmp_path: Path) -> None:
    ended = stress(2 if WHOLE else 0.5, tmp_path, writes=WRITES)
    assert {code for _, code in ended} == {0}, (tmp_path / "errors.txt").read_text()[-4_000:]
    assert ended["worker", 0] > 0
    assert ended["writer", 0] == WRITERS
