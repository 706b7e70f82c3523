"""The network in PyTorch: the encoder's six layers, a vector for each task and segment, and a linear head for each task."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from classifier.graph import HEADS, HIDDEN, LAYERS, Arrays
from classifier.labels import TASKS


class Layer(nn.Module):
    """One layer of a transformer, as BERT has it."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.attended = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.inner, self.outer = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)
        self.attended_norm, self.outer_norm = nn.LayerNorm(HIDDEN, eps=1e-12), nn.LayerNorm(HIDDEN, eps=1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden: Tensor, mask: Tensor, there: Tensor) -> Tensor:
        """Return the vectors of the tokens that are there after this layer; only attention looks at padded rows."""
        parts = _padded(self.attention(hidden), mask, there).unflatten(2, (3, HEADS, HIDDEN // HEADS))
        seen = F.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), attn_mask=mask[:, None, None, :])
        seen = self.attended(seen.transpose(1, 2).reshape(-1, HIDDEN)[there])
        hidden = self.attended_norm(hidden + self.drop(seen))
        return self.outer_norm(hidden + self.drop(self.outer(F.gelu(self.inner(hidden)))))


def _padded(vectors: Tensor, mask: Tensor, there: Tensor) -> Tensor:
    """Return the vectors of the tokens that are there as rows of equal length, zero elsewhere."""
    rows = vectors.new_zeros(mask.numel(), vectors.shape[-1]).index_copy(0, there, vectors)
    return rows.view(*mask.shape, -1)


class Network(nn.Module):
    """Reads `[task] A [SEP] B [SEP]`; the word table is the encoder's and stays as it is."""

    def __init__(self, encoder: Arrays) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(encoder["words"]), freeze=True)
        self.tasks = nn.Parameter(torch.from_numpy(encoder["words"][[101] * len(TASKS)]).clone())
        self.segment_vectors = nn.Parameter(0.01 * torch.randn(2, HIDDEN))
        self.places = nn.Parameter(torch.from_numpy(encoder["places"]).clone())
        self.words_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.ModuleDict({task: nn.Linear(2 * HIDDEN, len(labels)) for task, labels in TASKS.items()})
        self.drop = nn.Dropout(0.1)
        self.guess = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.GELU(), nn.LayerNorm(HIDDEN))  # only while it learns
        state = self.state_dict()
        for name, values in encoder.items():
            if name not in ("words", "places"):
                key = f"layers.{name}" if name[0].isdigit() else name
                tensor = torch.from_numpy(values)
                state[key].copy_(tensor.T if tensor.ndim == 2 else tensor)

    def forward(self, task: str, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the scores of a task's classes for a padded batch; the first column of `ids` is ignored."""
        return self.scored(task, self.read(task, ids, segments, mask), mask)

    def read(self, task: str, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the vectors of all tokens, zero where there are none."""
        number = list(TASKS).index(task)
        words = self.words(ids)
        words = torch.cat([self.tasks[number].expand(len(ids), 1, -1), words[:, 1:]], dim=1)
        words = words + self.places[: ids.shape[1]] + self.segment_vectors[segments]
        there = mask.flatten().nonzero()[:, 0]
        hidden = self.words_norm(words.flatten(0, 1)[there])
        for layer in self.layers:
            hidden = layer(hidden, mask, there)
        return _padded(hidden, mask, there)

    def scored(self, task: str, rows: Tensor, mask: Tensor) -> Tensor:
        """Return the scores of a task's classes."""
        both = torch.cat([rows[:, 0], rows.sum(1) / mask.sum(1, keepdim=True)], dim=-1)
        scores: Tensor = self.head[task](self.drop(both).float())
        return scores

    def guessed(self, vectors: Tensor) -> Tensor:
        """Return how well each word piece fits in some places."""
        guess: Tensor = self.guess(vectors)
        return guess @ self.words.weight.to(guess.dtype).T

    def load(self, stored: Arrays) -> None:
        """Take the weights of a classifier that was written by `export`."""
        state = self.state_dict()
        for name in (name for name in state if name != "words.weight" and not name.startswith("guess.")):
            key = name.removeprefix("layers.")
            values = stored[key] * stored.get(f"{key.removesuffix('weight')}scale", np.float32(1))
            is_turned = values.ndim == 2 and (key[0].isdigit() or key.startswith("head."))
            state[name].copy_(torch.from_numpy(values.T if is_turned else values))

    def arrays(self) -> Arrays:
        """Return the trained weights under the names of the ONNX graph."""
        found: Arrays = {}
        for name, tensor in self.state_dict().items():
            values = tensor.detach().cpu().numpy().astype(np.float32)
            if name.startswith("layers."):
                found[name.removeprefix("layers.")] = values.T if values.ndim == 2 else values
            elif name.startswith("head."):
                found[name] = values.T if values.ndim == 2 else values
            elif name != "words.weight" and not name.startswith("guess."):
                found[name] = values
        return found
