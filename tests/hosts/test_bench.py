"""A small slice of every benchmark, so that the commands in the documentation keep working."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import abstention, filling, importing, knowledge, quality, replicas, server, speed
from bench import labelled as judgements
from bench.measure import Spread
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.verbs.memory import Memory
from tests.rows import missing

Patch = Callable[..., object]
Printed = Callable[[], str]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Give a folder with a tiny labelled set under each name."""
    words = "apple bridge candle dragon engine forest garden hammer island jungle kettle ladder magnet needle orchid".split()
    placed = list(enumerate(words * 2))
    docs = [[f"d{place}", f"The {word} is kept in room {place} of the old house.", {}] for place, word in placed]
    queries = [[f"q{place}", f"where is the {word}", {"category": "x"}] for place, word in placed]
    relevant = {f"q{place}": {f"d{place % 15}": 1, f"d{place % 15 + 15}": 1} for place in range(30)}
    tasks = [{"name": "t", "docs": docs, "queries": queries, "qrels": relevant}]
    raw = gzip.compress(json.dumps({"tasks": tasks}).encode())
    for name in quality.SETS:
        (tmp_path / f"{name}.json.gz").write_bytes(raw)
    return tmp_path


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> Patch:
    """Return a function that makes a benchmark small."""
    return lambda module, **few: [monkeypatch.setattr(module, name, value) for name, value in few.items()]


printed = pytest.fixture(lambda capsys: lambda: capsys.readouterr().out)


def test_retrieval_is_scored_beside_the_baseline(labelled: Path, tmp_path: Path, printed: Printed) -> None:
    assert quality.run(labelled, ["swe-notes"], tmp_path / "cache") is True
    assert missing(printed(), "plain FTS5", "recall@10 against exact search 1.0000") == []


def test_metrics_are_what_they_are_called() -> None:
    assert quality._metrics(["a", "b", "c"], {"a": 1}) == (1.0, 1.0, 1.0, 1.0)
    ndcg, recall5, recall10, mrr = quality._metrics(["x", "a"], {"a": 1, "b": 1})
    assert (round(ndcg, 3), recall5, recall10, mrr) == (0.387, 0.5, 0.5, 0.5)


@pytest.mark.whole
def test_abstention_is_counted(labelled: Path, tmp_path: Path, patch: Patch, printed: Printed) -> None:
    patch(abstention, SIZES=(20,))
    abstention.run(labelled, tmp_path / "cache")
    assert missing(printed(), "off-topic answered", "about other code answered") == []


# A benchmark made small: what is run, what is smaller, and what it prints.
BENCHMARKS: dict[str, tuple[Callable[[], bool], dict[Any, dict[str, Any]], tuple[str, ...]]] = {
    "signals": (judgements.run_signals, {}, ("bare patterns",)),
    "contradictions": (judgements.run_contradictions, {}, ("half the words in common",)),
    "mining": (judgements.run_mining, {}, ("every sentence over 30 characters",)),
    "importing": (lambda: importing.run(20), {importing: {"BAR": 0}}, tuple(importing.MAKERS)),
    "knowledge": (
        knowledge.run,
        {knowledge: {"SIZES": {700: 60.0}, "LOGGED": 2, "WRITE_MS": 60.0}},
        ("contradictions linked", "reports about a project", "mining (CPU)"),
    ),
    "replicas": (lambda: replicas.run(size=150), {}, ("bare scandir and stat", "bare git notes list")),
}


@pytest.mark.whole
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_measures_beside_its_baselines(name: str, patch: Patch, printed: Printed) -> None:
    measure, smaller, lines = BENCHMARKS[name]
    for module, few in smaller.items():
        patch(module, **few)
    assert measure() is True
    out = printed()
    assert missing(out, *lines) == []
    assert name != "knowledge" or int(re.findall(r"(\d+) of 124", out)[0]) >= 110


@pytest.mark.whole
def test_speed_is_measured_beside_its_baselines(tmp_path: Path, patch: Patch) -> None:
    patch(speed, QUESTIONS=4, WRITES=4)
    recalls, writes = speed._measure(speed.Case(projects=2, each=60), tmp_path)
    assert recalls[0] == writes[0] == "60 of 120"
    assert all(isinstance(figure, Spread) and figure.p50 > 0 for figure in recalls[1:])


@pytest.mark.whole
def test_the_server_is_measured_beside_its_targets(patch: Patch, printed: Printed) -> None:
    patch(server, RECORDS=50, STARTS=1, WARM_UP=1, QUESTIONS=2, ROUNDS=1)
    met = server.run(as_json=True)
    measured = json.loads(printed())
    assert met == all(measured["met"].values())
    starts, recalled = measured["cold_start"], measured["recall"]
    assert 0 < starts["holdfast mcp"]["cpu_s"] < starts["bare SDK server"]["cpu_s"]
    assert recalled["records"] == 50
    assert 0 < recalled["cpu_ms_p50"] <= recalled["cpu_ms_p95"]
    assert 0 < recalled["rss_mib_started"] < recalled["rss_mib_warm"]
    server._print(starts, recalled, measured["met"])
    assert "≤ 0.15 CPU s" in printed()


@pytest.mark.whole
def test_a_store_made_for_measuring_is_what_its_journal_says(tmp_path: Path, patch: Patch) -> None:
    patch(filling, WRITTEN=20)  # so that most of it is copied, as in a large one
    with open_memory(load_settings(environment={}, flags={"home": str(tmp_path)})) as memory:
        assert memory.embedder is not None
        vectors = np.stack([made.vector for made in memory.embedder.embed(["one text", "and another"])])
        filling.fill(memory, 60, 6, vectors)
        copied = docs(memory)
        assert memory.store.rebuild() == len(copied) == 60
        assert docs(memory) == copied
        assert memory.store.projects() == {"": 0} | {filling.project_name(place): 10 for place in range(6)}


def docs(memory: Memory) -> dict[str, str]:
    return {row[0]: row[1] for row in memory.store.db.query("select id, doc from records")}
