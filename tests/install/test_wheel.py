"""The built wheel is complete: it works without the checkout, and its metadata is what PyPI needs.

`python3 dev.py install` installs it for real, in every documented way; CI runs that too.
"""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import click
import pytest

from holdfast import __version__
from holdfast.hosts.cli.main import cli
from tests.conftest import ran
from tests.install.run import SAVED
from tests.rows import WHOLE

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pytestmark = pytest.mark.xdist_group("wheel")  # it is built once


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *(() if WHOLE else ("-t", "wheel"))]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (file,) = built.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.mark.whole
def test_it_works_from_the_wheel_alone(wheel: zipfile.ZipFile, tmp_path: Path, own_home: Path) -> None:
    wheel.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "HOME": str(own_home)}

    def run(*arguments: str) -> str:
        return ran([sys.executable, "-P", *arguments], tmp_path, env=environment, check=True).stdout

    assert run("-c", "import holdfast; print(holdfast.__file__)").startswith(str(tmp_path / "site"))
    run("-m", "holdfast", "remember", SAVED)
    answer = run("-m", "holdfast", "recall", "what blocks when we alter the schema")
    assert "orders table is locked" in " ".join(answer.split())


def test_it_holds_the_package_with_its_metadata_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    about, ours = f"holdfast-{PROJECT['version']}", ROOT / "src"
    there = {file.relative_to(ours).as_posix() for file in (ours / "holdfast").rglob("*") if file.is_file()}
    there |= {f"{about}.data/data/share/man/man1/holdfast.1"}
    names = {name for name in wheel.namelist() if not name.startswith(f"{about}.dist-info/")}
    assert names == {name for name in there if "__pycache__" not in name} | {"holdfast/py.typed"}
    assert wheel.testzip() is None
    said = message_from_bytes(wheel.read(f"{about}.dist-info/METADATA"))
    assert said["Version"] == PROJECT["version"] == __version__
    assert (said["Requires-Python"], said["License-Expression"]) == (">=3.11", "MIT")
    assert (said["Author"], len(said.get_all("Project-URL") or [])) == ("The Holdfast authors", 4)
    assert set(said.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])
    assert b"holdfast = holdfast.hosts.cli.entry:main" in wheel.read(f"{about}.dist-info/entry_points.txt")
    assert f"{about}.dist-info/licenses/LICENSE" in wheel.namelist()


@pytest.mark.whole
def test_the_source_distribution_can_be_built_and_tested(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "src/holdfast/__init__.py", "tests/conftest.py", "docs/index.md", "action.yml"):
        assert needed in names, needed
    assert not [name for name in names if name.startswith((".venv", ".tools", ".git/", "site/", "dist/"))]


def test_the_image_copies_what_is_there_and_starts_with_a_command_of_ours() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [words[1:-1] for words in map(str.split, lines) if words[:1] == ["COPY"] and "--from=build" not in words]
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
    words = json.loads(next(line.removeprefix("CMD ") for line in lines if line.startswith("CMD")))
    server = cli.get_command(click.Context(cli), words[0])
    assert isinstance(server, click.Group)
    server.make_context("server", words[1:])  # a mistake in it is raised
