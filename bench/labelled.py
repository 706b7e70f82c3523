"""How well judgements about text hold: labelled pairs and passages, one half tuned on, the other only measured."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.measure import table
from bench.naive import bare_patterns
from holdfast.policy.language.contradict import contradicts
from holdfast.policy.language.mine import FAMILIES, Found, mine
from holdfast.policy.language.signals import KINDS, Signal, signals, tier
from holdfast.policy.language.statements import keys_of, sentences

DATA = Path(__file__).parent / "data"
SPLITS = ("dev", "held")
LEAST_PRECISION, LEAST_RECALL = 0.8, 0.6
LEAST_SIGNAL_PRECISION = 0.9  # what is kept without being asked for must be right more often
ALIKE = 0.5  # share of words in common from which the baseline calls a pair a contradiction

LONG = 30  # characters from which the baseline takes a sentence for knowledge


class Find(Protocol):
    """A text that a judge took out, and what it takes it for."""

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def text(self) -> str:
        """What it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How many answers were right, how many wrong, and how many were missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of answers that were right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0

    @property
    def recall(self) -> float:
        """The share of what was wanted that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0


def rows_of(name: str, split: str) -> list[dict[str, Any]]:
    """Read one half of a labelled set from `bench/data`."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [row for row in map(json.loads, text.splitlines()) if row["split"] == split]


def run_contradictions() -> bool:
    """Print how well contradictions are told from everything else, and tell whether the held-back half suffices."""
    judges: Mapping[str, Callable[[str, str], bool]] = {
        f"half the words in common (≥ {ALIKE})": alike,
        "holdfast": lambda older, newer: contradicts(older, newer) is not None,
    }
    scores = {(split, name): score_pairs(judge, split) for split in SPLITS for name, judge in judges.items()}
    _print("contradictions: pairs of memories, older and newer", scores, "contradictions")
    return _suffices(scores["held", "holdfast"])


def alike(older: str, newer: str) -> bool:
    """Judge as if texts that share half their words contradict each other: the baseline."""
    first, second = keys_of(older), keys_of(newer)
    return len(first & second) >= ALIKE * len(first | second)


def score_pairs(judge: Callable[[str, str], bool], split: str) -> Score:
    """Count how a judge does on one half of the pairs."""
    answers = [(judge(row["older"], row["newer"]), row["contradicts"]) for row in rows_of("contradictions", split)]
    return Score(
        right=sum(said and is_so for said, is_so in answers),
        wrong=sum(said and not is_so for said, is_so in answers),
        missed=sum(is_so and not said for said, is_so in answers),
    )


def run_mining() -> bool:
    """Print how well reusable knowledge is told from chatter, and tell whether the held-back half suffices."""
    scores = {}
    for split in SPLITS:
        # The baseline names no kinds, so it is not asked for them.
        scores[split, f"every sentence over {LONG} characters"] = score_passages(every_sentence, split, kinds=False)
        scores[split, "holdfast"] = score_passages(mine, split)
    _print("mining: passages of session logs, half of them traps", scores, "mining")
    return _suffices(scores["held", "holdfast"])


def every_sentence(text: str) -> list[Found]:
    """Take every sentence that is long enough for knowledge: the baseline."""
    long = [sentence for sentence in sentences(text) if len(sentence) > LONG]
    return [Found(kind="fact", text=sentence, confidence=1.0, span=(0, 0)) for sentence in long]


def run_signals() -> bool:
    """Print how well what wants keeping is told from talk, and tell whether the held-back half suffices."""
    scores = {}
    for split in SPLITS:
        scores[split, "bare patterns"] = score_passages(bare_patterns, split, of="signals", families=KINDS)
        scores[split, "holdfast"] = score_passages(offered, split, of="signals", families=KINDS)
        scores[split, "holdfast, kept at once"] = score_passages(kept_at_once, split, of="signals", families=KINDS)
    _print("signals: lines of sessions, half of them traps", scores, "signals")
    held = scores["held", "holdfast"]
    return held.precision >= LEAST_SIGNAL_PRECISION and held.recall >= LEAST_RECALL


def offered(text: str) -> list[Signal]:
    """Give the signals that would at least be offered, were they all new."""
    return [signal for signal in signals(text) if tier(signal, 1.0) != "skip"]


def kept_at_once(text: str) -> list[Signal]:
    """Give the signals that would be kept without asking, were they all new."""
    return [signal for signal in signals(text) if tier(signal, 1.0) == "auto"]


def score_passages(
    finder: Callable[[str], Sequence[Find]],
    split: str,
    *,
    kinds: bool = True,
    of: str = "mining",
    families: Mapping[str, str] = FAMILIES,
) -> Score:
    """Count how a finder does: a find is right if it holds a wanted fragment and its kind is of the same family."""
    right = wrong = missed = 0
    for row in rows_of(of, split):
        left = list(row["wanted"])
        for found in finder(row["text"]):
            hit = next((want for want in left if _meets(found, want, families if kinds else {})), None)
            right, wrong = right + (hit is not None), wrong + (hit is None)
            left = [want for want in left if want is not hit]
        missed += len(left)
    return Score(right=right, wrong=wrong, missed=missed)


def _meets(found: Find, want: Mapping[str, str], families: Mapping[str, str]) -> bool:
    same = not families or families[found.kind] == families[want["kind"]]
    return same and want["contains"] in found.text


def _suffices(score: Score) -> bool:
    return score.precision >= LEAST_PRECISION and score.recall >= LEAST_RECALL


def _print(title: str, scores: Mapping[tuple[str, str], Score], name: str) -> None:
    counts = {split: len(rows_of(name, split)) for split in SPLITS}
    table(title, ("split", "rows", "judge", "precision", "recall", "right", "wrong", "missed"), [
        (split, counts[split], judge, score.precision, score.recall, score.right, score.wrong, score.missed)
        for (split, judge), score in scores.items()
    ])  # fmt: skip
