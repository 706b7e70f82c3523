"""The harness that compares memory servers, on Holdfast itself and on a stub that loses what it acknowledges."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import peers
from bench.durability import CHECKOUT, concurrent, killed, sound
from bench.stdio import Place, System
from bench.stub import STUB
from tests.rows import WHOLE


def test_four_servers_write_at_once_and_one_is_killed_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    place = Place(CHECKOUT, tmp_path, tmp_path)
    each, rounds = (50, 4) if WHOLE else (5, 1)
    assert str(concurrent(place, each=each)) == f"0 of {4 * each}"
    outcome = killed(place, rounds=rounds)
    assert (outcome.lost, outcome.rounds, outcome.acknowledged >= rounds, sound(place)) == (0, rounds, True, True)


@pytest.mark.parametrize(("system", "found", "lost"), [(CHECKOUT, "5 of 5", 0), (STUB, "0 of 5", 3)])
@pytest.mark.whole
def test_every_system_is_measured_in_the_same_way(
    system: System, found: str, lost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "WARM_UP SEARCHES STARTS WRITES HOOKS KILLS EACH".split():
        monkeypatch.setattr(peers, name, 1)
    minutes = 0.1 if WHOLE else 0.02
    rows = list(peers.measured(Place(replace(system, remark="words"), tmp_path, tmp_path), [4, 10**6], minutes))
    assert [len(row) + 1 for _, row in rows] == [len(peers.COLUMNS[title]) for title, _ in rows]
    assert [row[0].partition(" in ")[2] for title, row in rows if title == "In use"] == ["", f"{minutes} min"]
    assert (rows[1][1][3], rows[-1][1][0]) == (found, f"{lost} of 4")


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (System(missing="a library"), "not measured: a library"),
        (replace(STUB, install=(("bash", "-c", "echo no such package >&2; false"),)), "no such package"),
        (replace(STUB, start=("true",)), "the server ended"),
    ],
)
def test_what_cannot_be_measured_gets_a_row_with_the_reason(system: System, reason: str, tmp_path: Path) -> None:
    assert reason in next(peers.measured(Place(system, tmp_path, tmp_path), [20], 1))[1][-1]
