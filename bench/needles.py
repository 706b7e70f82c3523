"""Find one memory among many that resemble it by five of its words, and ask right after many writes.

Memories are made of the same sentences with other words in their gaps (about 62 words each), so that meaning hardly
tells them apart and the words have to. A question is five content words of one memory in random order, asked as users
ask: with the default gate. The bound is the same recall by words alone, without the gate.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache as once
from pathlib import Path
from random import Random
from typing import Any

from bench.measure import Spread, spread_of, table
from bench.quality import Text, filled
from holdfast.engine.tokens import STOP_STEMS, tokens
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall

SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
QUESTIONS, WORDS, FIRST = 300, 5, 5
WRITES, ASKED_AFTER = 1_000, 100
BAR = 0.99
DATA = Path(__file__).parent / "data" / "needles.json"


def run(names: Sequence[str], cache: Path | None) -> bool:
    """Measure some sizes, print the tables, and return whether every one reaches the bar."""
    found, waited, reached = [], [], True
    for name in names:
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
            texts = memories(SIZES[name] + WRITES)
            docs: list[Text] = [(str(place), text, {}) for place, text in enumerate(texts[: SIZES[name]])]
            with filled(docs, Path(scratch), cache) as memory:
                asked = questions(texts[: SIZES[name]], QUESTIONS)
                share, spent = _share(memory, asked, lambda text: Query(text=text, limit=FIRST))
                bound, _ = _share(memory, asked, lambda text: Query(text=text, limit=FIRST, words_only=True, weak=True))
                found.append([name, share, bound, spent])
                reached = reached and share >= BAR
                before = _wall(memory, [text for _, text in asked[:ASKED_AFTER]])
                _write(memory, texts[SIZES[name] :])
                after = _wall(memory, [text for _, text in asked[-ASKED_AFTER:]])
                waited.append([name, before, after, after.p95 / after.p50])
    table(
        f"five words of a memory find it among the first {FIRST} ({QUESTIONS} questions)",
        ("memories", "recall", "by words, no gate", "CPU ms p50 / p95"),
        found,
    )
    table(
        f"recall, wall ms p50 / p95 ({ASKED_AFTER} questions)",
        ("memories", "before", f"right after {WRITES:,} writes", "p95 / p50"),
        waited,
    )
    return reached


def memories(count: int, seed: int = 1) -> list[str]:
    """Return texts made of the same sentences, the same for the same seed."""
    random, parts = Random(seed), json.loads(DATA.read_text(encoding="utf-8"))
    return [_memory(random, parts) for _ in range(count)]


def _memory(random: Random, parts: dict[str, Any]) -> str:
    chosen = {name: random.sample(words.split(), 3) for name, words in parts["gaps"].items()}
    chosen["number"] = [str(random.randrange(2, 9_999)) for _ in range(3)]
    sentences = [random.choice(variants) for variants in parts["sentences"]]
    return " ".join(sentence.format(**chosen) for sentence in sentences)


def questions(texts: Sequence[str], count: int, seed: int = 2) -> list[tuple[str, str]]:
    """Return pairs of the place of a text and five content words of it."""
    random = Random(seed)
    places = random.sample(range(len(texts)), count)
    return [(str(place), " ".join(random.sample(content_words(texts[place]), WORDS))) for place in places]


def content_words(text: str) -> list[str]:
    """Return the distinct words of a text that come from its gaps; no number, which would give it away."""
    common = _common()
    words = dict.fromkeys(word.strip(".,;:()") for word in text.split())
    return [word for word in words if word and not word.isdecimal() and not set(tokens(word)) <= common]


@once
def _common() -> frozenset[str]:
    parts = json.loads(DATA.read_text(encoding="utf-8"))
    fixed = " ".join(" ".join(variants) for variants in parts["sentences"])
    return STOP_STEMS | frozenset(tokens(fixed))


def _share(memory: Memory, asked: Sequence[tuple[str, str]], ask: Callable[[str], Query]) -> tuple[float, Spread]:
    """Return the share of questions whose memory is found, and the CPU time of a recall."""
    recall(memory, ask("warm up"))
    right, times = 0, []
    for place, text in asked:
        start = time.process_time()
        hits = recall(memory, ask(text), surface=False).hits
        times.append(1000 * (time.process_time() - start))
        right += any(hit.record.extra.get("doc") == place for hit in hits)
    return right / len(asked), spread_of(times)


def _wall(memory: Memory, texts: Sequence[str]) -> Spread:
    times = []
    for text in texts:
        start = time.perf_counter()
        recall(memory, Query(text=text, limit=FIRST), surface=False)
        times.append(1000 * (time.perf_counter() - start))
    return spread_of(times)


def _write(memory: Memory, texts: Sequence[str]) -> None:
    for text in texts:
        write(memory, Draft(body=text), waivers=Waivers(duplicate=True, transient=True, scope=True))
