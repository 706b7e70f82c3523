"""The built-in classifier: what a sentence is, how two memories relate, whether a memory answers a question.

It shares the encoder's table of words and is trained on the labelled data in `classifier/data`.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.adapters.embedders.local import FOLDER, session_of
from holdfast.model.errors import EmbedderError
from holdfast.model.ports import CLASSES, Task

if TYPE_CHECKING:
    from holdfast.adapters.embedders.wordpiece import Tokenizer

NAME = "holdfast-classifier-2"  # changes with the weights: what was judged by another is judged again
LONGEST: Mapping[Task, tuple[int, int]] = {  # word pieces of the two texts
    "user": (80, 64),
    "agent": (90, 64),
    "pair": (80, 80),
    "answers": (64, 150),
}
# What scores are divided by, so that probabilities are right as often as they say: printed by `classifier.train --held`.
TEMPERATURES: Mapping[Task, float] = {"user": 1.4, "agent": 1.25, "pair": 1.6, "answers": 1.7}
NUMBERS = {task: number for number, task in enumerate(CLASSES)}


class LocalClassifier:
    """Loads at the first use; one thread, so that an agent's own work keeps its cores."""

    name = NAME

    def chances(self, task: Task, first: str, second: str = "") -> Mapping[str, float]:
        """Return the probability of each class of a task."""
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only where something is judged

        tokenizer, session = self._loaded
        pieces = [tokenizer.encode(text)[1:-1] for text in (first, second) if text]
        parts = [[*tokens[:most], tokenizer.last] for tokens, most in zip(pieces, LONGEST[task], strict=False)]
        given = {
            "task": [[NUMBERS[task]]],
            "input_ids": [[token for part in parts for token in part]],
            "segments": [[0, *(number for number, part in enumerate(parts) for _ in part)]],
        }
        inputs = {name: np.array(values, dtype=np.int64) for name, values in given.items()}
        scores = session.run([task], inputs)[0][0].astype(float) / TEMPERATURES[task]
        if len(scores) == 1:
            return {CLASSES[task][0]: float(1 / (1 + np.exp(-scores[0])))}
        shares = np.exp(scores - scores.max())
        return dict(zip(CLASSES[task], (shares / shares.sum()).tolist(), strict=True))

    @cached_property
    def _loaded(self) -> "tuple[Tokenizer, Any]":
        from holdfast.adapters.embedders.wordpiece import Tokenizer  # noqa: PLC0415  only where something is judged

        try:
            longest = 2 + max(max(lengths) for lengths in LONGEST.values())
            return Tokenizer(FOLDER / "vocab.txt", longest), session_of("classifier.onnx")
        except Exception as problem:  # the libraries raise bare Exceptions
            hint = "Reinstall Holdfast. Until then only explicit markers are kept, and memories are not compared."
            raise EmbedderError(f"The built-in classifier cannot be loaded ({problem}).", hint=hint) from problem
