"""The commands of the README and of the first pages, run for real."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/start.md", "docs/review.md")
VARYING = (
    (re.compile(r"last [0-9a-f]{8}"), "last COMMIT"),
    (re.compile(r"\b(?=[0-9A-Z]*\d)[0-9A-Z]{8,26}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"\d\.\d\d"), "N"),
)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_a_real_run(page: str, tmp_path: Path, own_home: Path) -> None:
    shop = tmp_path / "shop"
    (shop / "src").mkdir(parents=True)
    (shop / "src" / "pay.py").write_text("RETRIES = 3\n")
    for name in (".claude", ".codex"):
        (own_home / name).mkdir()
    environment = _environment(own_home)
    for command in (
        "git init -q",
        "git remote add origin git@github.com:acme/shop.git",
        "git add .",
        "git commit -qm 1",
    ):
        subprocess.run(command.split(), cwd=shop, env=environment, check=True)
    for command, shown in _steps((ROOT / page).read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-c", command], cwd=shop, env=environment, capture_output=True, text=True, check=False
        )
        assert _settled(done.stdout + done.stderr) == _settled(shown), command


def _environment(home: Path) -> dict[str, str]:
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_"))}
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in _PERSON}
    return {**kept, **who, "HOME": str(home), "PATH": programs, "LOGNAME": "ada"}


_PERSON = (("NAME", "Bo"), ("EMAIL", "bo@example.org"))


def _steps(page: str) -> list[tuple[str, str]]:
    """Give each command of the page with what it should print."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    steps = [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]
    assert len(steps) > 3
    return steps


def _settled(text: str) -> str:
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


@pytest.mark.parametrize("text", ["01M7FF1D16 of 2026-11-15, words 0.13"])
def test_only_what_differs_from_run_to_run_is_left_aside(text: str) -> None:
    assert _settled(text) == "ID of DATE, words N"
