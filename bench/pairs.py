"""Contradictions and duplicates among plain pairs of memories in several languages, none of which the classifier was trained on."""

from bench.labelled import READER, SPLITS, Score, rows_of
from bench.measure import table
from holdfast.verbs.truth.contradictions import CONFLICT, SAME

LEAST = {"contradiction": (0.9, 0.7), "duplicate": (0.9, 0.8)}  # precision and recall


def run() -> bool:
    """Print precision and recall for both kinds of pairs; return True if the held half meets the targets."""
    rows, good = [], True
    for split in (*SPLITS, "second", "third"):
        answers = []
        for row in rows_of("pairs", split):
            chances = READER.relation(row["older"], row["newer"])
            is_conflict, is_same = (
                chances.get(name, 0.0) >= bar for name, bar in (("conflict", CONFLICT), ("same", SAME))
            )
            answers.append((row["label"], "contradiction" if is_conflict else "duplicate" if is_same else ""))
        for label, (precision, recall) in LEAST.items():
            score = Score(
                right=sum(true == said == label for true, said in answers),
                wrong=sum(said == label != true for true, said in answers),
                missed=sum(true == label != said for true, said in answers),
            )
            rows.append(
                [split, label, f"{score.precision:.2f}", f"{score.recall:.2f}", score.right, score.wrong, score.missed]
            )
            good &= split != "held" or (score.precision >= precision and score.recall >= recall)
    table("Pairs of memories", ("split", "kind", "precision", "recall", "right", "wrong", "missed"), rows)
    return good
