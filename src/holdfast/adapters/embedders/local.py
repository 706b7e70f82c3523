"""The built-in models, small transformers in int8 ONNX that need no network: the encoder, and the classifier.

The classifier shares the encoder's table of words and is trained on the labelled data in `classifier/data`.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import EmbedderError
from holdfast.model.ports import CLASSES, Encoded, Task, Vectors

if TYPE_CHECKING:
    from holdfast.adapters.embedders.wordpiece import Tokenizer

MODEL = "holdfast-encoder"
FOLDER = Path(__file__).parent / MODEL
LONGEST = 256  # tokens; passages are cut shorter than this
LONGEST_JUDGED: Mapping[Task, tuple[int, int]] = {  # word pieces of the two texts
    "user": (80, 64),
    "agent": (90, 64),
    "pair": (80, 80),
    "answers": (64, 100),
}
# What scores are divided by, so that probabilities are right as often as they say: fitted on `classifier/held`, development half.
TEMPERATURES: Mapping[Task, float] = {"user": 0.95, "agent": 1.1, "pair": 1.05, "answers": 1.3}
NUMBERS = {task: number for number, task in enumerate(CLASSES)}


class LocalEmbedder:
    """Loads at the first use; one thread, so that an agent's own work keeps its cores."""

    name = f"{MODEL}-3"  # changes with the weights: a store embeds its records again if this differs
    earlier = (f"{MODEL}-2",)
    size = 384
    # Measured on the development benchmark: see docs/decisions/0004-embedder.md.
    floor = 0.05
    ceiling = 0.62

    @cached_property
    def center(self) -> Vectors:
        """The mean vector of ordinary texts."""
        import numpy as np  # noqa: PLC0415

        return np.load(FOLDER / "center.npy")

    @property
    def ready(self) -> bool:
        """True if it is loaded, so that a vector takes milliseconds."""
        return "_loaded" in self.__dict__

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the unit vector of each text, and the vectors and weights of its words."""
        # One at a time: activations are quantised over whatever is run together, so in a batch the vector of a text
        # would depend on its neighbours. It is also no slower on one thread, since nothing is padded.
        return [self._run(text) for text in texts]

    def knows(self, word: str) -> bool:
        """True if a word in lower case is in the vocabulary as a whole."""
        return self._tokenizer.knows(word)

    def _run(self, text: str) -> Encoded:
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only for semantic search

        tokenizer, session = self._tokenizer, self._loaded
        numbers = tokenizer.encode(text)
        made = session.run(["emb", "tokens", "weights"], {"input_ids": np.array([numbers], dtype=np.int64)})
        emb, tokens, weights = (output[0] for output in made)
        words = np.array(tokenizer.words(numbers))
        return Encoded(vector=emb, tokens=np.rint(127 * tokens[words]).astype(np.int8), weights=weights[words, 0])

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        try:
            return tokenizer(FOLDER)
        except (OSError, ValueError, KeyError) as problem:  # missing, or damaged
            raise _not_loaded(problem) from problem

    @cached_property
    def _loaded(self) -> Any:
        try:
            return session_of(FOLDER / "model.onnx")
        except Exception as problem:  # the libraries raise bare Exceptions
            raise _not_loaded(problem) from problem


class LocalClassifier:
    """Loads at the first use; one thread, so that an agent's own work keeps its cores."""

    name = "holdfast-classifier-6"  # changes with the weights: what was judged by another is judged again

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def load(self) -> None:
        """Load it now, or raise EmbedderError."""
        _ = self._loaded

    def chances(self, task: Task, first: str, second: str = "") -> Mapping[str, float]:
        """Return the probability of each class of a task."""
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only where something is judged

        tokenizer, session = self._loaded
        pieces = [tokenizer.encode(text)[1:-1] for text in (first, second) if text]
        parts = [[*tokens[:most], tokenizer.last] for tokens, most in zip(pieces, LONGEST_JUDGED[task], strict=False)]
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
        try:
            return tokenizer(self._folder), session_of(self._folder / "classifier.onnx")
        except Exception as problem:  # the libraries raise bare Exceptions
            hint = "Reinstall Holdfast. Until then only explicit markers are kept, and memories are not compared."
            raise EmbedderError(f"The built-in classifier cannot be loaded ({problem}).", hint=hint) from problem


def _not_loaded(problem: Exception) -> EmbedderError:
    hint = 'Reinstall Holdfast, or set embedder = "none" to search by words only.'
    return EmbedderError(f"The built-in encoder cannot be loaded ({problem}).", hint=hint)


@cache
def tokenizer(folder: Path) -> "Tokenizer":
    """Return what cuts texts into the word pieces of both models, loaded once."""
    from holdfast.adapters.embedders.wordpiece import Tokenizer  # noqa: PLC0415  only for semantic search

    return Tokenizer(folder / "vocab.txt", LONGEST)


def session_of(file: Path) -> Any:
    """Return the loaded graph of a file."""
    # Read once, when the library is imported: without it, it writes an id of the machine into the user's folders and
    # reports to its maker.
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime  # noqa: PLC0415  takes a tenth of a second: only for semantic search

    onnxruntime.disable_telemetry_events()  # what Windows has instead
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # the file is optimised
    return onnxruntime.InferenceSession(str(file), options)
