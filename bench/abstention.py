"""Abstention: questions with an answer in the store must get it, questions about other topics must get none."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.measure import table
from bench.quality import NOT_HEADLINE, Task, Text, filled, load
from holdfast.model.query import Mode, Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall

SETS = ("locomo-turn", "swe-notes", "gitbugs", "cosqa")
ABOUT_CODE = ("swe-notes", "gitbugs", "cosqa")  # questions of one about the code of another are hard, and counted apart
SIZES = (5, 20, 100, 500, 2_500)
QUESTIONS = 25  # from each set, at each size
LABELS = ("strong", "fair", "weak")
STRANGERS = 10  # questions from each other set


@dataclass(slots=True, kw_only=True)
class Counts:
    """What came of the questions to stores of one size: right answers, and how many strangers got one."""

    right: int = 0
    kept: int = 0
    answered: Counter[bool] = field(default_factory=Counter)  # by whether both sets are about code
    asked: Counter[bool] = field(default_factory=Counter)


def run(folder: Path, cache: Path | None, mode: Mode = "balanced") -> None:
    """Print, for stores of several sizes, how many right answers are kept and how many off-topic questions get one."""
    tasks = {name: load(folder, name)[0] for name in SETS}
    rows, labels = [], Counter[tuple[str, str]]()
    for size in SIZES:
        counts = Counts()
        for name in SETS:
            for turn in range(6 if size < 100 else 1):
                _try(tasks, name, size, Random(f"{size} {name} {turn}"), cache, mode, counts, labels)
        shares = (f"{counts.answered[hard] / counts.asked[hard]:.1%} of {counts.asked[hard]}" for hard in (False, True))
        rows.append((size, f"{counts.kept / counts.right:.1%} of {counts.right}", *shares))
    columns = ("records", "right answers kept", "off-topic answered", "about other code answered")
    title = f"abstention, mode {mode}: four sets, records drawn at random, questions of the other sets as strangers"
    table(title, columns, rows)
    for title, wrong in (
        ("", ("wrong", "stranger")),
        (" and questions about other code", ("wrong", "stranger", "hard")),
    ):
        table(
            f"what the confidence of the first hit is worth, off-topic questions{title} included",
            ("confidence", "answers", "right", "share"),
            [_worth(label, labels, wrong) for label in LABELS],
        )


def _worth(label: str, labels: Counter[tuple[str, str]], wrong: Sequence[str]) -> tuple[str, int, int, float]:
    right = labels[label, "right"]
    all_ = right + sum(labels[label, one] for one in wrong)
    return label, all_, right, right / all_ if all_ else 0.0


def _try(
    tasks: Mapping[str, Task],
    name: str,
    size: int,
    random: Random,
    cache: Path | None,
    mode: Mode,
    counts: Counts,
    labels: Counter[tuple[str, str]],
) -> None:
    """Ask one store its own questions and those of the other sets, and count what came of them."""
    task = tasks[name]
    questions = random.sample(
        [query for query in task.queries if query[2].get("category") not in NOT_HEADLINE], QUESTIONS
    )
    questions = questions[: max(1, size // 3)]
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        memory = filled(haystack(task, questions, size, random), Path(scratch), cache)
        for query in questions:
            relevant = task.relevant[query[0]]
            answer, confidence = _answer(memory, query, mode=mode)
            labels[confidence, "right" if answer in relevant else "wrong"] += 1
            if _answer(memory, query, weak=True)[0] in relevant:
                counts.right += 1
                counts.kept += answer in relevant
        for other in (one for one in SETS if one != name):
            hard = {name, other} <= set(ABOUT_CODE)
            for query in random.sample(tasks[other].queries, STRANGERS):
                answer, confidence = _answer(memory, query, mode=mode)
                labels[confidence, "hard" if hard else "stranger"] += 1
                counts.asked[hard] += 1
                counts.answered[hard] += bool(answer)
        memory.close()


def haystack(task: Task, questions: Sequence[Text], size: int, random: Random) -> list[Text]:
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
