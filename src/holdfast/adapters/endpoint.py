"""Ask the HTTP endpoint of a model once, and embed texts with one that speaks the OpenAI embeddings API."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast.model.config import Config
from holdfast.model.errors import EmbedderError
from holdfast.model.foreign_json import json_or_none, parse_json
from holdfast.model.ports import Embedder, Encoded, RateLimited, Rejected, Reply, TimedOut, Unreachable

LARGEST, LARGEST_VECTORS = 2_000_000, 100_000_000  # bytes of an answer
SECONDS, BATCH = 30.0, 64  # of an embedder
LATER = (429, 529)
LONGEST_SAID = 300


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: a key meant for one host must not reach another."""

    def redirect_request(self, *_: object) -> None:
        return


def post(
    url: str, body: Mapping[str, Any], headers: Mapping[str, str], *, seconds: float, largest: int = LARGEST
) -> dict[str, Any] | Reply:
    """Send a request once; return the JSON object of the answer, or the reply that describes the failure."""
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json", **headers})  # noqa: S310  compose checks the scheme
    try:
        with build_opener(_Stay()).open(request, timeout=seconds) as reply:
            value = parse_json(reply.read(largest + 1), largest)
    except ValueError:
        value = None
    except HTTPError as problem:
        with problem:
            return _refused(problem)
    except (TimeoutError, URLError, OSError, HTTPException) as problem:
        late = isinstance(problem, TimeoutError) or isinstance(getattr(problem, "reason", None), TimeoutError)
        return TimedOut(seconds=seconds) if late else Unreachable(said=f"{url}: {problem}"[:LONGEST_SAID])
    return value if isinstance(value, dict) else Unreachable(said=f"{url} did not answer with JSON.")


def _refused(problem: HTTPError) -> Reply:
    text = problem.read(LARGEST).decode(errors="replace")
    answer = json_or_none(text)
    error = answer["error"] if isinstance(answer, dict) and "error" in answer else " ".join(text.split())
    message = f"{problem.code}: {error.get('message') if isinstance(error, dict) else error}"[:LONGEST_SAID]
    if problem.code not in LATER:
        return Unreachable(said=message) if problem.code >= 500 else Rejected(said=message)
    after, seconds = (problem.headers.get("retry-after") or "").strip(), 0.0  # a number of seconds, or a date
    with suppress(ValueError, TypeError, IndexError):
        is_number = after.replace(".", "", 1).isdecimal()
        seconds = float(after) if is_number else (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds()
    return RateLimited(seconds=max(0.0, seconds), said=message)


class HttpEmbedder(Embedder):
    """Calls the endpoint in batches. Its size is known after the first answer."""

    def __init__(self, config: Config) -> None:
        self.name, self.size = f"http:{config.embedder_model}", 0
        self.floor, self.ceiling = config.embedder_floor, config.embedder_ceiling
        self._url, self._config = config.embedder_url.rstrip("/") + "/embeddings", config

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
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

    def _ask(self, texts: list[str]) -> list[list[float]]:
        key = self._config.embedder_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body = {"model": self._config.embedder_model, "input": texts}
        answer = post(self._url, body, headers, seconds=SECONDS, largest=LARGEST_VECTORS)
        try:
            if isinstance(answer, dict):
                return [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row.get("index", 0)))]
            problem = getattr(answer, "said", "") or "it took too long"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = str(error)
        hint = 'Check embedder_url and embedder_model, or set embedder = "local".'
        raise EmbedderError(f"{self._url} returned no vectors ({problem}).", hint=hint)
