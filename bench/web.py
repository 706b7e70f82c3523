"""Cost of the viewer's pages at 100,000 records, in CPU time of the whole process, next to the targets.

Each page is requested as by a browser, through the whole application, each time after a new memory was saved, so that no
cache helps. Scans of a whole project are not part of a page: pages fetch them after they are painted. What the worker
does after a session is done before: the memories of the project are compared once, so a page compares only the new one.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from starlette.types import ASGIApp, Message

from bench.corpus import Corpus
from bench.knowledge import fill, worked
from bench.measure import table
from bench.speed import PROJECT, fake_vectors, open_bench
from holdfast.compose.settings import Settings, load_settings
from holdfast.hosts.web.app import make_app
from holdfast.hosts.web.guard import Keys
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import link
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import write
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import open_contradictions

RECORDS, SESSIONS, ROUNDS = 100_000, 60, 5
TARGET_MS, PART_MS = 60.0, 500.0
ANY = Waivers(duplicate=True, transient=True, scope=True)
PORT, TOKEN = 4654, "bench"
PAGES = {
    "home": "/",
    "activity": "/activity",
    "activity, filtered": "/activity?what=use",
    "sessions": "/sessions",
    "session": "/sessions/bench-1",
    "memories": "/memories",
    "memories, searched": "/memories/hits?q={question}",
    "memories, all projects": "/memories/hits?project=*&q={question}",
    "record": "/r/{record}",
    "history": "/r/{record}/history",
    "map": "/map",
    "graph": "/graph",
    "timeline": "/timeline",
    "review": "/review",
    "threads": "/threads",
    "insights": "/insights",
    "scars": "/scars",
    "brief": "/brief",
    "remember": "/remember",
    "projects": "/projects",
    "settings": "/settings",
    "brief, previewed": "/settings/preview?inject=full",
    "titles as one types": "/find?q={question}",
}
# Parts that pages fetch after they are painted, since they read much of the project.
PARTS = {
    "counts of the inbox": "/review/chips",
    "the inbox": "/review/items",
    "score": "/review/score",
    "needs you, at home": "/home/health",
    "saved by day, at home": "/home/saved",
    "memories by kind, scope and tag": "/memories/facets",
    "memories in another order": "/memories/hits?sort=used",
    "map, drawn": "/map/drawn",
    "plots": "/insights/plots",
    "contradictions": "/review/items?show=contradiction&by=rule",
    "near-duplicates": "/review/items?show=duplicate&by=rule",
}


def run(records: int = RECORDS) -> bool:
    """Measure and print; return True if every page meets its target."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        with open_bench(folder) as memory:
            found = _prepared(memory, records)
            app = make_app(memory, lambda: _settings(folder), keys=Keys(token=TOKEN), port=PORT)
            rows = [_measured(memory, app, name, path.format(**found)) for name, path in PAGES.items()]
            _compare(memory)
            rows += [_measured(memory, app, name, path.format(**found)) for name, path in PARTS.items()]
        painted = _painted(folder, found)
    finally:
        shutil.rmtree(folder)
    columns = ("page", "first in a process, CPU ms", "CPU ms", "kB", "target")
    shown = [
        (name, f"{first:.1f}", f"{then:.1f}", f"{size / 1000:.0f}", _verdict(name, then))
        for name, first, then, size in rows
    ]
    table(f"pages of the viewer at {records:,} records, quickest of {ROUNDS}", columns, shown)
    if painted:
        table("in Chromium, at a second visit", ("page", "first paint, ms", "requests", "kB"), painted)
    return all(then <= (TARGET_MS if name in PAGES else PART_MS) for name, _, then, _ in rows)


def _painted(folder: Path, found: dict[str, str]) -> list[tuple[str, str, int, str]]:
    """Return the wall time to the first paint, the requests and the bytes of each page in a browser; empty without Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return []
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "holdfast", "web", "--port", "0", "--no-open"]
    environment = {**os.environ, "HOLDFAST_HOME": str(folder), "HOLDFAST_PROJECT": PROJECT}
    serving = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)  # noqa: S603  our own program
    try:
        assert serving.stderr is not None
        link = next(word for word in serving.stderr.readline().split() if word.startswith("http"))
        base = link.partition("/?")[0]
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            page.goto(link)
            rows = []
            for name, path in PAGES.items():
                if "/hits" in path or path.startswith(("/api", "/find", "/settings/preview")):
                    continue
                page.goto(base + path.format(**found))
                page.reload()
                page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
                paint, requests, size = page.evaluate(_PAINT)
                rows.append((name, f"{paint:.0f}", int(requests), f"{size / 1000:.0f}"))
            browser.close()
        return rows
    finally:
        serving.terminate()
        serving.wait(20)
        if serving.stderr:
            serving.stderr.close()


_PAINT = """() => {
    const [own] = performance.getEntriesByType("navigation"), rest = performance.getEntriesByType("resource");
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    return [paint.startTime, 1 + rest.length, [own, ...rest].reduce((sum, one) => sum + one.encodedBodySize, 0)];
}"""


def _settings(folder: Path) -> Settings:
    return load_settings(flags={"home": str(folder), "project": PROJECT, "embedder": "none"})


def _verdict(name: str, milliseconds: float) -> str:
    target = PART_MS if name in PARTS else TARGET_MS
    kind = "part, " if name in PARTS else ""
    return f"{kind}≤ {target:.0f}: {'met' if milliseconds <= target else 'missed'}"


def _prepared(memory: Memory, records: int) -> dict[str, str]:
    """Fill a store, and simulate sessions that recall, use and link some of its records."""
    fill(memory, records)
    fake_vectors(memory)
    corpus, last = Corpus(), ""
    for number in range(SESSIONS):
        there, shown = worked(memory, f"bench-{number}", corpus, each=2)
        if last and last != shown[0]:
            link(there, shown[0], "relates_to", last)
        last = shown[0]
    words = get(memory, last).record.body.split()[:6]
    return {"record": last, "question": quote_plus(" ".join(words))}


def _compare(memory: Memory) -> None:
    """Compare the memories of the project, as the worker does after a session."""
    open_contradictions(memory, limit=0)
    proposals(memory, limit=0)


def _measured(memory: Memory, app: ASGIApp, name: str, path: str) -> tuple[str, float, float, int]:
    times, new = [], Corpus(seed=len(path))
    for _ in range(ROUNDS + 1):
        write(memory, Draft(body=new.text()), waivers=ANY)
        start = time.process_time()
        status, size = asyncio.run(_asked(app, path))
        times.append(1000 * (time.process_time() - start))
        assert status == 200, (name, path, status)
    return name, times[0], min(times[1:]), size


async def _asked(app: ASGIApp, path: str) -> tuple[int, int]:
    """Send a request to the application as a server would, without a socket."""
    where, _, query = path.partition("?")
    told: dict[str, Any] = {"status": 0, "size": 0}
    headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "headers": headers,
        "server": ("127.0.0.1", PORT),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        told["status"] = message.get("status", told["status"])
        told["size"] += len(message.get("body", b""))

    await app(scope, receive, send)
    return told["status"], told["size"]
