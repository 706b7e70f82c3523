"""Read the labelled data: examples of each task, split into what is trained on and what is held out."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from classifier.labels import BETWEEN, TASKS
from holdfast.model.ports import Task

DATA = Path(__file__).parent / "data"
HELD = 0.15  # share that is held out
BLOCK = 8  # neighbouring lines are often contrast pairs: they are held out together


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One or two texts and the class, by number. `lang` is that of the first text."""

    first: str
    second: str
    label: int
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The memories of a small team, and questions with the places of the memories that answer them."""

    memories: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]
    lang: str = "en"


def rows_of(pattern: str, folder: Path = DATA) -> list[dict[str, Any]]:
    """Read the lines of some files, in the order of their names."""
    return [
        json.loads(line)
        for path in sorted(folder.glob(pattern))
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]


def sentences(task: Task, rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return the sentences of prompts or answers, each with what stands before it."""
    found = []
    for row in rows:
        before = ""
        for text, label in row["s"]:
            context = BETWEEN.join(part for part in (row.get("prev", ""), before) if part)
            found.append(Example(first=text, second=context, label=TASKS[task].index(label), lang=row["lang"]))
            before = text
    return found


def pairs(rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return pairs of memories, the older one first."""
    labels = TASKS["pair"]
    return [
        Example(first=row["older"], second=row["newer"], label=labels.index(row["rel"]), lang=row["la"]) for row in rows
    ]


def joined(rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return the pairs that follow from two with the same older text: what is said again relates to others as that text does."""
    by_older = defaultdict[str, list[dict[str, Any]]](list)
    for row in rows:
        by_older[row["older"]].append(row)
    found = []
    for related in by_older.values():
        for again, row in product((row for row in related if row["rel"] == "same"), related):
            if again["newer"] != row["newer"]:
                found.append({**row, "older": again["newer"], "la": again["lb"]})
    return pairs(found)


def groups(rows: Iterable[dict[str, Any]]) -> list[Group]:
    """Return the groups of memories and questions."""
    return [
        Group(
            memories=tuple(row["m"]),
            questions=tuple((question, frozenset(right)) for question, right, *_ in row["q"]),
            lang=row["lang"],
        )
        for row in rows
    ]


def split(
    rows: Sequence[dict[str, Any]], key: str = "", *, hold: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what is trained on and what is held out; rows with the same `key`, or neighbours, stay together."""
    blocks = [str(row[key]).lower() if key else str(place // BLOCK) for place, row in enumerate(rows)]
    names = sorted(set(blocks))
    random.Random(7).shuffle(names)
    held = set(names[: int(len(names) * HELD)]) if hold else set()
    chosen = list(zip(rows, blocks, strict=True))
    return [row for row, block in chosen if block not in held], [row for row, block in chosen if block in held]
