"""Many sessions at once on a team's server: each starts, writes a memory, finds it, and ends."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.measure import spread_of

VERSION = "2025-11-25"
PATIENCE = 300.0  # timeout of a request, in seconds


@dataclass(slots=True)
class Heard:
    """The results of all sessions: seconds of each call, and errors."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"begin": [], "keep": [], "find": []})
    problems: Counter[str] = field(default_factory=Counter)
    whole: int = 0


def run(url: str, key: str, project: str, sessions: int) -> bool:
    """Run sessions in parallel and print how long they waited; return False if any of them failed."""
    began = time.perf_counter()
    heard = asyncio.run(_all(url, key, project, sessions))
    took = time.perf_counter() - began
    print(f"{heard.whole} of {sessions} sessions at once found what they kept, in {took:.1f} s")
    for name, seconds in heard.seconds.items():
        if seconds:
            spread = spread_of([1000 * one for one in seconds])
            print(f"  {name:<6} waited {spread.p50:.0f} ms (p50), {spread.p95:.0f} ms (p95)")
    for problem, times in heard.problems.most_common(5):
        print(f"  {times} times: {problem}")
    return heard.whole == sessions


async def _all(url: str, key: str, project: str, sessions: int) -> Heard:
    heard, together = Heard(), asyncio.Barrier(sessions)
    headers = {"authorization": f"Bearer {key}", "accept": "application/json, text/event-stream"}
    limits = httpx2.Limits(max_connections=sessions, max_keepalive_connections=sessions)
    async with httpx2.AsyncClient(
        headers=headers | {"holdfast-project": project}, limits=limits, timeout=PATIENCE
    ) as http:
        await asyncio.gather(*(_session(http, url, place, heard, together) for place in range(sessions)))
    return heard


async def _session(http: httpx2.AsyncClient, url: str, place: int, heard: Heard, together: asyncio.Barrier) -> None:
    try:
        client = {"name": f"bench-{place}", "version": "1"}
        begun = await _ask(
            http, url, "begin", heard, {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        )
    except (httpx2.HTTPError, ValueError) as problem:
        heard.problems[f"begin: {problem!r}"[:200]] += 1
        begun = None
    await together.wait()  # all sessions are connected before any of them works
    if begun is None:
        return
    named = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": VERSION}
    try:
        word = f"drawer{place:05d}"
        await _ask(http, url, "keep", heard, _call("remember", text=f"The key to {word} hangs on hook {place}."), named)
        found = await _ask(http, url, "find", heard, _call("recall", query=f"key to {word}"), named)
        heard.whole += word in found.text
    except (httpx2.HTTPError, ValueError) as problem:
        heard.problems[f"work: {problem!r}"[:200]] += 1


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


async def _ask(
    http: httpx2.AsyncClient,
    url: str,
    what: str,
    heard: Heard,
    params: dict[str, Any],
    headers: dict[str, str] | None = None,
) -> httpx2.Response:
    method = "initialize" if what == "begin" else "tools/call"
    began = time.perf_counter()
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sent = {"content-type": "application/json", **(headers or {})}
    reply = await http.post(url, content=json.dumps(message), headers=sent)
    reply.raise_for_status()
    heard.seconds[what].append(time.perf_counter() - began)
    return reply
