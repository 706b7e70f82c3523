"""The built-in models, small transformers in int8 ONNX that need no network: the encoder, and the classifier with its words."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
# Word pieces of both texts.
LONGEST_JUDGED = {"user": (80, 64), "agent": (90, 64), "pair": (80, 80), "answers": (64, 100)}
# What scores are divided by, so that probabilities are right as often as they say: fitted on `classifier/held`, development half.
TEMPERATURES = {"user": 0.85, "agent": 1.0, "pair": 1.0, "answers": 1.05}


class LocalEmbedder:
    """Loads at the first use; one thread, so that an agent's own work keeps its cores."""

    name = f"{MODEL}-4"  # changes with the weights: a store embeds its records again if this differs
    earlier: Sequence[str] = (f"{MODEL}-3", f"{MODEL}-2")
    size = 384
    # Measured on the development benchmark: see docs/decisions/0004-embedder.md.
    floor = 0.05
    ceiling = 0.62

    @cached_property
    def center(self) -> Vectors:
        import numpy as np  # noqa: PLC0415

        return np.load(FOLDER / "center.npy")

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only for semantic search

        # One at a time: activations are quantised over whatever is run together, so in a batch the vector of a text
        # would depend on its neighbours. It is also no slower on one thread, since nothing is padded.
        encoded = []
        for numbers in map(self._tokenizer.encode, texts):
            given = {"input_ids": np.array([numbers], dtype=np.int64)}
            emb, tokens, weights = (output[0] for output in self._loaded.run(["emb", "tokens", "weights"], given))
            words = np.array(self._tokenizer.words(numbers))
            small = np.rint(127 * tokens[words]).astype(np.int8)
            encoded.append(Encoded(vector=emb, tokens=small, weights=weights[words, 0]))
        return encoded

    def knows(self, word: str) -> bool:
        return self._tokenizer.knows(word)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        with _loading("encoder", ', or set embedder = "none" to search by words only.'):
            return _tokenizer(FOLDER)

    @cached_property
    def _loaded(self) -> Any:
        with _loading("encoder", ', or set embedder = "none" to search by words only.'):
            return _session_of(FOLDER / "model.onnx")


class LocalClassifier:
    """Loads at the first use; one thread, so that an agent's own work keeps its cores."""

    name = "holdfast-classifier-11"  # changes with the weights: what was judged by another is judged again

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def load(self) -> None:
        _ = self._loaded

    def chances(self, task: Task, first: str, second: str = "") -> Mapping[str, float]:
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only where something is judged

        tokenizer, session = self._loaded
        number, pieces = [*CLASSES].index(task), [tokenizer.encode(text)[1:-1] for text in (first, second) if text]
        longest = zip(pieces, LONGEST_JUDGED[task], strict=False)
        parts = [[*tokens[:most], tokenizer.last] for tokens, most in longest]
        segments = [0, *[place for place, part in enumerate(parts) for _ in part]]
        given = {"task": [[number]], "input_ids": [[token for part in parts for token in part]], "segments": [segments]}
        inputs = {name: np.array(values, dtype=np.int64) for name, values in given.items()}
        scores = session.run([task], inputs)[0][0].astype(float) / TEMPERATURES[task]
        if len(scores) == 1:
            return {CLASSES[task][0]: float(1 / (1 + np.exp(-scores[0])))}
        shares = np.exp(scores - scores.max())
        return dict(zip(CLASSES[task], (shares / shares.sum()).tolist(), strict=True))

    @cached_property
    def _loaded(self) -> "tuple[Tokenizer, Any]":
        with _loading("classifier", ". Until then only explicit markers are kept, and memories are not compared."):
            return _tokenizer(self._folder), _session_of(self._folder / "classifier.onnx")


@contextmanager
def _loading(model: str, otherwise: str) -> Iterator[None]:
    try:
        yield
    except Exception as problem:  # missing or damaged; the libraries raise bare Exceptions
        message, hint = f"The built-in {model} cannot be loaded ({problem}).", f"Reinstall Holdfast{otherwise}"
        raise EmbedderError(message, hint=hint) from problem


@cache
def _tokenizer(folder: Path) -> "Tokenizer":
    """Return what cuts texts into the word pieces of both models, loaded once."""
    from holdfast.adapters.embedders.wordpiece import Tokenizer  # noqa: PLC0415  only for semantic search

    return Tokenizer(folder / "vocab.txt.gz", LONGEST)


@cache
def _session_of(file: Path) -> Any:
    # Read when the library is imported: else it writes an id of the machine into the user's folders and reports home.
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime  # noqa: PLC0415  takes a tenth of a second: only for semantic search

    onnxruntime.disable_telemetry_events()  # what Windows has instead
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # the file is optimised
    return onnxruntime.InferenceSession(str(file), options)
