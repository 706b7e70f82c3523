"""Cost of a write with near neighbours, of comparing memories, of reports about a project, and of mining. CPU times.

Stores consist of invented sentences, one in seven a near-copy of another, and of the labelled pairs: the older texts in
the older half, the newer ones among the newest. Vectors are random, so neighbours are found by words.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from bench.corpus import Corpus
from bench.labelled import SPLITS, rows_of
from bench.measure import Spread, cpu_seconds, spread, table
from bench.speed import PROJECT, fake_vectors, open_bench
from holdfast.adapters.embedders.local import LocalClassifier
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.model.session import Session
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import predict
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.analyze import activity, blind_spots, wordings
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.truth.contradictions import compare, open_contradictions
from holdfast.verbs.upkeep.health import health, quality

SIZES = {2_000: 1.0, 100_000: 3.0}  # number of records: target for each report, in CPU seconds
WRITE_MS = 6.0  # target for a write before its vector, p50
LOGGED = 50
SESSIONS = 60
_ANY = Waivers(duplicate=True, transient=True, scope=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Cost of reports about a project."""

    records: int
    health_s: float
    analytics_s: float
    prediction_s: float


def run() -> bool:
    """Measure everything and print the tables; return True if the targets are met."""
    whole, compared, found, wrong, pairs = _in_folder(_writes)
    table(
        "writes with near neighbours, and their comparison in the worker",
        ("write p50 / p95 ms", "comparison, ms a memory", "contradictions linked", "others linked"),
        [(whole, compared, f"{found} of {pairs}", wrong)],
    )
    looked = [_in_folder(lambda folder, size=size: _look(folder, size)) for size in SIZES]  # type: ignore[misc]
    table(
        "reports about a project (CPU s)",
        ("records", "health", "analytics", "prediction", "target"),
        [(f"{one.records:,}", one.health_s, one.analytics_s, one.prediction_s, f"≤ {SIZES[one.records]:g}") for one in looked],
    )  # fmt: skip
    logged, mined, characters = _in_folder(_mining)
    table(
        "mining (CPU)",
        ("log an output p50 / p95 ms", "mine, ms per 1,000 characters", "characters an output"),
        [(logged, mined, characters)],
    )
    slowest = [(max(one.health_s, one.analytics_s, one.prediction_s), SIZES[one.records]) for one in looked]
    return whole.p50 < WRITE_MS and all(seconds <= most for seconds, most in slowest)


def _in_folder(step: Callable[[Path], Any]) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        return step(folder)
    finally:
        shutil.rmtree(folder)


def _pairs() -> list[dict[str, Any]]:
    return [row for split in SPLITS for row in rows_of("contradictions", split)]


def _writes(folder: Path) -> tuple[Spread, float, int, int, int]:
    """Write the older texts, then the newer ones, then compare them; return cost and accuracy."""
    rows, memory = _pairs(), replace(open_bench(folder), classifier=LocalClassifier())
    older = [_kept(memory, row["older"]).record.id for row in rows]
    made: list[Written] = []
    whole = spread(lambda row: made.append(_kept(memory, row["newer"])), rows)
    seconds = cpu_seconds(lambda: compare(memory))
    linked = {(one.older.id, one.newer.id) for one in open_contradictions(memory, limit=0)["found"]}
    memory.close()
    named = [(older[place], outcome.record.id) in linked for place, outcome in enumerate(made)]
    right = sum(hit and row["contradicts"] for hit, row in zip(named, rows, strict=True))
    wanted = sum(row["contradicts"] for row in rows)
    return whole, 1_000 * seconds / (2 * len(rows)), right, len(linked) - right, wanted


def _kept(memory: Memory, text: str) -> Written:
    outcome = write(memory, Draft(body=text), waivers=_ANY)
    assert isinstance(outcome, Written), outcome
    return outcome


def _look(folder: Path, size: int) -> Looked:
    memory = open_bench(folder)
    fill(memory, size)
    fake_vectors(memory)
    health_s, analytics_s, prediction_s = _others(memory)
    memory.close()
    return Looked(records=size, health_s=health_s, analytics_s=analytics_s, prediction_s=prediction_s)


def _others(memory: Memory) -> tuple[float, float, float]:
    """Simulate sessions that recall and use memories, then measure health, analytics and prediction."""
    corpus, first = Corpus(), ""
    for number in range(SESSIONS):
        _, shown = worked(memory, f"bench-{number}", corpus, each=1)
        first = first or shown[0]
    return (
        cpu_seconds(lambda: health(memory)),
        cpu_seconds(lambda: (activity(memory), blind_spots(memory), wordings(memory), quality(memory))),
        cpu_seconds(lambda: predict(memory, first)),
    )


def worked(memory: Memory, session: str, corpus: Corpus, *, each: int) -> tuple[Memory, list[str]]:
    """Simulate a session: three recalls, and a use of the first two hits; return it and the ids of the best hits."""
    there = memory.acting_in(session)
    there = begin(there, Session(id=session))
    asked = [Query(text=corpus.question(), words_only=True, weak=True) for _ in range(3)]
    shown = [hit.record.id for query in asked for hit in recall(there, query).hits[:each]]
    record_use(there, shown[:2], "applied")
    return there, shown


def fill(memory: Memory, size: int) -> None:
    """Store invented memories and the labelled pairs."""
    texts = list(_invented(size))
    events = [
        memory.event(
            "recorded", data={"kind": "fact", "title": text[:60], "body": text, "project": PROJECT, "scopes": ["bench"]}
        )
        for text in texts
    ]
    for start in range(0, len(events), 5_000):
        memory.store.commit(events[start : start + 5_000])


def _invented(size: int) -> Iterator[str]:
    corpus, random, rows = Corpus(), Random(3), _pairs()
    plain = [*_sentences(corpus, random, size - 2 * len(rows))]
    for row in rows:
        plain.insert(random.randrange(len(plain) // 2), row["older"])
    for row in rows:
        plain.insert(random.randrange(max(0, len(plain) - 1_000), len(plain)), row["newer"])
    yield from plain


def _sentences(corpus: Corpus, random: Random, count: int) -> Iterator[str]:
    recent: list[str] = []
    for _ in range(count):
        if recent and random.random() < 0.15:
            words = random.choice(recent).split()
            words[random.randrange(len(words))] = corpus.text(1)
            text = " ".join(words)
        else:
            text = " ".join(_sentence(corpus, random) for _ in range(random.randint(1, 4)))
        recent = [*recent[-500:], text]
        yield text


def _sentence(corpus: Corpus, random: Random) -> str:
    words, verb = corpus.text(8).split(), random.choice(("is", "uses", "runs on", "has"))
    return f"{' '.join(words[:4])} {verb} {' '.join(words[4:])} {random.randint(2, 900)}.".capitalize()


def _mining(folder: Path) -> tuple[Spread, float, int]:
    memory = open_bench(folder)
    texts = [row["text"] for split in SPLITS for row in rows_of("mining", split)]
    chatter, random = Corpus(), Random(7)
    logs = [
        "\n\n".join(part for text in random.sample(texts, 12) for part in (text, chatter.text(40)))
        for _ in range(LOGGED)
    ]
    mine_outputs(memory)
    logged = spread(lambda one: log_output(memory, one[1], f"s{one[0]}"), list(enumerate(logs)))
    seconds = cpu_seconds(lambda: mine_outputs(memory))
    memory.close()
    size = sum(map(len, logs))
    return logged, 1_000_000 * seconds / size, size // len(logs)
