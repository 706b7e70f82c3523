"""Vectors from any endpoint that speaks the OpenAI embeddings API."""

from collections.abc import Sequence

from holdfast.adapters.endpoint import post
from holdfast.model.config import Config
from holdfast.model.errors import EmbedderError
from holdfast.model.ports import Encoded

LARGEST = 100_000_000  # bytes of an answer
SECONDS = 30.0
BATCH = 64


class HttpEmbedder:
    """Calls the endpoint in batches. Its size is known after the first answer."""

    def __init__(self, config: Config) -> None:
        self.name, self.size, self.earlier = f"http:{config.embedder_model}", 0, ()
        self.floor, self.ceiling = config.embedder_floor, config.embedder_ceiling
        self.center = 0.0  # not known for this model
        self._url, self._config = config.embedder_url.rstrip("/") + "/embeddings", config

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the unit vector of each text."""
        import numpy as np  # noqa: PLC0415  takes a tenth of a second: only for semantic search

        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            rows.extend(self._ask(list(texts[start : start + BATCH])))
        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except ValueError as problem:
            raise EmbedderError(f"{self._url} did not return vectors.") from problem
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise EmbedderError(f"{self._url} returned vectors of unequal or unusable shape.")
        self.size = vectors.shape[1]
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return [Encoded(vector=unit) for unit in units]

    def knows(self, word: str) -> bool:  # noqa: ARG002
        """Return False: an endpoint does not tell its vocabulary."""
        return False

    def _ask(self, texts: list[str]) -> list[list[float]]:
        key = self._config.embedder_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body = {"model": self._config.embedder_model, "input": texts}
        answer = post(self._url, body, headers, seconds=SECONDS, largest=LARGEST)
        problem = "" if isinstance(answer, dict) else getattr(answer, "said", "it took too long")
        try:
            rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0))) if isinstance(answer, dict) else []
            vectors = [row["embedding"] for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = str(error)
        if problem:
            hint = 'Check embedder_url and embedder_model, or set embedder = "local".'
            raise EmbedderError(f"{self._url} returned no vectors ({problem}).", hint=hint)
        return vectors
