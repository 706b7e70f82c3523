"""Train the classifier and write its files.

python -m classifier.train --held            hold out 15 % of the data, print how well it is told, write the temperatures
python -m classifier.train --out FOLDER      train on everything and write classifier.onnx and classifier.bin

`--collected` names the file that `encoder.collect` wrote: with it, the classifier also learns whether code, patches,
reports and turns of conversations answer a question. Half an hour on a GPU, many hours on two CPU cores. The same seed
gives the same model on the same machine.
"""

import copy
import json
import random
import re
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from classifier import examples
from classifier.examples import Example, Group
from classifier.graph import blended, encoder_weights, export, stored_weights
from classifier.labels import KEPT, LONGEST, TASKS
from classifier.network import Network
from holdfast.adapters.embedders.wordpiece import Tokenizer
from holdfast.engine.tokens import query_terms
from holdfast.policy.ranking.diversity import snippet

ENCODER = Path(__file__).parent.parent / "src" / "holdfast" / "adapters" / "embedders" / "holdfast-encoder"
SEPARATOR, PADDING = 102, 0
# Sentences, pairs, among them those that follow from others, that are made up or of cards, and questions in one step.
BATCH, PAIRS, JOINED, MADE, CARDS, GROUPS = 96, 224, 24, 40, 48, 24
# How often pairs of each relation are drawn, for each one there is: what is said again in other words is easily taken
# for a conflict, and there are fewer such pairs.
DRAWN = {"conflict": 1.0, "same": 1.8, "refines": 1.2, "other": 1.0}
COLLECTED = 0.4  # share of the questions that are about code, patches, reports and conversations
NAMES, SIGNED = "Ana Bo Chloe Dmitri Emeka Fatima Greta Hiro Ines Joao Kim Lars Mei Nadia Omar Priya".split(), 0.15
SMOOTHING, AGREEMENT = 0.05, 1.5
# Share of the made up pairs that say the same almost alike, that differ in a number, and that are told as past, as an
# idea, or as what holds now.
ALIKE, NUMBERED, FRAMED = 0.2, 0.3, 0.25
MODELS = 4
TAUGHT = 0.13  # share of the epochs in which the average is taught
Weights = dict[str, Tensor]
NUMBER = re.compile(r"(?<![\w.])(\d{1,5})(?![\w.]*\d)")


class Trainer:
    """The data, the network and a step of each task."""

    def __init__(self, options: Namespace) -> None:
        random.seed(options.seed)
        torch.manual_seed(options.seed)
        self.options, self.device, hold = options, options.device, options.held
        self.tokenizer = Tokenizer(ENCODER / "vocab.txt", 1_000)
        self._ids: dict[str, list[int]] = {}
        self.net = Network(encoder_weights(ENCODER)).to(self.device)
        self.teachers: list[Network] = []
        self.train: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        for task in ("user", "agent"):
            parts = [
                examples.split(examples.rows_of(path.name), hold=hold)
                for path in sorted(examples.DATA.glob(f"{task}-*"))
            ]
            self.train[task] = examples.sentences(task, [row for part, _ in parts for row in part])
            self.held[task] = examples.sentences(task, [row for _, part in parts for row in part])
        shown, held = examples.split(examples.rows_of("pairs-*"), "older", hold=hold)
        self.train["pair"], self.held["pair"] = examples.pairs(shown), examples.pairs(held)
        self.drawn = [*accumulate(DRAWN[TASKS["pair"][each.label]] for each in self.train["pair"])]
        self.joined, self.cards = examples.joined(shown), examples.rows_of("cards-*")
        self.frames = {row["lang"]: row for row in examples.rows_of("frames-*")}
        beside = defaultdict[str, list[str]](list)
        for row in shown:
            beside[row["older"]].append(row["newer"])
        self.beside = [*beside.values()]
        shown, held = examples.split(examples.rows_of("qa-*"), "m", hold=hold)
        self.train["answers"], self.held["answers"] = examples.groups(shown), examples.groups(held)
        self.collected = examples.collected(options.collected) if options.collected else []
        same = [each for each in self.train["pair"] if TASKS["pair"][each.label] in ("same", "refines")]
        once = [Example(first=text, second=text, label=0) for group in self.train["answers"] for text in group.memories]
        self.numbered = [
            [(each, one) for each in some for one in set(NUMBER.findall(each.first)) & set(NUMBER.findall(each.second))]
            for some in (same, once)
        ]

    def scores(self, task: str, texts: Sequence[tuple[str, str]], readings: int = 1) -> Tensor:
        """Return the scores of a batch, read once or several times."""
        first, second = LONGEST[task]
        left = [[PADDING, *self._tokens(one)[:first], SEPARATOR] for one, _ in texts]
        right = [[*self._tokens(other)[:second], SEPARATOR] if other else [] for _, other in texts]
        rows = [one + other for one, other in zip(left, right, strict=True)]
        begins, ends = np.array(list(map(len, left)))[:, None], np.array(list(map(len, rows)))[:, None]
        places = np.arange(ends.max())[None]
        ids, mask = np.zeros((len(rows), places.size), dtype=np.int64), places < ends
        ids[mask] = [token for row in rows for token in row]
        parts = (ids, ((places >= begins) & mask).astype(np.int64), mask)
        inputs = [torch.from_numpy(each).to(self.device).repeat(readings, 1) for each in parts]
        if self.teachers:
            with torch.no_grad():
                said = [teacher(task, *inputs) for teacher in self.teachers]
            chances = [each.sigmoid() if task == "answers" else each.softmax(-1) for each in said]
            self.said = torch.stack(chances).mean(0)
        result: Tensor = self.net(task, *inputs)
        return result

    def sentence_step(self, task: str) -> Tensor:
        """Return the loss of some sentences; the context, case and final stop are sometimes left out."""
        batch = random.sample(self.train[task], BATCH)
        texts = []
        for each in batch:
            text = each.first.lower() if random.random() < 0.15 else each.first
            text = text.rstrip(".!?。！？") or text if random.random() < 0.1 else text
            texts.append((text, "" if random.random() < 0.25 else each.second))
        return self._loss(task, texts, [each.label for each in batch])

    def pair_step(self) -> Tensor:
        """Return the loss of some pairs, a few of which follow from others or are made up."""
        made = (
            [self._unlabelled() for _ in range(2 * MADE)] if self.teachers else [self._made_up() for _ in range(MADE)]
        )
        batch = made + random.sample(self.joined, JOINED)
        batch += [examples.from_card(random.choice(self.cards), random) for _ in range(CARDS)]
        batch += random.choices(self.train["pair"], cum_weights=self.drawn, k=PAIRS - len(batch))
        texts = []
        for each in batch:
            both = (each.first, each.second)
            both = both[::-1] if random.random() < 0.5 else both
            texts.append(tuple(map(str.lower, both)) if random.random() < 0.15 else both)
        return self._loss("pair", texts, [each.label for each in batch])

    def answers_step(self) -> Tensor:
        """Return the loss of some questions: each memory of the team alone, and the right one against the others."""
        texts, right, spans = [], [], []
        for _ in range(GROUPS):
            is_collected = random.random() < COLLECTED * bool(self.collected)
            groups = self.collected if is_collected else self.train["answers"]
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
        scores, wanted = self.scores("answers", texts).squeeze(-1), torch.tensor(right, device=self.device)
        if self.teachers:
            return F.binary_cross_entropy_with_logits(scores, self.said.squeeze(-1))
        loss = F.binary_cross_entropy_with_logits(scores, wanted, pos_weight=torch.tensor(3.0, device=self.device))
        for span in spans:
            if wanted[span].any():
                share = wanted[span] / wanted[span].sum()
                loss = loss - (share * F.log_softmax(scores[span], 0)).sum() / len(spans)
        return loss

    def _loss(self, task: str, texts: Sequence[tuple[str, str]], labels: list[int]) -> Tensor:
        """Return the loss of texts read twice, each time with other parts dropped: both readings should agree."""
        wanted = torch.tensor(labels * 2, device=self.device)
        scores = self.scores(task, texts, 2)
        if self.teachers:
            return F.kl_div(scores.log_softmax(-1), self.said, reduction="batchmean")
        one, other = scores.log_softmax(-1).chunk(2)
        apart = F.kl_div(one, other, log_target=True, reduction="batchmean")
        apart = apart + F.kl_div(other, one, log_target=True, reduction="batchmean")
        return F.cross_entropy(scores, wanted, label_smoothing=SMOOTHING) + AGREEMENT * apart / 2

    def _made_up(self) -> Example:
        """Return two that say the same, alike or but for a number, one that is told as past, or two of a team that share most."""
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
        return self._neighbours(other)

    def _unlabelled(self) -> Example:
        """Return two texts written beside the same older one, or two of a team that share most."""
        some = random.choice(self.beside)
        if len(some) > 1 and random.random() < 0.8:
            first, second = random.sample(some, 2)
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

    def run(self) -> None:
        """Train several models on all tasks, mixed; then their average, taught by what they say together.

        The average is right more often than each of its parts, and depends less on the order of the examples. Being
        taught, it also learns from pairs that nobody labelled.
        """
        train = partial(_model, self.options)
        if self.device == "cuda":  # side by side
            with ProcessPoolExecutor(MODELS, get_context("spawn")) as processes:
                models = list(processes.map(train, range(MODELS)))
        else:
            models = list(map(train, range(MODELS)))
        weights = [{name: torch.from_numpy(values) for name, values in model.items()} for model in models]
        self.taught(weights, self.plan(self.options.epochs * TAUGHT), self.options.rate)

    def model(self, number: int) -> Weights:
        """Return the weights of one model; all begin with the same ones."""
        random.seed(number)
        torch.manual_seed(number)
        return self.trained(self.plan(self.options.epochs), self.options.rate)

    def taught(self, models: Sequence[Weights], plan: Sequence[str], rate: float) -> None:
        """Train the average of some models on what they say together, and go halfway to what that makes of it."""
        for weights in models:
            self.teachers.append(copy.deepcopy(self.net).eval().requires_grad_(requires_grad=False))
            self.teachers[-1].load_state_dict(weights)
        average = {name: torch.stack([each[name].to(self.device) for each in models]).mean(0) for name in models[0]}
        self.net.load_state_dict(average)
        taught = self.trained(plan, rate / 2)
        self.net.load_state_dict({name: (average[name] + taught[name]) / 2 for name in average})
        self.teachers.clear()

    def plan(self, epochs: float) -> list[str]:
        """Return the task of each step."""
        asked = sum(len(group.questions) for group in self.train["answers"])
        counts = {
            "user": epochs * len(self.train["user"]) / BATCH,
            "agent": epochs * len(self.train["agent"]) / BATCH,
            "pair": 2.2 * epochs * len(self.train["pair"]) / PAIRS,
            "answers": self.options.questions * epochs * asked / GROUPS,
        }
        plan = [task for task, count in counts.items() for _ in range(int(count))]
        random.shuffle(plan)
        print({task: len(self.train[task]) for task in counts}, Counter(plan), flush=True)
        return plan

    def trained(
        self,
        plan: Sequence[str],
        rate: float,
        loss_of: Callable[[str], Tensor] | None = None,
        write: Callable[[], None] | None = None,
    ) -> Weights:
        """Return the weights after some steps, while the rate falls to nothing; write them every 500 steps if asked to."""
        heads = [*self.net.head.parameters()]
        vectors = [self.net.tasks, self.net.segment_vectors]
        known = {id(parameter) for parameter in (*heads, *vectors)}
        body = [each for each in self.net.parameters() if each.requires_grad and id(each) not in known]
        rates = (rate, 5e-4, 1e-3) if loss_of is None else (rate, rate, rate)
        optimizer = torch.optim.AdamW(
            [{"params": each, "lr": 0.0} for each in (body, heads, vectors)],
            weight_decay=0.01,
            fused=self.device == "cuda",
        )
        steps = {"pair": self.pair_step, "answers": self.answers_step}
        losses, began = defaultdict[str, list[float]](list), time.time()
        self.net.train()
        for step, task in enumerate(plan):
            share = min(1.0, step / 150) * max(0.03, 1 - step / len(plan))
            for group, each in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = each * share
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                loss = loss_of(task) if loss_of else steps[task]() if task in steps else self.sentence_step(task)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            optimizer.step()
            losses[task].append(loss.item())
            if step % 500 == 499:
                means = {task: round(float(np.mean(each)), 3) for task, each in losses.items()}
                print(f"{time.time() - began:.0f} s {step + 1}", means, flush=True)
                losses.clear()
                if write:
                    write()
        self.net.eval()
        return {name: tensor.detach().clone() for name, tensor in self.net.state_dict().items()}

    @torch.no_grad()
    def predicted(self, task: str, texts: Sequence[tuple[str, str]]) -> Tensor:
        """Return the scores of many texts."""
        parts = [self.scores(task, texts[start : start + 256]).float().cpu() for start in range(0, len(texts), 256)]
        return torch.cat(parts)

    def report(self) -> dict[str, float]:
        """Print how well what was held out is told; return the temperature that makes each task's scores probabilities."""
        temperatures = {}
        for task in ("user", "agent", "pair"):
            held: list[Example] = self.held[task]
            scores = self.predicted(task, [(each.first, each.second) for each in held])
            labels = torch.tensor([each.label for each in held])
            temperatures[task] = temperature(scores, labels)
            chances = (scores / temperatures[task]).softmax(-1)
            right = chances.argmax(-1) == labels
            by = {
                name: f"{int(right[labels == place].sum())}/{int((labels == place).sum())}"
                for place, name in enumerate(TASKS[task])
            }
            print(
                f"{task}: {len(held)} held, right {right.float().mean():.3f}, temperature {temperatures[task]:.2f}",
                by,
                flush=True,
            )
            sure = chances[:, :KEPT].sum(-1) if task == "user" else chances[:, 0]
            wanted = labels < KEPT if task == "user" else labels == 0
            for bar in (0.3, 0.5, 0.7, 0.8):
                if task != "agent":
                    print(
                        f"  from {bar}: precision {wanted[sure > bar].float().mean():.3f} recall {(sure[wanted] > bar).float().mean():.3f}"
                    )
        temperatures["answers"] = self._report_answers()
        return temperatures

    def _report_answers(self) -> float:
        first = asked = 0
        best = {True: list[float](), False: list[float]()}
        every, right = list[Tensor](), list[float]()
        for group in self.held["answers"]:
            for question, places in group.questions:
                scores = self.predicted("answers", [(question, memory) for memory in group.memories]).squeeze(-1)
                best[bool(places)].append(float(scores.max()))
                every.append(scores)
                right += [float(place in places) for place in range(len(scores))]
                if places:
                    asked, first = asked + 1, first + (int(scores.argmax()) in places)
        known, unknown = np.array(best[True]), np.array(best[False])
        auc = float(np.mean([(score > unknown).mean() + 0.5 * (score == unknown).mean() for score in known]))
        lost = {share: float((unknown > np.quantile(known, 1 - share)).mean()) for share in (0.95, 0.9, 0.8)}
        print(
            f"answers: right first {first}/{asked}, answerable or not: AUC {auc:.3f}; unanswerable answered at .95 .9 .8 kept: {lost}",
            flush=True,
        )
        scores, labels = torch.cat(every), torch.tensor(right)
        grid = [0.5 + 0.1 * step for step in range(40)]
        return min(grid, key=lambda each: float(F.binary_cross_entropy_with_logits(scores / each, labels)))


def _model(options: Namespace, number: int) -> dict[str, np.ndarray]:
    """Return the weights of one model, in a process of its own on a GPU."""
    return {name: tensor.cpu().numpy() for name, tensor in Trainer(options).model(number).items()}


def temperature(scores: Tensor, labels: Tensor) -> float:
    """Return the number by which scores are divided so that their probabilities are right as often as they say."""
    return min(
        (0.5 + 0.05 * step for step in range(60)), key=lambda each: float(F.cross_entropy(scores / each, labels))
    )


def main() -> None:
    """Train as the arguments say."""
    parser = ArgumentParser(description="Train the classifier.")
    parser.add_argument("--held", action="store_true", help="hold out 15 % of the data and print how well it is told")
    parser.add_argument("--out", type=Path, help="write the model here")
    parser.add_argument("--epochs", type=float, default=4.5)
    parser.add_argument("--rate", type=float, default=1.6e-4)
    parser.add_argument("--questions", type=float, default=0.75, help="share of the questions in an epoch")
    parser.add_argument(
        "--known", type=float, default=0.3, help="share of each weight that is the classifier's that is there"
    )
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--collected", type=Path, help="what `encoder.collect` wrote")
    options = parser.parse_args()
    trainer = Trainer(options)
    trainer.run()
    if options.held:
        temperatures = trainer.report()
        if options.out:
            (options.out / "temperatures.json").write_text(json.dumps(temperatures))
    elif options.out:
        learned = trainer.net.arrays()
        trainer.net.load(stored_weights(ENCODER, "classifier.onnx"))
        export(blended(learned, trainer.net.arrays(), options.known), ENCODER, options.out)


if __name__ == "__main__":
    main()
