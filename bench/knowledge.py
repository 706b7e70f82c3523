"""Cost of comparing memories: conflicts of a write, contradictions and near-duplicates of a project, mining. CPU times.

Stores consist of invented sentences, one in seven a near-copy of another, and of the labelled pairs: the older texts in
the older half, the newer ones among the newest. Vectors are random, so near-duplicates are found by words.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench.corpus import Corpus
from bench.labelled import SPLITS, rows_of
from bench.measure import Spread, cpu_seconds, spread, table
from bench.speed import PROJECT, fake_vectors, open_bench
from holdfast.engine.search.similar import similar
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.model.session import Session
from holdfast.policy.admission.admit import Similar, Waivers
from holdfast.policy.language.change import changes
from holdfast.policy.language.contradict import contradicts
from holdfast.policy.language.statements import statements
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import likely_conflicts
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.predict import predict
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.analyze import activity, blind_spots, wordings
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import find_all
from holdfast.verbs.upkeep.health import health
from holdfast.verbs.upkeep.maintain import quality

SIZES = {2_000: 1.0, 100_000: 3.0}  # number of records: target for finding all contradictions, in CPU seconds
ADDED_MS = 1.0  # target for what the conflict check adds to a write, p50
LOGGED = 50
SESSIONS = 60
_ANY = Waivers(duplicate=True, transient=True, scope=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Cost and result of a scan of a project."""

    records: int
    contradictions_s: float
    found: int
    planted: int
    of: int
    duplicates_s: float
    groups: int
    health_s: float
    analytics_s: float
    prediction_s: float


def run() -> bool:
    """Measure everything and print the tables; return True if the targets are met."""
    added, whole, named, pairs, wrong = _in_folder(_writes)
    table(
        "a write that has near neighbours (every one of these has)",
        ("adds p50 / p95 ms", "whole write p50 / p95 ms", "contradictions named", "others named"),
        [(added, whole, f"{named} of {pairs}", wrong)],
    )
    looked = [_in_folder(lambda folder, size=size: _look(folder, size)) for size in SIZES]  # type: ignore[misc]
    table(
        "looking through a project (CPU s, nothing read before)",
        ("records", "contradictions", "found", "planted pairs found", "near-duplicates", "groups", "health", "analytics", "prediction", "target"),
        [(f"{one.records:,}", one.contradictions_s, one.found, f"{one.planted} of {one.of}", one.duplicates_s, one.groups, one.health_s, one.analytics_s, one.prediction_s, f"≤ {SIZES[one.records]:g}") for one in looked],
    )  # fmt: skip
    logged, mined, characters = _in_folder(_mining)
    table(
        "mining (CPU)",
        ("log an output p50 / p95 ms", "mine, ms per 1,000 characters", "characters an output"),
        [(logged, mined, characters)],
    )
    slowest = [
        (max(one.contradictions_s, one.health_s, one.analytics_s, one.prediction_s), SIZES[one.records])
        for one in looked
    ]
    return added.p50 < ADDED_MS and all(seconds <= most for seconds, most in slowest)


def _in_folder(step: Callable[[Path], Any]) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        return step(folder)
    finally:
        shutil.rmtree(folder)


def _pairs() -> list[dict[str, Any]]:
    return [row for split in SPLITS for row in rows_of("contradictions", split)]


def _writes(folder: Path) -> tuple[Spread, Spread, int, int, int]:
    """Write the older texts, then the newer ones; measure cost and accuracy of the conflict check."""
    rows, memory = _pairs(), open_bench(folder)
    older = [_kept(memory, row["older"]).record.id for row in rows]
    forget_what_was_read()
    near = {row["newer"]: _near(memory, row["newer"]) for row in rows}
    added = spread(lambda row: likely_conflicts(memory, *near[row["newer"]]), rows)
    forget_what_was_read()
    told: list[Written] = []
    whole = spread(lambda row: told.append(_kept(memory, row["newer"])), rows)
    memory.close()
    named = [older[place] in {one.record.id for one in outcome.conflicts} for place, outcome in enumerate(told)]
    right = sum(hit and row["contradicts"] for hit, row in zip(named, rows, strict=True))
    wrong = sum(hit and not row["contradicts"] for hit, row in zip(named, rows, strict=True))
    return added, whole, right, sum(row["contradicts"] for row in rows), wrong


def _kept(memory: Memory, text: str) -> Written:
    outcome = write(memory, Draft(body=text), waivers=_ANY)
    assert isinstance(outcome, Written), outcome
    return outcome


def _near(memory: Memory, text: str) -> tuple[Record, list[Similar]]:
    record = Record(id="new", title=text, body=text, project=PROJECT, created_at=memory.clock.now())
    return record, [Similar(record=other, similarity=share) for other, share in similar(memory.store, record)]


def forget_what_was_read() -> None:
    """Empty the caches of parsed texts, so that every measurement starts cold."""
    statements.cache_clear()
    changes.cache_clear()


def _look(folder: Path, size: int) -> Looked:
    memory = open_bench(folder)
    fill(memory, size)
    fake_vectors(memory)
    wanted = {(row["older"], row["newer"]) for row in _pairs() if contradicts(row["older"], row["newer"])}
    forget_what_was_read()
    found = [find_all(memory)]  # a first run to load caches, a second one for the time
    forget_what_was_read()
    seconds = cpu_seconds(lambda: found.append(find_all(memory)))
    forget_what_was_read()
    merging = [proposals(memory)]
    forget_what_was_read()
    merging_seconds = cpu_seconds(lambda: merging.append(proposals(memory)))
    others = _others(memory)
    memory.close()
    return Looked(
        records=size,
        contradictions_s=seconds,
        found=len(found[-1].found),
        planted=len(wanted & {(one.older.body, one.newer.body) for one in found[-1].found}),
        of=len(wanted),
        duplicates_s=merging_seconds,
        groups=len(merging[-1].found) + merging[-1].more,
        health_s=others[0],
        analytics_s=others[1],
        prediction_s=others[2],
    )


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
