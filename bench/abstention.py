"""Abstention: questions with an answer in the store must get it, questions about other topics must get none."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench.measure import table
from bench.quality import NOT_HEADLINE, Task, Text, filled, load
from holdfast.model.query import Mode, Query
from holdfast.policy.ranking.gate import bar
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall

SETS = ("locomo-turn", "swe-notes", "gitbugs", "cosqa")
SIZES = (5, 20, 100, 500, 2_500)
QUESTIONS = 25  # from each set, at each size
LABELS = ("strong", "fair", "weak")
STRANGERS = 10  # questions from each other set


def run(folder: Path, cache: Path | None, mode: Mode = "balanced") -> None:
    """Print, for stores of several sizes, how many right answers are kept and how many off-topic questions get one."""
    tasks = {name: load(folder, name)[0] for name in SETS}
    rows, labels = [], Counter[tuple[str, bool]]()
    for size in SIZES:
        kept, right, answered, asked = 0, 0, 0, 0
        for name, task in tasks.items():
            others = [other for other_name, other in tasks.items() if other_name != name]
            for turn in range(6 if size < 100 else 1):
                found = _try(task, others, size, Random(f"{size} {name} {turn}"), cache, mode, labels)
                kept, right, answered, asked = kept + found[0], right + found[1], answered + found[2], asked + found[3]
        rows.append(
            (
                size,
                f"{bar(Query(text='', mode=mode), size):.2f}",
                f"{kept / right:.1%} of {right}",
                f"{answered / asked:.1%} of {asked}",
            )
        )
    columns = ("records", "least fit", "right answers kept", "off-topic questions answered")
    title = f"abstention, mode {mode}: four sets, records drawn at random, questions of the other sets as strangers"
    table(title, columns, rows)
    reliability = [(label, labels[label, True] + labels[label, False], labels[label, True]) for label in LABELS]
    table(
        "what the confidence of the first hit is worth, off-topic questions included",
        ("confidence", "answers", "right", "share"),
        [(label, all_, right, right / all_ if all_ else 0.0) for label, all_, right in reliability],
    )


def _try(
    task: Task,
    others: Sequence[Task],
    size: int,
    random: Random,
    cache: Path | None,
    mode: Mode,
    labels: Counter[tuple[str, bool]],
) -> tuple[int, int, int, int]:
    questions = random.sample(
        [query for query in task.queries if query[2].get("category") not in NOT_HEADLINE], QUESTIONS
    )
    questions = questions[: max(1, size // 3)]
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        memory = filled(_haystack(task, questions, size, random), Path(scratch), cache)
        right = kept = answered = 0
        for query in questions:
            relevant = task.relevant[query[0]]
            answer, confidence = _answer(memory, query, mode=mode)
            labels[confidence, answer in relevant] += 1
            if _answer(memory, query, weak=True)[0] in relevant:
                right, kept = right + 1, kept + (answer in relevant)
        strangers = [query for other in others for query in random.sample(other.queries, STRANGERS)]
        for query in strangers:
            answer, confidence = _answer(memory, query, mode=mode)
            labels[confidence, False] += 1
            answered += bool(answer)
        memory.close()
    return kept, right, answered, len(strangers)


def _haystack(task: Task, questions: Sequence[Text], size: int, random: Random) -> list[Text]:
    """Return `size` records: the answers to the questions, and others at random, but not the questions themselves."""
    answers = {doc for query in questions for doc in task.relevant[query[0]]}
    asked = {query[0] for query in questions}
    wanted = [doc for doc in task.docs if doc[0] in answers]
    rest = [doc for doc in task.docs if doc[0] not in answers | asked]
    drawn = [*wanted, *random.sample(rest, min(len(rest), max(0, size - len(wanted))))]
    random.shuffle(drawn)
    return drawn


def _answer(memory: Memory, query: Text, *, weak: bool = False, mode: Mode = "balanced") -> tuple[str, str]:
    """Return the best record and its confidence; two empty strings if nothing fits."""
    hits = recall(memory, Query(text=query[1], limit=2, weak=weak, mode=mode)).hits
    return (str(hits[0].record.extra["doc"]), hits[0].confidence) if hits else ("", "")
