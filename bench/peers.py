"""Several makers' memory servers measured in one way, as a client uses them: cost, memory, durability, hooks.

CPU is that of all processes of a system. A write includes what the system does after its answer, such as vectors; questions begin when
it is idle. Texts and questions are the same for each; `found` is how many questions that quote five words of a stored text had that
text among their results. What cannot be installed or started gets a row with the reason, and one that is too slow is measured at the
size it reached in the time it is given.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from bench.corpus import Corpus
from bench.durability import CHECKOUT, concurrent, killed
from bench.hooks import EVENTS
from bench.measure import spread_of, table
from bench.stdio import Place, Server, System, Trouble, serving

ROOT = Path(__file__).parent.parent
WARM_UP, SEARCHES, STARTS, QUOTED, WRITES, HOOKS = 10, 60, 5, 20, 20, 5
EACH, KILLS = 100, 8  # writes of each of four servers, and how often one is killed
REFUSED = 50  # writes that may be refused, until the system counts as failed
PHASE = 30  # seconds at most for searches, and for the hooks of one event
UV = os.environ.get("UV", "uv")  # uv tells what it runs where it is
_PIP = (UV, "pip", "install", "--quiet", "--python", "{folder}/venv")
_NPM = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", "{folder}")
# GitMem is not in the registry of npm; a local copy of the repository can be named instead.
_GITMEM = os.environ.get("GITMEM_SOURCE", "https://github.com/gitmem-dev/gitmem")
_OUR_HOOK = (
    "{folder}/venv/bin/python -I -S {folder}/venv/lib/python"
    f"{sys.version_info.major}.{sys.version_info.minor}/site-packages/holdfast/hosts/hooks/client.py {{event}} --home {{home}}/store"
)
_CLAUDE_MEM = "node {folder}/package/plugin/scripts/bun-runner.js {folder}/package/plugin/scripts/worker-service.cjs"
_MODEL = "huggingface.co"


def _hooks(command: str, **events: str) -> Mapping[str, tuple[str, ...]]:
    """Return a command for each event, with the maker's own name of the event in it."""
    return {event: tuple(command.replace("{event}", name) for name in names.split()) for event, names in events.items()}


SYSTEMS = {
    "Holdfast": replace(
        CHECKOUT,
        install=((*_PIP, str(ROOT)),),
        start=("{folder}/venv/bin/holdfast", "mcp"),
        variables={"HOLDFAST_HOME": "{home}/store", "HOLDFAST_PROJECT": "example.org/acme/shop"},
        hooks=_hooks(_OUR_HOOK, **{event: event for event, _ in EVENTS}),
        python=sys.executable,
        remark="words and meaning",
    ),
    "bettermemory 8.0.0": System(
        install=((*_PIP, "bettermemory==8.0.0"),),
        start=("{folder}/venv/bin/bettermemory",),
        write=(
            "memory_write",
            lambda text: {"content": text, "scopes": ["bench"], "force": True, "acknowledge_transient": True},
        ),
        search=("memory_search", lambda text: {"query": text}),
        saved="committed",
        variables={"BETTERMEMORY_DIR": "{home}/store"},
        hooks=_hooks(
            "{folder}/venv/bin/bettermemory {event}", SessionStart="session-start", UserPromptSubmit="prompt-recall"
        ),
        python=sys.executable,
        remark="words",
    ),
    "GitMem 1.8.0": System(
        install=(
            ("git", "clone", "--quiet", _GITMEM, "{folder}/app"),
            ("git", "-C", "{folder}/app", "checkout", "--quiet", "d47a625"),
            (*_NPM[:-1], "{folder}/app", "--legacy-peer-deps", "--omit=optional"),
            ("npm", "run", "--silent", "--prefix", "{folder}/app", "build"),
            ("npm", "prune", "--silent", "--prefix", "{folder}/app", "--omit=dev", "--legacy-peer-deps"),
        ),
        start=("node", "{folder}/app/bin/gitmem.js"),
        write=(
            "create_learning",
            lambda text: {"learning_type": "win", "title": text[:60], "description": text, "severity": "medium"},
        ),
        search=("search", lambda text: {"query": text}),
        saved="Created win",
        variables={"GITMEM_ENABLED": "true", "CLAUDE_PLUGIN_ROOT": "{folder}/app/hooks"},
        hooks=_hooks(
            "bash {folder}/app/hooks/scripts/{event}.sh",
            SessionStart="session-start",
            UserPromptSubmit="auto-retrieve-hook",
            PreToolUse="credential-guard recall-check",
            PostToolUse="post-tool-use",
        ),
        remark="words; meaning in its Pro tier",
    ),
    "claude-mem 13.25.3": System(  # npm cannot resolve its dependencies; the plugin folder of the package is what runs
        install=(
            ("npm", "pack", "--silent", "--pack-destination", "{folder}", "claude-mem@13.25.3"),
            ("tar", "xzf", "{folder}/claude-mem-13.25.3.tgz", "-C", "{folder}"),
            (*_NPM, "bun@1.4.4"),
            (
                "{folder}/node_modules/.bin/bun",
                "install",
                "--silent",
                "--ignore-scripts",
                "--production",
                "--cwd",
                "{folder}/package/plugin",
            ),
        ),
        start=("node", "{folder}/package/plugin/scripts/mcp-server.cjs"),
        write=("http://127.0.0.1:37931/api/memory/save", lambda text: {"text": text, "title": text[:60]}),
        search=("search", lambda text: {"query": text}),
        saved="saved as observation",
        variables={
            "PATH": "{folder}/node_modules/.bin:{path}",
            "CLAUDE_MEM_DATA_DIR": "{home}/store",
            "CLAUDE_MEM_WORKER_PORT": "37931",
            "CLAUDE_MEM_CHROMA_ENABLED": "false",
            "CLAUDE_PLUGIN_ROOT": "{folder}/package/plugin",
            "DO_NOT_TRACK": "1",
        },
        hooks=_hooks(
            _CLAUDE_MEM + " hook claude-code {event}",
            SessionStart="context",
            UserPromptSubmit="session-init",
            PostToolUse="observation",
        ),
        remark="one phrase; meaning by Chroma, off here",
    ),
    "basic-memory 0.23.2": System(
        install=((*_PIP, "basic-memory==0.23.2"),),
        start=("{folder}/venv/bin/basic-memory", "mcp"),
        write=(
            "write_note",
            lambda text: {"title": text[:60], "content": text, "directory": "notes", "project": "main"},
        ),
        search=("search_notes", lambda text: {"query": text, "project": "main"}),
        saved="Created note",
        variables={"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"},
        python="3.12",
        remark="words; its meaning needs a downloaded model",
    ),
    "server-memory 2026.8.31": System(
        install=((*_NPM, "@modelcontextprotocol/server-memory@2026.8.31"),),
        start=("{folder}/node_modules/.bin/mcp-server-memory",),
        write=(
            "create_entities",
            lambda text: {"entities": [{"name": text[:60], "entityType": "note", "observations": [text]}]},
        ),
        search=("search_nodes", lambda text: {"query": text}),
        saved="observations",
        variables={"MEMORY_FILE_PATH": "{home}/store.jsonl"},
        remark="the whole question as a substring",
    ),
    "mcp-memory-keeper 0.14.1": System(
        install=((*_NPM, "mcp-memory-keeper@0.14.1"),),
        start=("{folder}/node_modules/.bin/mcp-memory-keeper",),
        write=("context_save", lambda text: {"key": text[:60].replace(" ", "-"), "value": text}),
        search=("context_search", lambda text: {"query": text}),
        saved="Saved: ",
        variables={"DATA_DIR": "{home}/store"},
        remark="the whole question as a substring",
    ),
    "Memory MCP 0.8.0": System(
        install=((*_PIP, "hot-memory-mcp==0.8.0"),),
        start=("{folder}/venv/bin/memory-mcp",),
        write=("remember", lambda text: {"content": text}),
        search=("recall", lambda text: {"query": text}),
        python=sys.executable,
        needs=_MODEL,
        remark="meaning",
    ),
    "mcp-memory-service 12.4.0": System(
        install=((*_PIP, "mcp-memory-service[sqlite]==12.4.0"),),
        start=("{folder}/venv/bin/memory", "server"),
        write=("memory_store", lambda text: {"content": text}),
        search=("memory_search", lambda text: {"query": text}),
        variables={"MCP_MEMORY_BASE_DIR": "{home}/store"},
        python=sys.executable,
        needs=_MODEL,
        remark="meaning",
    ),
    "git-notes-memory 0.12.0": System(missing="a library and hooks, no server to talk to; its model is a download"),
    "mem0 2.2.1": System(missing="a library, no server to talk to; its model is a download"),
}
COLUMNS = {
    "Installed, started": ("system", "MiB", "start CPU s", "MiB in memory", "tools (tokens)", "searches by"),
    "In use": (
        "system",
        "memories",
        "write CPU ms",
        "search CPU ms p50 / p95",
        "found",
        "MiB in memory",
        "hook CPU ms: " + ", ".join(event for event, _ in EVENTS),
    ),
    "Acknowledged writes lost": ("system", "four servers at once", "kill -9 while writing"),
}
Rows = dict[str, list[list[str]]]


def run(names: Sequence[str], sizes: Sequence[int], minutes: float, folder: Path | None) -> None:
    """Measure the named systems at the given sizes and print tables; install into a folder to keep, or a temporary one."""
    rows: Rows = {title: [] for title in COLUMNS}
    for name in names or SYSTEMS:
        with tempfile.TemporaryDirectory(prefix="memory-bench-") as temporary:
            place = Place(SYSTEMS[name], (folder or Path(temporary)) / name.replace(" ", "-"), Path(temporary))
            for title, row in measured(place, sorted(sizes), minutes):
                rows[title].append([name, *row])
                print(title, *rows[title][-1], sep=" | ", file=sys.stderr, flush=True)
    for title, columns in COLUMNS.items():
        table(title, columns, rows[title])


def measured(place: Place, sizes: Sequence[int], minutes: float) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of one system, each with the title of its table; a part that fails is a row with the reason."""
    try:
        installed = _installed(place)
    except (OSError, subprocess.CalledProcessError, Trouble) as problem:
        yield "Installed, started", ["not measured: " + _reason(problem)]
        return
    parts: list[tuple[str, Callable[[Place], Iterable[list[str]]]]] = [
        ("Installed, started", lambda at: [[f"{installed:.0f}", *_started(at), at.system.remark]]),
        ("In use", lambda at: _used(at, sizes, minutes)),
        ("Acknowledged writes lost", _durable),
    ]
    for title, part in parts:
        at = _fresh(place, title.split()[0])
        try:
            yield from ((title, row) for row in part(at))
        except (OSError, Trouble) as problem:
            yield title, ["not measured: " + _reason(problem)]
        finally:
            at.kill()


def _fresh(place: Place, name: str) -> Place:
    """Return the system with an empty store, in a repository of its own."""
    home = place.home / f"home-{name}"
    subprocess.run(["git", "init", "--quiet", str(home)], check=True)  # noqa: S603, S607
    return replace(place, home=home)


def _installed(place: Place) -> float:
    """Install the system unless it is there already; return the MiB it had when new."""
    system, done = place.system, place.folder / "installed"
    if system.missing:
        raise Trouble(system.missing)
    if system.needs:
        try:
            socket.create_connection((system.needs, 443), 10).close()
        except OSError as problem:
            raise Trouble(f"its model comes from {system.needs}, which cannot be reached here") from problem
    if not done.exists():
        place.folder.mkdir(parents=True, exist_ok=True)
        venv = [[UV, "venv", "--quiet", "--clear", "--python", system.python, "{folder}/venv"]] if system.python else []
        for step in [*venv, *system.install]:
            subprocess.run(place.words(step), check=True, capture_output=True, text=True)  # noqa: S603
        size = sum(file.lstat().st_size for file in place.folder.rglob("*") if not file.is_symlink())
        done.write_text(str(size), encoding="utf-8")
    return int(done.read_text(encoding="utf-8")) / 2**20


def _reason(problem: Exception) -> str:
    """Return a problem in one line; of a command that failed, what it was and its last words."""
    if isinstance(problem, subprocess.CalledProcessError):
        lines = [line for line in (problem.stderr or "").splitlines() if "A complete log" not in line]
        return f"{' '.join(problem.cmd[:3])}: {lines[-1][:120] if lines else problem.returncode}"
    return str(problem)[:160]


def _started(place: Place) -> list[str]:
    """Return CPU seconds from the start to listed tools, memory then, and the tools."""
    starts = []
    for _ in range(STARTS):
        with serving(place) as server:
            tools = server.begin()
            starts.append(place.cpu())
            memory = place.memory()
        place.kill()
    tokens = len(json.dumps(tools, separators=(",", ":"))) // 4
    return [f"{min(starts):.2f}", f"{memory:.0f}", f"{len(tools)} ({tokens:,})"]


def _used(place: Place, sizes: Sequence[int], minutes: float) -> Iterator[list[str]]:
    """Fill one store up to each size in turn and measure there."""
    corpus, texts = Corpus(), list[str]()
    with serving(place) as server:
        server.begin()
        for size in sizes:
            until, refused = time.monotonic() + 60 * minutes, 0
            while len(texts) < size and time.monotonic() < until:
                text = corpus.text()
                try:
                    server.write(text)
                    texts.append(text)
                except Trouble:
                    refused += 1
                    if refused > REFUSED:
                        raise
            reached = len(texts)
            idle = place.idle(max(10, until - time.monotonic()))
            figures = [_write(server, corpus, texts), _searches(server, corpus), _found(server, texts)]
            notes = [f"{reached:,}"]
            if reached < size:
                notes.append(f"in {minutes:g} min")
            if not idle:
                notes.append("not idle yet")
            yield [", ".join(notes), *figures, f"{place.memory():.0f}", _hook_costs(place)]
            if reached < size:
                break


def _durable(place: Place) -> Iterator[list[str]]:
    """Yield what was lost by four servers at once and by kills, each on a store of its own."""
    row = []
    for name, lose in (("four", partial(concurrent, each=EACH)), ("kill", partial(killed, rounds=KILLS))):
        try:
            row.append(str(lose(_fresh(place, name))))
        except Trouble as problem:
            row.append(f"not measured: {_reason(problem)}")
    yield row


def _write(server: Server, corpus: Corpus, texts: list[str]) -> str:
    before = server.place.cpu()
    for _ in range(WRITES):
        with suppress(Trouble):
            server.write(text := corpus.text())
            texts.append(text)
    server.place.idle(PHASE)
    return f"{1000 * (server.place.cpu() - before) / WRITES:.1f}"


def _searches(server: Server, corpus: Corpus) -> str:
    until, times = time.monotonic() + PHASE, list[float]()
    while len(times) < WARM_UP + SEARCHES and (len(times) < WARM_UP + 5 or time.monotonic() < until):
        question, before = corpus.question(), server.place.cpu()
        server.search(question)
        times.append(1000 * (server.place.cpu() - before))
    return str(spread_of(times[WARM_UP:]))


def _found(server: Server, texts: Sequence[str]) -> str:
    sought = texts[:: max(1, len(texts) // QUOTED)][:QUOTED]
    return f"{sum(server.finds(text) for text in sought)} of {len(sought)}"


def _hook_costs(place: Place) -> str:
    """Return the CPU of each event, and in parentheses that of all the system's processes during it where it is much more."""
    costs = []
    for event, given in EVENTS:
        payload = json.dumps({"session_id": "bench", "hook_event_name": event, "cwd": str(place.home), **given})
        own, all_of_it, until = list[float](), list[float](), time.monotonic() + PHASE
        while event in place.system.hooks and len(own) < HOOKS and (not own or time.monotonic() < until):
            place.idle(5)
            used, others = _waited_for(), place.cpu()
            for command in place.words(place.system.hooks[event]):
                subprocess.run(  # noqa: S603
                    ["bash", "-c", command],  # noqa: S607
                    input=payload.encode(),
                    cwd=place.home,
                    env=place.environment(),
                    capture_output=True,
                    check=False,
                )
            own.append(1000 * (_waited_for() - used))
            all_of_it.append(own[-1] + 1000 * (place.cpu() - others))
        hook, total = (spread_of(times or [0]).p50 for times in (own, all_of_it))
        costs.append(f"{hook:.0f}{f' ({total:.0f})' if total > 1.2 * hook else ''}" if own else "–")
    return ", ".join(costs) if place.system.hooks else "no hooks"


def _waited_for() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
