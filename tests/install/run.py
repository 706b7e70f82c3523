"""Install Holdfast in every documented way, each in a clean environment, and use it: `python3 dev.py install [WAYS]`.

pip, pipx and `uv tool install`, from a checkout (pip by the script of the GitHub Action) and the wheel, and uv from git.
Prints seconds, size, and size with what its first use compiles; exits with 1 if a way fails. Caches of uv and pip are used.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
UV = os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
NO_BYTECODE = "--no-compile"  # most of pip's time; what is imported is compiled when it is used
SAVED = "The orders table is locked by long migrations."


def main() -> int:
    """Build the wheel, install in each way, two at a time, and print a row for each."""
    with tempfile.TemporaryDirectory(prefix="holdfast-install-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        run([UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], folder)
        sources = {"wheel": str(*folder.glob("*.whl")), "checkout": str(ROOT), "git": f"git+file://{ROOT}"}
        tried = {f"{way}-{source}": (way, sources[source]) for source, ways in TRIED.items() for way in ways}
        worked = [pool.submit(_try, *tried[name], folder / name) for name in sys.argv[1:] or tried]
        results = [each.result() for each in worked]
    return 0 if all(results) else 1


def _try(way: str, what: str, place: Path) -> bool:
    """Install in one way and use it; print how it went and return whether it worked."""
    place.mkdir()
    began = time.monotonic()
    try:
        command = WAYS[way](place, what)
        seconds, size = time.monotonic() - began, _size(place)
        use(command, place)
    except (subprocess.CalledProcessError, AssertionError) as problem:
        print(f"{place.name:15} FAILED: {problem}\n{getattr(problem, 'stderr', '') or ''}", flush=True)
        return False
    print(f"{place.name:15} {seconds:6.1f} s {size:6.1f} MiB, used {_size(place):6.1f}", flush=True)
    shutil.rmtree(place)
    return True


def _size(place: Path) -> float:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file() and not file.is_symlink()) / 2**20


def use(command: Path, place: Path) -> None:
    """Save a memory and find it. That the wheel is complete is a test of its own (test_wheel.py)."""
    version = run([command, "--version"], place)
    assert version.startswith("holdfast "), version
    run([command, "remember", SAVED], place)
    answer = run([command, "recall", "--words", "what locks orders"], place)
    assert "orders table is locked" in " ".join(answer.split()), answer


def run(arguments: list[str | Path], place: Path, **more: str) -> str:
    """Run a command with a home of its own and nothing of this checkout's environment; return its output."""
    home = place / "home"
    home.mkdir(exist_ok=True)
    dropped = ("HOLDFAST_", "VIRTUAL_ENV", "PYTHON", "XDG_", "UV_PROJECT", "COVERAGE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    environment |= {"HOME": str(home), "USERPROFILE": str(home), **CACHES, **more}
    done = subprocess.run(
        list(map(str, arguments)), cwd=home, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def action(place: Path, what: str) -> Path:
    """Install with pip, as the script of the GitHub Action does."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (script,) = (step["run"] for step in steps if step["id"] == "install")
    given = {"RUNNER_TEMP": str(place), "PYTHON": sys.executable, "ACTION": what}
    run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], place, **given)
    return place / "holdfast" / "bin" / "holdfast"


def pip(place: Path, what: str) -> Path:
    run([UV, "venv", "--quiet", "--seed", "--python", sys.executable, place / "venv"], place)
    run([place / "venv" / "bin" / "pip", "install", "--quiet", NO_BYTECODE, what], place)
    return place / "venv" / "bin" / "holdfast"


def pipx(place: Path, what: str) -> Path:
    more = {"PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(place / "bin"), "PIPX_DEFAULT_PYTHON": sys.executable}
    run([UV, "tool", "run", "--quiet", "pipx", "install", "--quiet", f"--pip-args={NO_BYTECODE}", what], place, **more)
    return place / "bin" / "holdfast"


def uv(place: Path, what: str) -> Path:
    more = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin"), "UV_COMPILE_BYTECODE": "0"}
    run([UV, "tool", "install", "--quiet", "--python", sys.executable, what], place, **more)
    return place / "bin" / "holdfast"


WAYS: dict[str, Callable[[Path, str], Path]] = {"action": action, "pip": pip, "pipx": pipx, "uv": uv}
TRIED = {"checkout": ("pipx", "action", "uv"), "wheel": ("pipx", "pip", "uv"), "git": ("uv",)}
CACHES = {
    "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv"),
    "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip"),
}


if __name__ == "__main__":
    sys.exit(main())
