"""Questions to small teams' memories, close ones without an answer among them: what is first, refused, lost, and what labels are worth.

Each file has lines of `{"lang", "m": [memories], "q": [[question, [places of the memories that answer it], language]]}`.
Teams are split in two halves by their name. `fit` fits the weights of `policy.ranking.gate` on the development half.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.abstention import ABOUT_CODE, QUESTIONS, SETS, haystack
from bench.measure import table
from bench.quality import NOT_HEADLINE, Remembering, Text, event_of, load
from holdfast.adapters.embedders.local import LocalClassifier
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.views import records
from holdfast.model.query import Query
from holdfast.policy.ranking.gate import ANSWERED, FEATURES, LEADERS, WEIGHTS, Basis, Weights, features, of_the_best
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import evidence_for, prepare, read_leaders, recall, search_for

DATA = Path(__file__).parent.parent / "classifier" / "held"
TOGETHER = 100  # teams in one store
STRANGERS = 3  # questions of other teams that each team is asked
LABELS = ("strong", "fair", "weak")
FOLDS, RIDGE, STEPS = 5, 1e-4, 3_000
SIZES = (8, 30, 100, 500, 2_500)  # of the stores drawn from labelled sets
STRANGE = 10  # questions of each other set that they are asked
SHARES = {"a team a store": 3.0, "teams in one store": 3.0}  # how much a kind of question counts in the fit; others 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to a project, the memories that answer it, and what kinds of question it is counted among."""

    project: str
    text: str
    right: frozenset[str]
    groups: tuple[str, ...]
    team: str
    exclude: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a question got: the label of the first hit ("" if it was refused), and whether it is right or would be without the gate."""

    asked: Asked
    label: str
    is_right: bool
    could_be: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What speaks for one of the leading candidates of a question, and whether it is right."""

    asked: Asked
    place: int
    features: Weights
    odds: float | None  # by reading
    is_right: bool


def run(files: Sequence[Path], half: str, cache: Path | None) -> None:
    """Print, for a team a store and many teams in one store, what questions with and without an answer get."""
    teams = [team for team in _teams(files) if half in ("all", _half(team["name"]))]
    with _filled(teams, cache) as memory:
        outcomes = [_outcome(memory, asked) for asked in _questions(teams)]
    groups = sorted({group for one in outcomes for group in one.asked.groups})
    rows = [_row(group, [one for one in outcomes if group in one.asked.groups]) for group in groups]
    columns = ("questions", "number", "first", "lost", "unanswerable refused", *(f"{one}: right" for one in LABELS))
    table(f"questions to {len(teams)} teams, half {half}", columns, rows)


def _row(group: str, outcomes: Sequence[Outcome]) -> tuple[Any, ...]:
    answerable = [one for one in outcomes if one.asked.right]
    possible = [one for one in answerable if one.could_be]
    unanswerable = [one for one in outcomes if not one.asked.right]
    labels = [[one.is_right for one in outcomes if one.label == label] for label in LABELS]
    return (
        group,
        len(outcomes),
        _share([one.is_right for one in answerable]),
        _share([not one.label for one in possible]),
        _share([not one.label for one in unanswerable]),
        *(f"{_share(right)} of {len(right)}" for right in labels),
    )


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "–"


def _outcome(memory: Memory, asked: Asked) -> Outcome:
    hits = recall(memory, Query(text=asked.text, project=asked.project, limit=2), surface=False).hits
    all_ = hits or recall(memory, Query(text=asked.text, project=asked.project, limit=2, weak=True), surface=False).hits
    could_be = bool(all_) and all_[0].record.extra["doc"] in asked.right
    return Outcome(
        asked=asked, label=hits[0].confidence if hits else "", is_right=bool(hits) and could_be, could_be=could_be
    )


def fit(files: Sequence[Path], sets: Path | None, cache: Path | None, reader: Path | None) -> None:
    """Fit the weights of the gate on the development half, check them by cross-validation over teams, and print both.

    `reader` is the folder of a classifier that was not trained on these files.
    """
    teams = [team for team in _teams(files) if _half(team["name"]) == "dev"]
    for basis in WEIGHTS if reader else ("hybrid", "words"):
        with _filled(teams, cache) as memory:
            rows = [row for asked in _questions(teams) for row in _rows(memory, asked, basis, reader)]
        for docs, questions in _drawn(sets) if sets else ():
            with _store(cache) as memory:
                _put(memory, docs, "bench")
                catch_up(memory)
                rows += [row for asked in questions for row in _rows(memory, asked, basis, reader)]
        if basis != "read":
            print("whether one of the leading candidates answers:")
            _show_fit(basis, ANSWERED[basis], [replace(row, place=0) for row in rows if row.place < 0])
        _show_fit(basis, WEIGHTS[basis], [row for row in rows if row.place >= 0])


def _rows(memory: Memory, asked: Asked, basis: Basis, reader: Path | None) -> list[Row]:
    memory = replace(memory, classifier=None)
    prepared = prepare(memory, Query(text=asked.text, project=asked.project, words_only=basis == "words"))
    candidates, found = search_for(memory, prepared, None)
    if basis == "read" and reader and candidates:
        read_leaders(memory, prepared, LocalClassifier(reader), candidates, found.idf)
    if basis == "read" and not any(one.odds is not None for one in candidates):
        return []  # too long to be read, or a turn of a conversation
    read = records.by_numbers(memory.store, [one.number for one in candidates])
    docs = {one.number: str(read[one.number].extra["doc"]) for one in candidates}
    others = [one for one in candidates if docs[one.number] != asked.exclude]
    evidence, right = evidence_for(prepared, others, found), [docs[one.number] in asked.right for one in others]
    each, best = features(evidence), list[Row]()
    if others and basis != "read":
        best = [Row(asked=asked, place=-1, features=of_the_best(evidence), odds=None, is_right=any(right[:LEADERS]))]
    return best + [
        Row(
            asked=asked,
            place=place,
            features=each[place],
            odds=others[place].odds,
            is_right=right[place],
        )
        for place in range(min(LEADERS, len(others)))
    ]


def _drawn(sets: Path) -> Iterator[tuple[list[Text], list[Asked]]]:
    """Yield stores drawn from the labelled sets, with their own questions and those of other sets."""
    tasks = {name: load(sets, name)[0] for name in SETS}
    for size, name, turn in product(SIZES, SETS, range(2)):
        chance, task = Random(f"{size} {name} {turn}"), tasks[name]
        own = [query for query in task.queries if query[2].get("category") not in NOT_HEADLINE]
        queries = chance.sample(own, min(QUESTIONS, max(1, size // 3)))
        team = f"{name} {size} {turn}"
        asked = [
            Asked(
                project="bench",
                text=text,
                right=frozenset(task.relevant[id_]),
                groups=(name,),
                team=team,
                exclude=meta.get("exclude", ""),
            )
            for id_, text, meta in queries
        ]
        for other in SETS:
            if other != name:
                group = "other code" if {name, other} <= set(ABOUT_CODE) else "another topic"
                strange = chance.sample(tasks[other].queries, STRANGE)
                asked += [Asked(project="bench", text=query[1], right=frozenset(), groups=(group,), team=team) for query in strange]  # fmt: skip
        yield haystack(task, queries, size, chance), asked


def _show_fit(basis: Basis, known: Weights, rows: Sequence[Row]) -> None:
    places = [place for place, weight in enumerate(known) if weight]  # a feature without weight is not used
    names = [FEATURES[place] for place in places]
    values = np.array([[row.features[place] for place in places] for row in rows])
    right = np.array([float(row.is_right) for row in rows])
    groups = np.array([row.asked.groups[0] for row in rows])
    firsts = np.array([not row.place for row in rows])
    folds = np.array([hashlib.sha256(row.asked.team.encode()).digest()[1] % FOLDS for row in rows])
    counts = {group: int((groups == group).sum()) for group in set(groups)}
    shares = np.array([SHARES.get(group, 1.0) / counts[group] for group in groups])
    shares *= len(rows) / shares.sum()
    odds = np.array([[1.0, 0.0 if row.odds is None else row.odds] for row in rows]) if basis == "read" else None
    predicted = np.zeros(len(rows))
    for fold in range(FOLDS):
        kept, left = folds != fold, folds == fold
        near, read = _fitted(values[kept], None if odds is None else odds[kept], right[kept], shares[kept])
        predicted[left] = _share_of(values[left] @ near) * (1.0 if odds is None else _share_of(odds[left] @ read))
    near, read = _fitted(values, odds, right, shares)
    print(
        f'"{basis}": {json.dumps(dict(zip(names, np.round(near, 2).tolist(), strict=True)))}, READ = {np.round(read, 2)}'
    )
    steps = (0.0, 0.05, 0.1, 0.15, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.01)
    shown = []
    for group in sorted(counts):
        own = (groups == group) & firsts
        parts = [own & (predicted >= low) & (predicted < high) for low, high in pairwise(steps)]
        shown.append((group, *(f"{part.sum()}: {right[part].mean():.2f}" if part.any() else "–" for part in parts)))
    title = f"{basis}: first candidates by predicted chance, and the share that is right (cross-validated)"
    table(title, ("questions", *map(str, steps[:-1])), shown)


def _fitted(values: Any, odds: Any, right: Any, shares: Any) -> tuple[Any, Any]:
    """Return the weights of a logistic regression, or of the product of two, by gradient descent with momentum (Adam)."""
    read = np.zeros((len(values), 0)) if odds is None else odds
    weights, split = np.zeros(values.shape[1] + read.shape[1]), values.shape[1]
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        near = _share_of(values @ weights[:split])
        answers = _share_of(read @ weights[split:]) if read.size else np.ones(len(values))
        chance = np.clip(near * answers, 1e-6, 1 - 1e-6)
        error = shares * (chance - right) / (1 - chance) / len(values)
        slope = np.concatenate([values.T @ (error * (1 - near)), read.T @ (error * (1 - answers))]) + RIDGE * weights
        mean, spread = 0.9 * mean + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        weights -= 0.03 * mean / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
    return weights[:split], weights[split:]


def _share_of(odds: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def _teams(files: Sequence[Path]) -> list[dict[str, Any]]:
    found = []
    for file in files or sorted(DATA.glob("qa-*.jsonl")):
        for place, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            found.append({**json.loads(line), "name": f"{file.stem}-{place}", "file": file.stem})
    return found


def _half(name: str) -> str:
    return "dev" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "test"


def _questions(teams: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Yield each question to its team and to the store of many teams, and to each team some questions of others."""
    chance = Random(5)
    for place, team in enumerate(teams):
        name = team["name"]
        for question, right, language in team["q"]:
            answers = frozenset(f"{name}/{number}" for number in right)
            kind = "English" if language == team["lang"] == "en" else "another language" if language == team["lang"] else "across languages"  # fmt: skip
            for project, store in ((name, "a team a store"), (_shared(place), "teams in one store")):
                groups = (store, f"{store}: {team['file']}", f"{store}: {kind}")
                yield Asked(project=project, text=question, right=answers, groups=groups, team=name)
        others = [other for other in teams if other is not team]
        for other in chance.sample(others, min(len(others), STRANGERS)):
            text = chance.choice(other["q"])[0]
            yield Asked(project=name, text=text, right=frozenset(), groups=("asked of another team",), team=name)


def _shared(place: int) -> str:
    return f"teams from {place // TOGETHER * TOGETHER}"


@contextmanager
def _filled(teams: Sequence[Mapping[str, Any]], cache: Path | None) -> Iterator[Memory]:
    """Open a store with a project for each team, and projects with the memories of many teams."""
    with _store(cache) as memory:
        for place, team in enumerate(teams):
            docs: list[Text] = [(f"{team['name']}/{number}", text, {}) for number, text in enumerate(team["m"])]
            _put(memory, docs, team["name"])
            _put(memory, docs, _shared(place))
        catch_up(memory)
        yield memory


@contextmanager
def _store(cache: Path | None) -> Iterator[Memory]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        flags = {"home": scratch, "project": "bench"}
        with open_memory(load_settings(environment={}, flags=flags)) as memory:
            if memory.embedder is not None and cache is not None:
                memory = replace(memory, embedder=Remembering(memory.embedder, cache))
            yield memory


def _put(memory: Memory, docs: Sequence[Text], project: str) -> None:
    made = [event_of(memory, doc) for doc in docs]
    memory.store.commit([replace(event, data={**event.data, "project": project}) for event in made])
