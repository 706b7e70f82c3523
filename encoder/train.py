"""Train the encoder's layers further, and write its files.

python -m encoder.train PAIRS --out FOLDER      PAIRS is what `encoder.collect` wrote

Four models are trained, with other weights of the kinds and of what they must keep, and averaged: one set's gain is then
no other's loss. Most batches hold texts that are close to each other, so that what is wrong is hard to tell from what is
right. The word table stays as it is, since the classifier shares it. Five minutes on a GPU, where they are trained side
by side.
"""

import json
import random
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from classifier.graph import HIDDEN, LAYERS, Arrays, encoder_weights, stored_weights
from classifier.network import Layer
from holdfast.adapters.embedders.wordpiece import Tokenizer
from scripts.prepare_encoder import Graph, write

ENCODER = Path(__file__).parent.parent / "src" / "holdfast" / "adapters" / "embedders" / "holdfast-encoder"
TOKEN = 64  # values of a word's vector
STEPS, WARM_UP = 1_400, 60
BATCH, STAGE, FREE = 160, 256, 96  # pairs, texts of conversations or teams, and free texts in a step
QUESTION, TEXT = 72, 160  # word pieces
SHARP_TOKENS, SHARP_WHOLE = 50.0, 20.0  # how much scores are stretched before they are compared
TOGETHER, CLOSE = 5, 10  # texts in a neighbourhood, and nearest ones that it is drawn from
SAME_TEXT = 0.965  # cosine from which on two texts are the same
KINDS = {"functions": 3.0, "docstrings": 1.5, "issues": 2.5, "commits": 2.0, "dialogues": 3.0, "questions": 2.5, "reports": 1.0, "sections": 1.0}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one model is trained."""

    kinds: Mapping[str, float]  # how often each is drawn
    rate: float
    near: float  # share of the batches that are neighbourhoods
    keep: float  # weight of ranking as before
    same: float  # weight of staying as it was on free texts
    whole: float = 0.3  # weight of the vector of a whole text


MODELS = (
    Recipe(kinds=KINDS, rate=5e-5, near=0.7, keep=0.15, same=1.2),
    Recipe(kinds=KINDS | {"dialogues": 4.0, "commits": 3.0}, rate=4e-5, near=0.7, keep=0.25, same=1.5, whole=0.6),
    Recipe(kinds=KINDS | {"reports": 3.0, "issues": 3.5}, rate=5e-5, near=0.4, keep=0.15, same=1.2, whole=0.6),
    Recipe(kinds=KINDS | {"dialogues": 4.0, "functions": 4.5}, rate=6e-5, near=0.8, keep=0.15, same=1.0),
)
Batch = tuple[Tensor, Tensor]  # word pieces, and which of them are there
Pairs = Mapping[str, Sequence[Mapping[str, Any]]]


class Encoder(nn.Module):
    """The encoder in PyTorch, with the weights that the product has."""

    def __init__(self) -> None:
        super().__init__()
        known = encoder_weights(ENCODER)
        stored = stored_weights(ENCODER)
        known |= {"heads.weight": stored["heads.weight"] * stored["heads.scale"], "heads.bias": stored["heads.bias"]}
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(known.pop("words")), freeze=True)
        self.places = nn.Parameter(torch.from_numpy(known.pop("places")).clone())
        self.words_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.heads = nn.Linear(HIDDEN, TOKEN + 1)
        state = self.state_dict()
        for name, values in known.items():
            tensor = torch.from_numpy(np.array(values))
            state[f"layers.{name}" if name[0].isdigit() else name].copy_(tensor.T if tensor.ndim == 2 else tensor)
        for layer in self.layers:
            layer.drop.p = 0.05

    def forward(self, ids: Tensor, there: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the vector of each text, the vectors of its words, and how much each counts in a question."""
        hidden = self.words_norm(self.words(ids) + self.places[: ids.shape[1]])
        for layer in self.layers:
            hidden = layer(hidden, there)
        out, weight = self.heads(hidden).float(), there[..., None].float()
        whole = F.normalize((hidden.float() * weight).sum(1) / weight.sum(1), dim=-1)
        return whole, F.normalize(out[..., :TOKEN], dim=-1), F.softplus(out[..., TOKEN]) * there

    def arrays(self) -> Arrays:
        """Return the trained weights under the names of the graph."""
        found = {
            name.removeprefix("layers."): values.detach().cpu().numpy() for name, values in self.state_dict().items()
        }
        return {
            name: values.T if values.ndim == 2 else values for name, values in found.items() if name != "words.weight"
        }


class Trainer:
    """The data, and a step of training."""

    def __init__(self, pairs: Pairs, device: str, seed: int) -> None:
        random.seed(seed)
        torch.manual_seed(seed)
        self.pairs, self.device = pairs, device
        self.tokenizer = Tokenizer(ENCODER / "vocab.txt.gz", 1_000)
        self.model, self.before = Encoder().to(device), Encoder().to(device).eval().requires_grad_(False)
        self.near = {kind: self._nearest(rows) for kind, rows in pairs.items() if kind in KINDS and "d" in rows[0]}

    def train(self, recipe: Recipe) -> Arrays:
        """Train one model and return its weights."""
        trained = [each for each in self.model.parameters() if each.requires_grad]
        steps = torch.optim.AdamW(trained, lr=recipe.rate, weight_decay=0.01)
        self.model.train()
        for step in range(STEPS):
            for group in steps.param_groups:
                group["lr"] = recipe.rate * min(1, step / WARM_UP) * max(0.02, 1 - step / STEPS)
            kind = random.choices(list(recipe.kinds), list(recipe.kinds.values()))[0]
            with torch.autocast(self.device, torch.bfloat16):
                loss = self._loss(*self._drawn(kind, recipe.near), recipe)
            steps.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(trained, 1.0)
            steps.step()
            if (step + 1) % 100 == 0:
                print(f"{step + 1} {kind} {float(loss.detach()):.2f}", flush=True)
        return self.model.arrays()

    def _drawn(self, kind: str, near: float) -> tuple[list[str], list[str], list[set[int]]]:
        """Draw questions and texts, and which texts answer each question; all other texts are wrong."""
        questions, texts, right = list[str](), list[str](), list[set[int]]()
        if kind in ("dialogues", "questions"):  # whole conversations and teams, so that what is wrong is close
            while len(texts) < STAGE:
                one, begin = random.choice(self.pairs[kind]), len(texts)
                spoken = [text if random.random() < 0.5 else f"{name}: {text}" for name, text in one.get("turns", ())]
                texts += spoken or one["m"]
                for question, places, *_ in random.sample(one["q"], min(len(one["q"]), 12)):
                    if places:
                        questions.append(question)
                        right.append({begin + place for place in places})
            return questions, texts, right
        rows, drawn, is_near = self.pairs[kind], dict[str, Mapping[str, Any]](), random.random() < near
        while len(drawn) < min(BATCH, len(rows) // 2):
            first = random.randrange(len(rows))
            group = random.sample(self.near[kind][first], TOGETHER - 1) if is_near else ()
            drawn |= {rows[place]["d"][0]: rows[place] for place in (first, *group)}
        for one in drawn.values():
            both = random.choice(one["q"]), random.choice(one["d"])
            question, text = both[::-1] if kind == "reports" and random.random() < 0.5 else both
            questions.append(question)
            right.append({len(texts)})
            texts.append(text)
        return questions, texts, right

    @torch.no_grad()
    def _nearest(self, rows: Sequence[Mapping[str, Any]]) -> list[list[int]]:
        """Return for each row those whose texts are closest to its text and to its question, but not the same."""
        parts = [rows[start : start + 256] for start in range(0, len(rows), 256)]
        texts, questions = (
            torch.cat([self.before(*self._batch([row[name][0] for row in part], TEXT))[0] for part in parts])
            for name in ("d", "q")
        )
        found = list[list[int]]()
        for start in range(0, len(rows), 1_024):
            alike = texts[start : start + 1_024] @ texts.T
            asked = (questions[start : start + 1_024] @ texts.T).masked_fill(alike > SAME_TEXT, -1)
            both = (alike.masked_fill(alike > SAME_TEXT, -1), asked)
            found += torch.cat([scores.topk(CLOSE, 1).indices for scores in both], 1).tolist()
        return found

    def _loss(self, questions: list[str], texts: list[str], right: list[set[int]], recipe: Recipe) -> Tensor:
        asked, given = self._batch(questions, QUESTION), self._batch(texts, TEXT)
        free = self._batch(random.sample(self.pairs["texts"], FREE), QUESTION)
        whole, tokens = _scores(self.model(*asked), self.model(*given), given[1])
        with torch.no_grad():
            whole_before, tokens_before = _scores(self.before(*asked), self.before(*given), given[1])
            known = self.before(*free)
        made = self.model(*free)
        there = free[1].float()
        moved = (1 - (made[1] * known[1]).sum(-1)) + 0.2 * (made[2] - known[2]).abs()
        same = (1 - (made[0] * known[0]).sum(-1)).mean() + (moved * there).sum() / there.sum()
        kept = _apart(whole, whole_before) + _apart(tokens, tokens_before)
        return _missed(tokens, right) + recipe.whole * _missed(whole, right) + recipe.keep * kept + recipe.same * same

    def _batch(self, texts: Sequence[str], longest: int) -> Batch:
        rows = [self.tokenizer.encode(text) for text in texts]
        rows = [row if len(row) <= longest else [*row[: longest - 1], self.tokenizer.last] for row in rows]
        ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
        return ids.to(self.device), (ids != 0).to(self.device)


def _scores(asked: tuple[Tensor, ...], given: tuple[Tensor, ...], there: Tensor) -> tuple[Tensor, Tensor]:
    """Return how well each question fits each text: as wholes, and word by word."""
    close = torch.einsum("qid,njd->qnij", asked[1], given[1]).masked_fill(~there[None, :, None, :], -1).amax(-1)
    words = torch.einsum("qni,qi->qn", close.float(), asked[2]) / asked[2].sum(-1, keepdim=True)
    return SHARP_WHOLE * (asked[0] @ given[0].T).float(), SHARP_TOKENS * words


def _missed(scores: Tensor, right: Sequence[set[int]]) -> Tensor:
    """Return how far right texts are from the first place, each on its own against all wrong ones."""
    is_right = torch.zeros_like(scores, dtype=torch.bool)
    for row, places in enumerate(right):
        is_right[row, list(places)] = True
    wrong = scores.masked_fill(is_right, -1e4).logsumexp(1, keepdim=True)
    return ((torch.logaddexp(scores, wrong) - scores) * is_right).sum(1).div(is_right.sum(1)).mean()


def _apart(scores: Tensor, before: Tensor) -> Tensor:
    return F.kl_div(F.log_softmax(scores, 1), F.softmax(before, 1), reduction="batchmean")


def export(weights: Arrays, into: Path) -> None:
    """Write the encoder's files: its matrices in int8 by column, the word table as it is."""
    stored = stored_weights(ENCODER)
    for name in ("first", "rows", "head_sizes"):  # the graph adds them
        stored.pop(name, None)
    for name, values in weights.items():
        scale = f"{name.removesuffix('weight')}scale"
        stored[name] = values.astype(np.float32)
        if scale in stored:
            stored[scale] = (np.abs(values).max(axis=0) / np.float32(127)).astype(np.float32)
            stored[name] = np.rint(values / stored[scale]).astype(np.int8)
    into.mkdir(parents=True, exist_ok=True)
    write(Graph(stored), into)


def trained(pairs: Path) -> Iterable[Arrays]:
    """Return the weights of the models; a GPU trains them side by side."""
    train = partial(_trained, pairs)
    if torch.cuda.is_available():
        with ProcessPoolExecutor(len(MODELS), get_context("spawn")) as processes:
            return list(processes.map(train, range(len(MODELS))))
    return map(train, range(len(MODELS)))


def _trained(pairs: Path, number: int) -> Arrays:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Trainer(json.loads(pairs.read_text(encoding="utf-8")), device, number).train(MODELS[number])


def main() -> None:
    """Train the models and write their average."""
    parser = ArgumentParser(description="Train the encoder further.")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    made = list(trained(options.pairs))
    export({name: np.mean([one[name] for one in made], axis=0) for name in made[0]}, options.out)


if __name__ == "__main__":
    main()
