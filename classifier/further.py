"""Teach the classifier that is there what new files of labelled data say, where there is no GPU to train it from the start.

python -m classifier.further user-15 pairs-33 pairs-34 --out FOLDER

Half of each step are new examples with their labels, the other half known ones, on which it is kept to what it said
before; so is how memories answer questions. About an hour on a CPU.
"""

import copy
import random
from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from classifier import examples
from classifier.examples import Example
from classifier.graph import export, stored_weights
from classifier.train import ENCODER, SMOOTHING, Trainer

NEW, OLD = 24, 16  # examples in a step
GROUPS = 3  # teams whose questions are asked in a step
ELSE = 0.15  # share of the steps for sentences of agents, and as many for questions


class Further:
    """The classifier as it was and as it becomes."""

    def __init__(self, trainer: Trainer, names: list[str]) -> None:
        self.trainer = trainer
        trainer.net.load(stored_weights(ENCODER, "classifier.onnx"))
        self.before = copy.deepcopy(trainer.net).eval().requires_grad_(requires_grad=False)
        self.new: dict[str, list[Example]] = {"user": [], "agent": [], "pair": []}
        for name in names:
            rows = examples.rows_of(f"{name}.jsonl")
            if name.startswith("pairs"):
                self.new["pair"] += examples.pairs(rows)
            else:
                task = "user" if name.startswith("user") else "agent"
                self.new[task] += examples.sentences(task, rows)  # type: ignore[arg-type]

    def plan(self, epochs: float) -> list[str]:
        """Return the task of each step."""
        plan = [task for task, some in self.new.items() for _ in range(int(epochs * len(some) / NEW))]
        plan += ["agent", "answers"] * int(ELSE * len(plan))
        random.shuffle(plan)
        return plan

    def loss(self, task: str) -> Tensor:
        """Return the loss of new examples and of what should stay as it was."""
        if task == "answers":
            groups = random.choices(self.trainer.train["answers"], k=GROUPS)
            old = [
                (question, memory)
                for group in groups
                for question, _ in random.sample(group.questions, 1)
                for memory in group.memories
            ]
            new = list[Example]()
        else:
            new = random.sample(self.new[task], min(NEW, len(self.new[task])))
            old = [(each.first, each.second) for each in random.sample(self.trainer.train[task], OLD)]
        texts = [(each.first, "" if task == "user" and random.random() < 0.15 else each.second) for each in new]
        scores = self.trainer.scores(task, [*texts, *old])
        with torch.no_grad():
            net, self.trainer.net = self.trainer.net, self.before
            said = self.trainer.scores(task, old)
            self.trainer.net = net
        if task == "answers":
            return F.binary_cross_entropy_with_logits(scores, said.sigmoid())
        kept = F.kl_div(scores[len(texts) :].log_softmax(-1), said.softmax(-1), reduction="batchmean")
        labels = torch.tensor([each.label for each in new], dtype=torch.long)
        return kept + (F.cross_entropy(scores[: len(texts)], labels, label_smoothing=SMOOTHING) if new else 0)


def main() -> None:
    """Train as the arguments say."""
    parser = ArgumentParser(description="Train the classifier further.")
    parser.add_argument("names", nargs="+", help="files of classifier/data, without .jsonl")
    parser.add_argument("--out", type=Path, required=True, help="write the model here")
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--rate", type=float, default=4e-5)
    options = parser.parse_args()
    trainer = Trainer(Namespace(held=False, device="cpu", seed=42, collected=None))
    further = Further(trainer, options.names)
    trainer.trained(further.plan(options.epochs), options.rate, further.loss)
    export(trainer.net.arrays(), ENCODER, options.out)


if __name__ == "__main__":
    main()
