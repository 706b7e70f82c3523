"""Make batches of examples, in processes of their own beside the one that trains."""

import gzip
import random
import re
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from classifier import examples
from classifier.examples import Example, Group
from classifier.labels import LONGEST, TASKS
from holdfast.adapters.embedders.wordpiece import Tokenizer
from holdfast.engine.tokens import query_terms
from holdfast.policy.ranking.diversity import snippet

ENCODER = Path(__file__).parent.parent / "src" / "holdfast" / "adapters" / "embedders" / "holdfast-encoder"
PARALLEL = "parallel"  # the task of what stands in several languages
SEPARATOR, PADDING, HIDDEN_WORD = 102, 0, 103
# Sentences, pairs, among them those that follow from others, that are made up or of cards, and questions in one step;
# pairs of texts in two languages.
BATCH, PAIRS, JOINED, MADE, CARDS, GROUPS, TRANSLATED = 96, 224, 24, 40, 48, 24, 192
# How often pairs of each relation are drawn, for each one there is: what is said again in other words is easily taken
# for a conflict, and there are fewer such pairs. Pairs in two languages are drawn more often.
DRAWN = {"conflict": 1.0, "same": 1.8, "refines": 1.2, "other": 1.0}
ABROAD, ACROSS = 1.5, 2.5  # how often pairs are drawn that are not English, and that are in two languages
MORE = 0.5  # share of the pairs and sentences of a step that are of the files named by `--more`
COLLECTED = 0.4  # share of the questions that are about code, patches, reports and conversations
NAMES, SIGNED = "Ana Bo Chloe Dmitri Emeka Fatima Greta Hiro Ines Joao Kim Lars Mei Nadia Omar Priya".split(), 0.15
# Share of the made up pairs that say the same almost alike, that differ in a number, that are told as past, as an idea, or
# as what holds now, and that are of two teams.
ALIKE, NUMBERED, FRAMED, STRANGE = 0.2, 0.25, 0.25, 0.12
NUMBER = re.compile(r"(?<![\w.])(\d{1,5})(?![\w.]*\d)")
# Of the texts in several languages: share that is a translation, else of a neighbour; of what both are the project's own
# texts; of words that are hidden; and by how many lines a neighbour is away.
TRANSLATES, OWN, HIDDEN, NEAR = 0.6, 0.25, 0.2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Texts as numbers of word pieces, and what is wanted: classes, answers by question, or the hidden words."""

    task: str
    ids: torch.Tensor
    segments: torch.Tensor
    mask: torch.Tensor
    wanted: torch.Tensor
    spans: tuple[slice, ...] = ()
    hidden: torch.Tensor | None = None  # the word pieces that are hidden, -1 elsewhere


class Data(IterableDataset[Batch]):
    """The labelled data, and a batch of each task of a plan."""

    def __init__(self, options: Namespace) -> None:
        self.options, hold = options, options.held
        self.tokenizer = Tokenizer(ENCODER / "vocab.txt.gz", 1_000)
        self.words = len(gzip.decompress((ENCODER / "vocab.txt.gz").read_bytes()).split(b"\n"))
        self.plan: Sequence[str] = ()
        self.seed = 0
        self.teaching = False  # pairs that nobody labelled are made too
        self._ids: dict[str, list[int]] = {}
        self.train: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        self.more: dict[str, list[Example]] = {}
        for task in ("user", "agent"):
            parts = [
                examples.split(examples.rows_of(path.name), hold=hold)
                for path in sorted(examples.DATA.glob(f"{task}-*"))
            ]
            self.train[task] = examples.sentences(task, [row for part, _ in parts for row in part])
            self.held[task] = examples.sentences(task, [row for _, part in parts for row in part])
        shown, held = examples.split(examples.rows_of("pairs-*"), "older", hold=hold)
        self.train["pair"], self.held["pair"] = examples.pairs(shown), examples.pairs(held)
        foreign = [ACROSS if row["la"] != row["lb"] else ABROAD if row["la"] != "en" else 1.0 for row in shown]
        self.drawn = [*accumulate(share * DRAWN[row["rel"]] for row, share in zip(shown, foreign, strict=True))]
        for task in ("user", "agent", "pair"):
            named = [row for name in options.more if name.startswith(task) for row in examples.rows_of(f"{name}.jsonl")]
            self.more[task] = examples.pairs(named) if task == "pair" else examples.sentences(task, named)  # type: ignore[arg-type]
        self.joined, self.cards = examples.joined(shown), examples.rows_of("cards-*")
        self.frames = {row["lang"]: row for row in examples.rows_of("frames-*")}
        beside = defaultdict[str, list[str]](list)
        for row in shown:
            beside[row["older"]].append(row["newer"])
        self.beside = [[older, *newer] for older, newer in beside.items()]
        shown, held = examples.split(examples.rows_of("qa-*"), "m", hold=hold)
        self.train["answers"], self.held["answers"] = examples.groups(shown), examples.groups(held)
        self.collected = examples.collected(options.collected) if options.collected else []
        self.parallel = examples.parallel(options.parallel) if options.parallel else []
        same = [each for each in self.train["pair"] if TASKS["pair"][each.label] in ("same", "refines")]
        once = [Example(first=text, second=text, label=0) for group in self.train["answers"] for text in group.memories]
        self.numbered = [
            [(each, one) for each in some for one in set(NUMBER.findall(each.first)) & set(NUMBER.findall(each.second))]
            for some in (same, once)
        ]

    def batches(self, plan: Sequence[str], seed: int, *, teaching: bool = False) -> Iterator[Batch]:
        """Yield a batch for each task of a plan, made by as many processes as the options say."""
        self.plan, self.seed, self.teaching = plan, seed, teaching
        workers = self.options.workers
        yield from DataLoader(self, None, num_workers=workers, multiprocessing_context="fork" if workers else None)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of this process: with n of them, every n-th."""
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        random.seed(f"{self.seed} {first}")
        made = {"pair": self._pairs, "answers": self._answers, PARALLEL: self._parallel}
        for task in self.plan[first::step]:
            yield made[task]() if task in made else self._sentences(task)

    def texts(self, task: str, texts: Sequence[tuple[str, str]], wanted: Sequence[float] = (), **more: Any) -> Batch:
        """Return a batch of texts, or of two texts each."""
        first, second = LONGEST["pair" if task == PARALLEL else task]
        left = [[PADDING, *self._tokens(one)[:first], SEPARATOR] for one, _ in texts]
        right = [[*self._tokens(other)[:second], SEPARATOR] if other else [] for _, other in texts]
        rows = [one + other for one, other in zip(left, right, strict=True)]
        begins, ends = np.array(list(map(len, left)))[:, None], np.array(list(map(len, rows)))[:, None]
        places = np.arange(ends.max())[None]
        ids, mask = np.zeros((len(rows), places.size), dtype=np.int64), places < ends
        ids[mask] = [token for row in rows for token in row]
        segments = ((places >= begins) & mask).astype(np.int64)
        return Batch(
            task=task,
            ids=torch.from_numpy(ids),
            segments=torch.from_numpy(segments),
            mask=torch.from_numpy(mask),
            wanted=torch.tensor(wanted),
            **more,
        )

    def _sentences(self, task: str) -> Batch:
        """Return some sentences; the context, case and final stop are sometimes left out."""
        batch, texts = self._mixed(task, random.sample(self.train[task], BATCH)), []
        for each in batch:
            text = each.first.lower() if random.random() < 0.15 else each.first
            text = text.rstrip(".!?。！？") or text if random.random() < 0.1 else text
            texts.append((text, "" if random.random() < 0.25 else each.second))
        return self.texts(task, texts, [each.label for each in batch])

    def _pairs(self) -> Batch:
        """Return some pairs, a few of which follow from others or are made up."""
        made = (
            [self._unlabelled() for _ in range(2 * MADE)] if self.teaching else [self._made_up() for _ in range(MADE)]
        )
        batch = made + random.sample(self.joined, JOINED)
        batch += [examples.from_card(random.choice(self.cards), random) for _ in range(CARDS)]
        batch += self._mixed("pair", random.choices(self.train["pair"], cum_weights=self.drawn, k=PAIRS - len(batch)))
        texts = []
        for each in batch:
            both = (each.first, each.second)
            both = both[::-1] if random.random() < 0.5 else both
            texts.append(tuple(map(str.lower, both)) if random.random() < 0.15 else both)
        return self.texts("pair", texts, [each.label for each in batch])

    def _mixed(self, task: str, batch: list[Example]) -> list[Example]:
        """Return a batch of which a share is drawn from the files that are to be learned now."""
        if not self.more[task]:
            return batch
        drawn = random.choices(self.more[task], k=int(MORE * len(batch)))
        return batch[len(drawn) :] + drawn

    def _answers(self) -> Batch:
        """Return some questions, each with all memories of the team and two of another one."""
        texts, right, spans = list[tuple[str, str]](), list[float](), list[slice]()
        for _ in range(GROUPS):
            is_collected = random.random() < COLLECTED * bool(self.collected)
            groups: list[Group] = self.collected if is_collected else self.train["answers"]
            group = random.choice(groups)
            question, places = random.choice(group.questions)
            start, words = len(texts), dict.fromkeys(query_terms(question), 1.0) if is_collected else {}
            question = question.lower().rstrip("?？") if random.random() < 0.15 else question
            others = random.sample(random.choice(groups).memories, 2)
            who = f"{random.choice(NAMES)}: " if not is_collected and random.random() < SIGNED else ""
            memories = (*group.memories, *others)
            texts += [(question, snippet(memory, words) if words else f"{who}{memory}") for memory in memories]
            right += [float(place in places) for place in range(len(group.memories) + len(others))]
            spans.append(slice(start, len(texts)))
        return self.texts("answers", texts, right, spans=tuple(spans))

    def _parallel(self) -> Batch:
        """Return texts with what they are in another language, or a neighbour of that, and some words of both hidden."""
        same, other = (TASKS["pair"].index(name) for name in ("same", "other"))
        texts, labels = list[tuple[str, str]](), list[int]()
        for _ in range(TRANSLATED):
            if random.random() < OWN:
                some = random.choice(self.beside)
                texts.append((some[0], random.choice(some[1:])))
                labels.append(-1)
                continue
            place = random.randrange(len(self.parallel))
            is_same = random.random() < TRANSLATES
            away = 0 if is_same else random.choice([step for step in range(-NEAR, NEAR + 1) if step])
            here, there = self.parallel[place], self.parallel[(place + away) % len(self.parallel)]
            one = "en" if random.random() < 0.5 else random.choice([*here])
            left = [lang for lang in there if lang != one] or [*there]
            both = (here[one], there[random.choice(left)])
            texts.append(both[::-1] if random.random() < 0.5 else both)
            labels.append(same if is_same else other)
        batch = self.texts(PARALLEL, texts, labels)
        chosen = (torch.rand(batch.ids.shape) < HIDDEN) & batch.mask & (batch.ids != SEPARATOR)
        chosen[:, 0] = False
        hidden, ways = batch.ids.masked_fill(~chosen, -1), torch.rand(batch.ids.shape)
        ids = batch.ids.masked_fill(chosen & (ways < 0.8), HIDDEN_WORD)
        others = torch.randint_like(ids, self.words)
        return replace(batch, ids=torch.where(chosen & (ways > 0.9), others, ids), hidden=hidden)

    def _made_up(self) -> Example:
        """Return two that say the same, alike or but for a number, one that is told as past, two of two teams, or of one that share most."""
        conflict, same, other = (TASKS["pair"].index(name) for name in ("conflict", "same", "other"))
        if (drawn := random.random()) > 1 - FRAMED:
            return examples.framed(random.choices(self.train["pair"], cum_weights=self.drawn)[0], self.frames, random)
        if drawn < ALIKE:
            text = random.choice(self.train["pair"]).first
            return Example(first=text, second=examples.said_again(text, random), label=same)
        if drawn < ALIKE + NUMBERED:
            each, number = random.choice(random.choice(self.numbered))
            changed = str(max(1, int(number) + random.choice([-3, -2, -1, 1, 2, 5, 10, int(number)])))
            if changed not in (number, *NUMBER.findall(each.second)):
                second = re.sub(rf"(?<![\w.]){number}(?![\w.]*\d)", changed, each.second)
                return Example(first=each.first, second=second, label=conflict)
        if drawn < ALIKE + NUMBERED + STRANGE:
            first, second = (random.choice(random.choice(self.train["answers"]).memories)[:240] for _ in range(2))
            return Example(first=first, second=second, label=other)
        return self._neighbours(other)

    def _unlabelled(self) -> Example:
        """Return two texts written beside the same older one, or two of a team that share most."""
        some = random.choice(self.beside)
        if len(some) > 2 and random.random() < 0.8:
            first, second = random.sample(some[1:], 2)
            return Example(first=first, second=second, label=0)
        return self._neighbours(0)

    def _neighbours(self, label: int) -> Example:
        group: Group = random.choice(self.train["answers"])
        first, *others = random.sample(group.memories, min(6, len(group.memories)))
        own = set(self._tokens(first))
        second = max(others, key=lambda text: len(own & set(self._tokens(text))))
        return Example(first=first[:240], second=second[:240], label=label)

    def _tokens(self, text: str) -> list[int]:
        if text not in self._ids:
            self._ids[text] = self.tokenizer.encode(text)[1:-1]
        return self._ids[text]
