"""How well judgements about text hold: labelled pairs and passages, one half tuned on, the other only measured."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from holdfast.hosts.bench.measure import table
from holdfast.policy.contradict import contradicts
from holdfast.policy.statements import keys_of

SPLITS = ("dev", "held")
LEAST_PRECISION, LEAST_RECALL = 0.8, 0.6
ALIKE = 0.5  # share of words in common from which the baseline calls a pair a contradiction


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
    """Read one half of a labelled set that travels with the package."""
    text = files("holdfast.hosts.bench").joinpath("data", f"{name}.jsonl").read_text(encoding="utf-8")
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


def _suffices(score: Score) -> bool:
    return score.precision >= LEAST_PRECISION and score.recall >= LEAST_RECALL


def _print(title: str, scores: Mapping[tuple[str, str], Score], name: str) -> None:
    counts = {split: len(rows_of(name, split)) for split in SPLITS}
    table(title, ("split", "rows", "judge", "precision", "recall", "right", "wrong", "missed"), [
        (split, counts[split], judge, score.precision, score.recall, score.right, score.wrong, score.missed)
        for (split, judge), score in scores.items()
    ])  # fmt: skip
