"""Teach the classifier that is there what new files of labelled data say, where there is no GPU to train it from the start.

python -m classifier.further user-17 agent-7 pairs-37 … --out FOLDER

Each step has new examples and half as many known ones, and of each weight only a share of its change is kept, so that
what it knows stays. The first two layers stay as they are. About two hours on one core; the model is written every 500
steps. A name may be given several times: its examples are drawn more often.
"""

import random
from argparse import ArgumentParser, Namespace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from classifier import examples, train
from classifier.graph import blended, export, stored_weights
from classifier.labels import TASKS
from classifier.train import DRAWN, ENCODER, SMOOTHING, Trainer

if TYPE_CHECKING:
    from classifier.examples import Example

NEW, KNOWN = {"user": 24, "agent": 24, "pair": 36}, 0.5  # new examples in a step, and known ones for each
SHARES = {"pair": 0.52, "answers": 0.26, "user": 0.12, "agent": 0.1}  # of the steps
FROZEN, GROUPS = 2, 4  # layers that stay, and questions in a step


class Further:
    """The classifier as it becomes, and the examples that are new to it."""

    def __init__(self, options: Namespace) -> None:
        train.GROUPS = GROUPS
        self.trainer = trainer = Trainer(options)
        trainer.net.load(stored_weights(ENCODER, "classifier.onnx"))
        frozen = (layer.parameters() for layer in trainer.net.layers[:FROZEN])
        for parameter in (trainer.net.places, *trainer.net.words_norm.parameters(), *chain.from_iterable(frozen)):
            parameter.requires_grad_(requires_grad=False)
        self.new: dict[str, list[Example]] = {}
        for task in NEW:
            rows = [row for name in options.names if name.startswith(task) for row in examples.rows_of(f"{name}.jsonl")]
            self.new[task] = examples.pairs(rows) if task == "pair" else examples.sentences(task, rows)  # type: ignore[arg-type]

    def loss(self, task: str) -> Tensor:
        """Return the loss of new examples and of some known ones."""
        if task == "answers":
            return self.trainer.answers_step()
        known, count = self.trainer.train[task], int(KNOWN * NEW[task])
        if task == "pair":
            weights = [DRAWN[TASKS["pair"][each.label]] for each in self.new[task]]
            batch = random.choices(self.new[task], weights, k=NEW[task])
            batch += random.choices(known, cum_weights=self.trainer.drawn, k=count) + random.sample(
                self.trainer.joined, count // 3
            )
        else:
            batch = random.sample(self.new[task], NEW[task]) + random.sample(known, count)
        texts = [(each.first, each.second) for each in batch]
        if task == "pair":
            texts = [both[::-1] if random.random() < 0.5 else both for both in texts]
        elif task == "user":
            texts = [(first, "" if random.random() < 0.2 else second) for first, second in texts]
        scores = self.trainer.scores(task, texts)
        return F.cross_entropy(scores, torch.tensor([each.label for each in batch]), label_smoothing=SMOOTHING)


def main() -> None:
    """Train as the arguments say."""
    parser = ArgumentParser(description="Train the classifier further.")
    parser.add_argument("names", nargs="+", help="files of classifier/data, without .jsonl")
    parser.add_argument("--out", type=Path, required=True, help="write the model here")
    parser.add_argument("--steps", type=int, default=1_400)
    parser.add_argument("--rate", type=float, default=9e-5)
    parser.add_argument("--share", type=float, default=0.3, help="of the change of each weight that is kept")
    parser.add_argument("--collected", type=Path, help="what `encoder.collect` wrote")
    options = parser.parse_args()
    further = Further(Namespace(**vars(options), held=False, device="cpu", seed=42))
    plan, trainer = random.choices(list(SHARES), list(SHARES.values()), k=options.steps), further.trainer

    before = trainer.net.arrays()

    def write() -> None:
        export(blended(before, trainer.net.arrays(), options.share), ENCODER, options.out)

    trainer.trained(plan, options.rate, further.loss, write)
    write()


if __name__ == "__main__":
    main()
