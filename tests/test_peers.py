"""The harness that compares memory servers, run on Holdfast itself and on a stub that loses what it acknowledges."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bench import peers
from bench.durability import CHECKOUT, Outcome, concurrent, killed
from bench.stdio import Place, System, Trouble, serving

_STUB = """
import json, sys
from pathlib import Path
file = Path.home() / "kept.txt"
texts = file.read_text().split("|") if file.exists() else []
tools = [{"name": "save"}, {"name": "find"}]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    given = asked["params"].get("arguments", {})
    result = {"tools": tools, "content": [text for text in texts if given.get("query", "-") in text]}
    if "text" in given:
        if "refuse" in given["text"]:
            result["isError"] = True
        texts.append(given["text"])
        if len(texts) % 2:
            file.write_text("|".join(texts))
    print("a line of a log", json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), sep="\\n", flush=True)
"""
STUB = System(
    start=(sys.executable, "-c", _STUB.replace("{", "{{").replace("}", "}}")),
    write=("save", lambda text: {"text": text}),
    search=("find", lambda text: {"query": text}),
    hooks={"SessionStart": ("cat",)},
    remark="a substring",
)


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WARM_UP": 1, "SEARCHES": 2, "STARTS": 1, "QUOTED": 4, "WRITES": 2, "HOOKS": 1}.items():
        monkeypatch.setattr(peers, name, value)
    monkeypatch.setattr(peers, "concurrent", partial(concurrent, each=3))
    monkeypatch.setattr(peers, "killed", partial(killed, rounds=1))


@pytest.mark.parametrize(("system", "found"), [(CHECKOUT, "4 of 4"), (STUB, "0 of 4")], ids=["Holdfast", "stub"])
def test_every_system_is_measured_in_the_same_way(system: System, found: str, tmp_path: Path) -> None:
    rows = list(peers.measured(Place(replace(system, remark="words"), tmp_path, tmp_path), [20], 1))
    assert [title for title, _ in rows] == list(peers.COLUMNS)
    assert [len(row) + 1 for _, row in rows] == [len(columns) for columns in peers.COLUMNS.values()]
    used = dict(zip(peers.COLUMNS["In use"][1:], rows[1][1], strict=True))
    assert (used["memories"], used["found"]) == ("20", found)
    assert float(used["write CPU ms"]) > 0


def test_lost_writes_are_counted(tmp_path: Path) -> None:
    four, kill = (Place(STUB, tmp_path, tmp_path / name) for name in ("four", "kill"))
    four.home.mkdir()
    kill.home.mkdir()
    assert concurrent(four, each=9) == Outcome(acknowledged=36, lost=27)
    assert killed(kill, rounds=1).lost in (0, 1)


def test_a_refused_write_is_an_error_and_not_acknowledged(tmp_path: Path) -> None:
    with serving(Place(STUB, tmp_path, tmp_path)) as server:
        server.begin()
        with pytest.raises(Trouble):
            server.write("refuse this")


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (System(missing="a library"), "not measured: a library"),
        (replace(STUB, install=(("bash", "-c", "echo no such package >&2; false"),)), "no such package"),
        (replace(STUB, start=("no-such-program",)), "No such file"),
        (replace(STUB, start=("true",)), "the server ended"),
    ],
    ids=["no server", "not installed", "not there", "ends"],
)
def test_what_cannot_be_measured_gets_a_row_with_the_reason(system: System, reason: str, tmp_path: Path) -> None:
    assert reason in next(peers.measured(Place(system, tmp_path, tmp_path), [20], 1))[1][-1]


def test_a_system_that_is_too_slow_is_measured_at_the_size_it_reached(tmp_path: Path) -> None:
    rows = [
        row for title, row in peers.measured(Place(STUB, tmp_path, tmp_path), [10**6, 10**7], 0.02) if title == "In use"
    ]
    assert len(rows) == 1
    assert rows[0][0].endswith("in 0.02 min")
