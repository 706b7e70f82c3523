"""The team quick start of the documentation, run line by line by two people in two clones."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from tests.hosts.test_check import Done, run
from tests.replicas.seats import git
from tests.test_start import _settled

PAGE = Path(__file__).parents[1] / "docs" / "team.md"
REMOTE = "https://github.com/acme/shop.git"  # git reads and writes a folder instead


def test_the_team_quick_start_works_line_by_line(tmp_path: Path) -> None:
    bare = tmp_path / "shop.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    people = {name: _clone(tmp_path / name, bare, first=name == "ada") for name in ("ada", "bo")}
    steps = _steps(PAGE.read_text(encoding="utf-8"))
    assert len(steps) > 15
    assert {name for name, _, _ in steps} == {"ada", "bo"}
    for name, command, shown in steps:
        done = _run(people[name], command)
        expected = 1 if command.startswith("holdfast check") else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
        printed = [line.rstrip() for line in _settled(done.stdout + done.stderr).splitlines()]
        missing = [line for line in _settled(shown).splitlines() if line.rstrip() not in printed]
        assert not missing, f"{command}\n{done.stdout}"


def _clone(home: Path, bare: Path, *, first: bool) -> Path:
    """Return a person's clone; the first person brings the code."""
    home.mkdir()
    settings = {"user.name": home.name, "user.email": f"{home.name}@example.org"}
    settings[f"url.file://{bare}.insteadOf"] = REMOTE
    for name, value in settings.items():
        git(home, "config", "--file", str(home / ".gitconfig"), name, value)
    place = home / "shop"
    assert _shell(home, f"git clone --quiet {REMOTE} {place}").returncode == 0
    if first:
        (place / "limits.py").write_text("PER_KEY = 60\n")
        started = "git checkout -q -B main && git add . && git commit -qm begin && git push -q -u origin main"
        assert _shell(place, started).returncode == 0
    return place


def _run(place: Path, command: str) -> Done:
    """Run a line of the page: `holdfast` in this process, anything else in a shell."""
    program, *arguments = shlex.split(command)
    return run(place, *arguments) if program == "holdfast" else _shell(place, command)


def _shell(place: Path, command: str) -> Done:
    home = place.parent if (place.parent / ".gitconfig").exists() else place
    environment = {**os.environ, "HOME": str(home)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _steps(page: str) -> list[tuple[str, str, str]]:
    """Return who runs each command of the page, the command, and lines that it prints."""
    blocks = "".join(re.findall(r"```console\n(.*?)```", page, re.DOTALL))
    parts = re.split(r"^(\w+)\$ ", blocks, flags=re.MULTILINE)[1:]
    return [
        (name, command, shown)
        for name, rest in zip(parts[::2], parts[1::2], strict=True)
        for command, _, shown in [rest.partition("\n")]
    ]
