"""Contradictions and duplicates among pairs of memories in several languages: two halves, and two later sets.

The second was written after the rules; so was the third, of contradictions in other words, but rules were added for it.
"""

from bench.labelled import SPLITS, Score, rows_of
from bench.measure import table
from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.policy.language.contradict import contradicts
from holdfast.policy.language.slots import agrees
from holdfast.verbs.search.similarity import SAME_MEANING

LEAST = {"contradiction": (0.9, 0.7), "duplicate": (0.9, 0.8)}  # precision and recall


def run() -> bool:
    """Print precision and recall for both kinds of pairs; return True if the held half meets the targets."""
    embedder = LocalEmbedder()
    least = embedder.floor + SAME_MEANING * (embedder.ceiling - embedder.floor)
    rows, good = [], True
    for split in (*SPLITS, "second", "third"):
        answers = []
        for row in rows_of("pairs", split):
            first, second = (made.vector for made in embedder.embed([row["older"], row["newer"]]))
            if contradicts(row["older"], row["newer"]):
                answers.append((row["label"], "contradiction"))
            elif float(first @ second) >= least and agrees(row["older"], row["newer"]):
                answers.append((row["label"], "duplicate"))
            else:
                answers.append((row["label"], "neither"))
        for label, (precision, recall) in LEAST.items():
            score = Score(
                right=sum(true == said == label for true, said in answers),
                wrong=sum(said == label != true for true, said in answers),
                missed=sum(true == label != said for true, said in answers),
            )
            rows.append(
                [split, label, f"{score.precision:.2f}", f"{score.recall:.2f}", score.right, score.wrong, score.missed]
            )
            good &= split == "dev" or (score.precision >= precision and score.recall >= recall)
    table("Pairs of memories", ("split", "kind", "precision", "recall", "right", "wrong", "missed"), rows)
    return good
