"""The plugin in the real clients: validated by Claude Code, installed in Claude Code, Codex and Copilot CLI.

`python3 dev.py plugin` runs it, and fetches the three clients (about 1 GB) into .tools/ the first time; CI does not.
Everything happens in a throw-away home; no client talks to a model.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.clients.fetch import fetch, program

ROOT = Path(__file__).parents[2]
ADD = ("plugin", "marketplace", "add", str(ROOT))
# Each line is run in order; the last of a client must name the plugin.
STEPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude": (
        ("plugin", "validate", str(ROOT / "plugin"), "--strict"),
        ("plugin", "validate", str(ROOT / "plugin-memory"), "--strict"),
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
    fetch(STEPS)
    with tempfile.TemporaryDirectory(prefix="holdfast-plugin-") as home:
        failed = [line for client in STEPS for line in tried(client, Path(home))]
    for line in failed:
        print(f"FAILED {line}")
    print("failed" if failed else f"passed: the plugin installs in {', '.join(STEPS)}")
    return 1 if failed else 0


def tried(client: str, home: Path) -> Iterator[str]:
    said = ""
    for step in STEPS[client]:
        done = subprocess.run(
            [*program(client), *step], env=_environment(home), cwd=home, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        print(f"{client} {' '.join(step[:3])}: {'ok' if done.returncode == 0 else said}")
        if done.returncode:
            yield f"{client} {' '.join(step)}"
    if "holdfast" not in said:
        yield f"{client} does not list the plugin: {said}"


def _environment(home: Path) -> dict[str, str]:
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "COPILOT_OFFLINE": "true"}
    return {"HOME": str(home), "PATH": os.environ["PATH"], "COPILOT_AUTO_UPDATE": "false", **quiet}


if __name__ == "__main__":
    sys.exit(main())
