"""How much of each inner layer the tests run: line coverage of model, policy, engine and verbs, in this process and in those it starts.

python3 dev.py coverage [TESTS …]   every suite that is about them, one after the other, or only those given
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("model", "policy", "engine", "verbs")
LEAST = 95.0  # percent of the lines of each
SUITES = (
    "tests/model",
    "tests/policy",
    "tests/engine",
    "tests/verbs",
    "tests/replicas",
    "tests/surfaces",
    "tests/adapters",
    "tests/hostile",
    "tests/hosts",
    "tests/web/test_api.py",
    "tests/web/test_pages.py",
)
# They measure time, or look at what a process loads: being watched is what they would notice.
WITHOUT = ("tests/hosts/test_bench.py", "tests/hosts/test_demo.py", "tests/hosts/setup")
UNHURRIED = ("-k", "not in_no_time and not without_importing and not imports_none")


def main() -> int:
    """Run the suites, print the table, and say whether each layer is covered well enough."""
    suites = tuple(sys.argv[1:]) or SUITES
    with tempfile.TemporaryDirectory(prefix="holdfast-coverage-") as folder:
        environment = {**os.environ, "COVERAGE_FILE": str(Path(folder) / "data")}
        failed = [suite for suite in suites if _run(suite, environment)]
        told = Path(folder) / "told.json"
        if any(Path(folder).glob("data.*")):  # of processes that outlived their suite
            _coverage("combine", "--quiet", "--append", environment=environment)
        _coverage("json", "--quiet", "-o", str(told), environment=environment)
        files = json.loads(told.read_text())["files"]
    shares = {layer: _share(files, layer) for layer in LAYERS}
    for layer, (covered, lines, missing) in shares.items():
        print(
            f"{layer:<8}{covered:>6} of {lines:>6} lines  {100 * covered / lines:6.2f} %   most is missing in {missing}"
        )
    for suite in failed:
        print(f"failed: {suite}")
    low = [layer for layer, (covered, lines, _) in shares.items() if 100 * covered < LEAST * lines]
    if low:
        print(f"below {LEAST:.0f} %: {', '.join(low)}")
    return 1 if low or failed else 0


def _run(suite: str, environment: dict[str, str]) -> int:
    print(f"== {suite}", flush=True)
    left_out = [f"--ignore={path}" for path in WITHOUT]
    command = ["-m", "pytest", "-q", "-n", "auto", "--dist", "loadgroup", "--cov", "--cov-append", "--cov-report="]
    return subprocess.run(
        [sys.executable, *command, *left_out, *UNHURRIED, suite], cwd=ROOT, env=environment, check=False
    ).returncode


def _coverage(*arguments: str, environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=ROOT, env=environment, check=False)


def _share(files: dict[str, dict[str, dict[str, int]]], layer: str) -> tuple[int, int, str]:
    """Give the lines that ran, all lines, and the files most of the others are in."""
    ours = {name: told["summary"] for name, told in files.items() if f"holdfast/{layer}/" in name.replace("\\", "/")}
    worst = sorted(ours, key=lambda name: -ours[name]["missing_lines"])[:3]
    said = ", ".join(f"{Path(name).name} {ours[name]['missing_lines']}" for name in worst)
    return sum(one["covered_lines"] for one in ours.values()), sum(one["num_statements"] for one in ours.values()), said


if __name__ == "__main__":
    sys.exit(main())
