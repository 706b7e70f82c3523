"""`holdfast check` as CI runs it: in fresh clones without any set-up, and what each report says."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests import scripts
from tests.conftest import new_folder, ran
from tests.guides import ssh_to
from tests.hosts.running import ROOT, ended, runner, script_command
from tests.hosts.scripts import Script
from tests.replicas.seats import git
from tests.rows import some

# The team is made once, and its stores are copied.
pytestmark = [pytest.mark.embedded, pytest.mark.xdist_group("check")]
CODE = "LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n"
REMOTE = "git@example.org:acme/shop.git"  # what git would start as ssh reads and writes a folder instead


@dataclass
class Team:
    """A bare repository whose main branch has team memories, and Ada's clone of it."""

    folder: Path

    @property
    def ada(self) -> Path:
        return self.folder / "ada" / "shop"

    def clone(self, name: str, *options: str) -> Path:
        """Return a fresh clone on a machine that has never seen Holdfast."""
        place = self.folder / name / "shop"
        place.parent.mkdir()
        git(self.folder, *self.instead(), "clone", "-q", *options, REMOTE, str(place))
        git(place, "config", *self.instead()[1].split("=", 1))
        return place

    def instead(self) -> tuple[str, str]:
        return "-c", f"core.sshCommand={ssh_to(self.folder / 'shop.git')}"

    def push(self, branch: str) -> None:
        git(self.ada, "add", "-A")
        git(self.ada, "commit", "-qm", f"work on {branch}")
        git(self.ada, "push", "-q", "origin", branch)

    def branch(self, name: str, code: str) -> Path:
        """Push a branch with other code; return a fresh clone of it."""
        git(self.ada, "checkout", "-q", "-B", name, "main")
        (self.ada / "pay.py").write_text(code)
        self.push(name)
        return self.clone("ci", "--branch", name)

    def memories(self) -> list[Path]:
        return sorted((self.ada / ".holdfast" / "memories").glob("*.md"))


def run(place: Path, *arguments: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run `holdfast` in a clone, with the home of its machine."""
    return runner(place, place.parent)(*arguments, **given)


@dataclass(kw_only=True)
class Checking(Script):
    """A script that begins in Ada's clone; each clone has a home of its own."""

    team: Team

    steps: ClassVar = {
        **Script.steps,
        "branch": lambda script, given: setattr(script, "folder", script.team.branch(**given)),
        "clone": lambda script, given: setattr(
            script, "folder", script.team.clone(given["name"], *given.get("options", "").split())
        ),
        "push": lambda script, given: script.team.push(**given),
        "memories": lambda script, _: [path.name for path in script.team.memories()],
        "stores": lambda script, _: [str(path) for path in script.folder.parent.rglob("holdfast.db")],
    }


def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Checking:
    team: Team = request.getfixturevalue("team")
    return Checking(team.ada, known, holdfast=lambda *words, cwd, **given: run(cwd, *words, **given), team=team)


scripts.scripts_in(globals(), start)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the team once: two memories in the repository's files, written by the real command."""
    team = Team(folder=tmp_path_factory.mktemp("team"))
    git(team.folder, "init", "-q", "--bare", "-b", "main", "shop.git")
    git(team.folder, "init", "-q", "-b", "main", str(team.ada))
    git(team.ada, "remote", "add", "origin", REMOTE)
    git(team.ada, "config", *team.instead()[1].split("=", 1))
    (team.ada / "pay.py").write_text(CODE)
    for text, anchor in (("The limit is five.", "pay.py::LIMIT=5"), ("Payments are multiplied.", "pay.py::pay")):
        assert run(team.ada, "remember", "--team", "--anchor", anchor, text).returncode == 0
    assert run(team.ada, "replica", "on", "repository").returncode == 0
    assert run(team.ada, "sync").returncode == 0
    team.push("main")
    return team.folder


@pytest.fixture
def team(template: Path, tmp_path: Path) -> Team:
    folder = tmp_path / "team"
    shutil.copytree(template, folder, symlinks=True)
    copied = Team(folder=folder)
    git(copied.ada, "config", *copied.instead()[1].split("=", 1))
    return copied


RAISED, GONE = CODE.replace("LIMIT = 5", "LIMIT = 7"), "LIMIT = 7\n"


def test_a_file_that_was_unreadable_before_is_a_warning(team: Team) -> None:
    (team.ada / ".holdfast" / "memories" / "odd.md").write_bytes(b"---\nkind: fact\n---\n\xff\xfe\n")
    team.push("main")
    said = "::warning title=Holdfast::.holdfast/memories/odd.md was not checked"
    ended(run(team.clone("ci"), "check", "--format", "github"), 0, said)


def test_reports_have_what_the_systems_that_read_them_need(team: Team, tmp_path: Path) -> None:
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

    place, paths = team.branch("raise", GONE), {"pay.py", f".holdfast/memories/{team.memories()[0].name}"}
    report = tmp_path / "check.sarif"
    ended(run(place, "check", "--format", "sarif", "-o", str(report)), 1, "The limit is five.")
    Sarif.model_validate_json(report.read_text())
    (checked,) = json.loads(report.read_text())["runs"]
    results, driver = checked["results"], checked["tool"]["driver"]
    assert driver["name"] == "Holdfast"
    assert {result["ruleId"] for result in results} == {rule["id"] for rule in driver["rules"]}
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert {"artifactLocation": {"uri": "pay.py"}, "region": {"startLine": 1}} in places
    assert len({result["partialFingerprints"]["memory/v1"] for result in results}) == 2

    (suite,) = ET.fromstring(run(place, "check", "--format", "junit").stdout)
    counted = [suite.get(name) for name in ("name", "tests", "failures", "errors")]
    assert counted == ["team memories since main", "2", "2", "0"]
    failures = {str(case.get("name"))[:12]: case.find("failure") for case in suite if case.get("classname")}
    limit = some(failures["The limit is"])
    assert (len(failures), limit.get("type")) == (2, "memory-untrue")
    assert "LIMIT=5 changed" in str(limit.get("message"))
    assert str(limit.text).startswith("pay.py:1: “The limit is five.”")

    issues = json.loads(run(place, "check", "--format", "gitlab").stdout)
    assert {issue["location"]["path"] for issue in issues} == paths
    for issue in issues:
        assert all(isinstance(issue[name], str) and issue[name] for name in ("description", "check_name"))
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"] == {"begin": 1}
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == 2


def test_a_title_cannot_forge_a_workflow_command(team: Team) -> None:
    for forged in team.memories():
        title = 'title: "x\\n::set-env name=A::b\\u001b[31m%0A::error::" #'
        forged.write_text(forged.read_text().replace("title: ", title, 1))
    team.push("main")
    place = team.branch("raise", GONE)
    for form in ("github", "text"):
        lines = run(place, "check", "--format", form).stdout.splitlines()
        assert any("set-env" in line for line in lines)
        assert not [line for line in lines if line.lstrip().startswith("::") and not line.startswith("::error file=")]
        assert "\x1b" not in "".join(lines)
    ET.fromstring(run(place, "check", "--format", "junit").stdout)


def test_the_step_of_the_action_annotates_a_shallow_pull_request(team: Team, tmp_path: Path) -> None:
    """The script of action.yml, in a clone as actions/checkout makes it, with the variables of a runner."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]
    (step,) = [step["run"] for step in action["steps"] if step.get("id") == "check"]
    assert action["using"] == "composite"
    assert "${{" not in step  # inputs are passed as variables: a branch's name is no part of a script
    team.branch("raise", RAISED)
    place = team.clone("runner", "--depth", "1", "--branch", "raise")
    _, requests = script_command(new_folder(tmp_path / "temp" / "holdfast" / "bin"))
    environment = {"PATH": os.environ["PATH"], "GITHUB_BASE_REF": "main", "INPUT_BASE": "", "INPUT_ALL": "false"}
    paths = {"HOME": "runner-home", "RUNNER_TEMP": "temp", "GITHUB_STEP_SUMMARY": "summary.md"}
    paths |= {"INPUT_REPORT": "check.sarif"}
    environment |= {name: str(tmp_path / path) for name, path in paths.items()}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
    done = ran(command, place, env=environment, pass_fds=[requests])
    ended(done, 1, "::error file=pay.py,line=1,")
    assert "The limit is five." in (tmp_path / "summary.md").read_text()
    assert json.loads((tmp_path / "check.sarif").read_text())["runs"][0]["results"]


def test_the_hook_for_pre_commit_stops_a_commit(team: Team) -> None:
    """The entry of .pre-commit-hooks.yaml, run as pre-commit does: with the staged files, before the commit."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["language"], hook["pass_filenames"], hook["always_run"]) == ("python", False, True)
    program, *arguments = hook["entry"].split()
    assert program == "holdfast"
    place = team.clone("bo")
    assert run(place, *arguments).returncode == 0
    (place / "pay.py").write_text(RAISED)
    git(place, "add", "-A")
    ended(run(place, *arguments), 1, "The limit is five.")
