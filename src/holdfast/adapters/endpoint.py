"""Ask the HTTP endpoint of a model, once, and return the outcome as a value."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast.model.foreign_json import parse_json
from holdfast.model.observer import RateLimited, Rejected, Reply, TimedOut, Unreachable

LARGEST = 2_000_000  # bytes of an answer
LATER = (429, 529)
LONGEST_SAID = 300


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: a key meant for one host must not reach another."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Treat a redirect as the final answer."""
        del req, fp, code, msg, headers, newurl


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
    try:
        error = parse_json(text)["error"]
        message = str(error.get("message") if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        message = " ".join(text.split())
    message = f"{problem.code}: {message}"[:LONGEST_SAID]
    if problem.code not in LATER:
        return Unreachable(said=message) if problem.code >= 500 else Rejected(said=message)
    after, seconds = (problem.headers.get("retry-after") or "").strip(), 0.0  # a number of seconds, or a date
    with suppress(ValueError, TypeError, IndexError):
        is_number = after.replace(".", "", 1).isdecimal()
        seconds = float(after) if is_number else (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds()
    return RateLimited(seconds=max(0.0, seconds), said=message)
