"""Train the classifier and write its files.

python -m classifier.train --held            hold out 15 % of the data, print how well it is told, write the temperatures
python -m classifier.train --out FOLDER      train on everything and write classifier.onnx and classifier.bin
python -m classifier.train --further --more user-30 pairs-75 … --out FOLDER   teach the classifier that is there new files

`--parallel` names the file that `classifier.parallel` wrote: texts that stand in several languages, which are learned
first, or beside the new files. `--collected` names the file that `encoder.collect` wrote: with it, the classifier also learns whether code, patches,
reports and turns of conversations answer a question. Half an hour on a GPU, many hours on two CPU cores. The same seed
gives the same model on the same machine.
"""

import copy
import json
import random
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from classifier.batches import BATCH, ENCODER, GROUPS, PAIRS, PARALLEL, Batch, Data
from classifier.graph import Arrays, blended, encoder_weights, export, stored_weights
from classifier.labels import KEPT, TASKS
from classifier.network import Network

if TYPE_CHECKING:
    from classifier.examples import Example

SMOOTHING, AGREEMENT = 0.05, 1.5
MODELS = 4
TAUGHT = 0.13  # share of the epochs in which the average is taught
BEGINNING = 2e-4  # rate of the steps on texts in several languages, which come first
FURTHER = {
    "pair": 0.44,
    PARALLEL: 0.2,
    "answers": 0.17,
    "user": 0.13,
    "agent": 0.06,
}  # of the steps, if there are more files
Weights = dict[str, Tensor]


class Trainer:
    """The data, the network and a step of each task."""

    def __init__(self, options: Namespace, begun: Weights | None = None) -> None:
        random.seed(options.seed)
        torch.manual_seed(options.seed)
        self.options, self.device = options, options.device
        self.data = Data(options)
        self.net = Network(encoder_weights(ENCODER))
        if options.further:
            self.net.load(stored_weights(ENCODER, "classifier.onnx"))
        if begun:
            self.net.load_state_dict(begun)
        self.net.to(self.device)
        self.teachers: list[Network] = []

    def loss(self, batch: Batch) -> Tensor:
        """Return the loss of a batch."""
        inputs = [each.to(self.device, non_blocking=True) for each in (batch.ids, batch.segments, batch.mask)]
        wanted = batch.wanted.to(self.device, non_blocking=True)
        if batch.task == PARALLEL:
            return self._loss_of_words(batch, inputs, wanted)
        readings = 1 if batch.task == "answers" else 2  # sentences and pairs are read twice, with other parts dropped
        scores: Tensor = self.net(batch.task, *(each.repeat(readings, 1) for each in inputs))
        if self.teachers:
            with torch.no_grad():
                said = [teacher(batch.task, *inputs) for teacher in self.teachers]
                chances = [each.sigmoid() if batch.task == "answers" else each.softmax(-1) for each in said]
                taught = torch.stack(chances).mean(0).repeat(readings, 1)
            if batch.task == "answers":
                return F.binary_cross_entropy_with_logits(scores, taught)
            return F.kl_div(scores.log_softmax(-1), taught, reduction="batchmean")
        if batch.task == "answers":
            return self._loss_of_answers(batch, scores.squeeze(-1), wanted)
        one, other = scores.log_softmax(-1).chunk(2)
        apart = F.kl_div(one, other, log_target=True, reduction="batchmean")
        apart = apart + F.kl_div(other, one, log_target=True, reduction="batchmean")
        return F.cross_entropy(scores, wanted.repeat(2), label_smoothing=SMOOTHING) + AGREEMENT * apart / 2

    def _loss_of_answers(self, batch: Batch, scores: Tensor, wanted: Tensor) -> Tensor:
        """Return the loss of each memory of a team alone, and of the right one against the others."""
        loss = F.binary_cross_entropy_with_logits(scores, wanted, pos_weight=torch.tensor(3.0, device=self.device))
        for span in batch.spans:
            total = wanted[span].sum()
            share = wanted[span] / total.clamp(min=1)  # nothing, if no memory answers
            loss = loss - (share * F.log_softmax(scores[span], 0)).sum() / len(batch.spans)
        return loss

    def _loss_of_words(self, batch: Batch, inputs: Sequence[Tensor], wanted: Tensor) -> Tensor:
        """Return the loss of the hidden words, and of whether the texts say the same."""
        assert batch.hidden is not None
        rows, mask = self.net.read("pair", *inputs), inputs[2]
        hidden = batch.hidden.to(self.device)
        known, says = hidden >= 0, wanted >= 0
        words = self.net.guessed(rows[known])
        same = self.net.scored("pair", rows, mask)[says]
        return F.cross_entropy(words.float(), hidden[known]) + F.cross_entropy(same, wanted[says])

    def run(self) -> None:
        """Learn languages, train several models on all tasks, mixed; then their average, taught by what they say together.

        The average is right more often than each of its parts, and depends less on the order of the examples. Being
        taught, it also learns from pairs that nobody labelled. With `further`, only go on with the classifier that is there.
        """
        if self.options.further:
            shares = {task: share for task, share in FURTHER.items() if task != PARALLEL or self.data.parallel}
            self.trained(random.choices([*shares], [*shares.values()], k=self.options.steps), self.options.rate)
            return
        file: Path | None = self.options.begun
        if file and file.exists():
            begun: Arrays = dict(np.load(file))
        else:
            if self.data.parallel:
                self.trained([PARALLEL] * self.options.steps, BEGINNING)
            begun = {name: tensor.cpu().numpy() for name, tensor in self.net.state_dict().items()}
            if file:
                np.savez(file, **begun)
        train = partial(_model, self.options, begun)
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
        return self.trained(self.plan(self.options.epochs), self.options.rate, number)

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
        data = self.data.train
        asked = sum(len(group.questions) for group in data["answers"])
        counts = {
            "user": epochs * len(data["user"]) / BATCH,
            "agent": epochs * len(data["agent"]) / BATCH,
            "pair": 2.2 * epochs * len(data["pair"]) / PAIRS,
            "answers": self.options.questions * epochs * asked / GROUPS,
        }
        plan = [task for task, count in counts.items() for _ in range(int(count))]
        random.shuffle(plan)
        print({task: len(data[task]) for task in counts}, Counter(plan), flush=True)
        return plan

    def trained(self, plan: Sequence[str], rate: float, number: int = 0) -> Weights:
        """Return the weights after some steps, while the rate falls to nothing."""
        heads, guess = [*self.net.head.parameters()], [*self.net.guess.parameters()]
        vectors = [self.net.tasks, self.net.segment_vectors]
        known = {id(parameter) for parameter in (*heads, *guess, *vectors)}
        body = [each for each in self.net.parameters() if each.requires_grad and id(each) not in known]
        rates = (rate, rate, rate, 8e-4) if self.options.further else (rate, 5e-4, 1e-3, 8e-4)
        optimizer = torch.optim.AdamW(
            [{"params": each, "lr": 0.0} for each in (body, heads, vectors, guess)],
            weight_decay=0.01,
            fused=self.device == "cuda",
        )
        losses, began = defaultdict[str, list[Tensor]](list), time.time()
        self.net.train()
        batches = self.data.batches(plan, self.options.seed + number, teaching=bool(self.teachers))
        for step, batch in enumerate(batches):
            share = min(1.0, step / 150) * max(0.03, 1 - step / len(plan))
            for group, each in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = each * share
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                loss = self.loss(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            optimizer.step()
            losses[batch.task].append(loss.detach())
            if step % 500 == 499 or step + 1 == len(plan):
                means = {task: round(float(torch.stack(each).mean()), 3) for task, each in losses.items()}
                print(f"model {number}, {time.time() - began:.0f} s {step + 1}", means, flush=True)
                losses.clear()
        self.net.eval()
        return {name: tensor.detach().clone() for name, tensor in self.net.state_dict().items()}

    @torch.no_grad()
    def predicted(self, task: str, texts: Sequence[tuple[str, str]]) -> Tensor:
        """Return the scores of many texts."""
        found = []
        for start in range(0, len(texts), 256):
            batch = self.data.texts(task, texts[start : start + 256])
            inputs = (each.to(self.device) for each in (batch.ids, batch.segments, batch.mask))
            found.append(self.net(task, *inputs).float().cpu())
        return torch.cat(found)

    def report(self) -> dict[str, float]:
        """Print how well what was held out is told; return the temperature that makes each task's scores probabilities."""
        temperatures = {}
        for task in ("user", "agent", "pair"):
            held: list[Example] = self.data.held[task]
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
        for group in self.data.held["answers"]:
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


def _model(options: Namespace, begun: Mapping[str, np.ndarray], number: int) -> Arrays:
    """Return the weights of one model, in a process of its own on a GPU."""
    trainer = Trainer(options, {name: torch.from_numpy(values) for name, values in begun.items()})
    return {name: tensor.cpu().numpy() for name, tensor in trainer.model(number).items()}


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
    parser.add_argument("--parallel", type=Path, help="what `classifier.parallel` wrote: texts to begin with")
    parser.add_argument("--begun", type=Path, help="weights after these texts: read from here, or written")
    parser.add_argument("--steps", type=int, default=4_000, help="on texts in several languages, or of `--further`")
    parser.add_argument("--further", action="store_true", help="begin with the classifier that is there")
    parser.add_argument("--more", nargs="*", default=[], help="files of data that two thirds of each step are of")
    parser.add_argument("--workers", type=int, default=3, help="processes that make the batches of a model")
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
