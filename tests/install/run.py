"""Install Holdfast in every documented way, each in a clean environment, and use it: `python3 dev.py install`.

pip from a checkout, pip from the built wheel, `uv tool install` from a checkout and from git, and pipx. Prints how long each
took and its size; exits with 1 if a way fails. uv's and pip's caches are used, so only the first run fetches much.
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

ROOT = Path(__file__).resolve().parents[2]
UV = os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
NO_BYTECODE = "--no-compile"  # most of pip's time; what is imported is compiled when it is used
SAVED = "The orders table is locked by long migrations."


def main() -> int:
    """Install in each way, two at a time, and print a row for each."""
    with tempfile.TemporaryDirectory(prefix="holdfast-install-") as name, ThreadPoolExecutor(2) as pool:
        worked = [pool.submit(_try, way, Path(name) / way.replace(" ", "-")) for way in WAYS]
        return 0 if all(each.result() for each in worked) else 1


def _try(way: str, place: Path) -> bool:
    """Install in one way and use it; print how it went and return whether it worked."""
    place.mkdir()
    began = time.monotonic()
    try:
        command = WAYS[way](place)
        seconds = time.monotonic() - began
        use(command, place)
    except (subprocess.CalledProcessError, AssertionError) as problem:
        print(f"{way:20} FAILED: {problem}\n{getattr(problem, 'stderr', '') or ''}", flush=True)
        return False
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file() and not file.is_symlink())
    print(f"{way:20} {seconds:6.1f} s {size / 2**20:6.0f} MiB", flush=True)
    shutil.rmtree(place)
    return True


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


def pip_checkout(place: Path) -> Path:
    """Install the checkout with pip."""
    return _pip(place, ROOT)


def pip_wheel(place: Path) -> Path:
    """Build the wheel, and install it with pip."""
    run([UV, "build", "--quiet", "--wheel", "--out-dir", place, ROOT], place)
    (wheel,) = place.glob("*.whl")
    return _pip(place, wheel)


def uv_checkout(place: Path) -> Path:
    """Install the checkout as a tool of uv."""
    return _uv(place, str(ROOT))


def uv_git(place: Path) -> Path:
    """Install what is committed, from git, as the README says until there is a release."""
    return _uv(place, f"git+file://{ROOT}")


def pipx_checkout(place: Path) -> Path:
    """Install the checkout with pipx."""
    more = {"PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(place / "bin"), "PIPX_DEFAULT_PYTHON": sys.executable}
    run([UV, "tool", "run", "--quiet", "pipx", "install", "--quiet", f"--pip-args={NO_BYTECODE}", ROOT], place, **more)
    return place / "bin" / "holdfast"


def _pip(place: Path, what: Path) -> Path:
    run([UV, "venv", "--quiet", "--seed", "--python", sys.executable, place / "venv"], place)
    run([place / "venv" / "bin" / "pip", "install", "--quiet", NO_BYTECODE, what], place)
    return place / "venv" / "bin" / "holdfast"


def _uv(place: Path, what: str) -> Path:
    more = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin"), "UV_COMPILE_BYTECODE": "0"}
    run([UV, "tool", "install", "--quiet", "--python", sys.executable, what], place, **more)
    return place / "bin" / "holdfast"


WAYS: dict[str, Callable[[Path], Path]] = {
    "pip, checkout": pip_checkout,
    "pip, wheel": pip_wheel,
    "uv tool, checkout": uv_checkout,
    "uv tool, git": uv_git,
    "pipx, checkout": pipx_checkout,
}
CACHES = {
    "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv"),
    "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip"),
}


if __name__ == "__main__":
    sys.exit(main())
