"""A slice of the soak in every whole run of the tests; `python3 dev.py soak` plays it for ten minutes."""

import os
import sys

import pytest

from tests.soak.run import report, soak

SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.whole
@pytest.mark.xdist_group("soak")
def test_everything_at_once_while_things_go_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    done, findings = soak(SECONDS)
    told: list[str] = []
    assert report(done, findings, told.append), "\n".join(told) + capsys.readouterr().err
    assert done["kill -9"] >= 5
    assert done["full disk (files limited to 400 kB) said"] > 0
