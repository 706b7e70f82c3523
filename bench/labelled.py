"""Accuracy of judgements about text, on labelled pairs and passages: one half for tuning, the other held out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from bench.measure import table
from bench.naive import bare_patterns
from holdfast.adapters.embedders.local import LocalClassifier
from holdfast.policy.language.foreign import Own, own_part
from holdfast.policy.language.mine import FAMILIES, Found, mine
from holdfast.policy.language.noteworthy import KINDS, Signal, signals, tier
from holdfast.policy.language.overlap import words
from holdfast.policy.language.reading import SentenceReader, sentences
from holdfast.verbs.truth.contradictions import CONFLICT

DATA = Path(__file__).parent / "data"
SPLITS = ("dev", "held")
LEAST_PRECISION, LEAST_RECALL = 0.8, 0.6
LEAST_SIGNAL_PRECISION, LEAST_SIGNAL_RECALL = 0.8, 0.5  # they are pending until something confirms them
ALIKE = 0.5  # share of common words from which the baseline reports a contradiction

MOST_TAKEN = 0.03  # share of pasted sentences that may count as the user's own
LONG = 30  # characters from which the baseline reports a sentence as knowledge


class Find(Protocol):
    """A passage that a judge found, with its kind."""

    @property
    def kind(self) -> str:
        """The kind assigned by the judge."""

    @property
    def text(self) -> str:
        """The text of the passage."""


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
        """The share of expected answers that were found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0


@cache
def rows_of(name: str, split: str) -> list[dict[str, Any]]:
    """Read one half of a labelled set from `bench/data`."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [row for row in map(json.loads, text.splitlines()) if row["split"] == split]


def run_contradictions() -> bool:
    """Print how well contradictions are recognised; return True if the held-out half meets the bars."""
    judges: Mapping[str, Callable[[str, str], bool]] = {
        f"half the words in common (≥ {ALIKE})": alike,
        "holdfast": lambda older, newer: READER.relation(older, newer).get("conflict", 0.0) >= CONFLICT,
    }
    scores = {(split, name): score_pairs(judge, split) for split in SPLITS for name, judge in judges.items()}
    _print("contradictions: pairs of memories, older and newer", scores, "contradictions")
    return _suffices(scores["held", "holdfast"])


def alike(older: str, newer: str) -> bool:
    """Report a contradiction if texts share half their words: the baseline."""
    first, second = words(older), words(newer)
    return len(first & second) >= ALIKE * len(first | second)


def score_pairs(judge: Callable[[str, str], bool], split: str) -> Score:
    """Score a judge on one half of the pairs."""
    answers = [(judge(row["older"], row["newer"]), row["contradicts"]) for row in rows_of("contradictions", split)]
    return Score(
        right=sum(said and is_so for said, is_so in answers),
        wrong=sum(said and not is_so for said, is_so in answers),
        missed=sum(is_so and not said for said, is_so in answers),
    )


def run_mining() -> bool:
    """Print how well reusable knowledge is recognised; return True if the held-out half meets the bars."""
    scores = {}
    for split in SPLITS:
        # The baseline assigns no kinds, so they are not scored for it.
        scores[split, f"every sentence over {LONG} characters"] = score_passages(every_sentence, split, kinds=False)
        scores[split, "holdfast"] = score_passages(mine, split)
    _print("mining: passages of session logs, half of them traps", scores, "mining")
    return _suffices(scores["held", "holdfast"])


def every_sentence(text: str) -> list[Found]:
    """Report every sentence that is long enough as knowledge: the baseline."""
    long = [sentence for sentence, *_ in sentences(text) if len(sentence) > LONG]
    return [Found(kind="fact", text=sentence, confidence=1.0, span=(0, 0)) for sentence in long]


def run_signals() -> bool:
    """Print how well statements worth storing are recognised; return True if the held-out half meets the bars."""
    scores = {}
    for split in SPLITS:
        for name, judge in (("bare patterns", bare_patterns), ("holdfast", offered), ("holdfast, sure", kept_at_once)):
            scores[split, name] = score_passages(judge, split, of="signals", families=KINDS, kinds=False)
    _print("signals: lines of sessions, half of them traps", scores, "signals")
    held = scores["held", "holdfast"]
    return held.precision >= LEAST_SIGNAL_PRECISION and held.recall >= LEAST_SIGNAL_RECALL


READER = SentenceReader(LocalClassifier())


def offered(text: str) -> list[Signal]:
    """Return the signals that would be offered or stored, if they were all new."""
    return [signal for signal in signals(text, READER) if tier(signal, 1.0) != "skip"]


def kept_at_once(text: str) -> list[Signal]:
    """Return the signals that would be stored automatically, if they were all new."""
    return [signal for signal in signals(text, READER) if tier(signal, 1.0) == "auto"]


def score_passages(
    finder: Callable[[str], Sequence[Find]],
    split: str,
    *,
    kinds: bool = True,
    of: str = "mining",
    families: Mapping[str, str] = FAMILIES,
) -> Score:
    """Score a finder: a find is right if it contains an expected fragment and its kind is in the same family."""
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


@dataclass(slots=True)
class Pasted:
    """Sentences of prompts, by whether the user wrote them, and what they are taken for."""

    foreign: int = 0
    taken: int = 0  # foreign sentences that count as the user's own
    doubted: int = 0  # foreign sentences of which a statement would be pending
    own: int = 0
    kept: int = 0
    lost: int = 0  # own sentences that are taken for foreign


def judge_pasted(split: str, decide: Callable[[str], Own] = own_part) -> Pasted:
    """Judge one half of the prompts with pasted text, sentence by sentence."""
    counts = Pasted()
    for row in rows_of("pasted", split):
        prompt, own = row["prompt"], decide(row["prompt"])
        for sentence in (*row["own"], *row["foreign"]):
            place = slice(start := prompt.index(sentence), start + len(sentence))
            left = sum(map(len, own.text[place].split())) / sum(map(len, sentence.split()))
            is_certain = bool(own.certain[place].strip())
            if sentence in row["foreign"]:
                counts.foreign += 1
                counts.taken += left > 0.3 and is_certain
                counts.doubted += left > 0.3 and not is_certain
            else:
                counts.own += 1
                counts.kept += left > 0.9 and is_certain
                counts.lost += left <= 0.9
    return counts


def run_pasted() -> bool:
    """Print how well pasted text is told from the user's own; return True if hardly any counts as the user's word."""
    judges: Mapping[str, Callable[[str], Own]] = {
        "holdfast": own_part,
        "all is the user's": lambda text: Own(text=text, certain=text),
    }
    halves = {(name, split): judge_pasted(split, decide) for name, decide in judges.items() for split in SPLITS}
    table(
        "sentences of prompts with pasted text",
        ("", "half", "pasted", "taken for the user's", "in doubt", "own", "certain", "in doubt", "lost"),
        [
            (
                name,
                split,
                one.foreign,
                one.taken,
                one.doubted,
                one.own,
                one.kept,
                one.own - one.kept - one.lost,
                one.lost,
            )
            for (name, split), one in halves.items()
        ],
    )
    held = halves["holdfast", "held"]
    return held.taken <= MOST_TAKEN * held.foreign
